"""How the page looks: Gradio's theme with fonts the reader's own machine has, and our style sheets.

Nothing is fetched from another host, so the page works without a network and tells no one that it was opened.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from lqr.ui.texts import ASSETS, component_texts

STYLES = ("page.css", "panels.css", "tabs.css")
SANS = (
    "system-ui",
    "-apple-system",
    "Segoe UI",
    "Roboto",
    "Noto Sans",
    "PingFang SC",
    "Microsoft YaHei",
    "Noto Sans CJK SC",
    "sans-serif",
)
MONO = ("ui-monospace", "SFMono-Regular", "Consolas", "Liberation Mono", "monospace")


def theme() -> gr.Theme:
    """A plain theme; ``assets/page.css`` does the rest with its own variables for light and dark."""
    base = gr.themes.Base(primary_hue="green", neutral_hue="stone", font=list(SANS), font_mono=list(MONO))
    return base.set(
        body_background_fill="var(--paper)",
        body_background_fill_dark="var(--paper)",
        body_text_color="var(--ink)",
        body_text_color_dark="var(--ink)",
    )


def launch_options() -> dict[str, Any]:
    """Keyword arguments for ``Blocks.launch`` that belong to the page rather than to the host."""
    return {
        "theme": theme(),
        "css": "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in STYLES),
        "i18n": component_texts(),
        "footer_links": [],
        "run_history": False,
        "show_error": False,
        "ssr_mode": False,
        "strict_cors": True,
    }
