"""Log records as one JSON object a line, with the id of the request they belong to.

It sets nothing up: ``app.py`` puts the formatter on its handler. The text of questions and answers never
goes into a record made here.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timezone

_REQUEST: ContextVar[str] = ContextVar("lqr_request", default="")


@contextmanager
def request(number: str) -> Iterator[None]:
    """Records made inside carry ``number`` as their request id."""
    token = _REQUEST.set(number)
    try:
        yield
    finally:
        _REQUEST.reset(token)


def current_request() -> str:
    """The id of the request that this thread works for, or an empty string."""
    return _REQUEST.get()


class JsonFormatter(logging.Formatter):
    """``time`` (UTC), ``level``, ``logger``, ``message``, ``request``, and the mapping given as ``extra={"fields": ...}``."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line of JSON."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if number := current_request():
            line["request"] = number
        line.update(getattr(record, "fields", {}))
        if record.exc_text or record.exc_info:
            line["exception"] = record.exc_text or self.formatException(record.exc_info)  # type: ignore[arg-type]
        return json.dumps(line, ensure_ascii=False, default=str)
