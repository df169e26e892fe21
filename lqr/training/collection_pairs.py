"""Makes training pairs out of a collection itself, so that the evidence model knows how its documents speak.

A section's heading with its document's title is a question that the section answers; a table's row label and column
ask for one row. Negatives are the hard ones: other sections of the same document, the same heading in other documents,
other rows of the same table. No question set is read, so nothing of a test can leak. Knows nothing of models.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from lqr.text import content_words, sentence_spans
from lqr.training.pairs import Pair
from lqr.types import Passage

_FORMS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (
        re.compile(r"^(?:the )?(?:signs?|symptoms?)\b", re.I),
        ("What are the signs of {t}?", "how do i know if it is {t}", "what does {t} look like in the animal"),
    ),
    (
        re.compile(r"^(?:prevention|preventing)\b", re.I),
        ("How do I prevent {t}?", "how to stop {t} from happening", "What keeps {t} away?"),
    ),
    (
        re.compile(r"^(?:treatment|treating|first aid)\b", re.I),
        ("How is {t} treated?", "what should i do about {t}", "My animals have {t}, what now?"),
    ),
    (re.compile(r"^(?:causes?|what causes)\b", re.I), ("What causes {t}?", "why do animals get {t}", "where does {t} come from")),
    (
        re.compile(r"^(?:control|controlling)\b", re.I),
        ("How do I control {t}?", "what helps against {t}", "best way to get rid of {t}"),
    ),
    (
        re.compile(r"^(?:life cycle|spread|how .* spreads?)\b", re.I),
        ("How does {t} spread?", "how does {t} get into the flock or field"),
    ),
    (re.compile(r"^(?:damage|loss)", re.I), ("How much harm does {t} do?", "how much do i lose to {t}")),
)
_QUESTION = re.compile(r"^(?:how|what|when|why|where|which|who|can|do|does|should|is|are)\b", re.I)


def build(passages: Sequence[Passage], *, seed: int = 13) -> list[Pair]:
    """Pairs from every section and table row of ``passages`` (reading order), shuffled."""
    rng = random.Random(seed)
    sections: dict[tuple[str, tuple[str, ...]], list[Passage]] = defaultdict(list)
    by_document: dict[str, list[Passage]] = defaultdict(list)
    by_heading: dict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        sections[passage.document_id, passage.section].append(passage)
        by_document[passage.document_id].append(passage)
        if passage.section:
            by_heading[_key(passage.section[-1])].append(passage)
    pairs: list[Pair] = []
    for (document, section), own in sections.items():
        if not section:
            continue
        others = [p for p in by_document[document] if p.section != section]
        alike = [p for p in by_heading[_key(section[-1])] if p.document_id != document]
        pairs.extend(_section_pairs(own, others, alike, rng))
        pairs.extend(_row_pairs([p for p in own if p.kind == "table_row"], rng))
    rng.shuffle(pairs)
    return pairs


def _section_pairs(
    own: Sequence[Passage], others: Sequence[Passage], alike: Sequence[Passage], rng: random.Random
) -> Iterator[Pair]:
    prose = [p for p in own if p.kind != "table_row"]
    if not prose:
        return
    for question in _questions(own[0], rng):
        for passage in prose:
            yield _pair(question, passage, passage.text, 1.0)
        for unit, passage in rng.sample(_units(prose), k=min(3, len(_units(prose)))):
            yield _pair(question, passage, unit, 1.0)
        wrong = [*rng.sample(list(others), k=min(3, len(others))), *rng.sample(list(alike), k=min(2, len(alike)))]
        for passage in wrong:
            yield _pair(question, passage, passage.text, 0.0)
            units = _units([passage])
            if units:
                yield _pair(question, passage, rng.choice(units)[0], 0.0)


def _row_pairs(rows: Sequence[Passage], rng: random.Random) -> Iterator[Pair]:
    if len(rows) < 2:
        return
    for row in rows:
        cells = [cell.split(":", 1) for cell in row.text.split(";") if ":" in cell]
        if len(cells) < 2:
            continue
        label = _label(row)
        if not label:
            continue
        column = re.sub(r"\([^)]*\)", "", rng.choice(cells[1:])[0]).strip().lower()
        topic = _topic(row.title)
        question = rng.choice(
            (
                f"What is the {column} for {label} ({topic})?",
                f"{column} {label} {topic}",
                f"How much {column} for {label}?",
                f"{topic}: {column} at {label}?",
            )
        )
        yield _pair(question, row, row.text, 1.0)
        # a row of the same name (another age or region) answers a question that names no more than this
        others = [r for r in rows if _label(r) != label]
        for other in rng.sample(others, k=min(2, len(others))):
            yield _pair(question, other, other.text, 0.0)


def _label(row: Passage) -> str:
    return row.text.split(";")[0].partition(":")[2].strip()


def _questions(passage: Passage, rng: random.Random) -> list[str]:
    heading, topic = passage.section[-1].strip(), _topic(passage.title)
    asked: list[str] = []
    for pattern, forms in _FORMS:
        if pattern.match(heading):
            asked.append(rng.choice(forms).format(t=topic))
    full = heading if _names(heading, passage.title) else f"{heading} {rng.choice(('of', 'for', 'with', 'in'))} {topic}"
    asked.append(
        f"{full.rstrip('?')}?"
        if _QUESTION.match(heading)
        else rng.choice((full.lower(), f"Tell me about {full.lower()}.", f"{topic}: {heading.lower()}"))
    )
    return asked


def _units(passages: Sequence[Passage]) -> list[tuple[str, Passage]]:
    found = []
    for passage in passages:
        if passage.kind == "table_row":
            found.append((passage.text, passage))
            continue
        for start, end in sentence_spans(passage.text):
            if len(content_words(passage.text[start:end])) >= 3:
                found.append((passage.text[start:end], passage))
    return found


def _pair(question: str, passage: Passage, text: str, label: float) -> Pair:
    return Pair(question, passage.topic, text, label, "collection")


def _topic(title: str) -> str:
    return re.sub(r"^(?:Growing|Making|Feeding|Managing|Controlling|The) ", "", title).lower()


def _names(heading: str, title: str) -> bool:
    stems = {w.lower().rstrip("s") for w in content_words(title)}
    return any(w.rstrip("s") in stems for w in content_words(heading))


def _key(heading: str) -> str:
    return " ".join(content_words(heading)[:1])
