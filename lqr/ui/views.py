"""An exchange as HTML: question, answer, sources, and how it came about. Only strings in, only our own tags out.

Reads the dictionary form of an answer (what the browser keeps), so that a reload shows exactly what was shown before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lqr.ui import markup
from lqr.ui.exchange import Exchange
from lqr.ui.markup import escape
from lqr.ui.texts import Texts


def welcome(title: str, description: str, examples: Sequence[str], texts: Texts, *, previous: bool = False) -> str:
    """The empty page: what this collection is about, and questions to start with."""
    buttons = "".join(f'<li><button type="button" data-ask>{escape(example)}</button></li>' for example in examples)
    back = f'<button type="button" class="quiet" data-restore>{escape(texts.bring_back)}</button>' if previous else ""
    return (
        f'<section class="welcome"><h2>{escape(title)}</h2><p class="lead">{escape(description)}</p>{back}'
        + (f'<h3>{escape(texts.try_one)}</h3><ul class="examples">{buttons}</ul>' if buttons else "")
        + "</section>"
    )


def exchange(index: int, item: Exchange, texts: Texts, *, last: bool, busy: bool = False) -> str:
    """One question with its answer.

    Args:
        index: its place in the conversation, which names its parts (``s<index>-<n>`` is source n).
        last: whether it can be tried again and edited.
        busy: whether the answer is still being written.
    """
    edit = "" if busy or not last else _action("edit", texts.edit)
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
        parts.append(_below(item, texts, last=last))
        parts.append(sources(index, item, texts))
        if item.answer:
            parts.append(_trace(item.answer["trace"], texts))
            parts.append(_suggestions(item.answer.get("suggestions", ()), texts) if last else "")
    return f'<article class="exchange{" writing" if busy else ""}" data-index="{index}">{"".join(parts)}</article>'


def _text(index: int, item: Exchange, texts: Texts) -> str:
    if item.answer is None:
        return markup.answer(item.draft, (), range(1, 100), "", texts)
    numbers = {source["number"] for source in item.answer["sources"]}
    return markup.answer(item.text, item.answer["claims"], numbers, f"s{index}-", texts)


def _action(name: str, label: str) -> str:
    return f'<button type="button" class="quiet" data-action="{name}">{escape(label)}</button>'


def _below(item: Exchange, texts: Texts, *, last: bool) -> str:
    """The line under an answer: confidence, then what can be done with it."""
    out = []
    if item.answer:
        confidence = item.answer["confidence"]
        level = confidence.get("level")
        words = {"rich": texts.rich, "thin": texts.thin, "none": texts.none}
        if level in words:
            reason = str(confidence.get("reason") or "")
            why = f'<span class="reason">{escape(reason)}</span>' if reason else ""
            out.append(
                f'<p class="confidence" data-level="{level}"><span class="mark" aria-hidden="true"></span>'
                f"<strong>{escape(words[level])}</strong>{why}</p>"
            )
        count = len(item.answer["sources"])
        if count:
            label = f"{escape(texts.sources)} <span>{count}</span>"
            out.append(f'<button type="button" class="quiet show-sources" data-action="sources">{label}</button>')
    if item.text:
        out.append(
            f'<button type="button" class="quiet" data-action="copy" data-done="{escape(texts.copied)}" '
            f'data-copy="{escape(plain(item, texts))}">{escape(texts.copy)}</button>'
        )
    if last:
        out.append(_action("retry", texts.retry))
    return f'<div class="below">{"".join(out)}</div>'


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
    if item.answer is None:
        return ""
    cards = "".join(_card(index, source, texts) for source in item.answer["sources"])
    body = cards or f'<p class="empty">{escape(texts.no_sources)}</p>'
    return f'<section class="sources" aria-label="{escape(texts.sources)}"><h3>{escape(texts.sources)}</h3>{body}</section>'


def _card(index: int, source: Mapping[str, Any], texts: Texts) -> str:
    number = source["number"]
    trail = [str(part) for part in source.get("section", ())]
    if source.get("page") is not None:
        trail.append(texts.page.format(page=source["page"]))
    place = f"<h4>{escape(source.get('title', ''))}</h4>"
    if trail:
        place += f'<p class="trail">{escape(" › ".join(trail))}</p>'
    passage = markup.highlight(str(source.get("text", "")), source.get("quotes", ()))
    cited = "".join(f"<li>{escape(reference)}</li>" for reference in source.get("references", ()))
    references = _details("references", texts.references, f"<ul>{cited}</ul>") if cited else ""
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
    buttons = "".join(f'<li><button type="button" data-ask>{escape(text)}</button></li>' for text in suggestions)
    title = escape(texts.suggestions)
    return f'<nav class="suggestions" aria-label="{title}"><h3>{title}</h3><ul>{buttons}</ul></nav>'


def _details(name: str, summary: str, body: str) -> str:
    return f'<details class="{name}"><summary>{escape(summary)}</summary>{body}</details>'


def _trace(trace: Mapping[str, Any], texts: Texts) -> str:
    rows: list[tuple[str, str]] = []
    note = str(trace.get("rewrite_note") or "")
    rows.append((texts.standalone, escape(trace.get("standalone", "")) + (f"<br><small>{escape(note)}</small>" if note else "")))
    if trace.get("route"):
        label = texts.route_complex if trace["route"] == "complex" else texts.route_simple
        probability = trace.get("probability")
        if isinstance(probability, int | float):
            label += f" ({texts.probability.format(probability=round(probability, 2))})"
        reason = str(trace.get("route_reason") or "")
        rows.append((texts.route, escape(label) + (f"<br><small>{escape(reason)}</small>" if reason else "")))
    for title, key in ((texts.sub_questions, "sub_questions"), (texts.queries, "queries")):
        if trace.get(key):
            rows.append((title, _list(map(escape, trace[key]))))
    for title, key in ((texts.kept, "kept"), (texts.dropped, "dropped")):
        hits = [_hit(hit) for hit in trace.get(key, ())]
        table = f'<div class="scores"><table><tbody>{"".join(hits)}</tbody></table></div>'
        rows.append((f"{title} ({len(hits)})", table if hits else escape(texts.nothing)))
    if trace.get("removed_citations") or trace.get("replaced_claims"):
        counts = {"citations": trace.get("removed_citations", 0), "claims": trace.get("replaced_claims", 0)}
        rows.append((texts.checks, escape(texts.checks_text.format(**counts))))
    if trace.get("writer"):
        rows.append((texts.writer, escape(trace["writer"])))
    seconds = {str(stage): value for stage, value in trace.get("seconds", {}).items() if isinstance(value, int | float)}
    if seconds:
        rows.append((texts.seconds, ", ".join(f"{escape(stage)} {value:.2f}" for stage, value in seconds.items())))
    body = "".join(f"<dt>{escape(title)}</dt><dd>{value}</dd>" for title, value in rows)
    return _details("trace", texts.how, f"<dl>{body}</dl>")


def _hit(hit: Mapping[str, Any]) -> str:
    why = str(hit.get("why") or "")
    scores = hit.get("scores")
    others = (
        ", ".join(f"{name} {value:.3g}" for name, value in scores.items() if isinstance(value, int | float))
        if isinstance(scores, Mapping)
        else ""
    )
    detail = "; ".join(part for part in (why, others) if part)
    small = f"<br><small>{escape(detail)}</small>" if detail else ""
    return f"<tr><td>{hit['score']:.2f}</td><td>{escape(hit.get('heading', ''))}{small}</td></tr>"


def _list(items: Iterable[str]) -> str:
    return f"<ol>{''.join(f'<li>{item}</li>' for item in items)}</ol>"
