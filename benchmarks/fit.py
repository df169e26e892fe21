"""Fits the small logistics on the dev half of knowledge/agriculture/questions.jsonl; never reads the test half.

``blend`` takes every second held-out common question besides (benchmarks.common gives the figures of the others apart).

    python -m benchmarks.fit blend                -> models/relevance/blend.json  (ranking of passages and of sentences)
    python -m benchmarks.fit unasked --data DIR   -> its part "unasked", for collections without asked questions
    python -m benchmarks.fit gate --rows DEV.json -> models/gate/gate.json        (answer or refuse; after blend and that run)

Each prints cross-validated figures (five folds by question) beside those of the single signals. ``unasked`` sees the dev half
without the asked questions, and training questions of SQuAD over whole articles: other documents than the encoder was trained on.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from benchmarks.common import JUDGED, in_the_fit
from lqr.app import Application, build
from lqr.blend import PASSAGE_FEATURES, UNASKED_FEATURES, UNASKED_UNIT_FEATURES, UNIT_FEATURES
from lqr.evaluation.collections import open_corpus
from lqr.evaluation.datasets import CorpusPassage
from lqr.evaluation.questions import Item, load
from lqr.pipeline import Pipeline
from lqr.retrieval.layered import Retrieved
from lqr.retrieval.rerank import Reranker
from lqr.settings import ROOT, Settings
from lqr.text import holds, plain
from lqr.training.gate import fit
from lqr.training.judged_pairs import read_judged
from lqr.training.pairs import read_rows
from lqr.types import Hit
from lqr.writing.composer import nearest, unit_features
from lqr.writing.units import units_of

UNHELD = ROOT / "benchmarks" / "written" / "unheld.jsonl"  # every second line; benchmarks.train_relevance has the others
KEPT = 5  # passages whose sentences the writer sees
SEED = 13
KNOWN = 2200  # paragraphs of SQuAD that models/relevance was trained on: the first so many, shuffled with its seed
PARAGRAPHS = 300  # of the collection of SQuAD, about as many as a visitor's own documents have passages
ASKED = 30  # its questions, and every fifth of the farm's: enough for five numbers
Table = tuple[np.ndarray, np.ndarray, np.ndarray]  # features, labels, question number
Pool = tuple[str, frozenset[str], tuple[Hit, ...]]  # a question, the ids of its gold passages, what was found


@dataclass(frozen=True, slots=True)
class UnitPool:
    """A question, what was found for it, which of that is gold, and the snippets of the units that answer.

    ``wanted`` has the id of a snippet's document with it, or "" where the snippet tells enough. ``judged`` goes before it: each
    unit that was judged, by its text, with what it was judged to be.
    """

    question: str
    hits: tuple[Hit, ...]
    gold: frozenset[str]
    wanted: Sequence[tuple[str, str]]
    judged: Mapping[str, str] = field(default_factory=dict)

    def right(self, document_id: str, text: str) -> bool | None:
        """Whether a unit belongs in the answer; None for what is fine beside it, which is neither right nor wrong."""
        judgement = self.judged.get(plain(text))
        if judgement is None:
            return _wanted(self.wanted, document_id, text)
        return None if judgement == "fine" else judgement == "say"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("blend", "unasked", "gate"))
    parser.add_argument("--data", type=Path, help="the folder of public sets, for unasked")
    parser.add_argument("--rows", type=Path, help="result of `benchmarks.agriculture --split dev --out DEV.json`, for gate")
    options = parser.parse_args(argv)
    if options.what == "gate" and options.rows is None:
        parser.error("gate needs --rows DEV.json")
    if options.what == "unasked" and options.data is None:
        parser.error("unasked needs --data DIR")
    application = build(Settings.load())
    path = application.settings.knowledge / "agriculture" / "questions.jsonl"
    items = [item for item in load(path, application.store) if item.split == "dev"]
    if options.what == "blend":
        print(json.dumps(fit_blend(application, items, path), indent=1))
    elif options.what == "unasked":
        print(json.dumps(fit_unasked(application, items, options.data), indent=1))
    else:
        unheld = [json.loads(line)["question"] for line in UNHELD.read_text(encoding="utf-8").splitlines()[1::2]]
        print(json.dumps(fit(gate_rows(application, options.rows, unheld), application.settings.models / "gate"), indent=1))
    application.close()
    return 0


def fit_blend(application: Application, items: Sequence[Item], path: Path) -> dict[str, Any]:
    """Fit on the human standalone questions of ``items`` and half of the held-out common ones; writes ``blend.json``."""
    pools = [*_dev_pools(application, items, path), *_common_pools(application)]
    passages = _passage_table(
        application.pipeline.reranker, [(pool.question, pool.gold, pool.hits) for pool in pools], PASSAGE_FEATURES
    )
    passage_weights, passage_figures, score = _fitted(passages, PASSAGE_FEATURES, (1, 3, 5))
    units = _unit_table(application, pools, score)
    unit_weights, unit_figures, _ = _fitted(units, UNIT_FEATURES, (1, 2, 3))
    x, y, groups = units
    without, without_figures, _ = _fitted((x[:, : len(UNASKED_UNIT_FEATURES)], y, groups), UNASKED_UNIT_FEATURES, (1, 2, 3))
    figures = {"passages": passage_figures, "units": unit_figures, "unasked units": without_figures, "questions": len(pools)}
    _record(application, {"passage": passage_weights, "unit": unit_weights, "unasked_unit": without}, figures)
    return figures


def _dev_pools(application: Application, items: Sequence[Item], path: Path) -> list[UnitPool]:
    snippets = {raw["id"]: [[m["contains"] for m in t["gold"]] for t in raw["turns"]] for raw in map(json.loads, path.open())}
    pools = []
    for item in items:
        for n, ask in enumerate(item.turns):
            if ask.gold:
                gold = frozenset(passage_id for held in ask.gold for passage_id in held)
                wanted = [("", snippet) for snippet in snippets[item.id][n]]
                pools.append(UnitPool(*_pool(application, item, n), gold, wanted))
    return pools


def _common_pools(application: Application) -> list[UnitPool]:
    """Half of the held-out common questions: precise ones of the dev half name one sentence, these all of an answer.

    What was found for them has been judged sentence by sentence.
    """
    judged = {row.question: row.by_text() for row in read_judged(JUDGED)}
    ids = {info.source.removesuffix(".md"): info.id for info in application.store.documents()}
    pools = []
    for row in in_the_fit():
        found = _retrieved(application.pipeline, row.question, False)
        wanted = [(ids[piece.document], piece.snippet) for piece in row.answer if piece.document in ids]
        gold = frozenset(hit.passage.id for hit in found.hits if _wanted(wanted, hit.passage.document_id, hit.passage.text))
        question = application.pipeline.profile.renamed(row.question)
        pools.append(UnitPool(question, found.hits, gold, wanted, judged.get(row.question, {})))
    return pools


def _wanted(wanted: Sequence[tuple[str, str]], document_id: str, text: str) -> bool:
    held = plain(text)
    return any(home in ("", document_id) and holds(held, snippet) for home, snippet in wanted)


def fit_unasked(application: Application, items: Sequence[Item], data: Path) -> dict[str, Any]:
    """Fit the ranking of passages without asked questions; changes only that part of ``blend.json``."""
    reranker = application.pipeline.reranker
    farm = [
        (*_pool(application, item, n), frozenset(i for held in ask.gold for i in held))
        for item in items[::5]
        for n, ask in enumerate(item.turns)
        if ask.gold
    ]
    tables = [_passage_table(reranker, [(question, gold, hits) for question, hits, gold in farm], UNASKED_FEATURES)]
    corpus, questions = _articles(data)
    with open_corpus(corpus, application.settings) as opened:
        pools = [(question, gold, opened.pipeline.layered.retrieve(question, None).hits) for question, gold in questions]
        tables.append(_passage_table(opened.pipeline.reranker, pools, UNASKED_FEATURES))
    weights, figures, _ = _fitted(_joined(tables), UNASKED_FEATURES, (1, 3, 5))
    each = {name: _fitted(table, UNASKED_FEATURES, (1, 3, 5))[1] for name, table in zip(("farm", "squad"), tables, strict=True)}
    found = {"unasked": {**figures, "questions": len(farm) + len(pools), "fitted on one alone": each}}
    _record(application, {"unasked": weights}, found)
    return {"weights": weights, **found}


def _articles(data: Path) -> tuple[list[CorpusPassage], list[tuple[str, frozenset[str]]]]:
    """Whole articles of SQuAD's training half as a collection, and questions on paragraphs that the encoder has not seen."""
    rows = read_rows(data / "squad" / "train_paragraphs.jsonl.gz")
    numbered = list(range(len(rows)))
    random.Random(SEED).shuffle(numbered)
    known = set(numbered[:KNOWN])
    articles: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        articles.setdefault(row["title"], []).append(number)
    drawing = random.Random(SEED)
    titles = sorted(articles)
    drawing.shuffle(titles)
    corpus: list[CorpusPassage] = []
    questions: list[tuple[str, frozenset[str]]] = []
    for title in titles:
        for number in articles[title]:
            corpus.append(CorpusPassage(f"squad-{number}", title, rows[number]["text"]))
            if number not in known and rows[number]["questions"]:
                questions.append((drawing.choice(rows[number]["questions"])["question"], frozenset({f"squad-{number}"})))
        if len(corpus) >= PARAGRAPHS:
            break
    return corpus, drawing.sample(questions, min(ASKED, len(questions)))


