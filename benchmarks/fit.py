"""Fits the small logistics on the dev half of knowledge/agriculture/questions.jsonl; never reads the test half.

    python -m benchmarks.fit blend     -> models/relevance/blend.json  (ranking of passages and of sentences)
    python -m benchmarks.fit gate      -> models/gate/gate.json        (answer or refuse; run it after blend)

Both print cross-validated figures (five folds by question) beside those of the single signals.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from lqr.app import Application, build
from lqr.blend import PASSAGE_FEATURES, UNIT_FEATURES, logit
from lqr.decompose import decompose
from lqr.evaluation.questions import Item, load
from lqr.settings import Settings
from lqr.training.gate import fit
from lqr.types import Hit
from lqr.writing.units import units_of

KEPT = 5  # passages whose sentences the writer sees
Table = tuple[np.ndarray, np.ndarray, np.ndarray]  # features, labels, question number


def main(argv: Sequence[str] | None = None) -> int:
    what = (argv or sys.argv[1:] or [""])[0]
    if what not in ("blend", "gate"):
        print(__doc__)
        return 2
    application = build(Settings.load())
    path = application.settings.knowledge / "agriculture" / "questions.jsonl"
    items = [item for item in load(path, application.store) if item.split == "dev"]
    if what == "blend":
        print(json.dumps(fit_blend(application, items, path), indent=1))
    else:
        print(json.dumps(fit(gate_rows(application, items), application.settings.models / "gate"), indent=1))
    application.close()
    return 0


def fit_blend(application: Application, items: Sequence[Item], path: Path) -> dict[str, Any]:
    """Fit on the human standalone questions of ``items``; writes ``blend.json``."""
    snippets = {raw["id"]: [[m["contains"] for m in t["gold"]] for t in raw["turns"]] for raw in map(json.loads, path.open())}
    pools = [(item, n, *_pool(application, item, n)) for item in items for n, ask in enumerate(item.turns) if ask.gold]
    passages = _passage_table(application, pools)
    passage_weights, passage_figures, score = _fitted(passages, PASSAGE_FEATURES, (1, 3, 5))
    units = _unit_table(application, pools, snippets, score)
    unit_weights, unit_figures, _ = _fitted(units, UNIT_FEATURES, (1, 2, 3))
    figures = {"passages": passage_figures, "units": unit_figures, "questions": len(pools)}
    record = {"passage": passage_weights, "unit": unit_weights, "cross_validation": figures}
    out = application.settings.models / "relevance" / "blend.json"
    out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return figures


def gate_rows(application: Application, items: Sequence[Item]) -> list[dict[str, Any]]:
    """Each answerable question twice: as it is, and with the documents of its gold passages out of the pool.

    The second must be refused (now and then another article answers too: noise that the fit has to bear). Questions
    that must be refused anyway count as they are.
    """
    pipeline, rows = application.pipeline, []
    for item in items:
        for ask in item.turns:
            parts = decompose(ask.standalone, entities=pipeline.entities) if ask.route == "complex" else None
            found = pipeline.layered.retrieve(ask.standalone, parts)
            homes = {i.rsplit("-", 1)[0] for held in ask.gold for i in held}
            pools = tuple(tuple(hit for hit in pool if hit.passage.document_id not in homes) for pool in found.pools)
            without = replace(found, pools=pools)
            for pool, expect in ((found, ask.expect), (without, "refuse")) if homes else ((found, "refuse"),):
                read = pipeline.read(ask.standalone, pool)
                if read.kept:
                    features = pipeline.gate.features(
                        ask.standalone, read.kept, read.composed.best, read.composed.part_scores, read.said
                    )
                    rows.append({"expect": expect, "gate": features})
    return rows


def _pool(application: Application, item: Item, number: int) -> tuple[str, tuple[Hit, ...]]:
    pipeline, ask = application.pipeline, item.turns[number]
    parts = decompose(ask.standalone, entities=pipeline.entities) if ask.route == "complex" else None
    found = pipeline.layered.retrieve(ask.standalone, parts)
    return ask.standalone, found.hits


def _passage_table(application: Application, pools: Sequence[Any]) -> Table:
    reranker, x, y, groups = application.pipeline.reranker, [], [], []
    for group, (item, number, question, hits) in enumerate(pools):
        encoder = reranker.scorer([(question, (h.passage.topic, h.passage.text)) for h in hits])
        gold = {i for held in item.turns[number].gold for i in held}
        for hit, row in zip(hits, reranker.features(question, hits, encoder), strict=True):
            x.append([row[name] for name in PASSAGE_FEATURES])
            y.append(hit.passage.id in gold)
            groups.append(group)
    return np.array(x), np.array(y, dtype=int), np.array(groups)


def _unit_table(
    application: Application,
    pools: Sequence[Any],
    snippets: dict[str, list[list[str]]],
    score: Callable[[np.ndarray], np.ndarray],
) -> Table:
    reranker, encode = application.pipeline.reranker, application.retriever.encode
    x, y, groups = [], [], []
    for group, (item, number, question, hits) in enumerate(pools):
        texts = [(h.passage.topic, h.passage.text) for h in hits]
        rows = reranker.features(question, hits, reranker.scorer([(question, text) for text in texts]))
        ranked = score(np.array([[row[name] for name in PASSAGE_FEATURES] for row in rows]))
        best = np.argsort(-ranked)[:KEPT]
        units = [(int(i), unit) for i in best for unit in units_of(hits[int(i)].passage)]
        said = reranker.scorer([(question, (u.passage.topic, u.text)) for _, u in units])
        vectors = encode([question, *(unit.text for _, unit in units)])
        wanted = [_plain(s) for s in snippets[item.id][number]]
        for (i, unit), probability, vector in zip(units, said, vectors[1:], strict=True):
            p = float(1 / (1 + np.exp(-ranked[i])))
            x.append([logit(probability), float(vector @ vectors[0]), logit(p), unit.kind == "row", unit.kind == "item"])
            y.append(any(s in _plain(unit.text) for s in wanted))
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


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[‐-―−]", "-", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))).lower()


if __name__ == "__main__":
    sys.exit(main())
