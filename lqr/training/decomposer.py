"""Training rows of the decomposer: annotated decompositions, and which words of the question each part is made of.

Min et al. 2019 (DecompRC, doi 10.18653/v1/P19-1613) split a question by pointing at spans of it: of a *bridge* the inner
description ("the director of film X") is asked first and gives way to ``#1``; of a *comparison* each part keeps one of two
things. People who wrote decompositions changed words on the way, so the spans are found by alignment. Knows no retrieval.
"""

from __future__ import annotations

import json
import random
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lqr.decompose.spans import MOST_WORDS, QuestionFeatures, SpanModel, features_of
from lqr.decompose.words import Span, Word, split_words
from lqr.training.pairs import read_rows

Operator = Literal["bridge", "comparison"]

# How questions speak of a relation that the sets name otherwise.
_SPOKEN = {
    "spouse": "wife husband married spouse",
    "mother": "mother maternal",
    "father": "father paternal",
    "child": "child son daughter",
    "sibling": "sibling brother sister",
    "place of birth": "birthplace born birth place",
    "performer": "performer singer performed",
}


@dataclass(frozen=True, slots=True)
class Annotated:
    """A question of two steps as its set splits it; ``second`` says ``#1`` for a bridge."""

    question: str
    first: str
    second: str
    operator: Operator
    machine: bool  # the steps were put together from triples, no person or model wrote them


@dataclass(frozen=True, slots=True)
class Tagged:
    """The words of a question and its spans: one for a bridge, two for a comparison, none where alignment failed."""

    words: tuple[Word, ...]
    operator: Operator
    spans: tuple[Span, ...]


def annotated(row: Mapping[str, Any]) -> Annotated | None:
    """The two steps of a row of MuSiQue or 2WikiMultiHopQA; None if it has another number of steps."""
    steps: Sequence[Any] = row.get("decomposition") or ()
    triples: Sequence[Any] = row.get("evidences") or ()
    if len(steps) == 2 and all(isinstance(step, Mapping) for step in steps):
        first, second = (str(step["question"]) for step in steps)
        answer = str(steps[0].get("answer", ""))
        if "#1" not in second and len(answer) > 2 and row.get("type") != "comparison":
            second = re.sub(re.escape(answer), "#1", second, flags=re.IGNORECASE)
        machine = False
    elif len(triples) == 2:
        (subject, relation, value), (other, asked, _) = triples
        first = f"{relation} of {subject}"
        second = f"{asked} of {'#1' if _fold(value) == _fold(other) else other}"
        machine = True
    else:
        return None
    chained = "#1" in second or row.get("type") in ("compositional", "inference")
    return Annotated(str(row["question"]), _spoken(first), _spoken(second), "bridge" if chained else "comparison", machine)


def _spoken(step: str) -> str:
    """``entity >> relation`` as words."""
    entity, arrow, relation = step.partition(">>")
    return f"{relation.strip()} of {entity.strip()}" if arrow else step


def tagged(row: Mapping[str, Any]) -> Tagged | None:
    """The spans of a row by alignment; None if it is not of two steps."""
    split = annotated(row)
    if split is None:
        return None
    words = split_words(split.question)
    if split.operator == "comparison":
        names = [str(triple[0]) for triple in row.get("evidences") or ()][:2]
        spans = comparison_spans(words, names) if len(names) == 2 else ()
    else:
        spans = bridge_span(words, split.first, split.second)
    return Tagged(tuple(words), split.operator, spans)


def bridge_span(words: Sequence[Word], first: str, second: str) -> tuple[Span, ...]:
    """The run of words that stands for the first step: most words that only ``first`` has, fewest that only ``second`` has."""
    mine, other = _terms(first), _terms(second)
    for relation, spoken in _SPOKEN.items():
        if relation in first.lower():
            mine |= _terms(spoken)
    weights = []
    for word in words:
        term = _term(word.text)
        in_first, in_second = term in mine, term in other
        weak = word.text.lower() in _FUNCTION or not term.isalnum()
        if weak:
            weights.append(0.05 if in_first and not in_second else -0.02 if not in_second else -0.05)
        else:
            weights.append(1.0 if in_first and not in_second else -1.0 if in_second and not in_first else -0.1)
    best, begin, total, span = 0.0, 0, 0.0, None
    for place, weight in enumerate(weights):  # the run of the highest sum (Kadane)
        if total <= 0:
            begin, total = place, 0.0
        total += weight
        if total > best:
            best, span = total, (begin, place + 1)
    if span is None or best < 0.5:
        return ()
    return (_whole(words, *span),)


