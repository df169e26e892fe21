"""A whole document as plain, escaped HTML, with the passage that was cited marked and its sentence highlighted.

Built from ``Document.blocks``; nothing of the original file's markup survives, so nothing in it can act.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

from lqr.types import Block, Document
from lqr.ui import markup
from lqr.ui.markup import escape
from lqr.ui.tables import table
from lqr.ui.texts import Texts


def cited_blocks(document: Document, text: str, section: Sequence[str]) -> set[int]:
    """Indices of the blocks that a passage was made of.

    A block belongs to it when its text is part of the passage's, or the other way round. Where the same words stand in
    several places, those under the passage's own headings win.
    """
    wanted = _squeeze(text)
    trail: list[tuple[int, str]] = []
    found: dict[int, bool] = {}
    for index, block in enumerate(document.blocks):
        if block.kind == "heading":
            trail = [*(part for part in trail if part[0] < block.level), (block.level, _squeeze(block.text))]
            continue
        here = _squeeze(block.text)
        if here and (here in wanted or (len(wanted) > 20 and wanted in here)):
            tail = [_squeeze(part) for part in section]
            headings = [heading for _, heading in trail]
            found[index] = not tail or headings[-len(tail) :] == tail
    at_home = {index for index, same in found.items() if same}
    return at_home or set(found)


def page(document: Document, text: str, section: Sequence[str], quotes: Sequence[str], texts: Texts) -> str:
    """The document with its cited place marked (``.cited``; the first one is where the reader is taken)."""
    cited = cited_blocks(document, text, section)
    parts: list[str] = []
    shown_page: int | None = None
    top = min((block.level for block in document.blocks if block.kind == "heading"), default=1)
    for (kind, number), group in groupby(enumerate(document.blocks), key=lambda entry: (entry[1].kind, entry[1].page)):
        entries = list(group)
        if number is not None and number != shown_page:
            shown_page = number
            parts.append(f'<p class="page">{escape(texts.page.format(page=number))}</p>')
        if kind == "table_row":
            parts.append(_rows(entries, cited, quotes, texts))
        else:
            inner = "".join(_block(block, index in cited, quotes, top) for index, block in entries)
            parts.append(f"<ul>{inner}</ul>" if kind == "list_item" else inner)
    return _frame(document.title, document.source, "".join(parts), texts)


def _rows(entries: Sequence[tuple[int, Block]], cited: Collection[int], quotes: Sequence[str], texts: Texts) -> str:
    """Rows that stand together, as the table they come from, the cited ones marked; as lines when it can't be told."""
    found = table([block.text for _, block in entries])
    if found is None:
        return f"<ul>{''.join(_block(block, index in cited, quotes) for index, block in entries)}</ul>"
    said = [_squeeze(quote) for quote in quotes]
    head = "".join(f'<th scope="col">{escape(column)}</th>' if column else "<td></td>" for column in found.columns)
    body = []
    for (index, block), row in zip(entries, found.rows, strict=True):
        here = index in cited
        whole = here and any(_squeeze(block.text).rstrip(".") in quote for quote in said)
        cells = [markup.highlight(cell, (cell,) if whole and cell else quotes) if here else escape(cell) for cell in row]
        mark = ' class="cited"' if here else ""
        body.append(f"<tr{mark}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{escape(texts.table)}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def missing(texts: Texts) -> str:
    """In place of a document that is no longer there."""
    return _frame(texts.document, "", f"<p>{escape(texts.document_gone)}</p>", texts)


def _frame(title: str, source: str, body: str, texts: Texts) -> str:
    return (
        f'<header><button type="button" class="quiet" data-close>{escape(texts.back)}</button></header>'
        f'<div class="document" dir="auto"><h2>{escape(title)}</h2><p class="trail">{escape(source)}</p>{body}</div>'
    )


def _block(block: Block, cited: bool, quotes: Sequence[str], top: int = 1) -> str:
    """One block; a heading of level ``top``, the document's highest, stands just below its title."""
    names = [name for name, given in (("row", block.kind == "table_row"), ("cited", cited)) if given]
    mark = f' class="{" ".join(names)}"' if names else ""
    inner = markup.highlight(block.text, quotes) if cited else escape(block.text)
    if block.kind == "heading":
        level = min(max(block.level - top, 0) + 3, 6)
        return f"<h{level}>{inner}</h{level}>"
    if block.kind in ("list_item", "table_row"):
        return f"<li{mark}>{inner}</li>"
    if block.kind == "code":
        return f"<pre{mark}>{inner}</pre>"
    return f"<p{mark}>{inner}</p>"


def _squeeze(text: str) -> str:
    return " ".join(text.split())
