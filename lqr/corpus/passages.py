"""Splits a document into passages, the smallest units that answer a question on their own.

Prose of one section is merged and cut at sentence ends to about ``TARGET`` words, list items are merged with their
lead-in, a table row and a numbered rule are a passage each; a rule's passage carries its number and that of the rule it is
part of as metadata (``number``, ``parent``). It knows structure only, not what a text is about.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lqr.text import sentence_spans
from lqr.types import Block, Document, Passage

TARGET = 120  # words; small embedders read 256 tokens
SLACK = 1.5  # one rule, or one sentence, may be this much longer before it is cut
SCOPE_FIELDS = ("topic", "species", "crop", "region", "season")  # what a passage inherits from its document

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_RULE = re.compile(
    r"(?:§+\s*\d"
    r"|(?:Article|Section|Rule|Regulation|Clause|Paragraph|Art\.|Sec\.)\s+\d+[\w.]*(?:\s*\(\w+\))*[\s.:–—-]"
    r"|\d+(?:\.\d+){1,5}(?:[A-Z]{1,2}(?=[\s(]))?(?:\(\w{1,5}\))*\.?\s+(?=[A-Z\"“(]|[^\x00-\u02ff])"  # not "2.5 kg of hay"
    r"|第[一二三四五六七八九十百千零〇\d]+条)"
)
_NUMBER = re.compile(
    r"(?:§+\s*|(?:Article|Section|Rule|Regulation|Clause|Paragraph|Art\.|Sec\.)\s+)?"
    r"(?:\d+(?:\.\d+)*[A-Za-z]{0,2}(?:\s?\(\w{1,5}\))*)|第[一二三四五六七八九十百千零〇\d]+条"
)
_SUB_RULE = re.compile(r"\(?(?:[a-z]|[ivx]{1,4}|\d{1,2})\)\s")  # (a), (ii), 3): belongs to the rule before
_LEAD_IN = re.compile(r"(?:[:：]|\b(?:following|as follows|these (?:steps|signs|points))[^.]{0,40}\.)\s*$", re.I)


def split(document: Document) -> tuple[Passage, ...]:
    """The passages of ``document`` in reading order, with ids ``<document id>-<position>``.

    ``section`` is the path of headings above a passage, without the title; text before the first heading has ``()``.
    """
    scope = {name: document.metadata[name] for name in SCOPE_FIELDS if document.metadata.get(name)}
    passages: list[Passage] = []

    def add(section: tuple[str, ...], start: int, end: int, block: Block, extra: Mapping[str, Any]) -> None:
        passages.append(
            Passage(
                id=f"{document.id}-{len(passages)}",
                document_id=document.id,
                title=document.title,
                section=section,
                text=document.text[start:end],
                position=len(passages),
                start=start,
                end=end,
                kind=block.kind,
                page=block.page,
                metadata={**scope, **extra},
            )
        )

    for section, blocks in _sections(document):
        for start, end, block, extra in _units(document.text, blocks):
            add(section, start, end, block, extra)
    if not passages:  # nothing but headings, as in a list of titles
        for block in document.blocks:
            add((), block.start, block.end, block, {})
    return tuple(passages)


def size(text: str) -> int:
    """Length of ``text`` in words; three Chinese or Japanese characters count as two, and text without spaces by its length."""
    cjk = len(_CJK.findall(text))
    words = len((_CJK.sub(" ", text) if cjk else text).split()) + math.ceil(cjk / 1.5)
    return max(words, len(text) // 12)


_Unit = tuple[int, int, Block, dict[str, Any]]


def _sections(document: Document) -> Iterator[tuple[tuple[str, ...], list[Block]]]:
    """Runs of blocks under one path of headings."""
    path: list[tuple[int, str]] = []
    run: list[Block] = []
    for block in document.blocks:
        if block.kind != "heading":
            run.append(block)
            continue
        if run:
            yield _names(path, document.title), run
            run = []
        while path and path[-1][0] >= block.level:
            path.pop()
        path.append((block.level, block.text))
    if run:
        yield _names(path, document.title), run


def _names(path: Sequence[tuple[int, str]], title: str) -> tuple[str, ...]:
    return tuple(text for _, text in path if text.casefold() != title.casefold())


def _units(text: str, blocks: Sequence[Block]) -> Iterator[_Unit]:
    """``(start, end, first block, extra metadata)`` of each passage in one section."""
    i = 0
    while i < len(blocks):
        block = blocks[i]
        j = i + 1
        if block.kind in ("table_row", "code", "heading"):
            yield from ((a, b, block, {}) for a, b in _fit(text, block.start, block.end, SLACK * 2))
        elif _RULE.match(block.text):
            while j < len(blocks) and blocks[j].kind in ("paragraph", "list_item") and _SUB_RULE.match(blocks[j].text):
                j += 1
            numbered = _numbered(block.text)
            yield from ((a, b, block, numbered) for a, b in _fit(text, block.start, blocks[j - 1].end, SLACK))
        else:
            while j < len(blocks) and blocks[j].kind == block.kind and not _RULE.match(blocks[j].text):
                j += 1
            if block.kind == "list_item":
                yield from _list(text, blocks[i:j], None)
            else:
                run = blocks[i:j]
                items = j
                while items < len(blocks) and blocks[items].kind == "list_item" and not _RULE.match(blocks[items].text):
                    items += 1
                lead = _lead_in(text, run[-1]) if items > j else None
                yield from _prose(text, run, run[-1].end if lead is None else lead)
                if lead is not None:
                    yield from _list(text, blocks[j:items], (lead, run[-1].end))
                    j = items
        i = j


def _numbered(text: str) -> dict[str, Any]:
    """The number that a rule begins with, and that of the rule it is part of: ``4.2.1R(2)`` is part of ``4.2.1R``."""
    match = _NUMBER.match(text)
    if match is None:
        return {}
    number = " ".join(match.group().rstrip(".").split())
    parent = re.sub(r"\s?\(\w+\)$", "", number)
    if parent == number:
        parent = re.sub(r"\.\d+[A-Za-z]{0,2}$", "", number)
    return {"number": number, "parent": parent} if parent != number else {"number": number}


def _lead_in(text: str, block: Block) -> int | None:
    """Where the sentence that introduces a list begins, if the paragraph before the list ends with one."""
    if not _LEAD_IN.search(block.text):
        return None
    spans = sentence_spans(block.text)
    return block.start + spans[-1][0] if spans else None


def _prose(text: str, blocks: Sequence[Block], end: int) -> Iterator[_Unit]:
    """Paragraphs up to ``end``, merged while they fit, cut at sentence ends where one alone is too long."""
    group: list[Block] = []
    for block in blocks:
        if block.start >= end:
            break
        if group and size(text[group[0].start : min(block.end, end)]) > TARGET:
            yield from ((a, b, group[0], {}) for a, b in _fit(text, group[0].start, group[-1].end))
            group = []
        group.append(block)
    if group:
        yield from ((a, b, group[0], {}) for a, b in _fit(text, group[0].start, min(group[-1].end, end)))


def _list(text: str, items: Sequence[Block], lead: tuple[int, int] | None) -> Iterator[_Unit]:
    """Items merged while they fit; the first passage begins with the lead-in, later ones name it in their metadata."""
    start = lead[0] if lead else items[0].start
    end = 0
    extra: dict[str, Any] = {}
    first = items[0]
    for item in items:
        if end and size(text[start : item.end]) > TARGET:
            yield from ((a, b, first, extra) for a, b in _fit(text, start, end, SLACK))
            start, first = item.start, item
            extra = {"lead_in": text[lead[0] : lead[1]]} if lead else {}
        end = item.end
    yield from ((a, b, first, extra) for a, b in _fit(text, start, end, SLACK))


def _fit(text: str, start: int, end: int, slack: float = 1.1) -> Iterator[tuple[int, int]]:
    """``[start, end)`` as spans of about ``TARGET`` words of like size, cut between sentences."""
    whole = size(text[start:end])
    if whole <= TARGET * slack:
        yield start, _trim(text, start, end)
        return
    pieces = [piece for a, b in sentence_spans(text[start:end]) for piece in _breakable(text, start + a, start + b)]
    target = whole / math.ceil(whole / TARGET)
    begin, last, held = pieces[0][0], pieces[0][0], 0
    for a, b in pieces:
        words = size(text[a:b])
        # Stop where the passage comes closest to its share, and never beyond the limit.
        if held and (held + words > TARGET * SLACK or held + words / 2 > target):
            yield begin, last
            begin, held = a, 0
        last, held = b, held + words
    yield begin, last


def _breakable(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence, or parts of one that is far too long (lists without stops, data without spaces)."""
    if size(text[start:end]) <= TARGET * SLACK and end - start <= TARGET * 20:
        yield start, end
        return
    for match in re.finditer(rf"\S.{{0,{TARGET * 4}}}(?=\s|$)|\S{{1,{TARGET * 4}}}", text[start:end], re.S):
        yield start + match.start(), start + match.end()


def _trim(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
