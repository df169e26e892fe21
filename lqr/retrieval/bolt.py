"""The passage graph on a server that speaks Bolt (Neo4j, ArcadeDB), reached by URL with the official driver.

The embedded graph is the truth; :meth:`BoltGraph.publish` writes a copy of it, stamped with its content, under a collection's
name. Both answer the same questions: the edges that leave a passage, and the walk over them. The walk itself is run here, over
the edges that the server returns, so that it cannot differ. Knows no question.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from lqr.errors import RetrievalError
from lqr.retrieval.graph import PassageGraph
from lqr.settings import Settings
from lqr.types import Passage

if TYPE_CHECKING:
    from neo4j import Driver

BATCH = 2000  # nodes or edges in one statement
SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
FACTS = ("number", "type", "chapter", "status")
_TIMEOUT = 10.0  # seconds to connect


class Graph(Protocol):
    """What retrieval asks of a graph, wherever it lives."""

    def edges(self, passage_id: str) -> list[tuple[str, float, str]]:
        """The edges that leave a passage as ``(id, weight, phrase)``, strongest first; none for an unknown id."""

    def expand(
        self, seeds: Mapping[str, float], hops: int = 2, limit: int = 10, label: Callable[[str], str] = str
    ) -> list[tuple[str, float, str]]:
        """Passages within ``hops`` steps of the seeds as ``(id, weight, why)``, best first."""


class BoltGraph:
    """One collection's graph on a server. Safe to use from several threads; close it when done."""

    def __init__(self, driver: Driver, collection: str, database: str) -> None:
        """Use :meth:`connect`."""
        self._driver, self._collection, self._database = driver, collection, database

    @classmethod
    def connect(cls, url: str, collection: str, *, user: str = "", password: str = "") -> BoltGraph:
        """Reach the server at ``url`` (``bolt://host:7687/database``; the path names the database, ``neo4j`` without one).

        Raises:
            RetrievalError: the driver is not installed, the URL is none of Bolt, or nobody answers.
        """
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES:
            raise RetrievalError(f"LQR_GRAPH is {url!r}; it may be embedded, or an address that begins with bolt:// or neo4j://")
        try:
            from neo4j import GraphDatabase
        except ImportError as error:
            raise RetrievalError("LQR_GRAPH names a server, which needs the driver: pip install 'lqr[graph]'") from error
        address = f"{parts.scheme}://{parts.netloc}"
        with _explained(address):
            driver = GraphDatabase.driver(
                address, auth=(user, password) if user else None, connection_timeout=_TIMEOUT, max_transaction_retry_time=_TIMEOUT
            )
            driver.verify_connectivity()
        return cls(driver, collection, parts.path.strip("/") or "neo4j")

    def close(self) -> None:
        """Close the connections."""
        self._driver.close()

    @classmethod
    def of_settings(cls, settings: Settings, collection: str) -> BoltGraph | None:
        """The server that ``LQR_GRAPH`` names, with ``LQR_GRAPH_USER`` and ``LQR_GRAPH_KEY``; None where the graph is embedded.

        Raises:
            RetrievalError: as :meth:`connect`.
        """
        if settings.graph == "embedded":
            return None
        user, password = os.environ.get("LQR_GRAPH_USER", ""), os.environ.get("LQR_GRAPH_KEY", "")
        return cls.connect(settings.graph, collection, user=user, password=password)

    def publish(self, graph: PassageGraph, passages: Sequence[Passage]) -> bool:
        """Make the server's copy equal to ``graph``; returns whether anything had to be written.

        Args:
            passages: row by row, those of the graph; their number, type, status and title are there to be queried.

        Raises:
            RetrievalError: the server failed. What was written is not stamped, so the next call writes all of it again.
        """
        rows = [
            {"id": passage.id, "row": row, "title": passage.title, **{key: str(passage.metadata.get(key, "")) for key in FACTS}}
            for row, passage in enumerate(passages)
        ]
        edges = [
            {"from": source, "to": target, "weight": weight, "phrase": phrase}
            for source in graph.ids
            for target, weight, phrase in graph.edges(source)
        ]
        stamp = hashlib.sha256(json.dumps([rows, edges], sort_keys=True).encode()).hexdigest()
        held = self._run("MATCH (g:Graph {collection: $collection}) RETURN g.stamp AS stamp")
        if [record["stamp"] for record in held] == [stamp]:
            return False
        self.clear()
        self._run("CREATE INDEX passage_id IF NOT EXISTS FOR (p:Passage) ON (p.id)")  # else each edge reads all passages
        for part in _batches(rows):
            self._run("UNWIND $rows AS row CREATE (p:Passage {collection: $collection}) SET p += row", rows=part)
        for part in _batches(edges):
            self._run(
                "UNWIND $edges AS edge "
                "MATCH (a:Passage {collection: $collection, id: edge.from}), (b:Passage {collection: $collection, id: edge.to}) "
                "CREATE (a)-[:LEADS_TO {weight: edge.weight, phrase: edge.phrase}]->(b)",
                edges=part,
            )
        self._run("CREATE (:Graph {collection: $collection, stamp: $stamp})", stamp=stamp)
        return True

    def clear(self) -> None:
        """Remove this collection from the server; the stamp goes first, so that a half-removed graph is not taken for whole."""
        self._run("MATCH (g:Graph {collection: $collection}) DELETE g")
        self._run("MATCH (p:Passage {collection: $collection}) DETACH DELETE p")

    def edges(self, passage_id: str) -> list[tuple[str, float, str]]:
        """As :meth:`PassageGraph.edges`."""
        found = self._leaving([passage_id])
        return sorted(((to, weight, phrase) for _, to, weight, phrase, _, _ in found), key=lambda edge: (-edge[1], edge[0]))

    def expand(
        self, seeds: Mapping[str, float], hops: int = 2, limit: int = 10, label: Callable[[str], str] = str
    ) -> list[tuple[str, float, str]]:
        """As :meth:`PassageGraph.expand`; one query a hop."""
        edges: dict[tuple[str, str], tuple[float, str]] = {}
        place: dict[str, int] = {}
        frontier = sorted(seeds)
        asked: set[str] = set()
        for _ in range(hops):
            asked |= set(frontier)
            for source, target, weight, phrase, row, target_row in self._leaving(frontier):
                edges[(source, target)] = (weight, phrase)
                place |= {source: row, target: target_row}
            frontier = sorted(set(place) - asked)
        ids = sorted(place, key=place.__getitem__)  # in the store's order: sums of floats depend on it
        rows = {passage_id: row for row, passage_id in enumerate(ids)}
        if not ids:
            return []
        local = PassageGraph.of_edges(ids, {(rows[a], rows[b]): edge for (a, b), edge in edges.items()})
        return local.expand(seeds, hops, limit, label)

    def find(self, number: str) -> list[str]:
        """Ids of the passages of the rule ``number``, in the store's order."""
        query = "MATCH (p:Passage {collection: $collection, number: $number}) RETURN p.id AS id ORDER BY p.row"
        return [record["id"] for record in self._run(query, number=number)]

    def _leaving(self, ids: Sequence[str]) -> list[tuple[str, str, float, str, int, int]]:
        records = self._run(
            "UNWIND $ids AS id MATCH (a:Passage {collection: $collection, id: id})-[e:LEADS_TO]->(b:Passage) "
            "RETURN a.id AS source, b.id AS target, e.weight AS weight, e.phrase AS phrase, a.row AS row, b.row AS target_row",
            ids=list(ids),
        )
        return [(r["source"], r["target"], r["weight"], r["phrase"], r["row"], r["target_row"]) for r in records]

    def _run(self, query: str, **values: Any) -> list[Any]:
        with _explained(self._database):
            return self._driver.execute_query(query, {"collection": self._collection, **values}, database_=self._database).records


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


@contextmanager
def _explained(where: str) -> Iterator[None]:
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        yield
    except (DriverError, Neo4jError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        way_out = "check LQR_GRAPH, LQR_GRAPH_USER and LQR_GRAPH_KEY, or set LQR_GRAPH=embedded"
        raise RetrievalError(f"the graph server {where} failed ({reason}); {way_out}") from error
