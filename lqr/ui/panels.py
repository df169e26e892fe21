"""The two panels that are the same for every conversation: how to answer, and the conversations kept in the browser.

Only words and controls are rendered here; what is chosen and kept stays in the browser (``assets/composer.js``,
``assets/drawer.js``).
"""

from __future__ import annotations

from collections.abc import Sequence

from lqr.ui.markup import escape
from lqr.ui.options import USUAL
from lqr.ui.texts import Texts


def editing(texts: Texts) -> str:
    """The line over the box while the last question is being changed."""
    return (
        f'<p role="status">{escape(texts.editing)} '
        f'<button type="button" class="quiet" data-cancel-edit>{escape(texts.cancel)}</button></p>'
    )


def settings(texts: Texts, usual_passages: int) -> str:
    """Route, strictness and number of passages, each choice with its effect."""
    passages = sorted({3, usual_passages, 8})
    counts = [(str(USUAL if n == usual_passages else n), str(n), "") for n in passages]
    groups = (
        _choices("route", texts.set_route, [(n, getattr(texts, n), getattr(texts, f"{n}_help")) for n in _ROUTES], "auto")
        + _choices(
            "strictness",
            texts.set_strictness,
            [(n, getattr(texts, n), getattr(texts, f"{n}_help")) for n in _STRICTNESS],
            "balanced",
        )
        + _choices("passages", texts.set_passages, counts, str(USUAL), texts.passages_help)
    )
    return (
        f'<details class="settings"><summary>{escape(texts.settings)}<span class="changed" hidden> ·</span></summary>'
        f'<form class="choices">{groups}<p class="note">{escape(texts.settings_note)} '
        f'<button type="reset" class="quiet">{escape(texts.reset)}</button></p></form></details>'
    )


_ROUTES = ("auto", "simple", "complex")
_STRICTNESS = ("cautious", "balanced", "open")


def _choices(name: str, title: str, options: Sequence[tuple[str, str, str]], usual: str, note: str = "") -> str:
    items = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" if value == usual else ""}>'
        f"<span>{escape(label)}{f' <small>{escape(effect)}</small>' if effect else ''}</span></label>"
        for value, label, effect in options
    )
    small = f"<p><small>{escape(note)}</small></p>" if note else ""
    return f'<fieldset data-name="{name}"><legend>{escape(title)}</legend><div>{items}</div>{small}</fieldset>'


def drawer(texts: Texts) -> str:
    """The frame of the list of conversations; ``drawer.js`` fills the list, as text."""
    words = {
        "rename": texts.rename,
        "delete": texts.delete,
        "sure": texts.delete_sure,
        "none": texts.conversations_none,
        "unfound": texts.conversations_unfound,
        "full": texts.storage_full,
        "bad": texts.import_bad,
    }
    data = "".join(f' data-{name}="{escape(word)}"' for name, word in words.items())
    exports = "".join(
        f'<button type="button" class="quiet" data-export="{kind}">{escape(label)}</button>'
        for kind, label in (("markdown", texts.export_markdown), ("json", texts.export_json), ("print", texts.export_print))
    )
    return (
        f'<div class="drawer" role="dialog" aria-modal="false" aria-label="{escape(texts.conversations)}"{data}>'
        f"<header><h2>{escape(texts.conversations)}</h2>"
        f'<button type="button" class="quiet" data-close-drawer>{escape(texts.close)}</button></header>'
        f'<input type="search" aria-label="{escape(texts.search)}" placeholder="{escape(texts.search)}" autocomplete="off">'
        f'<ul class="conversations"></ul><p class="note" role="status"></p>'
        f'<section class="export"><h3>{escape(texts.export)}</h3><p class="exports">{exports}</p>'
        f'<p class="note">{escape(texts.export_note)}</p>'
        f'<button type="button" class="quiet" data-import>{escape(texts.import_file)}</button>'
        '<input type="file" accept=".json,application/json" hidden tabindex="-1" aria-hidden="true"></section>'
        f'<p class="note">{escape(texts.conversations_note)}</p></div>'
    )
