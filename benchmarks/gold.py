"""Writes the passage ids of every gold mark into knowledge/agriculture/questions.jsonl, from the articles as they are now.

    python -m benchmarks.gold [--check]

A mark names its document and a snippet; the ids follow from them and change when an article is edited. ``--check`` only
says whether the file is up to date (exit code 1 if not); the tests run it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lqr.corpus.ingest import ingest
from lqr.corpus.store import Store
from lqr.evaluation.questions import load
from lqr.settings import ROOT


def refreshed(knowledge: Path) -> str:
    """The text of ``knowledge/questions.jsonl`` with present ids."""
    path = knowledge / "questions.jsonl"
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder)) as store:
        ingest([knowledge], store)
        items = load(path, store)
    lines = []
    for line, item in zip(path.read_text(encoding="utf-8").splitlines(), items, strict=True):
        raw = json.loads(line)
        for turn, ask in zip(raw["turns"], item.turns, strict=True):
            for mark, held in zip(turn["gold"], ask.marked, strict=True):
                mark["passages"] = list(held)
        lines.append(json.dumps(raw, ensure_ascii=False))
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(argv)
    path = ROOT / "knowledge" / "agriculture" / "questions.jsonl"
    text = refreshed(path.parent)
    if text == path.read_text(encoding="utf-8"):
        print(f"{path.name} is up to date")
        return 0
    if options.check:
        print(f"{path.name} is stale: run `python -m benchmarks.gold`", file=sys.stderr)
        return 1
    path.write_text(text, encoding="utf-8")
    print(f"{path.name} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
