"""The choice and the search of FAISS indexes, faiss-cpu standing in for a GPU through the one switch."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lqr.retrieval.faiss_gpu import LARGE, FaissIndex, choose


def unit(rows: int, dimension: int = 16, seed: int = 13) -> Any:
    """Vectors in clusters, as passages on the same subject are."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(40, dimension))
    vectors = centres[random.integers(0, 40, rows)] + 0.3 * random.normal(size=(rows, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def stand_in(*, cagra: bool) -> Any:
    """faiss-cpu with the names of a GPU build; ``moved`` counts what went to the device."""
    import faiss

    class Cagra:
        def __init__(self, resources: Any, dimension: int, metric: int) -> None:
            assert metric == faiss.METRIC_INNER_PRODUCT
            self._index = faiss.IndexFlatIP(dimension)

        def train(self, matrix: Any) -> None:
            self._index.add(matrix)

        def search(self, queries: Any, k: int) -> Any:
            return self._index.search(queries, k)

    moved: list[str] = []

    def index_cpu_to_gpu(resources: Any, device: int, index: Any) -> Any:
        moved.append(type(index).__name__)
        return index

    names = {name: getattr(faiss, name) for name in ("IndexFlatIP", "IndexIVFFlat", "METRIC_INNER_PRODUCT")}
    module = SimpleNamespace(
        **names, StandardGpuResources=object, get_num_gpus=lambda: 1, index_cpu_to_gpu=index_cpu_to_gpu, moved=moved
    )
    if cagra:
        module.GpuIndexCagra = Cagra
    return module


def exact(vectors: Any, queries: Any, k: int) -> Any:
    return np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :k]


def test_choice() -> None:
    assert choose(1000, "cpu").kind == choose(LARGE["gpu"] - 1, "gpu", cagra=True).kind == "flat"
    assert choose(LARGE["gpu"], "gpu", cagra=True).kind == "cagra"
    assert choose(LARGE["gpu"], "gpu").kind == "ivf"
    plan = choose(LARGE["cpu"], "cpu", cagra=True)  # CAGRA only exists on a GPU
    assert (plan.kind, plan.lists, plan.probes) == ("ivf", 2828, 177)
    assert "500000 rows" in plan.reason


@pytest.mark.parametrize(("device", "cagra"), [("cpu", False), ("gpu", False), ("gpu", True)])
def test_small_collections_are_searched_exactly(device: str, cagra: bool) -> None:
    vectors, queries = unit(500), unit(7, seed=1)
    faiss = stand_in(cagra=cagra)
    scores, rows = FaissIndex(vectors, device=device, faiss=faiss).search(queries, 5)
    assert (rows == exact(vectors, queries, 5)).all()
    assert np.allclose(scores, np.take_along_axis(queries @ vectors.T, rows, axis=1), atol=1e-5)
    assert faiss.moved == (["IndexFlatIP"] if device == "gpu" else [])


def test_inverted_lists_find_nearly_all_of_what_exact_search_finds() -> None:
    vectors, queries = unit(5000), unit(50, seed=1)
    faiss = stand_in(cagra=False)
    index = FaissIndex(vectors, device="gpu", large=1000, faiss=faiss)
    assert index.plan.kind == "ivf"
    assert faiss.moved == ["IndexIVFFlat"]
    rows = index.search(queries, 5)[1]
    found = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(rows, exact(vectors, queries, 5), strict=True)])
    assert found > 0.85
    again = FaissIndex(vectors, large=1000, faiss=faiss).search(queries, 5)[1]
    assert (again == rows).all()  # trained with a seed


def test_a_graph_where_this_faiss_has_one() -> None:
    vectors, queries = unit(2000), unit(3, seed=1)
    index = FaissIndex(vectors, device="gpu", large=1000, faiss=stand_in(cagra=True))
    assert index.plan.kind == "cagra"
    assert (index.search(queries, 4)[1] == exact(vectors, queries, 4)).all()


def test_without_a_gpu_it_says_so_and_searches_on_the_cpu(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    vectors = unit(50)
    index = FaissIndex(vectors, device="gpu")
    assert index.device == "cpu"
    assert "faiss-gpu-cu12" in caplog.text
    assert index.search(vectors[:1], 1)[1].tolist() == [[0]]
