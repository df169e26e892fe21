"""The passage graph: how one passage leads to another, and the walk of one or two steps along it.

Nodes are passages. Edges, strongest first: an explicit link; the text names another document's title; two passages share
a rare term; same section; next to each other. The graph is derived from the documents alone (no model) and says in words why it
reached a passage. It knows no question: the relevance filter judges what the walk brings.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse  # type: ignore[import-untyped]

from lqr.retrieval.entities import TermTable, TitleIndex, rare_terms
from lqr.retrieval.links import LinkResolver
from lqr.retrieval.rule_edges import CITED, CITES, declared_edges
from lqr.types import Document, Passage

GRAPH_VERSION = "2"  # raise when edges change: saved graphs of another version are rebuilt
MAX_EDGES = 24  # outgoing, for each passage: a hub must not flood the second step
DECAY = 0.5  # each step counts half of the one before

LINK, NAME, ENTITY, SECTION, NEIGHBOUR = 1.0, 0.9, 0.6, 0.3, 0.3  # edge weights
BACKWARDS = 0.6  # the same edge, from the named passage to the one that names it
SECTION_REACH = 3  # passages before and after that count as the same section's company
DETAILS = 3  # passages of a named document that an edge leads to: its opening, and the nearest in words
COMMON_NAME = 8  # passages; a title named in more of them counts less

NAMES, NAMED_BY, SHARES, BESIDE = range(4)  # what an edge is, for those who weigh kinds apart

_Edges = dict[tuple[int, int], tuple[float, str]]
_KINDS = {"links to": NAMES, "names": NAMES, "is linked from": NAMED_BY, "is named in": NAMED_BY, CITES: NAMES, CITED: NAMED_BY}


class PassageGraph:
    """An immutable weighted graph over passage ids; walks from several threads are safe."""

    def __init__(
        self, ids: Sequence[str], weights: sparse.csr_matrix, notes: npt.NDArray[np.int32], phrases: Sequence[str]
    ) -> None:
        """Use :meth:`build` or :meth:`load`. ``weights`` is ``(n, n)``; ``phrases[notes[i]]`` says what edge ``i`` is."""
        self.ids = tuple(ids)
        self.weights = weights
        self._notes = notes
        self._phrases = tuple(phrases)
        self._rows = {passage_id: row for row, passage_id in enumerate(self.ids)}
        of_phrase = [_KINDS.get(phrase, SHARES if phrase.startswith("shares ") else BESIDE) for phrase in phrases]
        self.kinds: npt.NDArray[np.int8] = np.array(of_phrase, dtype=np.int8)[notes]  # of each edge, as in ``weights``

    @classmethod
    def build(cls, passages: Sequence[Passage], document: Callable[[str], Document]) -> PassageGraph:
        """Derive the graph.

        Args:
            passages: all of them, in the store's order (reading order within a document).
            document: gives a document by its id; the blocks hold the links.
        """
        by_document: dict[str, list[int]] = {}
        for row, passage in enumerate(passages):
            by_document.setdefault(passage.document_id, []).append(row)
        terms = rare_terms(passages)
        edges: _Edges = {}
        _add_links(edges, passages, by_document, document, terms)
        _add_names(edges, passages, by_document, terms)
        _add_entities(edges, terms)
        _add_company(edges, passages, by_document)
        for edge in declared_edges(passages):
            _add(edges, edge.source, edge.target, edge.weight, edge.phrase)
        return cls.of_edges([passage.id for passage in passages], edges)

    @classmethod
    def of_edges(cls, ids: Sequence[str], edges: Mapping[tuple[int, int], tuple[float, str]]) -> PassageGraph:
        """A graph of given edges, ``(source row, target row)`` to ``(weight, phrase)``; of each row the strongest stay."""
        outgoing: list[list[tuple[float, int, str]]] = [[] for _ in ids]
        for (source, target), (weight, phrase) in edges.items():
            outgoing[source].append((-weight, target, phrase))
        phrases: dict[str, int] = {}
        kept = [sorted(row)[:MAX_EDGES] for row in outgoing]
        data = np.array([-edge[0] for row in kept for edge in row], dtype=np.float32)
        indices = np.array([edge[1] for row in kept for edge in row], dtype=np.int32)
        notes = np.array([phrases.setdefault(edge[2], len(phrases)) for row in kept for edge in row], dtype=np.int32)
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in kept])]).astype(np.int32)
        return cls(ids, sparse.csr_matrix((data, indices, indptr), shape=(len(ids), len(ids))), notes, list(phrases))

    def edges(self, passage_id: str) -> list[tuple[str, float, str]]:
        """The edges that leave a passage as ``(id, weight, phrase)``, strongest first; none for an unknown id."""
        row = self._rows.get(passage_id)
        if row is None:
            return []
        span = range(self.weights.indptr[row], self.weights.indptr[row + 1])
        found = [(self.ids[self.weights.indices[i]], float(self.weights.data[i]), self._phrases[self._notes[i]]) for i in span]
        return sorted(found, key=lambda edge: (-edge[1], edge[0]))

    def expand(
        self, seeds: Mapping[str, float], hops: int = 2, limit: int = 10, label: Callable[[str], str] = str
    ) -> list[tuple[str, float, str]]:
        """Passages within ``hops`` steps of the seeds; the seeds themselves are left out.

        A passage's weight is the sum, over all walks of at most ``hops`` edges that end at it, of the seed's weight times
        the edges' weights times ``DECAY`` for each step. ``why`` tells the strongest of these walks.

        Args:
            seeds: passage id to weight (positive); unknown ids are ignored.
            label: what to call a passage in ``why``; its id by default.

        Returns:
            ``(id, weight, why)``, best first, equal weights by id, at most ``limit``.
        """
        current: npt.NDArray[np.float64] = np.zeros(len(self.ids))
        for passage_id, weight in seeds.items():
            if passage_id in self._rows:
                current[self._rows[passage_id]] = weight
        seed_rows = np.flatnonzero(current)
        total = np.zeros_like(current)
        best = current.copy()  # of the strongest single walk to each row
        came: dict[int, tuple[int, int]] = {}  # row: where that walk came from, and by which edge
        for _ in range(hops):
            sources, positions = self.leaving(np.flatnonzero(current))
            targets = self.weights.indices[positions]
            steps = self.weights.data[positions].astype(np.float64) * DECAY
            arrived = np.bincount(targets, weights=current[sources] * steps, minlength=len(self.ids)).astype(np.float64)
            strength = best[sources] * steps
            improved = best.copy()
            for i in np.flatnonzero(strength > best[targets]):
                if strength[i] > improved[targets[i]]:
                    improved[targets[i]] = strength[i]
                    came[int(targets[i])] = (int(sources[i]), int(positions[i]))
            total, current, best = total + arrived, arrived, improved
        total[seed_rows] = 0.0
        reached = sorted(map(int, np.flatnonzero(total)), key=lambda row: (-total[row], self.ids[row]))[: max(0, limit)]
        starts = {int(row) for row in seed_rows}
        return [(self.ids[row], float(total[row]), self._why(row, starts, came, hops, label)) for row in reached]

    def spread(self, own: npt.NDArray[np.float64], sources: Sequence[int], share: float) -> npt.NDArray[np.float64]:
        """Let passages lend part of their score to those they lead to, in one step.

        A passage that bridges two documents ("the author of X was born in Y") answers half a question and names where the
        other half stands; that other passage may share no word with the question.

        Args:
            own: score of every row, shape ``(n,)``, not negative.
            sources: the rows that lend.
            share: of the lender's score, at an edge of weight 1.

        Returns:
            ``own`` plus the largest loan that each row is given (the largest, not the sum: a hub is not an answer).
        """
        rows, positions = self.leaving(np.array(sources, dtype=np.int64))
        loans = np.zeros_like(own)
        np.maximum.at(loans, self.weights.indices[positions], own[rows] * self.weights.data[positions] * share)
        return own + loans

    def leaving(self, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Source row and position of every edge that leaves ``rows``."""
        begin, end = self.weights.indptr[rows], self.weights.indptr[rows + 1]
        positions = [np.arange(low, high, dtype=np.int64) for low, high in zip(begin, end, strict=True)]
        return np.repeat(rows, end - begin), np.concatenate(positions) if positions else np.zeros(0, dtype=np.int64)

    def _why(
        self, row: int, starts: set[int], came: Mapping[int, tuple[int, int]], hops: int, label: Callable[[str], str]
    ) -> str:
        clauses: list[str] = []
        while row in came and row not in starts and len(clauses) < hops:
            source, position = came[row]
            clauses.insert(0, f"“{label(self.ids[source])}” {self._phrases[self._notes[position]]} “{label(self.ids[row])}”")
            row = source
        return "; ".join(clauses)

    def save(self, folder: Path) -> None:
        """Write the graph into ``folder`` as ``.npy`` and JSON files (no pickle); the ids are not part of it."""
        folder.mkdir(parents=True, exist_ok=True)
        parts = {
            "weights": self.weights.data,
            "indices": self.weights.indices,
            "indptr": self.weights.indptr,
            "notes": self._notes,
        }
        for name, array in parts.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
        (folder / "phrases.json").write_text(json.dumps(self._phrases, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, ids: Sequence[str]) -> PassageGraph:
        """Read what :meth:`save` wrote.

        Raises:
            OSError, ValueError: files are missing, damaged, or of another number of passages.
        """
        data, indices, indptr, notes = (
            np.load(folder / f"{name}.npy", allow_pickle=False) for name in ("weights", "indices", "indptr", "notes")
        )
        if len(indptr) != len(ids) + 1:
            raise ValueError(f"{folder} holds {len(indptr) - 1} passages, not {len(ids)}")
        phrases = json.loads((folder / "phrases.json").read_text(encoding="utf-8"))
        return cls(ids, sparse.csr_matrix((data, indices, indptr), shape=(len(ids), len(ids))), notes, phrases)


def _add(edges: _Edges, source: int, target: int, weight: float, phrase: str) -> None:
    """Add an edge; between the same two passages the strongest stays."""
    if source != target and (weight, phrase) > edges.get((source, target), (0.0, "")):
        edges[(source, target)] = (weight, phrase)


def _add_towards(
    edges: _Edges, source: int, rows: Sequence[int], weight: float, phrase: str, back: str, terms: TermTable
) -> None:
    """From a passage to a document (or section) it points at: to its opening in full, to the nearest of the rest by half."""
    opening, rest = rows[0], [row for row in rows[1:] if row != source]
    nearest = sorted(rest, key=lambda row: (-terms.overlap(source, row), row))[: DETAILS - 1]
    for target, share in ((opening, 1.0), *((row, 0.5) for row in nearest)):
        _add(edges, source, target, weight * share, phrase)
        _add(edges, target, source, weight * share * BACKWARDS, back)


def _add_links(
    edges: _Edges,
    passages: Sequence[Passage],
    by_document: Mapping[str, Sequence[int]],
    document: Callable[[str], Document],
    terms: TermTable,
) -> None:
    documents = {document_id: document(document_id) for document_id in by_document}
    resolver = LinkResolver(documents.values())
    for document_id, rows in by_document.items():
        linking = [block for block in documents[document_id].blocks if block.links]
        for row in rows:
            covered = [block for block in linking if block.start < passages[row].end and block.end > passages[row].start]
            for target in dict.fromkeys(target for block in covered for target in block.links):
                found = resolver.resolve(documents[document_id].source, target)
                if found is None:
                    continue
                wanted = [r for r in by_document[found.document_id] if found.in_section(passages[r].section)]
                _add_towards(edges, row, wanted or by_document[found.document_id], LINK, "links to", "is linked from", terms)


def _add_names(edges: _Edges, passages: Sequence[Passage], by_document: Mapping[str, Sequence[int]], terms: TermTable) -> None:
    titles = TitleIndex({document_id: passages[rows[0]].title for document_id, rows in by_document.items()})
    named = [titles.named_in(sequence) for sequence in terms.sequences]
    counts = Counter(alias for found in named for alias in found.values())
    for row, found in enumerate(named):
        for document_id, alias in found.items():
            too_common = len(alias) == 1 and counts[alias] > max(COMMON_NAME, len(passages) // 20)
            if document_id == passages[row].document_id or too_common:
                continue
            weight = NAME * min(1.0, (COMMON_NAME / counts[alias]) ** 0.5)
            _add_towards(edges, row, by_document[document_id], weight, "names", "is named in", terms)


def _add_entities(edges: _Edges, terms: TermTable) -> None:
    shared: dict[tuple[int, int], tuple[float, float, str]] = {}  # pair: sum, the largest part and its term
    for term in terms.rare:
        part = (1.0 if term.named else 0.5) / (len(term.rows) - 1) ** 0.5
        for i, first in enumerate(term.rows):
            for second in term.rows[i + 1 :]:
                total, largest, text = shared.get((first, second), (0.0, 0.0, ""))
                shared[(first, second)] = (total + part, *max((largest, text), (part, term.text)))
    for (first, second), (total, _, text) in shared.items():
        weight, phrase = ENTITY * min(1.0, total), f"shares ‘{text}’ with"
        _add(edges, first, second, weight, phrase)
        _add(edges, second, first, weight, phrase)


def _add_company(edges: _Edges, passages: Sequence[Passage], by_document: Mapping[str, Sequence[int]]) -> None:
    for rows in by_document.values():
        for i, first in enumerate(rows):
            for distance, second in enumerate(rows[i + 1 : i + 1 + SECTION_REACH], start=1):
                if passages[first].section == passages[second].section:
                    weight, phrase = SECTION / distance**0.5, "is in the same section as"
                elif distance == 1:
                    weight, phrase = NEIGHBOUR / 2, "stands next to"
                else:
                    continue
                _add(edges, first, second, weight, phrase)
                _add(edges, second, first, weight, phrase)
