"""Fits the path ranker on training questions, and measures retrieval on any split; no vectors, no language model.

    python -m benchmarks.retrieval fit --data DIR                  -> models/ranker/ranker.json
    python -m benchmarks.retrieval measure --data DIR [--dataset NAME ...] [--split test] [--pooled] [--without-titles]
                                           [--read] [--limit N] [--out FILE.json]

Ways: BM25, the simple spread over the graph, the ranker, and with ``--read`` its first ten in the order that the relevance model
gives them. Figures: recall at 2, 3 and 5, all gold in the first five. Time is CPU time for a question, so that what else the
machine does is not in it; start with ``OMP_NUM_THREADS=1``. ``fit`` reads train files only and prints cross-validated figures.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lqr.classifiers.relevance import CrossEncoderRelevance
from lqr.retrieval import second_round
from lqr.retrieval.bm25 import BM25Index
from lqr.retrieval.graph import PassageGraph
from lqr.retrieval.index import index_terms
from lqr.retrieval.paths import FEATURES, Candidates, PathFinder
from lqr.retrieval.ranker import Ranker, Tree, Trees
from lqr.retrieval.reading import reread
from lqr.retrieval.tokenizer import tokenize
from lqr.settings import Settings
from lqr.types import Document, Hit, Passage

SEED = 13
MULTI_HOP = ("hotpotqa", "musique", "2wikimultihopqa")
SETS = (*MULTI_HOP, "squad", "natural_questions")
MOST = 900  # training questions of one set, so that no set outweighs the others
FOLDS = 4
FIRST = {"max_iter": 80, "max_depth": 4, "learning_rate": 0.1, "min_samples_leaf": 60, "l2_regularization": 5.0}
SECOND = {"max_iter": 50, "max_depth": 3, "learning_rate": 0.08, "min_samples_leaf": 100, "l2_regularization": 10.0}
PARAGRAPHS = 2000  # of SQuAD's training paragraphs, which have no corpus of their own; its test corpus is as large


@dataclass(frozen=True)
class Table:
    """A training question: its set, its candidates and their graph, which of them are gold, and the ids of all gold passages."""

    name: str
    found: Candidates
    graph: PassageGraph
    labels: np.ndarray
    gold: frozenset[str]


@dataclass(frozen=True)
class Corpus:
    """One corpus with its indexes; ``rows`` maps a passage id to its row."""

    passages: list[Passage]
    rows: dict[str, int]
    bm25: BM25Index
    graph: PassageGraph
    paths: PathFinder


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("fit", "measure"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dataset", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--split", choices=("train", "test"), default="test")
    parser.add_argument("--pooled", action="store_true", help="one corpus of all five")
    parser.add_argument("--without-titles", action="store_true")
    parser.add_argument("--read", action="store_true", help="also let the relevance model read the ranker's first ten")
    parser.add_argument("--limit", type=int, default=0, help="only this many questions of a set, drawn with the seed")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(argv)
    if options.what == "fit":
        print(json.dumps(fit(options.data, options.dataset, options.limit or MOST), indent=1))
        return 0
    rows = list(measure(options))
    summary = summarise(rows)
    for key, value in summary.items():
        print(f"{key:40} {value}")
    if options.out:
        settings = {key: str(value) for key, value in vars(options).items()}
        result = {"settings": settings, "seed": SEED, "date": time.strftime("%Y-%m-%d"), "summary": summary, "rows": rows}
        options.out.write_text(json.dumps(result) + "\n", encoding="utf-8")
    return 0


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a gzipped file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def drawn(rows: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """``limit`` of ``rows``, drawn with the seed; all if there are fewer or ``limit`` is 0."""
    return random.Random(SEED).sample(rows, limit) if 0 < limit < len(rows) else rows


def build(data: Path, names: Iterable[str], *, titles: bool = True) -> Corpus:
    """Index the corpora ``names`` as one; passages of one title are one document, unless titles are left out."""
    return index(((name, row) for name in names for row in read(data / name / "corpus.jsonl.gz")), titles=titles)


def index(named_rows: Iterable[tuple[str, dict[str, Any]]], *, titles: bool = True) -> Corpus:
    """Index rows of the corpus layout, each with the name of its set."""
    documents: dict[str, list[dict[str, Any]]] = {}
    for name, row in named_rows:
        documents.setdefault(f"{name}/{row['title']}" if titles else row["id"], []).append(row)
    passages = [
        Passage(row["id"], key, row["title"] if titles else "", (), row["text"], place, 0, len(row["text"]))
        for key, rows in documents.items()
        for place, row in enumerate(rows)
    ]
    bm25 = BM25Index.build([index_terms(passage) for passage in passages])
    graph = PassageGraph.build(passages, lambda key: Document(key, key, "", (), key))
    return Corpus(passages, {p.id: row for row, p in enumerate(passages)}, bm25, graph, PathFinder(passages, bm25, graph))


def measure(options: argparse.Namespace) -> Iterable[dict[str, Any]]:
    """One row a question: the first ten of each ranking, and CPU seconds."""
    ranker = Ranker.load(Settings.load().models / "ranker")
    if ranker is None:
        sys.exit("models/ranker is missing: run the fit first")
    relevance = CrossEncoderRelevance(Settings.load().models / "relevance") if options.read else None
    pooled = build(options.data, SETS, titles=not options.without_titles) if options.pooled else None
    for name in options.dataset:
        corpus = pooled or build(options.data, [name], titles=not options.without_titles)
        for asked in drawn(read(options.data / name / f"{options.split}.jsonl.gz"), options.limit):
            began = time.process_time()
            found = corpus.paths.find(asked["question"])
            scores = ranker.scores(corpus.graph, found)
            seconds = time.process_time() - began
            order = np.argsort(-scores, kind="stable")[:10]
            hits = [Hit(corpus.passages[int(found.rows[at])], float(scores[at]), {}) for at in order]
            again = [hit.passage.id for hit in reread(relevance.score_many, asked["question"], hits)] if relevance else []
            read_seconds = time.process_time() - began
            spread = found.features[:, FEATURES.index("spread2")]
            lexical = [row for row, _ in corpus.bm25.search(tokenize(asked["question"]), 10)]
            rankings = {
                "bm25": lexical,
                "graph": found.rows[np.argsort(-spread, kind="stable")[:10]],
                "ranker": found.rows[order],
            }
            retrieved = {key: [corpus.passages[int(row)].id for row in rows] for key, rows in rankings.items()}
            yield {
                "id": asked["id"],
                "set": name,
                "supporting": asked["supporting"],
                "retrieved": retrieved | ({"read": again} if relevance else {}),
                "pool": sum(corpus.rows.get(i, -1) in found.rows for i in asked["supporting"]) / len(asked["supporting"]),
                "cpu_seconds": round(seconds, 5),
                "cpu_seconds_read": round(read_seconds, 5),
            }


def summarise(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Every figure from the rows alone: recall at 2, 3 and 5, all gold in the first five, and milliseconds."""
    summary = {}
    for name in dict.fromkeys(row["set"] for row in rows):
        of_set = [row for row in rows if row["set"] == name]
        for way in of_set[0]["retrieved"]:
            held = [[len({*row["supporting"]} & {*row["retrieved"][way][:k]}) for k in (2, 3, 5)] for row in of_set]
            gold = [len({*row["supporting"]}) for row in of_set]
            recall = [100 * statistics.mean(h[i] / g for h, g in zip(held, gold, strict=True)) for i in range(3)]
            whole = 100 * statistics.mean(h[2] == g for h, g in zip(held, gold, strict=True))
            summary[f"{name} {way}"] = " ".join(f"{value:.1f}" for value in (*recall, whole)) + f" of {len(of_set)}"
        medians = [statistics.median(row[key] for row in of_set) for key in ("cpu_seconds", "cpu_seconds_read")]
        times = " ".join(f"{1000 * value:.1f}" for value in medians)
        pool = 100 * statistics.mean(row["pool"] for row in of_set)
        summary[f"{name} pool, CPU ms p50 ranked, read"] = f"{pool:.1f} {times}"
    return summary


