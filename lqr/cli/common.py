"""What several commands share: progress bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import argparse

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def progress_bars(stream: TextIO | None = None) -> Callable[[str, int, int], None]:
    """A function ``(what, done, total)`` that draws a bar for each ``what``; silent where no person looks on.

    Args:
        stream: where to draw, standard error by default.
    """
    from tqdm import tqdm  # type: ignore[import-untyped, unused-ignore]

    bars: dict[str, Any] = {}

    def show(what: str, done: int, total: int) -> None:
        if what not in bars:
            bars[what] = tqdm(total=total, desc=what, file=stream, disable=None)  # None: off unless it is a terminal
        bar = bars[what]
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    return show
