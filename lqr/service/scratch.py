"""A folder for private files that does not outlive its process, even when that is killed.

The process holds a lock on a file beside the folder; the system lets go of it when the process ends, however it ends. The
next process removes every folder whose lock is free. Knows nothing of what lies in a folder.
"""

from __future__ import annotations

import logging
import secrets
import shutil
import sys
import weakref
from pathlib import Path
from typing import IO

from lqr.errors import StoreError

log = logging.getLogger(__name__)


class Scratch:
    """A new folder below ``root``, for this user's eyes only; gone after :meth:`close` or at the end of the process."""

    def __init__(self, root: Path) -> None:
        """Make the folder, and remove those that killed processes left behind.

        Raises:
            StoreError: ``root`` can't be written.
        """
        name = secrets.token_hex(8)
        self.folder = root / name
        try:
            root.mkdir(parents=True, exist_ok=True, mode=0o700)
            _remove_abandoned(root)
            # Locked under a name that nobody looks for, then renamed: no other process can meet it before it is locked.
            new, lock = root / f"{name}.new", root / f"{name}.lock"
            held = new.open("w")
            _try_lock(held)
            new.rename(lock)
            self.folder.mkdir(mode=0o700)
        except OSError as error:
            raise StoreError(f"{root}: can't be written ({error.strerror}); check its permissions, or set LQR_HOME") from error
        self._remove = weakref.finalize(self, _remove, self.folder, lock, held)

    def close(self) -> None:
        """Remove the folder; harmless when it is gone."""
        self._remove()


def _remove(folder: Path, lock: Path, held: IO[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.unlink(missing_ok=True)
    held.close()


def _remove_abandoned(root: Path) -> None:
    for lock in root.glob("*.lock"):
        try:
            with lock.open("r+") as file:
                if _try_lock(file):
                    shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                    lock.unlink(missing_ok=True)
                    log.info("private files of a process that was killed are removed")
        except FileNotFoundError:
            continue  # its process has just ended


def _try_lock(file: IO[str]) -> bool:
    """Take the lock if nobody has it. Windows has no such locks: there nothing is ever taken for abandoned."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
