"""Which FAISS index a collection gets, and its move to a GPU: one switch, ``device``.

Exact search for as long as it is fast enough; above that a graph (CAGRA) where this build of FAISS has it on a GPU, else
inverted lists (IVF). On ``cpu`` the same choices are made with faiss-cpu, which is how they are tested. Indexes are built from a
finished matrix and never changed: IVF's ``remove_ids`` is unreliable, and a change of the store rebuilds them.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from math import isqrt
from typing import Any, Literal

import numpy as np

from lqr.retrieval.bm25 import FloatArray

log = logging.getLogger(__name__)

Kind = Literal["flat", "ivf", "cagra"]

# Exact search on a GPU reads its vectors at memory speed; at a million of 384 numbers (1.5 GB) that is a few milliseconds.
LARGE = {"cpu": 500_000, "gpu": 2_000_000}  # rows from which an approximate index is used
TRAINED_PER_LIST = 64  # rows for each list when its centres are trained; FAISS warns below 39
PROBED = 1 / 16  # share of the lists that a query looks into


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """The kind of index, its number of lists and of lists probed (IVF), and why."""

    kind: Kind
    lists: int
    probes: int
    reason: str


def choose(rows: int, device: str, *, cagra: bool = False, large: int | None = None) -> IndexPlan:
    """What suits ``rows`` vectors on ``device`` (``cpu`` or ``gpu``); ``cagra`` says whether FAISS has it there."""
    limit = LARGE[device] if large is None else large
    if rows < limit:
        return IndexPlan("flat", 0, 0, f"{rows} rows: exact search is fast enough below {limit}")
    if cagra and device == "gpu":
        return IndexPlan("cagra", 0, 0, f"{rows} rows: a graph on the GPU, approximate from {limit}")
    lists = max(1, 4 * isqrt(rows))
    return IndexPlan("ivf", lists, max(1, round(lists * PROBED)), f"{rows} rows: inverted lists, approximate from {limit}")


def gpu_ready(faiss: Any) -> bool:
    """Whether this build of FAISS can use a GPU and sees one."""
    return hasattr(faiss, "StandardGpuResources") and faiss.get_num_gpus() > 0


class FaissIndex:
    """Inner-product search over the rows of a matrix of unit vectors; row ``i`` has id ``i``.

    Safe to call from several threads: FAISS on a GPU is not, so there one search runs at a time.
    """

    def __init__(self, vectors: FloatArray, *, device: str = "cpu", large: int | None = None, faiss: Any = None) -> None:
        """Index ``vectors``, shape ``(n, dimension)``.

        Args:
            device: ``gpu`` where FAISS can; it says so and stays on the CPU where it can't.
            large: rows from which the index is approximate; by default :data:`LARGE`.
            faiss: the module to use, for tests.
        """
        if faiss is None:
            import faiss
        if device == "gpu" and not gpu_ready(faiss):
            log.warning("profile gpu, but this FAISS has no GPU: searching on the CPU; install faiss-gpu-cu12 to change that")
            device = "cpu"
        self.device = device
        self.size, dimension = vectors.shape
        self.plan = choose(self.size, device, cagra=hasattr(faiss, "GpuIndexCagra"), large=large)
        log.info("dense index on %s: %s", device, self.plan.reason)
        self._resources = faiss.StandardGpuResources() if device == "gpu" else None  # must live as long as the index
        self._lock = threading.Lock()
        matrix = np.ascontiguousarray(vectors, dtype=np.float32)
        self._index = self._built(faiss, matrix, dimension)

    def search(self, queries: FloatArray, k: int) -> tuple[FloatArray, np.ndarray[Any, np.dtype[np.int64]]]:
        """Cosines and rows, each of shape ``(q, k)``, best first; row -1 where an approximate index found fewer than ``k``."""
        wanted = np.ascontiguousarray(queries, dtype=np.float32)
        if self.device == "gpu":
            with self._lock:
                scores, rows = self._index.search(wanted, k)
        else:
            scores, rows = self._index.search(wanted, k)
        return scores, rows.astype(np.int64)

    def _built(self, faiss: Any, matrix: FloatArray, dimension: int) -> Any:
        if self.plan.kind == "cagra":
            index = faiss.GpuIndexCagra(self._resources, dimension, faiss.METRIC_INNER_PRODUCT)
            index.train(matrix)  # builds the graph; the ids are the rows
            return index
        if self.plan.kind == "ivf":
            self._coarse = faiss.IndexFlatIP(dimension)  # the index holds it without owning it
            index = faiss.IndexIVFFlat(self._coarse, dimension, self.plan.lists, faiss.METRIC_INNER_PRODUCT)
            index.cp.seed = 13
            index.cp.max_points_per_centroid = TRAINED_PER_LIST
            index = self._moved(faiss, index)
            index.train(matrix)
            index.nprobe = self.plan.probes
        else:
            index = self._moved(faiss, faiss.IndexFlatIP(dimension))
        index.add(matrix)
        return index

    def _moved(self, faiss: Any, index: Any) -> Any:
        return index if self._resources is None else faiss.index_cpu_to_gpu(self._resources, 0, index)
