"""What the strategies of an evaluation share: the product's stages over a corpus, one generator, and a clock.

Stages can be left out for an ablation. It answers nothing by itself, and knows no strategy.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import cast

from lqr.app import Application
from lqr.errors import SettingsError
from lqr.evaluation.generators import Generated, Generator
from lqr.pipeline import Pipeline
from lqr.retrieval.ranking import Mode
from lqr.retrieval.rerank import Reranker
from lqr.types import Decomposition, Hit, Passage, Route

BY_GRAPH = ("graph", "paths", "read")  # searches that follow edges
DEPTH = 20  # passages of a ranking that are kept in a row


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a strategy did for one question. ``answer`` is None where only retrieval was asked for.

    ``retrieved`` are ids, best first; ``read`` what the generator was given; ``seconds`` by stage. ``steps`` are the searches:
    each query put to the first stage is one, and so is that of the graph where the first stage doesn't follow edges by itself.
    What the generator or the relevance model reads is no step; ``queries`` are those of the first stage.
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


class Stages:
    """What all strategies of a run share.

    Args:
        application: the product over the corpus; None where only ``none`` is run.
        generator: makes thoughts and answers; None where only retrieval is measured and the strategy needs no thought.
        k: passages that a single step reads; ``settings.top_k`` of the application must agree.
        mode: the first stage.
        relevance, graph, decomposition, comparison: False leaves the stage out of ``lqr`` and ``oracle``.
        answering: False stops before the answer.

    :attr:`reaches` says whether :meth:`reach` searches.
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
        comparison: bool = True,
        answering: bool = True,
    ) -> None:
        self.k, self.decomposition, self.comparison = k, decomposition, comparison
        self._generator, self._answering = generator, answering
        self._mode, self.reaches = mode, graph and mode not in BY_GRAPH
        self._pipeline: Pipeline | None = None
        if application is not None:
            product = application.pipeline
            self._pipeline = product if relevance else replace(product, reranker=cast(Reranker, _AsFound()))

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

    @property
    def answers(self) -> bool:
        """Whether there is a generator to ask, and answers are wanted."""
        return self._answering and self._generator is not None

    def search(self, query: str) -> list[Hit]:
        """The first stage alone."""
        return self.pipeline.retriever.search(query, max(DEPTH, self.k), mode=self._mode)

    def reach(self, query: str) -> list[Hit]:
        """What the graph adds for a question of several steps; nothing where the first stage follows edges by itself."""
        if not self.reaches:
            return []
        retriever = self.pipeline.retriever
        return retriever.search(query, max(DEPTH, self.k), mode="paths" if retriever.ranks_paths else "graph")

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


class _AsFound:
    """Takes the place of the reranker in the ablation: the order of the pool stands, and nothing falls below the threshold."""

    def scores(self, questions: Sequence[str], hits: Sequence[Hit]) -> list[list[float]]:
        return [[1.0 - place / (2 * len(hits)) for place in range(len(hits))] for _ in questions]
