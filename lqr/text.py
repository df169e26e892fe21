"""Plain-text helpers that several stages share: sentence boundaries, normalisation, content words.

Knows nothing of documents, passages or models.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# Abbreviations after which a full stop does not end a sentence; compared in lower case, without the stop.
_ABBREVIATIONS = frozenset(
    """
    e.g i.e etc cf vs approx ca fig figs no nos vol ed eds dr mr mrs ms prof st spp sp var subsp al jr sr inc ltd co dept
    est min max temp wt avg jan feb mar apr jun jul aug sep sept oct nov dec
    """.split()
)
_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s|$)|[。！？；]+[”’」』）]*|\n{2,}|\n(?=\s*(?:[-*•]|\d+[.)])\s)")

STOPWORDS = frozenset(
    """
    a an and any are as at be been being but by can could did do does doing done for from had has have having he her hers
    him his how i if in into is it its itself just may me might mine more most much must my no nor not of off on once one
    only or our ours out over own same shall she should so some such than that the their theirs them then there these they
    this those through to too under until up very was we were what when where which while who whom whose why will with
    would you your yours about after again all also am because before below between both down during each few further get
    give good here let like make many need other please tell us use used using want way well
    """.split()
)
_NEXT = re.compile(r"\s*(\S?)")
_WORD = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # Chinese and Japanese, for a class of a pattern
_CJK = re.compile(f"[{CJK}]")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Offsets ``(start, end)`` of the sentences of ``text``, white space trimmed, in order.

    Splits on Western and CJK terminators and on blank lines; not after abbreviations, initials or inside numbers
    (``pH 5.5``, ``e.g. maize``, ``Haemonchus sp. in``).
    """
    spans: list[tuple[int, int]] = []
    begin = 0
    for match in _END.finditer(text):
        if match.group()[0] == "." and not _ends_sentence(text, match.start(), match.end()):
            continue
        _push(text, begin, match.end(), spans)
        begin = match.end()
    _push(text, begin, len(text), spans)
    return spans


def sentences(text: str) -> list[str]:
    """The sentences of ``text`` as strings (see :func:`sentence_spans`)."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _push(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))


def _ends_sentence(text: str, stop: int, after: int) -> bool:
    word = re.search(r"[\w.]*$", text[max(0, stop - 12) : stop])
    token = word.group().lower() if word else ""
    if token in _ABBREVIATIONS:
        # "etc." and the like do end a sentence when a capital follows after them
        following = text[after : after + 2].strip()
        return token in {"etc", "al"} and following[:1].isupper()
    if len(token) == 1 and token.isalpha() and text[stop - 1].isupper():
        return False  # an initial: "H. contortus"
    if token.isdigit() and len(token) <= 2:
        line_start = text.rfind("\n", 0, stop) + 1
        if text[line_start:stop].strip() == token:
            return False  # "1. First step": a list number
    first = _NEXT.match(text, after)  # not a slice: one for each stop of a long text takes quadratic time
    return first is None or not first[1].islower()


def normalise(text: str) -> str:
    """NFKC, control and zero-width and bidi-override characters removed, white space folded, trimmed."""
    folded = unicodedata.normalize("NFKC", text)
    kept = (c if not unicodedata.category(c).startswith("C") else (" " if c in "\n\t\r" else "") for c in folded)
    return re.sub(r"\s+", " ", "".join(kept)).strip()


_MARKUP = re.compile(
    r"<(script|style)\b.*?</\1\s*>|<[a-zA-Z/!][^<>]*>|!?\[([^\]]*)\]\([^)]*\)|\$\$.*?\$\$", re.IGNORECASE | re.DOTALL
)


def without_markup(text: str) -> str:
    """``text`` without HTML tags and scripts, Markdown links (their words stay) and display formulas; ``pH <5.5`` stays."""
    return _MARKUP.sub(lambda match: f" {match.group(2) or ''} ", text)


def words(text: str) -> list[str]:
    """Lower-cased words and numbers (``3.5`` and ``copper-free`` stay whole), in order."""
    return [match.group().lower() for match in _WORD.finditer(text)]


def content_words(text: str) -> list[str]:
    """Words that carry meaning: stop words dropped, order and repeats kept."""
    return [word for word in words(text) if word not in STOPWORDS]


def is_cjk(text: str) -> bool:
    """Whether at least a fifth of the letters are Chinese or Japanese."""
    letters = [c for c in text if c.isalpha()]
    return bool(letters) and sum(bool(_CJK.match(c)) for c in letters) * 5 >= len(letters)


def truncate(text: str, limit: int) -> str:
    """``text`` cut at a word boundary to at most ``limit`` characters, with an ellipsis when cut."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip() + "…"


def plain(text: str) -> str:
    """``text`` for finding a snippet in it: links as their text, no emphasis, one kind of dash, single spaces, lower case."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[\s*_`]+", " ", re.sub(r"[‐-―−]", "-", text)).strip().lower()


def holds(text: str, snippet: str) -> bool:
    """Whether ``text``, already :func:`plain`, holds ``snippet``.

    Of a snippet of a table's line it must hold every cell: the reader of tables writes them apart, each behind its column's name.
    """
    return holds_all(text, cells_of(snippet))


def cells_of(snippet: str) -> list[str]:
    """What a text must hold to hold ``snippet``; for whoever looks for one snippet in many texts."""
    return [cell for cell in map(str.strip, plain(snippet).split("|")) if cell]


def holds_all(text: str, cells: Sequence[str]) -> bool:
    """Whether ``text``, already :func:`plain`, holds each of ``cells``; nothing holds a snippet without any."""
    return bool(cells) and all(cell in text for cell in cells)


# English question words, for whoever tells how a question is built.
AUX = r"(?:is|are|was|were|do|does|did|can|could|should|must|will|would|may|might|has|have)"
WH = r"(?:what|whats|which|who|whom|whose|where|when|why|how)"
# Where a question begins: at the start, after a mark, after a conjunction; "at what age", "in a drought what ..." count too.
# A hyphen inside a word ("know-how") is no mark.
QUESTION_BEGINS = re.compile(
    rf"(?P<joint>^|[.?!:;,&–]\s*|\s-\s|\b(?:and|but|also|then)\s+)(?:(?:and|then|also|but|so)\s+)*"
    rf"(?P<question>(?:(?:at|for|in|by|with|from|after|before|above|below|on|to|of|under)\s+(?:(?:an?|the|my)\s+[\w-]+,?\s+)?)?{WH}\b"
    rf"|(?:do|does|did|can|could|should|must|will|would|may)\s+(?!be\b|not\b|have\b)[\w'’-]+"
    rf"|(?:is|are|was|were|has|have)\s+(?:i|we|you|it|they|she|he|the|my|this|that|there|these|an?)\b)",
    re.IGNORECASE,
)
