"""Pairs from judged answers: which units count as what, and when a passage does as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.train_relevance import JUDGED
from lqr.errors import ReadError
from lqr.training.judged_pairs import LABELS, Judged, build, read_judged
from lqr.types import BlockKind, Passage


def passage(number: int, text: str, kind: BlockKind = "paragraph") -> Passage:
    return Passage(f"d-{number}", "d", "Salt", ("How much",), text, number, 0, len(text), kind)


SALT = passage(0, "Ewes need 8 g of salt a day. Licks must stay dry. Loose salt is best.")
CATTLE = passage(1, "Cattle need 30 g of salt. Bulls need more.")
ROW = passage(2, "Class: ram; Salt (g): 9", "table_row")
BY_SOURCE = {"feed/salt": [SALT, CATTLE, ROW]}


def judged(**marks: list[str]) -> Judged:
    return Judged("salt for ewes?", {name: tuple(("feed/salt", m) for m in marks.get(name, [])) for name in LABELS})


def test_each_judgement_has_its_label() -> None:
    row = judged(say=["Ewes need 8"], fine=["Loose salt"], bad=["Cattle need"], beside=["Licks must"])
    labels = {pair.text: pair.label for pair in build([row], BY_SOURCE)}
    assert labels == {
        "Ewes need 8 g of salt a day.": 1.0,
        "Licks must stay dry.": 0.0,
        "Loose salt is best.": 0.3,
        "Cattle need 30 g of salt.": 0.0,
        SALT.text: 1.0,  # what holds a sentence to be said is right as a whole
    }  # and the other is not wrong as a whole: of its second sentence nobody said anything


def test_a_passage_all_of_whose_units_are_of_no_use_is_wrong_as_a_whole() -> None:
    pairs = build([judged(bad=["Cattle need"], beside=["Bulls need", "Class: ram"])], BY_SOURCE)
    assert [pair.text for pair in pairs].count(CATTLE.text) == 1
    assert [pair.text for pair in pairs].count(ROW.text) == 1  # a row is its own unit: said once
    assert {pair.label for pair in pairs} == {0.0}
    assert len(pairs) == 4
    fine = build([judged(fine=["Cattle need"], beside=["Bulls need"])], BY_SOURCE)
    assert CATTLE.text not in {pair.text for pair in fine}


def test_marks_of_texts_that_are_gone_make_no_pairs() -> None:
    assert build([judged(say=["Ewes needed 8"])], BY_SOURCE) == []
    assert build([judged(say=["Ewes need 8"])], {}) == []


def test_what_is_no_judgement_is_named(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(json.dumps({"question": "q", "say": [["d", "t"]], "fine": [], "bad": []}) + "\n")
    with pytest.raises(ReadError, match=r"judged\.jsonl line 1.*beside"):
        read_judged(path)
    with pytest.raises(ReadError, match="can't be read"):
        read_judged(tmp_path / "none.jsonl")


def test_the_shipped_judgements_can_be_read_and_none_is_of_a_held_out_question() -> None:
    from benchmarks.common import read

    rows = read_judged(JUDGED)
    assert len(rows) > 300
    assert sum(len(row.marks["say"]) for row in rows) > 600
    held_out = {row.question for row in read() if row.held_out}
    assert not held_out & {row.question for row in rows}
