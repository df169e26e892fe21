"""The truth about a collection: its documents and passages in one SQLite file, each change in one transaction.

``generation`` grows with every change, in the same transaction, so that an index built from the store can tell
whether it is stale. The store knows no index and no file format. One connection behind a lock serves all threads;
other processes may read meanwhile (write-ahead log).
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from lqr.corpus import rows
from lqr.corpus.rows import DocumentInfo
from lqr.corpus.sqlite import REBUILD, connect, connect_read_only, explained
from lqr.errors import StoreError
from lqr.types import Document, Passage

__all__ = ["DocumentInfo", "FILE_NAME", "IdTakenError", "Outcome", "Store"]

Outcome = Literal["added", "unchanged", "replaced", "duplicate"]

FILE_NAME = "store.sqlite3"


class IdTakenError(StoreError):
    """The id of a document belongs to another source with another text."""


class Store:
    """Documents and passages of one collection; open it with :meth:`open`, use it as a context manager."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.path = path
        self._connection = connection
        self._file = _identity(path)
        self._lock = threading.RLock()
        self._depth = 0

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Store:
        """Open the store in ``folder``, creating or migrating it unless ``read_only``.

        Raises:
            StoreError: absent (read only), locked, damaged, of a newer version, or not writable.
        """
        path = folder / FILE_NAME
        connection = connect_read_only(path) if read_only else connect(path)
        return cls(connection, path)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; harmless when already closed."""
        with self._lock:
            self._connection.close()

    def renew(self) -> bool:
        """Open the file anew where another was put in its place (a collection fetched or made again); True if there was one.

        A file that was overwritten in place can't be told from the one that was opened.

        Raises:
            StoreError: the new file can't be opened, or this store was closed; it goes on with the old file.
        """
        with self._lock:
            self._rows("SELECT 1")
            found = _identity(self.path)
            if self._depth or found in (None, self._file):
                return False
            connection = connect(self.path)
            self._connection.close()  # SQLite sees that its file was moved and leaves the log of the new one alone
            self._connection, self._file = connection, found
            return True

    @property
    def generation(self) -> int:
        """Grows by one with every change."""
        return int(self._rows("SELECT generation FROM state")[0][0])

    # -- writing ---------------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make several changes one: all are kept, or none when the block raises. Other threads wait meanwhile.

        Raises:
            StoreError: locked by another process, no space, read only, or damaged.
        """
        with self._lock, explained(self.path):
            if self._depth:
                yield
                return
            self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # the first error tells more; SQLite may have rolled back by itself
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    def add(self, document: Document, passages: Sequence[Passage], *, file: str | None = None) -> Outcome:
        """Keep ``document`` with its passages.

        ``unchanged``: it is here as it is. ``duplicate``: the same content is here under another source
        (``document(document.id).source``). ``replaced``: another document had its source, or its id, and is gone.
        ``file`` is the source of the file that a record came from; by default the document's own source.

        Raises:
            IdTakenError: another source holds another text under the same id.
            StoreError: the file can't be written.
        """
        digest = rows.digest(document, passages)
        with self.transaction():
            same_id = self._row("SELECT source, digest, text FROM documents WHERE id = ?", document.id)
            same_source = self._row("SELECT id FROM documents WHERE source = ?", document.source)
            if same_id and same_id[0] == document.source and same_id[1] == digest:
                return "unchanged"
            if same_id and same_id[0] != document.source:
                if same_id[2] != document.text:
                    raise IdTakenError(
                        f"{document.source}: its id {document.id!r} is taken by another text, {same_id[0]}; make ids unique"
                    )
                if same_source:
                    self._remove(same_source[0])
                return "duplicate"
            for old in {row[0] for row in (same_source, (document.id,) if same_id else None) if row}:
                self._remove(old)
            self._insert(document, passages, digest, file or document.source)
            return "replaced" if same_source or same_id else "added"

    def delete(self, document_id: str) -> bool:
        """Remove a document with its passages; False when there is none. Its file will be read again when ingested."""
        with self.transaction():
            return self._remove(document_id)

    def delete_source(self, document_or_file: str) -> int:
        """Remove every document that came from the file of this source, and the mark of the file; returns how many."""
        with self.transaction():
            ids = [row[0] for row in self._connection.execute("SELECT id FROM documents WHERE file = ?", (document_or_file,))]
            for document_id in ids:
                self._remove(document_id)
            self._connection.execute("DELETE FROM files WHERE source = ?", (document_or_file,))
            return len(ids)

    def mark_file(self, source: str, digest: str, root: str) -> None:
        """Remember that a file was taken in: ``digest`` of its bytes, empty if it is to be read again, ``root`` its folder."""
        with self.transaction():
            self._connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", (source, digest, root))

    # -- reading ---------------------------------------------------------------------------------------------------

    def marked_files(self) -> dict[str, tuple[str, str]]:
        """Digest and root of every file that was taken in, by source; see :meth:`mark_file`."""
        return {source: (digest, root) for source, digest, root in self._rows("SELECT source, digest, root FROM files")}

    def sources_of(self, file: str) -> dict[str, str]:
        """Document ids by source, of the documents that came from the file of this source."""
        return dict(self._rows("SELECT source, id FROM documents WHERE file = ?", file))

    def document(self, document_id: str) -> Document:
        """The document.

        Raises:
            KeyError: there is none of this id.
        """
        row = self._row(f"{rows.DOCUMENT} WHERE id = ?", document_id)
        if row is None:
            raise KeyError(document_id)
        return rows.document_of(row)

    def documents(self) -> list[DocumentInfo]:
        """All documents, by source."""
        return [rows.info_of(row) for row in self._rows(rows.INFOS)]

    def passage(self, passage_id: str) -> Passage:
        """The passage.

        Raises:
            KeyError: there is none of this id.
        """
        row = self._row(rows.PASSAGES + "WHERE p.id = ?", passage_id)
        if row is None:
            raise KeyError(passage_id)
        return rows.passage_of(row)

    def passages(self, ids: Iterable[str]) -> list[Passage]:
        """The passages of ``ids`` in that order; ids whose document was deleted meanwhile are left out."""
        wanted = list(ids)
        found: dict[str, Passage] = {}
        with self._lock:
            for i in range(0, len(wanted), 500):  # SQLite bounds the number of parameters
                part = wanted[i : i + 500]
                marks = ",".join("?" * len(part))
                found.update(
                    (row[0], rows.passage_of(row)) for row in self._rows(f"{rows.PASSAGES}WHERE p.id IN ({marks})", *part)
                )
        return [found[wanted_id] for wanted_id in wanted if wanted_id in found]

    def all_passages(self) -> list[Passage]:
        """Every passage, by source and position: the same order however the documents came in."""
        return [rows.passage_of(row) for row in self._rows(rows.PASSAGES + "ORDER BY d.source, p.position")]

    def count(self) -> int:
        """How many passages there are."""
        return int(self._rows("SELECT COUNT(*) FROM passages")[0][0])

    def checksum(self) -> str:
        """SHA-256 (hex) of what the documents and passages hold: the same for the same content, whatever the generation."""
        with self._lock, explained(self.path):
            return rows.checksum(chain.from_iterable(map(self._connection.execute, rows.CONTENT)))

    def integrity_check(self) -> None:
        """Read the whole file and check it.

        Raises:
            StoreError: naming the first fault.
        """
        faults = [row[0] for row in self._rows("PRAGMA integrity_check(1)")]
        if faults != ["ok"]:
            raise StoreError(f"{self.path}: damaged ({faults[0]}); {REBUILD}")
        orphans = self._rows("PRAGMA foreign_key_check")
        if orphans:
            raise StoreError(f"{self.path}: damaged (a passage without its document); {REBUILD}")

    # -- inside ----------------------------------------------------------------------------------------------------

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._lock, explained(self.path):
            return self._connection.execute(query, values).fetchall()

    def _row(self, query: str, *values: Any) -> Any:
        found = self._rows(query, *values)
        return found[0] if found else None

    def _bump(self) -> None:
        self._connection.execute("UPDATE state SET generation = generation + 1")

    def _remove(self, document_id: str) -> bool:
        execute = self._connection.execute
        execute("UPDATE files SET digest = '' WHERE source = (SELECT file FROM documents WHERE id = ?)", (document_id,))
        if execute("DELETE FROM documents WHERE id = ?", (document_id,)).rowcount == 0:
            return False
        self._bump()
        return True

    def _insert(self, document: Document, passages: Sequence[Passage], digest: str, file: str) -> None:
        self._connection.execute(rows.INSERT_DOCUMENT, rows.document_row(document, digest, file))
        self._connection.executemany(rows.INSERT_PASSAGE, rows.passage_rows(document, passages))
        self._bump()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
