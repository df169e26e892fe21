"""A lock that is shared fairly: between the pieces of a long work whoever waits has a turn.

Python's own lock is not fair: a thread that gives it back and takes it again at once nearly always has it again, and who waits
goes on waiting. Knows nothing of what is locked.
"""

from __future__ import annotations

import threading
from types import TracebackType


class Turns:
    """``with turns:`` keeps others out, as a lock does; whoever had the last turn never goes before one who waits."""

    def __init__(self) -> None:
        self._door = threading.Lock()  # held by the one who is next, so that nobody overtakes
        self._inside = threading.Lock()

    def __enter__(self) -> None:
        with self._door:
            self._inside.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._inside.release()
