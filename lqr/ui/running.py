"""The running chart of how this server's answers measure up: a line for each figure, and the same numbers as a table.

Drawn as SVG by hand: no chart library is sent to the browser, the colours follow the page's light and dark, and whoever
can't see it reads the table. Takes means over many answers only; knows nothing of any one of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from lqr.service.recent import EVERY, WINDOW, Point
from lqr.ui.markup import escape
from lqr.ui.texts import Texts

WIDTH, HEIGHT = 400, 190  # of the drawing; the page scales it
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 10, 26
FIGURES = ("groundedness", "relevance")


def running(points: Sequence[Point], total: int, texts: Texts) -> str:
    """Chart, summary and table of ``points``, oldest first; a plain sentence before there is one.

    Args:
        total: questions so far; after the first :data:`~lqr.service.recent.EVERY` there is a point.
    """
    heading = f"<h3>{escape(texts.running)}</h3>"
    if not points:
        return f'{heading}<p class="note">{escape(texts.running_none.format(every=EVERY, asked=total))}</p>'
    lead = escape(texts.running_lead.format(window=WINDOW, every=EVERY))
    latest = escape(_said(points[-1], texts))
    explained = escape(texts.running_note)
    return (
        f'{heading}<p class="note">{lead}</p><p class="latest">{latest}</p>'
        f'<div class="both"><figure>{_drawing(points, latest, texts)}{_legend(texts)}</figure>{_table(points, texts)}</div>'
        f'<p class="note">{explained}</p>'
    )


def _names(texts: Texts) -> tuple[str, str]:
    return texts.groundedness, texts.relevance


def _said(point: Point, texts: Texts) -> str:
    return texts.running_latest.format(
        questions=point.questions,
        total=point.total,
        refused=_percent(point.refused),
        groundedness=_percent(point.groundedness),
        relevance=_percent(point.relevance),
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def _drawing(points: Sequence[Point], said: str, texts: Texts) -> str:
    grid = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_y(share):.1f}" y2="{_y(share):.1f}"/>'
        f'<text x="{LEFT - 6}" y="{_y(share) + 4:.1f}" text-anchor="end">{_percent(share)}</text>'
        for share in (0.0, 0.5, 1.0)
    )
    ends = sorted({points[0].total, points[-1].total})
    ticks = "".join(
        f'<text x="{_x(total, points):.1f}" y="{HEIGHT - 6}" text-anchor="{"end" if i else "start"}">{total}</text>'
        for i, total in enumerate(ends)
    )
    lines = "".join(_line(points, name) for name in FIGURES)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="running-title running-said">'
        f'<title id="running-title">{escape(texts.running)}</title><desc id="running-said">{said}</desc>'
        f'<g aria-hidden="true">{grid}{ticks}{lines}</g></svg>'
    )


def _x(total: int, points: Sequence[Point]) -> float:
    first, last = points[0].total, points[-1].total
    return LEFT + (WIDTH - LEFT - RIGHT) * ((total - first) / (last - first) if last > first else 0.0)


def _y(share: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)


def _line(points: Sequence[Point], name: str) -> str:
    """One figure as a line, broken where every question was refused; a dot ends it, and is all there is of one point."""
    places: list[str] = []
    pen = "M"
    dot = ""
    for point in points:
        share = getattr(point, name)
        if share is None:
            pen = "M"
            continue
        x, y = f"{_x(point.total, points):.1f}", f"{_y(share):.1f}"
        places.append(f"{pen}{x} {y}")
        dot = f'<circle class="{name}" cx="{x}" cy="{y}" r="4"/>'
        pen = "L"
    return f'<path class="{name}" d="{" ".join(places)}"/>{dot}' if places else ""


def _legend(texts: Texts) -> str:
    """Which line is which: by its dashes as well as by its colour."""
    keys = "".join(
        f'<span><svg viewBox="0 0 32 8" aria-hidden="true"><path class="{name}" d="M1 4H31"/></svg>{escape(label)}</span>'
        for name, label in zip(FIGURES, _names(texts), strict=True)
    )
    return f"<figcaption>{keys}<span>{escape(texts.running_axis)}</span></figcaption>"


def _table(points: Sequence[Point], texts: Texts) -> str:
    """All points, newest first."""
    columns = (
        texts.running_axis,
        *_names(texts),
        texts.running_refused,
        texts.rich,
        texts.quoted,
        texts.supported,
        texts.partial,
        texts.unsupported,
    )
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    rows = "".join(
        f'<tr><th scope="row">{point.total}</th>'
        + "".join(f"<td>{_percent(share)}</td>" for share in (point.groundedness, point.relevance, point.refused, point.rich))
        + "".join(f"<td>{count}</td>" for count in (point.quoted, point.supported, point.partial, point.unsupported))
        + "</tr>"
        for point in reversed(points)
    )
    label = escape(texts.running)
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{label}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
