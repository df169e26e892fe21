"""A conversation as a file: readable, and harmless in whatever opens it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from ui_fakes import COPPER, HOSTILE, ScriptedPipeline

from lqr.ui import export
from lqr.ui.exchange import Conversation, Exchange
from lqr.ui.texts import EN, LANGUAGES


def answered(question: str) -> Exchange:
    *_, last = ScriptedPipeline(pause=0).stream(question, ())
    return Exchange(question, last.to_dict())  # type: ignore[union-attr]


def rendered(markdown: str) -> Any:
    return MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)


def test_markdown_holds_question_answer_confidence_and_sources() -> None:
    conversation = Conversation((answered("Is copper bad?"), Exchange("Why?", draft="Because", stopped=True)))
    text = export.to_markdown(conversation, "Sheep", "My flock", EN)
    assert text.startswith("# My flock\n")
    assert "## Is copper bad?" in text
    assert "of copper [1]." in text
    assert "*Well covered: 3 passages of one document agree*" in text
    assert "**[2] Copper poisoning in sheep › Signs**" in text
    assert f"> {COPPER[3]}" in text
    assert "Because\n\n*Stopped before the end.*" in text
    assert "资料充分" in export.to_markdown(conversation, "羊", "我的羊", LANGUAGES["zh"])


@pytest.mark.parametrize("hostile", [HOSTILE, "# x\n<b>y</b>", "- [a](http://evil.invalid)\n![b](http://evil.invalid/x.png)"])
def test_nothing_written_by_others_becomes_markdown(hostile: str) -> None:
    item = answered(f"hostile {hostile}")
    tokens = rendered(export.to_markdown(Conversation((item, Exchange(hostile, draft=hostile))), hostile, hostile, EN))
    inner = [child.type for token in tokens for child in token.children or ()]
    assert not {"html_block", "table_open", "fence", "code_block", "hr"} & {token.type for token in tokens}
    assert not {"html_inline", "link_open", "image", "code_inline"} & set(inner)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "S", "Z"))))
def test_a_markdown_reader_shows_the_words_as_they_were(text: str) -> None:
    tokens = rendered(export._escape(" ".join(text.split())))
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    shown = "".join(child.content for token in tokens for child in token.children or ())
    assert shown == " ".join(export.plain_text(text).split()) or export.plain_text(text) != text


def test_json_can_be_opened_again_and_names_are_no_paths() -> None:
    conversation = Conversation((answered("a"),), "0123456789abcdef")
    file = export.as_file(conversation, "json", "Sheep", "../../etc/passwd\u202e.exe", EN)
    assert file.name == "etc-passwd-exe.json"
    assert Conversation.from_json(json.loads(file.text)).to_json() == json.loads(json.dumps(conversation.to_json()))
    assert export.as_file(Conversation(), "markdown", "Sheep", "", EN).name == "Chat.md"
    assert export.as_file(conversation, "json", "Sheep", "🐑" * 300, EN).name == "conversation.json"
