"""Runs questions one by one and keeps what was found: each row goes to disk at once, so that a kill costs one question.

Beside ``FILE.json`` lies ``FILE.rows.jsonl`` while a run is under way; its first line holds the settings and versions, and a
run with others does not go on with it. It knows nothing of what a row holds beyond its ``id``.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lqr.errors import ReadError, SettingsError

OnProgress = Callable[[str, int, int], None]  # (what, done, total)


class Identified(Protocol):
    """Whatever has an id."""

    @property
    def id(self) -> str: ...


Asked = TypeVar("Asked", bound=Identified)


def rows_path(out: Path) -> Path:
    """Where the rows of a run that writes ``out`` are kept until it is done."""
    return out.with_suffix(".rows.jsonl")


def run(
    asked: Sequence[Asked],
    work: Callable[[Asked], Iterable[dict[str, Any]]],
    out: Path,
    settings: Mapping[str, Any],
    *,
    fresh: bool = False,
    progress: OnProgress | None = None,
) -> list[dict[str, Any]]:
    """``work`` for each of ``asked`` that an earlier run has not done; all rows, in the order of ``asked``.

    Args:
        work: gives the rows of one; a dialogue has several.
        out: the result file to be; its rows are kept beside it.
        settings: what the rows hang on, settings and versions; a run that was broken off is taken up only with the same.
        fresh: forget what an earlier run has left.

    Raises:
        SettingsError: the earlier run had other settings; names them.
        ReadError: the file of rows is damaged.
    """
    path = rows_path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    if fresh:
        path.unlink(missing_ok=True)
    done = _resume(path, settings)
    rows: list[dict[str, Any]] = []
    with path.open("a", encoding="utf-8") as file:
        if not done and path.stat().st_size == 0:
            _append(file, {"settings": settings})
        for number, one in enumerate(asked, start=1):
            if (found := done.get(one.id)) is None:
                found = _append(file, {"asked": one.id, "rows": list(work(one))})["rows"]
            rows.extend(found)
            if progress:
                progress("questions", number, len(asked))
    return rows


def finish(out: Path, result: Mapping[str, Any]) -> None:
    """Write the result file in one go, and put away the rows kept beside it: they are in it.

    Raises:
        OSError: the file can't be written.
    """
    write_json(out, result)
    rows_path(out).unlink(missing_ok=True)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write JSON under a temporary name and rename it: a reader sees the whole file or none.

    Raises:
        OSError: it can't be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False, indent=1)
            file.write("\n")
        os.chmod(temporary, 0o644)  # mkstemp makes it private
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _append(file: Any, value: Mapping[str, Any]) -> Any:
    """Write a line; returns what will be read back, so that a row is the same whether its run was broken off or not."""
    line = json.dumps(value, ensure_ascii=False)
    file.write(line + "\n")
    file.flush()
    return json.loads(line)


def _resume(path: Path, settings: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Rows by what was asked, from an earlier run; a last line that a kill cut off is taken away."""
    if not path.exists() or path.stat().st_size == 0:
        return {}
    content = path.read_text(encoding="utf-8", errors="replace")
    whole, _, cut_off = content.rpartition("\n")
    if cut_off:
        path.write_text(f"{whole}\n" if whole else "", encoding="utf-8")
    if not whole:
        return {}
    try:
        first, *others = (json.loads(line) for line in whole.split("\n"))
        before = first["settings"]
        done = {entry["asked"]: list(entry["rows"]) for entry in others}
    except (ValueError, KeyError, TypeError) as error:
        raise ReadError(f"{path}: damaged ({error!r}); start again with --fresh") from error
    now = json.loads(json.dumps(settings))  # as it would have been read back: tuples are lists in JSON
    if differing := sorted(_differences(before, now)):
        raise SettingsError(
            f"{path.name} is of a run with another {', '.join(differing[:6])}; start again with --fresh, or choose another --out"
        )
    return done


def _differences(a: Any, b: Any, prefix: str = "") -> Iterable[str]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted({*a, *b}):
            yield from _differences(a.get(key), b.get(key), f"{prefix}.{key}" if prefix else str(key))
    elif a != b:
        yield prefix
