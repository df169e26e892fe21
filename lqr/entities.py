"""Finds the names of a collection in a text: titles of documents and scope terms. One pass, longest match first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from lqr.conversation import Names, title_patterns
from lqr.corpus.profile import Profile


class EntityFinder:
    """Callable: ``finder("Tan sheep in Ningxia") == ["Tan sheep", "Ningxia"]``."""

    def __init__(self, profile: Profile, titles: Sequence[str]) -> None:
        self._names = Names(profile, titles)

    def __call__(self, text: str) -> list[str]:
        """The names in ``text`` as written there, in order, without overlaps."""
        return [name.text for name in self._names.find(text)]


class TopicFinder:
    """Callable: which of some titles a question names as its topic, whole or by their head ("Pregnancy toxaemia" in ewes).

    A breed is none: what is asked of "Tan sheep" stands in the articles on feeding and lambing too.
    """

    def __init__(self, profile: Profile) -> None:
        self._patterns = lru_cache(maxsize=4096)(lambda title: title_patterns([title], profile))

    def __call__(self, question: str, titles: Iterable[str]) -> set[str]:
        """Those of ``titles`` that ``question`` names."""
        lowered = question.lower()
        named = set()
        for title in titles:
            breed, topic = self._patterns(title)
            if topic.search(lowered) and not breed.search(lowered):
                named.add(title)
        return named


def places(profile: Profile, text: str) -> list[str]:
    """The places (scope terms of the kind ``region``) in ``text`` as written there, in order."""
    return [mention.text for mention in profile.mentions(text) if mention.kind == "region"]
