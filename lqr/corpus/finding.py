"""Finds the files to take in: walks folders, says what is no document, and gives each file a source of its own.

It opens a file only to give its bytes. Knows no format, no store and no passage.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lqr.corpus.readers import clean_source, numbered_source, suffix_of
from lqr.errors import ReadError

# Files of a folder of documents that are about the folder, or hold test questions whose answers must not be found.
_NOT_DOCUMENTS = re.compile(
    r"(?:readme|licen[cs]e|changelog|contributing|code_of_conduct|authors)(?:[._-][a-z]{2})?\.\w+|(?:questions|asked)\.jsonl?(?:\.gz)?",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read: its ``source`` in the store, and the mark of the folder that it was found under."""

    path: Path
    source: str
    root: str


def content(item: Found, most: int) -> bytes:
    """The first ``most`` bytes of a file.

    Raises:
        ReadError: it can't be opened.
    """
    try:
        with item.path.open("rb") as stream:
            return stream.read(most)
    except OSError as error:
        raise ReadError(f"{item.source}: can't be opened ({error.strerror}); check its permissions") from error


def find(paths: Sequence[Path], skipped: Counter[str]) -> list[Found]:
    """Every file to read, in order, each under a source of its own; ``skipped`` counts the others by reason.

    Raises:
        ReadError: one of ``paths`` does not exist.
    """
    found: list[Found] = []
    seen: set[Path] = set()
    used: set[str] = set()

    def take(path: Path, name: str, root: str) -> None:
        real = path.resolve()
        if real in seen:
            return
        seen.add(real)
        source = first = clean_source(name)
        number = 1
        while source in used:  # names that became equal by cleaning, or come from two folders
            number += 1
            source = numbered_source(first, number)
        used.add(source)
        found.append(Found(path, source, root))

    for path in paths:
        if path.is_dir():
            for file in _walk(path, skipped):
                take(file, file.relative_to(path).as_posix(), root_key(path))
        elif path.exists():
            take(path, path.name, "")
        else:
            raise ReadError(f"{clean_source(path.name)}: no such file or folder; check the path")
    return found


def _walk(root: Path, skipped: Counter[str]) -> list[Path]:
    """The readable files below ``root``, sorted; what is skipped is counted by its reason."""
    files: list[Path] = []
    real_root = root.resolve()
    for folder, folders, names in os.walk(root, followlinks=False):
        skipped["hidden"] += sum(name.startswith(".") for name in folders)
        skipped["symbolic link to a folder"] += sum(
            (Path(folder) / name).is_symlink() for name in folders if not name.startswith(".")
        )
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            reason = _reason_to_skip(path, real_root)
            if reason:
                skipped[reason] += 1
            else:
                files.append(path)
    for reason in [reason for reason, count in skipped.items() if not count]:
        del skipped[reason]
    return sorted(files)


def _reason_to_skip(path: Path, real_root: Path) -> str:
    name = path.name
    if name.startswith((".", "~$")):
        return "hidden"
    if not suffix_of(name):
        return "unsupported type"
    if _NOT_DOCUMENTS.fullmatch(name):
        return "about the folder"
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(real_root):
            return "symbolic link out of the folder"
        if not stat.S_ISREG(path.stat().st_mode):
            return "not a file"  # a pipe would block for ever
    except (OSError, RuntimeError):  # a link to nothing, or to itself
        return "broken symbolic link"
    return ""


def root_key(folder: Path) -> str:
    """A folder's mark in the store: enough to tell it from others, without writing its path down."""
    return hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:12]
