"""Rows set back into the table they came from."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from lqr.corpus.readers.base import row_text
from lqr.ui.tables import Table, table

NAME = st.from_regex(r"[A-Z][a-z]{1,6}( \([a-z/]{1,5}\))?", fullmatch=True)
CELL = st.from_regex(r"[a-z0-9][a-z0-9 .,<>%-]{0,10}[a-z0-9]", fullmatch=True).map(lambda cell: " ".join(cell.split()))


@st.composite
def tables(draw: st.DrawFn) -> Table:
    columns = draw(st.lists(NAME, min_size=2, max_size=5, unique=True))
    rows = draw(st.lists(st.lists(CELL, min_size=len(columns), max_size=len(columns)), min_size=1, max_size=6))
    return Table(tuple(columns), tuple(map(tuple, rows)))


@settings(max_examples=200, deadline=None)
@given(tables())
def test_what_the_readers_write_is_read_back(wanted: Table) -> None:
    assert table([row_text(wanted.columns, row) for row in wanted.rows]) == wanted


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(alphabet="ab:; \n", max_size=20), min_size=1, max_size=5))
def test_no_word_of_any_line_is_lost(lines: list[str]) -> None:
    found = table(lines)
    if found is None:
        return
    for line, row in zip(lines, found.rows, strict=True):
        told = re.sub(r"[:;\s]", "", "".join(found.columns) + "".join(row))
        assert set(re.findall("[ab]", line)) <= set(told)
        assert len(row) == len(found.columns)


def test_empty_cells_and_an_unnamed_first_column() -> None:
    lines = ["Ewe; Weight: 60; Age: 3", "Ram; Age: 4", "Lamb; Weight: 20"]
    assert table(lines) == Table(("", "Weight", "Age"), (("Ewe", "60", "3"), ("Ram", "", "4"), ("Lamb", "20", "")))


def test_signs_within_a_cell_make_no_column() -> None:
    lines = ["Drug: A; Dose: 1 ml; then: wait; rest", "Drug: B; Dose: 2 ml", "Drug: C; Dose: 3 ml: slowly"]
    found = table(lines)
    assert found is not None
    assert found.columns == ("Drug", "Dose")
    assert [row[1] for row in found.rows] == ["1 ml; then: wait; rest", "2 ml", "3 ml: slowly"]


def test_lines_without_shared_names_are_no_table() -> None:
    assert table(["a; b", "c; d"]) is None
    assert table(["plain"]) is None
    assert table([]) is None
