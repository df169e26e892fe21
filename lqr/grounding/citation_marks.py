"""What a citation mark looks like in one line of text, and what it refers to.

Finds marks of every form that models write and takes them out; sentences and whole answers are the business of
``citations``. All patterns here run in linear time: the text comes from a model and may be anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

OPEN, CLOSE = r"[\[【［〔]", r"[\]】］〕]"
WORD = (
    r"(?:sources?|passages?|docs?|documents?|ref(?:erence)?s?|citations?|cite|footnotes?|notes?|chunks?|excerpts?"
    r"|来源|资料|段落|文献|文档|参考|引用)"
)
_DASH = r"(?:[-‐‑‒–—−~～]|\bto\b)"
BRACKET = re.compile(rf"\\?{OPEN}([^\[\]【】［］〔〕\n]{{1,400}}?)\\?{CLOSE}(?:\([^()\s]{{0,200}}\))?")
_TOKENS = re.compile(rf"{WORD}|†[^,;]*|\d+:\d+|\d+|{_DASH}|\band\b|[\s,;，；、&/|.:：#^_*\"'“”‘’和及]", re.IGNORECASE)
_RANGE = re.compile(rf"(\d+)(?:\s?{_DASH}\s?\^?(\d+))?", re.IGNORECASE)
_YEAR = re.compile(rf"(1[5-9]|20)\d\d(\s?{_DASH}\s?(\d\d|\d{{4}}))?")
_AMOUNT = re.compile(r"[<>≤≥~±+−-]?\s?\d[\d\s.,/:–—−~%-]*")
_ID = re.compile(r"[0-9a-f]{8,64}-\d+", re.IGNORECASE)
_NAMED = re.compile(rf"{WORD}\s?[:：]\s?", re.IGNORECASE)

_ROUND = re.compile(r"[(（]([^()（）\n]{1,80})[)）]")
_ROUND_BARE = re.compile(
    r"[(（]\s?(\d{1,3}(?:\s?[,;，]\s?\d{1,3}){0,5})\s?[)）](?=[.!?。！？]?[\"'”’]?(?:\s*$|\s+[A-Z]|[\u4e00-\u9fff]))"
)
_ENUMERATED = re.compile(
    r"\b(?:table|figure|fig|step|option|stage|class|grade|section|chapter|phase|group|type|score|no)\.?\s?$", re.IGNORECASE
)
_RAISED = re.compile(r"(?<=[.!?,;。！？])[⁰¹²³⁴-⁹]{1,3}|<sup>\s?(\[?)(\d{1,3})\]?\s?</sup>")
_PHRASE = (
    r"(?:according to|as (?:stated|described|noted|mentioned|shown|explained) (?:in|by)|based on|as per|see(?: also)?|cf\.?)"
)
_SAYS = r"(?:says?|states?|notes?|mentions?|explains?|indicates?|recommends?|describes?|advises?|suggests?)"
_SPOKEN = re.compile(
    rf"(?:^\W*|(?<=[.!?。]\s)){WORD}\s?#?(\d{{1,6}})\s{_SAYS}(?:\sthat)?\s+|\b{_PHRASE}\s(?:the\s)?{WORD}\s?#?(\d{{1,6}})\b,?\s*",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(rf"(?:\b{_PHRASE}\s+(?:{WORD}\s*:?\s*)?|(?<=\S\s){WORD}\s*:\s*)$", re.IGNORECASE)
_UNIT_AFTER = re.compile(
    r"\s?(?:[µm]?g|kg|[tT]|ml|l|L|cm|mm|m|km|ha|mu|acres?|days?|weeks?|months?|years?|hours?|h|°|℃|%|ppm|tonnes?)(?![A-Za-z])"
)
_PHRASE_ONLY = re.compile(_PHRASE, re.IGNORECASE)
_JOIN = re.compile(rf"\s?(?:[,;，、]|\band\b|&)\s?(?={OPEN}\s?\^?\d+\s?{CLOSE})")
_TO = re.compile(rf"\s?{_DASH}\s?(?={OPEN})")
_NO_SPACE_BEFORE = re.compile(r"$|\s|[.,;:!?。，；：！？)）|]|[*_]+(?:\W|$)")
_PAIRS = dict(zip("(（“\"'*_`[【［〔‘", ")）”\"'*_`]】］〕’", strict=True))


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark that was taken out: where (an offset in what is left), the passages it names, how many it names in vain.

    ``opens`` is true of "According to [1], ...", which belongs to the sentence that it opens.
    """

    at: int
    ids: tuple[str, ...]
    removed: int
    opens: bool = False


