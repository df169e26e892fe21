"""Asks many questions in one process and prints whether memory stays level.

    python -m benchmarks.soak [--n 2000] [--minutes M] [--every 50] [--out FILE.json]

The questions are those of the collection, drawn again and again with the seed; every third is asked as a follow-up, and one
in ten is stopped half way, as readers do. The pipeline is the one that the chat serves, threads and watch included.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from lqr.app import build
from lqr.service.watch import watched
from lqr.settings import Settings
from lqr.types import Answer, Turn

SEED = 13
WARM_UP = 50  # questions before memory is compared: caches fill


def first_questions(folder: Path) -> list[str]:
    """The first question of each conversation in the ``questions.jsonl`` of a collection's folder."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["turns"][0]["question"] for line in lines if line.strip()]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long, whatever is asked by then")
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(argv)
    application, watch = watched(build(Settings.load()))
    questions = first_questions(application.settings.knowledge / application.settings.collection)
    draw = random.Random(SEED)
    process = psutil.Process()
    history: tuple[Turn, ...] = ()
    rows = []
    seconds: list[float] = []
    end = time.monotonic() + 60 * options.minutes
    for number in range(1, options.n + 1):
        question = draw.choice(questions)
        turns = history if number % 3 == 0 else ()
        began = time.perf_counter()
        stream = application.pipeline.stream(question, turns)
        for step, event in enumerate(stream):
            if isinstance(event, Answer):
                history = (Turn("user", question), Turn("assistant", event.text))
            if number % 10 == 0 and step == 1:
                break
        stream.close()  # type: ignore[attr-defined]
        seconds.append(time.perf_counter() - began)
        last = number == options.n or time.monotonic() > end
        if number % options.every == 0 or last:
            resident = round(process.memory_info().rss / 2**20)
            rows.append({"questions": number, "resident_mb": resident, "threads": process.num_threads(), "stuck": watch.stuck})
            print(f"{number:6} questions  {resident:6} MB  {process.num_threads():3} threads", file=sys.stderr, flush=True)
        if last:
            break
    settled = [(row["questions"], row["resident_mb"]) for row in rows if row["questions"] >= WARM_UP]
    slope = statistics.linear_regression(*zip(*settled, strict=True)).slope if len(settled) > 1 else None
    summary = {
        "questions": len(seconds),
        "seed": SEED,
        "p50_seconds": round(statistics.median(seconds), 2),
        "first_mb": settled[0][1] if settled else None,
        "last_mb": rows[-1]["resident_mb"],
        "most_mb": max(row["resident_mb"] for row in rows),
        "growth_mb_per_1000": None if slope is None else round(1000 * slope, 1),  # least squares, after the warm-up
        "threads": rows[-1]["threads"],
    }
    for key, value in summary.items():
        print(f"{key:20} {value}")
    if options.out:
        options.out.write_text(json.dumps({"summary": summary, "rows": rows}, indent=1), encoding="utf-8")
    application.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
