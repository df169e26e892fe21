"""A running chat takes in what another process has ingested, and never waits for embeddings."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lqr.app import build, collection_folder
from lqr.corpus.ingest import ingest
from lqr.corpus.store import Store
from lqr.errors import StoreError
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.retriever import Retriever
from lqr.service.freshness import QUIET, Freshness
from lqr.service.sessions import Sessions
from lqr.service.watch import WatchedPipeline, watched
from lqr.settings import Settings
from lqr.types import Document, Passage


def opened(store: Store, home: Path) -> Retriever:
    return Retriever.open(store, HashingEmbedder(64), Settings(profile="cpu", home=home), home)


def written(name: str) -> tuple[Document, list[Passage]]:
    text = f"{name} is told here."
    return Document(name, name, text, (), f"{name}.md"), [Passage(f"{name}-0", name, name, (), text, 0, 0, len(text))]


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


def test_a_store_put_in_the_place_of_another_is_noticed_at_the_same_generation(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.md").write_text("Alpha is told here.")
    (tmp_path / "b.md").write_text("Beta is told here.")
    home, made = tmp_path / "home", tmp_path / "made"
    now = [0.0]
    with Store.open(made) as other:
        ingest([tmp_path / "b.md"], other)
    with Store.open(home) as served:
        ingest([tmp_path / "a.md"], served)
        retriever = opened(served, home)
        freshness = Freshness(retriever, served, home, clock=lambda: now[0])
        freshness.check()
        home.rename(tmp_path / "old")
        freshness.check()  # in the middle of the exchange: nothing is there
        assert retriever.search("alpha", mode="bm25")
        made.rename(home)
        freshness.check()
        assert served.generation == retriever.generation == 1
        now[0] += 2 * QUIET
        freshness.check()
        wait_for_refresh()
        assert [document.source for document in served.documents()] == ["b.md"]
        assert retriever.search("alpha", mode="bm25") == []
        assert retriever.search("beta", mode="bm25")
        before = retriever._snapshot
        freshness.check()
        wait_for_refresh()
        assert retriever._snapshot is before
        served.add(*written("c"))  # the new file takes changes
    with Store.open(home) as again:
        assert again.generation == 2
        again.integrity_check()


class Broken:
    """A store that can't be read, and a retriever that can't be brought up to date."""

    generation = 1

    def refresh(self, *, anew: bool) -> bool:
        raise StoreError("no")


def test_a_failure_is_logged_and_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Unreadable:
        def renew(self) -> bool:
            return False

        @property
        def generation(self) -> int:
            raise StoreError("locked")

    Freshness(Broken(), Unreadable(), tmp_path).check()
    assert "locked" in caplog.text
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "CURRENT").write_text("2-x")

    class Newer:
        generation = 2

        def renew(self) -> bool:
            return False

    freshness = Freshness(Broken(), Newer(), tmp_path)
    for _ in range(2):
        freshness.check()
    assert caplog.text.count("can't be indexed") == 2


def test_each_library_of_a_running_chat_sees_its_own_changes_and_their_names(tmp_path: Path) -> None:
    """Whole applications: the library of the start, another one, and own documents beside it."""
    settings = Settings(
        profile="cpu", home=tmp_path, knowledge=tmp_path / "k", models=tmp_path / "m", collection="farm", libraries="fish"
    )
    for name, document in (("farm", "salt"), ("fish", "carp")):
        with Store.open(collection_folder(settings, name)) as store:
            store.add(*written(document))
    served, _ = watched(build(settings, embedder=HashingEmbedder(64)))
    sessions = Sessions(served)
    try:
        mine = sessions.open("session-of-anna")
        sessions.choose_library("session-of-anna", "fish")
        mine.add("mill.md", b"# Mill\n\nThe mill grinds oats.\n")
        fish = sessions.libraries.application("fish")
        for application in (served, fish, mine.application):
            application.pipeline.ask("What is told of tench?")
        for name, document in (("farm", "barley"), ("fish", "tench")):
            folder = collection_folder(settings, name)
            with Store.open(folder) as other:
                other.add(*written(document))
                other.delete("carp")
                opened(other, folder)  # as `lqr ingest` does at its end
        for application, new, old in ((served, "barley", None), (fish, "tench", "carp"), (mine.application, "tench", "carp")):
            answer = application.pipeline.ask(f"What is told of {new}?")
            assert f"{new} is told here" in answer.text
            pipeline = application.pipeline
            assert isinstance(pipeline, WatchedPipeline)
            assert pipeline.up_to_date is not None
            now = pipeline.up_to_date.of(pipeline)
            assert now.entities(f"a {new} or a carp") == [new]
            assert now.layered.names(new) == [new]
            assert pipeline.up_to_date.of(pipeline).entities is now.entities  # made once
            if old:
                assert application.retriever.search(old, mode="bm25") == []
    finally:
        sessions.close()
        served.close()
