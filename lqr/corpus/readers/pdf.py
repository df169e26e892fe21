"""Reads the text layer of PDF files: lines with their place on the page, joined to paragraphs.

Repeated headers and footers are removed, words broken at a line's end are mended, larger lines are taken for
headings, right-to-left lines are put in logical order by the place of their letters, text that nobody can see is left out.
Pages without text are read by OCR if the extra ``ocr`` is installed. It does not rebuild tables: their lines stay lines.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from lqr.corpus.readers.base import Builder, RawFile, fold
from lqr.corpus.readers.ocr import EXTRA, PageReader
from lqr.corpus.readers.ocr import available as ocr_available
from lqr.corpus.readers.pdf_lines import Line, page_lines, recognised_lines
from lqr.errors import ReadError
from lqr.turns import Turns
from lqr.types import Document

# PDFium is not safe across threads, not even for different files; files that are read together take turns page by page.
_TURNS = Turns()
_BULLET = re.compile(r"\s*[•‣▪●◦■\uf0b7\uf0a7·–-]\s+")
_RULE = re.compile(
    r"\s*(?:\d+(?:\.\d+)+(?:[A-Z]{1,2}(?=[\s(]))?(?:\(\w{1,5}\))*\.?\s+[A-Z]|§\s*\d|(?:Article|Section|Rule|Clause)\s+\d|\(?\d{1,2}[.)]\s+\S|第[一二三四五六七八九十百零\d]+[条章节])"
)
_PAGE_NUMBER = re.compile(r"(?:page\s*)?[-–—|\s]*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:/|of|von|de)\s*\d{1,4})?[-–—|\s]*", re.I)
_ENDS = re.compile(r"[.!?:;。！？：；…][\"'”’)\]]*$")
_BREAK = "(?:[\u0002\ufffe\u00ad]\n?|[-\u2010]\n)"  # PDFium marks hyphens that it takes for breaks
_BROKEN = re.compile(rf"[^\W\d_]*{_BREAK}[^\W\d_]*")
_BROKEN_WORD = re.compile(rf"([^\W\d_]+){_BREAK}([^\W\d_A-Z][^\W\d_]*)")


def read(file: RawFile) -> tuple[Document, ...]:
    """One document of ``file``; blocks carry page numbers.

    Raises:
        ReadError: damaged, encrypted, or without text.
    """
    import pypdfium2

    builder = Builder(file)
    with _TURNS:
        try:
            pdf = pypdfium2.PdfDocument(file.data)
            length, title = len(pdf), fold(str(pdf.get_metadata_value("Title") or ""))
        except pypdfium2.PdfiumError as error:
            reason = "encrypted; save it without a password" if "assword" in str(error) else "damaged; print it to PDF again"
            raise ReadError(f"{file.name}: {reason}") from error
    try:
        if length > file.limits.pages:
            builder.cut(f"only the first {file.limits.pages:,} of {length:,} pages were read")
        count = min(length, file.limits.pages)
        pages: list[list[Line]] = []
        pictures = PageReader() if ocr_available() else None
        read_by_ocr: list[int] = []
        for index in range(count):
            try:
                with _TURNS:
                    lines = page_lines(pdf, index)
                    if not lines and pictures and len(read_by_ocr) < file.limits.ocr_pages:
                        lines = recognised_lines(pdf, index, pictures)
                        read_by_ocr += [index + 1] if lines else []
                pages.append(lines)
            except pypdfium2.PdfiumError:
                builder.cut(f"page {index + 1} is damaged and was left out")
                pages.append([])
            if file.progress:
                file.progress(index + 1, count)
    finally:
        with _TURNS:
            pdf.close()
    empty = [number for number, lines in enumerate(pages, start=1) if not lines]
    if len(empty) == len(pages):
        way = "" if pictures else f", for example with ocrmypdf, or let lqr read it: {EXTRA}"
        raise ReadError(f"{file.name}: has no text layer (scanned pages?); run OCR on it first{way}")
    if empty:
        builder.cut(f"{len(empty):,} of {len(pages):,} pages hold no text (scanned or blank): {_ranges(empty)}")
    if read_by_ocr:
        builder.cut(f"{len(read_by_ocr):,} scanned pages were read by OCR, which makes mistakes: {_ranges(read_by_ocr)}")
    _add_blocks(builder, [line for lines in _without_margins(pages) for line in lines])
    if not builder.has_text:  # a page of nothing but its header
        _add_blocks(builder, [line for lines in pages for line in lines])
    if re.search(r"\.\w{2,5}$|^microsoft|^untitled", title, re.I):  # a program's leavings, not a title
        title = ""
    return (builder.build("application/pdf", title=title),)


def _ranges(numbers: Sequence[int]) -> str:
    """``1, 4-6``; a long list is cut."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs[:10]]
    return ", ".join(shown) + (", ..." if len(runs) > 10 else "")


