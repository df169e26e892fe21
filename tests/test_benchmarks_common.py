"""The commonest questions: what is held out stays apart from what the product finds by, and the figures are those of the rows."""

from __future__ import annotations

from collections import Counter

from benchmarks.common import read, table
from lqr.corpus.asked import FILE_NAME, read_asked
from lqr.settings import ROOT
from lqr.text import holds, plain

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
        {"refused": False, "found": True, "said": [True, False], "fitting": [False, True]},
        {"refused": True, "found": False, "said": [False], "fitting": []},
    ]
    assert list(table(rows).values()) == [2, 50.0, 50.0, 50.0, 50.0, 33.3, 0.0, 50.0, 2.0]
