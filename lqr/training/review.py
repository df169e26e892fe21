"""A file of examples to label, and who said what about each: the data between a labelling model and a person.

JSON lines. A row holds ``question``, and ``text`` (with an optional ``title``) when it is a question and a passage. What was
said about it stands in ``labels``, oldest first: ``{"label": 0 or 1, "by": "model:NAME" or "person:NAME", "at": time in UTC}``;
the row's ``label`` is the last one, so that the file can be trained on as it is. A person's word counts more than a model's.
Other fields are kept. Knows neither models nor pages.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from lqr.errors import ReadError

Task = Literal["complexity", "relevance"]
MEANING: Mapping[Task, tuple[str, str]] = {
    "complexity": ("simple: one look-up answers it", "complex: it needs several facts one after the other"),
    "relevance": ("the passage does not help to answer", "the passage helps to answer"),
}
PERSON, MODEL = "person:", "model:"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One label (0 or 1) with its author, the time in UTC (ISO 8601) and what a model gave as its reason."""

    label: int
    by: str
    at: str
    reason: str = ""

    @property
    def of_person(self) -> bool:
        """Whether a person said so."""
        return self.by.startswith(PERSON)


@dataclass(frozen=True, slots=True)
class Progress:
    """Rows of the file: ``reviewed`` by a person, of those ``corrected`` against the model; ``labelled`` by anyone."""

    total: int
    labelled: int
    reviewed: int
    corrected: int


class LabelFile:
    """The file in memory; every change is on the disk when the call returns. Safe to use from several threads."""

    def __init__(self, path: Path, rows: list[dict[str, Any]]) -> None:
        """Use :meth:`open`."""
        self.path = path
        self._rows = rows
        self._lock = threading.RLock()
        self._seen = _stamp(path)

    @classmethod
    def open(cls, path: Path) -> LabelFile:
        """Read ``path``.

        Raises:
            ReadError: it is not there, holds no row, or a row is malformed; names the line.
        """
        try:
            lines = path.read_text(encoding="utf-8-sig").split("\n")  # not splitlines(): a text may hold a U+2028
        except (OSError, UnicodeDecodeError) as error:
            raise ReadError(f"{path}: not readable as JSON lines in UTF-8 ({error}); check the path") from error
        rows = [_checked(line, f"{path.name} line {number}") for number, line in enumerate(lines, start=1) if line.strip()]
        if not rows:
            raise ReadError(f'{path.name}: holds no row; write one {{"question": ...}} a line')
        return cls(path, rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> Mapping[str, Any]:
        return self._rows[place]

    def task(self, place: int) -> Task:
        """What is asked of the row: a question with a text is a pair."""
        return "relevance" if "text" in self._rows[place] else "complexity"

    def judgements(self, place: int) -> list[Judgement]:
        """What was said about a row, oldest first."""
        return [Judgement(**entry) for entry in self._rows[place].get("labels", ())]

    def open_places(self, by: str = PERSON) -> list[int]:
        """Rows about which nobody whose name begins with ``by`` has said anything, in the order of the file."""
        return [i for i, row in enumerate(self._rows) if not any(e["by"].startswith(by) for e in row.get("labels", ()))]

    def progress(self) -> Progress:
        """How far the review is."""
        reviewed = corrected = labelled = 0
        for place in range(len(self)):
            said = self.judgements(place)
            labelled += bool(said)
            people = [j for j in said if j.of_person]
            models = [j for j in said if not j.of_person]
            reviewed += bool(people)
            corrected += bool(people and models and people[-1].label != models[-1].label)
        return Progress(len(self), labelled, reviewed, corrected)

    def record(self, place: int, label: int, by: str, *, reason: str = "", save: bool = True) -> None:
        """Add a judgement.

        Args:
            by: ``model:NAME`` or ``person:NAME``.
            save: False leaves the disk as it is until :meth:`save`.

        Raises:
            ValueError: the label is neither 0 nor 1, or ``by`` says neither model nor person.
            ReadError: another program changed the file meanwhile; nothing is recorded.
        """
        if label not in (0, 1) or not by.startswith((PERSON, MODEL)):
            raise ValueError(f"label {label!r} by {by!r}")
        entry: dict[str, Any] = {"label": int(label), "by": by, "at": datetime.now(timezone.utc).isoformat(timespec="seconds")}
        if reason:
            entry["reason"] = reason
        with self._lock:
            self._change(place, [*self._rows[place].get("labels", ()), entry], save)

    def undo(self, place: int) -> bool:
        """Take back the last judgement about a row if a person made it; whether there was one.

        Raises:
            ReadError: another program changed the file meanwhile.
        """
        with self._lock:
            said = list(self._rows[place].get("labels", ()))
            if not said or not said[-1]["by"].startswith(PERSON):
                return False
            self._change(place, said[:-1], True)
            return True

    def save(self) -> None:
        """Write the whole file under a temporary name and rename it: a reader sees all of it or none.

        Raises:
            ReadError: another program changed it meanwhile; its work is not overwritten.
            OSError: it can't be written.
        """
        with self._lock:
            if _stamp(self.path) != self._seen:
                raise ReadError(f"{self.path.name} was changed by another program meanwhile; start again to read it anew")
            handle, temporary = tempfile.mkstemp(prefix=f".{self.path.name}-", dir=self.path.parent)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in self._rows)
                    file.flush()
                    os.fsync(file.fileno())
                os.chmod(temporary, self.path.stat().st_mode & 0o777)
                os.replace(temporary, self.path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
            self._seen = _stamp(self.path)

    def _change(self, place: int, said: list[dict[str, Any]], save: bool) -> None:
        before = self._rows[place]
        after = {**before, "labels": said}
        # a person's word stands, whatever a model says later
        counts = [entry for entry in said if entry["by"].startswith(PERSON)] or said
        after.pop("label", None)
        if counts:
            after["label"] = counts[-1]["label"]
        self._rows[place] = after
        if save:
            try:
                self.save()
            except BaseException:
                self._rows[place] = before
                raise


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _checked(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ReadError(f"{where}: not JSON ({error})") from error
    if not isinstance(row, dict) or not isinstance(row.get("question"), str) or not row["question"].strip():
        raise ReadError(f'{where}: needs a "question"')
    if not all(isinstance(row.get(name, ""), str) for name in ("text", "title")):
        raise ReadError(f'{where}: "text" and "title" must be strings')
    try:
        said = [Judgement(**entry) for entry in row.get("labels", ())]
        if any(j.label not in (0, 1) or not j.by.startswith((PERSON, MODEL)) for j in said):
            raise ValueError("a label is 0 or 1, by model:NAME or person:NAME")
    except (TypeError, ValueError, AttributeError) as error:
        raise ReadError(f"{where}: malformed labels ({error})") from error
    return row
