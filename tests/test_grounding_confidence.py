"""Tests of lqr.grounding.confidence."""

from __future__ import annotations

import pytest

from lqr.grounding.confidence import RICH, confidence
from lqr.types import Claim, Hit, Passage, Support


def hit(passage_id: str, score: float = 0.9) -> Hit:
    document = passage_id.split("-")[0]
    return Hit(Passage(passage_id, document, "T", (), "text", 0, 0, 4), score)


def claim(*ids: str, support: Support = "quoted") -> Claim:
    return Claim("text", ids, support)


def test_no_claim_is_no_confidence() -> None:
    assert confidence(0.99, [], [hit("a-0")]).level == "none"


def test_a_claim_that_cites_nothing_is_no_confidence() -> None:
    assert confidence(0.99, [claim()], [hit("a-0"), hit("b-0")]).level == "none"


def test_two_cited_passages_and_a_sure_gate_are_rich() -> None:
    found = confidence(0.9, [claim("a-0"), claim("b-0")], [hit("a-0"), hit("b-0"), hit("c-0")])
    assert (found.level, found.probability) == ("rich", 0.9)
    assert "2 passages from 2 documents" in found.reason


def test_passages_and_documents_are_counted_apart() -> None:
    assert "2 passages from 1 document" in confidence(0.9, [claim("a-0", "a-1")], [hit("a-0"), hit("a-1")]).reason
    assert "1 passage from 1 document" in confidence(0.9, [claim("a-0"), claim("a-0")], [hit("a-0")]).reason


def test_one_strong_cited_passage_is_rich_and_says_so() -> None:
    found = confidence(RICH, [claim("a-0")], [hit("a-0"), hit("b-0", 0.1)])
    assert found.level == "rich"
    assert "one passage" in found.reason


def test_a_strong_passage_that_is_not_cited_does_not_make_one_rich() -> None:
    assert confidence(RICH, [claim("b-0")], [hit("a-0"), hit("b-0", 0.1)]).level == "thin"


@pytest.mark.parametrize("probability", [0.5, RICH - 0.001])
def test_an_unsure_gate_is_thin(probability: float) -> None:
    assert confidence(probability, [claim("a-0"), claim("b-0")], [hit("a-0"), hit("b-0")]).level == "thin"


def test_weak_passages_are_thin() -> None:
    assert confidence(0.9, [claim("a-0")], [hit("a-0", 0.3)]).level == "thin"


@pytest.mark.parametrize("support", ["partial", "unsupported"])
def test_a_marked_sentence_makes_it_thin_and_is_counted(support: Support) -> None:
    found = confidence(0.99, [claim("a-0"), claim("b-0", support=support)], [hit("a-0"), hit("b-0")])
    assert found.level == "thin"
    assert "1 sentence only" in found.reason


def test_a_question_in_two_parts_wants_two_passages() -> None:
    kept = [hit("a-0"), hit("b-0")]
    assert confidence(0.99, [claim("a-0")], kept, complex_question=True).level == "thin"
    assert confidence(0.99, [claim("a-0"), claim("b-0")], kept, complex_question=True).level == "rich"


def test_a_calibrated_probability_decides_in_place_of_the_gates() -> None:
    weak, strong = [hit("a-0", 0.3)], [hit("a-0"), hit("b-0")]
    assert confidence(0.5, [claim("a-0")], weak, calibrated=RICH).level == "rich"
    found = confidence(0.99, [claim("a-0"), claim("b-0")], strong, calibrated=RICH - 0.001)
    assert (found.level, found.probability) == ("thin", round(RICH - 0.001, 3))
