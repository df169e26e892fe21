"""Reads the text layer of PDF files: lines with their place on the page, joined to paragraphs.

Repeated headers and footers are removed, words broken at a line's end are mended, larger lines are taken for
headings, right-to-left lines are put in logical order by the place of their letters. It runs no OCR, does not rebuild
tables (their lines stay lines), and cannot tell white text from black.
"""

from __future__ import annotations

import ctypes
import re
import statistics
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lqr.corpus.readers.base import Builder, RawFile, fold
from lqr.errors import ReadError
from lqr.types import Document

_LOCK = threading.Lock()  # PDFium is not safe across threads, not even for different files
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LTR_RUN = re.compile(
    "[^\\W\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc](?:[^\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]*[^\\W\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc%°])?"
)
_BULLET = re.compile(r"\s*[•‣▪●◦■\uf0b7\uf0a7·–-]\s+")
_RULE = re.compile(
    r"\s*(?:\d+(?:\.\d+)+\.?\s+[A-Z]|§\s*\d|(?:Article|Section|Rule|Clause)\s+\d|\(?\d{1,2}[.)]\s+\S|第[一二三四五六七八九十百零\d]+[条章节])"
)
_PAGE_NUMBER = re.compile(r"(?:page\s*)?[-–—|\s]*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:/|of|von|de)\s*\d{1,4})?[-–—|\s]*", re.I)
_ENDS = re.compile(r"[.!?:;。！？：；…][\"'”’)\]]*$")
_BREAK = "(?:[\u0002\ufffe\u00ad]\n?|[-\u2010]\n)"  # PDFium marks hyphens that it takes for breaks
_BROKEN = re.compile(rf"[^\W\d_]*{_BREAK}[^\W\d_]*")
_BROKEN_WORD = re.compile(rf"([^\W\d_]+){_BREAK}([^\W\d_A-Z][^\W\d_]*)")


@dataclass(frozen=True, slots=True)
class _Line:
    """One printed line; lengths are in points, ``top`` and ``bottom`` measured from the foot of the page."""

    text: str
    page: int
    right: float
    bottom: float
    top: float
    first_word: float  # width
    last_bottom: float  # of its last letter: PDFium runs a line on over a hyphen at its end
    rtl: bool = False

    @property
    def height(self) -> float:
        return self.top - self.bottom


def read(file: RawFile) -> tuple[Document, ...]:
    """One document of ``file``; blocks carry page numbers.

    Raises:
        ReadError: damaged, encrypted, or without a text layer.
    """
    import pypdfium2

    builder = Builder(file)
    with _LOCK:
        try:
            pdf = pypdfium2.PdfDocument(file.data)
        except pypdfium2.PdfiumError as error:
            reason = "encrypted; save it without a password" if "assword" in str(error) else "damaged; print it to PDF again"
            raise ReadError(f"{file.name}: {reason}") from error
        try:
            if len(pdf) > file.limits.pages:
                builder.cut(f"only the first {file.limits.pages:,} of {len(pdf):,} pages were read")
            pages: list[list[_Line]] = []
            for index in range(min(len(pdf), file.limits.pages)):
                try:
                    pages.append(_page_lines(pdf, index))
                except pypdfium2.PdfiumError:
                    builder.cut(f"page {index + 1} is damaged and was left out")
                    pages.append([])
            title = fold(str(pdf.get_metadata_value("Title") or ""))
        finally:
            pdf.close()
    empty = sum(not lines for lines in pages)
    if empty == len(pages):
        raise ReadError(f"{file.name}: has no text layer (scanned pages?); run OCR on it first, for example with ocrmypdf")
    if empty:
        builder.cut(f"{empty:,} of {len(pages):,} pages hold no text (scanned or blank)")
    _add_blocks(builder, [line for lines in _without_margins(pages) for line in lines])
    if not builder.has_text:  # a page of nothing but its header
        _add_blocks(builder, [line for lines in pages for line in lines])
    if re.search(r"\.\w{2,5}$|^microsoft|^untitled", title, re.I):  # a program's leavings, not a title
        title = ""
    return (builder.build("application/pdf", title=title),)


def _page_lines(pdf: Any, index: int) -> list[_Line]:
    import pypdfium2.raw as raw

    page = pdf[index]
    try:
        text_page = page.get_textpage()
        try:
            codes = [raw.FPDFText_GetUnicode(text_page, i) for i in range(text_page.count_chars())]
            chars = _characters(codes)
            lines = []
            start = 0
            for end in [*(i for i, char in enumerate(chars) if char in "\r\n"), len(chars)]:
                line = _line(raw, text_page, chars, start, end, index + 1)
                if line is not None:
                    lines.append(line)
                start = end + 1
            return lines
        finally:
            text_page.close()
    finally:
        page.close()


