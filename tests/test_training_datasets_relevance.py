"""Chosen pairs are balanced, none comes twice, and none asks what a test asks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from lqr.errors import ReadError
from lqr.training.datasets.relevance import choose, plain, write
from lqr.training.pairs import Pair


def made(origin: str, label: float, count: int) -> list[Pair]:
    return [Pair(f"{origin} {label} question {i}?", "Title", f"text {i}", label, origin) for i in range(count)]


FOUND = [*made("big", 1.0, 200), *made("big", 0.0, 300), *made("small", 1.0, 10), *made("small", 0.0, 10)]
FOUND += [*made("third", 1.0, 100), *made("third", 0.0, 100)]


def test_half_is_relevant_and_no_kind_has_more_than_a_third() -> None:
    rows = choose(FOUND, frozenset(), size=60)
    assert Counter(row.label for row in rows) == {1.0: 30, 0.0: 30}
    assert max(Counter(row.origin for row in rows).values()) <= 20
    assert choose(FOUND, frozenset(), size=60) == rows


def test_a_small_kind_is_made_up_for() -> None:
    rows = choose(FOUND, frozenset(), size=300 // 5)
    assert Counter(row.origin for row in rows)["small"] == 20


def test_repeats_and_test_questions_go() -> None:
    tests = frozenset({plain(FOUND[0].question)})
    second = Pair(f"{FOUND[0].question} || First. Its text", "Title", "another", 1.0, "big")
    rows = choose([second, *FOUND, *FOUND], tests, size=60)
    assert len({(row.question, row.text) for row in rows}) == len(rows)
    every = [*made("a", 1.0, 10), *made("b", 1.0, 10), *made("c", 1.0, 10)]
    every += [*made("a", 0.0, 10), *made("b", 0.0, 10), *made("c", 0.0, 10)]
    with pytest.raises(ReadError, match="only 29 relevant"):
        choose(every, frozenset({plain("A 1.0 question 3")}), size=60)


def test_a_second_step_pair_of_a_test_question_goes() -> None:
    second = [Pair(f"asked {i}? || First. Text", "T", "x", 1.0, "s") for i in range(2)]
    wrong = [Pair(f"asked {i}?", "T", "y", 0.0, "s") for i in range(2)]
    with pytest.raises(ReadError, match="relevant"):
        choose([*second, *wrong], frozenset({"asked 0", "asked 1"}), size=2)


def test_written_with_its_origin(tmp_path: Path) -> None:
    counts = write(FOUND[:3], tmp_path / "a" / "rows.jsonl")
    lines = (tmp_path / "a" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert counts == {"big=1": 3}
    assert json.loads(lines[0])["origin"] == "big"
