"""The page of ``lqr review``: one example at a time, a key for each verdict, every verdict on the disk at once.

Keyboard first: 1 and 0 give the label, space accepts the model's, the right arrow skips, U takes the last verdict back. Keys
pressed before the next example is shown are ignored, so that nothing is judged unseen. The file belongs to all who have the page
open; where each of them stands is kept by the session. Knows nothing of training.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import gradio as gr

from lqr.errors import LqrError
from lqr.training.review import MEANING, PERSON, LabelFile

Action = Literal["yes", "no", "accept", "skip", "undo"]
BUTTONS: tuple[tuple[Action, str], ...] = (
    ("yes", "1 · yes"),
    ("no", "0 · no"),
    ("accept", "Space · accept"),
    ("skip", "→ · skip"),
    ("undo", "U · undo"),
)
STYLE = """
.review {max-width: 46rem; margin: 0 auto; font-size: 1.05rem; line-height: 1.5}
.review .question {font-size: 1.3rem; margin: .5rem 0 1rem}
.review blockquote {border-inline-start: 3px solid; padding-inline-start: 1rem; margin: 0 0 1rem; white-space: pre-wrap}
"""
# Clicks the buttons; waits for another card after each key, at most five seconds.
KEYS = """() => {
  if (window.lqrReviewKeys) return;
  window.lqrReviewKeys = true;
  const buttons = {"1": "yes", "0": "no", " ": "accept", "ArrowRight": "skip", "u": "undo", "U": "undo"};
  const shown = () => document.querySelector("#review-card .review")?.dataset.step;
  let waiting = null, since = 0;
  document.addEventListener("keydown", (event) => {
    const name = buttons[event.key];
    if (!name || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    event.preventDefault();
    if (event.repeat || (waiting !== null && waiting === shown() && Date.now() - since < 5000)) return;
    waiting = shown(); since = Date.now();
    const found = document.getElementById("review-" + name);
    (found?.tagName === "BUTTON" ? found : found?.querySelector("button"))?.click();
  });
}"""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one session is: the row it sees (None: nothing is left), those it judged, latest last, and those it skipped."""

    place: int | None = None
    judged: tuple[int, ...] = ()
    skipped: frozenset[int] = frozenset()
    step: int = 0  # changes with every action, so that the page can tell one card from the next
    note: str = ""


class ReviewPage:
    """The page for one file; ``by`` is the reviewer's name as the file will hold it."""

    def __init__(self, file: LabelFile, by: str = "reviewer") -> None:
        self.file = file
        self.by = PERSON + by

    def start(self) -> Standing:
        """The first row that no person has judged."""
        return self._next(Standing())

    def act(self, standing: Standing, action: Action) -> Standing:
        """What ``action`` leads to. A file that can't be written becomes a note; the row then stays where it is."""
        standing = replace(standing, step=standing.step + 1, note="")
        try:
            if action == "undo":
                return self._undo(standing)
            if standing.place is None:
                return standing
            if action == "skip":
                return self._next(replace(standing, skipped=standing.skipped | {standing.place}))
            label = {"yes": 1, "no": 0}.get(action, self._proposed(standing.place))
            if label is None:
                return replace(standing, note="No model has labelled this one: press 1 or 0.")
            self.file.record(standing.place, label, self.by)
        except (LqrError, OSError) as error:
            return replace(standing, note=f"Not saved: {error}")
        return self._next(replace(standing, judged=(*standing.judged, standing.place)))

    def card(self, standing: Standing) -> str:
        """The row as HTML, every word of the file escaped."""
        progress = self.file.progress()
        share = 100 * progress.reviewed // progress.total
        head = (
            f'<div class="review" data-step="{standing.step}"><p role="status">{progress.reviewed} of {progress.total} reviewed '
            f"({share} %), {progress.corrected} corrected</p>"
            f'<progress max="{progress.total}" value="{progress.reviewed}" aria-label="Reviewed"></progress>'
        )
        note = f'<p role="alert"><strong>{html.escape(standing.note)}</strong></p>' if standing.note else ""
        if standing.place is None:
            left = "; reload the page for those that were skipped" if standing.skipped else ""
            return f"{head}{note}<p>Nothing is left to review{left}.</p></div>"
        row, task = self.file[standing.place], self.file.task(standing.place)
        no, yes = MEANING[task]
        body = f'<p class="question" dir="auto">{html.escape(row["question"])}</p>'
        if task == "relevance":
            title = f"<strong>{html.escape(row['title'])}</strong>\n" if row.get("title") else ""
            body += f'<blockquote dir="auto">{title}{html.escape(row["text"])}</blockquote>'
        said = "".join(
            f"<li>{html.escape(j.by)}: <strong>{j.label}</strong> {html.escape(j.reason)}</li>"
            for j in self.file.judgements(standing.place)
        )
        return f"{head}{note}{body}<p><kbd>1</kbd> {yes}<br><kbd>0</kbd> {no}</p><ul>{said}</ul></div>"

    def build(self) -> gr.Blocks:
        """The page; each button is an endpoint of its own (``/yes``, ``/no``, ``/accept``, ``/skip``, ``/undo``)."""

        def show(standing: Standing) -> tuple[Standing, str]:
            return standing, self.card(standing)

        def press(action: Action, standing: Standing) -> tuple[Standing, str]:
            return show(self.act(standing, action))

        def opened() -> tuple[Standing, str]:
            return show(self.start())

        with gr.Blocks(title=f"Review of {self.file.path.name}", analytics_enabled=False) as blocks:
            standing: Any = gr.State(Standing())
            card = gr.HTML(elem_id="review-card")
            with gr.Row():
                for action, text in BUTTONS:
                    button = gr.Button(text, elem_id=f"review-{action}", variant="primary" if action == "accept" else "secondary")
                    # one queue for all: a verdict is about the card that the one before it has left
                    button.click(
                        partial(press, action),
                        standing,
                        [standing, card],
                        api_name=action,
                        concurrency_id="review",
                        concurrency_limit=1,
                        show_progress="hidden",
                    )
            blocks.load(opened, None, [standing, card], api_name="open", show_progress="hidden")
            blocks.load(None, None, None, js=KEYS)
        return blocks

    def _proposed(self, place: int) -> int | None:
        said = [j for j in self.file.judgements(place) if not j.of_person]
        return said[-1].label if said else None

    def _next(self, standing: Standing) -> Standing:
        places = (place for place in self.file.open_places() if place not in standing.skipped)
        return replace(standing, place=next(places, None))

    def _undo(self, standing: Standing) -> Standing:
        if not standing.judged:
            return replace(standing, note="Nothing to undo.")
        *before, last = standing.judged
        self.file.undo(last)
        return replace(standing, place=last, judged=tuple(before))
