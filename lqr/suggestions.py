"""Two or three further questions that the documents can answer: other sections of what was just cited.

A suggestion is a question made of a section's heading and its document's title, so asking it finds that section.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lqr.types import Passage

_FORMS = (
    (re.compile(r"^(?:the )?(?:signs|symptoms|clinical signs)\b", re.I), "What are the signs of {topic}?"),
    (re.compile(r"^(?:prevention|preventing|how to prevent|prevent)\b", re.I), "How is {topic} prevented?"),
    (re.compile(r"^(?:treatment|treating|how to treat)\b", re.I), "How is {topic} treated?"),
    (re.compile(r"^(?:causes?|what causes)\b", re.I), "What causes {topic}?"),
    (re.compile(r"^(?:control|controlling)\b", re.I), "How is {topic} controlled?"),
)
_DULL = re.compile(r"^(?:introduction|overview|summary|references|sources|see also|further reading|notes?|contents)\b", re.I)


def suggest(passages: Sequence[Passage], used: set[tuple[str, tuple[str, ...]]], *, limit: int = 3) -> tuple[str, ...]:
    """Questions for the sections of ``passages`` not in ``used`` (document id, section path), at most ``limit``."""
    found: dict[str, None] = {}
    for passage in passages:
        if not passage.section or (passage.document_id, passage.section) in used or _DULL.match(passage.section[-1]):
            continue
        found.setdefault(_ask(passage), None)
        if len(found) >= limit:
            break
    return tuple(found)


def _ask(passage: Passage) -> str:
    heading, title = passage.section[-1].rstrip("?. "), passage.title
    topic = _in_sentence(title)
    if re.match(r"^(?:how|what|when|why|where|which|who|can|do|does|should|is|are)\b", heading, re.I) and passage.section[
        -1
    ].endswith("?"):
        return heading + "?"
    for pattern, form in _FORMS:
        match = pattern.match(heading)
        if match and len(heading.split()) <= 3:
            return form.format(topic=topic)
    if _shares_words(heading, title):
        return f"{heading}?"
    return f"{heading} ({topic})?"


def _shares_words(heading: str, title: str) -> bool:
    """Whether the heading already says what it is about ("Signs of orf" under "Orf")."""
    stems = {w.lower().rstrip("s") for w in title.split() if len(w) > 3}
    return any(w.lower().rstrip("s") in stems for w in heading.split())


def _in_sentence(title: str) -> str:
    """The title as it stands inside a sentence: lower-cased first word unless it is a name."""
    first, _, rest = title.partition(" ")
    later_capital = any(w[:1].isupper() for w in rest.split())
    return title if later_capital or first.isupper() else f"{first[:1].lower()}{first[1:]} {rest}".strip()
