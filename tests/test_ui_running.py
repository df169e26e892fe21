"""The running chart says the same in its lines, its sentence and its table; and says so when there is nothing to show."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from lqr.service.recent import EVERY, Point
from lqr.ui.models_tab import ModelsTab
from lqr.ui.running import HEIGHT, LEFT, RIGHT, TOP, WIDTH, running
from lqr.ui.texts import EN, LANGUAGES

POINT = Point(5, 5, 0.2, 1.0, 0.5, 0.75, 9, 2, 1, 0)
POINTS = [
    POINT,
    replace(POINT, total=10, questions=10, groundedness=None, relevance=None, rich=None, refused=1.0),
    replace(POINT, total=15, questions=15, groundedness=0.9, relevance=0.8),
]


def svg(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(html[html.index("<svg viewBox") : html.index("</svg>") + 6])


def test_no_chart_is_drawn_of_too_few_answers() -> None:
    html = running([], 3, EN)
    assert "<svg" not in html
    assert f"after {EVERY} questions; 3 have been asked" in html


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_lines_sentence_and_table_agree(language: str) -> None:
    texts = LANGUAGES[language]
    html = running(POINTS, 17, texts).replace("\N{NO-BREAK SPACE}", " ")
    drawn = svg(html)
    paths = {path.get("class"): path.get("d") for path in drawn.iter("path")}
    right = f"{WIDTH - RIGHT:.1f}"
    assert paths["groundedness"] == f"M{LEFT:.1f} {TOP:.1f} M{right} {TOP + 0.1 * (HEIGHT - TOP - 26):.1f}"  # a gap: all refused
    assert paths["relevance"] is not None
    assert paths["relevance"].count("M") == 2
    assert len(list(drawn.iter("circle"))) == 2
    rows = [re.findall(r"<t[hd][^>]*>([^<]*)<", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]
    assert rows[1] == ["15", "90 %", "80 %", "20 %", "75 %", "9", "2", "1", "0"]  # newest first
    assert rows[2][:5] == ["10", "–", "–", "100 %", "–"]
    assert len(rows) == 4
    said = drawn.findtext("desc")
    assert said is not None
    assert said == texts.running_latest.format(questions=15, total=15, refused="20 %", groundedness="90 %", relevance="80 %")
    assert html.count(said) == 2  # for the eye, and for who hears the drawing


def test_the_drawing_has_a_name_and_the_table_can_be_reached() -> None:
    html = running(POINTS, 15, EN)
    drawn = svg(html)
    named = {element.get("id") for element in drawn.iter() if element.get("id")}
    assert drawn.get("role") == "img"
    assert set((drawn.get("aria-labelledby") or "").split()) == named
    assert 'class="table" tabindex="0" role="region" aria-label=' in html


def test_one_point_is_a_dot() -> None:
    drawn = svg(running([POINT], 5, EN))
    assert [circle.get("cx") for circle in drawn.iter("circle")] == [f"{LEFT:.1f}"] * 2


def test_where_nobody_counts_nothing_is_claimed() -> None:
    app: Any = SimpleNamespace(pipeline=object())
    assert ModelsTab(app).running(SimpleNamespace(headers={})) == ""  # type: ignore[arg-type]
