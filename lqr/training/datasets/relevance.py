"""Builds the relevance data set: balanced pairs of question and passage, with duplicates and test questions taken out.

The pairs are those of :mod:`lqr.training.pairs` (question and passage alone, second-step form, single steps, sentences);
this module chooses among them and writes them down. Knows nothing of models.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from lqr.errors import ReadError
from lqr.text import words
from lqr.training import pairs
from lqr.training.pairs import Pair, read_rows

_SECOND = " || "  # between the question and the first passage of a second-step pair


def build(data: Path, *, size: int = 8000, seed: int = 13, squad_paragraphs: int = 2000) -> list[Pair]:
    """About ``size`` pairs, half of them relevant, shuffled; at most a third from one kind of one set.

    Raises:
        ReadError: a set is missing, or there are fewer pairs of one label than half of ``size``.
    """
    return choose(pairs.build(data, seed=seed, squad_paragraphs=squad_paragraphs), asked_in_tests(data), size=size, seed=seed)


def choose(found: Sequence[Pair], tests: frozenset[str], *, size: int, seed: int = 13) -> list[Pair]:
    """``size`` of ``found``: no pair twice, none of a test question, both labels alike, kinds in equal parts as far as they go.

    Args:
        tests: test questions as :func:`plain` makes them.
    """
    rng = random.Random(seed)
    seen: set[tuple[str, str, str]] = set()
    by_label: dict[bool, dict[str, list[Pair]]] = {True: defaultdict(list), False: defaultdict(list)}
    for pair in found:
        key = (plain(pair.question), plain(pair.title), plain(pair.text))
        if key in seen or plain(pair.question.split(_SECOND)[0]) in tests:
            continue
        seen.add(key)
        by_label[pair.label > 0.5][pair.origin].append(pair)
    chosen: list[Pair] = []
    for label, kinds in by_label.items():
        wanted = size // 2
        for number, (_, pool) in enumerate(sorted(kinds.items(), key=lambda kind: (len(kind[1]), kind[0]))):
            rng.shuffle(pool)
            part = pool[: min(wanted // (len(kinds) - number), size // 6)]
            chosen += part
            wanted -= len(part)
        if wanted:
            have = size // 2 - wanted
            raise ReadError(
                f"only {have} {'relevant' if label else 'wrong'} pairs for {size // 2}: ask for {2 * have} or add sets"
            )
    rng.shuffle(chosen)
    return chosen


def asked_in_tests(data: Path) -> frozenset[str]:
    """Every question of a test split below ``data``, as :func:`plain` makes it."""
    files = sorted(data.glob("*/test.jsonl.gz"))
    return frozenset(plain(str(row["question"])) for path in files for row in read_rows(path) if "question" in row)


def plain(text: str) -> str:
    """The words in lower case: what differs in marks and spaces only is the same."""
    return " ".join(words(text))


def write(rows: Sequence[Pair], path: Path) -> Counter[str]:
    """One JSON object a line; returns how many there are by origin and label."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return Counter(f"{row.origin}={int(row.label > 0.5)}" for row in rows)
