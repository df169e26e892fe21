"""Cited rules against what is held: each way of being wrong, and what is said beside a right one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from lqr.corpus.rulebook_style import rule_style
from lqr.grounding.rules import CheckedRules, RuleChecker, out_of_force, tempered
from lqr.types import Claim, Confidence, Hit, Passage, Support

STYLE = rule_style(
    {
        "number": r"(?P<number>[A-Z]{3} \d+\.\d+(?P<type>[RGED]))",
        "reference": r"\b[A-Z]{3} \d+\.\d+[RGED]",
        "types": {"R": "rule", "G": "guidance"},
        "binding": ["rule"],
        "aside": r"^\[.*\]$",
        "exception": r"\bneed not\b",
        "asks_past": r"\b(?:repealed|formerly|in 20[01]\d)\b",
        "status": [{"name": "repealed", "pattern": "x", "barred": True}],
        "notes": {
            "repealed": "{number} was repealed on {until}; see {by}.",
            "not_binding": "{number} is {type}.",
            "wrong_type": "{number} is cited as {claimed}, but is {type}.",
            "unknown": "{number} is not held.",
            "not_retrieved": "{number} was not read.",
        },
    }
)


def passage(identifier: str, number: str, text: str, **metadata: Any) -> Passage:
    kind = "guidance" if number.endswith("G") else "rule"
    return Passage(identifier, "d", "ABC", (), f"{number} {text}", 0, 0, 0, metadata={"number": number, "type": kind, **metadata})


RULE = passage("d-1", "ABC 1.1R", "A firm must pay in 5 days. ABC 1.2G explains.")
GUIDANCE = passage("d-2", "ABC 1.2G", "A transfer is a way of paying.")
UNREAD = passage("d-3", "ABC 1.3R", "A firm must not wait.")
REPEALED = passage(
    "d-4", "ABC 1.4R", "A firm must pay in 9 days.", status="repealed", barred=True, until="1 May 2020", replaced_by="ABC 1.1R"
)
HELD = {p.metadata["number"]: [p] for p in (RULE, GUIDANCE, UNREAD, REPEALED)}
CHECKER = RuleChecker(STYLE, lambda number: HELD.get(number, []))
KEPT = [Hit(RULE, 0.9), Hit(GUIDANCE, 0.8), Hit(REPEALED, 0.7)]


def check(text: str, ids: Sequence[str], support: Support = "supported") -> CheckedRules:
    return CHECKER.check([Claim(text, tuple(ids), support)], KEPT)


def test_a_quoted_rule_is_right_and_its_own_reference_is_no_citation() -> None:
    checked = check(RULE.text, ["d-1"], "quoted")
    assert [(c.number, c.right) for c in checked.citations] == [("ABC 1.1R", True)]
    assert checked.wrong == ()
    assert checked.notices == ()


def test_a_number_that_nobody_holds() -> None:
    checked = check("Under ABC 9.9R a firm must pay in 5 days.", ["d-1"])
    (wrong,) = checked.wrong
    assert (wrong.number, wrong.known, wrong.detail) == ("ABC 9.9R", False, "ABC 9.9R is not held.")
    assert checked.claims[0].support == "unsupported"
    assert "ABC 9.9R is not held." in checked.claims[0].note


def test_a_number_that_is_held_but_was_not_read() -> None:
    (wrong,) = check("Under ABC 1.3R a firm must pay in 5 days.", ["d-1"]).wrong
    assert (wrong.known, wrong.retrieved, wrong.detail) == (True, False, "ABC 1.3R was not read.")


def test_a_number_that_was_read_but_is_not_what_the_claim_rests_on() -> None:
    (wrong,) = CHECKER.check([Claim("Under ABC 1.4R a firm must pay.", ("d-2",), "supported")], KEPT).wrong[:1]
    assert wrong.number in ("ABC 1.2G", "ABC 1.4R")
    assert not wrong.right


@pytest.mark.parametrize("support", ["partial", "unsupported"])
def test_a_claim_without_support_makes_its_citation_wrong(support: Support) -> None:
    assert [c.supports for c in check("A firm must pay in 3 days.", ["d-1"], support).wrong] == [False]


def test_the_wrong_letter() -> None:
    (wrong,) = check("ABC 1.1G says so: pay in 5 days.", ["d-2"]).wrong
    assert (wrong.known, wrong.type_right) == (True, False)
    assert wrong.detail == "ABC 1.1G is cited as guidance, but is rule."


@pytest.mark.parametrize("text", ["Under rule ABC 1.2G a transfer is a way of paying.", "A firm must pay by transfer."])
def test_guidance_is_not_a_rule(text: str) -> None:
    (wrong,) = check(text, ["d-2"]).wrong
    assert not wrong.type_right
    assert "is cited as rule, but is guidance" in wrong.detail


def test_guidance_told_as_guidance_is_right_and_said_to_be_guidance() -> None:
    checked = check("A transfer is a way of paying (guidance ABC 1.2G).", ["d-2"])
    assert checked.wrong == ()
    assert checked.notices == ("ABC 1.2G is guidance.",)


def test_a_repealed_rule_is_said_to_be_repealed() -> None:
    checked = check(REPEALED.text, ["d-4"], "quoted")
    assert checked.wrong == ()
    assert checked.notices == ("ABC 1.4R was repealed on 1 May 2020; see ABC 1.1R.",)
    assert checked.claims[0].note == checked.notices[0]


def test_a_notice_is_said_once() -> None:
    claim = Claim(REPEALED.text, ("d-4",), "quoted")
    assert len(CHECKER.check([claim, claim], KEPT).notices) == 1


def test_a_repealed_rule_answers_only_questions_about_the_past() -> None:
    assert out_of_force(STYLE, "When must a firm pay?", REPEALED) == "repealed, not in force"
    assert out_of_force(STYLE, "When had a firm to pay in 2015?", REPEALED) == ""
    assert out_of_force(STYLE, "When must a firm pay?", RULE) == ""
    assert out_of_force(None, "When must a firm pay?", REPEALED) == ""


def test_an_unread_neighbour_makes_the_confidence_thin() -> None:
    sure = Confidence("rich", "2 passages", 0.9)
    assert tempered(sure, ["a", "b"], ["a", "b", "c"]) == replace(sure, reason="2 passages; 2 of 2 linked provisions read")
    assert tempered(sure, ["a", "b"], ["a"]) == replace(sure, level="thin", reason="2 passages; 1 of 2 linked provisions read")
    assert tempered(sure, [], ["a"]) == sure


EXCEPTION = passage("d-5", "ABC 1.5R", "[Since 2020] A small firm need not pay under ABC 1.1R.")
LINKS = {"d-1": [(EXCEPTION, 0.8, "is cited by"), (UNREAD, 0.5, "cites")]}
LINKED = RuleChecker(STYLE, lambda number: HELD.get(number, []), lambda passage_id: LINKS.get(passage_id, []))


def test_a_question_on_a_number_that_is_not_held() -> None:
    assert CHECKER.unheld("What does ABC 9.9R require?") == "ABC 9.9R is not held."
    assert CHECKER.unheld("Do ABC 9.9R and ABC 1.1R differ?") == ""
    assert CHECKER.unheld("When must a firm pay?") == ""


def test_company_comes_after_the_best_with_its_reason() -> None:
    kept = [Hit(RULE, 0.9), Hit(GUIDANCE, 0.8), Hit(REPEALED, 0.7), Hit(passage("d-6", "ABC 2.1R", "Else."), 0.6)]
    found = LINKED.with_company("When must a firm pay?", kept, {}, lambda p: p is not UNREAD)
    assert [hit.passage.id for hit in found] == ["d-1", "d-2", "d-4", "d-5", "d-6"]
    assert found[3].why == "“ABC 1.1R” is cited by it"
    assert CHECKER.with_company("When must a firm pay?", kept, {}, lambda _: True) == kept


def test_a_passage_that_was_kept_further_down_is_not_brought_twice() -> None:
    kept = [Hit(RULE, 0.9), Hit(GUIDANCE, 0.8), Hit(REPEALED, 0.7), Hit(EXCEPTION, 0.6)]
    found = LINKED.with_company("When must a firm pay?", kept, {"d-5": kept[3]}, lambda p: p is not UNREAD)
    assert [hit.passage.id for hit in found] == ["d-1", "d-2", "d-4", "d-5"]
    assert found[3].score == 0.6


def test_a_rule_that_the_question_names_comes_first() -> None:
    found = CHECKER.with_company("What does ABC 1.3R say?", KEPT, {}, lambda _: True)
    assert [hit.passage.id for hit in found] == ["d-3", "d-1", "d-2", "d-4"]


def test_an_exception_that_was_read_is_told() -> None:
    said = [Claim("ABC 1.1R A firm must pay in 5 days.", ("d-1",), "quoted")]
    ((line, claim),) = LINKED.exceptions(said, [*KEPT, Hit(UNREAD, 0.5), Hit(EXCEPTION, 0.4)])
    assert line == f"{EXCEPTION.text} [2]"
    assert claim == Claim(EXCEPTION.text, ("d-5",), "quoted", (EXCEPTION.text,))
    assert LINKED.exceptions(said, KEPT) == []  # not read
    assert LINKED.exceptions([*said, claim], [*KEPT, Hit(EXCEPTION, 0.4)]) == []  # said already
    assert CHECKER.aside("[In force]")
    assert not CHECKER.aside("A firm [see above] must pay.")
