"""Citation marks of every form become passage ids; nothing else is touched."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lqr.grounding.citations import parse

IDS = ("aaaaaaaaaaaa-1", "bbbbbbbbbbbb-2", "cccccccccccc-3")
TITLES = ("Copper in sheep", "Lambing", "White clover > Sowing")


def only(text: str, numbered: tuple[str, ...] = IDS) -> tuple[str, tuple[str, ...], int]:
    cited = parse(text, numbered, titles=TITLES)
    assert len(cited.sentences) == 1, cited
    assert cited.sentences[0].removed == cited.removed
    return cited.sentences[0].text, cited.sentences[0].passages, cited.removed


@pytest.mark.parametrize(
    ("mark", "numbers"),
    [
        ("[1]", (1,)),
        ("[1,2]", (1, 2)),
        ("[1, 3]", (1, 3)),
        ("[1;2]", (1, 2)),
        ("[1 and 2]", (1, 2)),
        ("[1][2]", (1, 2)),
        ("[1], [2]", (1, 2)),
        ("[1] and [2]", (1, 2)),
        ("[1-3]", (1, 2, 3)),
        ("[1–3]", (1, 2, 3)),
        ("[1 to 3]", (1, 2, 3)),
        ("[1]-[3]", (1, 2, 3)),
        ("[3-1]", (1, 2, 3)),
        ("[ 2 ]", (2,)),
        ("[[2]]", (2,)),
        ("([2])", (2,)),
        ("**[2]**", (2,)),
        ("\\[2\\]", (2,)),
        ("【2】", (2,)),
        ("【2†source】", (2,)),
        ("【2:0†source】", (2,)),
        ("［2］", (2,)),
        ("[^2]", (2,)),
        ("[#2]", (2,)),
        ("[Source 2]", (2,)),
        ("[source: 2]", (2,)),
        ("[Sources 1, 2]", (1, 2)),
        ("[passage 2]", (2,)),
        ("[Passage 1, Passage 3]", (1, 3)),
        ("(passage 2)", (2,)),
        ("(Sources: 1, 2)", (1, 2)),
        ("[来源2]", (2,)),
        ('"[1,2]"', (1, 2)),
        ('["1", "2"]', (1, 2)),
        ("[2](#source-2)", (2,)),
        ("<sup>[2]</sup>", (2,)),
        ("[bbbbbbbbbbbb-2]", (2,)),
        ("[BBBBBBBBBBBB-2, aaaaaaaaaaaa-1]", (2, 1)),
        ("[Copper in sheep]", (1,)),
        ("[Source: copper in  sheep]", (1,)),
        ("[White clover > Sowing]", (3,)),
        ("(2)", (2,)),
        ("(1, 2)", (1, 2)),
    ],
)
def test_every_form_of_mark(mark: str, numbers: tuple[int, ...]) -> None:
    for text in (f"Sheep need little copper {mark}.", f"Sheep need little copper. {mark}", f"Sheep need little copper.{mark}"):
        if "(2)" in mark or "(1, 2)" in mark:
            text = f"Sheep need little copper {mark}."
        assert only(text) == ("Sheep need little copper.", tuple(IDS[n - 1] for n in numbers), 0)


@pytest.mark.parametrize(
    ("mark", "kept", "removed"),
    [
        ("[4]", (), 1),
        ("[0]", (), 1),
        ("[99]", (), 1),
        ("[1, 9]", (1,), 1),
        ("[2-5]", (2, 3), 1),
        ("[7][8]", (), 2),
        ("[dddddddddddd-4]", (), 1),
        ("[Source: The Sheep Book]", (), 1),
        ("[1-999999999]", (1, 2, 3), 1),
        ("【12】", (), 1),
    ],
)
def test_what_was_not_retrieved_is_removed_and_counted(mark: str, kept: tuple[int, ...], removed: int) -> None:
    assert only(f"Sheep need little copper {mark}.") == ("Sheep need little copper.", tuple(IDS[n - 1] for n in kept), removed)


@pytest.mark.parametrize(
    "text",
    [
        "Acid soils hold more [H+] than others.",
        "Lime lifts the pH (see 4.2).",
        "The trial (2019) lasted two years.",
        "Give [5-10 mg] daily.",
        "Give [0.5 ml] daily.",
        "First (1) clean, then (2) dry the foot.",
        "It covers 10 m² and 5 cm³.",
        "Use product [name on the label] with care.",
        "Rates (kg/ha) are on the bag.",
        "The tag reads [sheep].",
        "See table (1).",
        "An area of 10 m<sup>2</sup> is enough.",
        "Give 5 (five) tablets.",
        "Feed 1,200 kg in (9).",  # no such passage: not a citation in round brackets
    ],
)
def test_ordinary_brackets_stay(text: str) -> None:
    assert only(text) == (text, (), 0)


def test_numbers_in_square_brackets_that_cite_nothing_become_round() -> None:
    assert only("The law of [2019] holds.") == ("The law of (2019) holds.", (), 0)
    assert only("Give [5-10] mg [1].") == ("Give (5-10) mg.", (IDS[0],), 0)
    assert only("Rates of [0.5] are usual.") == ("Rates of (0.5) are usual.", (), 0)


def test_round_numbers_are_ambiguous_beside_square_ones() -> None:
    assert only("There are two kinds (2) [1].") == ("There are two kinds (2).", (IDS[0],), 0)


def test_marks_belong_to_the_sentence_before_them_or_lead_a_line() -> None:
    cited = parse("Ewes lamb in spring. [1] Lambs suckle.[2] Rams rest.", IDS)
    assert [(s.text, s.passages) for s in cited.sentences] == [
        ("Ewes lamb in spring.", (IDS[0],)),
        ("Lambs suckle.", (IDS[1],)),
        ("Rams rest.", ()),
    ]
    cited = parse("[1] Ewes lamb in spring. [2] Lambs suckle.", IDS)
    assert [s.passages for s in cited.sentences] == [(IDS[0],), (IDS[1],)]
    cited = parse("绵羊需要草。【1】山羊吃树叶【2】。", IDS)
    assert [(s.text, s.passages) for s in cited.sentences] == [("绵羊需要草。", (IDS[0],)), ("山羊吃树叶。", (IDS[1],))]


def test_spoken_citations() -> None:
    cited = parse("According to [2], ewes lamb in spring. Passage 1 states that lambs suckle.", IDS)
    assert [(s.text, s.passages) for s in cited.sentences] == [
        ("Ewes lamb in spring.", (IDS[1],)),
        ("Lambs suckle.", (IDS[0],)),
    ]


def test_lists_tables_and_quotations_are_sentences_and_the_layout_survives() -> None:
    text = (
        "Two steps:\n\n1. Clean the foot [1]\n2. Dry it [2]\n\n"
        '| Age | Dose |\n|---|---|\n| 1 | 2 ml [3] |\n> "Never mix them." [1]'
    )
    cited = parse(text, IDS)
    assert [s.text for s in cited.sentences] == [
        "Two steps:", "Clean the foot", "Dry it", "| Age | Dose |", "| 1 | 2 ml |", '"Never mix them."',
    ]  # fmt: skip
    assert [s.passages for s in cited.sentences] == [(), (IDS[0],), (IDS[1],), (), (IDS[2],), (IDS[0],)]
    assert "".join(s.lead + s.text for s in cited.sentences) == re.sub(r" \[\d\]", "", text)


def test_sources_at_the_end_and_footnotes() -> None:
    cited = parse("Ewes lamb. Lambs suckle.\n\nSources: [1], [3]", IDS)
    assert [(s.text, s.passages) for s in cited.sentences] == [
        ("Ewes lamb.", (IDS[0], IDS[2])),
        ("Lambs suckle.", (IDS[0], IDS[2])),
    ]
    cited = parse("Ewes lamb [2].\nReferences: [1] [9]", IDS)
    assert [(s.text, s.passages) for s in cited.sentences] == [("Ewes lamb.", (IDS[1],))]
    assert cited.removed == 1
    cited = parse("Ewes lamb.[^1] Lambs suckle.[^2]\n\n[^1]: Lambing\n[^2]: cccccccccccc-3", IDS, titles=TITLES)
    assert [(s.text, s.passages) for s in cited.sentences] == [("Ewes lamb.", (IDS[1],)), ("Lambs suckle.", (IDS[2],))]


def test_json_answers() -> None:
    assert only(json.dumps({"answer": "Ewes lamb.", "citations": [1, 7]})) == ("Ewes lamb.", (IDS[0],), 1)
    assert only(json.dumps("Ewes lamb [2].")) == ("Ewes lamb.", (IDS[1],), 0)
    cited = parse(
        json.dumps({"sentences": [{"text": "A ewe lambs.", "source": 1}, {"text": "It suckles.", "source": IDS[1]}]}), IDS
    )
    assert [(s.text, s.passages) for s in cited.sentences] == [("A ewe lambs.", (IDS[0],)), ("It suckles.", (IDS[1],))]


def test_nothing_to_cite() -> None:
    assert parse("", IDS) == parse(" \n\n ", IDS)
    assert parse("[1]", IDS).sentences == ()
    assert parse("[9]", IDS).removed == 1
    assert only("Ewes lamb [1].", ()) == ("Ewes lamb.", (), 1)


@pytest.mark.parametrize(
    "text", ["[1]" * 3000, "[1] x " * 500, "[" * 5000, "[1 " * 3000, "(" * 5000 + "1", "[" + "1 " * 190 + "x]", "1-" * 4000]
)
def test_hostile_text_takes_no_long_time(text: str) -> None:
    began = time.process_time()
    parse(text, IDS)
    assert time.process_time() - began < 5


# A plain, slow idea of a mark, for comparison: any square or CJK bracket that holds digits and separators only.
_ANY_MARK = re.compile(r"[\[【［〔][\s\d,;&^–—-]*\d[\s\d,;&–—-]*[\]】］〕]")
_pieces = st.one_of(
    st.sampled_from(
        "[ ] 【 】 ( ) [1] [2,9] [1-3] [^1] [Source~1] [H+] [2019] [5-10~mg] [5]~mg ~ .~ Sheep 1 2 - , \n -~ |~ [^1]:~ \\ ' \" * "
        "According~to~ passage~ 。 ² \u200b p1 [p1] <sup> </sup>".replace(" ", "\0").replace("~", " ").split("\0")
    ),
    st.text(max_size=6),
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(_pieces, max_size=25).map("".join), st.sampled_from([(), ("p1",), IDS, ("1", "2"), ("7", "p1", "7")]))
def test_whatever_the_text(text: str, numbered: tuple[str, ...]) -> None:
    cited = parse(text, numbered)
    assert {identifier for s in cited.sentences for identifier in s.passages} <= set(numbered)
    assert cited.removed >= sum(s.removed for s in cited.sentences) >= 0
    for sentence in cited.sentences:
        assert sentence.text.strip()
        assert len(set(sentence.passages)) == len(sentence.passages)
        assert not _ANY_MARK.search(sentence.text), sentence
        assert not _ANY_MARK.search(sentence.lead), sentence


@settings(max_examples=200, deadline=None)
@given(
    st.text(
        alphabet=st.characters(exclude_characters="[]【】［］〔〕()（）†⁰¹²³⁴⁵⁶⁷⁸⁹<>|", exclude_categories=("C", "Z")),
        min_size=1,
        max_size=40,
    )
)
def test_text_without_brackets_is_kept_whole(word: str) -> None:
    text = f"Sheep {word} grass"
    cited = parse(text, IDS)
    assert "".join(s.lead + s.text for s in cited.sentences) == text
    assert cited.removed == 0
