"""A running chat takes in what another process has ingested, and never waits for embeddings."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lqr.corpus.ingest import ingest
from lqr.corpus.store import Store
from lqr.errors import StoreError
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.retriever import Retriever
from lqr.service.freshness import QUIET, Freshness
from lqr.settings import Settings


def opened(store: Store, home: Path) -> Retriever:
    return Retriever.open(store, HashingEmbedder(64), Settings(profile="cpu", home=home), home)


def wait_for_refresh() -> None:
    for thread in threading.enumerate():
        if thread.name == "lqr-refresh":
            thread.join(10)


def test_what_another_process_ingested_is_found_at_the_next_question(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Alpha is told here.")
    (tmp_path / "b.md").write_text("Beta is told here.")
    home = tmp_path / "home"
    now = [0.0]
    with Store.open(home) as served, Store.open(home) as other:
        ingest([tmp_path / "a.md"], served)
        retriever = opened(served, home)
        freshness = Freshness(retriever, served, home, clock=lambda: now[0])
        freshness.check()
        assert retriever.search("beta", mode="bm25") == []
        ingest([tmp_path / "b.md"], other)
        freshness.check()  # the other process is still at it: no index of its own yet
        assert retriever.search("beta", mode="bm25") == []
        opened(other, home)  # as `lqr ingest` does at its end
        freshness.check()
        assert retriever.search("beta", mode="bm25")
        other.delete_source("a.md")
        opened(other, home)
        freshness.check()
        assert retriever.search("alpha", mode="bm25") == []


def test_without_an_index_it_is_built_in_the_background_once_the_store_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Alpha is told here.")
    home = tmp_path / "home"
    now = [0.0]
    with Store.open(home) as served, Store.open(home) as other:
        retriever = opened(served, home)
        freshness = Freshness(retriever, served, home, clock=lambda: now[0])
        ingest([tmp_path / "a.md"], other)
        freshness.check()
        now[0] += QUIET / 2
        freshness.check()
        wait_for_refresh()
        assert len(retriever) == 0
        now[0] += QUIET
        freshness.check()
        wait_for_refresh()
        assert len(retriever) == 1


class Broken:
    """A store that can't be read, and a retriever that can't be brought up to date."""

    generation = 1

    def refresh(self) -> bool:
        raise StoreError("no")


def test_a_failure_is_logged_and_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Unreadable:
        @property
        def generation(self) -> int:
            raise StoreError("locked")

    Freshness(Broken(), Unreadable(), tmp_path).check()
    assert "locked" in caplog.text
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "CURRENT").write_text("2-x")

    class Newer:
        generation = 2

    freshness = Freshness(Broken(), Newer(), tmp_path)
    for _ in range(2):
        freshness.check()
    assert caplog.text.count("can't be indexed") == 2
