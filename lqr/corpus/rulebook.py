"""Splits a rule book: one passage for each rule, or for each sub-rule of a long one, with what the graph needs as metadata.

A rule begins where a block matches the profile's ``number`` and ends before the next rule or heading. Its passage carries number,
parent, type, chapter, status, dates, the numbers that it cites, what it defines, and references out of the collection. Whether a
cited rule exists is settled when all documents are known (:func:`references`). What is no rule is split as any document is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lqr.corpus.passages import SCOPE_FIELDS, SLACK, TARGET, _fit, _sections, _units, size
from lqr.corpus.rulebook_style import RuleStyle
from lqr.types import Block, Document, Passage

_Unit = tuple[int, int, Block, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class References:
    """What became of the cross-references: ``(from, to)`` by rule number."""

    resolved: tuple[tuple[str, str], ...] = ()
    open: tuple[tuple[str, str], ...] = ()  # to rules that are not in the store
    outside: tuple[tuple[str, str], ...] = ()  # to other works, such as an Act

    def __str__(self) -> str:
        return f"{len(self.resolved)} resolved, {len(self.open)} open, {len(self.outside)} to other works"


def split(document: Document, style: RuleStyle) -> tuple[Passage, ...]:
    """The passages of ``document`` in reading order, with ids ``<document id>-<position>``."""
    scope = {name: document.metadata[name] for name in SCOPE_FIELDS if document.metadata.get(name)}
    match = style.book.search(document.title) if style.book else None
    book = match[0] if match else ""
    passages: list[Passage] = []
    for section, blocks in _sections(document):
        for start, end, block, extra in _section(document.text, blocks, style, book):
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
    return tuple(passages)


def references(passages: Sequence[Passage]) -> References:
    """Resolve every cross-reference of ``passages``; a sub-rule that is no passage of its own resolves to its rule."""
    names = {str(p.metadata["number"]) for p in passages if "number" in p.metadata}
    resolved: list[tuple[str, str]] = []
    missing: list[tuple[str, str]] = []
    outside: list[tuple[str, str]] = []
    for passage in passages:
        number = str(passage.metadata.get("number", passage.id))
        for target in passage.metadata.get("cites", ()):
            found = resolve(target, names)
            (resolved if found else missing).append((number, found or target))
        outside += [(number, str(work)) for work in passage.metadata.get("outside", ())]
    return References(tuple(resolved), tuple(missing), tuple(outside))


def resolve(number: str, names: Mapping[str, Any] | set[str]) -> str:
    """The name under which ``number``, or the rule that it is part of, is known; empty if there is none."""
    while number not in names:
        shorter = re.sub(r"\s?\(\w+\)$", "", number)
        if shorter == number:
            return ""
        number = shorter
    return number


def _section(text: str, blocks: Sequence[Block], style: RuleStyle, book: str) -> Iterator[_Unit]:
    """The rules of one section, and what stands before the first one."""
    starts = [i for i, block in enumerate(blocks) if block.kind != "table_row" and style.number.match(block.text)]
    yield from _units(text, blocks[: starts[0]] if starts else blocks)
    for begin, end in pairwise([*starts, len(blocks)]):
        run = blocks[begin:end]
        rows = [block for block in run if block.kind == "table_row"]
        prose = [block for block in run if block.kind != "table_row"]
        match = style.number.match(prose[0].text)
        assert match is not None  # starts holds only blocks that match
        number = style.canonical(match["number"], book)
        for a, b, block, own in _rule(text, prose, style, number):
            yield a, b, block, _described(text[a:b], own, style, match, book)
        for row in rows:  # a table belongs to the rule under which it stands
            yield row.start, row.end, row, _described(row.text, {"parent": number}, style, match, book)


def _rule(text: str, blocks: Sequence[Block], style: RuleStyle, number: str) -> Iterator[_Unit]:
    """One passage, or, of a long rule, one for its opening and one for each part."""
    start, end = blocks[0].start, blocks[-1].end
    parts = [(i, match[0]) for i, block in enumerate(blocks) if i and style.part and (match := style.part.match(block.text))]
    if size(text[start:end]) <= TARGET * SLACK or not parts:
        yield from ((a, b, blocks[0], {"number": number}) for a, b in _fit(text, start, end, SLACK))
        return
    kind = _kind(parts[0][1])
    tops = [(i, mark) for i, mark in parts if _kind(mark) == kind]
    yield start, blocks[tops[0][0] - 1].end, blocks[0], {"number": number}
    ends = [*(i for i, _ in tops[1:]), len(blocks)]
    for (i, mark), stop in zip(tops, ends, strict=True):
        own = {"number": number + "(" + mark.strip("() .") + ")", "parent": number}
        yield from ((a, b, blocks[i], own) for a, b in _fit(text, blocks[i].start, blocks[stop - 1].end, SLACK))


def _kind(mark: str) -> str:
    inner = mark.strip("() .")
    return "digit" if inner.isdigit() else "roman" if re.fullmatch(r"[ivx]+", inner) and inner != "v" else "letter"


def _described(text: str, own: Mapping[str, Any], style: RuleStyle, match: re.Match[str], book: str) -> dict[str, Any]:
    """The metadata of one passage of a rule; empty values are left out."""
    number = str(own.get("number") or own["parent"])
    letter = match.groupdict().get("type")
    status = next(((entry, found) for entry in style.status if (found := entry.pattern.search(text))), None)
    groups = status[1].groupdict() if status else {}
    whole = style.outside.findall(text) if style.outside else []
    without = style.outside.sub(" ", text) if style.outside else text
    cited = [style.canonical(found.group(), book) for found in style.reference.finditer(without)]
    by = style.canonical(groups["by"], book) if groups.get("by") else ""
    since = style.since.search(text) if style.since else None
    term = style.definition.search(text) if style.definition else None
    described = {
        **own,
        "type": style.types.get(letter, style.type) if letter else style.type,
        "chapter": style.chapter_of(number),
        "status": status[0].name if status else "in force",
        "barred": bool(status and status[0].barred),
        "since": since[1] if since else "",
        "until": groups.get("until") or "",
        "replaced_by": by,
        "cites": [name for name in dict.fromkeys(cited) if name not in (own.get("number"), by)],
        "outside": [found if isinstance(found, str) else found[0] for found in whole],
        "entities": {kind: sorted(set(p.findall(text))) for kind, p in style.entities.items() if p.search(text)},
    }
    if term:
        local = bool(style.local and style.local.search(text))
        described["defines"] = {"term": term["term"].lower(), "within": style.chapter_of(number) if local else ""}
    described["edges"] = dict(style.edges)
    return {key: value for key, value in described.items() if value not in ("", [], {}, False)}
