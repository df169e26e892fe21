"""The typed things that stages hand to one another.

Every class here is a frozen dataclass: a stage returns new values and never edits what it was given.
This module knows no stage, no model and no file format.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

BlockKind = Literal["heading", "paragraph", "list_item", "table_row", "code"]
RouteLabel = Literal["simple", "complex"]
Role = Literal["user", "assistant"]
Support = Literal["quoted", "supported", "partial", "unsupported"]
ConfidenceLevel = Literal["rich", "thin", "none"]
TurnKind = Literal["standalone", "follow_up", "topic_change", "small_talk", "meta", "unclear", "empty", "too_long"]
# How likely (heading, text) helps to answer a question, 0 to 1, for pairs of both: the relevance model, as the stages see it.
Scorer = Callable[[Sequence[tuple[str, tuple[str, str]]]], list[float]]


@dataclass(frozen=True, slots=True)
class Block:
    """One structural unit of a document, as its reader found it.

    ``text`` is what is indexed and shown. For a table row it is already ``column: value; column: value``.
    ``start`` and ``end`` are character offsets of the block in ``Document.text``.
    """

    kind: BlockKind
    text: str
    start: int
    end: int
    level: int = 0  # heading depth 1..6, list nesting 0..; 0 otherwise
    page: int | None = None  # 1-based, where the format has pages
    links: tuple[str, ...] = ()  # targets of links, as written; the graph resolves them


@dataclass(frozen=True, slots=True)
class Document:
    """A file after reading: plain text plus its blocks in reading order.

    ``id`` is the first 12 hex digits of the SHA-256 of the file's bytes, so equal files are one document.
    ``source`` is the name a person would know it by (a path relative to what was ingested), never a server path.
    """

    id: str
    title: str
    text: str
    blocks: tuple[Block, ...]
    source: str
    media_type: str = "text/plain"
    metadata: Mapping[str, Any] = field(default_factory=dict)  # front matter: topic, species, region, sources...


@dataclass(frozen=True, slots=True)
class Passage:
    """The smallest unit that is retrieved and cited.

    ``id`` is ``<document id>-<position>``; ``text == document.text[start:end]`` except for table rows, whose
    text is rewritten with the header's column names.
    """

    id: str
    document_id: str
    title: str
    section: tuple[str, ...]
    text: str
    position: int
    start: int
    end: int
    kind: BlockKind = "paragraph"
    page: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """``Title > Section > Subsection``, for prompts, for scoring and for the eye."""
        return " > ".join((self.title, *self.section))

    @property
    def topic(self) -> str:
        """``Title. Section. Subsection``: the heading as the models read it, in training as in use."""
        return ". ".join((self.title, *self.section))

    @property
    def indexed_text(self) -> str:
        """What the retrievers index: the heading gives a short passage its subject."""
        return f"{self.topic}. {self.text}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that people ask, written for a collection, and where its answer stands.

    ``document`` is the source without its suffix; ``snippet`` a piece of the sentence, list item or table row that answers;
    ``means`` a follow-up written out, empty where the question says all.
    """

    question: str
    document: str
    snippet: str
    means: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with the score that one stage gave it.

    ``score`` is comparable only among hits of the same stage. ``scores`` keeps what each retriever said
    (``bm25``, ``dense``, ``graph``, ``rrf``, ``relevance``), ``why`` says how a graph step reached it.
    """

    passage: Passage
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """Simple or complex, with the probability of *complex* and the reason in words."""

    label: RouteLabel
    probability: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A complex question as two (paper, section 3.2). ``second`` may hold ``#1`` for the answer to ``first``."""

    first: str
    second: str
    method: str = "rules"


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer and the passages it stands on (ids of retrieved passages only)."""

    text: str
    passages: tuple[str, ...]
    support: Support
    quotes: tuple[str, ...] = ()  # the supporting sentence of each passage, for highlighting
    note: str = ""  # what the check found, for a person


@dataclass(frozen=True, slots=True)
class Source:
    """A cited passage as the reader sees it. ``number`` is its ``[n]`` in the text."""

    number: int
    id: str
    document_id: str
    title: str
    section: tuple[str, ...]
    text: str
    quotes: tuple[str, ...] = ()
    page: int | None = None
    url: str | None = None
    references: tuple[str, ...] = ()  # the document's own sources: "Title, publisher, year"


@dataclass(frozen=True, slots=True)
class Confidence:
    """How much the documents hold for this answer, and why."""

    level: ConfidenceLevel
    reason: str
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How one answer measures up, without anybody knowing the right one; nothing in it is text.

    ``groundedness`` is the share of claims that the checks found quoted or supported by what they cite, in [0, 1]. A composed
    answer only quotes, so it is 1 by construction: the counts beside it say what kind of claims make it up.
    ``relevance`` is the relevance model's probability, in [0, 1], that the answer helps with the question.
    """

    groundedness: float
    relevance: float
    quoted: int = 0
    supported: int = 0
    partial: int = 0
    unsupported: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, flattened to plain text."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What became of the user's message: its kind, and the standalone question used for retrieval.

    ``beside`` is for a second search, of a follow-up only: the last question and this message in their own words. A rewrite is
    short, and what it left out of the last question may be what finds the passage.
    """

    kind: TurnKind
    standalone: str
    note: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about. ``seconds`` is per stage; ``kept`` and ``dropped`` hold relevance scores."""

    standalone: str
    turn_kind: TurnKind = "standalone"
    rewrite_note: str = ""
    route: Route | None = None
    decomposition: Decomposition | None = None
    queries: tuple[str, ...] = ()
    steps: int = 0  # retrieval calls made
    kept: tuple[Hit, ...] = ()
    dropped: tuple[Hit, ...] = ()
    gate: Mapping[str, float] = field(default_factory=dict)  # what the refusal gate weighed
    writer: str = ""
    removed_citations: int = 0
    replaced_claims: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of the line: what is shown, what it stands on, and how it came about."""

    text: str
    claims: tuple[Claim, ...]
    sources: tuple[Source, ...]
    refused: bool
    confidence: Confidence
    trace: Trace
    suggestions: tuple[str, ...] = ()
    evaluation: Evaluation | None = None  # None of a refusal and of a fixed reply: they claim nothing

    def to_dict(self) -> dict[str, Any]:
        """The JSON that ``lqr ask --json`` prints (see README, "The answer as JSON")."""
        route = self.trace.route
        parts = self.trace.decomposition
        return {
            "text": self.text,
            "claims": [dataclasses.asdict(claim) for claim in self.claims],
            "sources": [dataclasses.asdict(source) for source in self.sources],
            "refused": self.refused,
            "confidence": dataclasses.asdict(self.confidence),
            "evaluation": dataclasses.asdict(self.evaluation) if self.evaluation else None,
            "suggestions": list(self.suggestions),
            "trace": {
                "standalone": self.trace.standalone,
                "turn_kind": self.trace.turn_kind,
                "rewrite_note": self.trace.rewrite_note,
                "route": route.label if route else None,
                "probability": route.probability if route else None,
                "route_reason": route.reason if route else None,
                "sub_questions": [parts.first, parts.second] if parts else [],
                "queries": list(self.trace.queries),
                "steps": self.trace.steps,
                "kept": [_hit_dict(hit) for hit in self.trace.kept],
                "dropped": [_hit_dict(hit) for hit in self.trace.dropped],
                "gate": dict(self.trace.gate),
                "writer": self.trace.writer,
                "removed_citations": self.trace.removed_citations,
                "replaced_claims": self.trace.replaced_claims,
                "seconds": dict(self.trace.seconds),
            },
        }


@dataclass(frozen=True, slots=True)
class Progress:
    """A stage has begun or ended; ``detail`` is one line for a person."""

    stage: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the draft text. The final ``Answer`` may differ from the draft: the checks come after it."""

    text: str


Event = Progress | TextDelta | Answer


def _hit_dict(hit: Hit) -> dict[str, Any]:
    return {"id": hit.passage.id, "heading": hit.passage.heading, "score": hit.score, "scores": dict(hit.scores), "why": hit.why}


def as_turns(history: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """Flatten chat messages to turns.

    Accepts what Gradio 6 sends (``content`` a string, or a list of blocks of which only text counts), drops
    system and tool messages, collapsible steps (messages with a ``metadata.title``) and empty messages.
    """
    turns: list[Turn] = []
    for message in history:
        role = message.get("role")
        metadata = message.get("metadata") or {}
        if role not in ("user", "assistant") or (isinstance(metadata, Mapping) and metadata.get("title")):
            continue
        text = _flatten(message.get("content")).strip()
        if text:
            turns.append(Turn(role, text))
    return tuple(turns)


def _flatten(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return content["text"] if isinstance(content.get("text"), str) else ""
    if isinstance(content, Sequence):
        return "\n".join(part for part in map(_flatten, content) if part)
    return ""
