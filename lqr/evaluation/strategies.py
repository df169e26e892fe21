"""The ways to answer that are compared: none, single, multi, adaptive, lqr, oracle.

All share one retriever and one generator, so that a difference is the strategy's. ``lqr`` and ``oracle`` are the stages of
the product in the product's order; the others are the baselines of Huang et al. 2024. It measures nothing but time, and
knows the gold route for ``oracle`` only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal, cast

from lqr.app import Application
from lqr.errors import SettingsError
from lqr.evaluation.datasets import Question
from lqr.evaluation.generators import Generated, Generator
from lqr.pipeline import SAME_TABLE, Pipeline
from lqr.retrieval.fusion import reciprocal_rank_fusion
from lqr.retrieval.rerank import Reranker
from lqr.retrieval.retriever import Mode, Retriever
from lqr.types import Decomposition, Hit, Passage, Route
from lqr.writing.composer import Composer, Composition

StrategyName = Literal["none", "single", "multi", "adaptive", "lqr", "oracle"]

BY_GRAPH = ("graph", "paths", "read")  # searches that follow edges
DEPTH = 20  # passages of a ranking that are kept in a row
MAX_STEPS = 4  # retrievals of the interleaved strategies; the questions have four hops at most
READ_FACTOR = 3  # the interleaved strategies read up to this many times k passages (15 in IRCoT, Trivedi et al. 2023)
SURE = 0.5  # probability that the best passage helps, from which the adaptive strategy stops


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a strategy did for one question. ``answer`` is None where only retrieval was asked for.

    ``retrieved`` are ids, best first; ``read`` what the generator was given; ``steps`` the retrievals; ``seconds`` by stage.
    """

    retrieved: tuple[str, ...]
    read: tuple[Passage, ...]
    answer: Generated | None
    steps: int
    route: Route | None = None
    parts: Decomposition | None = None
    queries: tuple[str, ...] = ()
    thoughts: tuple[Generated, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)


class RetrieverView:
    """The product's retriever with another first stage, or with the graph left out; all else is passed on."""

    def __init__(self, inner: Retriever, *, mode: Mode = "hybrid", graph: bool = True, dense: bool = True) -> None:
        """``mode`` takes the place of the hybrid search; without ``dense`` the graph's walk asks for no cosine."""
        self._inner = inner
        self._mode, self._graph, self._dense = mode, graph, dense

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def ranks_paths(self) -> bool:
        """See :attr:`Retriever.ranks_paths`; not without the graph."""
        return self._graph and self._inner.ranks_paths

    def search(self, query: str, k: int | None = None, *, mode: Mode = "hybrid") -> list[Hit]:
        """See :meth:`Retriever.search`."""
        return self.search_many([query], k, mode=mode)[0]

    def search_many(self, queries: Sequence[str], k: int | None = None, *, mode: Mode = "hybrid") -> list[list[Hit]]:
        """See :meth:`Retriever.search_many`."""
        replaced = mode == "hybrid" or (mode in BY_GRAPH and not self._graph)
        return self._inner.search_many(queries, k, mode=self._mode if replaced else mode)

    def expand(self, hits: Sequence[Hit], hops: int = 2, limit: int | None = None, *, query: str = "") -> list[Hit]:
        """See :meth:`Retriever.expand`; nothing without the graph."""
        return self._inner.expand(hits, hops, limit, query=query if self._dense else "") if self._graph else []


class Stages:
    """What all strategies of a run share.

    Args:
        application: the product over the corpus; None where only ``none`` is run.
        generator: makes thoughts and answers; None where only retrieval is measured and the strategy needs no thought.
        k: passages that a single step reads; ``settings.top_k`` of the application must agree.
        mode: the first stage.
        relevance, graph, decomposition: False leaves the stage out of ``lqr`` and ``oracle``.
        answering: False stops before the answer.
    """

    def __init__(
        self,
        application: Application | None,
        generator: Generator | None,
        *,
        k: int = 5,
        mode: Mode = "hybrid",
        relevance: bool = True,
        graph: bool = True,
        decomposition: bool = True,
        dense: bool = True,
        answering: bool = True,
    ) -> None:
        self.k, self.decomposition, self._generator, self._answering = k, decomposition, generator, answering
        self._pipeline: Pipeline | None = None
        if application is not None:
            view = cast(Retriever, RetrieverView(application.retriever, mode=mode, graph=graph, dense=dense))
            product = application.pipeline
            self._pipeline = replace(
                product,
                layered=replace(product.layered, retriever=view),
                reranker=product.reranker if relevance else cast(Reranker, _AsFound()),
                composer=cast(Composer, _NoComposer()),
            )

    @property
    def pipeline(self) -> Pipeline:
        """The product's stages.

        Raises:
            SettingsError: there is no corpus to retrieve from.
        """
        if self._pipeline is None:
            raise SettingsError("this strategy retrieves: give --corpus FILE, or --dataset NAME with --data DIR")
        return self._pipeline

    @property
    def generator(self) -> Generator:
        """The generator.

        Raises:
            SettingsError: there is none.
        """
        if self._generator is None:
            raise SettingsError("this strategy needs a --generator")
        return self._generator

    def search(self, query: str) -> list[Hit]:
        """The first stage alone."""
        return self.pipeline.layered.retriever.search(query, max(DEPTH, self.k))

    def answer(self, question: str, passages: Sequence[Passage], clock: Clock) -> Generated | None:
        """The generator's answer, if one is wanted."""
        if not self._answering:
            return None
        with clock.timed("answer"):
            return self.generator.answer(question, passages)


