"""Keeps libraries from drawing on the terminal while a model loads."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_loading = threading.Lock()


@contextmanager
def no_progress_bar() -> Iterator[None]:
    """transformers draws a bar on stderr for a load of 0.2 s, and reports at length which weights a base model lacks.

    What must not be missing is checked by the caller. The switches are global, so they are put back afterwards.
    """
    from transformers.utils import logging as transformers_logging

    with _loading, warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of its own parts to one another
        shown, level = transformers_logging.is_progress_bar_enabled(), transformers_logging.get_verbosity()
        transformers_logging.disable_progress_bar()
        transformers_logging.set_verbosity_error()
        try:
            yield
        finally:
            transformers_logging.set_verbosity(level)
            if shown:
                transformers_logging.enable_progress_bar()
