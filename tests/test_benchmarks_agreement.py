"""Agreement of two judges: the figures of a worked example, and every second judgement is of a unit that the first saw."""

from __future__ import annotations

import pytest

from benchmarks.agreement import AGAIN, agreement, both
from benchmarks.common import JUDGED as HELD_OUT
from benchmarks.train_relevance import JUDGED
from lqr.training.judged_pairs import LABELS, Judged, read_judged


def judged(**marks: str) -> Judged:
    return Judged("q", {name: tuple(("d", mark) for mark in marks.get(name, "")) for name in LABELS})


def test_agreement_by_hand() -> None:
    count, pairs = both([judged(say="ab", fine="c", beside="d")], [judged(say="a", fine="c", bad="bd"), Judged("other", {})])
    assert (count, sorted(pairs)) == (1, [("beside", "bad"), ("fine", "fine"), ("say", "bad"), ("say", "say")])
    assert agreement(pairs)[0] == 50.0
    share, kappa = agreement(pairs, "say")
    assert share == 75.0
    assert kappa == pytest.approx((0.75 - 0.5) / (1 - 0.5))  # said by chance alike: 1/2 * 1/4 + 1/2 * 3/4


def test_every_second_judgement_is_of_what_the_first_saw() -> None:
    again = read_judged(AGAIN)
    found = [both(read_judged(path), again) for path in (JUDGED, HELD_OUT)]
    assert sum(count for count, _ in found) == len(again)
    assert sum(len(pairs) for _, pairs in found) == sum(len(marks) for row in again for marks in row.marks.values())
