"""Writes a report's tables, findings and plots as Markdown, as one HTML page without outside parts, and as CSV.

Every text is escaped: names, questions and answers come from files. It computes no figure.
"""

from __future__ import annotations

import base64
import csv
import html
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lqr.evaluation.integrity_findings import Finding
from lqr.evaluation.report_cells import Cell, Table
from lqr.evaluation.report_plots import Plot
from lqr.evaluation.report_results import Run, row_scores

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}"
    "table{border-collapse:collapse;font-size:.85rem}"
    "th,td{border-bottom:1px solid #ccc;padding:.25rem .6rem;text-align:left}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}.scroll{overflow-x:auto}s{color:#8a1f11}figure{margin:1rem 0}"
    "img{max-width:100%;height:auto}.note{color:#555;font-size:.85rem}"
)
_CSP = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_ROW_COLUMNS = tuple("run id question prediction route gold_route steps seconds label predicted probability".split())


@dataclass(frozen=True, slots=True)
class Report:
    """What is written. ``checks`` are names of checks with what each looks for, ``unchecked`` what could not be checked."""

    title: str
    tables: tuple[Table, ...]
    plots: tuple[Plot, ...]
    findings: tuple[Finding, ...]
    checks: tuple[tuple[str, str], ...]
    unchecked: tuple[str, ...] = ()

    @property
    def faults(self) -> list[Finding]:
        """The findings that strike figures; their place here is the number that stands behind a struck figure."""
        return [finding for finding in self.findings if finding.figures]

    @property
    def notes(self) -> list[Finding]:
        """The others."""
        return [finding for finding in self.findings if not finding.figures]


def integrity_lines(report: Report) -> list[str]:
    """The findings as plain lines: a verdict, faults with their numbers, notes, and what was not checked."""
    count = len(report.faults)
    counted = "1 fault" if count == 1 else f"{count} faults"
    lines = [f"{counted}: what fails is struck through" if count else "no faults found"]
    lines += [f"{place}. {_said(finding)}" for place, finding in enumerate(report.faults, start=1)]
    lines += [f"note: {_said(finding)}" for finding in report.notes]
    return [*lines, *(f"not checked: {what}" for what in report.unchecked)]


def markdown(report: Report) -> str:
    """The report as Markdown; a struck figure is ``~~figure~~ (n)``, n being the number of its reason."""
    parts = [f"# {_md(report.title)}", "## Can the figures be trusted?"]
    parts.append("\n".join(f"- **{_md(name)}**: {_md(what)}" for name, what in report.checks))
    verdict, *lines = integrity_lines(report)
    parts.append(f"**{_md(verdict[0].upper() + verdict[1:])}.**")
    if lines:
        parts.append("\n".join(f"- {_md(line)}" for line in lines))
    for table in report.tables:
        parts.append(f"## {_md(table.title)}")
        parts.append("\n".join(_md_table(table, report)))
        if table.note:
            parts.append(_md(table.note))
    return "\n\n".join(parts) + "\n"


def page(report: Report) -> str:
    """The report as one HTML page: plots are inside it, nothing is fetched, nothing runs."""
    title = html.escape(report.title)
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_CSP}">',
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>',
        f"<style>{_STYLE}</style></head><body><main><h1>{title}</h1><h2>Can the figures be trusted?</h2>",
        "<ul>" + "".join(f"<li><b>{html.escape(n)}</b>: {html.escape(what)}</li>" for n, what in report.checks) + "</ul>",
    ]
    verdict, *lines = integrity_lines(report)
    parts.append(f"<p><strong>{html.escape(verdict[0].upper() + verdict[1:])}.</strong></p>")
    parts.append("<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>")
    for table in report.tables:
        parts.append(f"<h2>{html.escape(table.title)}</h2>{_html_table(table, report)}")
        if table.note:
            parts.append(f'<p class="note">{html.escape(table.note)}</p>')
    if report.plots:
        parts.append("<h2>Plots</h2>")
    for plot in report.plots:
        # As an image: the ids inside several SVGs would clash, and no script in one can run.
        data = base64.b64encode(plot.svg.encode()).decode()
        name = html.escape(plot.title)
        parts.append(f'<figure><img alt="{name}" src="data:image/svg+xml;base64,{data}"><figcaption>{name}</figcaption></figure>')
    return "\n".join([*parts, "</main></body></html>", ""])


def csv_files(report: Report, runs: Sequence[Run]) -> Iterator[tuple[str, str]]:
    """Name and text of each CSV file: one a table, with values as they are and the reason of a struck row, and ``rows.csv``."""
    for table in report.tables:
        rows = []
        for row in table.rows:
            reasons = dict.fromkeys(finding.reason for cell in row for finding in cell.struck)
            rows.append([*map(_value, row), "; ".join(reasons)])
        yield f"{table.name}.csv", _csv([*table.columns, "struck"], rows)
    scores = list(dict.fromkeys(name for run in runs for name in run.score_names()))
    lines = [
        [run.name, *(row.get(name) for name in _ROW_COLUMNS[1:]), *(row_scores(row).get(name) for name in scores)]
        for run in runs
        for row in run.rows
    ]
    yield "rows.csv", _csv([*_ROW_COLUMNS, *scores], lines)


def _said(finding: Finding) -> str:
    figures = f" [{', '.join(finding.figures)}]" if finding.figures and finding.figures != ("*",) else ""
    return f"{finding.run}: {finding.reason} ({finding.check}){figures}"


def _numbers(cell: Cell, report: Report) -> str:
    return ", ".join(str(report.faults.index(finding) + 1) for finding in dict.fromkeys(cell.struck))


def _md_table(table: Table, report: Report) -> Iterator[str]:
    yield "| " + " | ".join(map(_md, table.columns)) + " |"
    yield "|" + "|".join("---:" if place >= table.right else "---" for place in range(len(table.columns))) + "|"
    for row in table.rows:
        shown = (f"~~{_md(c.text)}~~ ({_numbers(c, report)})" if c.struck and c.text else _md(c.text) for c in row)
        yield "| " + " | ".join(shown) + " |"


def _html_table(table: Table, report: Report) -> str:
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in table.columns)
    body = "".join(
        "<tr>" + "".join(_html_cell(cell, report, place >= table.right) for place, cell in enumerate(row)) + "</tr>"
        for row in table.rows
    )
    label = html.escape(table.title)
    inner = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">{inner}</div>'


def _html_cell(cell: Cell, report: Report, right: bool) -> str:
    shown = html.escape(cell.text)
    if cell.struck and cell.text:
        reasons = html.escape("; ".join(dict.fromkeys(finding.reason for finding in cell.struck)))
        shown = f'<s title="{reasons}">{shown}</s> <sup>({_numbers(cell, report)})</sup>'
    return f'<td class="n">{shown}</td>' if right else f"<td>{shown}</td>"


def _md(value: str) -> str:
    """Plain text in Markdown: on one line, with nothing that Markdown or HTML would take for its own."""
    return re.sub(r"([\\`*_~\[\]<>|#$!])", r"\\\1", " ".join(value.split()))


def _value(cell: Cell) -> object:
    return cell.text if cell.value is None else cell.value


def _csv(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_harmless(value) for value in row] for row in rows)
    return out.getvalue()


def _harmless(value: object) -> object:
    """A spreadsheet takes a text that begins like a formula for one; an apostrophe before it says that it is a text."""
    if isinstance(value, float) and value != value:
        return ""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
