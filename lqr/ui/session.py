"""What the server holds for one open page: the answers under way, so that Stop can reach them. Nothing of what was said.

Lives in a ``gr.State``, which Gradio keeps apart for each session; no other session has a way to it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from lqr.ui.exchange import Conversation, Exchange

# One for all sessions, and held for a moment only: Gradio copies the first Session for each page, and no lock can be copied.
_LOCK = threading.Lock()


@dataclass(eq=False)
class Live:
    """One answer under way: the conversation before it, and how far it has come."""

    before: Conversation
    exchange: Exchange
    cancelled: threading.Event = field(default_factory=threading.Event)
    settled: bool = False
    _lock: Any = field(default_factory=threading.Lock)

    def settle(self) -> bool:
        """True for the first who asks: that one, the answer or Stop, says what stays on the page."""
        with self._lock:
            first, self.settled = not self.settled, True
            return first


@dataclass(eq=False)
class Session:
    """The answers under way by the name that the page gave each, and the names taken back before their turn came."""

    answers: dict[str, Live] = field(default_factory=dict)
    withdrawn: list[str] = field(default_factory=list)

    def begin(self, name: str, live: Live) -> bool:
        """Take ``live`` in; False when it was taken back while it waited in the queue."""
        with _LOCK:
            if name in self.withdrawn:
                self.withdrawn.remove(name)
                return False
            self.answers[name] = live
            return True

    def end(self, name: str) -> None:
        """Let the answer go."""
        with _LOCK:
            self.answers.pop(name, None)

    def stop(self, name: str) -> Live | None:
        """The answer to be stopped, cancelled by this; None for one that has not begun, which then never will."""
        with _LOCK:
            live = self.answers.get(name)
            if live is not None:
                live.cancelled.set()
            elif name:
                self.withdrawn = [*self.withdrawn[-20:], name]
            return live
