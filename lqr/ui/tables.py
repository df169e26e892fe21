"""Rows that the readers wrote as ``column: value; column: value``, set back into a table.

Works on text alone: the columns are the names that most rows share. What cannot be told apart stays in one cell, so
that nothing is lost; rows without any shared name are no table. Knows nothing of the file the rows came from.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

_PART = re.compile(r"\s*;\s+")
_NAME = re.compile(r"([^:]{1,80}?)\s*:\s+(.*)", re.DOTALL)
Row: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """``columns`` may hold one empty name; every row has a cell for each column."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def table(lines: Sequence[str]) -> Table | None:
    """The table that consecutive ``lines`` come from; None when they share no columns.

    A name counts as a column when it stands in two fifths of the rows: a value that happens to hold ``word: `` does not
    make one, and stays in the cell that it was written in.
    """
    split = [[part for part in _PART.split(line.strip()) if part] for line in lines]
    seen: Counter[str] = Counter()
    for parts in split:
        seen.update({found[1] for found in map(_NAME.match, parts) if found})
    enough = max(1, math.ceil(len(lines) * 0.4))
    names = {name for name, count in seen.items() if count >= enough}
    if len(names) + any(parts and not _known(parts[0], names) for parts in split) < 2:
        return None
    rows = [_cells(parts, names) for parts in split]
    columns = _order(rows)
    return Table(tuple(columns), tuple(tuple(row.get(column, "") for column in columns) for row in rows))


def _known(part: str, names: set[str]) -> str:
    found = _NAME.match(part)
    return found[1] if found and found[1] in names else ""


def _cells(parts: Sequence[str], names: set[str]) -> dict[str, str]:
    """One row's cells by column, in the order written. A part without a name goes on with the cell before it."""
    row: dict[str, str] = {}
    last = ""
    for part in parts:
        name = _known(part, names)
        if name and name not in row:
            last = name
            row[name] = _NAME.match(part)[2]  # type: ignore[index]
        else:
            row[last] = f"{row[last]}; {part}" if last in row else part
    return row


def _order(rows: Sequence[dict[str, str]]) -> list[str]:
    """The columns from left to right: each new one stands after its neighbour in the row that brought it."""
    columns: list[str] = []
    for row in rows:
        place = 0
        for name in row:
            if name in columns:
                place = columns.index(name) + 1
            else:
                columns.insert(place, name)
                place += 1
    return columns
