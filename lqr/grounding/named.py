"""The named thing of a question (a medicine, disease, nutrient, pest) that the passages answering it do not mention.

No list of medicines: a name is told from an everyday word by how a word-piece vocabulary cuts it. "antibiotics" is one piece,
"meloxicam" four, because the vocabulary was learnt from frequency. A name that the collection never holds, or holds only
in other passages than those that answer, is what the question is about and what they are not about. Misspelt words of
the collection are not names. Knows nothing of scores or of how the answer is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lqr.text import STOPWORDS

# Measured on the dev half of the agricultural questions: no everyday word that the articles lack has three pieces
# ("cocci" and "kilo" have two), all 12 medicines tried have.
PIECES_UNKNOWN = 3
# A word that the collection does hold, in at most a few passages, is a name with two pieces: "scrapie", "ketosis".
PIECES_RARE = 2
RARE = 0.83  # in a collection of 2,500 passages: a word that two or three of them hold; one alone counts as unknown
SHORTEST = 4

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# "blotchy", "swaying", "yellowish": how a thing looks or what it does, never its name
_DESCRIBES = re.compile(r"(?:ing|ed|ly|ish|(?:bb|dd|gg|mm|nn|pp|tt|zz|ch|sh|ck)y)$")
_CONTRACTED = re.compile(r"['’](?:s|re|ve|ll|d|m)$", re.IGNORECASE)  # no part of a name
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Names:
    """Finds names in questions.

    Args:
        rarity: inverse document frequency of a stem in [0, 1]; 1 for one that never occurs.
        stem: the retriever's tokenizer.
        pieces: into how many word pieces a word is cut.
    """

    rarity: Callable[[str], float]
    stem: Callable[[str], Sequence[str]]
    pieces: Callable[[str], int]

    def unheld(self, question: str, texts: Iterable[str]) -> str:
        """The first name of ``question`` that none of ``texts`` mentions, as written; empty if all are there."""
        held = {stem for text in texts for stem in self.stem(text)}
        written = (found for found in _WORD.findall(question) if not found.lower().endswith(("n't", "n’t")))
        for word in dict.fromkeys(_CONTRACTED.sub("", found) for found in written):
            stems = [stem for stem in self.stem(word) if "-" not in stem and "/" not in stem]
            if len(word) < SHORTEST or word.lower() in STOPWORDS or not word.isascii() or not stems or _DESCRIBES.search(word):
                continue
            if any(self._mentioned(stem, held) for stem in stems):
                continue
            rarest, pieces = max(map(self.rarity, stems)), self.pieces(word.lower())
            if rarest >= 1.0 and pieces >= PIECES_UNKNOWN and not self._misspelt(word.lower()):
                return str(word)
            if RARE <= rarest < 1.0 and pieces >= PIECES_RARE:
                return str(word)
        return ""

    def unknown(self, name: str) -> bool:
        """Whether no passage of the collection holds ``name``."""
        return max(map(self.rarity, self.stem(name)), default=1.0) >= 1.0

    @staticmethod
    def _mentioned(stem: str, held: set[str]) -> bool:
        """Whether the stem is there, or a word of the same beginning ("disbudded", "disbudding iron")."""
        root = stem[: max(5, len(stem) - 3)]
        return stem in held or (len(root) >= 5 and any(other.startswith(root) for other in held))

    def _misspelt(self, word: str) -> bool:
        """Whether one edit (a letter gone, added, exchanged, or two swapped) makes it a word of the collection.

        The candidates of Norvig's spelling corrector (norvig.com/spell-correct.html).
        """
        splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
        edits = {a + b[1:] for a, b in splits if b}
        edits |= {a + b[1] + b[0] + b[2:] for a, b in splits if len(b) > 1}
        edits |= {a + c + b[1:] for a, b in splits if b for c in _ALPHABET}
        edits |= {a + c + b for a, b in splits for c in _ALPHABET}
        return any(self.rarity(stem) < 1.0 for edit in edits for stem in self.stem(edit)[:1])


_HOW_MANY = re.compile(r"\bhow many\s+((?:[a-z]+\s+)?[a-z]+)\b", re.IGNORECASE)
_FIGURE = r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|hundred|half|no|none)\b)"


def counted(question: str, said: str, units: frozenset[str]) -> bool:
    """Whether ``said`` counts what "how many X" asks for: X within a few words of a figure, or in one line with one.

    True for other questions, and where X is a unit ("how many litres"), which may be given in another one.
    """
    match = _HOW_MANY.search(question)
    if not match:
        return True
    noun = match[1].lower().split()[0]
    if noun in units or noun.rstrip("s") in units or noun in ("times", "percent"):
        return True
    root = re.escape(noun[: max(3, len(noun) - 2)]) if len(noun) > 3 else re.escape(noun)
    near = rf"{_FIGURE}(?:\W+[\w-]+){{0,4}}?\W+{root}|\b{root}\w*(?:\W+[\w-]+){{0,5}}?\W+{_FIGURE}"
    return re.search(near, said, re.IGNORECASE) is not None


def asks_anything(question: str, stem: Callable[[str], Sequence[str]]) -> bool:
    """Whether a question holds at least one word of two letters or a Chinese sign: "%s %d" does not."""
    return any(len(term) > 1 and any(c.isalpha() for c in term) for term in stem(question))
