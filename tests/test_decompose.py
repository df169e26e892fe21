"""Each rule on questions as people type them, and the promise of a valid decomposition for any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lqr.decompose import decompose, question_starts
from lqr.text import content_words

NAMES = ("Tan sheep", "Maiwa yaks", "Dorper", "Suffolk", "ewe lamb", "heifer", "alfalfa", "barley", "footrot", "scald", "orf")


def entities(text: str) -> list[str]:
    found = sorted((text.lower().find(name.lower()), name) for name in NAMES if name.lower() in text.lower())
    return [name for _, name in found]


@pytest.mark.parametrize(
    ("question", "first", "second", "rule"),
    [
        (
            "What is the climate like where Tan sheep come from?",
            "Where Tan sheep come from?",
            "What is the climate like in #1?",
            "bridge",
        ),
        (
            "the Tan sheep, what is the yearly rain where they come from",
            "Where Tan sheep come from?",
            "What is the yearly rain in #1?",
            "bridge",
        ),
        (
            "What kills the worm that causes bottle jaw?",
            "Which worm causes bottle jaw?",
            "What kills #1?",
            "bridge",
        ),
        (
            "Frost free days in the home county of the Tan sheep?",
            "What is the home county of the Tan sheep?",
            "Frost free days in #1?",
            "bridge",
        ),
        (
            "where do Maiwa yaks come from and what is the july temperature on that plateau",
            "Where do Maiwa yaks come from?",
            "What is the july temperature on #1?",
            "two questions",
        ),
        (
            "what insect spreads it to oranges and on which part of the tree does it lay its eggs",
            "What insect spreads it to oranges?",
            "On which part of the tree does #1 lay its eggs?",
            "two questions",
        ),
        (
            "well water has salt. what EC can barley take and what can alfalfa take?",
            "Well water has salt: what EC can barley take?",
            "What can alfalfa take (ec take)?",
            "two questions",
        ),
        (
            "can people catch footrot, and can they catch orf?",
            "Can people catch footrot?",
            "Can they catch orf (people catch)?",
            "two questions",
        ),
        (
            "which ram is heavier, a Dorper or a Suffolk? want the kg of both",
            "Which ram is heavier a Dorper?",
            "Which ram is heavier a Suffolk?",
            "comparison",
        ),
        (
            "is it the same share of weight in a ewe lamb and in a beef heifer?",
            "Is it the same share of weight in a ewe lamb?",
            "Is it the same share of weight in a beef heifer?",
            "comparison",
        ),
        ("What is the difference between footrot and scald?", "What is footrot?", "What is scald?", "comparison"),
        (
            "How do I tell footrot from scald in lambs?",
            "How do I know footrot in lambs?",
            "How do I know scald in lambs?",
            "comparison",
        ),
        (
            "footrot or scald, what do I look for in the hoof?",
            "What do I look for in the hoof (footrot)?",
            "What do I look for in the hoof (scald)?",
            "comparison",
        ),
    ],
)
def test_rules(question: str, first: str, second: str, rule: str) -> None:
    parts = decompose(question, entities=entities)
    assert (parts.first, parts.second, parts.method) == (first, second, f"rules: {rule}")


def test_a_story_goes_with_the_question_that_needs_it() -> None:
    question = "Part of my land has a black crust and is hard when dry. what soil is that and what goes on before washing it"
    parts = decompose(question)
    assert parts.first.startswith("Part of my land has a black crust")
    assert parts.second == "What goes on before washing #1?"


def test_the_fallback_asks_for_a_name_with_what_is_asked() -> None:
    parts = decompose("Does barley suit Dorper lambs late in the season", entities=entities)
    assert parts.first == "Does barley suit Dorper lambs late in the season?"
    assert parts.second == "Suit lambs late season Dorper?"
    assert parts.method == "rules: fallback"


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("When do I sow maize?", ["When do I sow maize?"]),
        ("since sheep need copper, how much do I give", ["how much do I give"]),
        ("when do they lamb, and how many stay empty?", ["when do they lamb, and ", "how many stay empty?"]),
        (
            "no rain. in a drought what is the lowest score, and does calcium help?",
            ["in a drought what is the lowest score, and ", "does calcium help?"],
        ),
        ("The worm, which lives in the gut", ["which lives in the gut"]),
        ("What kills the worm, which lives in the gut", ["What kills the worm, which lives in the gut"]),
        ("it goes like brick and is hard", []),
    ],
)
def test_where_questions_begin(text: str, questions: list[str]) -> None:
    starts = question_starts(text)
    assert [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=False)] == questions


_WORDS = st.sampled_from(
    "what where which and or the a of in from that who is does it they Tan sheep orf barley more than ? , . both".split()
)


def test_a_sentence_without_end_is_not_searched_for_comparisons() -> None:
    short = "Which ram is heavier, a Dorper or a Suffolk?"
    assert decompose(short).method == "rules: comparison"
    assert decompose(short.replace("ram", "big " * 400 + "ram")).method == "rules: fallback"


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(_WORDS, max_size=20).map(" ".join)))
def test_any_text_has_two_parts_made_of_its_words(text: str) -> None:
    parts = decompose(text, entities=entities)
    assert parts.first.endswith("?")
    assert parts.second.endswith("?")
    if parts.method != "rules: fallback":
        assert content_words(parts.first)
        assert content_words(parts.second)
    allowed = set(content_words(text)) | {"1", "know"} | {word for name in entities(text) for word in content_words(name)}
    assert set(content_words(f"{parts.first} {parts.second}")) <= allowed


@pytest.mark.parametrize(
    ("question", "second"),
    [
        ("How is footrot recognised, and how long is the milk withheld after its treatment?", "after footrot's treatment"),
        ("Which worm causes bottle jaw and what is its life cycle?", "What is #1's life cycle"),
        ("Which worms cause bottle jaw and what is their life cycle?", "What is #1's life cycle"),
    ],
)
def test_a_possessive_gets_its_owner(question: str, second: str) -> None:
    assert second in decompose(question).second


def test_a_possessive_with_its_owner_beside_it_stays() -> None:
    parts = decompose("Which disease does fluke set off and how is a sheep given its first course?")
    assert "a sheep given its first course" in parts.second


def test_a_story_before_a_single_question_is_not_lost() -> None:
    parts = decompose("Ewe lambs in three weeks and has twins. How much grain?")
    assert "twins" in parts.second


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        # the first part must not swallow the question ("Number of #1?")
        (
            "number of frost free days in the home county of the Tan sheep?",
            "What is the home county of the Tan sheep?",
            "Number of frost free days in #1?",
        ),
        (
            "How much milk does a Saanen goat give and can I drink it raw?",
            "How much milk does a Saanen goat give?",
            "Can I drink milk (Saanen goat) raw?",
        ),
    ],
)
def test_parts_that_stand_alone(question: str, first: str, second: str) -> None:
    names = [name for name in ("Tan sheep", "Saanen goat") if name in question]
    made = decompose(question, entities=lambda text: [name for name in names if name in text])
    assert (made.first, made.second) == (first, second)
