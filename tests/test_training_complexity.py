"""The recipe end to end on a tiny encoder; calibration and measuring by hand."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from tiny_models import tiny_encoder

from lqr.classifiers.trained_complexity import TrainedComplexity
from lqr.errors import ReadError
from lqr.training.complexity import MeasuredOn, calibrate, collection_questions, measure, train_complexity
from lqr.training.datasets import complexity as datasets
from lqr.training.datasets.complexity import Question
from lqr.training.text_classifier import TextConfig

NOUNS = [f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]


def put(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))


def rows_of(name: str, part: str, count: int) -> list[dict[str, Any]]:
    """Complex ones say "or": a pattern that a tiny encoder learns."""
    rng = random.Random(f"{name} {part}")
    made = []
    for number in range(count):
        one, two, *rest = rng.sample(NOUNS, 4)
        text = f"which {one} or {two} {rest[0]}?" if name in datasets.COMPLEX else f"what {one} {two} {rest[0]}?"
        made.append({"id": f"{name}-{part}-{number}", "question": text, "supporting": [f"p{number}"]})
    return made


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    for name in (*datasets.TESTED, "strategyqa"):
        put(folder / name / "train.jsonl.gz", rows_of(name, "train", 60))
        if name in datasets.TESTED:
            put(folder / name / "test.jsonl.gz", rows_of(name, "test", 10))
    put(folder / "squad" / "corpus.jsonl.gz", [{"id": f"p{i}", "title": "x", "text": NOUNS[i]} for i in range(10)])
    return folder


def test_everything_a_hub_repository_needs(tmp_path: Path, data: Path) -> None:
    base = tiny_encoder(tmp_path / "base", "bert", ["which what or and", *NOUNS])
    out = tmp_path / "models" / "complexity"
    config = TextConfig(str(base), out, epochs=4, learning_rate=5e-3, batch=16, bf16=False, threads=1, looks=1)
    figures = train_complexity(data, config, base_name="owner/tiny", size=300)
    assert figures["complexity, six sets balanced"]["accuracy"] > 0.9
    assert figures["complexity, six sets balanced"]["n"] == 60
    assert figures["complexity, outcome labels"]["n"] == 10  # only squad has a corpus here
    there = {path.name for path in out.iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "calibration.json", "README.md"} <= there
    assert {"training.json", "evaluation.json", "curves.png", "confusion.png", "data"} <= there
    assert "checkpoints" not in there
    assert str(tmp_path) not in "".join(p.read_text(encoding="utf-8") for p in out.glob("*.json"))
    evaluation = json.loads((out / "evaluation.json").read_text(encoding="utf-8"))
    row = evaluation["models"]["complexity, six sets balanced"]["rows"][0]
    question = next(q.question for q in datasets.test_rows(data, row["set"]) if q.id == row["id"])
    assert TrainedComplexity(out).probabilities([question])[0] == pytest.approx(row["probability"], abs=0.02)


def question(text: str, label: int, origin: str = "x") -> Question:
    return Question(text, text, label, origin)


def test_temperature_alone_without_own_questions() -> None:
    held = [question(f"{i}", i % 2) for i in range(40)]
    logits = [(8.0 if i % 2 else -8.0) if i % 10 else (-8.0 if i % 2 else 8.0) for i in range(40)]  # one in ten is wrong
    found = calibrate(logits, held)
    assert found.signs == {}
    assert found.temperature > 2  # a logit of 8 claims far more than nine in ten
    assert found.threshold == pytest.approx(0.5, abs=0.1)


def test_signs_are_weighed_where_the_encoder_fails() -> None:
    held = [question(f"what is it {i}", i % 2) for i in range(40)]
    logits = [3.0 if row.label else -3.0 for row in held]
    own = [question("which is heavier, a Dorper or a Suffolk?", 1), question("how is orf treated?", 0)] * 20
    found = calibrate(logits, held, [-0.5] * 40, own)
    assert found.signs["comparison"] > 0.5
    assert found.probability(-0.5, {"comparison": 1.0}) > found.threshold > found.probability(-0.5, {})


def test_an_encoder_that_tells_nothing_is_refused() -> None:
    held = [question(f"what is it {i}", i % 2) for i in range(40)]
    own = [question("which is heavier, a or b?", 1), question("how is orf treated?", 0)] * 5
    with pytest.raises(ReadError, match="does not rise"):
        calibrate([-3.0 if row.label else 3.0 for row in held], held, [0.0] * 10, own)


def test_measured_together_one_by_one_and_by_outcome() -> None:
    public = tuple(
        Question(f"{name}{i}", f"q{i}", int(name in datasets.COMPLEX), name) for name in datasets.TESTED for i in (0, 1)
    )
    own = (question("a", 1, "farm"), question("b", 0, "farm"))
    held = MeasuredOn(public, own, {"hotpotqa0": 0, "squad0": 1})
    found = measure(lambda texts: [0.9] * len(texts), held, own_scorer=lambda texts: [0.2] * len(texts))
    six = found["complexity, six sets balanced"]["summary"]
    assert (six["n"], six["accuracy"], six["accuracy musique"], six["accuracy squad"]) == (12, 0.5, 1.0, 0.0)
    assert found["complexity, outcome labels"]["summary"]["accuracy"] == 0.5
    assert [row["label"] for row in found["complexity, outcome labels"]["rows"]] == [0, 1]
    assert found["complexity, farm"]["summary"]["recall"] == 0.0


def test_collection_questions_of_one_split(tmp_path: Path) -> None:
    path = tmp_path / "farm" / "questions.jsonl"
    path.parent.mkdir()
    turn = {"standalone": "how is orf treated?", "route": "simple"}
    items = [
        {"id": "a", "split": "dev", "turns": [turn, turn | {"route": "complex"}]},
        {"id": "b", "split": "test", "turns": [turn]},
    ]
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    assert [(row.id, row.label, row.origin) for row in collection_questions(path, "dev")] == [
        ("a-1", 0, "farm"),
        ("a-2", 1, "farm"),
    ]
    path.write_text('{"split": "dev", "id": "a"}', encoding="utf-8")
    with pytest.raises(ReadError, match=r"questions\.jsonl"):
        collection_questions(path, "dev")
