"""Publishes a collection (its store and its indexes) as a data set repository, and fetches it back ready to be asked.

What goes up is a snapshot of the SQLite file, the valid index, a card and a manifest. What comes down must have exactly
the tables that this program makes, and is opened and checked before it takes its place. New repositories are private: they
hold whole documents. Knows no document's meaning.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from lqr import manifest
from lqr.corpus.profile import FILE_NAME as PROFILE
from lqr.corpus.sqlite import connect_read_only, explained
from lqr.corpus.store import FILE_NAME as STORE
from lqr.corpus.store import Store
from lqr.errors import HubError, LqrError
from lqr.hub import client as hub
from lqr.hub.models import fetched, kept


def push_collection(folder: Path, repo: str, *, client: Any = None, private: bool = True, license_name: str = "") -> hub.Pushed:
    """Bring the data set ``repo`` to what the collection in ``folder`` holds, in one commit.

    Args:
        license_name: of the documents, for the card; none is claimed if it is left out.

    Raises:
        HubError: no such collection, or the Hub refuses or breaks off.
        StoreError: the store is damaged.
    """
    if not (folder / STORE).is_file():
        raise HubError(f"{folder}: no collection there; run `lqr ingest PATH --collection {folder.name}` first")
    with tempfile.TemporaryDirectory() as work:
        files = _snapshot(folder, Path(work), license_name)
        return hub.push(client or hub.api(), repo, "dataset", files, message=f"Update collection {folder.name}", private=private)


def pull_collection(repo: str, folder: Path, *, client: Any = None, revision: str | None = None) -> manifest.Origin:
    """Fetch the data set ``repo`` at ``revision`` and put it at ``folder`` as a whole or not at all.

    Only an earlier pull whose documents nobody has changed is replaced, as by :func:`~lqr.hub.models.pull_model`.

    Raises:
        HubError: not there, tampered with, or no collection (the file is named), or ``folder`` holds what no pull could bring
            back; ``folder`` is as it was then.
    """
    if problem := kept(folder, changes=_changes) or _changed_documents(folder):
        raise HubError(f"{folder}: {problem}, and pulling would delete it; move it away, or choose another name")
    return fetched(repo, folder, "dataset", revision, client or hub.api(), _collection_problem, _checksum)


def _snapshot(folder: Path, work: Path, license_name: str) -> dict[str, Path | bytes]:
    copy = work / STORE
    with Store.open(folder, read_only=True) as store:
        store.integrity_check()
        documents, passages, generation = len(store.documents()), store.count(), store.generation
    # A copy through SQLite is whole even while somebody writes; VACUUM leaves deleted documents out of it.
    with explained(folder / STORE), closing(connect_read_only(folder / STORE)) as source:
        source.execute("VACUUM INTO ?", (str(copy),))
    with closing(sqlite3.connect(copy)) as target:
        target.execute("PRAGMA journal_mode = DELETE")
    files: dict[str, Path | bytes] = {STORE: copy}
    if (folder / PROFILE).is_file():
        files[PROFILE] = folder / PROFILE
    pointer = folder / "index" / "CURRENT"
    if pointer.is_file():
        current = folder / "index" / pointer.read_text(encoding="utf-8").strip()
        # Under a name that only depends on the content's generation: else every upload would be a new folder.
        inside = f"index/{generation}-hub"
        for path in sorted(current.rglob("*")):
            if path.is_file():
                files[f"{inside}/{path.relative_to(current).as_posix()}"] = path
        files["index/CURRENT"] = f"{generation}-hub".encode()
    for name in files:
        try:
            manifest.checked_name(name)
        except ValueError as error:
            raise HubError(f"{folder}: {error}") from error
    files["README.md"] = _card(folder.name, documents, passages, license_name).encode()
    files[manifest.MANIFEST] = manifest.make(files)
    return files


def _changes(name: str) -> bool:
    """Whether a file of a collection changes by use: a store that is only opened has other bytes, and indexes are made again."""
    return name.startswith((STORE, "index/"))


def _changed_documents(folder: Path) -> str:
    """Whether the documents of a fetched store are others than those that came; empty if not.

    Those of a collection fetched by a version that wrote no checksum down must lie in a file that has its bytes still.
    """
    origin = manifest.origin(folder)
    if origin is None or not (folder / STORE).is_file():
        return ""
    if not origin.documents:
        entries = json.loads((folder / manifest.MANIFEST).read_text(encoding="utf-8"))["files"]
        same = manifest.sha256(folder / STORE) == entries.get(STORE, {}).get("sha256")
        return "" if same else f"it can't be told whether {STORE} was changed since it was fetched"
    try:
        same = _checksum(folder) == origin.documents
    except LqrError as error:
        return f"{STORE} can't be read ({error})"
    return "" if same else f"{STORE} was changed since it was fetched"


def _checksum(folder: Path) -> str:
    with Store.open(folder, read_only=True) as store:
        return store.checksum()


def _card(name: str, documents: int, passages: int, license_name: str) -> str:
    head = f"license: {license_name}\n" if license_name else ""
    return (
        f"---\npretty_name: {name}\n{head}tags:\n- lqr-collection\n---\n\n# Collection {name}\n\n"
        f"{documents} documents in {passages} passages with their BM25, dense and graph indexes, for lqr:\n\n"
        f"```sh\nlqr hub pull OWNER/NAME --collection {name}\nlqr ask QUESTION --collection {name}\n```\n\n"
        "`store.sqlite3` holds the documents; what lies in `index/` is derived from it and is made again where it does not fit.\n"
    )


def _collection_problem(folder: Path) -> str:
    """What is wrong with a fetched collection, naming the file; empty if nothing."""
    path = folder / STORE
    if not path.is_file():
        return f"{STORE} is missing: this data set is no collection"
    try:
        if _schema(path) != _own_schema():
            return f"{STORE} has other tables than this program makes; it is of another version, or was tampered with"
        with Store.open(folder, read_only=True) as store:
            store.integrity_check()
    except (LqrError, sqlite3.Error) as error:
        return f"{STORE} is damaged ({error})"
    return ""


def _own_schema() -> set[tuple[str, str, str]]:
    folder = Path(tempfile.mkdtemp())
    try:
        Store.open(folder).close()
        return _schema(folder / STORE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _schema(path: Path) -> set[tuple[str, str, str]]:
    """Every table, index, view and trigger with its SQL: a trigger of a stranger's would run when we write."""
    address = path.absolute().as_uri() + "?mode=ro&immutable=1"  # not Store's way: a stranger's file is only looked at
    with closing(sqlite3.connect(address, uri=True)) as connection:
        rows = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        return {(kind, name, " ".join((sql or "").split())) for kind, name, sql in rows}
