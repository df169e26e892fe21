"""Finds the encoding of text bytes: byte order marks, UTF-8, UTF-16 without a mark, GBK, then charset-normalizer.

It reads no structure. Short texts in single-byte encodings are guesses: a handful of accented letters can't tell
Western from Central European, and Western (cp1252) is taken.
"""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

from lqr.errors import ReadError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What charset-normalizer may choose among: without this it takes cp1252 for the Macintosh code pages.
_CANDIDATES = [
    "cp1252",
    "gb18030",
    "big5",
    "cp932",
    "euc_jp",
    "cp949",
    "cp1251",
    "koi8_r",
    "cp1256",
    "cp1255",
    "cp1253",
    "cp1254",
    "cp874",
]
_SAMPLE = 65536
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def decode(data: bytes, name: str) -> str:
    """``data`` as text, without a byte order mark.

    Raises:
        ReadError: the bytes are not text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    wide = _utf16_without_mark(data[:_SAMPLE])
    if wide:
        return data.decode(wide, "replace")
    if len(_BINARY.findall(data[:_SAMPLE])) > 3 + len(data[:_SAMPLE]) // 50:
        raise ReadError(f"{name}: not a text file; save it as text, PDF, DOCX or Markdown first")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    damaged = data.decode("utf-8", "replace")
    broken = damaged.count("\ufffd")
    if sum(c > "\x7f" for c in damaged) > 20 * broken:  # UTF-8 with a few bad bytes, such as a cut download
        return damaged
    return data.decode(_legacy(data), "replace")


def _legacy(data: bytes) -> str:
    if _is_gbk(data):
        return "gb18030"
    sample = data[:_SAMPLE]
    high = sum(byte > 0x7F for byte in sample)
    letters = high + sum(65 <= byte <= 90 or 97 <= byte <= 122 for byte in sample)
    if high * 5 < letters:  # a few accents, dashes and degree signs among Latin letters
        return "cp1252"
    best = from_bytes(sample, cp_isolation=_CANDIDATES).best()
    return best.encoding if best else "cp1252"


def _is_gbk(data: bytes) -> bool:
    """Valid GB18030 in which most two-byte pairs are common characters (level 1 of GB 2312) or its punctuation."""
    try:
        data.decode("gb18030")
    except UnicodeDecodeError as error:
        if error.start < len(data) - 4:  # a character cut in half at the end is no contradiction
            return False
    pairs = re.findall(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]", data[:_SAMPLE])
    common = sum((0xB0 <= a <= 0xD7 or a in (0xA1, 0xA3)) and b >= 0xA1 for a, b in pairs)
    return len(pairs) >= 2 and common * 10 >= len(pairs) * 8


def _utf16_without_mark(data: bytes) -> str:
    half = len(data) // 2
    if half < 4:
        return ""
    even, odd = data[0 : 2 * half : 2].count(0), data[1 : 2 * half : 2].count(0)
    if odd * 2 > half and even * 10 < half:
        return "utf-16-le"
    if even * 2 > half and odd * 10 < half:
        return "utf-16-be"
    return ""
