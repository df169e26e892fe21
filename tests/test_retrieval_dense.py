from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import ThreadpoolController

from lqr.retrieval.dense import BULK, DenseIndex, QueryCache, SentenceEmbedder
from lqr.retrieval.fake import HashingEmbedder
from lqr.turns import Turns


def test_search_equals_sorting_all_products() -> None:
    random = np.random.default_rng(1)
    vectors = random.normal(size=(80, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = vectors[:5] + 0.1
    for query, found in zip(queries, DenseIndex(vectors).search(queries, 10), strict=True):
        cosines = vectors @ query
        assert [row for row, _ in found] == list(np.argsort(-cosines)[:10])
        assert [score for _, score in found] == pytest.approx([cosines[row] for row, _ in found], abs=1e-5)


def test_fewer_rows_than_k_and_equal_rows() -> None:
    vectors = np.tile(np.array([[1.0, 0.0]], dtype=np.float32), (3, 1))
    assert [row for row, _ in DenseIndex(vectors).search(vectors[:1], 50)[0]] == [0, 1, 2]


def test_no_rows_or_no_queries() -> None:
    empty = np.zeros((0, 4), dtype=np.float32)
    assert DenseIndex(empty).search(np.ones((2, 4), dtype=np.float32), 3) == [[], []]
    assert DenseIndex(np.ones((2, 4), dtype=np.float32)).search(empty, 3) == []


def test_cache_asks_once_and_forgets_the_oldest() -> None:
    embedder = HashingEmbedder(8)
    cache = QueryCache(embedder, size=2)
    first = cache.encode(["a1", "b2", "a1"])
    assert embedder.encoded == 2
    np.testing.assert_array_equal(first[0], first[2])
    cache.encode(["a1"])
    assert embedder.encoded == 2
    cache.encode(["c3"])  # pushes out b2, used longer ago than a1
    cache.encode(["a1"])
    assert embedder.encoded == 3
    cache.encode(["b2"])
    assert embedder.encoded == 4
    assert cache.encode([]).shape == (0, 8)
    assert cache.encode(["x", "y", "z"]).shape == (3, 8)  # more than it can hold


def test_hashing_embedder_is_what_it_says() -> None:
    vectors = HashingEmbedder().encode(["lame sheep", "sheep lame", "maize", ""])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert vectors[0] @ vectors[1] == pytest.approx(1)
    assert vectors[0] @ vectors[2] < 0.5


@pytest.mark.model
def test_minilm(embedder: SentenceEmbedder) -> None:
    vectors = embedder.encode(["Why is my ewe limping?", "Lame sheep mostly have footrot.", "Interest rates rose again in May."])
    assert vectors.shape == (3, 384) == (3, embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.3
    assert embedder.encode([]).shape == (0, 384)
    assert len(embedder.revision) == 12


@pytest.mark.model
def test_bulk_vectors_are_the_single_ones(embedder: SentenceEmbedder) -> None:
    texts = [f"Ewe {i} eats {i % 7} kg of hay in month {i % 12}." for i in range(BULK)]
    bulk, single = embedder.encode(texts), np.vstack([embedder.encode([text]) for text in texts[:8]])
    assert (bulk[:8] * single).sum(axis=1).min() > 0.999


@pytest.mark.model
def test_minilm_from_threads(embedder: SentenceEmbedder) -> None:
    texts = [f"sheep number {i}" for i in range(6)]
    expected = embedder.encode(texts)
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(embedder.encode(texts))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_allclose(result, expected, atol=1e-5)


class SlowModel:
    """Stands for the network: a text's vector is told by its first number."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.began = threading.Event()

    def encode(self, texts: list[str], **options: Any) -> Any:
        self.batches.append(len(texts))
        self.began.set()
        time.sleep(0.03)
        return torch.tensor([[float(text.split()[0]), 1.0] for text in texts])


def test_a_question_does_not_wait_for_a_whole_upload() -> None:
    embedder = SentenceEmbedder.__new__(SentenceEmbedder)  # all but the weights
    model = SlowModel()
    embedder._model, embedder.dimension, embedder._fast_bfloat16 = model, 2, False  # type: ignore[assignment]
    embedder._turns, embedder._pools = Turns(), ThreadpoolController()
    texts = [f"{number} ewes{' again' * (number % 5)}" for number in range(8 * 32)]
    many: list[Any] = []
    upload = threading.Thread(target=lambda: many.append(embedder.encode(texts)))
    upload.start()
    model.began.wait(10)
    question = embedder.encode(texts[7:8])
    upload.join()
    assert model.batches.count(32) == 8
    assert model.batches.index(1) <= 3
    np.testing.assert_allclose(question[0], np.array([7.0, 1.0]) / 50**0.5, atol=1e-6)
    for number, vector in enumerate(many[0]):  # each stands in the row of its text
        np.testing.assert_allclose(vector, np.array([number, 1.0]) / (number**2 + 1) ** 0.5, atol=1e-6)