def _whole(words: Sequence[Word], start: int, end: int) -> Span:
    """The span with the noun that its clause describes ("the actor who ..."), a title's last words, and its article."""
    text = [word.text for word in words]
    if start > 0 and text[start].lower() not in _RELATIVE and text[start - 1].lower() in _RELATIVE:
        start -= 1
    if start > 1 and text[start].lower() in _RELATIVE and text[start - 1].lower() not in _FUNCTION:
        start -= 1
    while start > 0 and text[start - 1].lower() in ("the", "a", "an"):
        start -= 1
    while end < len(text) and text[end][:1].isupper() and text[end - 1][:1].isupper():
        end += 1
    if end < len(text) and text[end] == "(" and ")" in text[end:]:
        end = text.index(")", end) + 1
    while end > start and not text[end - 1][:1].isalnum() and text[end - 1] not in ("'s", "’s", ")", "!", '"'):
        end -= 1
    return start, end


def comparison_spans(words: Sequence[Word], names: Sequence[str]) -> tuple[Span, ...]:
    """The runs of words that name the two compared things, in the order of the question; empty if they overlap."""
    found = [_best_window(words, name) for name in names]
    if any(span is None for span in found):
        return ()
    spans = sorted(span for span in found if span is not None)
    return tuple(spans) if spans[0][1] <= spans[1][0] else ()


def _best_window(words: Sequence[Word], name: str) -> Span | None:
    wanted = [_term(word.text) for word in split_words(name)]
    terms = [_term(word.text) for word in words]
    best: tuple[float, Span] | None = None
    for start in range(len(terms)):
        for end in range(start + 1, min(len(terms), start + len(wanted) + 4) + 1):
            window = terms[start:end]
            common = len(set(window) & set(wanted))
            score = 2 * common / (len(window) + len(wanted))
            if score >= 0.5 and (best is None or score > best[0]):
                best = (score, (start, end))
    return best[1] if best else None


_RELATIVE = frozenset("who that which whose where".split())
_FUNCTION = frozenset(
    "the a an of in on at to for by with from as is was are were do does did has have had be been who what which when where why "
    "how that whose whom and or this it its 's ’s film song".split()
)


def _terms(text: str) -> set[str]:
    return {_term(word.text) for word in split_words(text)}


def _fold(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))


def _term(word: str) -> str:
    """Folded and roughly stemmed, so that "performed" meets "performer"."""
    folded = _fold(word)
    return (
        re.sub(r"(?:ations?|ators?|ings?|ers?|ors?|ed|es|s|e)$", "", folded) if len(folded) > 4 and folded.isalpha() else folded
    )


def vocabulary_of(rows: Iterable[Tagged], size: int = 250) -> frozenset[str]:
    """The ``size`` most frequent words outside the names: lower-case words that many questions use."""
    counts = Counter(word.text for row in rows for word in {w.text: w for w in row.words}.values() if word.text.islower())
    return frozenset(word for word, count in counts.most_common(size) if count >= 5)