def _joined(tables: Sequence[Table]) -> Table:
    """One table of all, every question with a number of its own."""
    shifts = np.cumsum([0, *(int(groups.max()) + 1 for _, _, groups in tables[:-1])])
    groups = [groups + shift for (_, _, groups), shift in zip(tables, shifts, strict=True)]
    return np.concatenate([t[0] for t in tables]), np.concatenate([t[1] for t in tables]), np.concatenate(groups)


def _record(application: Application, parts: dict[str, Any], figures: dict[str, Any]) -> None:
    """Write ``parts`` and their figures into ``blend.json``; what they do not name stays."""
    path = application.settings.models / "relevance" / "blend.json"
    held = json.loads(path.read_text(encoding="utf-8"))
    record = {**held, **parts, "cross_validation": {**held.get("cross_validation", {}), **figures}}
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def gate_rows(application: Application, dev: Path, unheld: Sequence[str]) -> list[dict[str, Any]]:
    """The turns of a run over the dev half, as the gate saw them, and the ``unheld``, which look answerable, to be refused."""
    rows = [row for row in json.loads(dev.read_text(encoding="utf-8"))["rows"] if row["split"] == "dev"]
    asked = (application.pipeline.ask(question).trace.gate for question in unheld)
    return [*rows, *({"expect": "refuse", "gate": dict(features)} for features in asked if features)]


