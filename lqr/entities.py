"""Finds the names of a collection in a text: titles of documents and scope terms. One pass, longest match first."""

from __future__ import annotations

from collections.abc import Sequence

from lqr.conversation import title_patterns
from lqr.corpus.profile import Profile


class EntityFinder:
    """Callable: ``finder("Tan sheep in Ningxia") == ["Tan sheep", "Ningxia"]``."""

    def __init__(self, profile: Profile, titles: Sequence[str]) -> None:
        self._profile = profile
        self._patterns = title_patterns(titles)

    def __call__(self, text: str) -> list[str]:
        """The names in ``text`` as written there, in order, without overlaps."""
        found: list[tuple[int, int, str]] = []
        for pattern in self._patterns:
            found.extend((m.start(), m.end(), m.group()) for m in pattern.finditer(text))
        found.extend((m.start, m.end, m.text) for m in self._profile.mentions(text))
        found.sort(key=lambda item: (item[0] - item[1], item[0]))
        taken: list[tuple[int, int, str]] = []
        for start, end, name in found:
            if not any(start < e and s < end for s, e, _ in taken):
                taken.append((start, end, name))
        return [name for _, _, name in sorted(taken)]
