"""Tests of lqr.retrieval.paths and of what bm25 and graph give it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lqr.retrieval.bm25 import BM25Index
from lqr.retrieval.entities import simple_terms
from lqr.retrieval.graph import NAMED_BY, NAMES, SHARES, PassageGraph
from lqr.retrieval.index import index_terms
from lqr.retrieval.paths import FEATURES, PathFinder
from lqr.retrieval.tokenizer import tokenize
from lqr.types import Document, Passage

ARTICLES = {
    "Silver Harbour": "Silver Harbour is a 1951 film directed by Alda Brenn and shot in winter.",
    "Alda Brenn": "Alda Brenn was born in Torvik and painted boats.",
    "Torvik": "Torvik lies on a fjord; its market was founded in 1650.",
    "Market hall": "A hall for traders, roofed with slate.",
    "Winter wheat": "Winter wheat is sown in autumn.",
}


def finder(articles: dict[str, str], *, titles: bool = True) -> tuple[PathFinder, list[Passage], BM25Index, PassageGraph]:
    passages = [
        Passage(f"p{number}", f"d{number}", title if titles else "", (), text, 0, 0, len(text))
        for number, (title, text) in enumerate(articles.items())
    ]
    bm25 = BM25Index.build([index_terms(passage) for passage in passages])
    graph = PassageGraph.build(passages, lambda key: Document(key, key, "", (), key))
    return PathFinder(passages, bm25, graph), passages, bm25, graph


def feature(paths: PathFinder, query: str, row: int, name: str) -> float:
    found = paths.find(query)
    return float(found.features[list(found.rows).index(row), FEATURES.index(name)])


def test_contributions_add_up_to_the_score() -> None:
    random = np.random.default_rng(3)
    rows = [[f"t{term}" for term in random.integers(0, 30, random.integers(0, 12))] for _ in range(40)]
    index = BM25Index.build(rows)
    for _ in range(20):
        terms = [f"t{term}" for term in random.choice(40, 6, replace=False)]  # some are in no row
        wanted = np.sort(random.choice(40, 15, replace=False)).astype(np.int64)
        found = index.contributions(terms, wanted)
        assert found.sum(axis=0) == pytest.approx(index.scores(terms)[wanted], abs=1e-5)
        for place, term in enumerate(terms):
            assert [term in rows[row] for row in wanted] == list(found[place] > 0)


def test_rarity_is_the_idf_of_the_scores() -> None:
    index = BM25Index.build([["a", "b"], ["a"], ["c"]])
    assert index.rarity("a") == pytest.approx(math.log(1 + 1.5 / 2.5))
    assert index.rarity("none") > index.rarity("b") > index.rarity("a")


def test_an_empty_index_contributes_nothing() -> None:
    index = BM25Index.build([[], []])
    assert not index.contributions(["a"], np.array([0, 1])).any()


def test_kinds_tell_the_edges_apart() -> None:
    # the named passage does not repeat its own name: a shared name would be the stronger way back, and only that is kept
    articles = {
        "Silver Harbour": "A film directed by Alda Brenn.",
        "Alda Brenn": "She came from Torvik.",
        "Fish": "They sell it in Torvik.",
    }
    _, _, _, graph = finder(articles)
    kinds = {}
    for row in range(len(articles)):
        for place in range(graph.weights.indptr[row], graph.weights.indptr[row + 1]):
            kinds[(row, int(graph.weights.indices[place]))] = int(graph.kinds[place])
    assert kinds[(0, 1)] == NAMES
    assert kinds[(1, 0)] == NAMED_BY
    assert kinds[(1, 2)] == kinds[(2, 1)] == SHARES


def test_a_second_hop_is_found_without_a_shared_word() -> None:
    paths, _, bm25, _ = finder(ARTICLES)
    query = "Where was the director of Silver Harbour born?"
    asked = "Who directed Silver Harbour?"
    assert bm25.scores(tokenize(asked))[1] == 0  # nothing in common
    assert 1 in paths.find(asked).rows
    assert feature(paths, asked, 1, "lent_names") > 0
    assert feature(paths, asked, 1, "lent_by_named") > 0  # the lender is named in the question
    assert feature(paths, query, 0, "named_length") == 2


def test_a_third_hop_is_reached_over_the_second() -> None:
    paths, _, bm25, _ = finder(ARTICLES)
    asked = "Who directed Silver Harbour?"
    assert bm25.scores(tokenize(asked))[2] == 0
    assert feature(paths, asked, 2, "spread2") > 0


def test_the_window_rewards_the_relation_asked_for() -> None:
    articles = {
        "Silver Harbour": "Silver Harbour was directed by Alda Brenn. " + "It rained for weeks. " * 12 + "Oto Lund wrote songs.",
        "Alda Brenn": "She painted boats.",
        "Oto Lund": "He kept bees.",
    }
    paths, _, _, _ = finder(articles)
    query = "Who directed Silver Harbour?"
    assert feature(paths, query, 1, "window") > feature(paths, query, 2, "window") == 0


def test_union_and_adds_equal_the_slow_way() -> None:
    paths, _, bm25, graph = finder(ARTICLES)
    query = "In which town of a fjord was the painter behind the film Silver Harbour born?"
    found = paths.find(query)
    terms = list(dict.fromkeys(simple_terms(query)))
    most = {term: 2.2 * bm25.rarity(term) for term in terms}
    total = sum(most.values())

    def held(row: int) -> dict[str, float]:
        parts = bm25.contributions(terms, np.array([row], dtype=np.int64))[:, 0]
        return {t: min(float(part) / (0.6 * most[t]), 1.0) * most[t] for t, part in zip(terms, parts, strict=True)}

    for target in found.rows:
        union = 0.0
        for source in found.rows:
            for place in range(graph.weights.indptr[source], graph.weights.indptr[source + 1]):
                if graph.weights.indices[place] == target and graph.kinds[place] == NAMES:
                    both = sum(max(held(int(source))[t], held(int(target))[t]) for t in terms) / total
                    union = max(union, both * math.sqrt(float(graph.weights.data[place])))
        assert feature(paths, query, int(target), "union_names") == pytest.approx(union, abs=1e-5)
        assert feature(paths, query, int(target), "cover") == pytest.approx(sum(held(int(target)).values()) / total, abs=1e-5)


def test_without_titles_a_shared_name_leads_on() -> None:
    paths, _, _, graph = finder(ARTICLES, titles=False)
    assert {int(kind) for kind in graph.kinds} == {SHARES}
    assert feature(paths, "Which film was shot in winter?", 1, "lent_shares") > 0


@pytest.mark.parametrize("query", ["", "?", "zzz qqq"])
def test_nothing_is_found_for_unknown_words(query: str) -> None:
    found = finder(ARTICLES)[0].find(query)
    assert found.rows.shape == (0,)
    assert found.features.shape == (0, len(FEATURES))


def test_the_same_question_gives_the_same_numbers() -> None:
    query = "Where was the director of Silver Harbour born?"
    first, second = finder(ARTICLES)[0].find(query), finder(ARTICLES)[0].find(query)
    assert np.array_equal(first.rows, second.rows)
    assert np.array_equal(first.features, second.features)
    assert np.isfinite(first.features).all()
