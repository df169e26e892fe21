"""Parts of the page that its own scripts fill, and what those scripts send. Knows nothing of what they show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from lqr.ui.texts import ASSETS

LOG = """
<div id="column"><div id="log" role="log" aria-live="off"></div></div>
<aside id="empty"></aside>
<p id="status" class="away" role="status" aria-live="polite"></p>
"""


def scripted(name: str, script: str, *, value: Any = "", html_template: str = "<div></div>") -> gr.HTML:
    """A part of the page that the ``script`` of :data:`~lqr.ui.texts.ASSETS` fills."""
    return gr.HTML(
        value,
        html_template=html_template,
        js_on_load=(ASSETS / script).read_text(encoding="utf-8"),
        elem_id=name,
        apply_default_css=False,
        container=False,
    )


def sent(event: gr.EventData) -> Mapping[str, Any]:
    """What the page's script sent; it may have been tampered with, so every value is checked where it is used."""
    return mapping(event._data)


def mapping(raw: Any) -> Mapping[str, Any]:
    """``raw`` if it is an object, else an empty one."""
    return raw if isinstance(raw, dict) else {}
