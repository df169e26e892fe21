"""Reads CSV, TSV and XLSX: each row becomes ``column: value; column: value``.

The header is the first row of names; lines above it are paragraphs. Formulas give their last saved value; charts,
hidden sheets, comments and merged cells' extent are not read.
"""

from __future__ import annotations

import csv
import datetime
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lqr.corpus.readers.base import Builder, RawFile, fold, looks_like_header, row_text
from lqr.corpus.readers.encoding import decode
from lqr.corpus.readers.zips import check_zip
from lqr.errors import ReadError
from lqr.types import Document

_COLUMNS = 256  # cells of a row that are looked at
_MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def read(file: RawFile) -> tuple[Document, ...]:
    """One document of a CSV or TSV file.

    Raises:
        ReadError: not text, or not delimited text.
    """
    text = decode(file.data, file.name)
    builder = Builder(file)
    try:
        _add_rows(builder, csv.reader(io.StringIO(text, newline=""), _dialect(text, file.name)), file.limits.rows)
    except csv.Error as error:
        raise ReadError(f"{file.name}: not a readable table ({error}); save it as CSV again") from error
    return (builder.build("text/tab-separated-values" if file.name.lower().endswith(".tsv") else "text/csv", title=file.title),)


def read_sheets(file: RawFile) -> tuple[Document, ...]:
    """One document of a workbook; each visible sheet is a section when there is more than one.

    Raises:
        ReadError: damaged, encrypted, or too large when unpacked.
    """
    check_zip(file)
    import openpyxl

    builder = Builder(file)
    try:
        book = openpyxl.load_workbook(io.BytesIO(file.data), read_only=True, data_only=True, keep_links=False)
        try:
            sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
            left = file.limits.rows
            for sheet in sheets:
                if len(sheets) > 1:
                    builder.add("heading", sheet.title, level=2)
                sheet.reset_dimensions()  # the size that the file declares may be wrong
                left -= _add_rows(builder, _sheet_rows(sheet), left)
        finally:
            book.close()
    except ReadError:
        raise
    except Exception as error:  # openpyxl raises KeyError, TypeError, XML and zip errors alike for damaged workbooks
        raise ReadError(f"{file.name}: damaged XLSX ({type(error).__name__}); open it in Excel and save it again") from error
    return (builder.build(_MEDIA, title=file.title),)


def _dialect(text: str, name: str) -> Any:
    if name.lower().endswith(".tsv"):
        return csv.excel_tab
    try:
        return csv.Sniffer().sniff(text[:8192], delimiters=",;\t|")
    except csv.Error:
        return csv.excel


def _sheet_rows(sheet: Any) -> Iterator[list[str]]:
    for row in sheet.iter_rows(max_col=_COLUMNS):
        yield [_cell_text(cell) for cell in row]


def _cell_text(cell: Any) -> str:
    value = cell.value
    if value is None or (getattr(cell, "has_style", False) and _is_hidden(cell)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if "%" in (getattr(cell, "number_format", None) or ""):
            return f"{value * 100:.10g} %"
        return f"{value:.12g}" if isinstance(value, float) else str(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return value.isoformat(" ") if isinstance(value, datetime.datetime) else str(value)


def _is_hidden(cell: Any) -> bool:
    """Whether a cell shows nothing: white on no fill, or a format that prints nothing (``;;;``)."""
    colour = getattr(cell.font.color, "rgb", None)
    white = colour == "FFFFFFFF" or (getattr(cell.font.color, "type", "") == "theme" and cell.font.color.theme == 0)
    return bool((white and cell.fill.fill_type is None) or str(cell.number_format).replace(" ", "") == ";;;")


def _add_rows(builder: Builder, rows: Iterable[Sequence[str]], limit: int) -> int:
    """Add up to ``limit`` rows; returns how many were added."""
    filled = (list(row[:_COLUMNS]) for row in rows if any(cell.strip() for cell in row))
    start: list[list[str]] = []
    for row in filled:  # titles and notes above the table have one cell
        if sum(bool(cell.strip()) for cell in row) > 1 or len(start) > 20:
            start.append(row)
            break
        start.append(row)
    has_table = bool(start) and sum(bool(cell.strip()) for cell in start[-1]) > 1
    lines, first = (start[:-1], start[-1:]) if has_table else (start, [])
    following = list(itertools.islice(filled, 1))
    header: list[str] = []
    if first and looks_like_header([_trim(first[0]), *following]):
        header, first = first[0], []
    if first or header:
        for line in lines:
            builder.add("paragraph", " ".join(line))
        lines = []
    count = 0
    for row in itertools.chain(lines, first, following, filled):
        if count >= limit or builder.full:
            builder.cut(f"only the first {count:,} rows were read")
            break
        builder.add("table_row", row_text(header, row))
        count += 1
    return count


def _trim(row: list[str]) -> list[str]:
    """``row`` without the empty cells after its last filled one."""
    while row and not fold(row[-1]):
        row = row[:-1]
    return row
