"""Training rows of the decomposer: annotated steps in one form, and spans by alignment."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lqr.decompose.spans import SpanModel
from lqr.training.decomposer import annotated, fit, held_out, tagged, train


def row(question: str, first: str, second: str, answer: str = "Mac Lane", kind: str = "2hop", **more: Any) -> dict[str, Any]:
    steps = [{"question": first, "answer": answer}, {"question": second, "answer": "x"}]
    return {"question": question, "type": kind, "decomposition": steps, **more}


def spanned(example: dict[str, Any]) -> list[str]:
    found = tagged(example)
    assert found is not None
    return [example["question"][found.words[a].start : found.words[b - 1].end] for a, b in found.spans]


def test_an_arrow_is_read_as_a_relation() -> None:
    said = annotated(row("Who is the spouse of the Green performer?", "Green >> performer", "#1 >> spouse"))
    assert said is not None
    assert (said.first, said.second, said.operator) == ("performer of Green", "spouse of #1", "bridge")


def test_the_answer_in_the_second_step_gives_way() -> None:
    said = annotated(row("q", "Who directed Dawn?", "When did mac lane die?", kind="compositional"))
    assert said is not None
    assert said.second == "When did #1 die?"


def test_triples_serve_where_nobody_wrote_steps() -> None:
    triples = [["Dawn", "director", "Mac Lane"], ["Mac Lane", "date of death", "1950"]]
    said = annotated({"question": "q", "type": "compositional", "decomposition": None, "evidences": triples})
    assert said is not None
    assert (said.first, said.second, said.machine) == ("director of Dawn", "date of death of #1", True)


@pytest.mark.parametrize("steps", [None, [], [{"question": "a"}], ["plain", "strings"]])
def test_other_numbers_of_steps_are_left_out(steps: Any) -> None:
    assert tagged({"question": "q", "type": "2hop", "decomposition": steps}) is None


@pytest.mark.parametrize(
    ("example", "span"),
    [
        (row("When did the author of Dawn Light die?", "Who wrote Dawn Light?", "When did #1 die?"), ["Dawn Light"]),
        (row("When did the author of Dawn die?", "who is the author of Dawn", "When did #1 die?"), ["the author of Dawn"]),
        (
            row("Who married the actor who voices Batman?", "who voices batman", "#1 >> spouse"),
            ["the actor who voices Batman"],
        ),
        (row("How many people live there?", "zebra", "How many people live in #1?"), []),
    ],
)
def test_the_span_is_what_only_the_first_step_says(example: dict[str, Any], span: list[str]) -> None:
    assert spanned(example) == span


def test_compared_things_are_found_as_the_question_writes_them() -> None:
    triples = [["Olga Ráb", "date of birth", "1900"], ["The Fields", "date of birth", "1910"]]
    example = {"question": "Who came first, Olga Rab or The Fields?", "type": "comparison", "evidences": triples}
    assert spanned(example) == ["Olga Rab", "The Fields"]


def test_training_learns_and_does_not_depend_on_chance() -> None:
    names = ["Dawn", "Red Hill", "Lin", "Old Barn Song"]
    rows = [
        found
        for name in names
        for verb in ("die", "marry")
        if (found := tagged(row(f"When did the author of {name} {verb}?", f"author of {name}", f"When did #1 {verb}?")))
    ]
    model = train(rows, epochs=5)
    assert held_out(model, rows)["exact"] == 1.0
    assert held_out(SpanModel({}, frozenset()), rows)["exact"] < 1.0
    assert dict(train(rows, epochs=5).weights) == dict(model.weights)


def test_fit_writes_a_model_and_its_evaluation(tmp_path: Path) -> None:
    for name, kind in (("musique", "2hop"), ("2wikimultihopqa", "compositional")):
        (tmp_path / name).mkdir()
        for part in ("train", "questions_only"):
            lines = [
                json.dumps(row(f"When did the author of {part} {n} die?", f"author of {part} {n}", "When did #1 die?", kind=kind))
                for n in range(4)
            ]
            (tmp_path / name / f"{part}.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    evaluation = fit(tmp_path, tmp_path / "out", epochs=2, keep_out=2)
    assert evaluation["trained_on"] == {"musique": 6, "2wikimultihopqa": 6}
    assert json.loads((tmp_path / "out" / "evaluation.json").read_text())["held_out"]["musique"]["n"] == 2
    assert SpanModel.load(tmp_path / "out").weights
