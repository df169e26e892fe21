"""An exchange as HTML: question, answer, sources, and what can be done with it. Only strings in, only our own tags out.

Reads the dictionary form of an answer (what the browser keeps), so that a reload shows exactly what was shown before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lqr.ui import markup, reasons
from lqr.ui.exchange import Exchange
from lqr.ui.markup import details, escape
from lqr.ui.texts import Texts
from lqr.ui.trace import trace

REASONS = ("bad_wrong", "bad_missing", "bad_beside", "bad_source", "bad_refused")  # why a thumb goes down


def welcome(title: str, description: str, examples: Sequence[str], texts: Texts) -> str:
    """The empty page: what this collection is about, and questions to start with."""
    buttons = "".join(f'<li><button type="button" dir="auto" data-ask>{escape(example)}</button></li>' for example in examples)
    return (
        f'<section class="welcome"><h2>{escape(title)}</h2><p class="lead">{escape(description)}</p>'
        + (f'<h3>{escape(texts.try_one)}</h3><ul class="examples">{buttons}</ul>' if buttons else "")
        + "</section>"
    )


def exchange(index: int, item: Exchange, texts: Texts, *, last: bool, busy: bool = False, rated: bool = False) -> str:
    """One question with its answer.

    Args:
        index: its place in the conversation, which names its parts (``s<index>-<n>`` is source n).
        last: whether it can be tried again and edited.
        busy: whether the answer is still being written.
        rated: whether the page takes feedback.
    """
    edit = "" if busy or not last else _action("edit", texts.edit, f' data-question="{escape(item.question)}"')
    parts = [
        f'<header class="question"><h2 class="hidden">{escape(texts.you)}</h2>'
        f'<div class="said">{markup.paragraphs(item.question)}</div>{edit}</header>',
        f'<h3 class="hidden">{escape(texts.answer)}</h3><div class="answer">{_text(index, item, texts)}</div>',
    ]
    if item.error:
        parts.append(f'<p class="notice" role="alert">{escape(item.error)}</p>')
    if item.stopped:
        parts.append(f'<p class="notice">{escape(texts.stopped)}</p>')
    if not busy:
        parts.append(_below(index, item, texts, last=last, rated=rated))
        parts.append(sources(index, item, texts))
        if item.answer:
            parts.append("" if item.fixed else trace(index, item, texts))
            parts.append(_suggestions(item.answer.get("suggestions", ()), texts) if last else "")
    return f'<article class="exchange{" writing" if busy else ""}" data-index="{index}">{"".join(parts)}</article>'


def _text(index: int, item: Exchange, texts: Texts) -> str:
    if item.answer is None:
        return markup.answer(item.draft, (), range(1, 100), "", texts)
    numbers = {source["number"] for source in item.answer["sources"]}
    return markup.answer(item.text, item.answer["claims"], numbers, f"s{index}-", texts)


def _action(name: str, label: str, more: str = "") -> str:
    return f'<button type="button" class="quiet" data-action="{name}"{more}>{escape(label)}</button>'


def _below(index: int, item: Exchange, texts: Texts, *, last: bool, rated: bool) -> str:
    """What is under an answer: confidence with its reason, how its sentences are supported, and what can be done with it."""
    out = []
    if item.answer:
        out.append("" if item.fixed else _confidence(item.answer, texts))
        count = len(item.answer["sources"])
        if count:
            label = f"{escape(texts.sources)} <span>{count}</span>"
            out.append(f'<button type="button" class="quiet show-sources" data-action="sources">{label}</button>')
    if item.text:
        more = f' data-done="{escape(texts.copied)}" data-copy="{escape(plain(item, texts))}"'
        out.append(_action("copy", texts.copy, more))
    if last:
        out.append(_action("retry", texts.retry))
    if rated and item.answer and not item.fixed:
        out.append(_thumbs(index, item, texts))
    return f'<div class="below">{"".join(out)}</div>'


def _confidence(answer: Mapping[str, Any], texts: Texts) -> str:
    level = answer["confidence"].get("level")
    words = {"rich": texts.rich, "thin": texts.thin, "none": texts.none}
    if level not in words:
        return ""
    reason = reasons.confidence(answer, texts)
    why = f'<span class="reason">{escape(reason)}</span>' if reason else ""
    support = reasons.claims(answer)
    counts = "".join(
        f'<span class="count"><span class="support" data-support="{name}" aria-hidden="true"></span>'
        f"{support[name]} {escape(getattr(texts, name))}</span>"
        for name in reasons.SUPPORTS
        if support[name]
    )
    return (
        f'<p class="confidence" data-level="{level}"><span class="mark" aria-hidden="true"></span>'
        f"<strong>{escape(words[level])}</strong>{why}</p>"
        + (f'<p class="claims"><span class="what">{escape(texts.claims)}: </span>{counts}</p>' if counts else "")
    )


def _thumbs(index: int, item: Exchange, texts: Texts) -> str:
    """Two thumbs; the lower one asks what is wrong. The form sends nothing by itself: ``page.js`` reads it."""
    buttons = "".join(
        f'<button type="button" class="quiet thumb" data-action="rate" data-rating="{name}" aria-label="{escape(label)}" '
        f'title="{escape(label)}" aria-pressed="{"true" if item.rating == name else "false"}"></button>'
        for name, label in (("up", texts.good), ("down", texts.bad))
    )
    choices = "".join(
        f'<label><input type="checkbox" name="{name}"> {escape(getattr(texts, name))}</label>'
        for name in REASONS
        if name != "bad_refused" or (item.answer and item.answer.get("refused"))
    )
    comment = f"comment-{index}"
    return (
        f'<span class="thumbs">{buttons}</span>'
        f'<form class="why-bad" hidden><fieldset><legend>{escape(texts.bad_why)}</legend>{choices}</fieldset>'
        f'<label for="{comment}">{escape(texts.bad_comment)}</label>'
        f'<textarea id="{comment}" name="comment" rows="2" maxlength="1000" dir="auto"></textarea>'
        f"<p><small>{escape(texts.feedback_note)}</small></p>"
        f'<button type="button" class="quiet" data-action="rate-send">{escape(texts.feedback_send)}</button></form>'
    )


def plain(item: Exchange, texts: Texts) -> str:
    """What "Copy" copies: the answer and, numbered, where it comes from."""
    lines = [item.text]
    if item.answer and item.answer["sources"]:
        lines += ["", f"{texts.sources}:"]
        for source in item.answer["sources"]:
            lines.append(f"[{source['number']}] {_place(source)}")
            lines += [f"    {reference}" for reference in source.get("references", ())]
    return "\n".join(lines)


def _place(source: Mapping[str, Any]) -> str:
    return " › ".join([str(source.get("title", "")), *source.get("section", ())])


def sources(index: int, item: Exchange, texts: Texts) -> str:
    """The cards of an answer's sources; empty for an exchange without an answer."""
    if item.answer is None or item.fixed:
        return ""
    cards = "".join(_card(index, source, texts) for source in item.answer["sources"])
    body = cards or f'<p class="empty">{escape(texts.no_sources)}</p>'
    return f'<section class="sources" aria-label="{escape(texts.sources)}"><h3>{escape(texts.sources)}</h3>{body}</section>'


