"""Tests of lqr.retrieval.layered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import pytest

from lqr.retrieval.continuity import Thread
from lqr.retrieval.layered import GRAPH_LIMIT, POOL, LayeredRetrieval, fuse
from lqr.retrieval.retriever import Retriever
from lqr.settings import Settings
from lqr.text import content_words
from lqr.types import Decomposition, Hit, Passage, Turn


def hit(name: str, score: float = 1.0, text: str = "", **scores: float) -> Hit:
    return Hit(Passage(f"{name}-0", name, name.title(), (), text or f"On {name}.", 0, 0, 9), score, scores)


class FakeRetriever:
    """Answers from a table by query; everything else finds ``default``. Notes what it was asked."""

    def __init__(self, table: dict[str, list[Hit]] | None = None, default: Sequence[Hit] = (), near: Sequence[Hit] = ()) -> None:
        self.table, self.default, self.near = table or {}, list(default), list(near)
        self.ranks_paths, self.by_paths = False, [hit("far")]
        self.asked: list[str] = []
        self.expanded: list[tuple[list[str], dict[str, Any]]] = []

    def search(self, query: str, k: int | None = None, *, mode: str = "hybrid") -> list[Hit]:
        return self.by_paths if mode == "paths" else self.search_many([query])[0]

    def search_many(self, queries: Sequence[str]) -> list[list[Hit]]:
        self.asked.extend(queries)
        return [self.table.get(query, self.default) for query in queries]

    def expand(self, hits: Sequence[Hit], hops: int = 2, limit: int | None = None, *, query: str = "") -> list[Hit]:
        self.expanded.append(([h.passage.id for h in hits], {"hops": hops, "limit": limit, "query": query}))
        return self.near[:limit]


def overlap(pairs: Sequence[tuple[str, tuple[str, str]]]) -> list[float]:
    """Stands in for the evidence model: the share of the question's words that the sentence holds."""
    return [len({*content_words(q)} & {*content_words(text)}) / (len({*content_words(q)}) or 1) for q, (_, text) in pairs]


def provinces(text: str) -> list[str]:
    return re.findall(r"Ningxia|Gansu", text)


def layered(retriever: FakeRetriever, **settings: Any) -> LayeredRetrieval:
    return LayeredRetrieval(cast(Retriever, retriever), Settings(**settings), overlap, provinces)


PARTS = Decomposition("Where do Tan sheep come from?", "What is the climate of #1?")


def test_a_simple_question_is_one_search() -> None:
    fake = FakeRetriever(default=[hit("a"), hit("b")])
    found = layered(fake).retrieve("How?", None)
    assert (found.steps, found.queries, found.parts) == (1, ("How?",), ())
    assert fake.asked == ["How?"]
    assert [h.passage.id for h in found.hits] == ["a-0", "b-0"]


QUOTED = "Ewes below score 2.5 get concentrate for flushing."


def test_a_follow_up_is_also_searched_with_the_last_question() -> None:
    beside = "How much grain. For how long?"
    fake = FakeRetriever(
        {
            QUOTED: [hit("flushing", text=QUOTED)],
            "For how long?": [hit("a", dense=0.2)],
            beside: [hit("a", dense=0.9), hit("b", dense=0.8)],
        }
    )
    before = [Turn("user", "How much grain?"), Turn("assistant", f"{QUOTED} [1]")]
    found = layered(fake).retrieve("For how long?", None, before, beside)
    assert found.queries == ("For how long?", beside)
    assert (list(found.thread.bonus), found.thread.beside, found.steps) == (["flushing"], beside, 1)
    a, b = found.hits
    # how near a passage is to the question is not to be read from another one
    assert (a.passage.title, a.scores, a.why) == ("A", {"dense": 0.2}, "")
    assert (b.passage.title, b.scores, b.why) == ("B", {}, "found with the last question")


def test_a_history_that_quotes_nothing_changes_nothing() -> None:
    fake = FakeRetriever(default=[hit("a")])
    asked = layered(fake).retrieve(
        "How?", None, [Turn("user", "Hello"), Turn("assistant", "The documents do not say that at all.")]
    )
    assert (asked.queries, asked.thread) == (("How?",), Thread())
    assert layered(fake).retrieve("How?", None, (), "How?").queries == ("How?",)  # nothing to search twice
    assert layered(fake).retrieve("How?", PARTS, (), "Why. How?").thread == Thread()  # two steps have searches enough


def test_a_complex_question_is_searched_in_two_layers() -> None:
    seeds = [hit("salt"), hit("pelts", text="Tan sheep come from Ningxia. Other words."), hit("wool", text="Tan wool.")]
    fake = FakeRetriever({PARTS.first: seeds}, default=[hit("climate")])
    found = layered(fake).retrieve("What is the climate where Tan sheep come from?", PARTS)
    # the seed whose sentence answers q1 best comes first, and #1 is the name in that sentence
    assert found.parts == (PARTS.first, "What is the climate of Ningxia?")
    assert found.queries[0] == PARTS.first
    assert found.steps == len(fake.asked) == len(found.queries)
    # RD2 = R(q1, q2, d_i): one query for each seed, which holds what the seed says about q1
    second = [query for query in fake.asked if "climate of Ningxia?" in query and "Tan sheep come from Ningxia." in query]
    assert len(second) == 1
    assert "Other words" not in second[0]
    assert {h.passage.id for h in found.hits} == {"salt-0", "pelts-0", "wool-0", "climate-0"}


def test_without_a_name_the_title_stands_for_the_first_answer() -> None:
    fake = FakeRetriever({PARTS.first: [hit("steppe", text="Tan sheep come from dry land.")]})
    assert layered(fake).retrieve("Climate?", PARTS).parts[1] == "What is the climate of Steppe?"


