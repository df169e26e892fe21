"""Whole questions and answers in a file a day, for debugging; off unless ``LQR_TRACES`` says otherwise.

``redacted`` masks keys, e-mail addresses, IP addresses and long numbers, ``full`` only keys. Files older than
``LQR_TRACES_DAYS`` are deleted when a new day begins and at the start. Only the owner of the process can read them.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from lqr.service.redaction import known_secrets, mapped, redacted, without_secrets
from lqr.settings import TraceSetting
from lqr.types import Turn

log = logging.getLogger(__name__)
_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})\.jsonl")


def _now() -> datetime:
    return datetime.now(timezone.utc)


class Traces:
    """Writes traces to ``folder``. Safe to use from several threads; a disk that fails costs a warning, never an answer."""

    def __init__(self, folder: Path, mode: TraceSetting, days: int, clock: Callable[[], datetime] = _now) -> None:
        """``days`` is how long a file is kept."""
        self._folder = folder
        self._days = days
        self._clock = clock
        self._lock = threading.Lock()
        self._day: date | None = None
        self._change = redacted if mode == "redacted" else without_secrets
        self.on = mode != "off"
        if self.on:
            self._forget(clock().date())

    def record(
        self, request: str, question: str, history: Sequence[Turn], outcome: str, answer: Mapping[str, Any] | None
    ) -> None:
        """Append one question with what came of it; does nothing when traces are off."""
        if not self.on:
            return
        now = self._clock()
        known = known_secrets()
        entry = {
            "question": question,
            "history": [{"role": turn.role, "content": turn.content} for turn in history],
            "outcome": outcome,
            "answer": answer,
        }
        changed = mapped(entry, lambda text: self._change(text, known))
        line = json.dumps({"time": now.isoformat(timespec="milliseconds"), "request": request, **changed}, ensure_ascii=False)
        with self._lock:
            if now.date() != self._day:
                self._forget(now.date())
                self._day = now.date()
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                path = self._folder / f"{now.date().isoformat()}.jsonl"
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8") as stream:
                    stream.write(line + "\n")
            except OSError as error:
                log.warning("the trace of %s could not be written: %s", request, error)

    def _forget(self, today: date) -> None:
        """Delete the files of days that are over for longer than they are to be kept; other files stay."""
        oldest = (today - timedelta(days=self._days - 1)).isoformat()
        with suppress(OSError):
            for path in self._folder.iterdir():
                match = _NAME.fullmatch(path.name)
                if match and match.group(1) < oldest:
                    path.unlink(missing_ok=True)
