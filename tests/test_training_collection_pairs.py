"""Tests of lqr.training.collection_pairs."""

from __future__ import annotations

from lqr.training.collection_pairs import build
from lqr.types import BlockKind, Passage


def passage(document: str, section: str, text: str, kind: BlockKind = "paragraph", n: int = 0) -> Passage:
    path = (section,) if section else ()
    return Passage(f"{document}-{section}-{n}", document, document, path, text, n, 0, len(text), kind)


def collection() -> list[Passage]:
    made = []
    for name in ("Orf", "Flystrike", "Growing maize"):
        made.append(passage(name, "", f"{name} is a thing of farms."))
        made.append(passage(name, "Signs", f"{name} shows as red spots on skin. Lips swell with {name} after days."))
        made.append(passage(name, "Prevention", f"Clean pens keep {name} away. Rest the wet ground for months."))
        made.extend(
            passage(name, "Rates", f"Stage: {stage}; Feed (kg/day): {rate}; Water (litres): {rate * 3}", "table_row", i)
            for i, (stage, rate) in enumerate([("early", 1), ("middle", 2), ("late", 3), ("late", 4)])
        )
    return made


PAIRS = build(collection())


def test_both_labels_and_no_contradiction() -> None:
    labels: dict[tuple[str, str, str], set[float]] = {}
    for pair in PAIRS:
        labels.setdefault((pair.question, pair.title, pair.text), set()).add(pair.label)
    assert {label for found in labels.values() for label in found} == {0.0, 1.0}
    contradicted = [key for key, found in labels.items() if len(found) > 1]
    assert contradicted == []


def test_a_section_answers_its_own_heading() -> None:
    about = [pair for pair in PAIRS if "orf" in pair.question.lower() and "sign" in pair.question.lower()]
    positive = {pair.text for pair in about if pair.label}
    assert any("red spots" in text for text in positive)
    assert all(pair.title.startswith("Orf. Signs") for pair in about if pair.label)


def test_the_hard_negatives_are_there() -> None:
    asked = [pair for pair in PAIRS if not pair.label and "orf" in pair.question.lower() and "sign" in pair.question.lower()]
    assert any(pair.title.startswith("Orf. ") for pair in asked)  # another section of the same document
    assert any(pair.title.endswith("Signs") and not pair.title.startswith("Orf") for pair in asked)  # the same heading elsewhere


def test_rows_answer_their_own_label_and_not_a_row_of_the_same_name() -> None:
    rows = [pair for pair in PAIRS if pair.text.startswith("Stage:") and "Rates" in pair.title and "late" in pair.question]
    assert rows
    for pair in rows:
        assert ("Stage: late" in pair.text) == bool(pair.label), pair


def test_the_topic_loses_the_verb_of_its_title() -> None:
    assert not any("growing maize" in pair.question.lower() for pair in PAIRS)


def test_the_lead_before_the_first_heading_asks_nothing() -> None:
    assert build([passage("Orf", "", "Orf is a thing.")]) == []


def test_the_seed_decides() -> None:
    assert build(collection(), seed=3) == build(collection(), seed=3)
    assert build(collection(), seed=3) != build(collection(), seed=4)


def test_odd_tables_and_headings_do_no_harm() -> None:
    odd = [
        passage("T", "How is it done?", "So it is done as it is.", n=0),
        passage("T", "???", "", n=1),
        passage("T", "X", "no cells here", "table_row", 2),
        passage("T", "X", "A: ; B: ", "table_row", 3),
        passage("T", "X", "A: 1:2; (kg): 3", "table_row", 4),
        passage("T", "X", "A: x; B (t; ha): 3", "table_row", 5),
    ]
    for pair in build(odd):
        assert pair.question.strip()
        assert pair.label in (0.0, 1.0)


def test_nothing_gives_nothing() -> None:
    assert build([]) == []
