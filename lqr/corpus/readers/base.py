"""What every reader shares: the raw file, the limits, cleaning of text, and the builder that keeps offsets.

It knows no format. A reader turns ``RawFile`` into blocks through ``Builder``; offsets into ``Document.text`` are
exact by construction, because the builder alone writes that text.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from lqr.errors import ReadError
from lqr.types import Block, BlockKind, Document


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """How much of one file is taken. ``bytes`` and ``uncompressed`` refuse the file; the others cut it and say so."""

    bytes: int = 64 * 2**20
    uncompressed: int = 256 * 2**20  # bytes, for zipped and gzipped formats
    pages: int = 2000
    ocr_pages: int = 100  # of these, how many pictures are read by OCR: seconds each
    rows: int = 100_000  # table rows, or records of JSON
    characters: int = 5_000_000  # per document


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file's bytes with the names it goes by: ``name`` for messages, ``source`` for the document."""

    data: bytes
    name: str
    source: str
    limits: ReadLimits = field(default_factory=ReadLimits)
    progress: Callable[[int, int], None] | None = None  # told (pages done, pages in all) by formats that have pages

    @property
    def id(self) -> str:
        """The document id: the first 12 hex digits of the SHA-256 of the bytes."""
        return hashlib.sha256(self.data).hexdigest()[:12]

    @property
    def title(self) -> str:
        """A title made of the file name, for files that hold none."""
        stem = PurePosixPath(self.source).name
        for suffix in (".gz", PurePosixPath(stem.removesuffix(".gz")).suffix):
            stem = stem.removesuffix(suffix) if suffix else stem
        return fold(re.sub(r"[_-]+", " ", stem)) or self.source


# Presentation forms and ligatures that PDFs hold in place of letters. Full NFKC would also turn 10² into 102.
_COMPATIBILITY = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc\u2e80-\u2fd5]")
# Characters nobody sees: controls, zero-width (the joiners stay: Persian, Indic and emoji need them), bidi overrides, tags.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e01ef]"
)
_NEWLINE = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CJK = "\u3001-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_CJK_WRAP = re.compile(f"(?<=[{_CJK}])[ \t]*\n\\s*(?=[{_CJK}])")
_BOILERPLATE = (40, 2000)  # characters of a paragraph that is left out from its third time on
_NAME_LIMIT = 120  # characters of one part of a source


def clean(text: str) -> str:
    """NFC text without invisible characters, with ``\\n`` for every kind of line end and a plain space for every space."""
    if _SURROGATE.search(text):  # JSON escapes and file names may hold halves of pairs, which SQLite can't store
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = _SPACE.sub(" ", _NEWLINE.sub("\n", text))
    text = _COMPATIBILITY.sub(lambda match: unicodedata.normalize("NFKC", match.group()), _INVISIBLE.sub("", text))
    return unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """``clean`` text on one line; a line end between Chinese or Japanese characters leaves no space."""
    return " ".join(_CJK_WRAP.sub("", clean(text)).split())


def clean_source(name: str) -> str:
    """A relative, printable ``/``-separated name: no ``..``, no control characters, at most 120 characters a part."""
    parts = []
    for part in re.split(r"[\\/]", clean(name).replace("\n", " ").replace("\t", " ")):
        part = " ".join(part.split()).rstrip(". ")
        if part and part != "..":
            stem, dot, suffix = part.rpartition(".")
            if len(part) > _NAME_LIMIT and stem and len(suffix) <= 8:
                part = stem[: _NAME_LIMIT - len(suffix) - 1].rstrip() + dot + suffix
            parts.append(part[:_NAME_LIMIT])
    return "/".join(parts) or "document"


def numbered_source(source: str, number: int) -> str:
    """``source`` with `` (number)`` before its suffix, within the limits of :func:`clean_source`."""
    folder, slash, name = source.rpartition("/")
    stem, dot, suffix = name.rpartition(".") if "." in name else (name, "", "")
    mark = f" ({number})"
    return f"{folder}{slash}{stem[: _NAME_LIMIT - len(mark + dot + suffix)]}{mark}{dot}{suffix}"


