"""Reads plain text: paragraphs between blank lines, list items, and headings only where the sign is plain.

It knows no markup. Hard-wrapped lines are joined; short lines (verse, addresses) keep their breaks.
"""

from __future__ import annotations

import re

from lqr.corpus.readers.base import Builder, RawFile, clean
from lqr.corpus.readers.encoding import decode
from lqr.types import Document

_WRAP = 100  # characters; longer lines are paragraphs of their own
_ITEM = re.compile(r"\s*(?:[-*•‣▪–]\s+|(?=\d{1,3}[.)]\s+\S))")
_RULE = re.compile(
    r"\s*(?:\d+(?:\.\d+)+(?:[A-Z]{1,2}(?=[\s(]))?(?:\(\w{1,5}\))*\.?\s+[A-Z]|§\s*\d|(?:Article|Section|Rule|Clause|Art\.)\s+\d|第[一二三四五六七八九十百零\d]+[条章节])"
)
_UNDERLINE = re.compile(r"\s*(=|-|~)\1{2,}\s*")
_NUMBERED_HEADING = re.compile(
    r"(?:chapter|part|section|appendix)\s+[\dIVXA-Z]+\b|\d+(?:\.\d+)*\.?\s+[A-Z]|第[一二三四五六七八九十百零\d]+[章节]", re.I
)


def read(file: RawFile) -> tuple[Document, ...]:
    """One document of ``file``."""
    builder = Builder(file)
    add_text(builder, decode(file.data, file.name))
    return (builder.build("text/plain"),)


def add_text(builder: Builder, text: str) -> None:
    """Add the paragraphs, list items and headings of plain ``text`` to ``builder``."""
    for chunk in re.split(r"\n[ \t]*(?:\n[ \t]*)+", clean(text).strip("\n")):
        lines = [line.rstrip() for line in chunk.split("\n") if line.strip()]
        if not lines:
            continue
        if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1]) and len(lines[0]) <= 120:
            builder.add("heading", lines[0], level=1 if "=" in lines[1] else 2)
            lines = lines[2:]
        elif len(lines) == 1 and _is_heading(lines[0]):
            builder.add("heading", lines[0], level=2)
            continue
        _add_lines(builder, lines)


def _add_lines(builder: Builder, lines: list[str]) -> None:
    """Split one chunk where a line starts an item or a rule, then join what was wrapped."""
    group: list[str] = []
    for line in lines:
        if group and (_ITEM.match(line) or _RULE.match(line)):
            _add_group(builder, group)
            group = []
        group.append(line)
    if group:
        _add_group(builder, group)


def _add_group(builder: Builder, lines: list[str]) -> None:
    item = _ITEM.match(lines[0])
    if item and not _RULE.match(lines[0]):
        indent = len(lines[0]) - len(lines[0].lstrip())
        builder.add("list_item", "\n".join([lines[0][item.end() :], *lines[1:]]), level=min(indent // 2, 5))
    elif max(map(len, lines)) > _WRAP:
        for line in lines:
            builder.add("paragraph", line)
    elif len(lines) > 2 and max(map(len, lines)) < 40:
        builder.add("paragraph", "\n".join(line.strip() for line in lines), keep_lines=True)
    else:
        builder.add("paragraph", "\n".join(lines))


def _is_heading(line: str) -> bool:
    text = line.strip()
    if not 3 <= len(text) <= 80 or text[-1] in ".!?;,。！？；，" or not any(c.isalpha() for c in text):
        return False
    if len(text.split()) > 12 or (_ITEM.match(line) and not _NUMBERED_HEADING.match(text)):
        return False
    return (text.isupper() and len(text) > 3) or bool(_NUMBERED_HEADING.match(text))
