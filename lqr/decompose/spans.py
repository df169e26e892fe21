"""A trained splitter for questions of one sentence: which kind of split, and at which words.

Spans as in Min et al. 2019 (DecompRC): the inner description of a *bridge*, the two things of a *comparison*. A reading's score
is a sum of weights of features at its first words, last words and inside, so the best reading is found exactly; the weights are
those of an averaged structured perceptron (Collins 2002, doi 10.3115/1118693.1118694), a small JSON file. The features are
frequent words and shapes, not topics: it should split a question about sheep as one about films. Knows nothing of the rules.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lqr import manifest
from lqr.decompose.words import Span, Word
from lqr.errors import WeightsError

FORMAT = 1
WEIGHTS_FILE = "spans.json"
MOST_WORDS = 60  # of a question; the search takes quadratic time
LONGEST_SPAN = 30
OPERATORS = ("bridge", "comparison")

Features = list[list[str]]


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to split: the operator and one span (bridge) or two (comparison)."""

    operator: str
    spans: tuple[Span, ...]
    score: float


@dataclass(frozen=True)
class SpanModel:
    """Weights by feature, and the words that are features themselves; others count by their shape."""

    weights: Mapping[str, float]
    vocabulary: frozenset[str]

    def read(self, words: Sequence[Word]) -> Reading | None:
        """The best reading of a question; None if it has no word, or more than ``MOST_WORDS``."""
        if not 2 <= len(words) <= MOST_WORDS:
            return None
        features = features_of(words, self.vocabulary)
        readings = [self._best(operator, features) for operator in OPERATORS]
        return max((reading for reading in readings if reading), key=lambda reading: reading.score)

    def _best(self, operator: str, features: QuestionFeatures) -> Reading | None:
        get = self.weights.get

        def summed(place: str, rows: Features) -> list[float]:
            return [sum(get(f"{operator} {place} {name}", 0.0) for name in row) for row in rows]

        base = sum(get(f"{operator} whole {name}", 0.0) for name in features.whole)
        start, end, inside = (summed(place, features.words) for place in ("start", "end", "in"))
        running = [0.0]
        for value in inside:
            running.append(running[-1] + value)
        count = len(start)
        scores = {
            (i, j): start[i] + end[j - 1] + running[j] - running[i] + get(f"{operator} length {min(j - i, 6)}", 0.0)
            for i in range(count)
            for j in range(i + 1, min(count, i + LONGEST_SPAN) + 1)
        }
        if operator == "bridge":
            span, score = max(scores.items(), key=lambda item: item[1])
            return Reading(operator, (span,), base + score)
        before: list[tuple[float, Span]] = []  # best span that ends at word k or earlier
        after: dict[int, tuple[float, Span]] = {}
        for (i, j), score in scores.items():
            after[i] = max(after.get(i, (float("-inf"), (i, j))), (score, (i, j)))
        ending: dict[int, tuple[float, Span]] = {}
        for (i, j), score in scores.items():
            ending[j] = max(ending.get(j, (float("-inf"), (i, j))), (score, (i, j)))
        best: tuple[float, Span, Span] | None = None
        for k in range(count + 1):
            if k in ending:
                before.append(max([*before[-1:], ending[k]]))
            if before and k in after:
                pair = (before[-1][0] + after[k][0], before[-1][1], after[k][1])
                best = max(best, pair) if best else pair
        return Reading(operator, best[1:], base + best[0]) if best else None

    def save(self, folder: Path) -> None:
        """Write the weights, rounded, without those near zero."""
        folder.mkdir(parents=True, exist_ok=True)
        kept = {name: round(value, 3) for name, value in sorted(self.weights.items()) if abs(value) >= 0.005}
        content = {"format": FORMAT, "vocabulary": sorted(self.vocabulary), "weights": kept}
        (folder / WEIGHTS_FILE).write_text(json.dumps(content, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> SpanModel:
        """The model saved in ``folder``.

        Raises:
            WeightsError: the file is missing, damaged, or not what the manifest says.
        """
        manifest.verify(folder)
        path = folder / WEIGHTS_FILE
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            if raw["format"] != FORMAT:
                raise ValueError(f"format {raw['format']}, not {FORMAT}")
            return cls(
                {str(name): float(value) for name, value in raw["weights"].items()}, frozenset(map(str, raw["vocabulary"]))
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise WeightsError(f"{path} is no span model ({error}); restore it, or train one and put it there") from error


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """Feature names of the whole question and of each word with its neighbours."""

    whole: list[str]
    words: Features


def features_of(words: Sequence[Word], vocabulary: frozenset[str]) -> QuestionFeatures:
    """What the model sees of a question: known words, and the shapes of all others, in a window of two words to each side."""
    kinds = [_kind(word.text, vocabulary) for word in words]
    edge = ["<<", "<", *kinds, ">", ">>"]
    rows = []
    for place, word in enumerate(words):
        p2, p1, here, n1, n2 = edge[place : place + 5]
        row = [f"0={here}", f"-1={p1}", f"+1={n1}", f"-1,0={p1}|{here}", f"0,+1={here}|{n1}"]
        row += [f"-2,-1={p2}|{p1}", f"+1,+2={n1}|{n2}", f"-1,0,+1={p1}|{here}|{n1}"]
        if here == "a":
            row.append(f"ends={word.text[-3:].lower()}")
        rows.append(row)
    known = list(dict.fromkeys(kind for kind in kinds if kind in vocabulary))
    whole = [f"has={kind}" for kind in known] + [f"first={kinds[0]}", f"first2={kinds[0]}|{edge[3]}"]
    return QuestionFeatures(whole, rows)


def _kind(word: str, vocabulary: frozenset[str]) -> str:
    lower = word.lower()
    if lower in vocabulary:
        return lower
    if not word[0].isalnum():
        return word
    return "9" if word[0].isdigit() else "A" if word[0].isupper() else "a"
