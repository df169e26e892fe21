"""The derived indexes of one store as one immutable snapshot: built, saved, checked and loaded.

On disk a snapshot is a folder ``index/<name>/`` with a manifest that stamps it (generation, embedder, tokenizer, format,
a checksum for each file), and ``index/CURRENT`` names the valid one. A snapshot is written under a temporary name, renamed, and
only then named in ``CURRENT``: a kill at any moment leaves the old one or the new one. The store is the truth; whatever does
not agree with it is rebuilt, and vectors of unchanged texts are taken over. Nothing is pickled.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lqr.errors import RetrievalError
from lqr.retrieval.bm25 import K1, B, BM25Index, FloatArray
from lqr.retrieval.dense import DenseIndex, Embedder
from lqr.retrieval.graph import GRAPH_VERSION, PassageGraph
from lqr.retrieval.tokenizer import TOKENIZER_VERSION, tokenize
from lqr.types import Document, Passage

log = logging.getLogger(__name__)

FORMAT_VERSION = 1
# How often the heading is counted in BM25. On 200 training questions of HotpotQA a second time lifts BM25's recall at 5 from
# 76.5 to 78.2 and leaves the fused one as it is (80.5, 80.2); a third time adds nothing.
HEADING_WEIGHT = 2
SLICE = 256  # passages embedded between two calls of the progress function
_ATTEMPTS = 10  # to read a store that another process is changing
_BUSY = "the store changes faster than it can be indexed; try again when the ingest has finished"
_STALE_SECONDS = 3600.0  # temporary folders older than this belong to a process that was killed

Progress = Callable[[int, int], None]  # (passages embedded, passages to embed)


class PassageSource(Protocol):
    """What the indexes need of the store."""

    @property
    def generation(self) -> int:
        """A number that changes with every change of the content."""

    def all_passages(self) -> Sequence[Passage]:
        """All passages in a stable order, those of a document together and in reading order."""

    def document(self, document_id: str) -> Document:
        """A document with its blocks."""


@dataclass(frozen=True)
class Snapshot:
    """Everything a search reads. Row ``i`` of each index is ``passages[i]``."""

    generation: int
    passages: tuple[Passage, ...]
    rows: dict[str, int]  # passage id to row
    bm25: BM25Index
    vectors: FloatArray  # (n, dimension), unit length
    dense: DenseIndex
    graph: PassageGraph


def open_snapshot(
    source: PassageSource, embedder: Embedder, folder: Path, *, device: str = "cpu", progress: Progress | None = None
) -> Snapshot:
    """The snapshot of the store's present content: loaded where it agrees, otherwise rebuilt and saved.

    Args:
        folder: the store's folder; the indexes live in ``folder / "index"``.
        device: ``gpu`` moves the dense index there, where FAISS can.

    Raises:
        RetrievalError: the store does not stop changing, or gives the same passage id twice.
    """
    for _ in range(_ATTEMPTS):
        generation, passages = _read(source)
        try:
            return _open(source, generation, passages, embedder, folder, device, progress)
        except KeyError as error:
            if source.generation == generation:
                raise RetrievalError(f"the store lists a document that it does not hold ({error}); ingest it again") from error
    raise RetrievalError(_BUSY)


def _open(
    source: PassageSource,
    generation: int,
    passages: Sequence[Passage],
    embedder: Embedder,
    folder: Path,
    device: str,
    progress: Progress | None,
) -> Snapshot:
    """One attempt; a KeyError says that a document was deleted meanwhile."""
    hashes = [_hash(passage.indexed_text) for passage in passages]
    stamp = _stamp(generation, passages, hashes, embedder)
    root = folder / "index"
    saved = _Saved.open(root)
    ids = [passage.id for passage in passages]
    rows = {passage_id: row for row, passage_id in enumerate(ids)}
    if len(rows) != len(ids):
        raise RetrievalError("the store holds a passage id twice; delete the collection and ingest it again")

    bm25 = graph = vectors = None
    if saved and (differing := [key for key in stamp if saved.stamp.get(key) != stamp[key]]):
        log.info("index of %s: rebuilt, %s changed", folder.name, ", ".join(differing))
    elif saved:
        bm25 = saved.load("bm25", lambda path: BM25Index.load(path, len(ids)))
        graph = saved.load("graph", lambda path: PassageGraph.load(path, ids))
        vectors = saved.load("vectors", lambda path: _load_vectors(path, len(ids), embedder.dimension))
    complete = bm25 is not None and graph is not None and vectors is not None
    if graph is None:  # before the vectors: it asks the store, which may have changed
        graph = PassageGraph.build(passages, source.document)
    if bm25 is None:
        bm25 = BM25Index.build([index_terms(passage) for passage in passages])
    if vectors is None:
        vectors = _embed(passages, hashes, embedder, saved.reusable(stamp) if saved else {}, progress)
    if not complete:
        _save(root, stamp, hashes, bm25, vectors, graph)
    return Snapshot(generation, tuple(passages), rows, bm25, vectors, DenseIndex(vectors, device=device), graph)


def index_terms(passage: Passage, heading_weight: int = HEADING_WEIGHT) -> list[str]:
    """The terms under which BM25 finds a passage: its ``indexed_text``, the heading counted ``heading_weight`` times."""
    return tokenize(passage.heading) * (heading_weight - 1) + tokenize(passage.indexed_text)


def _read(source: PassageSource) -> tuple[int, list[Passage]]:
    for _ in range(_ATTEMPTS):
        generation = source.generation
        passages = list(source.all_passages())
        if source.generation == generation:
            return generation, passages
    raise RetrievalError(_BUSY)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _stamp(generation: int, passages: Sequence[Passage], hashes: Sequence[str], embedder: Embedder) -> dict[str, Any]:
    """What a saved index must agree with. The content is in it because a store made anew may reach the same generation."""
    content = hashlib.blake2b(digest_size=16)
    for passage, text in zip(passages, hashes, strict=True):
        content.update(f"{passage.id}\0{text}\0".encode())
    return {
        "format": FORMAT_VERSION,
        "generation": generation,
        "content": content.hexdigest(),
        "embedder": f"{embedder.name}@{embedder.revision}/{embedder.dimension}",
        "tokenizer": TOKENIZER_VERSION,
        "bm25": f"k1={K1} b={B} heading={HEADING_WEIGHT}",
        "graph": GRAPH_VERSION,
    }


def _embed(
    passages: Sequence[Passage],
    hashes: Sequence[str],
    embedder: Embedder,
    known: dict[str, FloatArray],
    progress: Progress | None,
) -> FloatArray:
    """One vector a passage; texts whose hash is ``known`` keep theirs, equal texts are embedded once."""
    missing = {text: passage for passage, text in zip(passages, hashes, strict=True) if text not in known}
    # By length, so that a batch holds little padding; the longest first, so that a lack of memory shows at once.
    todo = sorted(missing.items(), key=lambda item: -len(item[1].text))
    if len(todo) > SLICE:
        log.info("embedding %d passages; about a minute for each 2,500 on two cores", len(todo))
    for start in range(0, len(todo), SLICE):
        part = todo[start : start + SLICE]
        known.update(zip([text for text, _ in part], embedder.encode([p.indexed_text for _, p in part]), strict=True))
        if progress:
            progress(min(start + SLICE, len(todo)), len(todo))
    vectors = np.zeros((len(passages), embedder.dimension), dtype=np.float32)
    for row, text in enumerate(hashes):
        vectors[row] = known[text]
    return vectors


def _load_vectors(folder: Path, size: int, dimension: int) -> FloatArray:
    vectors: FloatArray = np.load(folder / "vectors.npy", allow_pickle=False)
    if vectors.shape != (size, dimension) or vectors.dtype != np.float32:
        raise ValueError(f"shape {vectors.shape} and type {vectors.dtype}, not {(size, dimension)} and float32")
    return vectors


def _save(
    root: Path, stamp: dict[str, Any], hashes: Sequence[str], bm25: BM25Index, vectors: FloatArray, graph: PassageGraph
) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".tmp-", dir=root))
        try:
            bm25.save(temporary / "bm25")
            graph.save(temporary / "graph")
            (temporary / "vectors").mkdir()
            np.save(temporary / "vectors" / "vectors.npy", vectors, allow_pickle=False)
            (temporary / "vectors" / "texts.json").write_text(json.dumps(list(hashes)), encoding="utf-8")
            files = {p.relative_to(temporary).as_posix(): _checksum(p) for p in sorted(temporary.rglob("*")) if p.is_file()}
            manifest = {"stamp": stamp, "files": files}
            (temporary / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
            final = root / f"{stamp['generation']}-{temporary.name.removeprefix('.tmp-')}"
            temporary.rename(final)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        pointer = root / f".CURRENT-{final.name}"
        pointer.write_text(final.name, encoding="utf-8")
        os.replace(pointer, root / "CURRENT")
    except OSError as error:
        log.warning(
            "%s can't be written (%s): searches work, but the next start builds the index again; free some space", root, error
        )
        return
    for other in root.iterdir():
        with suppress(OSError):  # another process may be clearing up as well
            fresh_temporary = other.name.startswith(".") and time.time() - other.stat().st_mtime < _STALE_SECONDS
            if other.is_dir() and other != final and not fresh_temporary:
                shutil.rmtree(other, ignore_errors=True)


def _checksum(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class _Saved:
    """A saved snapshot, of whose files only those with the right checksum are loaded."""

    folder: Path
    stamp: dict[str, Any]
    files: dict[str, str]

    @classmethod
    def open(cls, root: Path) -> _Saved | None:
        """The saved snapshot that ``CURRENT`` names, or ``None`` if there is none or its manifest is damaged."""
        pointer = root / "CURRENT"
        if not pointer.exists():
            return None
        try:
            name = pointer.read_text(encoding="utf-8").strip()
            if not name or Path(name).name != name:
                raise ValueError("CURRENT names no folder")
            manifest = json.loads((root / name / "manifest.json").read_text(encoding="utf-8"))
            return cls(root / name, dict(manifest["stamp"]), dict(manifest["files"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("index %s is damaged (%s): rebuilt", root, error)
            return None

    def load(self, part: str, read: Callable[[Path], Any]) -> Any:
        """``read(folder of the part)`` if all its files are as they were written; ``None``, with a warning, otherwise."""
        try:
            for name, checksum in self.files.items():
                if name.startswith(f"{part}/") and _checksum(self.folder / name) != checksum:
                    raise ValueError(f"{name} has changed since it was written")
            return read(self.folder / part)
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("index file of %s is damaged (%s): rebuilt", self.folder / part, error)
            return None

    def reusable(self, stamp: dict[str, Any]) -> dict[str, FloatArray]:
        """Vectors by text hash, if the same embedder made them and the files are sound."""
        if any(self.stamp.get(key) != stamp[key] for key in ("format", "embedder")):
            return {}

        def read(folder: Path) -> dict[str, FloatArray]:
            hashes = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
            vectors = np.load(folder / "vectors.npy", allow_pickle=False)
            return dict(zip(hashes, vectors, strict=True))

        return self.load("vectors", read) or {}
