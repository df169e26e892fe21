"""The store when the disk is full, when two processes write, when a run is cut off, and as a folder that is copied."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lqr.corpus.ingest import IngestProgress, ingest
from lqr.corpus.store import FILE_NAME, Store
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.retriever import Retriever
from lqr.settings import Settings

ROOT = Path(__file__).parent.parent


def run(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT)


INGEST = """
import sys
from pathlib import Path
from lqr.corpus.ingest import ingest
from lqr.corpus.store import Store
with Store.open(Path(sys.argv[1])) as store:
    ingest([Path(sys.argv[2])], store, lambda p: print(p.source, p.outcome, flush=True))
"""
FULL = """
import resource, signal, sys
from pathlib import Path
from lqr.corpus.ingest import ingest
from lqr.corpus.store import Store
from lqr.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit fails then, as on a full disk
with Store.open(Path(sys.argv[1])) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
    try:
        ingest([Path(sys.argv[2])], store, lambda p: print(p.source, p.outcome, flush=True))
    except StoreError as error:
        print("said", error)
"""


def folder_of(tmp_path: Path, name: str, count: int, words: int = 5) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    for n in range(count):
        (folder / f"{name}{n:04}.md").write_text(f"# File {name} {n}\n\n" + f"Unique {name}{n} sentence. " * words)
    return folder


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_FSIZE")
def test_a_full_disk_is_named_and_loses_nothing_that_was_done(tmp_path: Path) -> None:
    files = folder_of(tmp_path, "f", 60, words=300)
    lines = (run(FULL, str(tmp_path / "store"), str(files)).communicate(timeout=300)[0]).splitlines()
    (said,) = [line for line in lines if line.startswith("said")]
    assert "space" in said
    assert "nothing that was done is lost" in said
    assert "move it away" not in said  # the store is sound: nobody should throw it away
    done = {line.split()[0] for line in lines if line.endswith("added")}
    assert 0 < len(done) < 60
    with Store.open(tmp_path / "store") as store:
        store.integrity_check()
        assert {info.source for info in store.documents()} == done
        assert ingest([files], store).added == 60 - len(done)


def test_two_processes_on_one_store(tmp_path: Path) -> None:
    store_folder = tmp_path / "store"
    Store.open(store_folder).close()
    processes = [run(INGEST, str(store_folder), str(folder_of(tmp_path, name, 30))) for name in ("a", "b")]
    for process in processes:
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        assert len(out.splitlines()) == 30
    with Store.open(store_folder) as store:
        store.integrity_check()
        assert len(store.documents()) == 60
        assert store.generation == 60


def test_a_folder_of_a_thousand_files_goes_on_after_a_kill(tmp_path: Path) -> None:
    files = folder_of(tmp_path, "t", 1000)
    process = run(INGEST, str(tmp_path / "store"), str(files))
    assert process.stdout is not None
    told = [process.stdout.readline() for _ in range(100)]
    process.kill()
    told += process.stdout.read().splitlines(keepends=True)
    process.stdout.close()
    process.wait()
    done = {line.split()[0] for line in told if line.endswith("added\n")}
    assert len(done) >= 100
    seen: list[IngestProgress] = []
    with Store.open(tmp_path / "store") as store:
        held = {info.source for info in store.documents()}
        assert done <= held
        report = ingest([files], store, seen.append)
        assert (report.added, report.unchanged) == (1000 - len(held), len(held))
        assert store.count() == 1000
    assert (seen[-1].done, seen[-1].total) == (1000, 1000)


def test_a_copy_of_the_folder_is_a_backup(tmp_path: Path) -> None:
    """Also when the writer was killed and its log file still lies beside the store."""
    settings = Settings(profile="cpu", home=tmp_path)
    folder = tmp_path / "collection"
    with Store.open(folder) as store:
        ingest([folder_of(tmp_path, "f", 5)], store)
        Retriever.open(store, HashingEmbedder(64), settings, folder)
        assert (folder / f"{FILE_NAME}-wal").exists()
        shutil.copytree(folder, tmp_path / "copy")  # nothing writes meanwhile
        store.delete_source("f0001.md")
    embedder = HashingEmbedder(64)
    with Store.open(tmp_path / "copy") as restored:
        restored.integrity_check()
        assert len(restored.documents()) == 5
        retriever = Retriever.open(restored, embedder, settings, tmp_path / "copy")
        assert embedder.encoded == 0  # the indexes came along
        assert retriever.search("f1", mode="bm25")[0].passage.text.startswith("Unique f1")


def test_pages_of_a_long_file_are_told(tmp_path: Path) -> None:
    from test_corpus_readers import make_pdf

    (tmp_path / "long.pdf").write_bytes(make_pdf([[(72, 700, 11, b"Page number %d." % n)] for n in range(25)]))
    seen: list[IngestProgress] = []
    with Store.open(tmp_path / "store") as store:
        ingest([tmp_path / "long.pdf"], store, seen.append)
    assert [(p.outcome, p.pages) for p in seen] == [("reading", (10, 25)), ("reading", (20, 25)), ("added", None)]
