"""Text from anywhere into HTML that can only be ours.

Everything a person, a document or a model wrote passes :func:`escape`; the tags around it are written here and nowhere
come from the text. No Markdown, HTML or LaTeX is interpreted: an answer is paragraphs, ``- `` lists and ``[n]``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from lqr.ui.texts import Texts

# Bidirectional overrides and isolates can make a text read as another one; control characters have no business in a page.
_UNSAFE = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff\ud800-\udfff]")
_CITATION = re.compile(r"\[(\d{1,3})\]")
_CITATIONS = re.compile(r"(?:\s*\[\d{1,3}\])*[.!?。]?(?:\s*\[\d{1,3}\])*")
_SUPPORTS = ("quoted", "supported", "partial", "unsupported")
_ITEM = re.compile(r"\s*(?:[-*•]|(\d{1,2})[.)])\s+")


def plain_text(text: object) -> str:
    """Text without bidi overrides and control characters."""
    return _UNSAFE.sub("", str(text))


def escape(text: object) -> str:
    """Text for an element's content or a quoted attribute."""
    return html.escape(plain_text(text), quote=True)


def web_address(url: object) -> str | None:
    """``url`` escaped for an ``href``, or None unless it is plain http(s)."""
    text = plain_text(url or "").strip()
    return escape(text) if re.match(r"https?://[^\s]+$", text, re.IGNORECASE) else None


def paragraphs(text: str) -> str:
    """Text as typed: escaped, with its line breaks."""
    parts = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    return "".join(f'<p dir="auto">{"<br>".join(map(escape, part.splitlines()))}</p>' for part in parts)


def answer(text: str, claims: Sequence[Mapping[str, Any]], numbers: Collection[int], prefix: str, texts: Texts) -> str:
    """An answer's text as HTML.

    Args:
        claims: each gets a mark after its citations that says how it is supported; doubt is said in words.
        numbers: the sources there are; ``[n]`` of another number stays text.
        prefix: of the source cards' ids: ``[2]`` links to ``#<prefix>2``. Without one (a draft, whose sources are not
            settled yet) the number is shown but is no link.
    """
    marks = _marks(text, claims)
    pieces: list[str] = []
    items: list[str] = []
    ordered = False
    position = 0

    def flush() -> None:
        if items:
            tag = "ol" if ordered else "ul"
            pieces.append(f"<{tag}>{''.join(items)}</{tag}>")
            items.clear()

    paragraph: list[str] = []

    def flush_paragraph() -> None:
        if paragraph:
            pieces.append(f'<p dir="auto">{"<br>".join(paragraph)}</p>')
            paragraph.clear()

    for line in text.splitlines(keepends=True):
        start, content = position, line.rstrip()
        position += len(line)
        item = _ITEM.match(content)
        if item:
            flush_paragraph()
            if items and ordered != bool(item.group(1)):
                flush()
            ordered = bool(item.group(1))
            items.append(f'<li dir="auto">{_inline(content, item.end(), start, marks, numbers, prefix, texts)}</li>')
        elif content.strip():
            flush()
            paragraph.append(_inline(content, 0, start, marks, numbers, prefix, texts))
        else:
            flush_paragraph()
            flush()
    flush_paragraph()
    flush()
    return "".join(pieces)


def _marks(text: str, claims: Iterable[Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
    """Where in ``text`` each claim ends (after its citations), and the claim."""
    found: dict[int, Mapping[str, Any]] = {}
    after = 0
    for claim in claims:
        bare = _CITATION.sub("", str(claim.get("text", ""))).strip().rstrip(".!?。").strip()
        if claim.get("support") not in _SUPPORTS or not bare:
            continue
        place = text.find(bare, after)
        if place < 0:
            place = text.find(bare)
        if place >= 0:
            tail = _CITATIONS.match(text, place + len(bare))
            after = tail.end() if tail else place + len(bare)
            found[after] = claim
    return found


def _inline(
    line: str,
    skip: int,
    start: int,
    marks: Mapping[int, Mapping[str, Any]],
    numbers: Collection[int],
    prefix: str,
    texts: Texts,
) -> str:
    cuts = {skip, len(line)}
    citations = {match.start(): match for match in _CITATION.finditer(line, skip) if int(match.group(1)) in numbers}
    for match in citations.values():
        cuts.update(match.span())
    cuts.update(place - start for place in marks if skip < place - start <= len(line))
    edges = sorted(cuts)
    out: list[str] = []
    for left, right in pairwise(edges):
        if left in citations:
            number = int(citations[left].group(1))
            label = escape(texts.source.format(number=number))
            link = f'<a class="cite" href="#{escape(prefix)}{number}" data-cite="{number}" aria-label="{label}">{number}</a>'
            out.append(link if prefix else f'<span class="cite">{number}</span>')
        else:
            # No gap between a word and the number that belongs to it.
            out.append(escape(line[left:right].rstrip() if right in citations else line[left:right]))
        claim = marks.get(start + right)
        if claim is not None:
            out.append(_support(str(claim["support"]), claim.get("note") or "", texts))
    return "".join(out)


def _support(support: str, note: object, texts: Texts) -> str:
    """The mark of one claim: a small sign where it stands firmly, words where it does not."""
    word = escape(getattr(texts, support))
    if support in ("partial", "unsupported"):
        return f' <span class="doubt" title="{escape(note)}">{word}</span>'
    title = escape(f"{getattr(texts, support)}: {note}" if note else getattr(texts, support))
    return f'<span class="support" role="img" data-support="{support}" title="{title}" aria-label="{word}"></span>'


def details(name: str, summary: str, body: str) -> str:
    """A part that unfolds; ``body`` is HTML, ``summary`` is text."""
    return f'<details class="{name}"><summary>{escape(summary)}</summary>{body}</details>'


def highlight(text: str, quotes: Iterable[str]) -> str:
    """``text`` escaped, with every part that equals one of ``quotes`` (white space apart) inside ``<mark>``."""
    spans: list[tuple[int, int]] = []
    for quote in quotes:
        words = quote.split()
        if not words:
            continue
        match = re.search(r"\s+".join(map(re.escape, words)), text)
        if match:
            spans.append(match.span())
    out, position = [], 0
    for start, end in sorted(spans):
        if end <= position:
            continue
        start = max(start, position)
        out.append(f"{escape(text[position:start])}<mark>{escape(text[start:end])}</mark>")
        position = end
    out.append(escape(text[position:]))
    return "".join(out)
