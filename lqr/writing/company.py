"""What chosen sentences bring along: the ban of their passage, and the rest of what it tells to do.

Knows nothing of how the sentences were chosen or are set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lqr.answer_type import tells_what_to_do
from lqr.text import content_words
from lqr.writing.layout import PROHIBITS
from lqr.writing.units import Unit

BAN_WORDS = 2  # content words that a ban has in common with the question to be said beside what its passage answers
ACTION_SHARE = 0.1  # of the best, for more that the section of the best tells to do; what else is said must reach KEEP_SHARE
_BANS = re.compile(r"(?:do not|don't|never)\b", re.IGNORECASE)
# Something that is put into an animal, by mouth or needle.
_GIVES = re.compile(
    r"\b(?:drench\w*|inject\w*|by mouth|stomach tube|dose[sd]?|(?:give|feed)\b.*\b(?:ml|mg|mL|millilit\w+))\b", re.IGNORECASE
)


def with_actions(chosen: list[Unit], scored: Sequence[Unit], limit: int) -> list[Unit]:
    """``chosen`` with what else the section of the best tells to do, while there is room."""
    if not chosen:
        return chosen
    lead, said = max(chosen, key=lambda u: u.score), {u.key for u in chosen}
    more = [
        u
        for u in scored
        if u.kind == lead.kind == "sentence"
        and (u.passage.document_id, u.passage.section) == (lead.passage.document_id, lead.passage.section)
        and u.key not in said
        and u.score > ACTION_SHARE * lead.score
        and tells_what_to_do(u.text)
    ]
    return [*chosen, *sorted(more, key=lambda u: -u.score)[: max(0, limit - len(chosen))]]


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
    asked = {_plain(word) for word in content_words(question)}
    shared = {u.key: len(asked & {_plain(word) for word in content_words(u.text)}) for u in scored}
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


def _plain(word: str) -> str:
    return word.rstrip("s")
