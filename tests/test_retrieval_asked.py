"""Question against question: the nearest of a passage's questions counts, and the retriever finds by it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lqr.corpus.ingest import ingest
from lqr.corpus.store import Store
from lqr.retrieval.asked import AskedIndex, flatten
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.retriever import Retriever
from lqr.settings import Settings
from lqr.types import Asked


def test_scores_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(13)
    vectors = rng.normal(size=(12, 5)).astype(np.float32)
    rows = rng.integers(0, 6, size=12)
    index = AskedIndex(vectors, rows, 8, tuple(f"piece {i}" for i in range(12)))
    query = rng.normal(size=5).astype(np.float32)
    slow = [max([0.0, *(float(v @ query) for v, r in zip(vectors, rows, strict=True) if r == row)]) for row in range(8)]
    assert np.allclose(index.scores(query), slow, atol=1e-5)
    order = sorted((row for row in range(8) if slow[row] > 0), key=lambda row: (-slow[row], row))
    assert [row for row, _ in index.search(query, 3)] == order[:3]
    for row in range(8):
        mine = [(f"piece {i}", pytest.approx(float(vectors[i] @ query), abs=1e-5)) for i in range(12) if rows[i] == row]
        assert index.about(row, query) == mine


def test_without_questions_nothing_is_found() -> None:
    index = AskedIndex.empty(4, 5)
    assert index.search(np.ones(5, dtype=np.float32), 3) == []
    assert index.scores(np.ones(5, dtype=np.float32)).tolist() == [0.0] * 4


def test_flatten_keeps_the_row_of_each_question() -> None:
    a, b, c = (Asked(question, "d", "s") for question in "abc")
    questions, rows = flatten([[a, b], [], [c]])
    assert questions == [a, b, c]
    assert rows.tolist() == [0, 0, 2]


def test_a_passage_is_found_by_words_that_only_its_question_holds(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "toxaemia.md").write_text("# Pregnancy toxaemia\n\nGive propylene glycol twice a day.\n")
    for number in range(12):
        (folder / f"other{number}.md").write_text(f"# Topic {number}\n\nThe ewe and her lambs number {number} graze the hill.\n")
    settings = Settings.load(home=tmp_path / "home")
    with Store.open(tmp_path / "store") as store:
        ingest([folder], store)
        home = next(p.id for p in store.all_passages() if "glycol" in p.text)
        question = "wobbly collapsed mother before birth"
        asked = Asked(question, "toxaemia", "propylene glycol")

        def first(retriever: Retriever) -> str:
            return retriever.search(question, 1)[0].passage.id

        without = Retriever.open(store, HashingEmbedder(), settings, tmp_path / "store")
        assert without.search(question, 1) == [] or first(without) != home
        assert without.signals(question, [home, "gone"])[2] == [None, None]  # no questions: the signal is not there at all
        with_questions = Retriever.open(
            store, HashingEmbedder(), settings, tmp_path / "store", asked_of=lambda passages: {home: (asked,)}
        )
        assert first(with_questions) == home
        near, unknown = with_questions.signals(question, [home, "gone"])[2]
        assert near is not None
        assert near > 0.99
        assert unknown == 0.0
        ((snippet, cosine),) = with_questions.asked_about(question, home) or ()
        assert (snippet, cosine) == ("propylene glycol", pytest.approx(near, abs=1e-5))
        assert with_questions.asked_about(question, "gone") == []
        assert without.asked_about(question, home) is None
        again = Retriever.open(store, HashingEmbedder(), settings, tmp_path / "store", asked_of=lambda passages: {home: (asked,)})
        assert first(again) == home  # loaded from the disk this time
