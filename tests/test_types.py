"""The shared types: chat messages to turns, and the answer as JSON."""

from __future__ import annotations

import dataclasses
import json
import typing
from typing import Any

import pytest

import lqr.types
from lqr.types import (
    Answer,
    Claim,
    Confidence,
    Decomposition,
    Evaluation,
    Hit,
    Passage,
    Route,
    Source,
    Trace,
    Turn,
    as_turns,
)

PASSAGE = Passage("abc-1", "abc", "Footrot", ("Treatment", "Footbath"), "Use zinc sulphate.", 1, 0, 18)


def answer(**trace: Any) -> Answer:
    return Answer(
        "Use zinc sulphate. [1]",
        (Claim("Use zinc sulphate.", ("abc-1",), "quoted", ("Use zinc sulphate.",)),),
        (Source(1, "abc-1", "abc", "Footrot", ("Treatment",), PASSAGE.text, url="https://example.org"),),
        False,
        Confidence("rich", "why", 0.9),
        Trace("How is footrot treated?", **trace),
        ("What is footrot?",),
    )


def test_stages_cannot_change_what_they_are_handed() -> None:
    classes = [c for c in vars(lqr.types).values() if dataclasses.is_dataclass(c)]
    assert len(classes) >= 15
    for c in classes:
        assert c.__dataclass_params__.frozen, c
        assert not hasattr(c, "__dict__") or "__slots__" in vars(c), c


def test_a_passage_knows_its_place() -> None:
    assert PASSAGE.heading == "Footrot > Treatment > Footbath"
    assert PASSAGE.indexed_text == "Footrot. Treatment. Footbath. Use zinc sulphate."
    assert dataclasses.replace(PASSAGE, section=()).heading == "Footrot"


def test_the_answer_as_json_has_the_documented_keys() -> None:
    hit = Hit(PASSAGE, 0.8, {"bm25": 2.0}, "same section")
    full = answer(route=Route("complex", 0.7, "two parts"), decomposition=Decomposition("a?", "b?"), kept=(hit,), dropped=(hit,))
    said = json.loads(json.dumps(full.to_dict()))
    assert list(said) == ["text", "claims", "sources", "refused", "confidence", "evaluation", "suggestions", "trace"]
    assert said["claims"][0]["passages"] == ["abc-1"]
    assert said["claims"][0]["support"] == "quoted"
    assert {"id", "title", "text", "url"} <= said["sources"][0].keys()
    assert said["refused"] is False
    assert said["confidence"] == {"level": "rich", "reason": "why", "probability": 0.9}
    assert said["evaluation"] is None
    figures = dataclasses.replace(full, evaluation=Evaluation(1.0, 0.9, quoted=1)).to_dict()["evaluation"]
    assert figures == {"groundedness": 1.0, "relevance": 0.9, "quoted": 1, "supported": 0, "partial": 0, "unsupported": 0}
    trace = said["trace"]
    assert {"standalone", "route", "probability", "sub_questions", "kept", "dropped", "seconds"} <= trace.keys()
    assert (trace["route"], trace["probability"], trace["sub_questions"]) == ("complex", 0.7, ["a?", "b?"])
    assert (
        trace["kept"]
        == trace["dropped"]
        == [{"id": "abc-1", "heading": PASSAGE.heading, "score": 0.8, "scores": {"bm25": 2.0}, "why": "same section"}]
    )


def test_every_part_of_the_trace_is_in_the_json() -> None:
    said = answer().to_dict()["trace"]
    named = {"decomposition": "sub_questions"}
    assert {named.get(f.name, f.name) for f in dataclasses.fields(Trace)} <= said.keys()


def test_an_answer_without_a_route_has_the_same_keys() -> None:
    bare, full = answer().to_dict()["trace"], answer(route=Route("simple", 0.1)).to_dict()["trace"]
    assert bare.keys() == full.keys()
    assert (bare["route"], bare["probability"], bare["sub_questions"]) == (None, None, [])


def test_the_events_of_a_stream_are_told_apart_by_their_class() -> None:
    assert [c.__name__ for c in typing.get_args(lqr.types.Event)] == ["Progress", "TextDelta", "Answer"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("  worms?  ", "worms?"),
        ([{"type": "text", "text": "worms?"}], "worms?"),
        ([{"type": "text", "text": "one"}, {"type": "file", "file": {"path": "x"}}, "two"], "one\ntwo"),
        ({"text": "worms?"}, "worms?"),
        ([["deep", {"text": "er"}]], "deep\ner"),
    ],
)
def test_content_is_flattened_to_text(content: Any, expected: str) -> None:
    assert as_turns([{"role": "user", "content": content}]) == (Turn("user", expected),)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "system", "content": "obey"},
        {"role": "tool", "content": "x"},
        {"content": "x"},
        {"role": "user"},
        {"role": "user", "content": None},
        {"role": "user", "content": 7},
        {"role": "user", "content": "   "},
        {"role": "user", "content": {"text": 7}},
        {"role": "assistant", "content": "step", "metadata": {"title": "Searching"}},
    ],
)
def test_what_is_not_said_by_user_or_assistant_is_dropped(message: dict[str, Any]) -> None:
    kept = {"role": "assistant", "content": "Yes.", "metadata": {"title": None}}
    assert as_turns([message, kept]) == (Turn("assistant", "Yes."),)
