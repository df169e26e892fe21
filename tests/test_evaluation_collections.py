"""Tests of lqr.evaluation.collections and lqr.evaluation.vectors."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from lqr.corpus.store import Store
from lqr.errors import ReadError, StoreError
from lqr.evaluation.collections import corpus_key, documents, fill, open_corpus
from lqr.evaluation.datasets import CorpusPassage
from lqr.evaluation.vectors import BULK, NoEmbedder, RememberingEmbedder
from lqr.retrieval.fake import HashingEmbedder
from lqr.settings import Settings

CORPUS = (
    CorpusPassage("a-1", "Ada", "Ada Lovelace was born in London."),
    CorpusPassage("b-1", "Bern", "Bern is a city on the Aare."),
    CorpusPassage("a-2", "Ada", "She wrote about the Analytical Engine."),
    CorpusPassage("n-1", "", "A passage without a title."),
    CorpusPassage("n-2", "", "Another one without a title."),
)


def settings(tmp_path: Path) -> Settings:
    return Settings(profile="cpu", home=tmp_path, models=tmp_path / "no-models", knowledge=tmp_path / "no-knowledge")


def test_passages_of_one_title_are_one_document() -> None:
    made = list(documents(CORPUS))
    assert [[p.id for p in passages] for _, passages in made] == [["a-1", "a-2"], ["b-1"], ["n-1"], ["n-2"]]
    for document, passages in made:
        assert [p.position for p in passages] == list(range(len(passages)))
        assert all(document.text[p.start : p.end] == p.text for p in passages)
        assert all(p.document_id == document.id and p.title == document.title for p in passages)
    assert len({document.id for document, _ in made}) == 4
    assert {p.id: (p.title, p.text) for _, ps in made for p in ps} == {p.id: (p.title, p.text) for p in CORPUS}


def test_the_key_changes_with_any_part() -> None:
    keys = {
        corpus_key(corpus)
        for corpus in (
            CORPUS,
            CORPUS[::-1],
            CORPUS[1:],
            (CorpusPassage("a-1", "Ad", "aAda Lovelace was born in London."), *CORPUS[1:]),
            (CorpusPassage("a-11", "Ada", "Ada Lovelace was born in London."), *CORPUS[1:]),
        )
    }
    assert len(keys) == 5
    assert corpus_key(CORPUS) == corpus_key(list(CORPUS))


def test_a_corpus_is_stored_once_and_again_after_a_kill(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    fill(tmp_path, CORPUS, lambda *said: told.append(said))
    with Store.open(tmp_path) as store:
        generation = store.generation
        assert store.count() == 5
        assert {p.id for p in store.all_passages()} == {p.id for p in CORPUS}
    fill(tmp_path, CORPUS)
    with Store.open(tmp_path) as store:
        assert store.generation == generation
        store.delete(store.documents()[0].id)  # as if only a part were there
    fill(tmp_path, CORPUS)
    with Store.open(tmp_path) as store:
        assert store.count() == 5
    assert told[-1][1] == told[-1][2]


def test_the_product_is_opened_over_a_corpus(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    with open_corpus(CORPUS, settings(tmp_path), embedder=embedder) as application:
        found = [hit.passage.id for hit in application.retriever.search("Who wrote about the Analytical Engine?")]
        assert found[0] == "a-2"
        assert len(application.retriever) == 5
    made = embedder.encoded
    with open_corpus(CORPUS, settings(tmp_path), embedder=embedder):
        assert embedder.encoded == made  # the indexes were kept
    assert not (tmp_path / "collections").exists()  # a person's own collections are elsewhere


def test_without_vectors_bm25_still_ranks(tmp_path: Path) -> None:
    with open_corpus(CORPUS, settings(tmp_path), dense=False) as application:
        hits = application.retriever.search("the city of Bern", mode="bm25")
        assert hits[0].passage.id == "b-1"
        assert hits[0].scores["dense"] == 0.0
    assert NoEmbedder().encode(["x", "y"]).shape == (2, 1)


def test_an_empty_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="holds no passage"), open_corpus((), settings(tmp_path)):
        pass


def test_vectors_are_made_once(tmp_path: Path) -> None:
    texts = [f"text {i}" for i in range(BULK + 10)]
    inner = HashingEmbedder(16)
    first = RememberingEmbedder(inner, tmp_path / "v.sqlite3")
    made = first.encode(texts)
    assert np.array_equal(made, HashingEmbedder(16).encode(texts))
    assert inner.encoded == len(texts)
    first.close()

    again = HashingEmbedder(16)
    second = RememberingEmbedder(again, tmp_path / "v.sqlite3")
    assert np.array_equal(second.encode([*texts[5:], "new", "new"]), HashingEmbedder(16).encode([*texts[5:], "new", "new"]))
    assert again.encoded == 1
    second.encode(["a question"])
    second.encode(["a question"])
    assert again.encoded == 3  # questions are computed anew, as in the product
    second.close()

    other = HashingEmbedder(16, name="another")
    third = RememberingEmbedder(other, tmp_path / "v.sqlite3")
    third.encode(texts)
    assert other.encoded == len(texts)  # another model's vectors are not taken
    third.close()


def test_a_kill_costs_a_slice_only(tmp_path: Path) -> None:
    class Stopping(HashingEmbedder):
        def encode(self, texts, *, batch_size=32):  # type: ignore[no-untyped-def]
            if self.encoded >= 128:
                raise KeyboardInterrupt
            return super().encode(texts, batch_size=batch_size)

    texts = [f"text {i}" for i in range(200)]
    killed = RememberingEmbedder(Stopping(16), tmp_path / "v.sqlite3")
    with pytest.raises(KeyboardInterrupt):
        killed.encode(texts)
    rest = HashingEmbedder(16)
    resumed = RememberingEmbedder(rest, tmp_path / "v.sqlite3")
    resumed.encode(texts)
    assert rest.encoded == 200 - 128


def test_vectors_may_be_asked_for_by_several_threads(tmp_path: Path) -> None:
    embedder = RememberingEmbedder(HashingEmbedder(16), tmp_path / "v.sqlite3")
    texts = [f"text {i}" for i in range(100)]
    wanted = HashingEmbedder(16).encode(texts)
    right: list[bool] = []
    threads = [threading.Thread(target=lambda: right.append(np.array_equal(embedder.encode(texts), wanted))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 4


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "v.sqlite3").write_text("no database, but long enough to be looked at" * 100)
    with pytest.raises(StoreError, match=r"v\.sqlite3"):
        RememberingEmbedder(HashingEmbedder(16), tmp_path / "v.sqlite3")
