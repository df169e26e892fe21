"""Reads HTML: the main content as headings, paragraphs, list items and table rows.

Scripts, styles, navigation, forms and hidden elements (attributes, inline styles, simple rules of ``<style>``, white
text without a background) are dropped. It runs no scripts and loads nothing; external style sheets are unknown to it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

from bs4 import BeautifulSoup, Tag
from bs4.element import PageElement, PreformattedString, Script, Stylesheet, TemplateString
from soupsieve import SelectorSyntaxError

from lqr.corpus.readers.base import Builder, RawFile, fold, looks_like_header, row_text
from lqr.corpus.readers.encoding import decode
from lqr.types import BlockKind, Document

_DROPPED = re.compile(
    "script|style|noscript|template|nav|form|button|select|textarea|input|iframe|object|embed|svg|math|canvas|dialog|aside"
)
_BLOCK_NAMES = re.compile(
    "address|article|blockquote|body|center|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|h[1-6]|header|hr|html|li|main|ol|p|"
    "pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul|caption"
)
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)|font-size\s*:\s*0(?:\.\d+)?\s*(?:px|pt|em|rem|%)?\s*(?:;|!|$)"
    r"|text-indent\s*:\s*-\d{3,}|(?:left|top)\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*0",
    re.I,
)
_WHITE = re.compile(
    r"(?:^|[;\s])color\s*:\s*(?:white|#f{3,4}\b|#f{6}(?:f{2})?\b|transparent|rgba?\(\s*255\s*,\s*255\s*,\s*255)", re.I
)
_BACKGROUND = re.compile(r"background(?:-color|-image)?\s*:", re.I)
_RULES = re.compile(r"([^{}@;]+)\{([^{}]*)\}")
_CHARSET = re.compile(rb"<(?:meta[^>]+charset|\?xml[^>]+encoding)\s*=\s*[\"']?\s*([\w-]+)", re.I)
_SUPERSCRIPT = str.maketrans("0123456789+-−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ")
_DEPTH = 150  # nesting beyond this is flattened to text
_SPAN_LIMIT = 50  # cells


def read(file: RawFile) -> tuple[Document, ...]:
    """One document of ``file``; its title is ``<title>`` without the site's name, else the first heading."""
    declared = _CHARSET.search(file.data[:4096])
    text = ""
    if declared and not file.data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        try:
            text = file.data.decode(declared.group(1).decode("ascii"))
        except (LookupError, UnicodeError):
            text = ""  # the declaration is wrong: the bytes decide
    soup = _parse(text or decode(file.data, file.name))
    title = soup.title.get_text() if soup.title else ""
    _drop_hidden(soup)
    builder = Builder(file)
    main = _main_content(soup)
    _walk(builder, main, 0)
    headings = [fold(tag.get_text()) for tag in main.find_all("h1")]
    if len(headings) == 1:  # "Copper | Sheep Association" is a tab's label, the only <h1> is the page's name
        title = headings[0]
    return (builder.build("text/html", title=title),)


def add_html(builder: Builder, html: str) -> None:
    """Add the blocks of a fragment of HTML to ``builder``."""
    soup = _parse(html)
    _drop_hidden(soup)
    _walk(builder, soup, 0)


def inline_text(html: str) -> tuple[str, list[str]]:
    """Plain text and link targets of a fragment without block structure."""
    soup = _parse(html)
    _drop_hidden(soup)
    links: list[str] = []
    return "".join(_inline(soup, links)), links


def _parse(html: str) -> BeautifulSoup:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fragment may look like a file name or like XML to the parser
        return BeautifulSoup(html, "lxml")


def _is_dropped(tag: Tag) -> bool:
    return _DROPPED.fullmatch(tag.name) is not None


def _is_block(tag: Tag) -> bool:
    return _BLOCK_NAMES.fullmatch(tag.name) is not None


