"""The store: outcomes, generations, transactions, errors with a way out."""

from __future__ import annotations

import dataclasses
import json
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lqr.corpus import sqlite
from lqr.corpus.passages import split
from lqr.corpus.readers import read_bytes
from lqr.corpus.store import FILE_NAME, IdTakenError, Store
from lqr.errors import StoreError
from lqr.types import Document, Passage


def made(text: str, source: str = "a.md") -> tuple[Document, tuple[Passage, ...]]:
    (document,) = read_bytes(text.encode(), source=source)
    return document, split(document)


TEXT = "---\ntitle: Copper\nspecies: [sheep]\n---\nLead [x](y.md).\n\n## Signs\n\n| A | B |\n|--|--|\n| 1 | 2 |\n"


def test_what_goes_in_comes_out_after_reopening(tmp_path: Path) -> None:
    document, passages = made(TEXT)
    with Store.open(tmp_path / "new" / "folder") as store:
        assert store.add(document, passages) == "added"
    with Store.open(tmp_path / "new" / "folder", read_only=True) as store:
        assert store.document(document.id) == document
        assert tuple(store.all_passages()) == passages
        assert store.passage(passages[1].id) == passages[1]
        (info,) = store.documents()
        assert (info.id, info.title, info.source, info.passages, info.characters) == (
            document.id,
            "Copper",
            "a.md",
            2,
            len(document.text),
        )
        assert info.metadata == {"species": ["sheep"]}
        store.integrity_check()


def test_outcomes_and_generation(tmp_path: Path) -> None:
    first, second = made("One.", "a.md"), made("Two.", "a.md")
    with Store.open(tmp_path) as store:
        seen = [store.generation]

        def add(pair: tuple[Document, tuple[Passage, ...]]) -> str:
            outcome = store.add(*pair)
            seen.append(store.generation)
            return outcome

        assert [add(first), add(first), add(second), add(made("Two.", "b.md")), add(made("Three.", "b.md"))] == [
            "added",
            "unchanged",
            "replaced",
            "duplicate",
            "added",
        ]
        assert seen[1] == seen[2]
        assert seen[3] == seen[4]
        assert seen[0] < seen[1] < seen[3] < seen[5]
        assert [info.source for info in store.documents()] == ["a.md", "b.md"]
        with pytest.raises(KeyError):
            store.document(first[0].id)
        with pytest.raises(KeyError):
            store.passage(first[1][0].id)


def test_the_checksum_is_that_of_the_content_however_it_came(tmp_path: Path) -> None:
    one, two = made("One.", "a.md"), made("Two.", "b.md")
    with Store.open(tmp_path / "x") as store, Store.open(tmp_path / "y") as other:
        empty = store.checksum()
        for pair in (one, two):
            store.add(*pair)
        for pair in (two, one, made("Three.", "c.md")):
            other.add(*pair)
        assert store.checksum() != other.checksum()
        other.delete_source("c.md")
        assert store.generation != other.generation
        assert store.checksum() == other.checksum() != empty
        store._connection.execute("UPDATE passages SET text = 'Zwei.' WHERE text = 'Two.'")  # no generation, no digest tells
        assert store.checksum() != other.checksum()


def test_a_better_splitter_replaces_equal_bytes(tmp_path: Path) -> None:
    document, passages = made(TEXT)
    with Store.open(tmp_path) as store:
        store.add(document, passages)
        assert store.add(document, passages[:1]) == "replaced"
        assert store.count() == 1


