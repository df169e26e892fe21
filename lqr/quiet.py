"""Keeps libraries from drawing on the terminal while a model loads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_loading = threading.Lock()


@contextmanager
def no_progress_bar() -> Iterator[None]:
    """transformers draws a bar on stderr for a load of 0.2 s; its switch is global, so it is put back afterwards."""
    from transformers.utils import logging as transformers_logging

    with _loading:
        shown = transformers_logging.is_progress_bar_enabled()
        transformers_logging.disable_progress_bar()
        try:
            yield
        finally:
            if shown:
                transformers_logging.enable_progress_bar()
