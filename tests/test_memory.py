"""Freed memory goes back, and nothing breaks where it can't."""

from __future__ import annotations

import sys

import pytest

from lqr import memory


def test_release_says_whether_there_was_a_way() -> None:
    assert memory.release() is (memory._trim() is not None)


def test_another_system_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    memory._trim.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory.release() is False
    memory._trim.cache_clear()
