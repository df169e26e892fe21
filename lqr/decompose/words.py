"""Words of a question with their place, for taggers and for cutting text without losing its spelling."""

from __future__ import annotations

import re
from typing import NamedTuple

Span = tuple[int, int]  # of words, end exclusive

_TOKEN = re.compile(r"['’]s?\b|[^\W_]+(?:[.’'-](?!s\b)[^\W_]+)*|[^\w\s]|_")


class Word(NamedTuple):
    """``text == question[start:end]``."""

    text: str
    start: int
    end: int


def split_words(text: str) -> list[Word]:
    """Words, possessive endings and marks, each by itself, in order."""
    return [Word(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]