def _retrieved(pipeline: Pipeline, question: str, split: bool) -> Retrieved:
    """What the pipeline finds for a question that stands alone; its models read the documents' own names."""
    parts = pipeline.decomposer(question, entities=pipeline.entities) if split else None
    asked, parts = pipeline.glossed(question, parts)
    found = pipeline.layered.retrieve(asked, parts)
    return replace(found, questions=tuple(map(pipeline.profile.renamed, found.questions)))


def _pool(application: Application, item: Item, number: int) -> tuple[str, tuple[Hit, ...]]:
    pipeline, ask = application.pipeline, item.turns[number]
    found = _retrieved(pipeline, ask.standalone, ask.route == "complex")
    return pipeline.profile.renamed(ask.standalone), found.hits


def _passage_table(reranker: Reranker, pools: Sequence[Pool], names: Sequence[str]) -> Table:
    x, y, groups = [], [], []
    for group, (question, gold, hits) in enumerate(pools):
        encoder = reranker.scorer([(question, (h.passage.topic, h.passage.text)) for h in hits])
        for hit, row in zip(hits, reranker.features(question, hits, encoder), strict=True):
            x.append([row[name] for name in names])
            y.append(hit.passage.id in gold)
            groups.append(group)
    return np.array(x), np.array(y, dtype=int), np.array(groups)


def _unit_table(application: Application, pools: Sequence[UnitPool], score: Callable[[np.ndarray], np.ndarray]) -> Table:
    reranker, encode = application.pipeline.reranker, application.retriever.encode
    x, y, groups = [], [], []
    for group, pool in enumerate(pools):
        question, hits = pool.question, pool.hits
        texts = [(h.passage.topic, h.passage.text) for h in hits]
        rows = reranker.features(question, hits, reranker.scorer([(question, text) for text in texts]))
        ranked = score(np.array([[row[name] for name in PASSAGE_FEATURES] for row in rows]))
        best = np.argsort(-ranked)[:KEPT]
        units = [(int(i), unit) for i in best for unit in units_of(hits[int(i)].passage)]
        said = reranker.scorer([(question, (u.passage.topic, u.text)) for _, u in units])
        vectors = encode([question, *(unit.text for _, unit in units)])
        for (i, unit), probability, vector in zip(units, said, vectors[1:], strict=True):
            right = pool.right(unit.passage.document_id, unit.text)
            if right is None:
                continue
            p = float(1 / (1 + np.exp(-ranked[i])))
            features = unit_features(unit, probability, float(vector @ vectors[0]), p)
            features["asked"] = nearest(unit, application.retriever.asked_about(question, unit.passage.id) or ())
            x.append([features[name] for name in UNIT_FEATURES])
            y.append(right)
            groups.append(group)
    return np.array(x, dtype=float), np.array(y, dtype=int), np.array(groups)


def _fitted(
    table: Table, names: Sequence[str], ks: Sequence[int]
) -> tuple[dict[str, float], dict[str, Any], Callable[[np.ndarray], np.ndarray]]:
    x, y, groups = table
    held = np.zeros(len(y))
    for train, test in GroupKFold(5).split(x, y, groups):
        held[test] = LogisticRegression(C=3.0, max_iter=1000).fit(x[train], y[train]).decision_function(x[test])
    figures = {f"blend, first {k}": _hit_rate(held, y, groups, k) for k in ks}
    for column, name in enumerate(names[:3]):
        figures |= {f"{name} alone, first {k}": _hit_rate(x[:, column], y, groups, k) for k in ks}
    model = LogisticRegression(C=3.0, max_iter=1000).fit(x, y)
    weights = {"bias": round(float(model.intercept_[0]), 4)}
    weights |= {name: round(float(value), 4) for name, value in zip(names, model.coef_[0], strict=True)}
    return weights, figures, model.decision_function


def _hit_rate(score: np.ndarray, y: np.ndarray, groups: np.ndarray, k: int) -> float:
    """Share of questions with at least one gold among their first ``k``."""
    found = [bool(y[groups == g][np.argsort(-score[groups == g], kind="stable")[:k]].any()) for g in np.unique(groups)]
    return round(100 * sum(found) / len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
