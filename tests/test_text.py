"""Sentences, words and the cleaning of text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqr.text import STOPWORDS, content_words, is_cjk, normalise, sentence_spans, sentences, truncate, without_markup, words

WRITTEN = st.text(alphabet=st.sampled_from("ab AB.!?。\n-*1)\"' é羊"), max_size=80) | st.text(max_size=80)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("No stop", ["No stop"]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Soil of pH 5.5 needs 2.5 t/ha. Lime it.", ["Soil of pH 5.5 needs 2.5 t/ha.", "Lime it."]),
        ("Use a cereal, e.g. maize or i.e. corn. Then rest.", ["Use a cereal, e.g. maize or i.e. corn.", "Then rest."]),
        ("H. contortus lives in the abomasum. It drinks blood.", ["H. contortus lives in the abomasum.", "It drinks blood."]),
        ("Give hay, silage, etc. Water is free.", ["Give hay, silage, etc.", "Water is free."]),
        ("Give hay etc. to ewes.", ["Give hay etc. to ewes."]),
        ("Ask the vet (see Fig. 3). Wait.", ["Ask the vet (see Fig. 3).", "Wait."]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("Really?! Yes... perhaps.", ["Really?!", "Yes... perhaps."]),
        ("母羊产前六周驱虫。羔羊断奶后再驱虫！对吗？对", ["母羊产前六周驱虫。", "羔羊断奶后再驱虫！", "对吗？", "对"]),
        ("Heading\n\nBody text", ["Heading", "Body text"]),
        ("Do this:\n- drench\n- weigh", ["Do this:", "- drench", "- weigh"]),
        ("1. Weigh the ewe\n2. Dose her", ["1. Weigh the ewe", "2. Dose her"]),
        ("a line\nthat goes on", ["a line\nthat goes on"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(WRITTEN)
def test_spans_are_in_order_trimmed_and_lose_nothing_but_space(text: str) -> None:
    spans = sentence_spans(text)
    before = 0
    for start, end in spans:
        assert before <= start < end <= len(text)
        assert text[before:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        before = end
    assert text[before:].strip() == ""


def test_a_long_text_is_split() -> None:
    assert len(sentences("One sentence here. " * 5_000)) == 5_000
    assert len(sentences("." * 200_000)) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  a\t\tb\r\nc  ", "a b c"),
        ("sheep\u200bfold", "sheepfold"),
        ("\u202egnp\u202c.exe", "gnp.exe"),
        ("ﬁne ５ ㎏", "fine 5 kg"),
        ("e\u0301", "é"),
        ("a\x00\x1b[31mb", "a[31mb"),
        ("\udc80x", "x"),
        ("🐑", "🐑"),
    ],
)
def test_normalise(text: str, expected: str) -> None:
    assert normalise(text) == expected


@given(st.text())
def test_normalised_text_is_clean_and_stays_as_it_is(text: str) -> None:
    clean = normalise(text)
    assert not any(unicodedata.category(c).startswith("C") for c in clean)
    assert clean == " ".join(clean.split())


def test_words_keep_numbers_and_compounds_whole() -> None:
    assert words("Give 3.5 mg/kg of copper-free mix: farmer's choice, N at pH 6.5!") == [
        "give", "3.5", "mg", "kg", "of", "copper-free", "mix", "farmer's", "choice", "n", "at", "ph", "6.5",
    ]  # fmt: skip
    assert words("_snake_ ... 🐑") == ["snake"]


def test_content_words_drop_only_stop_words() -> None:
    assert content_words("How do I feed the ewes, and the ewes again?") == ["feed", "ewes", "ewes"]
    assert {word.lower() for word in STOPWORDS} == STOPWORDS


@given(st.text())
def test_content_words_are_words_less_stop_words(text: str) -> None:
    assert content_words(text) == [word for word in words(text) if word not in STOPWORDS]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("羊的寄生虫", True),
        ("sheep", False),
        ("", False),
        ("123 🐑", False),
        ("sheep 羊", False),
        ("pH 多少合适", True),
        ("ひつじ", True),
    ],
)
def test_is_cjk(text: str, expected: bool) -> None:
    assert is_cjk(text) is expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 5, "short"),
        ("one two three", 9, "one two…"),
        ("abcdefghijkl", 5, "abcd…"),
        ("a bcdefghijkl", 8, "a bcdef…"),
        ("羊羊羊羊", 3, "羊羊…"),
    ],
)
def test_truncate(text: str, limit: int, expected: str) -> None:
    assert truncate(text, limit) == expected


@given(st.text(), st.integers(1, 50))
def test_truncated_text_fits(text: str, limit: int) -> None:
    short = truncate(text, limit)
    assert len(short) <= limit
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_markup_is_taken_out_of_a_question_and_comparisons_stay() -> None:
    assert without_markup("<script>alert(1)</script>How is footrot treated?").strip() == "How is footrot treated?"
    assert without_markup("a ![x](http://e/x.png) [lime](http://e) <img onerror=x> b").split() == ["a", "x", "lime", "b"]
    assert "pH <5.5 and $3-$5/ha, 2 < 3 > 1" in without_markup("pH <5.5 and $3-$5/ha, 2 < 3 > 1")
