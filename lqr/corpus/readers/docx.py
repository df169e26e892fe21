"""Reads DOCX in document order: headings, paragraphs, lists, tables; also inside content controls and insertions.

Deleted (tracked), hidden and white text is left out, and so are headers, footers, notes and comments. Numbers that Word
makes itself ("1.", "4.2.1") are not in the file's text and are not rebuilt.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from lqr.corpus.readers.base import Builder, RawFile, fold, looks_like_header, row_text
from lqr.corpus.readers.zips import check_zip
from lqr.errors import ReadError
from lqr.types import BlockKind, Document

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_WRAPPERS = {_W + name for name in ("sdt", "sdtContent", "ins", "customXml", "smartTag", "moveTo")}
_SKIPPED = {_W + name for name in ("del", "moveFrom", "pPr", "rPr", "instrText", "footnoteReference", "endnoteReference")} | {
    _MC_FALLBACK
}
_MEDIA = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_GENERIC_TITLE = re.compile(r"(?:microsoft )?word\b.*|document\s*\d*|untitled.*|\S+\.docx?", re.I)


def read(file: RawFile) -> tuple[Document, ...]:
    """One document of ``file``; its title is the Title paragraph, the first heading, or the file's properties.

    Raises:
        ReadError: damaged, encrypted, too large when unpacked, or without text.
    """
    check_zip(file)
    import docx

    try:
        package = docx.Document(io.BytesIO(file.data))
        return (_Walker(file, package).read(),)
    except ReadError:
        raise
    except Exception as error:  # python-docx raises KeyError, lxml and zip errors alike for damaged packages
        raise ReadError(f"{file.name}: damaged DOCX ({type(error).__name__}); open it in Word and save it again") from error


class _Walker:
    def __init__(self, file: RawFile, package: Any) -> None:
        self.builder = Builder(file)
        self.package = package
        self.relations = package.part.rels
        self.title = ""
        self.styles = {style.style_id: _style_role(style) for style in package.styles if getattr(style, "style_id", None)}

    def read(self) -> Document:
        self._children(self.package.element.body)
        properties = fold(self.package.core_properties.title or "")
        title = self.title or self.builder.top_heading
        if not title and not _GENERIC_TITLE.fullmatch(properties):
            title = properties
        return self.builder.build(_MEDIA, title=title)

    def _children(self, parent: Any) -> None:
        for child in parent.iterchildren():
            if child.tag == _W + "p":
                self._paragraph(child)
            elif child.tag == _W + "tbl":
                self._table(child)
            elif child.tag in _WRAPPERS:
                self._children(child)

    def _paragraph(self, node: Any) -> None:
        kind, level = self._role(node)
        links: list[str] = []
        text = fold("".join(self._texts(node, links)))
        if kind == "title":
            self.title = self.title or text
            kind, level = "heading", 1
        self.builder.add(kind, text, level=level, links=links)

    def _role(self, node: Any) -> tuple[Any, int]:
        """Kind and level of a paragraph: its own properties come before its style's."""
        properties = node.find(_W + "pPr")
        kind: BlockKind | str = "paragraph"
        level = 0
        if properties is None:
            return kind, level
        style = properties.find(_W + "pStyle")
        if style is not None:
            kind, level = self.styles.get(style.get(_W + "val"), (kind, level))
        outline = properties.find(_W + "outlineLvl")
        if outline is not None and int(outline.get(_W + "val", "9")) < 6:
            return "heading", int(outline.get(_W + "val")) + 1
        numbering = properties.find(_W + "numPr")
        if numbering is not None and kind == "paragraph":
            depth = numbering.find(_W + "ilvl")
            number = numbering.find(_W + "numId")
            if number is not None and number.get(_W + "val") != "0":
                return "list_item", int(depth.get(_W + "val", "0")) if depth is not None else 0
        return kind, level

    def _texts(self, node: Any, links: list[str]) -> Iterator[str]:
        for child in node.iterchildren():
            tag = child.tag
            if tag in _SKIPPED or not isinstance(tag, str):
                continue
            if tag == _W + "t":
                yield child.text or ""
            elif tag in (_W + "tab", _W + "br", _W + "cr"):
                yield " "
            elif tag == _W + "noBreakHyphen":
                yield "-"
            elif tag == _W + "r" and _hidden(child):
                continue
            else:
                relation = self.relations.get(child.get(_R + "id")) if tag == _W + "hyperlink" else None
                if relation is not None and relation.is_external:
                    links.append(str(relation.target_ref))
                yield from self._texts(child, links)
                if tag == _W + "p":  # a paragraph of a text box or a cell
                    yield "\n"

    def _table(self, table: Any) -> None:
        rows: list[tuple[list[str], list[str]]] = []
        above: list[str] = []
        marked = False
        for line in _descend(table, _W + "tr"):
            cells: list[str] = []
            links: list[str] = []
            for cell in _descend(line, _W + "tc"):
                properties = cell.find(_W + "tcPr")
                span = properties.find(_W + "gridSpan") if properties is not None else None
                merge = properties.find(_W + "vMerge") if properties is not None else None
                text = fold("".join(self._texts(cell, links)))
                if merge is not None and merge.get(_W + "val") != "restart" and len(cells) < len(above):
                    text = text or above[len(cells)]  # a cell merged with the one above
                cells.extend([text] * (min(int(span.get(_W + "val", "1")), 50) if span is not None else 1))
            properties = line.find(_W + "trPr")
            marked = marked or (not rows and properties is not None and properties.find(_W + "tblHeader") is not None)
            above = cells
            if any(cells):
                rows.append((cells, links))
        header: list[str] = []
        if len(rows) > 1 and (marked or looks_like_header([cells for cells, _ in rows])):
            header = rows.pop(0)[0]
        limit = self.builder.file.limits.rows
        for cells, links in rows[:limit]:
            whole = len(cells) > 1 and len(set(cells)) == 1  # one cell across the table
            self.builder.add("table_row", cells[0] if whole else row_text(header, cells), links=links)
        if len(rows) > limit:
            self.builder.cut(f"only the first {limit:,} rows of a table were read")


