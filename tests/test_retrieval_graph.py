from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from lqr.retrieval.entities import TitleIndex, aliases, rare_terms
from lqr.retrieval.graph import BACKWARDS, DECAY, LINK, MAX_EDGES, PassageGraph
from lqr.retrieval.links import LinkResolver, slugify
from lqr.types import Block, Document, Passage


def document(name: str, title: str, *sections: tuple[str, str, tuple[str, ...]]) -> tuple[Document, list[Passage]]:
    """A document of ``(heading, text, links)`` sections, one passage each."""
    text, blocks, passages = "", [], []
    for position, (heading, body, links) in enumerate(sections):
        start, end = len(text), len(text) + len(body)
        text += body + "\n\n"
        blocks.append(Block("paragraph", body, start, end, links=links))
        section = (heading,) if heading else ()
        passages.append(Passage(f"{name}-{position}", name, title, section, body, position, start, end))
    return Document(name, title, text, tuple(blocks), f"crops/{name}.md"), passages


def build(*parts: tuple[Document, list[Passage]]) -> PassageGraph:
    documents = {doc.id: doc for doc, _ in parts}
    return PassageGraph.build([passage for _, passages in parts for passage in passages], documents.__getitem__)


def slow_walk(graph: PassageGraph, seeds: dict[str, float], hops: int) -> dict[str, float]:
    """All walks, one edge at a time, in dictionaries."""
    total: dict[str, float] = defaultdict(float)
    current = dict(seeds)
    for _ in range(hops):
        following: dict[str, float] = defaultdict(float)
        for source, weight in current.items():
            for target, edge, _ in graph.edges(source):
                following[target] += weight * edge * DECAY
        for target, weight in following.items():
            total[target] += weight
        current = following
    return {passage_id: weight for passage_id, weight in total.items() if passage_id not in seeds}


@pytest.mark.parametrize("hops", [0, 1, 2, 3])
def test_walk_equals_the_slow_one(hops: int) -> None:
    random = np.random.default_rng(5)
    matrix = sparse.random(60, 60, density=0.06, format="csr", random_state=5, dtype=np.float32)
    ids = [f"p{i:02}" for i in range(60)]
    graph = PassageGraph(ids, matrix, np.zeros(matrix.nnz, dtype=np.int32), ["leads to"])
    for _ in range(5):
        seeds = {ids[i]: float(random.uniform(0.1, 1)) for i in random.choice(60, 3, replace=False)}
        found = graph.expand(seeds, hops=hops, limit=100)
        expected = slow_walk(graph, seeds, hops)
        assert {i: w for i, w, _ in found} == pytest.approx(expected)
        assert [i for i, _, _ in found] == [i for i, _ in sorted(((i, w) for i, w, _ in found), key=lambda p: (-p[1], p[0]))]
        assert all(1 <= why.count("leads to") <= hops for _, _, why in found)
        assert graph.expand(seeds, hops=hops, limit=2) == found[:2]


def test_link_leads_to_the_opening_and_back() -> None:
    graph = build(
        document("rice", "Growing rice", ("", "Spraying favours the hopper.", ("../pests/hopper.md",))),
        (lambda d, p: (Document(d.id, d.title, d.text, d.blocks, "pests/hopper.md"), p))(
            *document("hopper", "Brown planthopper", ("", "It sucks sap.", ()))
        ),
    )
    assert graph.edges("rice-0") == [("hopper-0", LINK, "links to")]
    assert graph.edges("hopper-0") == [("rice-0", pytest.approx(LINK * BACKWARDS), "is linked from")]
    (found,) = graph.expand({"rice-0": 1.0}, label={"rice-0": "Growing rice", "hopper-0": "Brown planthopper"}.__getitem__)
    assert found == ("hopper-0", pytest.approx(DECAY), "“Growing rice” links to “Brown planthopper”")


def test_link_to_a_section() -> None:
    target = document("b", "Beets", ("Sowing", "Sow early.", ()), ("Late harvest", "Lift dry.", ()))
    graph = build(document("a", "Apples", ("", "Compare.", ("b.md#late-harvest",))), target)
    assert graph.edges("a-0")[0][0] == "b-1"


def test_text_that_names_a_title() -> None:
    graph = build(
        document("a", "Winter feeding", ("", "Too much may end in copper poisoning, or worse.", ())),
        document("b", "Copper poisoning in sheep", ("", "The liver stores it.", ())),
    )
    assert [(target, phrase) for target, _, phrase in graph.edges("a-0")] == [("b-0", "names")]


def test_shared_rare_term_and_not_a_common_one() -> None:
    parts = [document(f"d{i}", f"Subject {chr(97 + i)}x", ("", f"Pasture number{i} grows.", ())) for i in range(60)]
    parts[3] = document("d3", "Barber pole", ("", "Pasture holds Haemonchus contortus here.", ()))
    parts[9] = document("d9", "Drench groups", ("", "Pasture spreads Haemonchus there.", ()))
    graph = build(*parts)
    assert [(target, phrase) for target, _, phrase in graph.edges("d3-0")] == [("d9-0", "shares ‘Haemonchus’ with")]
    assert graph.edges("d5-0") == []


def test_company_in_a_document() -> None:
    graph = build(document("a", "Hay", ("Cutting", "One.", ()), ("Cutting", "Two.", ()), ("Baling", "Three.", ())))
    assert {(t, p) for t, _, p in graph.edges("a-1")} == {("a-0", "is in the same section as"), ("a-2", "stands next to")}


