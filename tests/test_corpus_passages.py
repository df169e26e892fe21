"""Passages: the smallest sensible units, exact offsets, nothing lost."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lqr.corpus.passages import SLACK, TARGET, size, split
from lqr.corpus.readers import read_bytes
from lqr.types import Document, Passage


def document_of(markdown: str, name: str = "a.md") -> Document:
    return read_bytes(markdown.encode(), source=name)[0]


def passages_of(markdown: str, name: str = "a.md") -> tuple[Passage, ...]:
    document = document_of(markdown, name)
    passages = split(document)
    for position, passage in enumerate(passages):
        assert passage.text == document.text[passage.start : passage.end] == passage.text.strip()
        assert (passage.position, passage.id) == (position, f"{document.id}-{position}")
    assert all(a.end <= b.start for a, b in itertools.pairwise(passages))
    return passages


def sentence(words: int, tag: str = "w") -> str:
    return "S" + " ".join([tag] * words) + "."


def test_paragraphs_of_a_section_are_merged_while_they_fit() -> None:
    passages = passages_of("\n\n".join([sentence(50), sentence(60), sentence(40), "## Next", sentence(5)]))
    assert [size(p.text) for p in passages] == [110, 40, 5]
    assert [p.section for p in passages] == [(), (), ("Next",)]


def test_long_paragraph_is_cut_at_sentences_into_like_parts() -> None:
    (first, second) = passages_of(" ".join(sentence(20) for _ in range(8)))
    assert [size(first.text), size(second.text)] == [80, 80]
    assert first.text.endswith(".")


def test_section_path_title_and_scope() -> None:
    text = (
        "---\ntitle: Copper\ntopic: health\nspecies: [sheep]\nregion: []\nsources: [x]\n---\nLead.\n\n"
        "# Copper\n\n## Signs\n\nA.\n\n### Late\n\nB.\n\n## Care\n\nC."
    )
    passages = passages_of(text)
    assert [(p.section, p.text) for p in passages] == [
        ((), "Lead."),
        (("Signs",), "A."),
        (("Signs", "Late"), "B."),
        (("Care",), "C."),
    ]
    assert passages[0].metadata == {"topic": "health", "species": ["sheep"]}
    assert passages[2].heading == "Copper > Signs > Late"


def test_table_rows_stand_alone() -> None:
    passages = passages_of(
        "## A\n\n## Feed\n\nSee the table.\n\n| Stage | Hay (kg) |\n|--|--|\n| late pregnancy | 1.2 |\n| milk | 1.5 |\n\nAfter."
    )
    assert [(p.kind, p.text) for p in passages] == [
        ("paragraph", "See the table."),
        ("table_row", "Stage: late pregnancy; Hay (kg): 1.2"),
        ("table_row", "Stage: milk; Hay (kg): 1.5"),
        ("paragraph", "After."),
    ]
    assert passages[1].section == ("Feed",)


def test_list_keeps_its_lead_in() -> None:
    (prose, items) = passages_of("Copper kills. The signs are:\n\n- yellow eyes\n- red urine")
    assert prose.text == "Copper kills."
    assert items.text == "The signs are:\n\nyellow eyes\n\nred urine"


def test_list_without_lead_in_and_long_list() -> None:
    assert [p.text for p in passages_of("Copper kills.\n\n- a b\n- c d")] == ["Copper kills.", "a b\n\nc d"]
    items = "\n".join(f"- {sentence(40, 'x')}" for _ in range(5))
    passages = passages_of(f"Do the following:\n\n{items}")
    assert [size(p.text) for p in passages] == [83, 120]
    assert passages[0].text.startswith("Do the following:")
    assert passages[1].metadata == {"lead_in": "Do the following:"}


def test_numbered_rules_are_a_passage_each() -> None:
    text = (
        "4.2.1 The driver must stop.\n\n4.2.2 The driver must wait if:\n\n(a) a child crosses;\n\n(b) a horse crosses.\n\n"
        "Article 12(3) Lights are lit.\n\n§ 7 Horns are used rarely.\n\n"
        "第十二条 车辆应当停车。\n\nOther prose.\n\n2.5 kg of hay is enough."
    )
    assert [p.text for p in passages_of(text)] == [
        "4.2.1 The driver must stop.",
        "4.2.2 The driver must wait if:\n\n(a) a child crosses;\n\n(b) a horse crosses.",
        "Article 12(3) Lights are lit.",
        "§ 7 Horns are used rarely.",
        "第十二条 车辆应当停车。",
        "Other prose.\n\n2.5 kg of hay is enough.",
    ]


def test_chinese_is_measured_and_cut() -> None:
    assert size("绵羊不能喂牛用的矿物质") == 8
    assert size("喂 2 kg") == 3
    passages = passages_of("绵羊不能喂牛用的矿物质，因为铜会毒死绵羊。" * 30)
    assert len(passages) > 2
    assert all(p.text.endswith("。") and size(p.text) <= TARGET * SLACK for p in passages)


def test_text_without_sentences_or_spaces_is_cut() -> None:
    for text in ("word " * 2000, "x" * 20_000):
        passages = passages_of(text, "a.txt")
        assert all(size(p.text) <= TARGET * SLACK + 1 and len(p.text) <= TARGET * 25 for p in passages)
        assert re.sub(r"\s", "", "".join(p.text for p in passages)) == text.replace(" ", "")


def test_headings_alone_are_passages() -> None:
    assert [p.text for p in passages_of("# One\n\n## Two")] == ["One", "Two"]


def test_indexed_text_leads_with_title_and_section() -> None:
    assert passages_of("# T\n\n## S\n\nx.")[0].indexed_text == "T. S. x."


BLOCKS = st.lists(
    st.one_of(
        st.integers(1, 200).map(lambda n: " ".join(sentence(min(15, n)) for _ in range(1 + n // 15))),
        st.lists(st.integers(1, 90), min_size=1, max_size=6).map(lambda ns: "\n".join(f"- {sentence(n)}" for n in ns)),
        st.sampled_from(
            ["## Head", "### Deep", "These are:", "4.2.1 The rule.", "(a) part", "| A | B |\n|--|--|\n| 1 | 2 |", "羊。"]
        ),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(BLOCKS)
def test_nothing_is_lost_and_nothing_is_too_long(blocks: list[str]) -> None:
    text = "\n\n".join(blocks)
    passages = passages_of(text)
    document = document_of(text)
    if any(block.kind != "heading" for block in document.blocks):
        kept = "".join(block.text for block in document.blocks if block.kind != "heading")
        assert re.sub(r"\s", "", "".join(p.text for p in passages)) == re.sub(r"\s", "", kept)
    assert all(size(p.text) <= TARGET * SLACK for p in passages)


@pytest.mark.parametrize(
    ("text", "number", "parent"),
    [
        ("4.2.1 The driver must stop.", "4.2.1", "4.2"),
        ("4.2.1R(2) The firm must tell.", "4.2.1R(2)", "4.2.1R"),
        ("4.2.1R(2)(a) The firm must tell.", "4.2.1R(2)(a)", "4.2.1R(2)"),
        ("Article 12(3) Lights are lit.", "Article 12(3)", "Article 12"),
        ("Rule 3.1 Horns are used rarely.", "Rule 3.1", "Rule 3"),
        ("§ 7 Horns are used rarely.", "§ 7", None),
        ("第十二条 车辆应当停车。", "第十二条", None),
        ("2.5 kg of hay is enough.", None, None),
    ],
)
def test_a_rule_carries_its_number_and_its_parent(text: str, number: str | None, parent: str | None) -> None:
    (passage,) = passages_of(text)
    assert (passage.metadata.get("number"), passage.metadata.get("parent")) == (number, parent)
