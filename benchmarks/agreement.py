"""How far two judges of the same sentences agree (benchmarks/written/judged-again.jsonl against the judgements that are used).

    python -m benchmarks.agreement

The second judge saw what the first saw, and not how the first had sorted it. Both are language models, so the figures tell how
firm a judgement is, not whether a farmer would share it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from sklearn.metrics import cohen_kappa_score

from benchmarks.common import JUDGED as HELD_OUT
from benchmarks.train_relevance import JUDGED
from lqr.settings import ROOT
from lqr.training.judged_pairs import Judged, read_judged

AGAIN = ROOT / "benchmarks" / "written" / "judged-again.jsonl"
Pairs = list[tuple[str, str]]


def both(first: Sequence[Judged], again: Sequence[Judged]) -> tuple[int, Pairs]:
    """How many questions were judged twice, and both judgements of every unit of theirs."""
    known = {row.question: _by_mark(row) for row in first}
    twice = [row for row in again if row.question in known]
    pairs = [
        (known[row.question][mark], name) for row in twice for mark, name in _by_mark(row).items() if mark in known[row.question]
    ]
    return len(twice), pairs


def agreement(pairs: Pairs, name: str | None = None) -> tuple[float, float]:
    """Share agreed on in per cent and Cohen's kappa; with ``name`` of that judgement against all others."""
    first, second = (
        [judgement if name is None else judgement == name for judgement in side] for side in zip(*pairs, strict=True)
    )
    share = 100 * sum(a == b for a, b in zip(first, second, strict=True)) / len(first)
    return round(share, 1), round(float(cohen_kappa_score(first, second)), 2)


def _by_mark(row: Judged) -> dict[tuple[str, str], str]:
    return {mark: name for name, marks in row.marks.items() for mark in marks}


def main(argv: Sequence[str] | None = None) -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args(argv)
    again = read_judged(AGAIN)
    for title, path in (("training questions", JUDGED), ("held-out questions", HELD_OUT)):
        questions, pairs = both(read_judged(path), again)
        print(f"{title}: {questions}, {len(pairs)} units")
        for label, name in (("what is to be said", "say"), ("what is bad there", "bad"), ("all four", None)):
            share, kappa = agreement(pairs, name)
            print(f"  {label:20} {share:5} %  kappa {kappa}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