def test_a_name_that_was_asked_with_is_no_answer() -> None:
    fake = FakeRetriever({PARTS.first: [hit("a", text="Tan sheep come from Ningxia, not from Gansu.")]})
    found = layered(fake).retrieve("Are Tan sheep from Gansu, and how is the climate?", PARTS)
    assert found.parts[1] == "What is the climate of Ningxia?"


def test_what_one_query_alone_finds_stays_in_the_pool() -> None:
    many = [hit(f"m{i}") for i in range(20)]
    fake = FakeRetriever({PARTS.first: [*many[:3]], "What is the climate of M0?": [hit("lone"), *many]}, default=many)
    found = layered(fake).retrieve("Climate?", PARTS)
    assert "lone-0" in {h.passage.id for h in found.hits}


def test_no_query_is_put_twice() -> None:
    same = Decomposition("Tan sheep?", "Tan sheep in Ningxia?")
    fake = FakeRetriever(default=[hit("a", text="x"), hit("b", text="x")])
    layered(fake).retrieve("Tan sheep in Ningxia?", same)
    assert len(fake.asked) == len(set(fake.asked))


@pytest.mark.parametrize(("seeds", "expand"), [([], 3), ([hit("ningxia")], 0)])
def test_without_a_seed_no_placeholder_is_asked(seeds: list[Hit], expand: int) -> None:
    fake = FakeRetriever({PARTS.first: seeds})
    found = layered(fake, expand=expand).retrieve("What is the climate where Tan sheep come from?", PARTS)
    assert all("#1" not in text for text in (*fake.asked, *found.parts))


def test_expand_bounds_the_second_layer() -> None:
    fake = FakeRetriever(default=[hit(f"d{i}") for i in range(9)])
    layered(fake, expand=2).retrieve("What is the climate?", PARTS)
    assert sum("On d" in query for query in fake.asked) == 2


@pytest.mark.parametrize("count", [0, 3, 20, 40])
@pytest.mark.parametrize("near", [0, 5, 30])
def test_the_pool_is_bounded_unique_and_keeps_the_best_first(count: int, near: int) -> None:
    hits = [hit(f"h{i}", 1 / (i + 1)) for i in range(count)]
    reached = [*hits[:2], *(hit(f"n{i}") for i in range(near))]  # a graph may reach what is known
    fake = FakeRetriever(default=hits, near=reached)
    ids = [h.passage.id for h in layered(fake).retrieve("How?", None).hits]
    assert len(ids) <= POOL
    assert len(ids) == len(set(ids))
    assert ids[: min(count, POOL - GRAPH_LIMIT)] == [h.passage.id for h in hits][: POOL - GRAPH_LIMIT]
    assert len(fake.expanded[0][0]) <= 6
    assert fake.expanded[0][1] == {"hops": 2, "limit": GRAPH_LIMIT, "query": "How?"}


def test_fuse_is_reciprocal_rank_and_keeps_the_best_of_each_score() -> None:
    lists = [[hit("a", bm25=1.0), hit("b", dense=0.2)], [hit("b", dense=0.7, bm25=3.0), hit("c")]]
    fused = fuse(lists, 60)
    expected = {"b-0": 1 / 62 + 1 / 61, "a-0": 1 / 61, "c-0": 1 / 62}
    assert {h.passage.id: h.score for h in fused} == pytest.approx(expected)
    assert [h.passage.id for h in fused] == ["b-0", "a-0", "c-0"]
    assert fused[0].scores == {"dense": 0.7, "bm25": 3.0}


def test_fuse_of_nothing() -> None:
    assert fuse([], 60) == fuse([[], []], 60) == []


@pytest.mark.parametrize("ranks", [False, True])
def test_the_path_ranker_joins_both_pools_where_it_is_there(ranks: bool) -> None:
    fake = FakeRetriever(default=[hit("a"), hit("b")])
    fake.ranks_paths = ranks
    found = layered(fake).retrieve("What is the climate where Tan sheep come from?", PARTS)
    assert [("far-0" in [h.passage.id for h in pool]) for pool in found.pools] == [ranks, ranks]
    simple = layered(fake).retrieve("How?", None)
    assert "far-0" not in [h.passage.id for h in simple.hits]


def test_where_is_answered_by_a_place_and_not_by_the_first_name() -> None:
    def names(text: str) -> list[str]:
        return re.findall(r"Mongolian ewes|Gansu|Ningxia", text)

    told = "Tan sheep were bred from Mongolian ewes. They come from Ningxia."
    fake = FakeRetriever({PARTS.first: [hit("tan", text=told)]}, default=[hit("other")])
    split = LayeredRetrieval(cast(Retriever, fake), Settings(), overlap, names, provinces)
    assert split.retrieve("?", PARTS).questions[1] == "What is the climate of Ningxia?"
    # a sentence that repeats the question and names no place gives way to one that does
    wool = hit("wool", text="Tan sheep come to the shears, and from Tan sheep come fine lambskins.")
    fake.table[PARTS.first] = [wool, hit("tan", text="Their home is Ningxia.")]
    assert split.retrieve("?", PARTS).questions[1] == "What is the climate of Ningxia?"
    worms = Decomposition("Which worm do Mongolian ewes carry?", "How is #1 treated?")
    fake.table[worms.first] = [hit("worm", text="It is carried by Gansu sheep and by Mongolian ewes.")]
    assert split.retrieve("?", worms).questions[1] == "How is Gansu treated?"  # no place was asked for: the names decide
