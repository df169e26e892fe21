"""Opens the store's SQLite file: connections, migrations, and errors that name a way out.

It knows the schema's history, not what the tables mean.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lqr.errors import StoreError

BUSY_SECONDS = 30.0  # how long to wait for another process that writes; a busy machine is slow
REBUILD = "move it away and run `lqr ingest` again"

# Step n brings a store from version n to n + 1. Only ever append: stores of every earlier version are about.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), generation INTEGER NOT NULL);
    INSERT INTO state VALUES (1, 0);
    CREATE TABLE documents (
        id TEXT PRIMARY KEY, source TEXT NOT NULL UNIQUE, title TEXT NOT NULL, media_type TEXT NOT NULL,
        text TEXT NOT NULL, blocks TEXT NOT NULL, metadata TEXT NOT NULL, digest TEXT NOT NULL, file TEXT NOT NULL
    );
    CREATE INDEX documents_file ON documents (file);
    CREATE TABLE passages (
        id TEXT PRIMARY KEY, document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE, position INTEGER NOT NULL,
        section TEXT NOT NULL, text TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, kind TEXT NOT NULL,
        page INTEGER, metadata TEXT NOT NULL, UNIQUE (document_id, position)
    );
    CREATE TABLE files (source TEXT PRIMARY KEY, digest TEXT NOT NULL, root TEXT NOT NULL);
    """,
)


def connect(path: Path) -> sqlite3.Connection:
    """Open the store's file for writing, creating it or bringing it up to date.

    Raises:
        StoreError: locked, damaged, of a newer version, or not writable.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; choose another folder with LQR_HOME") from error
    with explained(path):
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        with _closed_on_error(connection):
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")  # what was reported as done survives a power cut
            _migrate(connection, path, read_only=False)
            connection.execute("SELECT generation FROM state").fetchone()
    return connection


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Open an existing store's file for reading, also on a medium that can't be written.

    Raises:
        StoreError: absent, damaged, or of another version.
    """
    if not path.exists():
        raise StoreError(f"{path}: there is no store here yet; run `lqr ingest` first")
    with explained(path):
        connection = _open_read_only(path)
        with _closed_on_error(connection):
            _migrate(connection, path, read_only=True)
            connection.execute("SELECT generation FROM state").fetchone()
    return connection


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _open_read_only(path: Path) -> sqlite3.Connection:
    address = path.absolute().as_uri() + "?mode=ro"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        log_file = path.with_name(path.name + "-wal")
        if log_file.exists() and log_file.stat().st_size:
            raise
        # On a medium that can't be written SQLite may not make its shared-memory file; without a log none is needed.
        connection = sqlite3.connect(address + "&immutable=1", uri=True, isolation_level=None, check_same_thread=False)
    return connection


def _migrate(connection: sqlite3.Connection, path: Path, read_only: bool) -> None:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise StoreError(f"{path}: written by a newer version of lqr (format {version}); update lqr, or {REBUILD}")
    if version == len(MIGRATIONS):
        return
    if read_only:
        raise StoreError(f"{path}: of an older format ({version}); run `lqr ingest` once to bring it up to date")
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])  # another process may have been first
        for number in range(version, len(MIGRATIONS)):
            for statement in filter(str.strip, MIGRATIONS[number].split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the errors of SQLite into StoreErrors with a way out."""
    try:
        yield
    except sqlite3.ProgrammingError as error:
        raise StoreError(f"{path}: the store was closed; open it again ({error})") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: {_reason(str(error))}") from error


def _reason(message: str) -> str:
    lowered = message.lower()
    if "locked" in lowered or "busy" in lowered:
        return "another process is writing to it; wait for it to end and try again"
    if "full" in lowered:
        return "no space left on the disk; free some and try again, nothing that was done is lost"
    if "readonly" in lowered or "read-only" in lowered or "unable to open" in lowered:
        return "can't be written; check its permissions, or choose another folder with LQR_HOME"
    if "disk i/o" in lowered:
        return "the disk can't be read or written (disk I/O error); check its space and health, nothing that was done is lost"
    if "malformed" in lowered or "not a database" in lowered or "no such table" in lowered:
        return f"damaged ({message}); {REBUILD}"
    return f"{message}; if it persists, {REBUILD}"
