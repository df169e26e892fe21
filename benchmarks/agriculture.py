"""Answers knowledge/agriculture/questions.jsonl and prints what the README claims.

    python -m benchmarks.agriculture [--split test|dev|all] [--llm composer|smollm2|...] [--out FILE.json] [--read N] [--limit N]

Every row (question, answer, ranking, timings) goes to --out, so that each figure can be recomputed. Timings are medians
over the run on the machine that ran it; the tests never check them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lqr.app import Application, build
from lqr.evaluation.questions import Ask, Item, facts_found, forbidden_found, load
from lqr.pipeline import SAME_TABLE
from lqr.settings import Settings
from lqr.types import Answer, TextDelta, Turn

SEED = 13


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("dev", "test", "all"), default="test")
    parser.add_argument("--llm", default="composer")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--read", type=int, default=0, help="print this many whole answers, drawn with the seed")
    parser.add_argument("--limit", type=int, default=0, help="only this many items, drawn with the seed")
    options = parser.parse_args(argv)
    began = time.perf_counter()
    settings = Settings.load(llm=options.llm)
    application = build(settings)
    ready = time.perf_counter() - began
    items = load(settings.knowledge / "agriculture" / "questions.jsonl", application.store)
    items = [item for item in items if options.split in ("all", item.split)]
    if options.limit:
        items = random.Random(SEED).sample(items, min(options.limit, len(items)))
    rows = []
    for number, item in enumerate(items, start=1):
        rows.extend(answer_rows(application, item))
        print(f"\r{number}/{len(items)} {item.id:<16}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    summary = {"ready_seconds": round(ready, 1), "resident_mb": _resident_mb(), **summarise(rows)}
    for key, value in summary.items():
        print(f"{key:38} {value}")
    if options.read:
        for row in random.Random(SEED).sample(rows, min(options.read, len(rows))):
            print(
                f"\n=== {row['id']} ({row['expect']})\nQ: {row['question']}\n   [{row['standalone']}]\nA: {row['prediction']}\n "
                f"  {row['confidence']}; facts {row['facts']}; {row['seconds']['total']} s"
            )
    if options.out:
        result = {
            "settings": {
                "split": options.split,
                "llm": options.llm,
                "top_k": settings.top_k,
                "startup": list(application.startup),
            },
            "versions": {name: version(name) for name in ("torch", "transformers", "bm25s", "faiss-cpu")},
            "seed": SEED,
            "date": time.strftime("%Y-%m-%d"),
            "summary": summary,
            "rows": rows,
        }
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    application.close()
    return 0


def answer_rows(application: Application, item: Item) -> Iterable[dict[str, Any]]:
    """One row a turn; a dialogue's history is what was really asked and answered."""
    history: list[Turn] = []
    for number, ask in enumerate(item.turns):
        began = time.perf_counter()
        first: float | None = None
        answer: Answer | None = None
        for event in application.pipeline.stream(ask.question, history):
            if isinstance(event, TextDelta) and first is None:
                first = time.perf_counter() - began
            if isinstance(event, Answer):
                answer = event
        assert answer is not None
        whole = time.perf_counter() - began
        history += [Turn("user", ask.question), Turn("assistant", answer.text)]
        yield _row(item, number, ask, answer, first, whole)


def _row(item: Item, number: int, ask: Ask, answer: Answer, first: float | None, whole: float) -> dict[str, Any]:
    # rows that only came along with a row of their table were not ranked
    ranked = [hit.passage.id for hit in (*answer.trace.kept, *answer.trace.dropped) if hit.why != SAME_TABLE]
    places = [min((ranked.index(i) for i in held if i in ranked), default=None) for held in ask.gold]
    shown = {passage for claim in answer.claims for passage in claim.passages}
    route = answer.trace.route
    return {
        "id": f"{item.id}-{number + 1}",
        "kind": item.kind,
        "split": item.split,
        "turn": number + 1,
        "expect": ask.expect,
        "question": ask.question,
        "standalone": answer.trace.standalone,
        "gold_standalone": ask.standalone,
        "turn_kind": answer.trace.turn_kind,
        "gold_route": ask.route,
        "route": route.label if route else None,
        "probability": route.probability if route else None,
        "gold": [list(held) for held in ask.gold],
        "places": places,
        "retrieved": ranked,
        "prediction": answer.text,
        "claims": [claim.text for claim in answer.claims],
        "cited": sorted(shown),
        "cited_retrieved": shown <= {hit.passage.id for hit in answer.trace.kept},
        "refused": answer.refused,
        "confidence": f"{answer.confidence.level}: {answer.confidence.reason} ({answer.confidence.probability})",
        "gate_probability": answer.confidence.probability,
        "gate": dict(answer.trace.gate),
        "facts": facts_found(ask, answer.text),
        "forbidden": forbidden_found(ask, answer.text),
        "steps": answer.trace.steps,
        "seconds": {**answer.trace.seconds, "first_token": first, "whole": round(whole, 4)},
        "writer": answer.trace.writer,
    }


def summarise(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Every figure of the report from the rows alone."""
    answerable = [r for r in rows if r["expect"] != "refuse"]
    simple = [r for r in rows if r["kind"] == "simple"]
    two_step = [r for r in rows if r["kind"] == "two_step"]
    later = [r for r in rows if r["kind"] == "dialogue" and r["turn"] > 1 and r["expect"] != "refuse"]
    refuse = [r for r in rows if r["expect"] == "refuse"]
    routed = [r for r in rows if r["route"]]
    return {
        "rows": len(rows),
        "simple: gold in first 3": _share(_all_within(r, 3) for r in simple),
        "two-step: all gold in first 5": _share(_all_within(r, 5) for r in two_step),
        "later turns: gold in first 5": _share(_all_within(r, 5) for r in later),
        "shown citations retrieved": _share(r["cited_retrieved"] for r in rows),
        "key facts in answers": _share(found for r in answerable for found in r["facts"]),
        "key facts, simple": _share(found for r in simple for found in r["facts"]),
        "key facts, two-step": _share(found for r in two_step for found in r["facts"]),
        "key facts, dialogue": _share(found for r in rows if r["kind"] == "dialogue" for found in r["facts"]),
        "answers with a forbidden string": _share(bool(r["forbidden"]) for r in rows),
        "must refuse, answered": _share(not r["refused"] for r in refuse),
        "answerable, refused": _share(r["refused"] for r in answerable),
        "route accuracy": _share(r["route"] == r["gold_route"] for r in routed),
        "seconds simple p50": _median(r["seconds"]["whole"] for r in rows if r["route"] == "simple"),
        "seconds complex p50": _median(r["seconds"]["whole"] for r in rows if r["route"] == "complex"),
        "seconds first token p50": _median(r["seconds"]["first_token"] for r in rows if r["seconds"]["first_token"]),
    }


def _all_within(row: dict[str, Any], k: int) -> bool:
    return all(place is not None and place < k for place in row["places"])


def _share(values: Iterable[bool]) -> str:
    found = list(values)
    return f"{100 * sum(found) / len(found):.1f} % of {len(found)}" if found else "none"


def _median(values: Iterable[float]) -> str:
    found = sorted(values)
    return f"{statistics.median(found):.2f} (p95 {found[int(0.95 * (len(found) - 1))]:.2f}, n {len(found)})" if found else "none"


def _resident_mb() -> int:
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    sys.exit(main())
