"""Starts the real chat and lets many people ask it at once; prints how long they wait.

    python -m benchmarks.load [--people 50] [--questions 2] [--port 7871] [--out FILE.json]

Each person is a Gradio client with an address of its own (``X-Forwarded-For``, which the chat is told to believe) and a word of
its own in the history. Every answer is checked to be that of the question asked, and to hold no other person's word. A wait is
from sending the question to having the whole answer. Exit code 1 if anybody got nothing or something of another.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.soak import first_questions

ROOT = Path(__file__).resolve().parent.parent
SEED = 13
START = 900  # seconds that the chat may take to start: the first time it embeds the whole collection


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--questions", type=int, default=2, help="of each person, one after the other")
    parser.add_argument("--port", type=int, default=7871)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(argv)
    settings = {"LQR_PORT": str(options.port), "LQR_TRUSTED_PROXIES": "1", "LQR_METRICS": "open"}
    chat = subprocess.Popen([sys.executable, str(ROOT / "app.py")], env={**os.environ, **settings}, cwd=ROOT)
    try:
        _wait_until_up(chat, options.port)
        rows = _ask_all(options.people, options.questions, options.port)
        metrics = urllib.request.urlopen(f"http://127.0.0.1:{options.port}/metrics", timeout=60).read().decode()
    finally:
        began = time.perf_counter()
        chat.send_signal(signal.SIGTERM)
        code = chat.wait(60)
        stopped = time.perf_counter() - began
    summary = _summary(rows, options.people * options.questions) | {
        "server_memory_mb": round(float(_metric(metrics, "process_resident_memory_bytes")) / 2**20),
        "exit_code": code,
        "seconds_to_stop": round(stopped, 1),
    }
    for key, value in summary.items():
        print(f"{key:24} {value}")
    if options.out:
        options.out.write_text(json.dumps({"summary": summary, "rows": rows}, indent=1), encoding="utf-8")
    return 0 if summary["answered"] == summary["asked"] and not summary["mixed_up"] else 1


def _wait_until_up(chat: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end and chat.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
            return
        except (urllib.error.URLError, OSError):
            time.sleep(1)
    raise SystemExit("the chat did not start; see its output above")


def _ask_all(people: int, questions: int, port: int) -> list[dict[str, Any]]:
    from gradio_client import Client

    draw = random.Random(SEED)
    pool = first_questions(ROOT / "knowledge" / "agriculture")
    rows: list[dict[str, Any]] = []
    # One after the other, and patiently: fetching the page's description is no part of the waits.
    clients = [
        Client(
            f"http://127.0.0.1:{port}",
            headers={"X-Forwarded-For": f"10.0.{number // 250}.{number % 250 + 1}"},
            httpx_kwargs={"timeout": START},
            verbose=False,
        )
        for number in range(people)
    ]
    ready = threading.Barrier(people)

    def person(number: int, mine: list[str]) -> None:
        ready.wait()
        for question in mine:
            began = time.perf_counter()
            history = [
                {"role": "user", "content": f"My name is Person{number}x and I keep sheep."},
                {"role": "assistant", "content": "Good."},
            ]
            row: dict[str, Any] = {"person": number, "question": question}
            try:
                answer = clients[number].predict(question, history, api_name="/ask")
                others = [n for n in range(people) if n != number and f"Person{n}x" in json.dumps(answer)]
                # A follow-up may be rewritten; what no rewriting removes is that most of the question's own words are there.
                words, told = set(question.lower().split()), set(answer["trace"]["standalone"].lower().split())
                row |= {"ok": True, "mixed_up": bool(others) or len(words & told) * 2 < len(words)}
            except Exception as error:
                row |= {"ok": False, "error": str(error)[:200]}
            rows.append(row | {"seconds": round(time.perf_counter() - began, 3)})

    threads = [threading.Thread(target=person, args=(n, draw.sample(pool, questions))) for n in range(people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return rows


def _summary(rows: Sequence[dict[str, Any]], asked: int) -> dict[str, Any]:
    waits = sorted(row["seconds"] for row in rows if row["ok"])
    slowest = [max(r["seconds"] for r in rows if r["person"] == person) for person in sorted({r["person"] for r in rows})]
    return {
        "asked": asked,
        "answered": len(waits),
        "failed": sorted({row["error"] for row in rows if not row["ok"]}),
        "mixed_up": sum(row.get("mixed_up", False) for row in rows),
        "p50_wait_seconds": waits[len(waits) // 2] if waits else None,
        "p95_wait_seconds": waits[int(len(waits) * 0.95)] if waits else None,
        "longest_wait_seconds": waits[-1] if waits else None,
        "longest_over_median": round(max(slowest) / max(sorted(slowest)[len(slowest) // 2], 1e-9), 2),
        "seed": SEED,
    }


def _metric(page: str, name: str) -> str:
    return next(line.split()[-1] for line in page.splitlines() if line.startswith(name + " "))


if __name__ == "__main__":
    sys.exit(main())
