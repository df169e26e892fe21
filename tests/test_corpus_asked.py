"""Questions that people ask: read from a file, and tied to the passage that answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from lqr.corpus.asked import asked_of, read_asked
from lqr.errors import ReadError
from lqr.text import plain
from lqr.types import Asked, Passage


def passage(number: int, document: str, text: str) -> Passage:
    return Passage(f"{document}-{number}", document, "Salt", (), text, number, 0, len(text))


PASSAGES = [
    passage(0, "a", "Ewes need 8–9 g of salt a day; see [licks](licks.md)."),
    passage(1, "a", "Licks must stay dry."),
    passage(0, "b", "Licks must stay dry."),
]
SOURCES = {"a": "feeding/salt.md", "b": "feeding/licks.md"}


def test_a_question_belongs_to_the_passage_of_its_document_that_holds_the_snippet() -> None:
    asked = [
        Asked("how much salt", "feeding/salt", "8-9 g of salt"),
        Asked("wet lick?", "feeding/licks", "must stay DRY"),
        Asked("is a wet lick bad", "feeding/licks", "stay dry"),
        Asked("gone", "feeding/salt", "no longer there"),
        Asked("gone too", "feeding/none", "stay dry"),
    ]
    assert asked_of(asked, PASSAGES, SOURCES) == {"a-0": (asked[0],), "b-0": (asked[1], asked[2])}


def test_comparison_forgets_dashes_links_spaces_and_case() -> None:
    assert plain("8–9 g  of [Salt](x.md)") == "8-9 g of salt"


def test_lines_are_read_with_and_without_suffix(tmp_path: Path) -> None:
    file = tmp_path / "asked.jsonl"
    file.write_text(
        '{"question": "q", "document": "a/b.md", "contains": "c"}\n{"question": "r", "document": "a/b", "contains": "c"}\n'
    )
    assert read_asked(file) == [Asked("q", "a/b", "c"), Asked("r", "a/b", "c")]


def test_a_question_may_hold_a_line_separator(tmp_path: Path) -> None:
    file = tmp_path / "asked.jsonl"
    file.write_text('{"question": "wet\u2028lick?", "document": "a", "contains": "c"}\r\n', encoding="utf-8")
    assert read_asked(file) == [Asked("wet\u2028lick?", "a", "c")]


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "asked.jsonl"
    file.write_text('{"question": "a", "document": "b", "contains": "c"}\n{"question": "a"}\n')
    with pytest.raises(ReadError, match=r"asked\.jsonl line 2"):
        read_asked(file)


def test_a_snippet_of_a_table_line_is_found_by_its_cells() -> None:
    row = passage(0, "a", "Class: ram; Salt (g): 9; Note: more in heat")
    asked = [Asked("salt for rams", "feeding/salt", "| ram | 9 |"), Asked("bars only", "feeding/salt", "||")]
    assert asked_of(asked, [row], SOURCES) == {"a-0": (asked[0],)}
