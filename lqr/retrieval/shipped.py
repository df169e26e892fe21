"""Vectors that travel with a collection's documents, so that a first start does not embed what was embedded before.

``vectors.safetensors`` in the folder of documents holds for each text a hash of it and its vector in half precision, and in
its header the embedder that made them and a checksum. A vector is used where both agree with what is asked for; anything else
is embedded as without the file. Knows texts by their hashes only, neither passages nor questions.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lqr.retrieval.bm25 import FloatArray
from lqr.retrieval.dense import Embedder, mark, unit

log = logging.getLogger(__name__)

FILE_NAME = "vectors.safetensors"
FORMAT = 1
_DIGEST = 16  # bytes of a hash
_HEADER = "lqr"  # one entry for all: the library writes several in random order, and the same vectors must give the same file


def text_hash(text: str) -> str:
    """What a text is known by: 32 hex digits."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).hexdigest()


def read_shipped(path: Path, embedder: Embedder) -> dict[str, FloatArray]:
    """Vectors of unit length by :func:`text_hash`, float32; none if there is no such file, or none for ``embedder``.

    A file of another embedder is logged and left alone, a damaged one is named in a warning and left alone.
    """
    if not path.is_file():
        return {}
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            header = json.loads((file.metadata() or {})[_HEADER])
            if header["format"] != FORMAT or header["embedder"] != mark(embedder):
                log.info("%s: vectors of %s, not of %s: texts are embedded anew", path, header["embedder"], mark(embedder))
                return {}
            hashes, vectors = file.get_tensor("hashes"), file.get_tensor("vectors")
        if header["checksum"] != _checksum(hashes, vectors):
            raise ValueError("its checksum differs")
        if hashes.shape != (len(vectors), _DIGEST) or vectors.shape != (len(hashes), embedder.dimension):
            raise ValueError(f"shapes {hashes.shape} and {vectors.shape}")
        if not np.isfinite(vectors).all():
            raise ValueError("some vectors are no numbers")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        log.warning("%s is damaged (%s): texts are embedded anew; restore it, or run `lqr ingest --save-vectors`", path, error)
        return {}
    return {row.tobytes().hex(): vector for row, vector in zip(hashes, unit(vectors.astype(np.float32)), strict=True)}


def write_shipped(path: Path, embedder: Embedder, vectors: Mapping[str, FloatArray]) -> None:
    """Write ``vectors`` by :func:`text_hash` to ``path``, as a whole or not at all. The same vectors give the same bytes.

    Half precision takes half the space. On 100 questions against the 2,534 passages and 4,279 asked questions of the farm
    articles no cosine moved by more than 0.00006, and the first twenty were the same for all 100, in the same order for 97.

    Raises:
        OSError: it can't be written.
    """
    from safetensors.numpy import save

    order = sorted(vectors)
    hashes = np.frombuffer(bytes.fromhex("".join(order)), dtype=np.uint8).reshape(len(order), _DIGEST)
    rows = np.array([vectors[key] for key in order], dtype=np.float16).reshape(len(order), embedder.dimension)
    header = {"format": FORMAT, "embedder": mark(embedder), "checksum": _checksum(hashes, rows)}
    content = save({"hashes": hashes, "vectors": rows}, metadata={_HEADER: json.dumps(header, sort_keys=True)})
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _checksum(hashes: npt.NDArray[np.uint8], vectors: npt.NDArray[np.float16]) -> str:
    digest = hashlib.blake2b(hashes.tobytes(), digest_size=_DIGEST)
    digest.update(f"{vectors.shape} {vectors.dtype}".encode())
    digest.update(vectors.tobytes())
    return digest.hexdigest()
