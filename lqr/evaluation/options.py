"""What a person asked to be measured, checked once: the options of ``lqr evaluate retrieval`` and ``answers``.

It opens no file and loads no model.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from lqr.errors import SettingsError
from lqr.evaluation.stages import BY_GRAPH
from lqr.evaluation.strategies import StrategyName
from lqr.retrieval.ranking import Mode

Kind = Literal["retrieval", "answers"]
OnProgress = Callable[[str, int, int], None]  # (what, done, total)
THINKING = ("multi", "adaptive")  # strategies that need a generator even where only retrieval is measured


@dataclass(frozen=True, slots=True)
class Options:
    """One run. ``out`` is where its result goes; ``data``, ``questions`` and ``corpus`` where its files lie."""

    kind: Kind
    out: Path
    dataset: str | None = None
    split: str = "test"
    data: Path | None = None
    questions: Path | None = None
    corpus: Path | None = None
    strategy: StrategyName = "lqr"
    generator: str = "extractive"
    retriever: Mode = "hybrid"
    k: int | None = None
    limit: int | None = None
    seed: int = 13
    relevance: bool = True
    graph: bool = True
    decomposition: bool = True
    comparison: bool = True
    dense: bool = True
    titles: bool = True
    pooled: bool = False
    fresh: bool = False
    progress: OnProgress | None = None

    @classmethod
    def of(cls, kind: Kind, given: argparse.Namespace) -> Options:
        """From the command line's namespace; what it lacks keeps its default.

        Raises:
            SettingsError: options contradict one another.
        """
        values: dict[str, Any] = {}
        for name in cls.__dataclass_fields__:
            if name != "kind" and (value := getattr(given, name, None)) is not None:
                values[name] = value
        for name in ("relevance", "graph", "decomposition", "comparison", "dense"):
            values[name] = not getattr(given, f"no_{name}", False)
        values["titles"] = not getattr(given, "without_titles", False)
        return cls(kind=kind, **values).checked()

    def checked(self) -> Options:
        """Itself, if it makes sense.

        Raises:
            SettingsError: naming the options that do not go together.
        """
        if self.strategy not in get_args(StrategyName):
            raise SettingsError(f"--strategy {self.strategy}: may be {', '.join(get_args(StrategyName))}")
        if self.retriever not in get_args(Mode):
            raise SettingsError(f"--retriever {self.retriever}: may be {', '.join(get_args(Mode))}")
        if self.kind == "retrieval" and self.strategy == "none":
            raise SettingsError("--strategy none retrieves nothing; measure it with `lqr evaluate answers`")
        if self.retriever == "dense" and not self.dense:
            raise SettingsError("--retriever dense and --no-dense leave nothing to retrieve with")
        if self.retriever in BY_GRAPH and not self.graph:
            raise SettingsError(f"--retriever {self.retriever} and --no-graph contradict one another")
        if self.k is not None and not 1 <= self.k <= 50:
            raise SettingsError(f"--k {self.k}: must be between 1 and 50")
        if self.limit is not None and self.limit < 1:
            raise SettingsError(f"--limit {self.limit}: must be at least 1")
        if self.pooled and self.corpus:
            raise SettingsError("--pooled and --corpus both say where passages come from; give one")
        return self

    @property
    def vectors(self) -> bool:
        """Whether passages are embedded at all: not without the dense side, nor for BM25 alone."""
        return self.dense and self.retriever != "bm25"

    @property
    def mode(self) -> Mode:
        """The first stage: hybrid without its dense side is BM25."""
        return "bm25" if self.retriever == "hybrid" and not self.dense else self.retriever

    @property
    def thinks(self) -> bool:
        """Whether the run needs a generator."""
        return self.kind == "answers" or self.strategy in THINKING

    def plain(self) -> dict[str, Any]:
        """What the rows hang on, as plain values; without paths and without what only says how to run."""
        left_out = {"out", "data", "questions", "corpus", "fresh", "progress", "generator"}
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in left_out}
