"""Pairs from written questions: what is positive, what is negative, and what of the test is kept out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lqr.errors import ReadError
from lqr.training.asked_pairs import build, read_conversations, texts_of, unheld_pairs, without_test
from lqr.types import Asked, Passage


def passage(number: int, text: str, kind: str = "paragraph") -> Passage:
    return Passage(f"d-{number}", "d", "Salt", ("How much",), text, number, 0, len(text), kind)  # type: ignore[arg-type]


GOLD = passage(0, "Ewes need 8 g of salt a day. Licks must stay dry. Loose salt is best.")
WRONG = [passage(1, "Cattle need 30 g of salt."), passage(2, "Class: ram; Salt (g): 9", "table_row")]


def test_the_sentence_with_the_snippet_and_its_passage_are_positive() -> None:
    pairs = build([Asked("salt for ewes?", "salt", "8 g of salt")], {"salt": [GOLD]}, lambda q: [GOLD, *WRONG])
    assert {p.text for p in pairs if p.label == 1.0} == {GOLD.text, "Ewes need 8 g of salt a day."}
    negative = {p.text for p in pairs if p.label == 0.0}
    assert negative == {"Licks must stay dry.", "Loose salt is best.", "Cattle need 30 g of salt.", "Class: ram; Salt (g): 9"}
    assert all(p.title == "Salt. How much" for p in pairs)


def test_a_question_whose_snippet_is_gone_makes_no_pairs() -> None:
    assert build([Asked("q", "salt", "nowhere")], {"salt": [GOLD]}, lambda q: WRONG) == []
    assert build([Asked("q", "gone", "8 g")], {}, lambda q: WRONG) == []


def test_near_duplicates_of_the_test_are_left_out() -> None:
    asked = [Asked("how much salt do ewes need", "a", "b"), Asked("why do lambs cough", "a", "b")]
    assert without_test(asked, ["How much salt do ewes need a day?"]) == asked[1:]
    assert without_test(asked, []) == asked


def test_a_follow_up_is_left_out_by_what_it_means() -> None:
    said = Asked("What are the signs of footrot in ewes. how do you treat it", "a", "b", "How is footrot treated in ewes?")
    assert without_test([said], ["How is footrot treated in ewes?"]) == []
    assert without_test([said], ["How is orf treated in goats?"]) == [said]


def test_units_are_what_the_writer_would_quote() -> None:
    assert texts_of(GOLD) == ["Ewes need 8 g of salt a day.", "Licks must stay dry.", "Loose salt is best."]
    assert texts_of(WRONG[1]) == ["Class: ram; Salt (g): 9"]
    assert texts_of(passage(3, "One. Two.\n\nThree.", "list_item")) == ["One. Two.", "Three."]


def test_a_snippet_of_a_table_s_line_names_its_row() -> None:
    pairs = build([Asked("rams?", "salt", "ram | 9")], {"salt": [GOLD, WRONG[1]]}, lambda q: [GOLD, WRONG[1]])
    assert {p.text for p in pairs if p.label == 1.0} == {"Class: ram; Salt (g): 9"}
    assert GOLD.text in {p.text for p in pairs if p.label == 0.0}


def test_a_later_message_stands_behind_the_question_before_it(tmp_path: Path) -> None:
    file = tmp_path / "conversations.jsonl"
    turns = [
        {"say": "Salt for ewes?", "means": "Salt for ewes?", "document": "salt", "contains": "8 g"},
        {"say": "and rams", "means": "Salt for rams?", "document": "salt", "contains": "ram | 9"},
        {"say": "why", "means": "Why do rams need salt?", "document": "salt", "contains": "9"},
    ]
    file.write_text(json.dumps({"turns": turns}) + "\n", encoding="utf-8")
    assert [asked.question for asked in read_conversations(file)[0]] == [
        "Salt for ewes?",
        "Salt for ewes. and rams",
        "Salt for rams. why",
    ]
    assert [asked.means for asked in read_conversations(file)[0]] == [turn["means"] for turn in turns]
    file.write_text('{"turns": [{"say": "x"}]}', encoding="utf-8")
    with pytest.raises(ReadError, match=r"conversations\.jsonl line 1.*means"):
        read_conversations(file)


def test_what_is_found_for_a_question_without_an_answer_is_all_negative() -> None:
    pairs = unheld_pairs(["salt for yaks?"], lambda q: [GOLD, *WRONG], hard=2)
    assert {(p.question, p.label) for p in pairs} == {("salt for yaks?", 0.0)}
    assert {p.text for p in pairs[:2]} == {GOLD.text, WRONG[0].text}
    assert len(pairs) == 4
    assert unheld_pairs(["?"], lambda q: [], hard=2) == []
