"""Pairs from written questions: what is positive, what is negative, and what of the test is kept out."""

from __future__ import annotations

from lqr.corpus.asked import Asked
from lqr.training.asked_pairs import build, texts_of, without_test
from lqr.types import Passage


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


def test_units_are_what_the_writer_would_quote() -> None:
    assert texts_of(GOLD) == ["Ewes need 8 g of salt a day.", "Licks must stay dry.", "Loose salt is best."]
    assert texts_of(WRONG[1]) == ["Class: ram; Salt (g): 9"]
    assert texts_of(passage(3, "One. Two.\n\nThree.", "list_item")) == ["One. Two.", "Three."]