class Resolver:
    """From what a mark says to passage ids: numbers, ids, titles, labels of footnotes."""

    def __init__(self, numbered: Sequence[str], titles: Sequence[str] = ()) -> None:
        self.numbered = tuple(numbered)
        self.labels: Mapping[str, tuple[str, ...]] = {}
        pairs = [*zip(titles, self.numbered, strict=False), *((identifier, identifier) for identifier in self.numbered)]
        self._names = {folded(name): identifier for name, identifier in reversed(pairs) if folded(name)}

    def span(self, first: int, last: int) -> tuple[tuple[str, ...], int]:
        """The ids of a range, and 1 if any of it was not retrieved (a range may name millions)."""
        first, last = min(first, last), max(first, last)
        inside = self.numbered[max(first, 1) - 1 : last] if first <= len(self.numbered) else ()
        return inside, int(len(inside) < last - first + 1)

    def named(self, content: str) -> str | None:
        """The passage with this id or title."""
        return self._names.get(folded(content)) or self._names.get(folded(_NAMED.sub("", content, count=1)))

    def content(self, raw: str) -> tuple[tuple[str, ...], int] | None:
        """Ids, and how many are unknown, for what stands between brackets; None if that is no citation."""
        content = " ".join(raw.split()).strip("\"'“”‘’`* ")
        label = content.lstrip("^ ")
        if label in self.labels and (content.startswith("^") or label.isdecimal()):
            return self.labels[label], int(not self.labels[label])
        if label.isdecimal() and self.span(int(label), int(label))[1] and (known := self.named(label)):
            return (known,), 0  # an id that happens to be a number
        if is_numeric(content):
            if _YEAR.fullmatch(content) and int(content[:4]) > len(self.numbered):
                return None
            return self.numbers(content)
        if known := self.named(content):
            return (known,), 0
        parts = [part.strip("\"'“”‘’`* ") for part in re.split(r"[,;，；]", content) if part.strip()]
        found = [self.named(part) for part in parts]
        if parts and all(known or _ID.fullmatch(part) for known, part in zip(found, parts, strict=True)):
            return tuple(dict.fromkeys(known for known in found if known)), found.count(None)
        if _NAMED.match(content):
            return (), 1  # names a source, but none of ours
        return None

    def numbers(self, content: str) -> tuple[tuple[str, ...], int]:
        """Ids, and how many are unknown, for a list of numbers and ranges."""
        ids: list[str] = []
        removed = 0
        for first, last in _RANGE.findall(re.sub(r"†[^,;]*|(?<=\d):\d+", "", content)):
            inside, missing = self.span(int(first), int(last or first))
            ids.extend(inside)
            removed += missing
        return tuple(dict.fromkeys(ids)), removed


def is_numeric(content: str) -> bool:
    """Whether ``content`` is numbers with separators and words like "source", and nothing else."""
    if re.search(r"\d[.,]\d{3}\b|\d\.\d", content) or not re.search(r"\d", content) or re.match(_DASH, content):
        return False
    return not _TOKENS.sub("", content)


