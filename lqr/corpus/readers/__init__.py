"""Files into documents: the registry of readers and the decision which one a file's content asks for.

One module per format, each with a ``read`` function; modules and their heavy libraries are imported when a file
of their kind is met.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from lqr.corpus.readers.base import RawFile, ReadLimits, clean_source, numbered_source
from lqr.corpus.readers.zips import check_zip
from lqr.errors import ReadError
from lqr.types import Document

__all__ = [
    "RawFile",
    "ReadLimits",
    "clean_source",
    "numbered_source",
    "read_bytes",
    "read_file",
    "suffix_of",
    "supported_suffixes",
]

Reader = Callable[[RawFile], tuple[Document, ...]]

# format -> module and function; the module is imported at first use
_READERS: dict[str, tuple[str, str]] = {
    "markdown": ("markdown", "read"),
    "text": ("text", "read"),
    "html": ("html", "read"),
    "pdf": ("pdf", "read"),
    "docx": ("docx", "read"),
    "table": ("tables", "read"),
    "sheets": ("tables", "read_sheets"),
    "records": ("records", "read"),
}
_SUFFIXES: dict[str, str] = {
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    **dict.fromkeys((".txt", ".text"), "text"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".pdf": "pdf",
    **dict.fromkeys((".docx", ".docm"), "docx"),
    **dict.fromkeys((".csv", ".tsv"), "table"),
    **dict.fromkeys((".xlsx", ".xlsm"), "sheets"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz"), "records"),
}
# First bytes of what is no document, with what to do about it.
_REFUSED: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0", "password-protected, or an old .doc or .xls file; save it as DOCX or XLSX without a password"),
    (b"\x89PNG", "an image; only text can be read, run OCR on it first"),
    (b"\xff\xd8\xff", "an image; only text can be read, run OCR on it first"),
    (b"GIF8", "an image; only text can be read, run OCR on it first"),
    (b"Rar!", "an archive; unpack it first"),
    (b"7z\xbc\xaf", "an archive; unpack it first"),
    (b"{\\rtf", "an RTF file; save it as DOCX"),
)
_HTML_START = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)


def supported_suffixes() -> tuple[str, ...]:
    """The file name endings that can be read, in lower case, with their dot."""
    return tuple(_SUFFIXES)


def suffix_of(name: str) -> str:
    """The supported ending of ``name`` (``.jsonl.gz`` before ``.gz``), or an empty string."""
    lowered = name.lower()
    return max((suffix for suffix in _SUFFIXES if lowered.endswith(suffix)), key=len, default="")


def read_file(
    path: Path,
    *,
    source: str | None = None,
    limits: ReadLimits = ReadLimits(),  # noqa: B008
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Document, ...]:
    """The documents of one file (several only for JSON records).

    ``source`` is the name a person knows the file by; by default its own name. ``progress`` is told (pages done, pages in
    all) while a PDF is read. Where the content contradicts the
    suffix, the content decides.

    Raises:
        ReadError: the file is missing, empty, too large, damaged, encrypted, or of no known type.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(limits.bytes + 1)
    except OSError as error:
        raise ReadError(
            f"{clean_source(path.name)}: can't be opened ({error.strerror}); check the path and its permissions"
        ) from error
    return read_bytes(data, source=source if source is not None else path.name, limits=limits, progress=progress)


def read_bytes(
    data: bytes,
    *,
    source: str,
    limits: ReadLimits = ReadLimits(),  # noqa: B008
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Document, ...]:
    """As :func:`read_file`, for bytes that are already in memory.

    Raises:
        ReadError: empty, too large, damaged, encrypted, or of no known type.
    """
    source = clean_source(source)
    file = RawFile(data=data, name=source.rsplit("/", 1)[-1], source=source, limits=limits, progress=progress)
    if len(data) > limits.bytes:
        raise ReadError(f"{file.name}: larger than {limits.bytes / 2**20:,.0f} MB; split it")
    if not data.strip(b"\x00 \t\r\n\xef\xbb\xbf\xfe\xff"):
        raise ReadError(f"{file.name}: empty")
    module, function = _READERS[_format(file)]
    reader: Reader = getattr(import_module(f"{__name__}.{module}"), function)
    return reader(file)


def _format(file: RawFile) -> str:
    data = file.data
    for start, what in _REFUSED:
        if data.startswith(start):
            raise ReadError(f"{file.name}: {what}")
    if b"%PDF-" in data[:1024] and data[:64].lstrip()[:4] != b"<htm":
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        names = check_zip(file)
        if "word/document.xml" in names:
            return "docx"
        if "xl/workbook.xml" in names:
            return "sheets"
        raise ReadError(f"{file.name}: a zip archive that is no DOCX or XLSX; unpack it first")
    if data.startswith(b"\x1f\x8b"):
        return "records"
    if _HTML_START.match(data[:4096].removeprefix(b"\xef\xbb\xbf")):
        return "html"
    named = _SUFFIXES.get(suffix_of(file.name), "text")
    if named in ("pdf", "docx", "sheets"):  # named as a binary format, but the bytes are not
        if b"\x00" in data[:4096]:
            raise ReadError(f"{file.name}: damaged, or not the type its name says; open it in its own program and save it again")
        return "text"
    return named
