"""Text to index terms for BM25: the only tokenizer that the lexical index and its queries use.

What common tokenizers lose is kept: numbers with decimals, units (``mg/kg``, ``°c``, ``%``), single letters (the N, P
and K of a fertiliser), formulas (``p2o5``), combining marks (Devanagari vowels), Chinese and Japanese (as bigrams).
It detects no language: only ASCII words are stemmed, as English. Scripts written without spaces other than
Chinese, Japanese and Korean (Thai, Khmer) stay in whole runs.
"""

from __future__ import annotations

import re
import threading
import unicodedata

import Stemmer

TOKENIZER_VERSION = "1"  # raise when the terms change: indexes built with another version are rebuilt
MAX_TERM = 64  # characters; longer runs are encoded data, not words

# Smaller than lists for reading: no word that is also a month (may), a noun on a farm (well) or a symbol.
_STOP_WORDS = """
a an and are as at be been being but by can could did do does for from had has have he her his how i if in into is it its me
my of on or our she should so such than that the their them then there these they this those to us was we were what when
where which while who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def _marks() -> str:
    """A character class of combining marks: ``\\w`` leaves out Indic vowel signs and would cut words at them."""
    points = [code for code in range(0x300, 0x12000) if unicodedata.category(chr(code))[0] == "M"]
    ranges: list[list[int]] = []
    for code in points:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)


_MARK = _marks()
_CJK = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_LETTER = f"[^\\W\\d_{_CJK}]"
_WORD = f"{_LETTER}(?:[^\\W_{_CJK}]|[{_MARK}])*"
_TOKEN = re.compile(
    f"(?P<cjk>[{_CJK}]+)"
    r"|(?P<number>\d+(?:,\d{3})*(?:\.\d+)*)"
    rf"|(?P<word>{_WORD}(?:(?:['’\-‐‑/]|\b/)(?:{_WORD}|\d+(?![.,]?\d)))*)"
    r"|(?P<unit>°[cf]\b|%)"
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_JOINER = re.compile(r"[\-‐‑/]")
_POSSESSIVE = re.compile(r"['’]s\b|['’]")
_local = threading.local()


def tokenize(text: str) -> list[str]:
    """Index terms of ``text`` in order, repeats kept; a joined word gives itself and then its parts.

    Never raises: whatever is not a letter, digit or known sign separates.
    """
    folded = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).lower()
    terms: list[str] = []
    previous = ""
    for match in _TOKEN.finditer(folded):
        token = match.group()
        if match.lastgroup == "cjk":
            terms.extend(token[i : i + 2] for i in range(max(1, len(token) - 1)))
        elif match.lastgroup == "number":
            terms.append(token.replace(",", "")[:MAX_TERM])
        elif match.lastgroup == "unit" or (token == "a" and previous in ("vitamin", "vitamins")):
            terms.append(token)
        else:
            terms.extend(_word_terms(_POSSESSIVE.sub("", token)))
        previous = token
    return terms


def _word_terms(token: str) -> list[str]:
    parts = [_stem(part) for part in _JOINER.split(token) if part]
    kept = [part for part in parts if part not in STOP_WORDS]
    if len(parts) < 2:
        return kept
    sign = "/" if "/" in token else "-"
    return [sign.join(parts)[:MAX_TERM], *kept]


def _stem(word: str) -> str:
    word = _fold(word)[:MAX_TERM]
    if word in STOP_WORDS or not word.isascii() or not word.isalpha() or len(word) < 3:
        return word
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:  # one for each thread: PyStemmer's cache is not locked
        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    return str(stemmer.stemWord(word))


def _fold(word: str) -> str:
    """Drop the accents of Latin letters, so that ``mérino`` and ``merino`` meet; other scripts keep their marks."""
    if word.isascii():
        return word
    bare = "".join(c for c in unicodedata.normalize("NFD", word) if not "\u0300" <= c <= "\u036f")
    return bare if bare.isascii() else word
