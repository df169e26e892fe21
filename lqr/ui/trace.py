"""How an answer came about, as HTML that unfolds: the way first, in plain words, and the numbers for who wants them.

Reads the dictionary form of a trace. Only strings in, only our own tags out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lqr.ui import reasons
from lqr.ui.exchange import Exchange
from lqr.ui.markup import details, escape
from lqr.ui.texts import Texts


def trace(index: int, item: Exchange, texts: Texts) -> str:
    """The fold "How this was answered" of exchange ``index``, which must have an answer."""
    assert item.answer is not None
    way: Mapping[str, Any] = item.answer["trace"]
    rows = [(texts.standalone, _standalone(index, way, texts))]
    if way.get("route"):
        label = texts.route_complex if way["route"] == "complex" else texts.route_simple
        why = reasons.route(way, item.options, texts)
        rows.append((texts.route, f"{escape(label)}<br><small>{escape(why)}</small>"))
    for title, key in ((texts.sub_questions, "sub_questions"), (texts.queries, "queries")):
        if way.get(key) and list(way[key]) != [way.get("standalone")]:
            rows.append((title, _list(map(escape, way[key]))))
    for title, key in ((texts.kept, "kept"), (texts.dropped, "dropped")):
        hits = way.get(key) or ()
        names = dict.fromkeys(_heading(hit) for hit in hits)
        body = _list(names) if names else escape(texts.nothing)
        title = f"{title} ({len(hits)})"
        rows.append((title, body if key == "kept" or not names else details("more", texts.show, body)))
    if way.get("removed_citations") or way.get("replaced_claims"):
        counts = {"citations": way.get("removed_citations", 0), "claims": way.get("replaced_claims", 0)}
        rows.append((texts.checks, escape(texts.checks_text.format(**counts))))
    if chosen := reasons.options(item.options, texts):
        rows.append((texts.asked_with, "<br>".join(map(escape, chosen))))
    numbers = details("numbers", texts.numbers, _list_of_terms(_numbers(item.answer, texts)))
    return details("trace", texts.how, f'<div class="way">{_list_of_terms(rows)}{numbers}</div>')


def _standalone(index: int, way: Mapping[str, Any], texts: Texts) -> str:
    """The question as it was understood, to be changed and asked again."""
    name, note = f"standalone-{index}", str(way.get("rewrite_note") or "")
    return (
        f'<div class="standalone"><label class="hidden" for="{name}">{escape(texts.standalone)}</label>'
        f'<textarea id="{name}" rows="2" dir="auto" aria-describedby="{name}-help">{escape(way.get("standalone", ""))}</textarea>'
        f'<button type="button" class="quiet" data-action="standalone">{escape(texts.standalone_ask)}</button></div>'
        f'<small id="{name}-help">{escape(texts.standalone_help)}</small>'
        + (f"<br><small>{escape(note)}</small>" if note and texts.language == "en" else "")
    )


def _numbers(answer: Mapping[str, Any], texts: Texts) -> list[tuple[str, str]]:
    """Scores, probabilities and times, as the stages gave them."""
    way: Mapping[str, Any] = answer["trace"]
    rows = []
    if isinstance(way.get("probability"), int | float):
        why = escape(way.get("route_reason") or "")
        rows.append((texts.probability, f"{way['probability']:.2f}" + (f"<br><small>{why}</small>" if why else "")))
    reason = str(answer["confidence"].get("reason") or "")
    likely = answer["confidence"].get("probability")
    if reason:
        rows.append((texts.reason, escape(f"{reason} ({likely:.2f})" if isinstance(likely, int | float) else reason)))
    figures = answer.get("evaluation")
    if isinstance(figures, Mapping):
        if isinstance(share := figures.get("groundedness"), int | float):
            rows.append((texts.groundedness, escape(reasons.grounded(share, texts))))
        if isinstance(helps := figures.get("relevance"), int | float):
            rows.append((texts.relevance, f"{helps:.2f}"))
    for title, key in ((texts.kept, "kept"), (texts.dropped, "dropped")):
        if way.get(key):
            body = "".join(_hit(hit, texts) for hit in way[key])
            frame = f'<div class="scores" tabindex="0" role="region" aria-label="{escape(title)}">'
            rows.append((title, f"{frame}<table><tbody>{body}</tbody></table></div>"))
    if way.get("writer"):
        rows.append((texts.writer, escape(way["writer"])))
    seconds = {str(stage): value for stage, value in way.get("seconds", {}).items() if isinstance(value, int | float)}
    if seconds:
        rows.append((texts.seconds, ", ".join(f"{escape(stage)} {value:.2f}" for stage, value in seconds.items())))
    return rows


def _heading(hit: Mapping[str, Any]) -> str:
    return escape(str(hit.get("heading", "")).replace(" > ", " › "))


def _hit(hit: Mapping[str, Any], texts: Texts) -> str:
    why = reasons.reached(str(hit.get("why") or ""), texts)
    scores = hit.get("scores")
    others = (
        ", ".join(f"{name} {value:.3g}" for name, value in scores.items() if isinstance(value, int | float))
        if isinstance(scores, Mapping)
        else ""
    )
    detail = "; ".join(part for part in (why, others) if part)
    small = f"<br><small>{escape(detail)}</small>" if detail else ""
    return f"<tr><td>{hit['score']:.2f}</td><td>{_heading(hit)}{small}</td></tr>"


def _list(items: Iterable[str]) -> str:
    return "<ol>" + "".join(f'<li dir="auto">{item}</li>' for item in items) + "</ol>"


def _list_of_terms(rows: Iterable[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(title)}</dt><dd>{value}</dd>' for title, value in rows)}</dl>"
