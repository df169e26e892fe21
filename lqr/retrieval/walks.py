"""Where a passage graph is walked: on the server that holds a copy of it (:mod:`lqr.retrieval.bolt`), else in memory.

The graph in memory is the truth and always there, so a server that is down, or still holds another graph, costs no question:
the walk gives the same either way. Knows no question and no snapshot.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from lqr.errors import RetrievalError
from lqr.retrieval.bolt import BoltGraph, Graph
from lqr.retrieval.graph import PassageGraph
from lqr.types import Passage

log = logging.getLogger(__name__)
T = TypeVar("T")


class Walks:
    """The graphs of one collection, one after the other. Safe to use from several threads; :meth:`publish` from one at a time."""

    def __init__(self, server: BoltGraph | None) -> None:
        """Without a ``server`` every walk is in memory."""
        self._server = server
        self._published: PassageGraph | None = None  # what the server holds a copy of, as far as is known here

    def publish(self, graph: PassageGraph, passages: Sequence[Passage]) -> None:
        """Bring the server's copy to ``graph``; walks are in memory meanwhile, and after it failed, which is logged once."""
        if self._server is None:
            return
        self._published = None
        try:
            self._server.publish(graph, passages)
        except RetrievalError as error:
            self._lost(error)
        else:
            self._published = graph

    def ask(self, graph: PassageGraph, question: Callable[[Graph], T]) -> T:
        """What ``question`` gets out of ``graph``, or out of the server's copy of it."""
        if self._server is not None and self._published is graph:
            try:
                return question(self._server)
            except RetrievalError as error:
                self._published = None
                self._lost(error)
        return question(graph)

    def close(self) -> None:
        """Close the connection to the server, if there is one."""
        if self._server is not None:
            self._server.close()

    def _lost(self, error: RetrievalError) -> None:
        log.warning("%s; the graph is walked in memory until the collection changes or is opened again", error)
