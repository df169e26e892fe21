"""Applications over other documents with the models of one that is loaded: nothing is read from disk twice.

Says which stages depend on the documents, and how; the stages themselves are those of :mod:`lqr.app`. Holds no session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import cast

from lqr.app import Application
from lqr.classifiers.word_pieces import load_pieces
from lqr.corpus.profile import Profile
from lqr.corpus.store import Store
from lqr.entities import TopicFinder, places
from lqr.grounding.refusal import Gate, Verdict, load_weights
from lqr.retrieval.retriever import Retriever
from lqr.retrieval.tokenizer import tokenize
from lqr.selection import on_another_thing
from lqr.service.joined import JoinedRetriever, JoinedStore
from lqr.service.names import naming
from lqr.types import Hit
from lqr.writing.model_writer import ModelWriter


def with_prompt(writer: ModelWriter | None, prompt: str) -> ModelWriter | None:
    """A writer with the model, limits and checker of ``writer`` and another collection's ``prompt``; without one, none."""
    if writer is None:
        return None
    return ModelWriter(
        writer.model,
        prompt_tokens=writer._prompt_tokens,
        max_tokens=writer._max_tokens,
        retry=writer._retry,
        supports=writer._supports,  # a trained model: not loaded twice
        prompt=prompt,
    )


@dataclass(frozen=True, slots=True)
class EitherGate:
    """Judges an answer that cites an own document without the library's list of what it cannot hold."""

    library: Gate
    own: Gate
    is_own: Callable[[str], bool]

    def judge(
        self,
        question: str,
        hits: Sequence[Hit],
        evidence: float,
        parts: Sequence[float] = (),
        answer: str = "",
        language: str = "en",
        cited: Sequence[str] = (),
    ) -> Verdict:
        """As :meth:`Gate.judge`."""
        gate = self.own if any(map(self.is_own, cited)) else self.library
        return gate.judge(question, hits, evidence, parts, answer, language, cited)


class Variants:
    """Applications with the models of ``base`` over other documents: nothing is loaded anew."""

    def __init__(self, base: Application) -> None:
        self.base = base

    @cached_property
    def _gate_parts(self) -> tuple[Callable[[str], int] | None, dict[str, float] | None]:
        models = self.base.settings.models
        return load_pieces(models / "relevance"), load_weights(models / "gate")

    def of(self, store: Store, retriever: Retriever, is_own: Callable[[str], bool], *, alone: bool) -> Application:
        """An application over ``store`` ``alone``, or beside the base's.

        Alone it has no profile: what the common collection is about, and what it cannot hold, is not said of these
        documents. Names that make a question complex, or part it, are those of the documents that are read. How rare a
        word is, is learnt from both in either case; in three passages no word is rare.
        """
        base, settings = self.base, self.base.settings
        joined = JoinedRetriever(base.retriever, retriever, is_own, rrf_k=settings.rrf_k)
        both = JoinedStore(base.store, store, is_own)
        profile = Profile(name="own") if alone else base.profile
        # The stages were written for one collection; the joined ones answer every question that they put.
        searched = retriever if alone else cast(Retriever, joined)
        read = store if alone else cast(Store, both)
        pieces, weights = self._gate_parts
        unbound = replace(profile, not_held=())

        def gate_of(profile: Profile) -> Gate:
            threshold = settings.refusal_threshold
            return Gate(profile, joined.rarity, tokenize, pieces=pieces, threshold=threshold, weights=weights)

        pipeline = replace(
            base.pipeline,
            store=read,
            retriever=searched,
            profile=profile,
            layered=replace(base.pipeline.layered, retriever=searched, places=partial(places, profile)),
            reranker=replace(base.pipeline.reranker, signals=joined.signals),
            composer=base.pipeline.composer.of_documents(
                partial(on_another_thing, profile, TopicFinder(profile)), joined.asked_about
            ),
            gate=gate_of(profile) if alone else cast(Gate, EitherGate(gate_of(profile), gate_of(unbound), is_own)),
            model_writer=with_prompt(base.pipeline.model_writer, profile.prompt),
            rules=None if alone else base.pipeline.rules,
        )
        pipeline = replace(pipeline, **naming(pipeline))
        return replace(base, pipeline=pipeline, store=read, retriever=searched, profile=profile)