def _characters(codes: Sequence[int]) -> list[str]:
    """One string per code unit; halves of a pair beyond the first plane become the letter and an empty string."""
    chars = [chr(code) if 0 < code < 0x110000 else "" for code in codes]
    for i in range(len(chars) - 1):
        if "\ud800" <= chars[i] < "\udc00" and "\udc00" <= chars[i + 1] < "\ue000":
            chars[i], chars[i + 1] = (chars[i] + chars[i + 1]).encode("utf-16", "surrogatepass").decode("utf-16"), ""
    return chars


def _line(raw: Any, text_page: Any, chars: list[str], start: int, end: int, page: int) -> _Line | None:
    while start < end and not chars[start].strip():
        start += 1
    while end > start and not chars[end - 1].strip():
        end -= 1
    if start == end:
        return None
    text = "".join(chars[start:end])
    word_end = start
    while word_end + 1 < end and chars[word_end + 1] != " ":
        word_end += 1
    # The letter that gives the height must be one of the text's font: bullets are often set in another.
    letter = next((i for i in range(start, end) if chars[i].isalnum()), start)
    first, last, word, measure = (_box(raw, text_page, i) for i in (start, end - 1, word_end, letter))
    letters = sum(char.isalpha() for char in text)
    rtl = len(_RTL.findall(text)) * 2 > letters > 0
    if rtl:
        boxes = [_box(raw, text_page, i) for i in range(start, end)]
        text = _logical(chars[start:end], boxes)
        measure = max(boxes, key=lambda box: box[3] - box[2])
    return _Line(
        text=text,
        page=page,
        right=max(first[1], last[1]),
        bottom=measure[2],
        top=measure[3],
        first_word=abs(word[1] - first[0]),
        last_bottom=last[2] if last[3] > last[2] else measure[2],
        rtl=rtl,
    )


def _box(raw: Any, text_page: Any, index: int) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of a character's line box; zeros when there is none."""
    rectangle = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(text_page, index, ctypes.byref(rectangle)):
        return (0.0, 0.0, 0.0, 0.0)
    return (rectangle.left, rectangle.right, rectangle.bottom, rectangle.top)


def _logical(chars: Sequence[str], boxes: Sequence[tuple[float, float, float, float]]) -> str:
    """Letters of a right-to-left line in reading order: from the right, with numbers and Latin runs turned back.

    PDFium leaves some words of such lines in visual order, so the order is taken from the places alone.
    """
    order = sorted((i for i, char in enumerate(chars) if char.strip()), key=lambda i: -(boxes[i][0] + boxes[i][1]))
    space = 0.15 * max(box[3] - box[2] for box in boxes)
    text = ""
    for before, i in zip([None, *order], order, strict=False):
        # Spaces that PDFium made up have no place of their own: the gap between letters tells them.
        if before is not None and boxes[before][0] - boxes[i][1] > space:
            text += " "
        text += chars[i]
    return _LTR_RUN.sub(lambda match: match.group()[::-1], text)


def _without_margins(pages: Sequence[Sequence[_Line]]) -> list[list[_Line]]:
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


def _edge_lines(lines: Sequence[_Line]) -> list[_Line]:
    ordered = sorted(lines, key=lambda line: -line.bottom)
    return ordered[:2] + ordered[2:][-2:]


def _key(line: _Line) -> str:
    return re.sub(r"\d+", "#", fold(line.text).casefold())


def _add_blocks(builder: Builder, lines: Sequence[_Line]) -> None:
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
    group: list[_Line] = []

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


def _body_height(lines: Iterable[_Line]) -> float:
    heights: list[float] = []
    for line in lines:
        heights.extend([line.height] * max(1, len(line.text) // 10))
    return statistics.median(heights)


def _paragraph_gap(lines: Sequence[_Line], body: float) -> float:
    """The distance of two lines, in points, from which on a paragraph lies between them."""
    pitches = [a.last_bottom - b.bottom for a, b in pairwise(lines) if a.page == b.page]
    usual = sorted(pitch for pitch in pitches if 0.8 * body < pitch < 2.5 * body)
    return 1.3 * usual[len(usual) // 4] if usual else 1.45 * body  # the lower quartile: gaps are among them


def _breaks(before: _Line, line: _Line, right_edge: float, gap: float) -> bool:
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


def _add_group(builder: Builder, group: Sequence[_Line], body: float, sizes: Sequence[int], vocabulary: Counter[str]) -> None:
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
