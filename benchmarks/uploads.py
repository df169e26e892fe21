"""Sessions that add, remove and search documents of their own in random order; counts what one saw of another.

    python -m benchmarks.uploads [--n 10000] [--seed 13]

At each step a session drawn at random does a thing drawn at random. Every file holds a word of its own; a search shows all
that any retrieval mode finds, and must show the session's own files that hold what was searched for, none of its removed
files and none of anybody else's. Exit code 1 if it did not.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lqr.app import build
from lqr.retrieval.fake import HashingEmbedder
from lqr.service.sessions import Sessions
from lqr.settings import Settings

KEYS = ("session-of-anna", "session-of-bert")


@dataclass
class Result:
    """``crossed``: words of another session that were seen; ``lost``: own ones not found; ``kept``: removed ones seen."""

    steps: int = 0
    added: int = 0
    deleted: int = 0
    searched: int = 0
    dropped: int = 0
    crossed: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def run(sessions: Sessions, *, steps: int, seed: int) -> Result:
    """Let the sessions of ``KEYS`` take ``steps`` steps; each may have two files at a time."""
    draw = random.Random(seed)
    result = Result()
    held: dict[str, dict[str, str]] = {key: {} for key in KEYS}  # word -> upload id
    for number in range(steps):
        key = draw.choice(KEYS)
        act = draw.choices(("add", "delete", "search", "drop"), (3, 2, 4, 0.2))[0]
        mine = held[key]
        if act == "add" and len(mine) < 2:
            word = f"zq{number:06d}x{KEYS.index(key)}"
            data = f"# Note\n\nThe barn code is {word} for all of us.\n".encode()
            mine[word] = sessions.open(key).add("note.md", data).id
            result.added += 1
        elif act == "delete" and mine:
            word = draw.choice(sorted(mine))
            sessions.open(key).delete(mine.pop(word))
            result.deleted += 1
        elif act == "drop":
            sessions.drop(key)
            mine.clear()
            result.dropped += 1
        else:
            _search(sessions, key, held, draw, result)
        result.steps += 1
    return result


def _search(sessions: Sessions, key: str, held: dict[str, dict[str, str]], draw: random.Random, result: Result) -> None:
    words = [word for mine in held.values() for word in mine]
    query = f"barn code {draw.choice(words)}" if words else "barn code"
    retriever: Any = sessions.application(key).retriever
    hits = [hit for mode in ("hybrid", "bm25", "dense", "graph") for hit in retriever.search(query, mode=mode)]
    hits += retriever.expand(hits, query=query)
    seen = " ".join(hit.passage.text for hit in hits)
    shown = {word for word in seen.replace(".", " ").split() if word.startswith("zq")}
    for word in shown:
        if word not in held[key]:
            (result.kept if word.endswith(f"x{KEYS.index(key)}") else result.crossed).append(f"{key} saw {word}")
    result.lost += [f"{key} did not see {word}" for word in held[key] if word not in shown]
    result.searched += 1


def main() -> int:
    """Print the counts as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=13)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "knowledge" / "farm").mkdir(parents=True)
        (root / "knowledge" / "farm" / "barn.md").write_text("# Barns\n\nA barn has a door with a code.\n", encoding="utf-8")
        settings = Settings(
            profile="cpu", home=root / "home", knowledge=root / "knowledge", collection="farm", models=root / "none"
        )
        application = build(settings, embedder=HashingEmbedder(256))
        sessions = Sessions(application)
        began = time.perf_counter()
        try:
            result = run(sessions, steps=arguments.n, seed=arguments.seed)
        finally:
            sessions.close()
            application.close()
    print(json.dumps({**asdict(result), "seed": arguments.seed, "seconds": round(time.perf_counter() - began, 1)}, indent=1))
    return 1 if result.crossed or result.lost or result.kept else 0


if __name__ == "__main__":
    sys.exit(main())
