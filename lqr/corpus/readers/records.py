"""Reads JSON and JSON Lines: one document per record with ``text`` and, if given, ``id`` and ``title``.

Other fields of a record become metadata. It does not guess at records without a text.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from lqr.corpus.readers.base import Builder, RawFile, clean, json_safe
from lqr.corpus.readers.encoding import decode
from lqr.corpus.readers.text import add_text
from lqr.errors import ReadError
from lqr.types import Document

_LISTS = ("documents", "records", "passages", "data", "items")
_ID_LIMIT = 200  # characters


def read(file: RawFile) -> tuple[Document, ...]:
    """One document per record, in the file's order.

    Raises:
        ReadError: not JSON, no record with a text, or two different records under one id.
    """
    text = decode(_unpacked(file), file.name)
    documents: dict[str, Document] = {}
    without_text = 0
    cut = ""
    for number, record in enumerate(_records(text, file.name), start=1):
        if len(documents) >= file.limits.rows:
            cut = f"only the first {file.limits.rows:,} records were read"
            break
        document = _document(record, number, file)
        if document is None:
            without_text += 1
        elif document.id in documents:
            if documents[document.id].text != document.text:
                raise ReadError(f"{file.name}: record {number} has the id {document.id!r} of an earlier one; make ids unique")
        else:
            documents[document.id] = document
    if not documents:
        raise ReadError(f'{file.name}: no record with a "text" was found; expected {{"id", "title", "text"}} per record')
    read_all = list(documents.values())
    notes = [note for note in (cut, f"{without_text:,} records without a text were left out" if without_text else "") if note]
    if notes:  # said on the first document: the cut is the file's, not a record's
        first = read_all[0]
        read_all[0] = _with_note(first, "; ".join(notes))
    return tuple(read_all)


def _unpacked(file: RawFile) -> bytes:
    if not file.data.startswith(b"\x1f\x8b"):
        return file.data
    try:
        with gzip.open(io.BytesIO(file.data)) as stream:
            data = stream.read(file.limits.uncompressed + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ReadError(f"{file.name}: damaged gzip file ({error}); download or pack it again") from error
    if len(data) > file.limits.uncompressed:
        raise ReadError(f"{file.name}: unpacks to more than {file.limits.uncompressed / 2**20:,.0f} MB; split it")
    return data


def _records(text: str, name: str) -> Iterator[Any]:
    try:
        whole = json.loads(text)
    except RecursionError as error:
        raise ReadError(f"{name}: nested too deeply to be records; expected a list of objects") from error
    except ValueError:
        yield from _lines(text, name)
        return
    if isinstance(whole, Mapping) and not isinstance(whole.get("text"), str):
        whole = next((whole[key] for key in _LISTS if isinstance(whole.get(key), list)), [])
    yield from whole if isinstance(whole, list) else [whole]


def _lines(text: str, name: str) -> Iterator[Any]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ReadError(f"{name}: line {number} is not JSON; mend or remove it") from error


def _document(record: Any, number: int, file: RawFile) -> Document | None:
    if not isinstance(record, Mapping) or not isinstance(record.get("text"), str) or not record["text"].strip():
        return None
    given = record.get("id")
    has_id = isinstance(given, str | int) and not isinstance(given, bool) and str(given).strip() != ""
    name = " ".join(clean(str(given)).split())[:_ID_LIMIT] if has_id else str(number)
    content = json.dumps([record.get("title"), record["text"]], ensure_ascii=True)
    builder = Builder(file)
    add_text(builder, record["text"])
    if not builder.has_text:
        return None
    title = record.get("title")
    return builder.build(
        "application/json",
        title=title if isinstance(title, str) else "",
        metadata=json_safe({key: value for key, value in record.items() if key not in ("id", "title", "text")}),
        document_id=name if has_id else hashlib.sha256(content.encode()).hexdigest()[:12],
        source=f"{file.source}#{name}",
    )


def _with_note(document: Document, note: str) -> Document:
    earlier = document.metadata.get("truncated")
    return dataclasses.replace(document, metadata={**document.metadata, "truncated": f"{earlier}; {note}" if earlier else note})
