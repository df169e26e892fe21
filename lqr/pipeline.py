"""One question's way through the house: rewrite, route, retrieve, expand, filter, write, check, answer.

This module only strings the stages together; each is handed in and can be replaced. It is the method of Layered Query
Retrieval (Huang et al. 2024, doi 10.3390/app142311014) with the grounding around it. It holds no conversation and no
user's data: history comes with each call, and everything found on the way goes into the answer's trace.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from lqr.classifiers.complexity import ComplexityModel
from lqr.conversation import Rewriter
from lqr.corpus.profile import Profile
from lqr.corpus.store import Store
from lqr.decompose import Decomposer
from lqr.errors import Cancelled, WriterError
from lqr.grounding.agreement import contradictions
from lqr.grounding.calibration import Calibration, features_of
from lqr.grounding.confidence import confidence
from lqr.grounding.refusal import Gate, Verdict, conflict, out_of_scope
from lqr.grounding.rules import RuleChecker, out_of_force, tempered
from lqr.memory import release
from lqr.replies import language_of, reply
from lqr.retrieval.layered import LayeredRetrieval, Retrieved
from lqr.retrieval.rerank import Reranker
from lqr.retrieval.retriever import Retriever
from lqr.settings import RouteSetting, Settings
from lqr.suggestions import suggest
from lqr.text import truncate
from lqr.types import Answer, Claim, Confidence, Event, Hit, Passage, Progress, Rewrite, Route, Source, Trace, Turn
from lqr.writing.composer import Composer, Composition
from lqr.writing.model_writer import ModelWriter, Written

log = logging.getLogger(__name__)

SAME_TABLE = "a row of the same table"
ANSWERED = ("standalone", "follow_up", "topic_change")


def never() -> bool:
    """The default ``cancelled``: nobody stops this answer."""
    return False


@dataclass
class _Run:
    """What has been found so far for one question; becomes the trace."""

    trace: Trace
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = round(self.seconds.get(stage, 0.0) + time.perf_counter() - began, 4)

    def finished(self, **changes: object) -> Trace:
        return replace(self.trace, seconds={**self.seconds, "total": round(sum(self.seconds.values()), 4)}, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Reading:
    """What was made of a pool: passages kept and dropped, the composed answer, and its text with headings."""

    kept: tuple[Hit, ...]
    dropped: tuple[Hit, ...]
    composed: Composition
    said: str


@dataclass(frozen=True)
class Pipeline:
    """The stages, put together by :func:`lqr.app.build`. Safe to use from several threads."""

    settings: Settings
    store: Store
    retriever: Retriever
    profile: Profile
    rewriter: Rewriter
    complexity: ComplexityModel
    layered: LayeredRetrieval
    reranker: Reranker
    composer: Composer
    gate: Gate
    entities: Callable[[str], list[str]]
    model_writer: ModelWriter | None = None
    calibration: Calibration | None = None
    rules: RuleChecker | None = None  # of a rule book
    decomposer: Decomposer = field(default_factory=Decomposer)  # rules only; build() gives it the trained model

    def ask(self, question: str, history: Sequence[Turn] = (), *, route: RouteSetting = "auto") -> Answer:
        """The answer, without the events on the way."""
        for event in self.stream(question, history, route=route):
            if isinstance(event, Answer):
                return event
        raise AssertionError("stream() always ends with an Answer")

    def stream(
        self, question: str, history: Sequence[Turn] = (), *, cancelled: Callable[[], bool] = never, route: RouteSetting = "auto"
    ) -> Iterator[Event]:
        """Answer ``question``, telling what happens; the last event is the :class:`Answer`.

        Args:
            history: earlier turns, oldest first, without ``question``.
            cancelled: asked between stages and between words; True ends the answer.
            route: ``simple`` or ``complex`` overrides the classifier.

        Raises:
            Cancelled: ``cancelled()`` said so.
            LqrError: a stage failed in a way a person can mend.
        """
        try:
            yield from self._stream(question, history, cancelled, route)
        finally:
            release()

    def _stream(
        self, question: str, history: Sequence[Turn], cancelled: Callable[[], bool], route: RouteSetting
    ) -> Iterator[Event]:
        run = _Run(Trace(standalone=question))
        yield Progress("reading", "Reading the question")
        with run.timed("rewrite"):
            rewritten = self.rewriter.rewrite(question, history)
        run.trace = replace(run.trace, standalone=rewritten.standalone, turn_kind=rewritten.kind, rewrite_note=rewritten.note)
        if rewritten.kind not in ANSWERED:
            yield self._reply(rewritten, question, run)
            return
        standalone = rewritten.standalone
        with run.timed("route"):
            decided = self._route(standalone, route)
            parts = self.decomposer(standalone, entities=self.entities) if decided.label == "complex" else None
        run.trace = replace(run.trace, route=decided, decomposition=parts)
        _check(cancelled)

        yield Progress(
            "searching",
            f"Searching: {truncate(standalone, 90)}"
            if parts is None
            else f"Searching in two steps: {truncate(parts.first, 50)} / {truncate(parts.second, 50)}",
        )
        with run.timed("retrieve"):
            found = self.layered.retrieve(standalone, parts)
        run.trace = replace(run.trace, queries=found.queries, steps=found.steps)
        _check(cancelled)

        yield Progress("filtering", f"Reading {len(found.hits)} passages")
        read = self.read(standalone, found, run.timed)
        kept, dropped, composed = read.kept, read.dropped, read.composed
        run.trace = replace(run.trace, kept=kept, dropped=dropped)
        _check(cancelled)

        with run.timed("gate"):
            cited = [passage_id for claim in composed.claims for passage_id in claim.passages]
            verdict = self.gate.judge(
                standalone, kept, composed.best, composed.part_scores, read.said, language_of(question), cited
            )
            if self.rules and (unheld := self.rules.unheld(standalone)):
                verdict = Verdict(False, 0.02, "not_held", unheld)
        _check(cancelled)
        if verdict.features is not None:
            run.trace = replace(run.trace, gate={**verdict.features, "probability": round(verdict.probability, 4)})
        if not verdict.answerable or not composed.claims:
            yield self._refusal(verdict, question, [*kept, *dropped], run)
            return

        written = Written(composed.text, composed.claims, self.composer.name)
        if self.model_writer is not None:
            yield Progress("writing", "Writing")
            with run.timed("write"):
                try:
                    for event in self.model_writer.write(standalone, kept, history, composed, cancelled=cancelled):
                        if isinstance(event, Written):
                            written = event
                        else:
                            yield event
                except WriterError as error:
                    # The composed answer is ready and stands; that the model failed is logged and shown in the trace.
                    log.warning("%s failed: %s", self.model_writer.model.name, error)
                    written = replace(written, writer=f"composer ({self.model_writer.model.name} failed)")
            _check(cancelled)  # a model that was stopped leaves half a draft, which is no answer
        if self.rules is not None:
            written = self._with_rules_checked(self.rules, written, composed, kept)
        yield self._answer(written, verdict, kept, run, complex_question=bool(parts))

    def _with_rules_checked(self, rules: RuleChecker, written: Written, composed: Composition, kept: Sequence[Hit]) -> Written:
        """No wrongly cited rule is shown: the composed answer then stands. What a rule's status means for the reader is said."""
        checked = rules.check(written.claims, kept)
        if checked.wrong and written.claims != composed.claims:
            why = f"composer ({written.writer} cited {checked.wrong[0].number} wrongly)"
            written = Written(composed.text, composed.claims, why)
        added = rules.exceptions(written.claims, kept)
        checked = rules.check((*written.claims, *(claim for _, claim in added)), kept)
        text = "\n\n".join((written.text, *(line for line, _ in added), *checked.notices))
        return replace(written, text=text, claims=checked.claims)

    def _route(self, question: str, wanted: RouteSetting) -> Route:
        wanted = wanted if wanted != "auto" else self.settings.route
        decided = self.complexity.route(question)
        if wanted == "auto":
            return decided
        return Route(wanted, decided.probability, f"set by hand; the classifier says {decided.label}")

    def read(
        self, question: str, found: Retrieved, timed: Callable[[str], AbstractContextManager[None]] = lambda stage: nullcontext()
    ) -> Reading:
        """Keep what helps of a pool and compose an answer from it; whether it may be given is the gate's to say."""
        with timed("relevance"):
            kept, dropped = self._filter(question, found)
        with timed("compose"):
            composed = self.composer.compose(
                question,
                found.parts,
                kept,
                allowed=lambda text: not conflict(self.profile, question, text) and not (self.rules and self.rules.aside(text)),
            )
        headings = {hit.passage.id: hit.passage.heading for hit in kept}
        said = " ".join(f"{headings[claim.passages[0]]} {claim.text}" for claim in composed.claims)
        return Reading(tuple(kept), tuple(dropped), composed, said)

    def _filter(self, question: str, found: Retrieved) -> tuple[list[Hit], list[Hit]]:
        """Keep what helps (relevance classifier), drop what is about another animal or crop; best first.

        For a complex question the parts take turns: the second hop would otherwise lose its place to five passages that
        all answer the first. The best two stay even below the threshold: the gate judges them, and says so. A table's row
        brings the other rows along, so that the writer can compare.
        """
        scored: dict[str, Hit] = {}
        rankings = []
        for part, pool in zip(found.questions, found.pools, strict=True):
            scores = self.reranker.scores([part], pool)[0]
            for hit, score in zip(pool, scores, strict=True):
                old = scored.get(hit.passage.id)
                if old is None or old.score < score:
                    scored[hit.passage.id] = replace(hit, score=score, scores={**hit.scores, "relevance": round(score, 4)})
            order = sorted(range(len(pool)), key=lambda i, scores=scores: -scores[i])  # type: ignore[misc]
            rankings.append([pool[i].passage.id for i in order])
        kept: list[Hit] = []
        dropped: list[Hit] = []
        for passage_id in _take_turns(rankings):
            hit = scored[passage_id]
            other = self._barred(question, hit.passage)
            if other:
                dropped.append(replace(hit, why=other))
            elif len(kept) < self.settings.top_k and (hit.score >= self.settings.relevance_threshold or len(kept) < 2):
                kept.append(hit)
            else:
                dropped.append(hit)
        if self.rules is not None:
            kept = self.rules.with_company(question, kept, scored, lambda passage: not self._barred(question, passage))
        beside = self._rows_beside(kept)
        rows = {hit.passage.id for hit in beside}
        taken = rows | {hit.passage.id for hit in kept}
        return [*kept, *beside], [hit for hit in dropped if hit.passage.id not in taken]

    def _barred(self, question: str, passage: Passage) -> str:
        return out_of_scope(self.profile, question, passage) or out_of_force(self.profile.rules, question, passage)

    def _rows_beside(self, kept: Sequence[Hit]) -> list[Hit]:
        """The other rows of the tables that kept rows stand in."""
        found = {hit.passage.id for hit in kept}
        rows: list[Hit] = []
        for hit in kept:
            if hit.passage.kind != "table_row":
                continue
            for passage in self.retriever.passages_of(hit.passage.document_id):
                if passage.kind == "table_row" and passage.section == hit.passage.section and passage.id not in found:
                    found.add(passage.id)
                    rows.append(Hit(passage, hit.score, hit.scores, SAME_TABLE))
        return rows

    def _reply(self, rewritten: Rewrite, question: str, run: _Run) -> Answer:
        text = reply(rewritten.kind, question, self.profile, documents=len(self.store.documents()), note=rewritten.note)
        suggestions = self.profile.examples[:3] if rewritten.kind in ("meta", "small_talk", "empty", "unclear") else ()
        return Answer(text, (), (), False, Confidence("none", "not a question"), run.finished(writer="fixed reply"), suggestions)

    def _refusal(self, verdict: Verdict, question: str, near: Sequence[Hit], run: _Run) -> Answer:
        language = language_of(question)
        if verdict.why == "not_held":
            text = verdict.detail
        else:
            text = self.profile.text("refusal", language)
            if verdict.why == "name":
                text += f" {self.profile.text('name', language).format(name=verdict.detail)}"
            wrong = next((hit.why for hit in near[:3] if hit.why.startswith("about ")), "")
            if wrong:
                text += f" ({wrong})"
        close = [hit for hit in near if hit.scores.get("dense", 0.0) >= 0.35][:3]
        headings = list(dict.fromkeys(_section_name(hit.passage) for hit in close))
        if headings:
            text += f"\n\n{self.profile.text('near', language)}\n" + "\n".join(f"- {heading}" for heading in headings)
            text += f"\n\n{self.profile.text('rephrase', language)}"
        suggestions = suggest([hit.passage for hit in close], set())
        return Answer(
            text,
            (),
            (),
            True,
            Confidence("none", "the documents hold no passage that answers this", round(verdict.probability, 3)),
            run.finished(writer="refusal gate"),
            suggestions,
        )

    def _answer(self, written: Written, verdict: Verdict, kept: Sequence[Hit], run: _Run, *, complex_question: bool) -> Answer:
        with run.timed("sources"):
            sources = self._sources(written.claims, kept)
            cited = {source.document_id for source in sources}
            used = {(source.document_id, source.section) for source in sources}
            related = (
                [
                    passage
                    for document in dict.fromkeys(s.document_id for s in sources)
                    for passage in self.retriever.passages_of(document)
                ]
                if cited
                else []
            )
        return Answer(
            written.text,
            written.claims,
            sources,
            False,
            self._confidence(written.claims, verdict, kept, complex_question),
            run.finished(
                writer=written.writer, removed_citations=written.removed_citations, replaced_claims=written.replaced_claims
            ),
            suggest(related, used),
        )

    def _confidence(self, claims: Sequence[Claim], verdict: Verdict, kept: Sequence[Hit], complex_question: bool) -> Confidence:
        cited = len({passage_id for claim in claims for passage_id in claim.passages})
        features = features_of(verdict.probability, verdict.features or {}, cited, complex_question)
        sure = confidence(
            verdict.probability,
            claims,
            kept,
            complex_question=complex_question,
            calibrated=self.calibration.probability(features) if self.calibration else None,
            conflicts=contradictions(claims, kept),
        )
        if self.rules is None:
            return sure
        said = list(dict.fromkeys(passage_id for claim in claims for passage_id in claim.passages))
        linked = [passage.id for i in said for passage, _, _ in self.retriever.company(i) if not passage.metadata.get("barred")]
        return tempered(sure, [i for i in linked if i not in said], [hit.passage.id for hit in kept])

    def _metadata(self, document_id: str) -> Mapping[str, Any]:
        try:
            return self.store.document(document_id).metadata
        except KeyError:
            return {}  # deleted while the answer was made

    def _sources(self, claims: Sequence[Claim], kept: Sequence[Hit]) -> tuple[Source, ...]:
        passages = {hit.passage.id: hit.passage for hit in kept}
        quotes: dict[str, list[str]] = {}
        for claim in claims:
            for passage_id in claim.passages:
                found = quotes.setdefault(passage_id, [])
                found.extend(quote for quote in claim.quotes if quote in passages[passage_id].text and quote not in found)
        sources = []
        for number, (passage_id, said) in enumerate(quotes.items(), start=1):
            passage = passages[passage_id]
            metadata = self._metadata(passage.document_id)
            sources.append(
                Source(
                    number,
                    passage.id,
                    passage.document_id,
                    passage.title,
                    passage.section,
                    passage.text,
                    tuple(said),
                    passage.page,
                    metadata.get("url"),
                    _references(metadata.get("sources")),
                )
            )
        return tuple(sources)


def _take_turns(rankings: Sequence[Sequence[str]]) -> list[str]:
    """The best of each ranking not yet taken, in turn, until all are empty."""
    taken: dict[str, None] = {}
    for place in zip_longest(*rankings):
        taken.update((passage_id, None) for passage_id in place if passage_id is not None)
    return list(taken)


def _check(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise Cancelled("stopped")


def _section_name(passage: Passage) -> str:
    return f"{passage.title}: {passage.section[-1]}" if passage.section else passage.title


def _references(sources: object) -> tuple[str, ...]:
    """The document's own sources as one line each; whatever is not a mapping with a title is left out."""
    if not isinstance(sources, list | tuple):
        return ()
    lines = []
    for source in sources:
        if isinstance(source, dict) and source.get("title"):
            lines.append(", ".join(str(source[key]) for key in ("title", "publisher", "year") if source.get(key)))
    return tuple(lines)
