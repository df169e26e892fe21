"""Tells which words of a PDF page nobody can see: white on white, transparent, too small, or beside the page.

Such words are how instructions are hidden from a person and shown to a machine. A word that looks suspicious by its colour
or its drawing mode is looked up in a picture of the page: if all points there are alike, it is hidden. So white letters on
a dark bar stay, and so does the invisible text that OCR lays over a scan. A word that something opaque covers is not found.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

MIN_HEIGHT = 1.5  # points; smaller letters are dots on paper
PALE = 225  # of 255: a colour all of whose parts are above is looked up in the picture
CONTRAST = 12  # of 255: points that differ by less look alike
_PIXELS = 1600  # of the longer side of the picture, at most
_SCALE = 1.5
_INVISIBLE = (3, 7)  # text rendering modes that paint nothing (PDF 32000-1, table 106)


def hidden_letters(raw: Any, page: Any, text_page: Any, chars: Sequence[str]) -> set[int]:
    """Indices into ``chars``, the letters of ``text_page``, of words that can't be seen.

    Args:
        raw: the module ``pypdfium2.raw``.
        page: the ``PdfPage``; it is drawn only if a word looks suspicious.
    """
    width, height = page.get_size()
    hidden: set[int] = set()
    doubtful: list[tuple[int, int, tuple[float, float, float, float]]] = []
    for start, end in _words(chars):
        box = _box(raw, text_page, start, end)
        if box is None:
            continue
        # Rotation and margins of the page are the picture's business; here it is enough to be far outside.
        far = box[1] < -2 or box[0] > max(width, height) + 2 or box[3] < -2 or box[2] > max(width, height) + 2
        if (far and _origin_is_zero(page)) or box[3] - box[2] < MIN_HEIGHT:
            hidden.update(range(start, end))
        elif _is_doubtful(raw, text_page, start):
            doubtful.append((start, end, box))
    if doubtful:
        picture = _Picture(raw, page)
        for start, end, box in doubtful:
            if picture.is_blank(box):
                hidden.update(range(start, end))
    return hidden


def _words(chars: Sequence[str]) -> Iterator[tuple[int, int]]:
    start = -1
    for i, char in enumerate(chars):
        if char.isspace():
            if start >= 0:
                yield start, i
            start = -1
        elif start < 0:
            start = i
    if start >= 0:
        yield start, len(chars)


def _box(raw: Any, text_page: Any, start: int, end: int) -> tuple[float, float, float, float] | None:
    """Left, right, bottom and top of a word, in points; None for letters that PDFium made up."""
    boxes = []
    for i in {start, end - 1}:
        rectangle = raw.FS_RECTF()
        if not raw.FPDFText_GetLooseCharBox(text_page, i, ctypes.byref(rectangle)):
            return None
        boxes.append((rectangle.left, rectangle.right, rectangle.bottom, rectangle.top))
    left, right, bottom, top = zip(*boxes, strict=True)
    if max(top) <= min(bottom) or (max(right) == min(left) == 0):
        return None
    return min(left), max(right), min(bottom), max(top)


def _is_doubtful(raw: Any, text_page: Any, index: int) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if raw.FPDFText_GetFillColor(text_page, index, red, green, blue, alpha) and (
        alpha.value < 40 or min(red.value, green.value, blue.value) > PALE
    ):
        return True
    text_object = raw.FPDFText_GetTextObject(text_page, index)
    return bool(text_object and raw.FPDFTextObj_GetTextRenderMode(text_object) in _INVISIBLE)


def _origin_is_zero(page: Any) -> bool:
    left, bottom, _, _ = page.get_cropbox()
    return bool(abs(left) < 1 and abs(bottom) < 1)


class _Picture:
    """A page drawn in grey."""

    def __init__(self, raw: Any, page: Any) -> None:
        self._raw = raw
        self._page = page
        scale = min(_SCALE, _PIXELS / max(*page.get_size(), 1.0))
        self._points = page.render(scale=scale, grayscale=True).to_numpy()

    def is_blank(self, box: tuple[float, float, float, float]) -> bool:
        """Whether all points inside ``box`` look alike."""
        left, right, bottom, top = box
        inset = 0.15 * (top - bottom)  # the lines above and below may reach into the box
        corners = [self._device(left, bottom + inset), self._device(right, top - inset)]
        (x1, x2), (y1, y2) = (sorted(axis) for axis in zip(*corners, strict=True))
        part = self._points[max(y1, 0) : max(y2 + 1, 0), max(x1, 0) : max(x2 + 1, 0)]
        return part.size == 0 or int(part.max()) - int(part.min()) < CONTRAST

    def _device(self, x: float, y: float) -> tuple[int, int]:
        height, width = self._points.shape[:2]
        across, down = ctypes.c_int(), ctypes.c_int()
        self._raw.FPDF_PageToDevice(self._page, 0, 0, width, height, 0, x, y, across, down)
        return across.value, down.value
