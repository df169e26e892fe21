"""Reads Markdown (CommonMark with GFM tables) and its YAML front matter.

Emphasis and links become plain text, link targets are kept in ``Block.links``; raw HTML goes through the HTML
reader, so that hidden text stays out. It does not resolve links: the graph does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from lqr.corpus.readers.base import Builder, RawFile, json_safe, row_text
from lqr.corpus.readers.encoding import decode
from lqr.corpus.readers.html import add_html, inline_text
from lqr.errors import ReadError
from lqr.types import Document

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
_KEYS = re.compile(r"(?:\s*|\s*#.*|\s+\S.*|-\s.*|[\w.-]+\s*:.*)")
_FRONT_LIMIT = 65536  # characters


class _Loader(yaml.SafeLoader):
    """The safe loader without aliases, which can grow a small file beyond all bounds."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Refuse an alias, else go on as the safe loader does."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not read")
        return super().compose_node(parent, index)


def read(file: RawFile) -> tuple[Document, ...]:
    """One document of ``file``; its title is the front matter's, else the first heading, else the file's name.

    Raises:
        ReadError: the front matter is not valid YAML, or the file holds no text.
    """
    text = decode(file.data, file.name).replace("\r\n", "\n").replace("\r", "\n")
    metadata, body = _front_matter(text, file.name)
    builder = Builder(file)
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    _add_tokens(builder, parser, parser.parse(body))
    title = str(metadata.pop("title", None) or "")
    return (builder.build("text/markdown", title=title, metadata=metadata),)


def _front_matter(text: str, name: str) -> tuple[dict[str, Any], str]:
    match = _FRONT.match(text)
    # Two thematic breaks with prose between them are not front matter.
    if not match or not all(_KEYS.fullmatch(line) for line in match.group(1).split("\n")):
        return {}, text
    if len(match.group(1)) > _FRONT_LIMIT:
        raise ReadError(f"{name}: its front matter is longer than {_FRONT_LIMIT:,} characters; shorten it")
    try:
        loaded = yaml.load(match.group(1), Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" on line {mark.line + 2}" if mark else ""
        raise ReadError(f"{name}: its front matter is not valid YAML{where}; quote values that hold a colon") from error
    if loaded is None:
        return {}, text[match.end() :]
    return (json_safe(loaded), text[match.end() :]) if isinstance(loaded, dict) else ({}, text)


def _add_tokens(builder: Builder, parser: MarkdownIt, tokens: Sequence[Token]) -> None:
    """Walk the flat token stream; only what changes a block's kind is tracked."""
    lists: list[int | None] = []  # one entry per open list: the next number, or None for bullets
    marker = ""  # "3. " until the item's first text is written: rules are cited by their numbers
    heading = 0
    header: list[str] = []
    row: list[str] = []
    links: list[str] = []
    in_head = in_cell = False
    for token in tokens:
        match token.type:
            case "ordered_list_open":
                lists.append(int(token.attrGet("start") or 1))
            case "bullet_list_open":
                lists.append(None)
            case "ordered_list_close" | "bullet_list_close":
                lists.pop()
            case "list_item_open":
                number = lists[-1]
                marker = "" if number is None else f"{number}. "
                lists[-1] = None if number is None else number + 1
            case "heading_open":
                heading = int(token.tag[1])
            case "heading_close":
                heading = 0
            case "thead_open" | "thead_close":
                in_head = token.type == "thead_open"
            case "tr_open":
                row, links = [], []
            case "th_open" | "td_open" | "th_close" | "td_close":
                in_cell = token.type.endswith("open")
            case "tr_close" if in_head:
                header = row
            case "tr_close":
                builder.add("table_row", row_text(header, row), links=links)
            case "inline":
                text, targets = _inline(parser, token)
                if in_cell:
                    row.append(text)
                    links.extend(targets)
                elif heading:
                    builder.add("heading", text, level=heading, links=targets)
                elif lists:
                    builder.add("list_item", marker + text, level=len(lists) - 1, links=targets)
                    marker = ""
                else:
                    builder.add("paragraph", text, links=targets)
            case "fence" | "code_block":
                builder.add("code", token.content, keep_lines=True)
            case "html_block":
                add_html(builder, token.content)


def _inline(parser: MarkdownIt, token: Token) -> tuple[str, list[str]]:
    """Plain text and link targets of one inline token."""
    children = token.children or []
    if any(child.type == "html_inline" for child in children):
        return inline_text(parser.renderer.render([token], parser.options, {}))
    text = "".join(_texts(children))
    return text, [str(child.attrGet("href")) for child in children if child.type == "link_open" and child.attrGet("href")]


def _texts(children: Sequence[Token]) -> Iterator[str]:
    for child in children:
        if child.type in ("text", "code_inline", "image"):  # an image's content is its alternative text
            yield child.content
        elif child.type in ("softbreak", "hardbreak"):
            yield "\n"