def row_text(header: Sequence[str], cells: Sequence[str]) -> str:
    """A table row as ``column: value; column: value``; empty cells are left out, unnamed columns give their value alone."""
    parts = []
    for index, cell in enumerate(cells):
        value = fold(cell)
        name = fold(header[index]).rstrip(":： ") if index < len(header) else ""
        if value:
            parts.append(f"{name}: {value}" if name else value)
    return "; ".join(parts)


def looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of ``rows`` names columns: two or more cells, each filled, distinct and not a number."""
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    first = [fold(cell) for cell in rows[0]]
    return all(first) and len(set(first)) == len(first) and not any(re.fullmatch(r"[-+]?[\d.,\s]+%?", cell) for cell in first)


class Builder:
    """Collects blocks in reading order and writes ``Document.text`` as it goes (blocks joined by blank lines)."""

    def __init__(self, file: RawFile) -> None:
        self.file = file
        self.notes: list[str] = []  # what was cut, one line each
        self.full = False  # whether the character limit was met; readers may stop
        self._said: Counter[str] = Counter()
        self._blocks: list[Block] = []
        self._parts: list[str] = []
        self._length = 0

    @property
    def has_text(self) -> bool:
        """Whether any block was added."""
        return bool(self._blocks)

    @property
    def top_heading(self) -> str:
        """The text of the heading that stands over all others, or nothing: a file of equal sections has no title."""
        headings = [block for block in self._blocks if block.kind == "heading"]
        if not headings or any(block.level <= headings[0].level for block in headings[1:]):
            return ""
        return headings[0].text if headings[0].level == 1 or self._blocks[0] is headings[0] else ""

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        page: int | None = None,
        links: Sequence[str] = (),
        keep_lines: bool = False,
    ) -> None:
        """Append a block; blank text adds nothing. ``keep_lines`` is for code and verse."""
        text = clean(text).strip("\n").rstrip() if keep_lines else fold(text)
        if not text or self.full or (kind == "paragraph" and self._is_boilerplate(text)):
            return
        start = self._length + (2 if self._blocks else 0)
        room = max(self.file.limits.characters - start, 0)
        if len(text) > room:
            self.full = True
            self.cut(f"only the first {self.file.limits.characters:,} characters were read")
            text = text[:room].rstrip()
        if text:
            self._blocks.append(Block(kind, text, start, start + len(text), level, page, tuple(dict.fromkeys(links))))
            self._parts.append(text)
            self._length = start + len(text)

    def _is_boilerplate(self, text: str) -> bool:
        """Whether this paragraph has stood here twice already, as a notice on every page does."""
        if not _BOILERPLATE[0] <= len(text) <= _BOILERPLATE[1]:
            return False
        self._said[text] += 1
        return self._said[text] > 2

    def cut(self, note: str) -> None:
        """Note once that something was left out; ends up in ``metadata["truncated"]``."""
        if note not in self.notes:
            self.notes.append(note)

    def build(
        self,
        media_type: str,
        *,
        title: str = "",
        metadata: Mapping[str, Any] | None = None,
        document_id: str | None = None,
        source: str | None = None,
    ) -> Document:
        """The document.

        Raises:
            ReadError: no block was added.
        """
        if not self._blocks:
            raise ReadError(f"{self.file.name}: holds no text that can be read; leave it out or save it as text")
        extra: dict[str, Any] = dict(metadata or {})
        if self.notes:
            extra["truncated"] = "; ".join(self.notes)
        name = fold(title)[:300] or self.top_heading[:300] or self.file.title
        return Document(
            id=document_id or self.file.id,
            title=name,
            text="\n\n".join(self._parts),
            blocks=tuple(self._blocks),
            source=source or self.file.source,
            media_type=media_type,
            metadata=extra,
        )


def json_safe(value: Any, depth: int = 0) -> Any:
    """``value`` with only JSON types: dates become ISO text, keys become text, over-deep parts are dropped."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, str):
        return clean(value)
    if depth > 6:
        return None
    if isinstance(value, Mapping):
        return {clean(str(key)): json_safe(item, depth + 1) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
        return [json_safe(item, depth + 1) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
