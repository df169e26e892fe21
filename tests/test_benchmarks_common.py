"""The commonest questions: what is held out stays apart from what the product finds by, and the figures are those of the rows."""

from __future__ import annotations

from collections import Counter

from benchmarks.common import JUDGED, UNJUDGED, in_the_fit, read, table, verdicts
from lqr.corpus.asked import FILE_NAME, read_asked
from lqr.settings import ROOT
from lqr.text import holds, plain
from lqr.training.judged_pairs import Judged, read_judged
from lqr.types import Claim

FOLDER = ROOT / "knowledge" / "agriculture"


def test_what_is_held_out_is_not_among_the_questions_that_passages_are_found_by() -> None:
    held = {plain(row.question) for row in read() if row.held_out}
    assert len(held) >= 150
    assert held.isdisjoint(plain(asked.question) for asked in read_asked(FOLDER / FILE_NAME))
    assert max(Counter(row.document for row in read() if row.held_out).values()) == 1


def test_every_piece_of_an_ideal_answer_stands_in_its_article() -> None:
    articles = {str(path.relative_to(FOLDER).with_suffix("")): plain(path.read_text("utf-8")) for path in FOLDER.glob("*/*.md")}
    lost = [
        (row.question, piece.snippet)
        for row in read()
        for piece in row.answer
        if not holds(articles[piece.document], piece.snippet)
    ]
    assert lost == []


def test_the_figures_are_those_of_the_rows() -> None:
    rows = [
        {"refused": False, "found": True, "said": [True, False], "fitting": [False, True], "verdicts": []},
        {"refused": True, "found": False, "said": [False], "fitting": [], "verdicts": []},
    ]
    assert list(table(rows).values()) == [2, 50.0, 50.0, 50.0, 50.0, 33.3, 0.0, 50.0, 2.0]
    rows[0]["verdicts"] = ["say", "bad", "say", UNJUDGED]
    judged = {key.removeprefix("judged: "): value for key, value in table(rows).items() if key.startswith("judged")}
    assert judged == {"say": 50.0, "fine": 0.0, "bad": 25.0, "beside": 0.0, UNJUDGED: 25.0}


def test_a_claim_has_the_judgement_of_what_it_quotes() -> None:
    judged = Judged(
        "q", {"say": (("a", "Ewes need  salt."),), "fine": (), "bad": (("b", "Class: ram; Salt (g): 9"),), "beside": ()}
    )
    claims = [
        Claim("Ewes need salt.", ("a-1",), "quoted", ("Ewes need salt.",)),
        Claim("Ram — Salt (g): 9", ("b-1",), "quoted", ("Class: ram; Salt (g): 9",)),
        Claim("Yes.", (), "quoted"),
    ]
    assert verdicts(claims, judged) == ["say", "bad", UNJUDGED]


def test_what_was_judged_of_held_out_questions_is_of_the_half_that_is_in_the_fit() -> None:
    judged = read_judged(JUDGED)
    assert {row.question for row in judged} == {row.question for row in in_the_fit()}