class Clock:
    """Seconds by stage of one question."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of the block to ``stage``."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - began


def run_strategy(name: StrategyName, question: Question, stages: Stages) -> Outcome:
    """Answer ``question`` (or only retrieve for it) in the way called ``name``.

    Raises:
        SettingsError: the strategy lacks something, or ``oracle`` a gold route.
        LqrError: a stage failed.
    """
    clock = Clock()
    return replace(_STRATEGIES[name](question, stages, clock), seconds={k: round(v, 5) for k, v in clock.seconds.items()})


def _none(question: Question, stages: Stages, clock: Clock) -> Outcome:
    return Outcome((), (), stages.answer(question.question, (), clock), steps=0)


def _single(question: Question, stages: Stages, clock: Clock) -> Outcome:
    with clock.timed("retrieve"):
        hits = stages.search(question.question)
    read = tuple(hit.passage for hit in hits[: stages.k])
    answer = stages.answer(question.question, read, clock)
    return Outcome(_ids(hits), read, answer, steps=1, queries=(question.question,))


def _multi(question: Question, stages: Stages, clock: Clock) -> Outcome:
    return _interleaved(question, stages, clock, lambda hits: False)


def _adaptive(question: Question, stages: Stages, clock: Clock) -> Outcome:
    def sure(hits: Sequence[Hit]) -> bool:
        pairs = [(question.question, (hit.passage.topic, hit.passage.text)) for hit in hits[: stages.k]]
        with clock.timed("threshold"):
            return max(stages.pipeline.layered.scorer(pairs), default=0.0) >= SURE

    return _interleaved(question, stages, clock, sure)


def _interleaved(question: Question, stages: Stages, clock: Clock, enough: Callable[[Sequence[Hit]], bool]) -> Outcome:
    """Retrieve, think one step, retrieve with the thought, until nothing new comes (IRCoT, Trivedi et al. 2023).

    Each thought is made from the passages that its step has brought. The answer is read from all that were brought, those first
    that stood high in most rankings.
    """
    pool: dict[str, Passage] = {}
    rankings: list[tuple[str, ...]] = []
    thoughts: list[Generated] = []
    queries = [question.question]
    while True:
        with clock.timed("retrieve"):
            hits = stages.search(queries[-1])
        rankings.append(_ids(hits))
        fresh = [hit.passage for hit in hits[: stages.k] if hit.passage.id not in pool]
        pool.update((hit.passage.id, hit.passage) for hit in hits[: stages.k])
        if not fresh or len(queries) == MAX_STEPS or enough(hits):
            break
        with clock.timed("think"):
            thought = stages.generator.think(question.question, fresh, [past.sentence for past in thoughts])
        if thought.text or not thought.sentence or thought.sentence in {past.sentence for past in thoughts}:
            thoughts.append(thought)
            break
        thoughts.append(thought)
        queries.append(f"{question.question} {thought.sentence}")
    fused = [passage_id for passage_id, _ in reciprocal_rank_fusion(rankings)]
    read = tuple(islice((pool[i] for i in fused if i in pool), READ_FACTOR * stages.k))
    answer = stages.answer(question.question, read, clock)
    return Outcome(tuple(fused[:DEPTH]), read, answer, len(queries), None, None, tuple(queries), tuple(thoughts))


def _lqr(question: Question, stages: Stages, clock: Clock) -> Outcome:
    with clock.timed("route"):
        route = stages.pipeline.complexity.route(question.question)
    return _layered(question, route, stages, clock)


def _oracle(question: Question, stages: Stages, clock: Clock) -> Outcome:
    if question.complex is None:
        raise SettingsError(f"question {question.id} says nothing of its hops; --strategy oracle needs supporting passages")
    route = Route("complex" if question.complex else "simple", float(question.complex), "annotated")
    return _layered(question, route, stages, clock)


def _layered(question: Question, route: Route, stages: Stages, clock: Clock) -> Outcome:
    """The product's path: decompose, retrieve in one step or two, keep what is relevant, answer."""
    pipeline, text = stages.pipeline, question.question
    parts = None
    if route.label == "complex":
        with clock.timed("decompose"):
            # Left out, the question stands for both parts: two steps all the same, led by what the first one found.
            divided = pipeline.decomposer(text, entities=pipeline.entities) if stages.decomposition else None
            parts = divided or Decomposition(text, text, "none")
    with clock.timed("retrieve"):
        found = pipeline.layered.retrieve(text, parts)
    reading = pipeline.read(text, found, clock.timed)
    ranked = [hit for hit in (*reading.kept, *reading.dropped) if hit.why != SAME_TABLE]
    read = tuple(hit.passage for hit in reading.kept)
    answer = stages.answer(text, read, clock)
    return Outcome(_ids(ranked[:DEPTH]), read, answer, found.steps, route, parts, found.queries)


_STRATEGIES: dict[StrategyName, Callable[[Question, Stages, Clock], Outcome]] = {
    "none": _none,
    "single": _single,
    "multi": _multi,
    "adaptive": _adaptive,
    "lqr": _lqr,
    "oracle": _oracle,
}


class _AsFound:
    """Takes the place of the reranker in the ablation: the order of the pool stands, and nothing falls below the threshold."""

    def scores(self, questions: Sequence[str], hits: Sequence[Hit]) -> list[list[float]]:
        return [[1.0 - place / (2 * len(hits)) for place in range(len(hits))] for _ in questions]


class _NoComposer:
    """Takes the place of the composer: here the generator answers, and quoting sentences would only take time."""

    name = "none"

    def compose(self, question: str, parts: Sequence[str], hits: Sequence[Hit], **options: Any) -> Composition:
        return Composition("", (), 0.0)


def _ids(hits: Sequence[Hit]) -> tuple[str, ...]:
    return tuple(hit.passage.id for hit in hits)
