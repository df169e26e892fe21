"""Keeps the stages that know the names in a collection (titles of documents, scope terms) up to date with its documents.

Follow-ups, the router, the decomposition and the second step of a retrieval find names; when another process has ingested, the
indexes follow by :mod:`lqr.service.freshness`, and the names by this. Decides nothing about when.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from lqr.conversation import Rewriter
from lqr.entities import EntityFinder
from lqr.errors import LqrError
from lqr.pipeline import Pipeline
from lqr.service.freshness import Freshness

log = logging.getLogger(__name__)
AnyPipeline = TypeVar("AnyPipeline", bound=Pipeline)


def naming(pipeline: Pipeline) -> dict[str, Any]:
    """The stages of ``pipeline`` that know names, by field, made from the documents as they are now.

    Raises:
        StoreError: the documents can't be listed.
    """
    settings, profile = pipeline.settings, pipeline.profile
    titles = [info.title for info in pipeline.store.documents()]
    entities = EntityFinder(profile, titles)
    return {
        "rewriter": Rewriter(profile, titles, max_chars=settings.max_question_chars, history_turns=settings.history_turns),
        "complexity": pipeline.complexity.with_entities(entities),
        "layered": replace(pipeline.layered, names=entities),
        "entities": entities,
    }


class UpToDate:
    """Gives the pipelines over one library, those beside a visitor's own documents included, as its documents are now.

    Safe to use from several threads: at worst two of them make the same stages.
    """

    def __init__(self, freshness: Freshness) -> None:
        self._freshness = freshness
        # By the entities a pipeline was built with: what is made of it for one question (another gate, more passages) shares
        # them, and they go when the pipeline goes.
        self._made: WeakKeyDictionary[Callable[[str], list[str]], tuple[int, dict[str, Any]]] = WeakKeyDictionary()

    def of(self, pipeline: AnyPipeline) -> AnyPipeline:
        """``pipeline``, with other names once the documents have changed. Never raises; see :meth:`Freshness.check`."""
        self._freshness.check()
        changes = self._freshness.changes
        if not changes:
            return pipeline
        at, stages = self._made.get(pipeline.entities, (0, {}))
        if at != changes:
            try:
                stages = naming(pipeline)
            except LqrError as error:
                log.warning("the names of the documents can't be read, those of before are used: %s", error)
                return pipeline
            self._made[pipeline.entities] = changes, stages
        return replace(pipeline, **stages)