def _drop_hidden(soup: BeautifulSoup) -> None:
    doomed: list[Tag] = list(soup.find_all(_is_dropped))
    whitened: set[int] = set()
    coloured: set[int] = set()  # what a rule gives a background
    for selector, body in _rules(soup):
        if _HIDDEN.search(body):
            doomed.extend(_selected(soup, selector))
        if _BACKGROUND.search(body):
            coloured.update(map(id, _selected(soup, selector)))
        elif _WHITE.search(body):
            whitened.update(map(id, _selected(soup, selector)))
    for tag in soup.find_all(True):
        style = str(tag.get("style") or "")
        hidden = tag.has_attr("hidden") or tag.get("aria-hidden") == "true" or _HIDDEN.search(style)
        white = (_WHITE.search(style) or id(tag) in whitened) and not any(
            _has_background(node) or id(node) in coloured for node in (tag, *tag.parents)
        )
        footnote_mark = tag.name == "sup" and re.fullmatch(r"\s*(?:\[\s*\w{1,6}\s*\]|[*†‡])\s*", tag.get_text())
        if hidden or white or footnote_mark:
            doomed.append(tag)
    for tag in doomed:
        if not tag.decomposed and tag.name not in ("html", "body"):
            tag.decompose()


def _rules(soup: BeautifulSoup) -> Iterator[tuple[str, str]]:
    for sheet in soup.find_all("style"):
        for selector, body in _RULES.findall(re.sub(r"/\*.*?\*/", "", sheet.get_text(), flags=re.S)):
            if ":" not in selector:
                yield selector.strip(), body


def _selected(soup: BeautifulSoup, selector: str) -> list[Tag]:
    try:
        return list(soup.select(selector, limit=10_000))
    except (SelectorSyntaxError, NotImplementedError):  # a selector that soupsieve does not know
        return []


def _has_background(tag: Tag) -> bool:
    return bool(_BACKGROUND.search(str(tag.get("style") or ""))) or tag.has_attr("bgcolor")


def _main_content(soup: BeautifulSoup) -> Tag:
    body = soup.body or soup
    whole = len(body.get_text())
    articles = body.find_all("article")
    for tag in (body.find("main"), body.find(None, {"role": "main"}), articles[0] if len(articles) == 1 else None):
        if isinstance(tag, Tag) and len(tag.get_text()) * 4 >= whole:  # an empty <main> is filled by a script
            return tag
    for tag in body.find_all(["header", "footer"], recursive=True):
        if not tag.decomposed and tag.find_parent("article") is None and tag.find("h1") is None:
            tag.decompose()
    return body


def _walk(builder: Builder, node: Tag, depth: int, level: int = -1) -> None:
    """Add ``node``'s children as blocks; runs of inline content between blocks are paragraphs."""
    run: list[str] = []
    links: list[str] = []
    kind: BlockKind = "list_item" if node.name == "li" else "paragraph"
    mark = _item_number(node) if node.name == "li" else ""

    def flush() -> None:
        nonlocal mark
        text = fold("".join(run))
        if text:
            builder.add(kind, mark + text, level=max(level, 0) if kind == "list_item" else 0, links=links)
            mark = ""
        run.clear()
        links.clear()

    for child in node.children:
        if not isinstance(child, Tag):
            run.extend(_inline(child, links))
            continue
        name = child.name
        if not _is_block(child) and not (depth < _DEPTH and child.find(_is_block)):
            run.extend(_inline(child, links))
            continue
        flush()
        if re.fullmatch("h[1-6]", name):
            builder.add("heading", "".join(_inline(child, links)), level=int(name[1]), links=links)
            links.clear()
        elif name == "pre":
            builder.add("code", child.get_text(), keep_lines=True)
        elif name == "table" and not child.find("table"):
            _table(builder, child)
        elif name == "dl" and child.find("dt", recursive=False):
            _definitions(builder, child, level + 1)
        elif depth >= _DEPTH:
            run.extend(_inline(child, links))
        elif name in ("ul", "ol"):
            _walk(builder, child, depth + 1, level + 1)
        elif name == "p" and kind == "list_item":
            run.extend(_inline(child, links))
            flush()
        else:
            _walk(builder, child, depth + 1, level)
    flush()