def test_two_steps_are_told() -> None:
    graph = build(
        document("a", "Alpha", ("", "x", ("b.md",))),
        document("b", "Bravo", ("", "y", ("c.md",))),
        document("c", "Charlie", ("", "z", ())),
    )
    found = {passage_id: why for passage_id, _, why in graph.expand({"a-0": 1.0})}
    assert found["c-0"] == "“a-0” links to “b-0”; “b-0” links to “c-0”"


def test_hub_is_capped() -> None:
    spokes = [document(f"s{i:02}", f"Spoke{i}", ("", f"t{i}", ("hub.md",))) for i in range(MAX_EDGES + 20)]
    graph = build(document("hub", "Hub", ("", "h", ())), *spokes)
    assert len(graph.edges("hub-0")) == MAX_EDGES


def test_spread_equals_the_slow_one() -> None:
    matrix = sparse.random(40, 40, density=0.1, format="csr", random_state=2, dtype=np.float32)
    ids = [f"p{i:02}" for i in range(40)]
    graph = PassageGraph(ids, matrix, np.zeros(matrix.nnz, dtype=np.int32), ["leads to"])
    own = np.random.default_rng(4).uniform(size=40)
    lenders = [3, 9, 17]
    expected = own.copy()
    for row in range(40):
        expected[row] += max((own[s] * w * 0.4 for s in lenders for t, w, _ in graph.edges(ids[s]) if t == ids[row]), default=0.0)
    assert (expected > own).any()
    np.testing.assert_allclose(graph.spread(own, lenders, 0.4), expected, rtol=1e-6)
    np.testing.assert_array_equal(graph.spread(own, [], 0.4), own)


def test_a_shown_term_is_a_word_not_its_stem() -> None:
    texts = ["Use plenty of lubricants here." if i in (4, 8) else f"word{i}." for i in range(50)]
    table = rare_terms([p for i, text in enumerate(texts) for p in document(f"d{i}", "T", ("", text, ()))[1]])
    assert "lubricants" in {term.text for term in table.rare}


def test_unknown_seeds_and_empty_graph() -> None:
    assert build(document("a", "A", ("", "x", ()))).expand({"nothing": 1.0}) == []
    assert PassageGraph.build([], {}.__getitem__).expand({"a": 1.0}) == []
    assert build(document("a", "A", ("", "x", ()))).edges("nothing") == []


def test_round_trip(tmp_path: Path) -> None:
    graph = build(document("a", "Hay", ("", "One.", ("b.md",)), ("S", "Two.", ())), document("b", "Straw", ("", "Hay.", ())))
    graph.save(tmp_path)
    loaded = PassageGraph.load(tmp_path, graph.ids)
    assert [loaded.edges(i) for i in graph.ids] == [graph.edges(i) for i in graph.ids]
    assert graph.edges("a-0")
    with pytest.raises(ValueError, match="passages"):
        PassageGraph.load(tmp_path, ["other"])


@pytest.mark.parametrize(
    ("title", "alias"),
    [
        ("Copper poisoning in sheep", ("copper", "poison")),
        ("Growing rice", ("rice",)),
        ("Paris (Texas)", ("pari",)),
        ("Foot-rot", ("foot", "rot")),
        ("The Doors", ("door",)),
    ],
)
def test_aliases(title: str, alias: tuple[str, ...]) -> None:
    assert alias in aliases(title)


def test_alias_keeps_two_words_of_a_cut_title() -> None:
    assert ("care",) not in aliases("Care of lambs")
    assert aliases("2015") == []


def test_titles_against_trying_every_place() -> None:
    titles = {"1": "Rice blast", "2": "Blast furnace", "3": "Rice", "4": "Wheat", "5": "Wheat", "6": "Wheat"}
    index = TitleIndex(titles)
    assert index.named_in(["grow", "rice", "blast", "furnac"]) == {"1": ("rice", "blast")}  # the longest from the left
    assert index.named_in(["rice", "and", "rice", "blast"]) == {"3": ("rice",), "1": ("rice", "blast")}
    assert index.named_in(["wheat"]) == {}  # three owners: it names none


def test_rare_terms_are_counted_right() -> None:
    passages = [
        p for i in range(50) for p in document(f"d{i}", "T", ("", "The Gobi is dry." if i in (4, 8) else f"word{i}.", ()))[1]
    ]
    table = rare_terms(passages)
    assert [(t.text, t.rows, t.named) for t in table.rare] == [("Gobi", (4, 8), True)]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("b.md", "b"),
        ("./b.md#part", "b"),
        ("../x/c%20d.md", "c"),
        ("/x/c d.md", "c"),
        ("c d.md", "c"),  # moved folder: the name is unique
        ("same.md", None),  # two documents have it
        ("https://example.org/b.md", None),
        ("mailto:b.md", None),
        ("//host/b.md", None),
        ("missing.md", None),
        ("", None),
        ("#here", "a"),
    ],
)
def test_links(target: str, expected: str | None) -> None:
    sources = {"a": "y/a.md", "b": "y/b.md", "c": "x/c d.md", "s1": "p/same.md", "s2": "q/same.md"}
    found = LinkResolver(Document(i, i, "", (), s) for i, s in sources.items()).resolve("y/a.md", target)
    assert (found.document_id if found else None) == expected


def test_slug() -> None:
    assert slugify("Why, when & how?") == "why-when-how"
