"""How documents and passages lie in the tables of the store, and come out of them again.

It knows the columns, no connection and no transaction: :mod:`lqr.corpus.store` runs what stands here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from lqr.types import Block, Document, Passage

# To read: what document_of, info_of and passage_of take; a condition or an order may follow.
DOCUMENT = "SELECT id, title, text, blocks, source, media_type, metadata FROM documents"
INFOS = """
    SELECT d.id, d.title, d.source, COUNT(p.id), LENGTH(d.text), d.metadata, d.media_type
    FROM documents d LEFT JOIN passages p ON p.document_id = d.id GROUP BY d.id ORDER BY d.source
"""
PASSAGES = """
    SELECT p.id, p.document_id, d.title, p.section, p.text, p.position, p.start, p."end", p.kind, p.page, p.metadata
    FROM passages p JOIN documents d ON d.id = p.document_id
"""
# To write: what document_row and passage_rows give.
INSERT_DOCUMENT = """
    INSERT INTO documents (id, source, title, media_type, text, blocks, metadata, digest, file)
    VALUES (:id, :source, :title, :media_type, :text, :blocks, :metadata, :digest, :file)
"""
INSERT_PASSAGE = "INSERT INTO passages VALUES (?,?,?,?,?,?,?,?,?,?)"
# All that readers of a collection can see of it, in an order that only the content decides.
CONTENT = (
    f"{DOCUMENT} ORDER BY id",
    'SELECT id, document_id, position, section, text, start, "end", kind, page, metadata FROM passages ORDER BY id',
)


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document as a list of them shows it; ``passages`` and ``characters`` are counts."""

    id: str
    title: str
    source: str
    passages: int
    characters: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    media_type: str = "text/plain"


def document_row(document: Document, digest: str, file: str) -> dict[str, Any]:
    """The columns of ``document`` by name, for :data:`INSERT_DOCUMENT`."""
    return {
        "id": document.id,
        "source": document.source,
        "title": document.title,
        "media_type": document.media_type,
        "text": document.text,
        "blocks": _json([[b.kind, b.text, b.start, b.end, b.level, b.page, b.links] for b in document.blocks]),
        "metadata": _json(dict(document.metadata)),
        "digest": digest,
        "file": file,
    }


def document_of(row: Sequence[Any]) -> Document:
    """The document of a row of :data:`DOCUMENT`."""
    identifier, title, text, blocks, source, media_type, metadata = row
    rebuilt = tuple(
        Block(k, t, start, end, level, page, tuple(links)) for k, t, start, end, level, page, links in json.loads(blocks)
    )
    return Document(identifier, title, text, rebuilt, source, media_type, json.loads(metadata))


def info_of(row: Sequence[Any]) -> DocumentInfo:
    """The entry of a row of :data:`INFOS`."""
    identifier, title, source, count, length, metadata, media_type = row
    return DocumentInfo(identifier, title, source, count, length, json.loads(metadata), media_type)


def passage_rows(document: Document, passages: Sequence[Passage]) -> list[tuple[Any, ...]]:
    """The rows of the passages of ``document``, for :data:`INSERT_PASSAGE`."""
    return [
        (p.id, document.id, p.position, _json(p.section), p.text, p.start, p.end, p.kind, p.page, _json(dict(p.metadata)))
        for p in passages
    ]


def passage_of(row: Sequence[Any]) -> Passage:
    """The passage of a row of :data:`PASSAGES`."""
    passage_id, document_id, title, section, text, position, start, end, kind, page, metadata = row
    names = tuple(json.loads(section))
    return Passage(passage_id, document_id, title, names, text, position, start, end, kind, page, json.loads(metadata))


def digest(document: Document, passages: Sequence[Passage]) -> str:
    """Of everything kept except the source: a better reader or splitter must count as a change."""
    content = [
        document.title,
        document.text,
        document.media_type,
        dict(document.metadata),
        [asdict(block) for block in document.blocks],
        [[p.id, p.section, p.start, p.end, p.kind, p.page, dict(p.metadata)] for p in passages],
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def checksum(rows: Iterable[Sequence[Any]]) -> str:
    """SHA-256 of rows, as hex."""
    total = hashlib.sha256()
    for row in rows:
        total.update(f"{_json(list(row))}\n".encode())
    return total.hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
