"""The gate: do the passages hold an answer, and for the thing that was asked about?

Refusing is decided here, from scores and from the question's words, never by the prompt of a language model. The
features go through one logistic whose weights come from ``models/gate/gate.json`` (fitted on the dev half of the
questions) or, without it, from the constants below. Knows nothing of how the answer is written.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lqr import manifest
from lqr.answer_type import expects, shows
from lqr.corpus.profile import Mention, Profile
from lqr.errors import WeightsError
from lqr.grounding.named import Names, asks_anything, counted
from lqr.grounding.quantities import UNIT_NAMES
from lqr.text import STOPWORDS, content_words
from lqr.types import Hit, Passage

FEATURES = ("evidence", "relevance", "cosine", "coverage", "missing_rare", "weakest_part", "kind_shown", "said")
# Log-odds by hand, used where no fitted gate is installed.
_DEFAULT = {
    "bias": -3.2,
    "evidence": 2.2,
    "relevance": 1.2,
    "cosine": 2.5,
    "coverage": 2.6,
    "missing_rare": -2.2,
    "weakest_part": 0.0,
    "kind_shown": 0.6,
    "said": 1.0,
}

# In a collection of 2,500 passages: a word that ten of them hold, or fewer.
RARE = 0.7

DOUBT = 0.6  # below it, an answer must hold every rare word of the question, and count what "how many" asks for
SURE = 0.75  # so probable must an answer be that seems to meet a wish which documents cannot meet

Why = Literal["", "nothing", "not_held", "scope", "name", "thin"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``answerable`` with its probability; ``why`` and ``detail`` say what is missing when it is not."""

    answerable: bool
    probability: float
    why: Why = ""
    detail: str = ""
    features: Mapping[str, float] | None = None


# "near Kashgar in southern", "in Turpan, " before the name of a region; but not "give Clorsulon in", which is no place
_PLACE_IN = re.compile(
    r"(?:\b(?:[Ii]n|[Aa]t|[Nn]ear|[Aa]round|[Oo]utside|[Ff]rom) [A-Z]\w+(?:,| in| of)?|^[A-Z]\w+,) "
    r"(?:(?:north|south|east|west|cent)\w*(?:[ -](?:north|south|east|west)\w*)? )?$"
)


