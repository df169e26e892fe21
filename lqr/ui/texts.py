"""Every sentence the page itself says, in each of its languages.

Components take theirs through ``gr.I18n``; what the server renders takes a :class:`Texts`, chosen from the browser's
``Accept-Language``. Knows nothing of answers; the documents' own words are not translated here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Texts:
    """One language. Names in braces are filled in with ``str.format``."""

    language: str
    new: str
    ask: str
    placeholder: str
    send: str
    stop: str
    disclaimer: str
    try_one: str
    bring_back: str
    you: str
    answer: str
    sources: str
    sources_empty: str
    no_sources: str
    source: str
    page: str
    open_document: str
    references: str
    web: str
    back: str
    document: str
    document_gone: str
    thinking: str
    ready: str
    stopped: str
    failed: str
    copy: str
    copied: str
    retry: str
    edit: str
    editing: str
    cancel: str
    suggestions: str
    rich: str
    thin: str
    none: str
    partial: str
    unsupported: str
    how: str
    route: str
    route_simple: str
    route_complex: str
    probability: str
    standalone: str
    sub_questions: str
    queries: str
    kept: str
    dropped: str
    nothing: str
    writer: str
    seconds: str
    checks: str
    checks_text: str


EN = Texts(
    language="en",
    new="New conversation",
    ask="Your question",
    placeholder="Ask the documents",
    send="Ask",
    stop="Stop",
    disclaimer="Answers quote these documents and can miss things. Your vet or adviser decides.",
    try_one="For example",
    bring_back="Back to the last conversation",
    you="You asked",
    answer="Answer",
    sources="Sources",
    sources_empty="The passages that an answer stands on will appear here, with the sentence that supports it marked.",
    no_sources="This answer cites no document.",
    source="Source {number}",
    page="page {page}",
    open_document="Open the document",
    references="The document draws on",
    web="Web page",
    back="Back to the sources",
    document="Document",
    document_gone="This document is no longer in the collection.",
    thinking="Reading your question",
    ready="The answer is ready.",
    stopped="Stopped before the end.",
    failed="Something went wrong here, not with your question. Please try again; if it stays, report number {id}.",
    copy="Copy",
    copied="Copied",
    retry="Try again",
    edit="Edit",
    editing="You are editing your last question; its answer will be replaced.",
    cancel="Cancel",
    suggestions="You could ask next",
    rich="Well covered",
    thin="Thinly covered",
    none="Not in the documents",
    partial="partly supported",
    unsupported="not supported",
    how="How this was answered",
    route="Kind of question",
    route_simple="simple: one look-up",
    route_complex="complex: two steps",
    probability="probability of complex {probability}",
    standalone="Understood as",
    sub_questions="Split into",
    queries="Searched for",
    kept="Passages kept",
    dropped="Passages dropped",
    nothing="none",
    writer="Written by",
    seconds="Seconds",
    checks="Checks",
    checks_text="citations removed: {citations}; sentences replaced: {claims}",
)

ZH = Texts(
    language="zh",
    new="新对话",
    ask="您的问题",
    placeholder="向资料提问",
    send="提问",
    stop="停止",
    disclaimer="回答引用这些资料，可能有遗漏；请以兽医或农技人员的意见为准。",
    try_one="例如",
    bring_back="回到上一次对话",
    you="您的提问",
    answer="回答",
    sources="来源",
    sources_empty="回答所依据的段落会显示在这里，支持它的句子会标出。",
    no_sources="这个回答没有引用文献。",
    source="来源 {number}",
    page="第 {page} 页",
    open_document="打开文献",
    references="文献依据",
    web="网页",
    back="返回来源",
    document="文献",
    document_gone="这份文献已不在资料库中。",
    thinking="正在阅读您的问题",
    ready="回答已完成。",
    stopped="已中途停止。",
    failed="这里出了错，与您的问题无关。请重试；如仍然出错，请报告编号 {id}。",
    copy="复制",
    copied="已复制",
    retry="重新回答",
    edit="修改",
    editing="您正在修改上一个问题；它的回答会被替换。",
    cancel="取消",
    suggestions="接着可以问",
    rich="资料充分",
    thin="资料较少",
    none="资料中没有",
    partial="部分有依据",
    unsupported="没有依据",
    how="这个回答是怎么来的",
    route="问题类型",
    route_simple="简单：查找一次",
    route_complex="复杂：分两步",
    probability="复杂的概率 {probability}",
    standalone="理解为",
    sub_questions="拆分为",
    queries="检索词",
    kept="保留的段落",
    dropped="舍去的段落",
    nothing="无",
    writer="撰写",
    seconds="用时（秒）",
    checks="核对",
    checks_text="删去 {citations} 处引用，替换 {claims} 个句子",
)

LANGUAGES = {"en": EN, "zh": ZH}


def choose(accept_language: str | None) -> Texts:
    """The first language of an ``Accept-Language`` header that the page speaks, else English."""
    for part in (accept_language or "").split(","):
        texts = LANGUAGES.get(part.split(";")[0].strip().split("-")[0].lower())
        if texts is not None:
            return texts
    return EN


def component_texts() -> Any:
    """All texts as ``gr.I18n``, for the components that the browser labels."""
    import gradio as gr

    return gr.I18n(**{name: {key: str(value) for key, value in asdict(texts).items()} for name, texts in LANGUAGES.items()})
