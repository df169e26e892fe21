"""The mixtures that the relevance model is trained on: caps hold, halves are balanced, no question stands on both sides."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from lqr.training import relevance
from lqr.training.pairs import Pair
from lqr.training.relevance import apart, capped


def rows(origin: str, right: int, wrong: int) -> list[Pair]:
    labels = [1.0] * right + [0.0] * wrong
    return [Pair(f"{origin} {number // 3}?", "title", f"text {number}", label, origin) for number, label in enumerate(labels)]


def test_caps_hold_and_halves_are_balanced_where_they_can_be() -> None:
    mixed = [
        *rows("squad", 30, 90),
        *rows("hotpotqa", 5, 90),
        *rows("musique", 90, 5),
        *rows("agxqa", 3, 3),
        *rows("other", 9, 9),
    ]
    taken = capped(mixed, {"squad": 40, "hotpotqa": 40, "musique": 40, "agxqa": 40}, random.Random(1))
    counts = Counter((row.origin, row.label) for row in taken)
    assert (counts["squad", 1.0], counts["squad", 0.0]) == (20, 20)
    assert (counts["hotpotqa", 1.0], counts["hotpotqa", 0.0]) == (5, 35)
    assert (counts["musique", 1.0], counts["musique", 0.0]) == (35, 5)
    assert (counts["agxqa", 1.0], counts["agxqa", 0.0]) == (3, 3)
    assert "other" not in {row.origin for row in taken}
    assert len(set(map(id, taken))) == len(taken)


def test_what_is_held_out_shares_no_question_with_what_is_trained_on() -> None:
    mixed = rows("squad", 60, 60)
    training, held = apart(mixed, 30, random.Random(1))
    assert sorted(map(id, [*training, *held])) == sorted(map(id, mixed))
    assert 30 <= len(held) < 33
    assert not {row.question for row in training} & {row.question for row in held}
    assert {row.label for row in held} == {0.0, 1.0}


def test_the_mixture_holds_whole_questions_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relevance.pairs, "build", lambda data, **options: rows("squad", 1500, 1500))
    training, held = relevance.mixture(tmp_path, ())
    assert len(training) + len(held) == 3000
    assert len(held) >= relevance.HELD_OUT
    assert not {row.question for row in training} & {row.question for row in held}