class Gate:
    """Decides whether an answer may be given.

    Args:
        rarity: inverse document frequency of a stem in the collection, in [0, 1]; 1 for a word that never occurs.
        stem: the retriever's tokenizer.
        pieces: into how many word pieces a vocabulary cuts a word; None does without the check of names.
    """

    def __init__(
        self,
        profile: Profile,
        rarity: Callable[[str], float],
        stem: Callable[[str], Sequence[str]],
        *,
        pieces: Callable[[str], int] | None = None,
        threshold: float = 0.5,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self._profile, self._rarity, self._stem, self._threshold = profile, rarity, stem, threshold
        self._weights = dict(weights or _DEFAULT)
        self._names = Names(rarity, stem, pieces) if pieces is not None else None

    def judge(
        self,
        question: str,
        hits: Sequence[Hit],
        evidence: float,
        parts: Sequence[float] = (),
        answer: str = "",
        language: str = "en",
        cited: Sequence[str] = (),
    ) -> Verdict:
        """Judge the kept ``hits`` for ``question``.

        Args:
            evidence: probability of the best sentence.
            parts: probability of the best sentence for each sub-question.
            answer: what would be said, with its headings; it may show that a wish such as a price is met after all.
            cited: ids of the passages that it would cite; a name that is asked about must stand in one of them.
        """
        not_held = self._profile.cannot_hold(question, language)
        if not_held and not self._meets(not_held, answer):
            return Verdict(False, 0.02, "not_held", not_held)
        if not hits or not asks_anything(question, self._stem):
            return Verdict(False, 0.01, "nothing")
        values = self.features(question, hits, evidence, parts, answer)
        if unheld := self._unheld(question, hits):
            return Verdict(False, 0.05, "scope", unheld, values)
        logit = self._weights["bias"] + sum(self._weights.get(name, 0.0) * value for name, value in values.items())
        probability = 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
        name = self._names.unheld(self._unscoped(question), self._answering(hits, cited, answer)) if self._names else ""
        if self._names and name and (probability < DOUBT or self._names.unknown(name)):
            return Verdict(False, min(probability, 0.05), "name", name, values)
        if answer and probability < DOUBT and not counted(question, answer, UNIT_NAMES):
            return Verdict(False, min(probability, 0.1), "thin", features=values)
        if not_held and probability < SURE:  # an answer that only names a price is not one
            return Verdict(False, probability, "not_held", not_held, values)
        if probability < self._threshold:
            return Verdict(False, probability, "thin", features=values)
        return Verdict(True, probability, features=values)

    def _unscoped(self, question: str) -> str:
        """The question without its scope terms, which have synonyms and a rule of their own, and without bracketed glosses.

        A place goes with the region that it is said to lie in: on "Kashgar in southern Xinjiang" what holds for southern
        Xinjiang may be said.
        """
        for mention in sorted(self._profile.mentions(question), key=lambda mention: -mention.start):
            before = question[: mention.start]
            place = _PLACE_IN.search(before) if mention.kind == "region" else None
            question = f"{before[: place.start()] if place else before} {question[mention.end :]}"
        return re.sub(r"\([^()]*\)", " ", question)

    @staticmethod
    def _answering(hits: Sequence[Hit], cited: Sequence[str], answer: str) -> list[str]:
        """Texts of the passages that would be cited (of all, if none is known)."""
        chosen = [hit for hit in hits if hit.passage.id in cited] or hits
        return [answer, *(f"{hit.passage.indexed_text} {_scope_text(hit.passage)}" for hit in chosen)]

    def _unheld(self, question: str, hits: Sequence[Hit]) -> str:
        """The thing that was asked about (an animal, a crop, a region) where hardly a document and no kept passage names it.

        What the collection often names ("a sheep broke into barley") may be a mere circumstance of the question.
        """
        held = {m.thing for hit in hits for m in self._profile.mentions(f"{hit.passage.indexed_text} {_scope_text(hit.passage)}")}
        by_kind: dict[str, list[Mention]] = {}
        for mention in self._profile.mentions(question):
            by_kind.setdefault(mention.kind, []).append(mention)
        for mentions in by_kind.values():
            stems = [stem for mention in mentions for stem in self._stems(mention.text)]
            if not held & {m.thing for m in mentions} and min(map(self._rarity, stems), default=0.0) >= RARE:
                return mentions[0].thing
        return ""

    def _meets(self, wish: str, answer: str) -> bool:
        """Whether ``answer`` speaks of the very wish: of prices is not enough for "what does it fetch this year"."""
        entries = tuple(entry for entry in self._profile.not_held if wish in entry.texts.values())
        return replace(self._profile, not_held=entries).cannot_hold(answer) is not None

    def _stems(self, word: str) -> Sequence[str]:
        """What a passage must hold to hold ``word``: of "slow-release" both parts, for it may write "of slow release"."""
        stems = self._stem(word)
        parts = [stem for stem in stems if "-" not in stem and "/" not in stem and stem not in STOPWORDS]
        return parts if parts and ("-" in word or "/" in word) else stems[:1]

    def features(
        self, question: str, hits: Sequence[Hit], evidence: float, parts: Sequence[float] = (), answer: str = ""
    ) -> dict[str, float]:
        """The numbers the logistic sees, each about in [0, 1].

        ``coverage`` and ``said`` are the shares of the question's words, weighed by rarity, that the kept passages and
        the answer itself hold; ``missing_rare`` is the rarest word that no kept passage holds.
        """
        wanted = {
            stem: self._rarity(stem) for word in content_words(question) if word not in _ASKING for stem in self._stems(word)
        }
        held = {stem for hit in hits for stem in self._stem(f"{hit.passage.indexed_text} {_scope_text(hit.passage)}")}
        spoken = set(self._stem(answer))
        total = sum(wanted.values())
        return {
            "evidence": evidence,
            "relevance": max(hit.score for hit in hits),
            "cosine": max(hit.scores.get("dense", 0.0) for hit in hits),
            "coverage": sum(w for stem, w in wanted.items() if stem in held) / total if total else 0.0,
            "missing_rare": max((w for stem, w in wanted.items() if stem not in held), default=0.0),
            "weakest_part": min(parts) if parts else evidence,
            "kind_shown": float(shows(answer, expects(question))),
            "said": sum(w for stem, w in wanted.items() if stem in spoken) / total if total else 0.0,
        }


def out_of_scope(profile: Profile, question: str, passage: Passage) -> str:
    """Why ``passage`` must not be used for ``question``: it is about another animal or crop. Empty when it may be.

    It may if it names everything of the kind that was asked about, or nothing else of the kind. So "cattle mixes kill
    sheep" may answer a question on sheep and cattle mixes, and a passage on cattle alone may give cattle's part of a
    comparison; but neither may answer one on goats and cattle mixes by way of the sheep.
    """
    return conflict(profile, question, f"{passage.heading} {passage.text} {_scope_text(passage)}")


def conflict(profile: Profile, question: str, text: str) -> str:
    """The rule of :func:`out_of_scope` for any text, such as one sentence."""
    holds = profile.things(text)
    for kind, things in profile.things(question).items():
        if kind == "region":
            continue  # an article on all of China may serve a province; regions are weighed, not barred
        there = holds.get(kind, set())
        if there - things and things - there:
            return f"about {', '.join(sorted(there - things))}, not {', '.join(sorted(things - there))}"
    return ""


def beside(profile: Profile, question: str, passage: Passage) -> bool:
    """Whether the article of ``passage`` is on another animal, crop or region than ``question`` asks about.

    Such a passage may name the asked one by the way and so be in scope: "goats need 8 to 25 mg of copper, sheep 7 to 11".
    The article on the asked one says it in full, and goes first. Of regions only those in its title count: an article on
    Xinjiang is not one on Shandong, but where a breed comes from does not say where its advice holds.
    """
    own = {**profile.things(f"{passage.title} {_scope_text(passage)}"), "region": set[str]()}
    asked = profile.things(question)
    if "region" in asked and not profile.things(passage.text).get("region", set()) & asked["region"]:
        own["region"] = profile.things(passage.title).get("region", set())
    return any(bool(own.get(kind)) and not own[kind] & things for kind, things in asked.items())


def _scope_text(passage: Passage) -> str:
    values: list[str] = []
    for name in ("species", "crop", "region"):
        value = passage.metadata.get(name)
        values.extend(map(str, value) if isinstance(value, list | tuple) else [str(value)] if value else [])
    return " ".join(values)


_ASKING = (
    frozenset(
        ["question", "answer", "tell", "explain", "mean", "please", "know", "thing", "things", "someone", "people", "anyone"]
    )
    | STOPWORDS
)


_AGAIN = "fit it again with `python -m benchmarks.fit gate --rows DEV.json`"


def load_weights(folder: Path) -> dict[str, float] | None:
    """The fitted weights of ``folder/gate.json``, or None where none are installed.

    Raises:
        WeightsError: the file is not a map of the known features, or not what the manifest says.
    """
    manifest.verify(folder)
    path = folder / "gate.json"
    if not path.is_file():
        return None
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))["weights"]
        weights = {str(k): float(v) for k, v in raw.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"models/gate/gate.json: {error!r}; {_AGAIN}") from error
    if unknown := set(weights) - {*FEATURES, "bias"}:
        raise WeightsError(f"models/gate/gate.json: unknown features {sorted(unknown)}; {_AGAIN}")
    if "bias" not in weights or not all(map(math.isfinite, weights.values())):
        raise WeightsError(f"models/gate/gate.json: no bias, or a weight that is no number; {_AGAIN}")
    return weights
