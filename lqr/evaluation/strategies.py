"""The ways to answer that are compared: none, single, multi, adaptive, lqr, oracle.

All share one retriever and one generator, so that a difference is the strategy's. ``lqr`` and ``oracle`` are
:mod:`lqr.evaluation.layers`; the others are the baselines of Huang et al. 2024. It measures nothing but time, and knows the gold
route for ``oracle`` only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal

from lqr.errors import SettingsError
from lqr.evaluation.datasets import Question
from lqr.evaluation.generators import Generated
from lqr.evaluation.layers import layered
from lqr.evaluation.stages import DEPTH, Clock, Outcome, Stages
from lqr.retrieval.fusion import reciprocal_rank_fusion
from lqr.types import Hit, Passage, Route

StrategyName = Literal["none", "single", "multi", "adaptive", "lqr", "oracle"]

MAX_STEPS = 4  # retrievals of the interleaved strategies; the questions have four hops at most
READ_FACTOR = 3  # the interleaved strategies read up to this many times k passages (15 in IRCoT, Trivedi et al. 2023)
SURE = 0.5  # probability that the best passage helps, from which the adaptive strategy stops


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
    return layered(question.question, route, stages, clock)


def _oracle(question: Question, stages: Stages, clock: Clock) -> Outcome:
    if question.complex is None:
        raise SettingsError(f"question {question.id} says nothing of its hops; --strategy oracle needs supporting passages")
    route = Route("complex" if question.complex else "simple", float(question.complex), "annotated")
    return layered(question.question, route, stages, clock)


_STRATEGIES: dict[StrategyName, Callable[[Question, Stages, Clock], Outcome]] = {
    "none": _none,
    "single": _single,
    "multi": _multi,
    "adaptive": _adaptive,
    "lqr": _lqr,
    "oracle": _oracle,
}


def _ids(hits: Sequence[Hit]) -> tuple[str, ...]:
    return tuple(hit.passage.id for hit in hits)
