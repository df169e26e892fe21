"""Gives freed memory back to the system. Tensors of every length leave holes that glibc keeps: 600 MB after 150 questions.

Knows nothing of who used the memory; does nothing where the C library is not glibc.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


def release() -> bool:
    """Return free pages of the C heap; takes some milliseconds. True if there was a way to."""
    trim = _trim()
    return bool(trim and trim(0) >= 0)


@cache
def _trim() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL("libc.so.6").malloc_trim
    except (OSError, AttributeError):  # musl and others
        return None