def _item_number(item: Tag) -> str:
    """``3. `` for an item of an ordered list: rules are cited by their numbers."""
    if item.parent is None or item.parent.name != "ol":
        return ""
    start = str(item.parent.get("start") or "1")
    before = sum(1 for sibling in item.previous_siblings if isinstance(sibling, Tag) and sibling.name == "li")
    return f"{(int(start) if start.isdigit() else 1) + before}. "


def _definitions(builder: Builder, node: Tag, level: int) -> None:
    term = ""
    for child in node.find_all(["dt", "dd"], recursive=False):
        links: list[str] = []
        text = fold("".join(_inline(child, links)))
        if child.name == "dt":
            term = text
        elif text:
            builder.add("list_item", f"{term.rstrip(':')}: {text}" if term else text, level=level, links=links)


def _table(builder: Builder, table: Tag) -> None:
    caption = table.find("caption")
    if isinstance(caption, Tag):
        builder.add("paragraph", caption.get_text())
    rows: list[tuple[list[str], list[str], bool]] = []
    pending: dict[int, tuple[int, str]] = {}  # column -> rows still to fill, text of a cell that spans rows
    for line in table.find_all("tr"):
        cells: list[str] = []
        links: list[str] = []
        tags = list(line.find_all(["td", "th"], recursive=False))
        for cell in tags:
            _fill(pending, cells)
            text = fold("".join(_inline(cell, links)))
            for _ in range(_span(cell, "colspan")):
                if (down := _span(cell, "rowspan")) > 1:
                    pending[len(cells)] = (down - 1, text)
                cells.append(text)
        _fill(pending, cells)
        if any(cells):
            heads = (bool(tags) and all(cell.name == "th" for cell in tags)) or line.find_parent("thead") is not None
            rows.append((cells, links, heads))
    header: list[str] = []
    if rows and (rows[0][2] or looks_like_header([cells for cells, _, _ in rows])):
        header = rows.pop(0)[0]
    for cells, links, _ in rows[: builder.file.limits.rows]:
        unique = [cell for i, cell in enumerate(cells) if not (i and len(set(cells)) == 1)]  # one cell across the table
        builder.add("table_row", row_text([] if len(unique) < len(cells) else header, unique), links=links)
    if len(rows) > builder.file.limits.rows:
        builder.cut(f"only the first {builder.file.limits.rows:,} rows of a table were read")


def _fill(pending: dict[int, tuple[int, str]], cells: list[str]) -> None:
    while len(cells) in pending:
        left, text = pending.pop(len(cells))
        if left > 1:
            pending[len(cells)] = (left - 1, text)
        cells.append(text)


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name) or "1")
    return min(max(int(value), 1), _SPAN_LIMIT) if value.isdecimal() else 1


def _inline(node: PageElement, links: list[str]) -> Iterator[str]:
    """The text below ``node``, with a space around blocks; iterative, because nesting may be deep."""
    stack: list[PageElement | str] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, Tag):
            if item.name == "br":
                yield "\n"
                continue
            if item.name == "img":
                yield str(item.get("alt") or "")
                continue
            target = str(item.get("href") or "") if item.name == "a" else ""
            if target and not re.match(r"\s*(?:#|javascript:|data:)", target, re.I):
                links.append(target)
            if item.name == "sup" and re.fullmatch(r"[-+−]?[\dn]{1,3}", item.get_text().strip()):
                yield item.get_text().strip().translate(_SUPERSCRIPT)  # 10² must not become 102
                continue
            space = " " if _is_block(item) else ""
            stack.append(space)
            stack.extend(reversed(list(item.children)))
            yield space
        elif isinstance(item, (Stylesheet, Script, TemplateString)):
            continue
        elif not isinstance(item, PreformattedString):  # comments, declarations
            yield str(item)