def _card(index: int, source: Mapping[str, Any], texts: Texts) -> str:
    number = source["number"]
    trail = [str(part) for part in source.get("section", ())]
    if source.get("page") is not None:
        trail.append(texts.page.format(page=source["page"]))
    place = f'<h4 dir="auto">{escape(source.get("title", ""))}</h4>'
    if trail:
        place += f'<p class="trail">{escape(" › ".join(trail))}</p>'
    passage = markup.highlight(str(source.get("text", "")), source.get("quotes", ()))
    cited = "".join(f"<li>{escape(reference)}</li>" for reference in source.get("references", ()))
    references = details("references", texts.references, f"<ul>{cited}</ul>") if cited else ""
    actions = f'<button type="button" class="quiet" data-open="{number}">{escape(texts.open_document)}</button>'
    address = markup.web_address(source.get("url"))
    if address:
        actions += f'<a class="quiet" href="{address}" target="_blank" rel="noopener noreferrer">{escape(texts.web)}</a>'
    label = escape(texts.source.format(number=number))
    return (
        f'<article class="source" id="s{index}-{number}" tabindex="-1" aria-label="{label}">'
        f'<header><span class="number" aria-hidden="true">{number}</span><div>{place}</div></header>'
        f'<blockquote dir="auto">{passage}</blockquote>{references}<p class="open">{actions}</p></article>'
    )


def _suggestions(suggestions: Sequence[Any], texts: Texts) -> str:
    if not suggestions:
        return ""
    buttons = "".join(f'<li><button type="button" dir="auto" data-ask>{escape(text)}</button></li>' for text in suggestions)
    title = escape(texts.suggestions)
    return f'<nav class="suggestions" aria-label="{title}"><h3>{title}</h3><ul>{buttons}</ul></nav>'
