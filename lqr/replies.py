"""The short fixed replies to messages that are not questions, in the asker's language. No logic beyond choosing one."""

from __future__ import annotations

import re

from lqr.corpus.profile import Profile
from lqr.text import is_cjk
from lqr.types import TurnKind

_TEXTS: dict[TurnKind, dict[str, str]] = {
    "small_talk": {"en": "{greeting} Ask me about {title}.", "zh": "{greeting}请就资料中的内容提问{title}。"},
    "empty": {"en": "I could not find a question in that. Please write one in words.", "zh": "没有看到问题，请用文字提问。"},
    "too_long": {
        "en": "That is too long for one question ({note}). Please shorten it to what you want to know.",
        "zh": "问题太长（{note}），请缩短。",
    },
    "unclear": {
        "en": "I am not sure what that refers to. Please name it{example}.",
        "zh": "我不确定您指的是什么，请说明{example}。",
    },
    "meta": {
        "en": (
            "I answer from {count} documents: {title}. {description} Every sentence is quoted from a document and "
            "says which; what they do not hold, I do not answer{example}."
        ),
        "zh": "我根据 {count} 篇资料回答{title}。每句话都引自资料并注明出处；资料中没有的，我不回答{example}。",
    },
}


_EXAMPLE = {"en": ", for example “{}”", "zh": "，例如“{}”"}
_GREETING = {"en": ("Hello.", "You are welcome."), "zh": ("您好。", "不客气。")}
_GREETS = re.compile(r"^\W*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|你好|您好)", re.IGNORECASE)


def language_of(text: str) -> str:
    """``zh`` for Chinese, else ``en``."""
    return "zh" if is_cjk(text) else "en"


def reply(kind: TurnKind, message: str, profile: Profile, *, documents: int, note: str = "") -> str:
    """The reply to a message of ``kind``.

    Raises:
        KeyError: ``kind`` is one that the pipeline answers.
    """
    language = language_of(message)
    examples = profile.examples
    title = profile.title
    if language == "zh":  # what the collection says of itself is said only where it is Chinese, too
        examples = tuple(example for example in examples if is_cjk(example))
        title = f"：{title}" if is_cjk(title) else ""
        note = "，最多 ".join(f"{number} 字" for number in re.findall(r"\d+", note)[:2])
    text = _TEXTS[kind][language].format(
        title=title,
        description=profile.description,
        count=documents,
        note=note,
        example=_EXAMPLE[language].format(examples[0]) if examples else "",
        greeting=_GREETING[language][0 if _GREETS.match(message) else 1],
    )
    return text.replace("  ", " ")  # a collection may have no description
