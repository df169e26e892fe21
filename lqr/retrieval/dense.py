"""The dense side: an embedder (sentence-transformers), a cache for query vectors, and exact search in FAISS.

Vectors are float32 of unit length, so that the inner product is the cosine. It knows rows, not passages, and takes the
weights from ``lqr.weights`` only.
"""

from __future__ import annotations

import copy
import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Protocol

import numpy as np

from lqr.errors import WeightsError
from lqr.quiet import no_progress_bar
from lqr.retrieval.bm25 import FloatArray
from lqr.retrieval.faiss_gpu import FaissIndex
from lqr.settings import Settings
from lqr.turns import Turns
from lqr.weights import WeightsLocation, find_weights

log = logging.getLogger(__name__)

FEW = 8  # texts in one call, such as the questions of one turn, that one thread handles best
BULK = 64  # texts in one call from which on the faster number format pays for its copy of the model


class Embedder(Protocol):
    """Anything that turns texts into unit vectors. ``name`` and ``revision`` together stamp the vectors."""

    @property
    def name(self) -> str:
        """The model's name, as in ``settings.embedder``."""

    @property
    def revision(self) -> str:
        """What changes when the weights change."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> FloatArray:
        """Unit vectors, float32, shape ``(len(texts), dimension)``. Safe to call from several threads."""


class SentenceEmbedder:
    """A sentence-transformers model, by default ``models/embedder``, from local files only."""

    def __init__(self, name: str, location: WeightsLocation, *, device: str = "cpu") -> None:
        """Load the model.

        Raises:
            WeightsError: the folder does not load as a sentence-transformers model.
        """
        import torch
        from sentence_transformers import SentenceTransformer
        from threadpoolctl import ThreadpoolController

        try:
            with no_progress_bar():
                # shipped in half precision, which processors are slow at
                numbers = {"dtype": torch.float32} if device == "cpu" else {}
                self._model = SentenceTransformer(
                    str(location.path), device=device, local_files_only=True, model_kwargs={"use_safetensors": True, **numbers}
                )
        except Exception as error:  # each library below has its own classes for a broken file
            raise WeightsError(
                f"{location.path} does not load as an embedder: {error}; reinstall it or set LQR_EMBEDDER"
            ) from error
        self.name = name
        self.reason = location.reason
        self.revision = location.revision
        self.dimension = int(self._model.get_embedding_dimension())
        self._turns = Turns()  # fast tokenizers must not be used by two threads at once
        torch.get_num_threads()  # makes torch set up its threads now, not inside the limit below
        self._pools = ThreadpoolController()
        capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
        self._fast_bfloat16 = device == "cpu" and bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
        log.info("embedder %s on %s: %s", name, device, location.reason)

    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> FloatArray:
        """Unit vectors, shape ``(len(texts), dimension)``.

        From ``BULK`` texts on, and where the CPU multiplies bfloat16 natively, the network runs in bfloat16. Against
        float32 on 2,000 passages and 200 questions of HotpotQA: no cosine differs by more than 0.0034, the first five
        agree in 99.6 %, recall is the same, and it takes 0.7 of the time (avx512_bf16). Questions stay in float32.
        Fewer than ``FEW`` texts run on one thread: on two busy cores a question then takes 38 ms instead of 240, for the
        threads of one small product wait for each other longer than they compute. Many texts are embedded in turns of
        ``batch_size``, so that a question waits for one batch of an upload and not for all of it.
        """
        import torch

        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        with self._turns:
            model = self._model
            if self._fast_bfloat16 and len(texts) >= BULK:
                model = copy.deepcopy(model).to(torch.bfloat16)
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        # Texts of like length together, as the model's own encode() would batch them: padding is computed, too.
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            batch = [texts[row] for row in rows]
            # Not torch.set_num_threads: threads that first use torch meanwhile would keep the low number for good. The limit
            # holds from the call of limit() on, so that must be made when it is our turn.
            with self._turns, self._pools.limit(limits=1, user_api="openmp") if len(texts) < FEW else nullcontext():
                tensor = model.encode(batch, batch_size=batch_size, convert_to_tensor=True, show_progress_bar=False)
            vectors[rows] = tensor.float().cpu().numpy()
        return unit(vectors)


def load_embedder(settings: Settings) -> SentenceEmbedder:
    """The embedder that ``settings.embedder`` names, on the profile's device.

    Raises:
        WeightsError: not found, or damaged.
    """
    location = find_weights(settings.embedder, settings=settings, kind="encoder")
    import torch

    if settings.threads:
        torch.set_num_threads(settings.threads)
    device = "cuda" if settings.profile == "gpu" and torch.cuda.is_available() else "cpu"
    return SentenceEmbedder(settings.embedder, location, device=device)


class QueryCache:
    """An embedder in front of which the last ``size`` questions are remembered (least recently used goes first).

    One belongs to one retriever and dies with it. Follow-ups and the two retrieval steps ask for the same vectors again.
    """

    def __init__(self, embedder: Embedder, size: int = 512) -> None:
        """Wrap ``embedder``; ``size`` vectors are kept."""
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[str, FloatArray] = OrderedDict()
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors, shape ``(len(texts), dimension)``; only texts not remembered reach the embedder, once each."""
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, self._embedder.encode(missing), strict=True))
        with self._lock:
            for text in texts:
                self._vectors[text] = known[text]
                self._vectors.move_to_end(text)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        if not texts:
            return np.zeros((0, self._embedder.dimension), dtype=np.float32)
        return np.stack([known[text] for text in texts])


class DenseIndex:
    """Inner-product search over the rows of a matrix; exact up to hundreds of thousands (:mod:`lqr.retrieval.faiss_gpu`)."""

    def __init__(self, vectors: FloatArray, *, device: str = "cpu") -> None:
        """Index ``vectors``, shape ``(n, dimension)``, unit length; ``device`` is ``cpu`` or ``gpu``."""
        from threadpoolctl import ThreadpoolController

        self.size = len(vectors)
        self._index = FaissIndex(vectors, device=device)
        self._pools = ThreadpoolController()

    def search(self, queries: FloatArray, k: int) -> list[list[tuple[int, float]]]:
        """For each query (shape ``(q, dimension)``) its best ``k`` rows as ``(row, cosine)``; equal cosines by row."""
        k = min(k, self.size)
        if k <= 0 or not len(queries):
            return [[] for _ in queries]
        # One thread for a few queries, as in the embedder: 0.1 ms instead of 7 for 2,500 passages on two busy cores.
        with self._pools.limit(limits=1 if len(queries) < FEW else None, user_api="openmp"):
            scores, rows = self._index.search(queries, k)
        results = []
        for row_scores, row_ids in zip(scores, rows, strict=True):
            # FAISS pads with -1 when it finds fewer than k.
            pairs = [(int(row), float(score)) for row, score in zip(row_ids, row_scores, strict=True) if row >= 0]
            results.append(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))
        return results


def mark(embedder: Embedder) -> str:
    """What vectors are stamped with: those of embedders with the same mark may stand in one index."""
    return f"{embedder.name}@{embedder.revision}/{embedder.dimension}"


def unit(vectors: FloatArray) -> FloatArray:
    """``vectors`` at length one, float32; a row of zeros stays."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)