def test_source_that_becomes_a_duplicate_loses_its_old_text(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.add(*made("One.", "a.md"))
        store.add(*made("Two.", "b.md"))
        assert store.add(*made("One.", "b.md")) == "duplicate"
        assert [p.text for p in store.all_passages()] == ["One."]


def test_id_of_another_text_is_refused(tmp_path: Path) -> None:
    document, passages = made("One.")
    with Store.open(tmp_path) as store:
        store.add(document, passages)
        with pytest.raises(IdTakenError, match=r"b\.md: its id .* is taken by another text, a\.md"):
            store.add(dataclasses.replace(document, text="Other.", source="b.md"), ())


def test_delete_then_add_again(tmp_path: Path) -> None:
    document, passages = made(TEXT)
    with Store.open(tmp_path) as store:
        store.add(document, passages)
        before = store.generation
        assert store.delete(document.id)
        assert not store.delete(document.id)
        assert store.generation == before + 1
        assert store.count() == 0
        assert store.add(document, passages) == "added"
        assert store.passages([passages[1].id, "gone-0", passages[0].id]) == [passages[1], passages[0]]


def test_many_ids_and_stable_order(tmp_path: Path) -> None:
    pairs = [made(f"Text {n}.", f"{n:04}.md") for n in range(1200)]
    with Store.open(tmp_path) as store:
        with store.transaction():
            for pair in reversed(pairs):
                store.add(*pair)
        ordered = [passages[0].id for _, passages in pairs]
        assert [p.id for p in store.all_passages()] == ordered
        assert [p.id for p in store.passages(reversed(ordered))] == ordered[::-1]


def test_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.add(*made("One."))
        generation = store.generation

        def fail() -> None:
            with store.transaction():
                store.add(*made("Two.", "b.md"))
                raise RuntimeError("stop")

        with pytest.raises(RuntimeError, match="stop"):
            fail()
        assert (store.count(), store.generation) == (1, generation)


def test_threads_share_a_store(tmp_path: Path) -> None:
    failures: list[BaseException] = []
    with Store.open(tmp_path) as store:

        def work(number: int) -> None:
            try:
                for n in range(10):
                    store.add(*made(f"Text {number} {n}.", f"{number}-{n}.md"))
                    assert len(store.all_passages()) <= 80
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert (store.count(), store.generation) == (80, 80)


def test_kill_keeps_what_was_reported(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from lqr.corpus.passages import split
from lqr.corpus.readers import read_bytes
from lqr.corpus.store import Store
store = Store.open(Path(sys.argv[1]))
for n in range(10**6):
    (document,) = read_bytes(f"Text {n}.".encode(), source=f"{n}.md")
    store.add(document, split(document))
    print(document.id, flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent
    )
    assert process.stdout is not None
    done = [process.stdout.readline().strip() for _ in range(20)]
    process.kill()
    process.wait()
    done += process.stdout.read().split("\n")[:-1]
    process.stdout.close()
    with Store.open(tmp_path) as store:
        store.integrity_check()
        kept = {info.id for info in store.documents()}
        assert set(done) <= kept
        assert store.count() == len(kept) == store.generation


# -- errors ------------------------------------------------------------------------------------------------------------


def test_newer_version_is_refused(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"newer version of lqr \(format 99\)"):
            Store.open(tmp_path, read_only=read_only)


def test_migration_runs_once_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path) as store:
        store.add(*made("One."))
    monkeypatch.setattr(
        sqlite, "MIGRATIONS", (*sqlite.MIGRATIONS, "CREATE TABLE extra (x); INSERT INTO extra VALUES (1); BROKEN")
    )
    with pytest.raises(StoreError):
        Store.open(tmp_path)
    with pytest.raises(StoreError, match=r"older format"):
        Store.open(tmp_path, read_only=True)
    monkeypatch.setattr(sqlite, "MIGRATIONS", (sqlite.MIGRATIONS[0], "CREATE TABLE extra (x); INSERT INTO extra VALUES (1)"))
    for _ in range(2):
        with Store.open(tmp_path) as store:
            assert store.count() == 1
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        assert connection.execute("SELECT COUNT(*) FROM extra").fetchone() == (1,)
    connection.close()


def test_damaged_files_are_named_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"this is no database" * 100)
    for read_only in (False, True):
        with pytest.raises(StoreError, match=rf"{FILE_NAME}: damaged .*move it away and run `lqr ingest` again"):
            Store.open(tmp_path, read_only=read_only)


def test_damage_inside_is_found(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store, store.transaction():
        for n in range(300):
            store.add(*made(f"Text {n}. " * 20, f"{n}.md"))
    path = tmp_path / FILE_NAME
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 8192] = b"\xff" * 8192
    path.write_bytes(data)
    with Store.open(tmp_path) as store, pytest.raises(StoreError, match="damaged"):
        store.integrity_check()


def test_locked_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    with Store.open(tmp_path) as writer, Store.open(tmp_path) as other:
        with writer.transaction():
            writer.add(*made("One."))
            assert other.count() == 0  # readers go on meanwhile
            with pytest.raises(StoreError, match="another process is writing"):
                other.add(*made("Two.", "b.md"))
        assert other.add(*made("Two.", "b.md")) == "added"


def test_no_space(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.add(*made("One."))
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="no space left"):
            store.add(*made("word " * 20_000, "b.md"))
        assert [p.text for p in store.all_passages()] == ["One."]
        store._connection.execute("PRAGMA max_page_count = 100000")
        assert store.add(*made("Two.", "b.md")) == "added"


def test_read_only(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no store here yet; run `lqr ingest` first"):
        Store.open(tmp_path, read_only=True)
    assert not list(tmp_path.iterdir())
    Store.open(tmp_path).close()
    with Store.open(tmp_path, read_only=True) as store, pytest.raises(StoreError, match="can't be written"):
        store.add(*made("One."))


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_read_only_folder(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.add(*made("One."))
    tmp_path.chmod(0o500)
    try:
        with Store.open(tmp_path, read_only=True) as store:
            assert store.count() == 1
        with pytest.raises(StoreError, match="LQR_HOME"):
            Store.open(tmp_path / "below")
    finally:
        tmp_path.chmod(0o700)


def test_folder_that_is_a_file_and_closed_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="choose another folder with LQR_HOME"):
        Store.open(tmp_path / "file")
    store = Store.open(tmp_path / "s")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.count()


def test_metadata_is_plain_json_in_the_file(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.add(*made(TEXT))
        (row,) = store._connection.execute("SELECT metadata FROM documents").fetchone()
    assert json.loads(row) == {"species": ["sheep"]}
