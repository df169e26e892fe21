"""Tests of lqr.retrieval.reading."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lqr.blend import logit
from lqr.retrieval.reading import CHARACTERS, READ, WEIGHT, reread
from lqr.types import Hit, Passage


def hits(count: int, text: str = "Some words.") -> list[Hit]:
    passages = [Passage(f"p{place}", f"d{place}", f"T{place}", (), text, 0, 0, len(text)) for place in range(count)]
    return [Hit(passage, -float(place), {"paths": -float(place)}) for place, passage in enumerate(passages)]


def test_the_new_order_is_the_weighed_sum() -> None:
    chances = [0.02, 0.4, 0.9, 0.6]
    found = reread(lambda pairs: chances[: len(pairs)], "Why?", hits(4))
    wanted = {f"p{place}": -place + WEIGHT * logit(chance) for place, chance in enumerate(chances)}
    assert [hit.passage.id for hit in found] == sorted(wanted, key=lambda name: -wanted[name])
    assert found[0].passage.id != "p0"
    for hit in found:
        assert hit.score == pytest.approx(wanted[hit.passage.id])
        assert hit.scores["relevance"] == chances[int(hit.passage.id[1:])]
        assert "paths" in hit.scores


def test_few_are_read_and_those_behind_stay_behind() -> None:
    asked: list[tuple[str, tuple[str, str]]] = []

    def scorer(pairs: Sequence[tuple[str, tuple[str, str]]]) -> list[float]:
        asked.extend(pairs)
        return [0.001] * len(pairs)

    found = reread(scorer, "Why?", hits(READ + 3, "x" * (CHARACTERS + 50)))
    assert [hit.passage.id for hit in found] == [f"p{place}" for place in range(READ + 3)]
    assert len(asked) == READ
    assert asked[3] == ("Why?", ("T3", "x" * CHARACTERS))


def test_nothing_is_left_of_nothing() -> None:
    assert reread(lambda pairs: [0.5] * len(pairs), "Why?", []) == []
