"""What chosen sentences bring along: the ban of their passage.

Knows nothing of how the sentences were chosen or are set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lqr.text import content_words
from lqr.writing.layout import PROHIBITS
from lqr.writing.units import Unit

BAN_WORDS = 2  # content words that a ban has in common with the question to be said beside what its passage answers
_BANS = re.compile(r"(?:do not|don't|never)\b", re.IGNORECASE)
# Something that is put into an animal, by mouth or needle.
_GIVES = re.compile(
    r"\b(?:drench\w*|inject\w*|by mouth|stomach tube|dose[sd]?|(?:give|feed)\b.*\b(?:ml|mg|mL|millilit\w+))\b", re.IGNORECASE
)


def with_ban(question: str, chosen: list[Unit], scored: Sequence[Unit], limit: int, *, floor: float) -> list[Unit]:
    """``chosen`` with the ban on its subject that a quoted passage holds too: the half of an answer that keeps animals safe.

    At most one, and none where a ban was chosen; in a full answer it takes the place of the weakest that can be spared. Who is
    told to give something hears what its passage forbids, whatever was asked: "a ewe that cannot swallow must not be drenched".
    """
    if not chosen or any(_BANS.match(u.text) for u in chosen):
        return chosen
    quoted = {u.passage.id for u in chosen if u.kind == "sentence"}
    given = {u.passage.id for u in chosen if u.kind == "sentence" and _GIVES.search(u.text)}
    said = {u.key for u in chosen}
    asked = {bare(word) for word in content_words(question)}
    shared = {u.key: len(asked & {bare(word) for word in content_words(u.text)}) for u in scored}
    bans = [
        u
        for u in scored
        if u.kind == "sentence"
        and u.key not in said
        and (
            (u.passage.id in given and PROHIBITS.search(u.text))
            or (u.passage.id in quoted and _BANS.match(u.text) and shared[u.key] >= BAN_WORDS and u.score > floor)
        )
    ]
    if not bans:
        return chosen
    ban = max(bans, key=lambda u: (shared[u.key], u.score))
    lead = max(chosen, key=lambda u: u.score)
    # a part of the question that has one unit keeps it
    spare = [u for u in chosen if u is not lead and u.kind != "item" and sum(u.part == other.part for other in chosen) > 1]
    weakest = min(spare, key=lambda u: u.score) if spare and len(chosen) >= limit else None
    return [*(u for u in chosen if u is not weakest), ban]


def bare(word: str) -> str:
    """``word`` without the s of a plural: near enough to count words that two sentences share."""
    return word.rstrip("s")
