"""An embedder without a model, for tests: feature hashing of words.

Texts that share words are near, nothing else is: it knows no synonyms. Same input, same vectors, on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from lqr.retrieval.bm25 import FloatArray
from lqr.retrieval.tokenizer import tokenize


class HashingEmbedder:
    """Signed feature hashing (Weinberger et al. 2009) of our own tokens into ``dimension`` buckets."""

    def __init__(self, dimension: int = 64, name: str = "hashing") -> None:
        self.name = name
        self.revision = "1"
        self.dimension = dimension
        self.encoded = 0  # texts encoded so far, for tests that count

    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> FloatArray:
        """Unit vectors, shape ``(len(texts), dimension)``; a text without words gets the first axis."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for token in tokenize(text):
                digest = hashlib.blake2b(token.encode(), digest_size=8).digest()
                vectors[row, int.from_bytes(digest[:4], "big") % self.dimension] += 1.0 if digest[4] & 1 else -1.0
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        self.encoded += len(texts)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)
