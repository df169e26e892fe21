"""Reads pages that are pictures, if the extra ``ocr`` is installed (``pip install "lqr[ocr]"``): RapidOCR with its own models.

Latin letters and Chinese; it reads no tables and no handwriting. What it reads is a guess, and the document says so.
"""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from typing import Any

EXTRA = "pip install 'lqr[ocr]'"
DPI = 200
_PIXELS = 3000  # of the longer side of the picture, at most
_SURE = 0.5  # a line that is less sure than this is left out

Line = tuple[str, float, float, float, float]  # text; left, right, bottom and top in points from the foot of the page


def available() -> bool:
    """Whether the extra is installed."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


class PageReader:
    """Reads pages of pypdfium2; the models are loaded when the first page is read."""

    @cached_property
    def _engine(self) -> Any:
        from rapidocr import RapidOCR

        # Its own logger writes to the terminal at every page.
        return RapidOCR(params={"Global.log_level": "critical"})

    def lines(self, page: Any) -> list[Line]:
        """The lines of ``page``, from the top down and from left to right."""
        width, height = page.get_size()
        scale = min(DPI / 72, _PIXELS / max(width, height, 1.0))
        result = self._engine(page.render(scale=scale).to_numpy())
        found: list[Line] = []
        for box, text, sure in zip(
            result.boxes if result.boxes is not None else (), result.txts or (), result.scores or (), strict=True
        ):
            if sure >= _SURE and text.strip():
                across, down = box[:, 0] / scale, box[:, 1] / scale
                found.append(
                    (text, float(across.min()), float(across.max()), height - float(down.max()), height - float(down.min()))
                )
        return sorted(found, key=lambda line: (-round((line[3] + line[4]) / 2 / 6), line[1]))
