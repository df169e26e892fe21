"""Embedders for evaluation: one that remembers every vector on disk, and one that embeds nothing.

A corpus of 20,000 passages takes minutes to embed. Kept in SQLite as they are made, the vectors outlive a kill, and the
pooled corpus takes over those of its parts. Knows texts, not passages.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lqr.errors import StoreError
from lqr.retrieval.bm25 import FloatArray
from lqr.retrieval.dense import Embedder

BULK = 64  # texts in one call from which on they are passages to be indexed; fewer are questions and sentences
SLICE = 64  # texts that a kill may cost
_ASKED = 500  # SQLite bounds the number of parameters


class RememberingEmbedder:
    """``embedder`` with its bulk vectors kept in the file ``path``. Safe to use from several threads and processes.

    Questions are not kept: the product computes them anew, and their time is measured.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        """Open or make the file.

        Raises:
            StoreError: the file can't be opened.
        """
        self._embedder = embedder
        self.name, self.revision, self.dimension = embedder.name, embedder.revision, embedder.dimension
        self.reason = getattr(embedder, "reason", "given by the caller")
        self._key = f"{self.name}@{self.revision}/{self.dimension}"
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path, timeout=60, check_same_thread=False)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{path}: {error}; delete it, or choose another folder with LQR_HOME") from error

    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> FloatArray:
        """Unit vectors, shape ``(len(texts), dimension)``; in bulk only what is not in the file is computed.

        Raises:
            StoreError: the file can't be read or written.
        """
        if len(texts) < BULK:
            return self._embedder.encode(texts, batch_size=batch_size)
        keys = [
            hashlib.blake2b(f"{self._key}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts
        ]
        known = self._read(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        todo = list(missing.items())
        for start in range(0, len(todo), SLICE):
            part = todo[start : start + SLICE]
            made = self._embedder.encode([text for _, text in part], batch_size=batch_size)
            found = {key: vector for (key, _), vector in zip(part, made, strict=True)}
            self._write(found)
            known.update(found)
        return np.stack([known[key] for key in keys])

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, FloatArray]:
        known: dict[bytes, FloatArray] = {}
        with self._lock:
            for start in range(0, len(keys), _ASKED):
                part = keys[start : start + _ASKED]
                marks = ",".join("?" * len(part))
                try:
                    rows = self._file.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part).fetchall()
                except sqlite3.Error as error:
                    raise StoreError(f"the file of vectors can't be read: {error}; delete evaluation/vectors.sqlite3") from error
                known.update((key, np.frombuffer(vector, dtype=np.float32)) for key, vector in rows)
        return known

    def _write(self, vectors: dict[bytes, FloatArray]) -> None:
        rows = [(key, np.ascontiguousarray(vector, dtype=np.float32).tobytes()) for key, vector in vectors.items()]
        with self._lock:
            try:
                with self._file:
                    self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            except sqlite3.Error as error:
                raise StoreError(f"the file of vectors can't be written: {error}; free some space under LQR_HOME") from error


class NoEmbedder:
    """Stands in where a run leaves out the dense side: every vector is null, so that every cosine is 0."""

    name = "none"
    revision = "1"
    dimension = 1
    reason = "left out of this run"

    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> FloatArray:
        """Zeros, shape ``(len(texts), 1)``."""
        return np.zeros((len(texts), self.dimension), dtype=np.float32)
