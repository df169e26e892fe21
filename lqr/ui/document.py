"""A whole document as plain, escaped HTML, with the passage that was cited marked and its sentence highlighted.

Built from ``Document.blocks``; nothing of the original file's markup survives, so nothing in it can act.
"""

from __future__ import annotations

from collections.abc import Sequence

from lqr.types import Block, Document
from lqr.ui import markup
from lqr.ui.markup import escape
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
    open_list = ""
    shown_page: int | None = None
    for index, block in enumerate(document.blocks):
        wrap = {"list_item": "ul", "table_row": "ul"}.get(block.kind, "")
        if wrap != open_list or block.kind == "heading":
            parts.append((f"</{open_list}>" if open_list else "") + (f"<{wrap}>" if wrap else ""))
            open_list = wrap
        if block.page is not None and block.page != shown_page and not wrap:
            shown_page = block.page
            parts.append(f'<p class="page">{escape(texts.page.format(page=block.page))}</p>')
        parts.append(_block(block, index in cited, quotes))
    parts.append(f"</{open_list}>" if open_list else "")
    return _frame(document.title, document.source, "".join(parts), texts)


def missing(texts: Texts) -> str:
    """In place of a document that is no longer there."""
    return _frame(texts.document, "", f"<p>{escape(texts.document_gone)}</p>", texts)


def _frame(title: str, source: str, body: str, texts: Texts) -> str:
    return (
        f'<header><button type="button" class="quiet" data-close>{escape(texts.back)}</button></header>'
        f'<div class="document" dir="auto"><h2>{escape(title)}</h2><p class="trail">{escape(source)}</p>{body}</div>'
    )


def _block(block: Block, cited: bool, quotes: Sequence[str]) -> str:
    names = [name for name, given in (("row", block.kind == "table_row"), ("cited", cited)) if given]
    mark = f' class="{" ".join(names)}"' if names else ""
    inner = markup.highlight(block.text, quotes) if cited else escape(block.text)
    if block.kind == "heading":
        level = min(max(block.level, 1) + 2, 6)
        return f"<h{level}>{inner}</h{level}>"
    if block.kind in ("list_item", "table_row"):
        return f"<li{mark}>{inner}</li>"
    if block.kind == "code":
        return f"<pre{mark}>{inner}</pre>"
    return f"<p{mark}>{inner}</p>"


def _squeeze(text: str) -> str:
    return " ".join(text.split())
