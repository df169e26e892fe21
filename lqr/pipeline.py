"""One question's way through the house: rewrite, route, retrieve, expand, filter, write, check, answer.

This module only strings the stages together; each is handed in and can be replaced. It is the method of Layered Query
Retrieval (Huang et al. 2024, doi 10.3390/app142311014) with the grounding around it. It holds no conversation and no
user's data: history comes with each call, and everything found on the way goes into the answer's trace.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from lqr.answering import Answering
from lqr.classifiers.complexity import ComplexityModel
from lqr.conversation import Rewriter
from lqr.corpus.profile import Profile
from lqr.corpus.store import Store
from lqr.decompose import Decomposer
from lqr.errors import Cancelled, WriterError
from lqr.grounding.calibration import Calibration
from lqr.grounding.evaluation import evaluate
from lqr.grounding.refusal import Gate, Verdict, conflict
from lqr.grounding.rules import RuleChecker
from lqr.memory import release
from lqr.replies import language_of
from lqr.retrieval.layered import LayeredRetrieval, Retrieved
from lqr.retrieval.rerank import Reranker
from lqr.retrieval.retriever import Retriever
from lqr.selection import Selection
from lqr.settings import RouteSetting, Settings
from lqr.text import truncate
from lqr.types import Answer, Decomposition, Event, Hit, Progress, Route, Trace, Turn
from lqr.writing.composer import Composer, Composition
from lqr.writing.model_writer import ModelWriter, Written

log = logging.getLogger(__name__)

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
            yield self.answering.reply(rewritten, question, run.finished(writer="fixed reply"))
            return
        standalone = rewritten.standalone
        with run.timed("route"):
            decided = self._route(standalone, route)
            parts = self.decomposer(standalone, entities=self.entities) if decided.label == "complex" else None
            # from here on the documents' own names stand beside what people say: "cocci (coccidiosis)"
            asked, parts = self.glossed(standalone, parts)
        run.trace = replace(run.trace, route=decided, decomposition=parts)
        _check(cancelled)

        yield Progress(
            "searching",
            f"Searching: {truncate(standalone, 90)}"
            if parts is None
            else f"Searching in two steps: {truncate(parts.first, 50)} / {truncate(parts.second, 50)}",
        )
        with run.timed("retrieve"):
            followed = history if rewritten.kind == "follow_up" else ()
            found = self.layered.retrieve(asked, parts, followed, self.profile.glossed(rewritten.beside))
        # the models read the documents' names alone: a bracket behind a word weakens what they make of a question
        found = replace(found, questions=tuple(map(self.profile.renamed, found.questions)))
        run.trace = replace(run.trace, queries=found.queries, steps=found.steps)
        _check(cancelled)

        yield Progress("filtering", f"Reading {len(found.hits)} passages")
        read = self.read(self.profile.renamed(standalone), found, run.timed)
        kept, dropped, composed = read.kept, read.dropped, read.composed
        run.trace = replace(run.trace, kept=kept, dropped=dropped)
        _check(cancelled)

        with run.timed("gate"):
            cited = [passage_id for claim in composed.claims for passage_id in claim.passages]
            verdict = self.gate.judge(
                self.profile.renamed(standalone),
                kept,
                composed.best,
                composed.part_scores,
                read.said,
                language_of(question),
                cited,
            )
            if self.rules and (unheld := self.rules.unheld(standalone)):
                verdict = Verdict(False, 0.02, "not_held", unheld)
        _check(cancelled)
        if verdict.features is not None:
            run.trace = replace(run.trace, gate={**verdict.features, "probability": round(verdict.probability, 4)})
        if not verdict.answerable or not composed.claims:
            yield self.answering.refusal(verdict, question, [*kept, *dropped], run.finished(writer="refusal gate"))
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
        with run.timed("sources"):
            sources = self.answering.sources(written.claims, kept)
        with run.timed("evaluate"):
            figures = evaluate(asked, written.claims, self.reranker.scorer)
        trace = run.finished(
            writer=written.writer, removed_citations=written.removed_citations, replaced_claims=written.replaced_claims
        )
        yield self.answering.answer(written, verdict, kept, sources, trace, complex_question=bool(parts), evaluation=figures)

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

    def glossed(self, question: str, parts: Decomposition | None) -> tuple[str, Decomposition | None]:
        """The question and its parts with the collection's own names beside those of the people."""
        name = self.profile.glossed
        return name(question), parts and replace(parts, first=name(parts.first), second=name(parts.second))

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
            kept, dropped = self.selection.choose(question, found)
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

    @property
    def selection(self) -> Selection:
        """What chooses among the found passages; made anew, so that a pipeline with one stage replaced has the right one."""
        return Selection(self.settings, self.profile, self.reranker, self.retriever.passages_of, self.rules)

    @property
    def answering(self) -> Answering:
        """What makes the answer; made anew, as :attr:`selection` is."""
        return Answering(self.profile, self.store, self.retriever, self.calibration, self.rules)


def _check(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise Cancelled("stopped")