def _without_margins(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Drop what stands at the top or foot of most pages (numbers aside), and page numbers there."""
    edges = [_edge_lines(lines) for lines in pages]
    counts = Counter(key for lines in edges for key in {_key(line) for line in lines})
    enough = max(3, sum(bool(lines) for lines in pages) // 2)
    kept = []
    for lines, edge in zip(pages, edges, strict=True):
        gone = {
            id(line) for line in edge if counts[_key(line)] >= enough or (len(pages) > 1 and _PAGE_NUMBER.fullmatch(line.text))
        }
        kept.append([line for line in lines if id(line) not in gone])
    return kept


def _edge_lines(lines: Sequence[Line]) -> list[Line]:
    ordered = sorted(lines, key=lambda line: -line.bottom)
    return ordered[:2] + ordered[2:][-2:]


def _key(line: Line) -> str:
    return re.sub(r"\d+", "#", fold(line.text).casefold())


def _add_blocks(builder: Builder, lines: Sequence[Line]) -> None:
    if not lines:
        return
    body = _body_height(lines)
    sizes = sorted({round(line.height) for line in lines if line.height > body * 1.15}, reverse=True)
    whole_words = _BROKEN.sub(" ", "\n".join(line.text for line in lines).casefold() + "\n")
    vocabulary = Counter(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", whole_words))
    gap = _paragraph_gap(lines, body)
    right_edge = {line.page: 0.0 for line in lines}
    for line in lines:
        right_edge[line.page] = max(right_edge[line.page], line.right)
    group: list[Line] = []

    def flush() -> None:
        if group:
            _add_group(builder, group, body, sizes, vocabulary)
            group.clear()

    for line in lines:
        if group and _breaks(group[-1], line, right_edge[line.page], gap):
            flush()
        group.append(line)
        if builder.full:
            return
    flush()


def _body_height(lines: Iterable[Line]) -> float:
    heights: list[float] = []
    for line in lines:
        heights.extend([line.height] * max(1, len(line.text) // 10))
    return statistics.median(heights)


def _paragraph_gap(lines: Sequence[Line], body: float) -> float:
    """The distance of two lines, in points, from which on a paragraph lies between them."""
    pitches = [a.last_bottom - b.bottom for a, b in pairwise(lines) if a.page == b.page]
    usual = sorted(pitch for pitch in pitches if 0.8 * body < pitch < 2.5 * body)
    return 1.3 * usual[len(usual) // 4] if usual else 1.45 * body  # the lower quartile: gaps are among them


def _breaks(before: Line, line: Line, right_edge: float, gap: float) -> bool:
    """Whether a new paragraph begins with ``line``."""
    if _BULLET.match(line.text) or _RULE.match(line.text):
        return True
    if abs(before.height - line.height) > 0.12 * max(before.height, line.height, 1):
        return True
    starts_small = line.text[:1].islower()
    if line.page != before.page:
        return bool(_ENDS.search(before.text)) or not starts_small
    pitch = before.last_bottom - line.bottom
    if pitch > max(gap, 1.2 * before.height) or pitch < -before.height:  # a gap, or the top of the next column
        return pitch > 0 or not starts_small
    if line.rtl or starts_small:
        return False
    # A line that had room for the next word was ended on purpose.
    return abs(pitch) > 1 and right_edge - before.right > line.first_word + before.height


def _add_group(builder: Builder, group: Sequence[Line], body: float, sizes: Sequence[int], vocabulary: Counter[str]) -> None:
    text = fold(_join([line.text for line in group], vocabulary))
    first = group[0]
    large = first.height > body * 1.15
    if (
        large
        and len(text) <= 120
        and len(text.split()) <= 15
        and not text.endswith((".", ",", ";"))
        and any(map(str.isalpha, text))
    ):
        builder.add(
            "heading",
            text,
            level=min(sizes.index(round(first.height)) + 1 if round(first.height) in sizes else 2, 6),
            page=first.page,
        )
    elif bullet := _BULLET.match(text):
        builder.add("list_item", text[bullet.end() :], page=first.page)
    else:
        builder.add("paragraph", text, page=first.page)


def _join(lines: Sequence[str], vocabulary: Counter[str]) -> str:
    """Lines as one text, words broken at a line's end made whole.

    The hyphen stays if the file elsewhere writes the word with it, or knows both halves but not the whole.
    """

    def mend(match: re.Match[str]) -> str:
        head, tail = match.group(1), match.group(2)
        first, second = head.casefold(), tail.casefold()
        whole, hyphened = vocabulary[first + second], vocabulary[f"{first}-{second}"]
        keep = hyphened > whole or (not whole and vocabulary[first] and vocabulary[second])
        return f"{head}{'-' if keep else ''}{tail}"

    return _BROKEN_WORD.sub(mend, "\n".join(lines))
