"""Turns whatever a model writes as a citation into ids of retrieved passages, and takes the marks out of the text.

Language models cite as ``[1,2]``, ``[1][2]``, ``[1-3]``, ``【1】``, ``[^1]``, ``[Source 1]``, ``(passage 2)``, with an id, a
title, a JSON list or a list of sources at the end. What was not retrieved is removed and counted. Ordinary brackets
stay (``[H+]``, ``(see 4.2)``, ``[5-10 mg]``); a number in square brackets that is no citation (a year, an amount) gets
round ones, so that what this module returns never looks like a citation. Whether a passage supports its sentence is
not known here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lqr.grounding.citation_marks import BRACKET, WORD, Mark, Resolver, has_square_mark, without_marks
from lqr.text import sentence_spans


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence, list item or table row without its marks.

    ``lead`` is what stood before it (white space, list marker, rule of a table): ``lead + text`` of all sentences,
    joined, is the answer without citations. ``removed`` counts what it cited that was not retrieved.
    """

    text: str
    passages: tuple[str, ...]
    removed: int = 0
    lead: str = ""


@dataclass(frozen=True, slots=True)
class CitedText:
    """A text as its sentences; ``removed`` counts all citations that had to go."""

    sentences: tuple[CitedSentence, ...]
    removed: int


_DEFINITION = re.compile(r"\s*\[(\^?)(\w{1,12})\]\s?[:：]\s*(\S.*)$")
_TRAILER = re.compile(rf"\W*(?:{WORD}|bibliography|works cited)\W*$", re.IGNORECASE)
_MARKER = re.compile(r"\s*(?:(?:[-*•–+]|\d{1,3}[.)]|[a-z]\)|#{1,6}|>)[ \t]+)*")
_RULE_ROW = re.compile(r"[\s|:+-]*-[\s|:+-]*$")


def parse(text: str, numbered: Sequence[str], *, titles: Sequence[str] = ()) -> CitedText:
    """Split ``text`` into sentences with the passages that each cites.

    Args:
        text: as written by a model.
        numbered: passage ids in the order of their numbers; ``[n]`` cites ``numbered[n - 1]``.
        titles: titles or headings in the same order, if the model may cite by them.

    A mark at the beginning of a line belongs to the sentence after it, any other to the one before it; a line of
    marks alone to the sentence before it; a list of sources at the end to all sentences, if none cites by itself.
    ``(1)`` counts only at the end of a sentence, in a text without ``[1]``, when there is such a passage.
    """
    resolver = Resolver(numbered, titles)
    lines = _from_json(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines, resolver.labels = _without_definitions(lines, resolver)
    plain_round = not any(has_square_mark(line, resolver) for line in lines)

    sentences: list[CitedSentence] = []
    lost = 0  # citations in a text without any sentence
    gap = ""
    for line in lines:
        if "|" in line and _RULE_ROW.match(line):
            gap += line + "\n"
            continue
        clean, marks = without_marks(line, resolver, plain_round)
        if marks and (not _has_words(clean) or _TRAILER.match(clean)):
            lost += _attach(sentences, marks, to_all=_has_words(clean))
            continue
        for sentence in _split(clean, marks):
            sentences.append(replace(sentence, lead=gap + sentence.lead))
            gap = ""
        gap += "\n"
    if sentences:
        sentences[0] = replace(sentences[0], lead=sentences[0].lead.lstrip())
    return CitedText(tuple(sentences), lost + sum(sentence.removed for sentence in sentences))


def _split(clean: str, marks: Sequence[Mark]) -> Iterator[CitedSentence]:
    """The sentences of one line, each with its marks."""
    marker = _MARKER.match(clean)
    begin = marker.end() if marker else 0
    if clean.lstrip().startswith("|"):
        spans = [(begin, len(clean.rstrip()))] if _has_words(clean) else []  # a table row is one claim
    else:
        spans = [(begin + start, begin + end) for start, end in sentence_spans(clean[begin:])]
    marks_lead = bool(marks) and marks[0].at <= begin and not marks[0].opens
    own: list[list[Mark]] = [[] for _ in spans]
    for mark in marks:
        if marks_lead or mark.opens:
            index = next((i for i, (_, end) in enumerate(spans) if end > mark.at), len(spans) - 1)
        else:
            index = max((i for i, (start, _) in enumerate(spans) if start < mark.at), default=0)
        if own:
            own[index].append(mark)
    previous = 0
    for (start, end), cited in zip(spans, own, strict=True):
        ids = tuple(dict.fromkeys(identifier for mark in cited for identifier in mark.ids))
        yield CitedSentence(clean[start:end], ids, sum(mark.removed for mark in cited), clean[previous:start])
        previous = end


def _attach(sentences: list[CitedSentence], marks: Sequence[Mark], *, to_all: bool) -> int:
    """Give marks that stand alone to the sentences before them; returns the unknown citations if there are none."""
    ids = tuple(dict.fromkeys(identifier for mark in marks for identifier in mark.ids))
    removed = sum(mark.removed for mark in marks)
    if not sentences:
        return removed
    first = 0 if to_all else len(sentences) - 1
    if not to_all or not any(sentence.passages for sentence in sentences):
        for index in range(first, len(sentences)):
            old = sentences[index]
            sentences[index] = replace(old, passages=tuple(dict.fromkeys((*old.passages, *ids))))
    sentences[-1] = replace(sentences[-1], removed=sentences[-1].removed + removed)
    return 0


def _without_definitions(lines: Sequence[str], resolver: Resolver) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Take out footnotes that name a passage (``[^1]: Copper in sheep``): they say what the label means.

    A footnote with a caret is never a sentence of the answer; ``[1]: text`` without one may be, and then stays.
    """
    kept: list[str] = []
    labels: dict[str, tuple[str, ...]] = {}
    for line in lines:
        match = _DEFINITION.match(line)
        resolved = None
        if match:
            inner = BRACKET.search(match[3])
            resolved = resolver.content(match[3].rstrip(". ")) or (resolver.content(inner[1]) if inner and match[1] else None)
        if match and resolved:
            labels[match[2]] = resolved[0]
        if not match or not (resolved or match[1]):
            kept.append(line)
    return kept, labels


def _has_words(text: str) -> bool:
    return any(c.isalnum() for c in text)


def _from_json(text: str) -> str:
    """An answer that is a JSON string, object or list of objects, as plain text with marks; other text unchanged."""
    stripped = text.strip()
    if stripped.startswith("```json") and stripped.endswith("```"):
        stripped = stripped[7:-3].strip()
    if stripped[:1] not in ("{", "[", '"'):
        return text
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return text
    flat = _flattened(value)
    return text if flat is None else flat


_SAID = ("answer", "text", "sentence", "claim", "response", "content", "claims", "sentences")
_CITED = ("citations", "citation", "sources", "source", "passages", "references")


def _flattened(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        parts = [_flattened(item) for item in value]
        return None if None in parts else "\n".join(part for part in parts if part)
    if not isinstance(value, Mapping):
        return None
    said = _flattened(next((value[key] for key in _SAID if key in value), None))
    cited: Any = next((value[key] for key in _CITED if key in value), [])
    items = cited if isinstance(cited, list) else [cited]
    marks = "".join(f"[{item}]" for item in items if isinstance(item, (int, str)) and not isinstance(item, bool))
    if said is None or not marks:
        return said
    return f"{said} {marks}" if len(sentence_spans(said)) == 1 else f"{said}\nSources: {marks}"
