"""A derived snapshot on the disk: written whole, named last, and read back only where its checksums agree.

On disk a snapshot is a folder ``index/<name>/`` with a manifest that stamps it (generation, embedder, tokenizer, format,
a checksum for each file), and ``index/CURRENT`` names the valid one. A snapshot is written under a temporary name, renamed, and
only then named in ``CURRENT``: a kill at any moment leaves the old one or the new one. It does not know what a stamp must
say, nor how an index is built. Nothing is pickled.
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
from typing import Any

import numpy as np

from lqr.retrieval.bm25 import BM25Index, FloatArray
from lqr.retrieval.graph import PassageGraph

log = logging.getLogger(__name__)

_STALE_SECONDS = 3600.0  # temporary folders older than this belong to a process that was killed


def load_vectors(folder: Path, size: int, dimension: int) -> FloatArray:
    """The vectors in ``folder``, shape ``(size, dimension)``.

    Raises:
        OSError, ValueError: the file is missing, damaged, or of another shape.
    """
    vectors: FloatArray = np.load(folder / "vectors.npy", allow_pickle=False)
    if vectors.shape != (size, dimension) or vectors.dtype != np.float32:
        raise ValueError(f"shape {vectors.shape} and type {vectors.dtype}, not {(size, dimension)} and float32")
    return vectors


def save(
    root: Path,
    stamp: dict[str, Any],
    hashes: Sequence[str],
    bm25: BM25Index,
    vectors: FloatArray,
    graph: PassageGraph,
    asked: FloatArray,
) -> None:
    """Write a snapshot under ``root`` and make it the current one; a full disk is logged and leaves the old one.

    Args:
        stamp: what the snapshot agrees with; its ``generation`` names the folder.
        hashes: of the text behind each row of ``vectors``.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".tmp-", dir=root))
        try:
            bm25.save(temporary / "bm25")
            graph.save(temporary / "graph")
            (temporary / "vectors").mkdir()
            np.save(temporary / "vectors" / "vectors.npy", vectors, allow_pickle=False)
            (temporary / "asked").mkdir()
            np.save(temporary / "asked" / "vectors.npy", asked, allow_pickle=False)
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
class Saved:
    """A saved snapshot, of whose files only those with the right checksum are loaded."""

    folder: Path
    stamp: dict[str, Any]
    files: dict[str, str]

    @classmethod
    def open(cls, root: Path) -> Saved | None:
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
