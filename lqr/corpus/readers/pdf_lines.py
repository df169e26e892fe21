"""The lines of one PDF page, with their places: what a reader of the page sees, in the order in which it is read.

It knows no other page, and nothing of paragraphs.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lqr.corpus.readers.ocr import PageReader
from lqr.corpus.readers.pdf_visible import hidden_letters

_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LTR_RUN = re.compile(
    "[^\\W\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc](?:[^\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]*[^\\W\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc%°])?"
)


@dataclass(frozen=True, slots=True)
class Line:
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


def page_lines(pdf: Any, index: int) -> list[Line]:
    """The lines of the text layer of page ``index`` (from 0), without what nobody can see."""
    import pypdfium2.raw as raw

    page = pdf[index]
    try:
        text_page = page.get_textpage()
        try:
            codes = [raw.FPDFText_GetUnicode(text_page, i) for i in range(text_page.count_chars())]
            chars = _characters(codes)
            for i in hidden_letters(raw, page, text_page, chars):
                chars[i] = ""
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


def _line(raw: Any, text_page: Any, chars: list[str], start: int, end: int, page: int) -> Line | None:
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
    return Line(
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


def recognised_lines(pdf: Any, index: int, reader: PageReader) -> list[Line]:
    """The lines of page ``index`` as OCR reads them."""
    page = pdf[index]
    try:
        return [
            Line(text, index + 1, right, bottom, top, (right - left) / max(len(text.split()), 1), bottom)
            for text, left, right, bottom, top in reader.lines(page)
        ]
    finally:
        page.close()
