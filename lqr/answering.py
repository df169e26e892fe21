"""The last step of a question's way: fixed replies, refusals, and answers with their sources, confidence and suggestions.

It makes the :class:`~lqr.types.Answer` out of what the stages found and decided. It searches nothing and judges nothing; the
trace comes finished from the pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lqr.corpus.profile import Profile
from lqr.corpus.store import Store
from lqr.grounding.agreement import contradictions
from lqr.grounding.calibration import Calibration, features_of
from lqr.grounding.confidence import confidence
from lqr.grounding.refusal import Verdict
from lqr.grounding.rules import RuleChecker, tempered
from lqr.replies import language_of, reply
from lqr.retrieval.retriever import Retriever
from lqr.suggestions import suggest
from lqr.types import Answer, Claim, Confidence, Evaluation, Hit, Passage, Rewrite, Source, Trace
from lqr.writing.model_writer import Written

NEAR = 0.35  # cosine from which a passage is named in a refusal as one that comes close


@dataclass(frozen=True, slots=True)
class Answering:
    """Makes the answers of one pipeline out of its parts."""

    profile: Profile
    store: Store
    retriever: Retriever
    calibration: Calibration | None = None
    rules: RuleChecker | None = None  # of a rule book

    def reply(self, rewritten: Rewrite, question: str, trace: Trace) -> Answer:
        """The fixed reply to a message that asks nothing of the documents."""
        text = reply(rewritten.kind, question, self.profile, documents=len(self.store.documents()), note=rewritten.note)
        suggestions = self.profile.examples[:3] if rewritten.kind in ("meta", "small_talk", "empty", "unclear") else ()
        return Answer(text, (), (), False, Confidence("none", "not a question"), trace, suggestions)

    def refusal(self, verdict: Verdict, question: str, near: Sequence[Hit], trace: Trace) -> Answer:
        """What is said when the gate refuses: why, and which of the ``near`` passages may be meant."""
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
        close = [hit for hit in near if hit.scores.get("dense", 0.0) >= NEAR][:3]
        headings = list(dict.fromkeys(_section_name(hit.passage) for hit in close))
        if headings:
            text += f"\n\n{self.profile.text('near', language)}\n" + "\n".join(f"- {heading}" for heading in headings)
            text += f"\n\n{self.profile.text('rephrase', language)}"
        sure = Confidence("none", "the documents hold no passage that answers this", round(verdict.probability, 3))
        return Answer(text, (), (), True, sure, trace, suggest([hit.passage for hit in close], set()))

    def answer(
        self,
        written: Written,
        verdict: Verdict,
        kept: Sequence[Hit],
        sources: tuple[Source, ...],
        trace: Trace,
        *,
        complex_question: bool,
        evaluation: Evaluation | None,
    ) -> Answer:
        """The answer to show; ``sources`` are those of :meth:`sources`."""
        used = {(source.document_id, source.section) for source in sources}
        documents = dict.fromkeys(source.document_id for source in sources)
        related = [passage for document in documents for passage in self.retriever.passages_of(document)]
        relevance = evaluation.relevance if evaluation else 0.0
        sure = self._confidence(written.claims, verdict, kept, complex_question, relevance)
        return Answer(written.text, written.claims, sources, False, sure, trace, suggest(related, used), evaluation)

    def sources(self, claims: Sequence[Claim], kept: Sequence[Hit]) -> tuple[Source, ...]:
        """The cited passages, numbered in the order in which they are cited, each with the quotes that stand in it."""
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

    def _confidence(
        self, claims: Sequence[Claim], verdict: Verdict, kept: Sequence[Hit], complex_question: bool, relevance: float
    ) -> Confidence:
        cited = len({passage_id for claim in claims for passage_id in claim.passages})
        features = features_of(verdict.probability, verdict.features or {}, cited, complex_question, relevance)
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
