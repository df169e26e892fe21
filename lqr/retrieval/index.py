"""The derived indexes of one store as one immutable snapshot: built, saved, checked and loaded.

The store is the truth; whatever saved part does not agree with it (:mod:`lqr.retrieval.saved`) is rebuilt, and vectors of
unchanged texts are taken over, as are those that came with the documents (:mod:`lqr.retrieval.shipped`). It answers no query.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lqr.errors import RetrievalError
from lqr.retrieval.asked import AskedIndex, flatten
from lqr.retrieval.bm25 import K1, B, BM25Index, FloatArray
from lqr.retrieval.dense import DenseIndex, Embedder, mark
from lqr.retrieval.graph import GRAPH_VERSION, PassageGraph
from lqr.retrieval.paths import PathFinder
from lqr.retrieval.rule_edges import RuleNames
from lqr.retrieval.saved import Saved, load_vectors, save
from lqr.retrieval.shipped import read_shipped, text_hash
from lqr.retrieval.tokenizer import TOKENIZER_VERSION, tokenize
from lqr.types import Asked, Document, Passage

log = logging.getLogger(__name__)

FORMAT_VERSION = 1
# How often the heading is counted in BM25. On 200 training questions of HotpotQA a second time lifts BM25's recall at 5 from
# 76.5 to 78.2 and leaves the fused one as it is (80.5, 80.2); a third time adds nothing.
HEADING_WEIGHT = 2
SLICE = 256  # texts embedded between two calls of the progress function
_ATTEMPTS = 10  # to read a store that another process is changing
_BUSY = "the store changes faster than it can be indexed; try again when the ingest has finished"

Progress = Callable[[int, int], None]  # (texts embedded, texts to embed): passages and the questions about them
AskedOf = Callable[[Sequence[Passage]], Mapping[str, Sequence[Asked]]]  # questions that people ask, by passage id


class PassageSource(Protocol):
    """What the indexes need of the store."""

    @property
    def generation(self) -> int:
        """A number that changes with every change of the content."""

    def all_passages(self) -> Sequence[Passage]:
        """All passages in a stable order, those of a document together and in reading order."""

    def document(self, document_id: str) -> Document:
        """A document with its blocks."""


@dataclass(frozen=True)
class Snapshot:
    """Everything a search reads. Row ``i`` of each index is ``passages[i]``."""

    generation: int
    passages: tuple[Passage, ...]
    rows: dict[str, int]  # passage id to row
    bm25: BM25Index
    vectors: FloatArray  # (n, dimension), unit length
    dense: DenseIndex
    graph: PassageGraph
    paths: PathFinder
    asked: AskedIndex
    rules: RuleNames
    documents: Mapping[str, Sequence[int]]  # document id to its rows, in reading order
    hashes: tuple[str, ...]  # of the text behind each row of ``vectors``, then of each question of ``asked``

    def heading(self, passage_id: str) -> str:
        """What a passage is called; its id if it is not here."""
        row = self.rows.get(passage_id)
        return passage_id if row is None else self.passages[row].heading

    def vectors_of(self, documents: Collection[str]) -> dict[str, FloatArray]:
        """The vectors of ``documents`` (ids), and of the questions about them, by the hash of their text."""
        rows = [*range(len(self.passages)), *self.asked.rows]  # the passage behind each vector
        vectors = zip(self.hashes, rows, [*self.vectors, *self.asked.vectors], strict=True)
        return {key: vector for key, row, vector in vectors if self.passages[row].document_id in documents}


def open_snapshot(
    source: PassageSource,
    embedder: Embedder,
    folder: Path,
    *,
    device: str = "cpu",
    progress: Progress | None = None,
    asked_of: AskedOf | None = None,
    shipped: Path | None = None,
) -> Snapshot:
    """The snapshot of the store's present content: loaded where it agrees, otherwise rebuilt and saved.

    Args:
        folder: the store's folder; the indexes live in ``folder / "index"``.
        device: ``gpu`` moves the dense index there, where FAISS can.
        asked_of: the questions by which passages are found as well.
        shipped: a file of vectors to take over where they fit; it need not exist.

    Raises:
        RetrievalError: the store does not stop changing, or gives the same passage id twice.
    """
    for _ in range(_ATTEMPTS):
        generation, passages = _read(source)
        try:
            return _open(source, generation, passages, embedder, folder, device, progress, asked_of, shipped)
        except KeyError as error:
            if source.generation == generation:
                raise RetrievalError(f"the store lists a document that it does not hold ({error}); ingest it again") from error
    raise RetrievalError(_BUSY)


def _open(
    source: PassageSource,
    generation: int,
    passages: Sequence[Passage],
    embedder: Embedder,
    folder: Path,
    device: str,
    progress: Progress | None,
    asked_of: AskedOf | None,
    shipped: Path | None,
) -> Snapshot:
    """One attempt; a KeyError says that a document was deleted meanwhile."""
    hashes = [text_hash(passage.indexed_text) for passage in passages]
    by_id = asked_of(passages) if asked_of else {}
    asked_here, question_rows = flatten([by_id.get(passage.id, ()) for passage in passages])
    questions = [item.question for item in asked_here]
    question_hashes = [text_hash(question) for question in questions]
    stamp = {**_stamp(generation, passages, hashes, embedder), "asked": text_hash(json.dumps(questions))}
    root = folder / "index"
    saved = Saved.open(root)
    ids = [passage.id for passage in passages]
    rows = {passage_id: row for row, passage_id in enumerate(ids)}
    if len(rows) != len(ids):
        raise RetrievalError("the store holds a passage id twice; delete the collection and ingest it again")

    bm25 = graph = vectors = asked = None
    if saved and (differing := [key for key in stamp if saved.stamp.get(key) != stamp[key]]):
        log.info("index of %s: rebuilt, %s changed", folder.name, ", ".join(differing))
    elif saved:
        bm25 = saved.load("bm25", lambda path: BM25Index.load(path, len(ids)))
        graph = saved.load("graph", lambda path: PassageGraph.load(path, ids))
        vectors = saved.load("vectors", lambda path: load_vectors(path, len(ids), embedder.dimension))
        asked = saved.load("asked", lambda path: load_vectors(path, len(questions), embedder.dimension))
    complete = bm25 is not None and graph is not None and vectors is not None and asked is not None
    if graph is None:  # before the vectors: it asks the store, which may have changed
        graph = PassageGraph.build(passages, source.document)
    if bm25 is None:
        bm25 = BM25Index.build([index_terms(passage) for passage in passages])
    if asked is None and saved and all(saved.stamp.get(key) == stamp[key] for key in ("asked", "embedder", "format")):
        # other passages, the same questions: their vectors, in the order of their passages, are still right
        asked = saved.load("asked", lambda path: load_vectors(path, len(questions), embedder.dimension))
    if vectors is None or asked is None:
        texts = dict(zip(hashes, (p.indexed_text for p in passages), strict=True)) if vectors is None else {}
        texts |= dict(zip(question_hashes, questions, strict=True)) if asked is None else {}
        known = saved.reusable(stamp) if saved else {}
        if shipped and not texts.keys() <= known.keys():
            known = {**read_shipped(shipped, embedder), **known}
        known |= _embed({key: text for key, text in texts.items() if key not in known}, embedder, progress)
        vectors = _rows(hashes, known, embedder.dimension) if vectors is None else vectors
        asked = _rows(question_hashes, known, embedder.dimension) if asked is None else asked
    if not complete:
        save(root, stamp, hashes, bm25, vectors, graph, asked)
    dense, paths = DenseIndex(vectors, device=device), PathFinder(passages, bm25, graph)
    nearest = AskedIndex(asked, question_rows, len(passages), tuple(item.snippet for item in asked_here))
    documents: dict[str, list[int]] = {}
    for row, passage in enumerate(passages):
        documents.setdefault(passage.document_id, []).append(row)
    return Snapshot(
        generation,
        tuple(passages),
        rows,
        bm25,
        vectors,
        dense,
        graph,
        paths,
        nearest,
        RuleNames(passages),
        documents,
        (*hashes, *question_hashes),
    )


def index_terms(passage: Passage, heading_weight: int = HEADING_WEIGHT) -> list[str]:
    """The terms under which BM25 finds a passage: its ``indexed_text``, the heading counted ``heading_weight`` times."""
    return tokenize(passage.heading) * (heading_weight - 1) + tokenize(passage.indexed_text)


def _read(source: PassageSource) -> tuple[int, list[Passage]]:
    for _ in range(_ATTEMPTS):
        generation = source.generation
        passages = list(source.all_passages())
        if source.generation == generation:
            return generation, passages
    raise RetrievalError(_BUSY)


def _stamp(generation: int, passages: Sequence[Passage], hashes: Sequence[str], embedder: Embedder) -> dict[str, Any]:
    """What a saved index must agree with. The content is in it because a store made anew may reach the same generation."""
    content = hashlib.blake2b(digest_size=16)
    for passage, text in zip(passages, hashes, strict=True):
        content.update(f"{passage.id}\0{text}\0".encode())
    return {
        "format": FORMAT_VERSION,
        "generation": generation,
        "content": content.hexdigest(),
        "embedder": mark(embedder),
        "tokenizer": TOKENIZER_VERSION,
        "bm25": f"k1={K1} b={B} heading={HEADING_WEIGHT}",
        "graph": GRAPH_VERSION,
    }


def _embed(texts: Mapping[str, str], embedder: Embedder, progress: Progress | None) -> dict[str, FloatArray]:
    """A vector for each of ``texts`` (by hash)."""
    # By length, so that a batch holds little padding; the longest first, so that a lack of memory shows at once.
    todo = sorted(texts.items(), key=lambda item: -len(item[1]))
    if len(todo) > SLICE:
        log.info("embedding %d texts; about a minute for each 2,500 passages on two cores", len(todo))
    made: dict[str, FloatArray] = {}
    if progress and todo:
        progress(0, len(todo))
    for start in range(0, len(todo), SLICE):
        part = todo[start : start + SLICE]
        made.update(zip([key for key, _ in part], embedder.encode([text for _, text in part]), strict=True))
        if progress:
            progress(min(start + SLICE, len(todo)), len(todo))
    return made


def _rows(hashes: Sequence[str], known: Mapping[str, FloatArray], dimension: int) -> FloatArray:
    """The vectors of ``hashes``, shape ``(len(hashes), dimension)``."""
    vectors = np.zeros((len(hashes), dimension), dtype=np.float32)
    for row, key in enumerate(hashes):
        vectors[row] = known[key]
    return vectors
