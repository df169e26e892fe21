"""Runs several sessions on one pipeline with their steps mixed at random, and counts words that crossed from one to another.

    python -m benchmarks.interleave [--n 10000] [--seed 13]

Every session has a word of its own in its question and in its history. The pipeline is the one that answers, with a fake
language model that repeats its prompt and a cheap embedder; each answer's events are a generator, and which session takes
its next step is drawn anew each time. One in five sessions is stopped half way. Exit code 1 if a word crossed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lqr.app import Application, build
from lqr.errors import Cancelled
from lqr.retrieval.fake import HashingEmbedder
from lqr.settings import Settings
from lqr.types import Answer, Event, TextDelta, Turn

SESSIONS = 4
TOPICS = ("salt", "water", "hay", "wool")


@dataclass
class Result:
    """``crossed`` names each session that saw a word of another."""

    interleavings: int = 0
    answers: int = 0
    switches: int = 0  # steps at which another session went on
    crossed: list[str] = field(default_factory=list)


def word(session: int) -> str:
    """A word that only this session uses."""
    return f"zqx{'abcdefghij'[session] * 4}word"


def foreign(session: int, seen: Mapping[str, Any]) -> list[int]:
    """The other sessions whose word is in what a session saw."""
    text = json.dumps(seen).lower()
    return [other for other in range(SESSIONS) if other != session and word(other) in text]


def run(folder: Path, interleavings: int, seed: int) -> Result:
    """Mix ``SESSIONS`` sessions, ``interleavings`` times."""
    draw = random.Random(seed)
    result = Result()
    application = _application(folder)
    try:
        for number in range(interleavings):
            _one(application, draw, number, result)
    finally:
        application.close()
    return result


def _one(application: Application, draw: random.Random, number: int, result: Result) -> None:
    stopped = [draw.random() < 0.2 for _ in range(SESSIONS)]
    flags = [False] * SESSIONS
    seen: list[dict[str, Any]] = [{"draft": ""} for _ in range(SESSIONS)]
    streams: dict[int, Iterator[Event]] = {}
    for session in range(SESSIONS):
        topic = TOPICS[(session + number) % len(TOPICS)]
        history = (Turn("user", f"My ewe {word(session)} is ill."), Turn("assistant", f"I see, {word(session)}."))
        question = f"How much {topic} does {word(session)} need each day?"
        streams[session] = application.pipeline.stream(question, history, cancelled=lambda i=session: flags[i])
    before = -1
    while streams:
        session = draw.choice(list(streams))
        result.switches += session != before
        before = session
        if stopped[session] and draw.random() < 0.3:
            flags[session] = True
        try:
            event = next(streams[session])
        except (StopIteration, Cancelled):
            del streams[session]
            result.answers += 1
            continue
        if isinstance(event, TextDelta):
            seen[session]["draft"] += event.text
        elif isinstance(event, Answer):
            seen[session]["answer"] = event.to_dict()
        else:
            seen[session].setdefault("progress", []).append(dataclasses.astuple(event))
    result.interleavings += 1
    for session in range(SESSIONS):
        if others := foreign(session, seen[session]):
            result.crossed.append(f"round {number}: session {session} saw words of {others}")


def _application(folder: Path) -> Application:
    farm = folder / "knowledge" / "farm"
    farm.mkdir(parents=True, exist_ok=True)
    (farm / "collection.toml").write_text('title = "Farm"\n', encoding="utf-8")
    for topic in TOPICS:
        text = f"# {topic.title()}\n\nA sheep needs some {topic} each day. Too much {topic} is harmful.\n"
        (farm / f"{topic}.md").write_text(text, encoding="utf-8")
    settings = Settings(
        profile="cpu", home=folder, knowledge=folder / "knowledge", collection="farm", models=folder / "none", llm="fake"
    )
    return build(settings, embedder=HashingEmbedder(64))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args(argv)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        result = run(Path(folder), options.n, options.seed)
    print(
        f"{result.interleavings} interleavings of {SESSIONS} sessions, {result.switches} switches, {result.answers} answers, "
        f"seed {options.seed}, {time.perf_counter() - began:.0f} s: {len(result.crossed)} crossed"
    )
    for line in result.crossed[:20]:
        print(f"  {line}")
    return 1 if result.crossed else 0


if __name__ == "__main__":
    sys.exit(main())