def train(rows: Sequence[Tagged], *, epochs: int = 4, seed: int = 13) -> SpanModel:
    """An averaged structured perceptron over rows with spans.

    Every second time a question comes, it comes in lower case: people type names so, and the model must not need capitals.
    """
    rng = random.Random(seed)
    vocabulary = vocabulary_of(rows)
    weights: dict[str, float] = {}
    model = SpanModel(weights, vocabulary)
    totals: Counter[str] = Counter()
    step = 0
    order = [row for row in rows if row.spans and 2 <= len(row.words) <= MOST_WORDS]
    for epoch in range(epochs):
        rng.shuffle(order)
        for number, row in enumerate(order):
            step += 1
            words = row.words
            if (epoch + number) % 2:
                words = tuple(word._replace(text=word.text.lower()) for word in words)
            said = model.read(words)
            if said is None or (said.operator, said.spans) == (row.operator, row.spans):
                continue
            features = features_of(words, vocabulary)
            change = parts_of(row.operator, row.spans, features)
            change.subtract(parts_of(said.operator, said.spans, features))
            for name, amount in change.items():
                if amount:
                    weights[name] = weights.get(name, 0.0) + amount
                    totals[name] += step * amount
    mean = {name: value - totals[name] / (step + 1) for name, value in weights.items()}
    return SpanModel(mean, vocabulary)


def held_out(model: SpanModel, rows: Sequence[Tagged], *, lower: bool = False) -> dict[str, float]:
    """Shares of rows with the right operator and with exactly the aligned spans, and the mean F1 of their words."""
    operator = exact = overlap = 0.0
    for row in rows:
        words = [word._replace(text=word.text.lower()) for word in row.words] if lower else row.words
        said = model.read(words)
        if said is None or said.operator != row.operator:
            continue
        operator += 1
        exact += said.spans == row.spans
        mine, theirs = ({place for span in spans for place in range(*span)} for spans in (said.spans, row.spans))
        overlap += 2 * len(mine & theirs) / (len(mine) + len(theirs))
    count = max(1, len(rows))
    return {"n": len(rows), "operator": operator / count, "exact": exact / count, "span_f1": overlap / count}


def training_rows(data: Path, *, seed: int = 13, from_2wiki: int = 1200) -> dict[str, list[Tagged]]:
    """Aligned training questions of two steps by set, shuffled: all of MuSiQue, as many of 2WikiMultiHopQA, which repeats itself.

    Raises:
        ReadError: a file is missing or damaged.
    """
    rng = random.Random(seed)
    found = {}
    for name in ("musique", "2wikimultihopqa"):
        rows = [row for part in ("train", "questions_only") for row in read_rows(data / name / f"{part}.jsonl.gz")]
        rows = [row for row in rows if row["type"] != "bridge_comparison" and (name != "musique" or row["type"] == "2hop")]
        if name == "2wikimultihopqa":
            rows = rng.sample(rows, min(from_2wiki, len(rows)))
        found[name] = [row for row in map(tagged, rows) if row and row.spans]
        rng.shuffle(found[name])
    return found


def fit(data: Path, out: Path, *, epochs: int = 4, seed: int = 13, keep_out: int = 150) -> dict[str, Any]:
    """Train, measure on ``keep_out`` questions of each set that are kept out, and write model and evaluation to ``out``."""
    began = time.perf_counter()
    rows = training_rows(data, seed=seed)
    model = train([row for found in rows.values() for row in found[keep_out:]], epochs=epochs, seed=seed)
    evaluation: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d"),
        "seed": seed,
        "epochs": epochs,
        "trained_on": {name: len(found) - keep_out for name, found in rows.items()},
        "seconds": round(time.perf_counter() - began, 1),
        "held_out": {name: held_out(model, found[:keep_out]) for name, found in rows.items()},
        "held_out_lower_case": {name: held_out(model, found[:keep_out], lower=True) for name, found in rows.items()},
    }
    model.save(out)
    (out / "evaluation.json").write_text(json.dumps(evaluation, indent=1) + "\n", encoding="utf-8")
    return evaluation


def parts_of(operator: str, spans: Sequence[Span], features: QuestionFeatures) -> Counter[str]:
    """How often each weight counts in a reading's score."""
    counts: Counter[str] = Counter(f"{operator} whole {name}" for name in features.whole)
    for start, end in spans:
        counts.update(f"{operator} start {name}" for name in features.words[start])
        counts.update(f"{operator} end {name}" for name in features.words[end - 1])
        counts.update(f"{operator} in {name}" for row in features.words[start:end] for name in row)
        counts[f"{operator} length {min(end - start, 6)}"] += 1
    return counts
