"""Where in a passage a claim's words stand: stems, and the window of a sentence or two that holds most of them.

Knows nothing of right and wrong, only of words.
"""

from __future__ import annotations

from collections.abc import Sequence

import Stemmer

from lqr.grounding.quantities import UNIT_NAMES
from lqr.text import content_words, is_cjk, sentence_spans


def best_window(claim: str, text: str, *, longest: int = 2, measures: bool = True) -> tuple[float, str]:
    """The window of one to ``longest`` sentences that holds most of the claim's stems; a single sentence wins a tie."""
    wanted = set(stems(claim, measures=measures)) or set(stems(claim))
    best = (0.0, "")
    spans = sentence_spans(text)
    for length in range(1, longest + 1):
        for index in range(len(spans) - length + 1):
            window = text[spans[index][0] : spans[index + length - 1][1]]
            share = len(wanted & set(stems(window))) / len(wanted) if wanted else 0.0
            if share > best[0]:
                best = (share, window)
    return best


def closest(claim: str, texts: Sequence[str]) -> tuple[float, str]:
    """The one sentence that shares most with the claim: two would bring in what is said of something else."""
    return max((best_window(claim, text, longest=1) for text in texts), key=lambda found: found[0])


_DIGITS = {
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
}


def stems(text: str, *, measures: bool = True) -> list[str]:
    """Stemmed content words; number words as digits; Chinese as pairs of characters. ``measures``: numbers and units too."""
    stemmer = Stemmer.Stemmer("english")  # one for each call: an instance is not safe across threads
    found: list[str] = []
    for word in content_words(text.replace(",", "")):
        word = _DIGITS.get(word, word)
        if not measures and (word[0].isdigit() or word in UNIT_NAMES):
            continue
        if is_cjk(word):
            found.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.append(stemmer.stemWord(word))
    return found
