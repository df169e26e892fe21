"""Makes a collection of a corpus, so that the stages which serve the product can be measured on it.

The passages go into a store of their own, under ``LQR_HOME/evaluation``, in a folder named after their content;
:func:`lqr.app.build` then puts the product together over it, indexes, classifiers and all. Nothing is built twice: a
second run opens what the first one left. It decides nothing about retrieval.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lqr.app import Application, build, collection_folder
from lqr.corpus.store import Store
from lqr.errors import ReadError
from lqr.evaluation.datasets import CorpusPassage
from lqr.evaluation.vectors import NoEmbedder, RememberingEmbedder
from lqr.retrieval.dense import Embedder, load_embedder
from lqr.settings import Settings
from lqr.types import Block, Document, Passage

FORMAT = "1"  # raise when the same corpus must become another store
OnProgress = Callable[[str, int, int], None]  # (what, done, total)
_GAP = "\n\n"  # between the passages of a document


@contextmanager
def open_corpus(
    corpus: Sequence[CorpusPassage],
    settings: Settings,
    *,
    dense: bool = True,
    progress: OnProgress | None = None,
    embedder: Embedder | None = None,
) -> Iterator[Application]:
    """The product over ``corpus``, for the length of a ``with`` block.

    Args:
        corpus: the passages; their ids are those that searches return.
        settings: ``home`` is where the caches go; ``llm`` is not looked at, for the generators are loaded apart.
        dense: False makes no vectors at all, which saves minutes where only BM25 is wanted.
        progress: called with ``(what, done, total)``.
        embedder: instead of the one that ``settings`` names.

    Raises:
        ReadError: the corpus is empty.
        LqrError: a part of the product is missing.
    """
    if not corpus:
        raise ReadError("the corpus holds no passage; check --corpus, or use --strategy none")
    home = settings.home / "evaluation"
    name = f"{corpus_key(corpus)}{'' if dense else '-lexical'}"
    own = replace(settings, home=home, collection=name, llm="composer")
    fill(collection_folder(own, name), corpus, progress)
    remembering = None
    if not dense:
        embedder = NoEmbedder()
    elif embedder is None:
        embedder = remembering = RememberingEmbedder(load_embedder(own), home / "vectors.sqlite3")
    try:
        application = build(own, progress=progress, embedder=embedder)
        try:
            yield application
        finally:
            application.close()
    finally:
        if remembering:
            remembering.close()


def corpus_key(corpus: Sequence[CorpusPassage]) -> str:
    """A name for this content: 16 hex digits that change with any id, title or text."""
    digest = hashlib.sha256(FORMAT.encode())
    for passage in corpus:
        for part in (passage.id, passage.title, passage.text):
            encoded = part.encode()
            digest.update(len(encoded).to_bytes(8, "big"))
            digest.update(encoded)
    return digest.hexdigest()[:16]


def fill(folder: Path, corpus: Sequence[CorpusPassage], progress: OnProgress | None = None) -> None:
    """Write ``corpus`` into the store in ``folder``, in one transaction, unless it is there already.

    Raises:
        StoreError: the store can't be written.
    """
    with Store.open(folder) as store:
        if store.count() == len(corpus):
            return
        with store.transaction():
            for number, (document, passages) in enumerate(documents(corpus), start=1):
                store.add(document, passages)
                if progress and number % 1000 == 0:
                    progress("storing documents", number, number + 1)
        if progress:
            progress("storing documents", 1, 1)


def documents(corpus: Iterable[CorpusPassage]) -> Iterator[tuple[Document, tuple[Passage, ...]]]:
    """The documents that ``corpus`` was cut from: passages of one title belong together, in their order.

    A passage without a title is a document of its own. The graph needs this: a name leads to a document, and two
    paragraphs of one article are neighbours.
    """
    groups: dict[str, list[CorpusPassage]] = {}
    for passage in corpus:
        groups.setdefault(passage.title or f"\0{passage.id}", []).append(passage)
    for group in groups.values():
        yield _document(group)


def _document(group: Sequence[CorpusPassage]) -> tuple[Document, tuple[Passage, ...]]:
    first = group[0]
    document_id = hashlib.sha256("\0".join(passage.id for passage in group).encode()).hexdigest()[:12]
    blocks: list[Block] = []
    passages: list[Passage] = []
    start = 0
    for position, passage in enumerate(group):
        end = start + len(passage.text)
        blocks.append(Block("paragraph", passage.text, start, end))
        passages.append(Passage(passage.id, document_id, first.title, (), passage.text, position, start, end))
        start = end + len(_GAP)
    text = _GAP.join(passage.text for passage in group)
    return Document(document_id, first.title, text, tuple(blocks), source=first.id), tuple(passages)
