"""A conversation with its sources as one file: Markdown to read, JSON to open again (``Conversation.from_json``).

What people and documents wrote is escaped, so that a Markdown reader loads no picture and runs no HTML out of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lqr.ui import reasons
from lqr.ui.exchange import Conversation, Exchange
from lqr.ui.markup import plain_text
from lqr.ui.texts import Texts

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$!&])")
_LINE_START = re.compile(r"^(\s*)([-+=]|\d+[.)])(?=\s|$|=|-)", re.MULTILINE)
_CITATION = re.compile(r"\\\[(\d{1,3})\\\]")


@dataclass(frozen=True, slots=True)
class File:
    """What the browser saves; the server keeps none of it."""

    name: str
    media_type: str
    text: str

    def to_json(self) -> dict[str, str]:
        """The form that ``assets/parcel.js`` takes."""
        return {"name": self.name, "type": self.media_type, "text": self.text}


def as_file(conversation: Conversation, kind: str, title: str, name: str, texts: Texts) -> File:
    """``conversation`` as a file.

    Args:
        kind: ``markdown`` or ``json``.
        title: of the page, named in the Markdown.
        name: of the conversation, as the reader called it; also the file's, with what may not be in one taken out.
    """
    called = plain_text(name).strip() or (conversation.exchanges[0].question if conversation.exchanges else texts.chat)
    stem = re.sub(r"[^\w-]+", "-", called)[:60].strip("-") or "conversation"
    if kind == "markdown":
        return File(f"{stem}.md", "text/markdown", to_markdown(conversation, title, called, texts))
    body = json.dumps({**conversation.to_json(), "title": called[:200]}, ensure_ascii=False, indent=1)
    return File(f"{stem}.json", "application/json", body)


def to_markdown(conversation: Conversation, title: str, name: str, texts: Texts) -> str:
    """The conversation to read: each question with its answer, confidence, and the passages it cites."""
    parts = [f"# {_escape(' '.join(name.split())[:120])}", f"*{_escape(texts.exported.format(title=title))}*"]
    for item in conversation.exchanges:
        parts += list(_exchange(item, texts))
    return "\n\n".join(parts) + "\n"


def _exchange(item: Exchange, texts: Texts) -> Iterator[str]:
    yield f"## {_escape(' '.join(item.question.split()))}"
    if item.text:
        yield _answer(item.text)
    if item.stopped:
        yield f"*{_escape(texts.stopped)}*"
    if item.error:
        yield f"*{_escape(item.error)}*"
    if item.answer is None or item.fixed:
        return
    level = item.answer["confidence"].get("level")
    label = {"rich": texts.rich, "thin": texts.thin, "none": texts.none}.get(level, "")
    why = reasons.confidence(item.answer, texts)
    if label:
        yield f"*{_escape(label)}{': ' + _escape(why) if why else ''}*"
    if item.answer["sources"]:
        yield f"### {_escape(texts.sources)}"
    for source in item.answer["sources"]:
        yield _source(source, texts)


def _source(source: Mapping[str, Any], texts: Texts) -> str:
    place = " › ".join([str(source.get("title", "")), *source.get("section", ())])
    if source.get("page") is not None:
        place += f", {texts.page.format(page=source['page'])}"
    lines = [f"**[{source['number']}] {_escape(place)}**", ""]
    lines += [f"> {line}" for line in _escape(str(source.get("text", ""))).splitlines()]
    if source.get("url"):
        lines += ["", _escape(str(source["url"]))]
    lines += [f"\n- {_escape(reference)}" for reference in source.get("references", ())]
    return "\n".join(lines)


def _answer(text: str) -> str:
    """An answer keeps its own lists and its ``[n]``; all else is escaped."""
    lines = []
    for line in text.splitlines():
        item = re.match(r"(\s*)([-*•]|\d{1,2}[.)])(\s+)", line)
        mark, rest = (item.group(0).replace("•", "-").replace("*", "-"), line[item.end() :]) if item else ("", line)
        lines.append(mark + _CITATION.sub(r"[\1]", _escape(rest)))
    return "\n".join(lines)


def _escape(text: str) -> str:
    return _LINE_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", plain_text(text)))