def without_marks(line: str, resolver: Resolver, plain_round: bool) -> tuple[str, list[Mark]]:
    """``line`` with all marks taken out, and the marks in order.

    Innermost first and until none is left, since removing one can make another. A number in square brackets that is
    no citation (a year, an amount) gets round ones. ``plain_round``: whether ``(1)`` can be a citation.
    """
    line = "".join(c for c in line if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co") or c == "\t")
    marks: list[Mark] = []
    while found := _next_mark(line, resolver, plain_round):
        start, end, resolved, opens = found
        if resolved is None:
            line, marks = _spliced(line, start, end, "(" + line[start:end].strip("\\[]【】［］〔〕 ") + ")", marks)
            continue
        start, end, lead_in = _widened(line, start, end)
        between_words = start > 0 and end < len(line) and line[start - 1].isalnum() and line[end].isalnum()
        line, marks = _spliced(line, start, end, " " if between_words else "", marks)
        opens = opens or lead_in
        if opens and (start == 0 or line[:start].rstrip()[-1:] in ".!?:-*•|"):
            line = line[:start] + line[start : start + 1].upper() + line[start + 1 :]  # the sentence has lost its beginning
        marks.append(Mark(start, *resolved, opens))
    return line, sorted(marks, key=lambda mark: mark.at)


def has_square_mark(line: str, resolver: Resolver) -> bool:
    """Whether any square (or CJK) bracket in ``line`` cites."""
    return any(resolver.content(match[1]) is not None for match in BRACKET.finditer(line))


def folded(text: str) -> str:
    """For comparing ids and titles: NFKC, no case, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


_Found = tuple[int, int, "tuple[tuple[str, ...], int] | None", bool]


def _next_mark(line: str, resolver: Resolver, plain_round: bool) -> _Found | None:
    """Start, end, what it resolves to (None: no citation, but must not look like one), whether it opens a sentence."""
    if spoken := _SPOKEN.search(line):
        return *spoken.span(), resolver.numbers(spoken[1] or spoken[2]), True
    for match in BRACKET.finditer(line):
        content = match[1].strip()
        amount = _AMOUNT.fullmatch(content)
        if amount and _UNIT_AFTER.match(line, match.end()):
            return *match.span(), None, False
        resolved = resolver.content(content)
        if resolved is None:
            if amount:
                return *match.span(), None, False
            continue
        to = _TO.match(line, match.end())
        second = BRACKET.match(line, to.end()) if to else None
        if second and content.isdecimal() and second[1].strip().isdecimal():  # "[1]-[3]"
            return match.start(), second.end(), resolver.span(int(content), int(second[1])), False
        return match.start(), *_with_followers(line, match.end(), resolved, resolver), False
    for match in _ROUND.finditer(line):
        if re.match(WORD, match[1].strip(), re.IGNORECASE) and is_numeric(match[1]):
            return *match.span(), resolver.numbers(match[1]), False
    for match in _RAISED.finditer(line):
        before = line[: match.start()].rstrip()
        if match[2] is None or match[1] or not before or before[-1] in ".!?,;:)。":  # "m<sup>2</sup>" is no citation
            return *match.span(), resolver.numbers(match[2] or unicodedata.normalize("NFKC", match[0])), False
    if plain_round:
        for match in _ROUND_BARE.finditer(line):
            resolved = resolver.numbers(match[1])
            before = line[: match.start()]
            if not resolved[1] and before.strip() and not _ENUMERATED.search(before):
                return *match.span(), resolved, False
    return None


def _with_followers(
    line: str, end: int, resolved: tuple[tuple[str, ...], int], resolver: Resolver
) -> tuple[int, tuple[tuple[str, ...], int]]:
    """A mark together with those directly behind it, so that a row of a thousand is taken in one step."""
    ids, removed = dict.fromkeys(resolved[0]), resolved[1]
    while match := BRACKET.match(line, end):
        more = resolver.content(match[1])
        if more is None or _UNIT_AFTER.match(line, match.end()) or _TO.match(line, match.end()):
            break
        ids.update(dict.fromkeys(more[0]))
        removed += more[1]
        end = match.end()
    return end, (tuple(ids), removed)


def _widened(line: str, start: int, end: int) -> tuple[int, int, bool]:
    """Take along quotes or emphasis around a mark, "according to" before it, a comma to the next, doubled spaces."""
    while start > 0 and end < len(line) and _PAIRS.get(line[start - 1]) == line[end]:
        start, end = start - 1, end + 1
    if line.endswith("<sup>", 0, start) and line.startswith("</sup>", end):
        start, end = start - 5, end + 6
    lead_in = _LEAD_IN.search(line, max(0, start - 60), start)
    if lead_in:
        start = lead_in.start()
        if line[end : end + 1] == ",":
            end += 1
    if joined := _JOIN.match(line, end):
        end = joined.end()
    if _NO_SPACE_BEFORE.match(line, end):
        start = len(line[:start].rstrip())
    if start == 0 or line[start - 1].isspace():
        end += len(line[end:]) - len(line[end:].lstrip())
    return start, end, lead_in is not None and _PHRASE_ONLY.match(lead_in.group()) is not None


def _spliced(line: str, start: int, end: int, new: str, marks: list[Mark]) -> tuple[str, list[Mark]]:
    shift = len(new) - (end - start)
    moved = [mark if mark.at <= start else replace(mark, at=max(start, mark.at + shift)) for mark in marks]
    return line[:start] + new + line[end:], moved
