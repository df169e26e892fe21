"""Hypothesis against everything that takes what strangers send: whatever comes, an answer or a named error, never a crash.

The time is bounded by few examples; ``--hypothesis-profile`` and ``HYPOTHESIS_MAX_EXAMPLES`` are hypothesis' own ways to run
more. What failed once stands in ``@example`` lines.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_corpus_readers import make_pdf, workbook

from lqr.corpus.passages import split
from lqr.corpus.readers import ReadLimits, clean_source, read_bytes
from lqr.errors import ReadError, SettingsError
from lqr.grounding.citations import parse
from lqr.retrieval.tokenizer import tokenize
from lqr.service.gateway import Doors
from lqr.settings import Settings
from lqr.types import as_turns
from lqr.ui.exchange import Conversation

LIMITS = ReadLimits(bytes=2**20, uncompressed=2**20, pages=5, rows=50, characters=20_000)
FEW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
NAMES = st.sampled_from([f"a.{s}" for s in "md txt html pdf docx csv tsv xlsx json jsonl jsonl.gz bin".split()])
SEEDS = {
    "pdf": make_pdf([[(72, 700, 12, b"Sheep need salt.")]]),
    "xlsx": workbook([["Feed", "Copper"], ["Hay", "6"]]),
    "html": b"<html><style>.w{color:#fff}</style><table><tr><th>a<td rowspan=3>b</table><ol start=x><li>1</ol>",
    "md": b"---\ntitle: x\n---\n# A\n\n| a | b |\n|---|---|\n| 1 | <b>2</b> |\n\n4.2.1R(2) The rule.\n",
    "jsonl": b'{"id": 1, "text": "a"}\n{"id": "x", "text": "b", "title": null}\n',
    "gz": gzip.compress(b'{"text": "a"}'),
}


def read(data: bytes, name: str) -> None:
    try:
        documents = read_bytes(data, source=name, limits=LIMITS)
    except ReadError as error:
        documents, said = (), str(error)
        assert len(said.splitlines()) == 1
    for document in documents:
        assert document.text == "\n\n".join(block.text for block in document.blocks)
        assert not re.search("[\x00\u202e\ud800-\udfff]", document.text + document.title + document.source)
        for passage in split(document):
            assert document.text[passage.start : passage.end] == passage.text


@FEW
@given(st.binary(max_size=2000), NAMES)
@example(b"\xff\xfe\x00", "a.txt")
@example(b"%PDF-1.4", "a.md")
@example(b"PK\x05\x06" + b"\0" * 18, "a.docx")
@example(b"\x1f\x8b\x08", "a.jsonl.gz")
def test_any_bytes(data: bytes, name: str) -> None:
    read(data, name)


CHANGES = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=8)


@FEW
@given(st.sampled_from(sorted(SEEDS)), CHANGES, st.integers(0, 10**6))
def test_damaged_files(kind: str, changes: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(SEEDS[kind])
    for place, byte in changes:
        data[place % len(data)] = byte
    read(bytes(data[: len(data) - cut % (len(data) // 2) if cut % 3 == 0 else len(data)]), f"a.{kind}")


@FEW
@given(st.text(max_size=400), NAMES)
def test_any_text(text: str, name: str) -> None:
    read(text.encode("utf-8", "surrogatepass"), name)


@FEW
@given(st.text(max_size=300))
@example("../../etc/passwd")
@example("a" * 300 + ".pdf")
@example("..\\..\\x")
def test_names_stay_inside(name: str) -> None:
    cleaned = clean_source(name)
    assert cleaned
    assert not cleaned.startswith("/")
    assert ".." not in cleaned.split("/")
    assert all(0 < len(part) <= 120 for part in cleaned.split("/"))
    assert clean_source(cleaned) == cleaned


@FEW
@given(st.text(max_size=300))
def test_tokens_are_words_of_any_text(text: str) -> None:
    tokens = tokenize(text)
    assert all(token and not token.isspace() for token in tokens)
    assert tokenize(text) == tokens


PIECES = [
    "[1]",
    "[1,2]",
    "[1-3]",
    "【1】",
    "[99]",
    "[d-1]",
    "(source 2)",
    "Salt is needed",
    ". ",
    "\n",
    "[",
    "]",
    '{"a": "b [1]"}',
]
MARKS = st.lists(st.sampled_from(PIECES) | st.text(max_size=10), max_size=12)


@FEW
@given(MARKS)
@example(["[" * 2000])
@example(["[1-999999999]"])
@example(['{"answer": "' + "[" * 500])
def test_citations_of_any_draft_are_of_given_passages(parts: list[str]) -> None:
    cited = parse("".join(parts), ["d-1", "d-2", "d-3"])
    assert {passage for sentence in cited.sentences for passage in sentence.passages} <= {"d-1", "d-2", "d-3"}


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["role", "content", "text", "metadata", "title"]), inner, max_size=4)
    ),
    max_leaves=12,
)


MESSAGE = st.dictionaries(
    st.sampled_from(["role", "content", "metadata"]), JSON | st.sampled_from(["user", "assistant"]), max_size=3
)


@FEW
@given(st.lists(MESSAGE, max_size=6))
@example([{"role": ["user"], "content": "x"}])
@example([{"role": {"a": 1}, "content": "x"}])
@example([{"role": "user", "content": [[[{"text": 1}]]], "metadata": "x"}])
def test_any_history(history: list[dict[str, Any]]) -> None:
    for turn in as_turns(history):
        assert turn.role in ("user", "assistant")
        assert turn.content.strip() == turn.content != ""


@FEW
@given(JSON)
def test_any_conversation_from_a_browser(raw: Any) -> None:
    assert Conversation.from_json(raw).exchanges == ()
    again = Conversation.from_json({"version": 1, "exchanges": raw, "previous": raw})
    assert Conversation.from_json(json.loads(json.dumps(again.to_json()))) == again


KEYS = st.sampled_from("top_k port llm_timeout profile home traces rate_per_minute log nothing".split())


@FEW
@given(KEYS, st.text(max_size=20) | st.integers() | st.floats())
@example("home", "\0")
@example("port", float("inf"))
def test_any_setting_is_taken_or_named(name: str, value: Any) -> None:
    try:
        made = Settings.load(**{name: value, **({} if name == "profile" else {"profile": "cpu"})})
    except SettingsError as error:
        said = str(error)
        assert name.upper() in said or name in said
        return
    assert made.top_k >= 1
    assert 0 <= made.port <= 65535


@pytest.mark.parametrize("body", [b"", b"[", b"[1]", b'{"fn_index": true}', b'{"fn_index": 1e999}', b"[" * 100_000, b"\xff"])
def test_any_body_at_the_door(body: bytes) -> None:
    from lqr.service.gateway import Gateway

    gateway = Gateway.__new__(Gateway)
    gateway._doors = Doors({3}, {"ask"})
    assert gateway._is_question("/gradio_api/queue/join", body) is False
    assert gateway._is_question("/gradio_api/call/ask", body) is True
