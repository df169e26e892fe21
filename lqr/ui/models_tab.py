"""The Models tab: how this server's answers measure up, the cards of the installed models, and how they were measured.

Cards and results are read from files of the program. Markdown is rendered without raw HTML, pictures and links that are
not http(s); JSON becomes tables of what it holds.
"""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradio as gr
from gradio.context import get_render_context

from lqr.service.watch import WatchedPipeline
from lqr.settings import ROOT
from lqr.ui.library import texts_of
from lqr.ui.markup import escape, plain_text, web_address
from lqr.ui.running import running
from lqr.ui.texts import Texts

if TYPE_CHECKING:
    from lqr.app import Application

log = logging.getLogger(__name__)
LARGEST = 2 * 2**20  # bytes of a picture; a card of text is far below
LARGEST_JSON = 32 * 2**20  # result files hold every row
PICTURES = {".png": "image/png", ".svg": "image/svg+xml"}
SKIPPED = frozenset({"rows", "settings", "versions"})  # of a result file: what is no summary
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(frozen=True)
class ModelsTab:
    """Builds the tab. ``results`` is where benchmarks leave their figures; it may be missing.

    Files are read once for each language: result files are large, and every visitor loads the page.
    """

    application: Application
    results: Path = ROOT / "benchmarks" / "results"
    _shown: dict[str, str] = field(default_factory=dict)

    def build(self) -> None:
        """The tab's content, inside the ``gr.Tab`` being built."""
        chart = gr.HTML("", elem_id="running", apply_default_css=False)
        shown = gr.HTML("", elem_id="models", apply_default_css=False)
        quietly: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
        gr.on(None, self.show, [], [shown], **quietly)
        tab = get_render_context()
        if isinstance(tab, gr.Tab):  # answers are given while the page is open: drawn again whenever the tab is
            tab.select(self.running, [], [chart], **quietly)
        gr.on(None, self.running, [], [chart], **quietly)

    def running(self, request: gr.Request) -> str:
        """The chart of the answers since the start; empty where nobody watches over the pipeline, so nothing is counted."""
        pipeline = self.application.pipeline
        if not isinstance(pipeline, WatchedPipeline):
            return ""
        recent = pipeline.watch.recent
        return running(recent.points, recent.total, texts_of(request))

    def show(self, request: gr.Request) -> str:
        """All cards, then the results."""
        texts = texts_of(request)
        if texts.language not in self._shown:
            self._shown[texts.language] = self._read(texts)
        return self._shown[texts.language]

    def _read(self, texts: Texts) -> str:
        parts = [_model(folder, texts) for folder in _folders(self.application.settings.models)]
        cards = "".join(filter(None, parts)) or f'<p class="note">{escape(texts.models_none)}</p>'
        files = sorted(self.results.glob("*.json")) if self.results.is_dir() else []
        measured = "".join(_results(file, texts) for file in files) + (_pictures(self.results) if files else "")
        heading = f"<h3>{escape(texts.benchmarks)}</h3>" if measured else ""
        return f'<p class="lead">{escape(texts.models_lead)}</p>{cards}{heading}{measured}'


def _folders(models: Path) -> list[Path]:
    return sorted(folder for folder in models.iterdir() if folder.is_dir()) if models.is_dir() else []


def _model(folder: Path, texts: Texts) -> str:
    """One model, unfolded by the reader; empty for a folder without card and figures."""
    card, figures = _text(folder / "README.md"), _json(folder / "evaluation.json")
    parts = []
    if card:
        parts.append(f"<details open><summary>{escape(texts.card)}</summary>{markdown(card)}</details>")
    if figures:
        parts.append(f"<details><summary>{escape(texts.evaluation)}</summary>{tables(figures)}</details>")
    pictures = _pictures(folder)
    if not parts and not pictures:
        return ""
    return f'<details class="model"><summary><h3>{escape(folder.name)}</h3></summary>{"".join(parts)}{pictures}</details>'


def _results(file: Path, texts: Texts) -> str:
    raw = _json(file)
    kept = {key: value for key, value in raw.items() if key not in SKIPPED}
    if not kept:
        return ""
    return f'<details class="model"><summary><h4>{escape(file.stem)}</h4></summary>{tables(kept)}</details>'


def markdown(text: str) -> str:
    """A card as HTML that holds nothing but text, headings, lists, tables, code and links to the web."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    reader.validateLink = lambda url: web_address(url) is not None  # type: ignore[method-assign]
    html = str(reader.render(_FRONT.sub("", plain_text(text))))
    # Under the tab's own headings; a link opens beside the page and tells the other side nothing.
    html = re.sub(r"<(/?)h([1-6])>", lambda m: f"<{m[1]}h{min(int(m[2]) + 3, 6)}>", html)
    html = html.replace("<table>", '<div class="table" tabindex="0"><table>').replace("</table>", "</table></div>")
    return f'<div class="card">{html.replace("<a href=", _LINK)}</div>'


_LINK = '<a target="_blank" rel="noopener noreferrer nofollow" href='


def tables(figures: Mapping[str, Any], title: str = "") -> str:
    """Nested JSON as tables: things that are measured alike become the rows of one, single values those of another."""
    single = {key: value for key, value in figures.items() if not isinstance(value, Mapping | list)}
    nested = {key: value for key, value in figures.items() if isinstance(value, Mapping) and value}
    flat = {key: value for key, value in nested.items() if not any(isinstance(v, Mapping | list) for v in value.values())}
    out = f"<h5>{escape(title)}</h5>" if title and (single or flat) else ""
    if single:
        rows = "".join(f'<tr><th scope="row">{escape(key)}</th><td>{_cell(value)}</td></tr>' for key, value in single.items())
        out += f'<div class="table" tabindex="0"><table><tbody>{rows}</tbody></table></div>'
    if flat:
        columns = list(dict.fromkeys(key for value in flat.values() for key in value))
        head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
        rows = "".join(
            f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{_cell(value.get(c))}</td>" for c in columns)}</tr>'
            for name, value in flat.items()
        )
        head = f"<thead><tr><td></td>{head}</tr></thead>"
        out += f'<div class="table" tabindex="0"><table>{head}<tbody>{rows}</tbody></table></div>'
    for key, value in nested.items():
        if key not in flat:
            out += tables(value, f"{title} › {key}" if title else key)
    return out


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return escape(f"{value:.4g}")
    return "" if value is None else escape(value)


def _pictures(folder: Path) -> str:
    """Plots, inside the page: no address of the server is needed, and a script in an SVG does not run in an image."""
    shown = []
    for file in sorted(folder.iterdir()):
        kind = PICTURES.get(file.suffix.lower())
        if kind and file.is_file() and file.stat().st_size <= LARGEST:
            data = base64.b64encode(file.read_bytes()).decode()
            name = escape(file.stem.replace("_", " ").replace("-", " "))
            shown.append(f'<figure><img src="data:{kind};base64,{data}" alt="{name}"><figcaption>{name}</figcaption></figure>')
    return "".join(shown)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")[:LARGEST] if file.is_file() else ""
    except (OSError, UnicodeDecodeError):
        log.warning("%s can't be read", file.name)
        return ""


def _json(file: Path) -> dict[str, Any]:
    try:
        raw = json.loads(file.read_text(encoding="utf-8")) if file.is_file() and file.stat().st_size <= LARGEST_JSON else {}
    except (OSError, ValueError, RecursionError):
        log.warning("%s/%s is no JSON", file.parent.name, file.name)
        return {}
    return raw if isinstance(raw, dict) else {}
