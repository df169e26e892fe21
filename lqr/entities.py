"""Finds the names of a collection in a text: titles of documents and scope terms. One pass, longest match first."""

from __future__ import annotations

from collections.abc import Sequence

from lqr.conversation import Names
from lqr.corpus.profile import Profile


class EntityFinder:
    """Callable: ``finder("Tan sheep in Ningxia") == ["Tan sheep", "Ningxia"]``."""

    def __init__(self, profile: Profile, titles: Sequence[str]) -> None:
        self._names = Names(profile, titles)

    def __call__(self, text: str) -> list[str]:
        """The names in ``text`` as written there, in order, without overlaps."""
        return [name.text for name in self._names.find(text)]


def places(profile: Profile, text: str) -> list[str]:
    """The places (scope terms of the kind ``region``) in ``text`` as written there, in order."""
    return [mention.text for mention in profile.mentions(text) if mention.kind == "region"]