def fit(data: Path, names: Sequence[str], most: int) -> dict[str, Any]:
    """Fit on the training questions of ``names``, write ``models/ranker``, return cross-validated recall by set."""
    tables: list[Table] = []
    for name in names:
        corpus, questions = _squad(data) if name == "squad" else (build(data, [name]), read(data / name / "train.jsonl.gz"))
        for asked in drawn(questions, most):
            found = corpus.paths.find(asked["question"])
            gold = {i for i in asked["supporting"] if i in corpus.rows}
            if gold and len(found.rows):
                labels = np.isin(found.rows, [corpus.rows[i] for i in gold])
                tables.append(Table(name, found, corpus.graph, labels, frozenset(asked["supporting"])))
    ranker, figures = fit_tables(tables)
    record = {"sets": list(names), "most": most, "seed": SEED, "date": time.strftime("%Y-%m-%d"), "cross_validation": figures}
    ranker.save(Settings.load().models / "ranker", record)
    return record


def _squad(data: Path) -> tuple[Corpus, list[dict[str, Any]]]:
    """About ``PARAGRAPHS`` training paragraphs of SQuAD as a corpus, in whole articles, and a question of each."""
    drawing = random.Random(SEED)
    articles: dict[str, list[dict[str, Any]]] = {}
    for row in read(data / "squad" / "train_paragraphs.jsonl.gz"):
        articles.setdefault(row["title"], []).append(row)
    titles, rows, questions = sorted(articles), [], []
    drawing.shuffle(titles)
    for title in titles:
        for place, row in enumerate(articles[title]):
            rows.append({"id": f"{title}-{place}", "title": title, "text": row["text"]})
            if row["questions"]:
                asked = drawing.choice(row["questions"])["question"]
                questions.append({"id": rows[-1]["id"], "question": asked, "supporting": [rows[-1]["id"]]})
        if len(rows) >= PARAGRAPHS:
            break
    return index(("squad", row) for row in rows), questions