def _descend(node: Any, tag: str) -> Iterator[Any]:
    for child in node.iterchildren():
        if child.tag == tag:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _descend(child, tag)


def _hidden(run: Any) -> bool:
    """Whether a run is marked hidden, white on nothing that is coloured, or too small to be seen."""
    properties = run.find(_W + "rPr")
    if properties is None:
        return False

    def value(name: str, default: str = "") -> str | None:
        element = properties.find(_W + name)
        return None if element is None else str(element.get(_W + "val", default)).lower()

    size = value("sz") or ""
    small = size.isdigit() and int(size) <= 3  # half points
    return (value("vanish", "1") or "0") not in ("0", "false") or small or (value("color") == "ffffff" and not _on_colour(run))


def _on_colour(run: Any) -> bool:
    """Whether the run, its paragraph, a cell or a table around it has a shading or a highlight: white text is then seen."""
    node = run
    while node is not None and node.tag != _W + "body":
        for properties in (node.find(_W + name) for name in ("rPr", "pPr", "tcPr", "tblPr")):
            if properties is None:
                continue
            if properties.find(_W + "highlight") is not None or properties.find(_W + "tblStyle") is not None:
                return True
            shading = properties.find(_W + "shd")
            if shading is not None and str(shading.get(_W + "fill", "auto")).lower() not in ("auto", "ffffff"):
                return True
        node = node.getparent()
    return False


def _style_role(style: Any) -> tuple[str, int]:
    """What a paragraph style, or one that it is based on, stands for."""
    for _ in range(10):
        name = (style.name or "").lower()
        if match := re.fullmatch(r"heading (\d)", name):
            return "heading", min(int(match.group(1)), 6)
        if name == "title":
            return "title", 1
        if match := re.match(r"list(?: bullet| number)?(?: (\d))?$", name):
            return "list_item", int(match.group(1) or 1) - 1
        style = getattr(style, "base_style", None)
        if style is None:
            break
    return "paragraph", 0
