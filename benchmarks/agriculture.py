"""Answers knowledge/agriculture/questions.jsonl and prints what the README claims.

    python -m benchmarks.agriculture [--split test|dev|all] [--llm composer|smollm2|...] [--out FILE.json] [--read N] [--limit N]

The measuring is that of ``lqr evaluate answers --dataset agriculture``; this adds the table with its wanted figures' names, the
memory, and whole answers to read. Every row goes to --out, so that each figure can be recomputed. Timings are medians over the
run on the machine that ran it; the tests never check them.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lqr.cli.common import progress_bars
from lqr.evaluation.collection_answers import run
from lqr.evaluation.options import Options

SEED = 13
Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("dev", "test", "all"), default="test")
    parser.add_argument("--llm", default="composer")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--read", type=int, default=0, help="print this many whole answers, drawn with the seed")
    parser.add_argument("--limit", type=int, help="only this many items, drawn with the seed")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        result = run(
            Options(
                "answers",
                options.out or Path(folder) / "agriculture.json",
                dataset="agriculture",
                split=options.split,
                generator=options.llm,
                limit=options.limit or None,
                seed=SEED,
                fresh=True,
                progress=progress_bars(),
            ).checked()
        )
    rows = result["rows"]
    figures = {"ready_seconds": result["summary"]["ready_seconds"], "resident_mb": _resident_mb(), **table(rows)}
    for key, value in figures.items():
        print(f"{key:38} {value}")
    for row in random.Random(SEED).sample(rows, min(options.read, len(rows))):
        sure = row["confidence"]
        print(
            f"\n=== {row['id']} ({row['expect']})\nQ: {row['question']}\n   [{row['standalone']}]\nA: {row['prediction']}\n"
            f"   {sure['level']}: {sure['reason']} ({sure['probability']}); facts {row['facts']}; {row['seconds']:.3f} s"
        )
    return 0


def table(rows: Sequence[Row]) -> dict[str, Any]:
    """Every figure of the report from the rows alone."""
    answerable = [r for r in rows if r["expect"] != "refuse"]
    simple = [r for r in rows if r["type"] == "simple"]
    two_step = [r for r in rows if r["type"] == "two_step"]
    later = [r for r in answerable if r["type"] == "dialogue" and r["turn"] > 1]
    refuse = [r for r in rows if r["expect"] == "refuse"]
    return {
        "rows": len(rows),
        "simple: gold in first 3": _share(_gold(simple, 3)),
        "two-step: all gold in first 5": _share(_gold(two_step, 5)),
        "later turns: gold in first 5": _share(_gold(later, 5)),
        "simple: the marked passage in first 3": _share(_gold(simple, 3, "marked")),
        "two-step: all marked in first 5": _share(_gold(two_step, 5, "marked")),
        "later turns: marked in first 5": _share(_gold(later, 5, "marked")),
        "shown citations retrieved": _share(r["cited_retrieved"] for r in rows),
        "key facts in answers": _share(_facts(answerable)),
        "key facts, simple": _share(_facts(simple)),
        "key facts, two-step": _share(_facts(two_step)),
        "key facts, dialogue": _share(_facts(r for r in rows if r["type"] == "dialogue")),
        "answers with a forbidden string": _share(bool(r["forbidden"]) for r in rows),
        "must refuse, answered": _share(not r["refused"] for r in refuse),
        "answerable, refused": _share(r["refused"] for r in answerable),
        "route accuracy": _share(r["route"] == r["gold_route"] for r in rows if r["route"]),
        "seconds simple p50": _median(r["seconds"] for r in rows if r["route"] == "simple"),
        "seconds complex p50": _median(r["seconds"] for r in rows if r["route"] == "complex"),
        "seconds first token p50": _median(r["first_token_seconds"] for r in rows if r["first_token_seconds"]),
    }


def _gold(rows: Iterable[Row], k: int, of: str = "supporting") -> Iterable[bool]:
    """Whether a passage of each fact is among the first ``k``, of turns that have any."""
    return (set(r[of]) <= set(r["retrieved"][:k]) for r in rows if r[of])


def _facts(rows: Iterable[Row]) -> Iterable[bool]:
    """Each key fact, said or not; a refusal says none."""
    return (found and not r["refused"] for r in rows for found in r["facts"])


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
