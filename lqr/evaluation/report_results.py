"""Reads result files as ``lqr evaluate`` writes them, for the report: one :class:`Run` for each set of rows.

A file of classifiers holds several. It checks that the file is one, and nothing of what it says: that is ``integrity``'s.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from lqr.errors import ReadError

Row = Mapping[str, Any]
RunKind = Literal["answers", "retrieval", "collection", "classifier", "other"]


@dataclass(frozen=True, slots=True)
class Run:
    """One set of rows with what is said of it. ``name`` is unique in a report; ``file`` is the file's name without folders."""

    name: str
    file: str
    kind: RunKind
    rows: tuple[Row, ...]
    summary: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    date: str = ""

    @property
    def dataset(self) -> str:
        """Name of the set, or an empty string."""
        return str(self.settings.get("dataset") or "")

    @property
    def split(self) -> str:
        """``train``, ``dev``, ``test`` or an empty string."""
        return str(self.settings.get("split") or "")

    @property
    def strategy(self) -> str:
        """The strategy, or an empty string."""
        return str(self.settings.get("strategy") or "")

    @property
    def generator(self) -> str:
        """The generator's name; an empty string where none was used."""
        named = self.settings.get("generator")
        return str((named.get("name") if isinstance(named, Mapping) else named) or "")

    def scores(self, name: str) -> list[float]:
        """A score of all rows in which it is a finite number."""
        return [value for row in self.rows if (value := number(row_scores(row).get(name))) is not None]

    def score_names(self) -> list[str]:
        """Every score that a row has, in the order of the rows' keys."""
        return list(dict.fromkeys(name for row in self.rows for name in row_scores(row)))


def load(paths: Sequence[Path]) -> list[Run]:
    """The runs of all files, in their order; equal names are told apart by a number.

    Raises:
        ReadError: a file can't be read, is no JSON, or is no result file.
    """
    runs: list[Run] = []
    taken: dict[str, int] = {}
    for path in paths:
        for run in _runs(path, read_result(path)):
            taken[run.name] = taken.get(run.name, 0) + 1
            runs.append(run if taken[run.name] == 1 else replace(run, name=f"{run.name} ({taken[run.name]})"))
    return runs


def read_result(path: Path) -> dict[str, Any]:
    """The object of one result file.

    Raises:
        ReadError: see :func:`load`.
    """
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}; give files that `lqr evaluate --out` wrote") from error
    except (ValueError, RecursionError) as error:
        raise ReadError(f"{path}: not JSON ({error}); give files that `lqr evaluate --out` wrote") from error
    if not isinstance(result, dict) or not ("rows" in result or isinstance(result.get("models"), dict)):
        raise ReadError(f"{path}: no result file: it has neither rows nor models; give files that `lqr evaluate --out` wrote")
    return result


def row_scores(row: Row) -> Mapping[str, Any]:
    """The ``scores`` of a row; empty where it has none."""
    scores = row.get("scores")
    return scores if isinstance(scores, Mapping) else {}


def number(value: Any) -> float | None:
    """``value`` as a finite float; None of anything else, truth values included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def texts(value: Any) -> list[str]:
    """The strings of a list; empty of anything else."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


def flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and plain values of nested mappings; lists are values."""
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, Mapping):
            yield from flat(inner, f"{name}.")
        else:
            yield name, inner


def _runs(path: Path, result: Mapping[str, Any]) -> Iterator[Run]:
    def make(name: str, part: Mapping[str, Any]) -> Run:
        rows = part.get("rows")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ReadError(f"{path}: the rows of {name} are not a list of objects; evaluate again")
        seed = result.get("seed")
        return Run(
            name=name,
            file=path.name,
            kind=_kind(rows),
            rows=tuple(rows),
            summary=_mapping(part.get("summary")),
            settings=_mapping(result.get("settings")),
            versions=_mapping(result.get("versions")),
            machine=_mapping(result.get("machine")),
            seed=seed if isinstance(seed, int) else None,
            date=str(result.get("date") or ""),
        )

    if isinstance(result.get("models"), dict):
        for name, part in result["models"].items():
            yield make(f"{path.stem}: {name}", _mapping(part))
    else:
        yield make(path.stem, result)


def _kind(rows: Sequence[Row]) -> RunKind:
    if not rows:
        return "other"
    if all("label" in row and "predicted" in row for row in rows):
        return "classifier" if all(row["label"] in (0, 1) and row["predicted"] in (0, 1) for row in rows) else "other"
    if all("expect" in row for row in rows):
        return "collection" if any(row_scores(row) for row in rows) else "other"
    if any("scores" in row for row in rows):
        return "answers" if any(isinstance(row.get("prediction"), str) for row in rows) else "retrieval"
    return "other"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