def fit_tables(tables: Sequence[Table], folds: int = FOLDS) -> tuple[Ranker, dict[str, str]]:
    """The ranker fitted on all ``tables``, and recall of rankers that saw neither the question nor its passages.

    The second round is fitted on scores that the first gives to questions it has not seen, as it will meet them.
    """
    places = folded([table.gold for table in tables], folds)
    features = [table.found.features for table in tables]
    first, scores = crossed(tables, features, places, FIRST)
    features = [second_round.features(t.graph, t.found, own) for t, own in zip(tables, scores, strict=True)]
    second, again = crossed(tables, features, places, SECOND)
    figures = {f"{name}, first round": text for name, text in recalls(tables, scores).items()}
    return Ranker(first, second), figures | recalls(tables, again)


def crossed(
    tables: Sequence[Table], features: Sequence[np.ndarray], places: Sequence[int], shape: dict[str, Any]
) -> tuple[Trees, list[np.ndarray]]:
    """Trees fitted on all tables, and for each table the scores of trees that were fitted without its fold."""
    scores: list[np.ndarray] = [np.zeros(0)] * len(tables)

    def trees(chosen: Sequence[int]) -> Trees:
        x, y = np.concatenate([features[i] for i in chosen]), np.concatenate([tables[i].labels for i in chosen])
        return exported(fitted(x, y, shape))

    for fold in sorted(set(places)):
        kept = trees([i for i, place in enumerate(places) if place != fold])
        for i in (i for i, place in enumerate(places) if place == fold):
            scores[i] = kept.scores(features[i])
    return trees(range(len(tables))), scores


def recalls(tables: Sequence[Table], scores: Sequence[np.ndarray]) -> dict[str, str]:
    """By set: recall at 2 and 5, and how often all gold passages are among the first five."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for table, own in zip(tables, scores, strict=True):
        order = np.argsort(-own, kind="stable")
        two, five = (float(table.labels[order[:k]].sum()) for k in (2, 5))
        gold = len(table.gold)
        found.setdefault(table.name, []).append((two / gold, five / gold, float(five == gold)))
    return {
        name: "recall@2, @5, all@5: " + " ".join(f"{100 * v:.1f}" for v in np.mean(rows, axis=0)) + f" of {len(rows)}"
        for name, rows in found.items()
    }


def folded(gold: Sequence[frozenset[str]], folds: int) -> list[int]:
    """A fold for each question, the same for all that share a supporting passage, directly or over others.

    Split by question alone, deep trees learn the passages by heart: 68.5 instead of 60.6 for recall at 5 on MuSiQue.
    """
    parent: dict[str, str] = {}

    def root(passage: str) -> str:
        while parent.setdefault(passage, passage) != passage:
            passage = parent[passage]
        return passage

    for passages in gold:
        first, *others = sorted(passages)
        for other in others:
            parent[root(other)] = root(first)
    groups: dict[str, list[int]] = {}
    for question, passages in enumerate(gold):
        groups.setdefault(root(min(passages)), []).append(question)
    places, sizes = [0] * len(gold), [0] * folds
    for group in sorted(groups.values(), key=len, reverse=True):
        smallest = sizes.index(min(sizes))
        sizes[smallest] += len(group)
        for question in group:
            places[question] = smallest
    return places


def fitted(x: np.ndarray, y: np.ndarray, shape: dict[str, Any]) -> Any:
    """Boosted trees over all candidates: a sample that kept all gold ones but few of the hopeless ones misjudged the hopeless."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(**shape, max_bins=127, early_stopping=False, random_state=SEED).fit(x, y)


def exported(model: Any) -> Trees:
    """A fitted scikit-learn ``HistGradientBoostingClassifier`` as plain numbers; leaves hold the learning rate already."""
    trees = []
    for nodes in (stage[0].nodes for stage in model._predictors):  # there is no public way to its trees
        leaf = nodes["is_leaf"].astype(bool)
        trees.append(
            Tree(
                tuple(np.where(leaf, -1, nodes["feature_idx"]).tolist()),
                tuple(np.where(leaf, 0.0, nodes["num_threshold"]).tolist()),
                tuple(np.where(leaf, -1, nodes["left"].astype(int)).tolist()),
                tuple(np.where(leaf, -1, nodes["right"].astype(int)).tolist()),
                tuple(np.where(leaf, nodes["value"], 0.0).round(6).tolist()),
            )
        )
    return Trees(tuple(trees), float(np.ravel(model._baseline_prediction)[0]))


if __name__ == "__main__":
    sys.exit(main())
