"""A collection goes to a data set repository and comes back ready to be asked; what was tampered with does not."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hub_fixtures import hub_server
from hub_server import TOKEN, HubServer

from lqr.app import build, collection_folder
from lqr.corpus.ingest import ingest
from lqr.corpus.store import Store
from lqr.errors import HubError
from lqr.hub.collections import pull_collection, push_collection
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.retriever import Retriever
from lqr.settings import ROOT, Settings

if TYPE_CHECKING:
    from lqr.retrieval.dense import SentenceEmbedder

__all__ = ["hub_server"]

TEXT = "# Footrot\n\nFootrot is treated with a footbath of ten per cent zinc sulphate.\n"


def make_collection(settings: Settings, source: Path, name: str = "farm") -> Path:
    source.mkdir(exist_ok=True)
    (source / "footrot.md").write_text(TEXT)
    folder = collection_folder(settings, name)
    with Store.open(folder) as store:
        ingest([source], store)
        Retriever.open(store, HashingEmbedder(), settings, folder)
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(profile="cpu", home=tmp_path / "home", knowledge=tmp_path / "none")


def test_there_and_back_with_its_index(hub_server: HubServer, settings: Settings, tmp_path: Path) -> None:
    folder = make_collection(settings, tmp_path / "source")
    pushed = push_collection(folder, "me/farm", license_name="cc-by-4.0")
    names = set(hub_server.files("me/farm", "dataset"))
    assert {"store.sqlite3", "README.md", "manifest.json", "index/CURRENT"} <= names
    assert any(name.startswith("index/") and name.endswith("vectors.npy") for name in names)
    assert hub_server.repos["datasets/me/farm"].private
    other = Settings(profile="cpu", home=tmp_path / "elsewhere", knowledge=tmp_path / "none")
    target = collection_folder(other, "farm")
    assert pull_collection("me/farm", target).revision == pushed.revision

    embedder = HashingEmbedder()
    with Store.open(target) as store:
        retriever = Retriever.open(store, embedder, other, target)
        assert embedder.encoded == 0  # the index that came along is the valid one
        assert "zinc" in retriever.search("zinc sulphate footbath", 1)[0].passage.text


@pytest.mark.parametrize("name", ["a#b", "100%41", "what?mode=rw"])
def test_a_folder_may_have_any_name(hub_server: HubServer, settings: Settings, tmp_path: Path, name: str) -> None:
    odd = replace(settings, home=tmp_path / name / "home")
    pushed = push_collection(make_collection(odd, tmp_path / "source"), "me/farm")
    elsewhere = tmp_path / name / "elsewhere" / "farm"
    assert pull_collection("me/farm", elsewhere).revision == pushed.revision
    assert {path.name for path in tmp_path.iterdir()} == {name, "source"}  # nothing was made beside it


def test_only_what_changed_goes_up_again(hub_server: HubServer, settings: Settings, tmp_path: Path) -> None:
    folder = make_collection(settings, tmp_path / "source")
    push_collection(folder, "me/farm")
    assert not push_collection(folder, "me/farm").changes.any
    with Store.open(folder) as store:
        store.delete(store.documents()[0].id)
    changes = push_collection(folder, "me/farm").changes
    assert "store.sqlite3" in changes.changed
    stored = hub_server.files("me/farm", "dataset")["store.sqlite3"]
    assert b"zinc" not in stored  # what was deleted is not in what is published either


def test_a_collection_of_ones_own_is_not_overwritten(hub_server: HubServer, settings: Settings, tmp_path: Path) -> None:
    folder = make_collection(settings, tmp_path / "source")
    push_collection(folder, "me/farm")
    with pytest.raises(HubError, match="not fetched from the Hub"):
        pull_collection("me/farm", folder)
    other = folder.with_name("thesis")
    other.mkdir()
    (other / "chapter.txt").write_text("years of work")
    with pytest.raises(HubError, match="not fetched from the Hub"):
        pull_collection("me/farm", other)  # no collection, and not ours either
    assert (other / "chapter.txt").read_text() == "years of work"
    (other / "chapter.txt").unlink()
    pull_collection("me/farm", other)


@pytest.mark.parametrize("indexed", [True, False])
def test_a_fetched_collection_is_fetched_again_until_its_documents_change(
    hub_server: HubServer, settings: Settings, tmp_path: Path, indexed: bool
) -> None:
    folder = make_collection(settings, tmp_path / "source")
    if not indexed:
        shutil.rmtree(folder / "index")
    push_collection(folder, "me/farm")
    copy = folder.with_name("copy")
    pull_collection("me/farm", copy)
    pull_collection("me/farm", copy)
    if indexed:
        with Store.open(copy) as store:  # to ask it changes its bytes, and the index is made again for another embedder
            Retriever.open(store, HashingEmbedder(32), settings, copy)
        pull_collection("me/farm", copy)
    (copy / "notes.txt").write_text("mine")
    with pytest.raises(HubError, match=r"notes\.txt is not in manifest\.json, and pulling would delete it"):
        pull_collection("me/farm", copy)
    (copy / "notes.txt").unlink()
    (tmp_path / "source" / "orf.md").write_text("# Orf\n\nOrf heals by itself.\n")
    with Store.open(copy) as store:
        ingest([tmp_path / "source"], store)
    with pytest.raises(HubError, match=r"store\.sqlite3 was changed since it was fetched"):
        pull_collection("me/farm", copy)
    with Store.open(copy) as store:
        assert len(store.documents()) == 2


def remade(folder: Path, text: str) -> int:
    """The collection in ``folder`` made anew with one document of ``text``, and its generation."""
    for file in folder.glob("store.sqlite3*"):
        file.unlink()
    source = folder.parent / "new"
    source.mkdir(exist_ok=True)
    (source / "footrot.md").write_text(text)
    with Store.open(folder) as store:
        ingest([source], store)
        return store.generation


def test_what_the_documents_hold_is_compared_not_how_often_they_changed(
    hub_server: HubServer, settings: Settings, tmp_path: Path
) -> None:
    folder = make_collection(settings, tmp_path / "source")
    push_collection(folder, "me/farm")
    copy = folder.with_name("copy")
    pull_collection("me/farm", copy)
    with Store.open(copy) as store:
        fetched_as = store.generation
    assert remade(copy, "# Footrot\n\nFootrot is treated by a vet.\n") == fetched_as
    with pytest.raises(HubError, match=r"store\.sqlite3 was changed since it was fetched"):
        pull_collection("me/farm", copy)
    remade(copy, TEXT)
    with Store.open(copy) as store:  # a document more and less: another generation, the same documents
        (tmp_path / "source" / "orf.md").write_text("# Orf\n\nOrf heals by itself.\n")
        ingest([tmp_path / "source"], store)
        store.delete_source("orf.md")
        assert store.generation > fetched_as
    pull_collection("me/farm", copy)
    note = json.loads((copy / "origin.json").read_text())
    del note["documents"]  # fetched by an earlier version, which did not write it down
    (copy / "origin.json").write_text(json.dumps(note))
    pull_collection("me/farm", copy)  # byte for byte as it came
    (copy / "origin.json").write_text(json.dumps(note))
    with Store.open(copy) as store:
        store.delete_source("footrot.md")
    with pytest.raises(HubError, match=r"it can't be told whether store\.sqlite3 was changed"):
        pull_collection("me/farm", copy)


def test_a_store_that_was_tampered_with_is_refused(hub_server: HubServer, settings: Settings, tmp_path: Path) -> None:
    folder = make_collection(settings, tmp_path / "source")
    push_collection(folder, "me/farm")
    files = hub_server.files("me/farm", "dataset")

    hub_server.put("me/farm", "dataset", files | {"store.sqlite3": files["store.sqlite3"][:-1] + b"x"})
    with pytest.raises(HubError, match=r"store.sqlite3 was changed"):
        pull_collection("me/farm", folder.with_name("copy"))

    # Without a manifest nothing but the content itself can tell.
    evil = tmp_path / "evil.sqlite3"
    evil.write_bytes(files["store.sqlite3"])
    with sqlite3.connect(evil) as connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON documents BEGIN DELETE FROM documents; END")
    bare = {name: content for name, content in files.items() if name != "manifest.json"}
    hub_server.put("me/evil", "dataset", bare | {"store.sqlite3": evil.read_bytes()})
    with pytest.raises(HubError, match=r"store.sqlite3 has other tables"):
        pull_collection("me/evil", folder.with_name("copy"))

    hub_server.put("me/junk", "dataset", bare | {"store.sqlite3": b"SQLite format 3\0" + b"junk" * 400})
    with pytest.raises(HubError, match=r"store.sqlite3 is damaged"):
        pull_collection("me/junk", folder.with_name("copy"))
    hub_server.put("me/other", "dataset", {"data.csv": b"a,b"})
    with pytest.raises(HubError, match="no collection"):
        pull_collection("me/other", folder.with_name("copy"))
    assert not folder.with_name("copy").exists()


def test_there_must_be_a_collection(hub_server: HubServer, settings: Settings) -> None:
    with pytest.raises(HubError, match="lqr ingest"):
        push_collection(collection_folder(settings, "nothing"), "me/farm")


@pytest.mark.model
def test_push_pull_load_and_answer_as_a_person_does_it(
    hub_server: HubServer, embedder: SentenceEmbedder, tmp_path: Path, isolated: Path
) -> None:
    """The commands, the real client found by its own variables, the real relevance model, one question."""
    home = tmp_path / "home"
    settings = Settings(profile="cpu", home=home, knowledge=tmp_path / "none")
    source = tmp_path / "source"
    source.mkdir()
    (source / "footrot.md").write_text(TEXT)
    folder = collection_folder(settings, "farm")
    with Store.open(folder) as store:
        ingest([source], store)
        Retriever.open(store, embedder, settings, folder)

    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("LQR_", "HF_"))},
        "HF_ENDPOINT": hub_server.endpoint,
        "HF_TOKEN": TOKEN,
        "HF_HUB_DISABLE_XET": "1",
        "HF_HOME": str(tmp_path / "huggingface"),
        "LQR_HOME": str(home),
        "LQR_MODELS": str(tmp_path / "models"),
    }

    def lqr(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "lqr", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert TOKEN not in done.stdout + done.stderr
        return done.stdout

    assert "new" in lqr("hub", "push", str(ROOT / "models" / "relevance"), "--to", "me/relevance")
    assert "new" in lqr("hub", "push", "--collection", "farm", "--to", "me/farm")
    shutil.rmtree(folder)
    assert "checked and pinned" in lqr("hub", "pull", "me/relevance")
    assert "checked and pinned" in lqr("hub", "pull", "me/farm", "--collection", "farm")
    fetched = Settings(profile="cpu", home=home, knowledge=tmp_path / "none", models=tmp_path / "models", collection="farm")
    application = build(fetched, embedder=embedder)
    try:
        assert any(line.startswith("relevance") and "models/relevance" in line for line in application.startup)
        answer = application.pipeline.ask("How is footrot treated?")
    finally:
        application.close()
    assert not answer.refused
    assert "zinc sulphate" in answer.text
    assert answer.sources[0].title == "Footrot"
