"""ZeroGPU, the shared graphics processors of the Hub's Spaces: there a GPU is lent for the length of one function call.

The call runs in a forked process. So its arguments and results are pickled, what it changes stays behind in that process,
and the package ``spaces`` has to be imported before anything that touches CUDA (the Space's entry file does). Off ZeroGPU
nothing here does anything. Knows no model.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lqr.errors import WriterError

Generate = Callable[[list[int], int, Sequence[str]], Iterator[str]]

START_SECONDS = 12  # to move a packed 8B model onto the device; a call that outlasts its request is cut off
TOKENS_PER_SECOND = 20  # of 4-bit Llama-3-8B at the slow end; asking for less gets a better place in the queue


def active() -> bool:
    """Whether this process runs on a ZeroGPU Space."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def borrow(generate: Generate) -> Generate:
    """``generate(input_ids, max_tokens, stop)``, a generator function, so that each call gets a GPU.

    Must be called before the page is launched: ZeroGPU packs the models at that moment.

    Raises:
        WriterError: the package ``spaces`` is not installed.
    """
    try:
        spaces: Any = importlib.import_module("spaces")  # by its name: in a clone a plain folder has that name too
    except ImportError as error:
        raise WriterError("this is a ZeroGPU Space without the package spaces; add it to requirements.txt") from error

    def lent(input_ids: list[int], max_tokens: int, stop: Sequence[str]) -> Iterator[str]:
        yield from generate(input_ids, max_tokens, stop)

    decorated: Generate = spaces.GPU(duration=seconds)(lent)
    return decorated


def seconds(input_ids: list[int], max_tokens: int, stop: Sequence[str]) -> int:
    """Seconds of GPU to ask for: 23 for an answer of 220 tokens."""
    return START_SECONDS + -(-max_tokens // TOKENS_PER_SECOND)


def reason(error: BaseException) -> str:
    """What ZeroGPU says when it refuses or breaks off (quota, time, worker), on one line."""
    said: Any = getattr(error, "message", None) or str(error) or type(error).__name__
    title = getattr(error, "title", None)
    return " ".join((f"{title}: {said}" if title and title != "Error" else str(said)).split())
