"""Every language says everything, with the same names to fill in."""

from __future__ import annotations

import re
from dataclasses import asdict

import pytest

from lqr.text import is_cjk
from lqr.ui.texts import EN, LANGUAGES, component_texts


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {"en"}))
def test_a_language_leaves_nothing_in_english(language: str) -> None:
    other = asdict(LANGUAGES[language])
    for key, english in asdict(EN).items():
        assert other[key] != english, key
        assert set(re.findall(r"{\w+}", other[key])) == set(re.findall(r"{\w+}", english)), key
        assert language != "zh" or key == "language" or is_cjk(re.sub(r"{\w+}", "", other[key])), key


def test_components_get_the_same_words() -> None:
    words = component_texts()
    assert words.translations["zh"]["send"] == LANGUAGES["zh"].send
    assert words.translations["en"]["send"] == EN.send
