"""What several commands share: how far a long piece of work is, for a person at a terminal or for a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import argparse

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

EVERY = 10.0  # seconds between two lines of progress


def progress_bars(stream: TextIO | None = None) -> Callable[[str, int, int], None]:
    """A function ``(what, done, total)`` that draws a bar for each ``what``; where no terminal is, see :func:`progress_lines`.

    Args:
        stream: where to draw, standard error by default.
    """
    if not (stream or sys.stderr).isatty():
        return progress_lines(stream)
    from tqdm import tqdm  # type: ignore[import-untyped, unused-ignore]

    bars: dict[str, Any] = {}

    def show(what: str, done: int, total: int) -> None:
        if what not in bars:
            bars[what] = tqdm(total=total, desc=what, file=stream)
        bar = bars[what]
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    return show


def progress_lines(stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> Callable[[str, int, int], None]:
    """A function ``(what, done, total)`` that writes a line now and then; work of a few seconds writes none.

    Args:
        stream: where to write, standard error by default.
        clock: seconds.
    """
    began: dict[str, tuple[float, int]] = {}
    said: dict[str, float] = {}

    def show(what: str, done: int, total: int) -> None:
        now = clock()
        start, first = began.setdefault(what, (now, done))
        if now - said.get(what, start) >= EVERY or (what in said and done >= total):
            said[what] = now
            left = ""
            if first < done < total:
                left = f", {_duration((now - start) * (total - done) / (done - first))} left"
            print(f"{what}: {done} of {total}{left}", file=stream or sys.stderr, flush=True)
        if done >= total:  # what comes under this name again is other work
            del began[what]
            said.pop(what, None)

    return show


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
