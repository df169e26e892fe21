"""Ingest: walking, resuming, pruning, odd names; one bad file never stops the rest."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lqr.corpus import ingest as ingest_module
from lqr.corpus.ingest import IngestProgress, ingest, taken_from
from lqr.corpus.store import Store
from lqr.errors import ReadError
from lqr.types import Document


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    return path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def sources(store: Store) -> list[str]:
    return [info.source for info in store.documents()]


def all_text(store: Store) -> str:
    return " ".join(passage.text for passage in store.all_passages())


def test_walk_is_sorted_and_counts_what_it_skips(store: Store, folder: Path, tmp_path: Path) -> None:
    write(folder, b="B.", a__z="Z.", README="about", **{".hidden": "h", ".git__x": "h", "licence-to-spray": "L."})
    (folder / "questions.jsonl").write_text('{"text": "the answer"}')
    (folder / "photo.png").write_bytes(b"\x89PNG")
    (tmp_path / "outside.md").write_text("secret")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    (folder / "loop.md").symlink_to(folder / "loop.md")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.md")
    seen: list[IngestProgress] = []
    report = ingest([folder], store, seen.append)
    assert [(p.done, p.total, p.source, p.outcome) for p in seen] == [
        (1, 3, "a/z.md", "added"),
        (2, 3, "b.md", "added"),
        (3, 3, "licence-to-spray.md", "added"),
    ]
    assert report.skipped == {
        "hidden": 2,
        "about the folder": 2,
        "unsupported type": 1,
        "symbolic link out of the folder": 1,
        "broken symbolic link": 1,
        "symbolic link to a folder": 1,
        "not a file": 1,
    }
    assert (report.added, report.passages) == (3, 3)


def test_one_bad_file_never_stops_the_rest(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, a="A.", c="C.")
    (folder / "b.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "fault.md").write_text("fault")
    split = ingest_module.split

    def faulty(document: Document) -> object:
        if document.source == "fault.md":
            raise RecursionError("deep")
        return split(document)

    monkeypatch.setattr(ingest_module, "split", faulty)
    report = ingest([folder], store)
    assert sources(store) == ["a.md", "c.md"]
    assert dict(report.failed) == {
        "b.pdf": "b.pdf: damaged; print it to PDF again",
        "empty.txt": "empty.txt: empty",
        "fault.md": "fault.md: the reader failed (RecursionError: deep); please report it",
    }


def test_second_run_reads_nothing_again(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, a="A.", b="B.")
    ingest([folder], store)
    generation = store.generation
    monkeypatch.setattr(ingest_module, "read_bytes", None)  # would raise if called
    report = ingest([folder], store)
    assert (report.unchanged, report.added, report.failed) == (2, 0, ())
    assert store.generation == generation


def test_new_format_reads_again(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, a="A.")
    ingest([folder], store)
    monkeypatch.setattr(ingest_module, "FORMAT", 99)
    calls: list[str] = []
    read = ingest_module.read_bytes
    monkeypatch.setattr(ingest_module, "read_bytes", lambda data, **keys: calls.append(keys["source"]) or read(data, **keys))
    assert ingest([folder], store).unchanged == 1
    assert calls == ["a.md"]


def test_changed_file_replaces_and_prune_removes(store: Store, folder: Path, tmp_path: Path) -> None:
    write(folder, a="Old copper fact.", b="B.")
    upload = tmp_path / "upload.md"
    upload.write_text("Upload.")
    ingest([folder, upload], store)
    write(folder, a="New copper fact.")
    (folder / "b.md").unlink()
    assert ingest([folder], store).replaced == 1
    assert sources(store) == ["a.md", "b.md", "upload.md"]
    report = ingest([folder], store, prune=True)
    assert report.removed == 1
    assert sources(store) == ["a.md", "upload.md"]  # what came from elsewhere stays
    assert "Old" not in all_text(store)


def test_renamed_file_with_prune_is_no_duplicate(store: Store, folder: Path) -> None:
    write(folder, a="Text.")
    ingest([folder], store)
    (folder / "a.md").rename(folder / "z.md")
    report = ingest([folder], store, prune=True)
    assert (report.removed, report.added, report.duplicates) == (1, 1, ())
    assert sources(store) == ["z.md"]


def test_swapped_files_keep_both_texts(store: Store, folder: Path) -> None:
    write(folder, a="One.", b="Two.")
    ingest([folder], store)
    write(folder, a="Two.", b="One.")
    report = ingest([folder], store)
    assert [(info.source, store.document(info.id).text) for info in store.documents()] == [("a.md", "Two."), ("b.md", "One.")]
    assert report.duplicates == ()


def test_same_file_twice_is_named_and_survives_its_twin(store: Store, folder: Path) -> None:
    write(folder, a="Same.", b="Same.")
    assert ingest([folder], store).duplicates == (("b.md", "a.md"),)
    assert ingest([folder], store).duplicates == (("b.md", "a.md"),)
    (folder / "a.md").unlink()
    ingest([folder], store, prune=True)
    assert sources(store) == ["b.md"]


def test_a_file_with_a_duplicate_record_is_pruned(store: Store, folder: Path) -> None:
    shared = '{"id": "s", "text": "Shared."}'
    (folder / "a.jsonl").write_text(shared)
    (folder / "b.jsonl").write_text(f'{shared}\n{{"id": "t", "text": "Secret text about goats."}}')
    assert ingest([folder], store).duplicates == (("b.jsonl#s", "a.jsonl#s"),)
    assert taken_from(store, folder) == {"s", "t"}
    (folder / "b.jsonl").unlink()
    assert ingest([folder], store, prune=True).removed == 1
    assert all_text(store) == "Shared."


def test_what_is_left_of_a_file_is_pruned_after_one_of_its_records_was_deleted(store: Store, folder: Path) -> None:
    path = folder / "a.jsonl"
    path.write_text('{"id": "s", "text": "One."}\n{"id": "t", "text": "Two."}')
    ingest([folder], store)
    store.delete("s")
    path.unlink()
    assert ingest([folder], store, prune=True).removed == 1
    assert all_text(store) == ""


def test_delete_then_ingest_again(store: Store, folder: Path) -> None:
    write(folder, a="A fact.")
    ingest([folder], store)
    store.delete(store.documents()[0].id)
    assert all_text(store) == ""
    assert ingest([folder], store).added == 1
    assert all_text(store) == "A fact."


def test_names_that_become_equal_and_odd_names(store: Store, folder: Path) -> None:
    names = ["a\u202e.md", "a.md", "羊🐑.md", "x" * 240 + "1.md", "x" * 240 + "2.md", "A.md"]
    for number, name in enumerate(names):
        (folder / name).write_text(f"Text {number}.")
    assert ingest([folder], store).added == 6
    assert sources(store) == ["A.md", "a (2).md", "a.md", "x" * 113 + " (2).md", "x" * 117 + ".md", "羊🐑.md"]
    assert ingest([folder], store).unchanged == 6


def test_two_folders_with_equal_names_and_overlap(store: Store, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write(one, x="One.")
    write(two, x="Two.")
    report = ingest([one, two, one / "x.md"], store)
    assert report.added == 2
    assert sources(store) == ["x (2).md", "x.md"]


def test_a_file_of_another_folder_replaces_the_one_of_the_same_relative_name(store: Store, tmp_path: Path) -> None:
    one, two = tmp_path / "v1" / "farm", tmp_path / "v2" / "farm"
    write(one, a="Ewes get 5 g.", b="Bulls get 6 g.", c="Cats get 7 g.")
    write(two, a="Ewes get 50 g.", b="Bulls get 60 g.", c="Cats get 7 g.")
    ingest([one], store, prune=True)
    report = ingest([two], store, prune=True)  # an upgrade that changes most files leaves none of the old
    assert (report.replaced, report.added, report.duplicates) == (2, 0, ())
    assert all_text(store) == "Ewes get 50 g. Bulls get 60 g. Cats get 7 g."
    assert ingest([two], store, prune=True).unchanged == 3


def test_a_file_given_by_itself_is_not_pruned_with_its_folder(store: Store, folder: Path) -> None:
    write(folder, README="About the notes.", notes="A fact.")
    ingest([folder / "README.md"], store)
    assert ingest([folder], store, prune=True).removed == 0
    assert sources(store) == ["README.md", "notes.md"]


def test_missing_path(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"none: no such file or folder"):
        ingest([tmp_path / "none"], store)


def test_records_of_a_file_come_and_go(store: Store, folder: Path) -> None:
    path = folder / "c.jsonl"

    def write_records(**records: str) -> None:
        path.write_text("\n".join(json.dumps({"id": key, "text": text}) for key, text in records.items()))

    write_records(a="One.", b="Two.")
    assert ingest([folder], store).added == 2
    write_records(b="Two.", c="Three.")
    report = ingest([folder], store)
    assert (report.added, report.unchanged, report.removed) == (1, 1, 1)
    assert [(info.id, info.source) for info in store.documents()] == [("b", "c.jsonl#b"), ("c", "c.jsonl#c")]
    path.unlink()
    assert ingest([folder], store, prune=True).removed == 2


def test_id_taken_by_another_file_is_named_and_the_file_is_whole_or_absent(store: Store, folder: Path) -> None:
    (folder / "a.jsonl").write_text('{"id": "k", "text": "One."}')
    (folder / "b.jsonl").write_text('{"id": "j", "text": "New."}\n{"id": "k", "text": "Other."}')
    report = ingest([folder], store)
    assert [source for source, _ in report.failed] == ["b.jsonl"]
    assert [info.id for info in store.documents()] == ["k"]


def test_cut_files_are_reported(store: Store, folder: Path) -> None:
    from lqr.corpus.readers import ReadLimits

    write(folder, a="word " * 100)
    report = ingest([folder], store, limits=ReadLimits(characters=40))
    assert report.truncated == (("a.md", "only the first 40 characters were read"),)


def test_stopped_run_goes_on_where_it_was(store: Store, folder: Path) -> None:
    write(folder, a="A.", b="B.", c="C.")

    def stop(step: IngestProgress) -> None:
        if step.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest([folder], store, stop)
    report = ingest([folder], store)
    assert (report.unchanged, report.added) == (2, 1)
