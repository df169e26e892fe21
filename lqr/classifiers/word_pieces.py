"""Counts the word pieces of a word: how a vocabulary learnt from frequency cuts it tells everyday words from names.

Reads ``tokenizer.json`` of a model folder; runs no model.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lqr.errors import WeightsError


def load_pieces(folder: Path) -> Callable[[str], int] | None:
    """``pieces(word)`` from the tokenizer in ``folder``, or None where none is installed. Thread-safe.

    Raises:
        WeightsError: the file is damaged.
    """
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if not path.is_file():
        return None
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise WeightsError(f"models/{folder.name}/tokenizer.json cannot be read ({error}); restore the folder") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda word: len(tokenizer.encode(word, add_special_tokens=False).ids)
