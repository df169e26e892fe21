"""Tests of lqr.replies."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from lqr.corpus.profile import Profile
from lqr.replies import language_of, reply
from lqr.types import TurnKind

PROFILE = Profile(name="bees", title="Bees", description="Hives and honey.", examples=("How do bees swarm?",))
ANSWERED = {"standalone", "follow_up", "topic_change"}
FIXED = [kind for kind in get_args(TurnKind) if kind not in ANSWERED]


@pytest.mark.parametrize("kind", FIXED)
@pytest.mark.parametrize("message", ["hello there", "你好吗", "🐑🐑", ""])
@pytest.mark.parametrize("profile", [PROFILE, Profile()])
def test_every_kind_has_a_reply_in_every_case(kind: TurnKind, message: str, profile: Profile) -> None:
    text = reply(kind, message, profile, documents=3, note="5 characters")
    assert text == text.strip()
    assert "{" not in text
    assert "  " not in text
    assert "“”" not in text
    assert language_of(text) == ("zh" if language_of(message) == "zh" else "en")


@pytest.mark.parametrize("kind", sorted(ANSWERED))
def test_a_question_has_no_fixed_reply(kind: TurnKind) -> None:
    with pytest.raises(KeyError):
        reply(kind, "How do bees swarm?", PROFILE, documents=3)


def test_a_greeting_is_greeted_and_thanks_are_thanked() -> None:
    assert reply("small_talk", "Hi!", PROFILE, documents=1).startswith("Hello.")
    assert reply("small_talk", "thank you", PROFILE, documents=1).startswith("You are welcome.")
    assert reply("small_talk", "您好", PROFILE, documents=1).startswith("您好")
    assert reply("small_talk", "谢谢", PROFILE, documents=1).startswith("不客气")


def test_meta_says_what_there_is() -> None:
    text = reply("meta", "what can you do", PROFILE, documents=7)
    assert all(part in text for part in ("7 documents", "Bees", "Hives and honey.", "How do bees swarm?"))


def test_too_long_says_how_long() -> None:
    note = "20000 characters; at most 2000 are read"
    assert note in reply("too_long", "x" * 20000, PROFILE, documents=1, note=note)


@pytest.mark.parametrize("kind", FIXED)
def test_chinese_is_answered_in_chinese_alone(kind: TurnKind) -> None:
    text = reply(kind, "你好", PROFILE, documents=3, note="20000 characters; at most 2000 are read")
    assert not re.search("[A-Za-z]", text)
    assert ("20000 字，最多 2000 字" in text) == (kind == "too_long")
    bees = Profile(title="蜜蜂", examples=("How do bees swarm?", "蜜蜂怎样分群？"))
    assert "蜜蜂怎样分群？" in reply("meta", "你能回答什么", bees, documents=3)
    assert "：蜜蜂。" in reply("meta", "你好", bees, documents=3)


def test_braces_of_a_collection_are_text() -> None:
    odd = Profile(title="{count} {0}", description="{title}", examples=("What is {x}?",))
    assert "{count} {0}" in reply("meta", "help", odd, documents=2)
    assert "What is {x}?" in reply("unclear", "the other", odd, documents=2)


@pytest.mark.parametrize(("text", "language"), [("sheep", "en"), ("绵羊", "zh"), ("绵羊 sheep", "zh"), ("", "en"), ("🐑", "en")])
def test_language(text: str, language: str) -> None:
    assert language_of(text) == language
