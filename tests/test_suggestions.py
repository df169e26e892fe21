"""Tests of lqr.suggestions."""

from __future__ import annotations

import pytest

from lqr.suggestions import LONGEST, question_for, suggest
from lqr.types import Passage

NO_TEXT = ""


def passage(heading: str, title: str = "Orf", document: str = "d", text: str = "Text about orf.") -> Passage:
    return Passage(f"{document}-{heading}", document, title, (heading,) if heading else (), text, 0, 0, len(text))


@pytest.mark.parametrize(
    ("heading", "title", "question"),
    [
        ("Signs", "Orf", "What are the signs of orf?"),
        ("Prevention", "Wheat rusts", "How are wheat rusts prevented?"),
        ("Prevention", "Bloat in sheep and cattle", "How is bloat in sheep and cattle prevented?"),
        ("Treatment", "Chronic copper poisoning in sheep", "What is the treatment for copper poisoning in sheep?"),
        ("Cause and spread", "Listeriosis", "What causes listeriosis?"),
        ("Control of rice blast", "Rice blast", "How is rice blast controlled?"),
        ("Damage by the brown planthopper", "Brown planthopper in rice", "What damage does brown planthopper do?"),
        ("Water for maize", "Growing maize", "How much water does maize need?"),
        ("Look", "Tan sheep", "What do Tan sheep look like?"),
        ("Main risks", "Climate and farming calendar of Gansu", "What are the main risks in Gansu?"),
        ("How much salt does a sheep need", "Minerals and salt for sheep", "How much salt does a sheep need?"),
        ("Can people catch it?", "Foot-and-mouth disease in sheep", "Can people catch foot-and-mouth disease in sheep?"),
        ("Can sheep graze them", "Sainfoin and common vetch", "Can sheep graze sainfoin and common vetch?"),
        ("How to recognise fall armyworm", "Fall armyworm", "How should I recognise fall armyworm?"),
        ("How to fertilise", "Growing alfalfa", "Alfalfa: how should I fertilise?"),
        ("When is it safe to graze", "Prussic acid poisoning", "Prussic acid poisoning: when is it safe to graze?"),
        ("Which feeds to use", "Feeding dairy cows", "Feeding dairy cows: which feeds should I use?"),
        ("What not to combine", "Minerals and salt for sheep", "Minerals and salt for sheep: what should I not combine?"),
        (
            "When is reseeding worth it",
            "Reseeding degraded grassland",
            "Reseeding degraded grassland: when is reseeding worth it?",
        ),
        ("When to plough it in", "Green manure and crop rotation", ""),  # which of the two?
        ("Why it matters", "Medicine withdrawal periods", ""),  # "why periods matters"
        ("How brucellosis spreads", "Brucellosis in sheep and goats", "Tell me how brucellosis spreads."),
        ("什么时候播种？", "小麦", "什么时候播种？"),
    ],
)
def test_a_heading_becomes_a_question(heading: str, title: str, question: str) -> None:
    text = "The Tan breed. In Gansu, foot-and-mouth disease."
    assert question_for(heading, title, text) == question


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("Foster crate", "Fostering lambs onto another ewe"),
        ("Other plants", "Locoweed and other poisonous plants"),
        ("Sources", "Orf"),
        ("Overview", "Orf"),
        ("When", "Colostrum for newborn lambs"),
        ("Which plants", "Prussic acid poisoning"),
        ("Which animals and how PPR spreads", "Peste des petits ruminants"),
        ("How sheep catch it", "Sheep scab"),
        ("Signs of poisoning", "Pesticide safety"),  # whose, it does not say
        ("Vaccination", "Rearing and mating ewe lambs"),  # there is no vaccine against work
        ("When to sow: soil temperature", "Frost and sowing dates"),
        ("播种", "小麦"),
        ("", "Orf"),
        ("???", "Orf"),
    ],
)
def test_a_dull_heading_makes_none(heading: str, title: str) -> None:
    assert question_for(heading, title, NO_TEXT) == ""


def test_names_keep_their_capital_and_words_do_not() -> None:
    assert question_for("Signs", "Orf", "Most orf heals.") == "What are the signs of orf?"
    assert question_for("Look", "Hu sheep", "White Hu sheep.") == "What do Hu sheep look like?"
    assert question_for("Signs", "PPR", NO_TEXT) == "What are the signs of PPR?"
    assert question_for("How to sow", "Siberian wildrye", "Sow Siberian wildrye.") == "Siberian wildrye: how should I sow?"


def test_a_long_title_is_cut_and_a_long_question_dropped() -> None:
    title = "Sorghum-sudangrass for grazing and silage in the dry regions of northern China"
    assert question_for("How much nitrogen does the crop need", title, NO_TEXT) == (
        "Sorghum-sudangrass: how much nitrogen does the crop need?"
    )
    assert question_for(f"How should I {'very ' * 20}carefully sow", title, NO_TEXT) == ""


@pytest.mark.parametrize("heading", ["Signs", "How to sow", "Control of {x} {0}", "Can they eat [it]", "Is it <b>safe</b>", "(a"])
@pytest.mark.parametrize("title", ["", "{x}", "A", "The", "(", "a\\b", "🐑 sheep", "Growing", "X" * 200])
def test_odd_headings_and_titles_do_no_harm(heading: str, title: str) -> None:
    assert len(question_for(heading, title, title)) <= LONGEST


def test_used_sections_and_repeats_are_left_out_in_order() -> None:
    passages = [
        passage("Signs"),
        passage("Signs"),
        passage("Treatment"),
        passage(""),
        passage("Prevention"),
        passage("Look-alikes"),
    ]
    found = suggest(passages, {("d", ("Treatment",))})
    assert found == ("What are the signs of orf?", "How is orf prevented?", "What else looks like orf?")
    assert suggest(passages, set(), limit=2) == ("What are the signs of orf?", "What is the treatment for orf?")
    assert suggest(passages, set(), limit=0) == ()
    assert suggest([], set()) == ()


def test_equal_questions_are_offered_once() -> None:
    assert suggest([passage("Signs"), passage("Signs", document="e")], set()) == ("What are the signs of orf?",)
