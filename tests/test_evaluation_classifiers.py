"""What `lqr evaluate classifiers` measures, on a folder of two-line sets and on a file."""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lqr.errors import ReadError
from lqr.evaluation import classifiers
from lqr.training.datasets.complexity import TESTED


def put(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    corpus = [{"id": f"p{i}", "title": f"Title {i}", "text": f"Text {i} of ewes and rams"} for i in range(8)]
    put(tmp_path / "hotpotqa" / "corpus.jsonl.gz", corpus)
    rows = [
        {"id": "a", "question": "ewes?", "answers": ["yes"], "supporting": ["p0", "p1"], "distractors": ["p2", "p3"]},
        {"id": "b", "question": "rams?", "answers": ["yes"], "supporting": ["p4"], "distractors": ["p5"]},
        {"id": "c", "question": "none?", "answers": ["yes"], "supporting": ["gone"], "distractors": ["p5"]},
    ]
    put(tmp_path / "hotpotqa" / "test.jsonl.gz", rows)
    return tmp_path


@pytest.fixture(autouse=True)
def nothing_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LQR_MODELS", str(tmp_path / "no-models"))
    monkeypatch.setenv("LQR_KNOWLEDGE", str(tmp_path / "no-knowledge"))


class Titles:
    """Calls what stands in the given titles relevant."""

    name = "titles"

    def __init__(self, *titles: str) -> None:
        self.titles = titles
        self.seen: list[str] = []

    def score(self, question: str, texts: Sequence[tuple[str, str]]) -> list[float]:
        return self.score_many([(question, text) for text in texts])

    def score_many(self, pairs: Sequence[tuple[str, tuple[str, str]]]) -> list[float]:
        self.seen += [text for _, (_, text) in pairs]
        return [0.9 if title in self.titles else 0.1 for _, (title, _) in pairs]


def test_pairs_are_balanced_in_both_forms(folder: Path) -> None:
    alone, second = classifiers.relevance_pairs(folder / "hotpotqa", 0, 13)
    assert [pair.label for pair in alone] == [1.0, 0.0, 1.0, 0.0]
    assert [pair.label for pair in second] == [1.0, 0.0]
    assert {pair.title for pair in alone if not pair.label} <= {"Title 2", "Title 3", "Title 5"}
    shown = second[0]
    assert shown.title in ("Title 0", "Title 1")
    assert shown.title not in shown.question  # the first passage is the other one


def test_relevance_figures_come_from_the_rows(folder: Path) -> None:
    model = Titles("Title 0", "Title 1", "Title 5")  # right on the first question, wrong on both of the second
    found = classifiers.relevance_results(model, folder, ("hotpotqa",), 0, 13)
    alone = found["relevance, hotpotqa, question and passage alone"]
    assert alone["summary"]["accuracy"] == 0.5
    assert sum(row["predicted"] == row["label"] for row in alone["rows"]) == 2
    assert found["relevance, hotpotqa, second step"]["summary"]["accuracy"] == 1.0
    assert found["relevance, speed"]["summary"]["n"] == 4
    assert len(model.seen[-1].split()) == classifiers.SPEED_WORDS


def options(**values: Any) -> argparse.Namespace:
    return argparse.Namespace(
        **{"data": None, "questions": None, "split": "test", "limit": 0, "seed": 13, "dataset": None} | values
    )


def test_rules_on_a_file(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    rows = [
        {"id": "1", "question": "Which is heavier, a Dorper or a Suffolk?", "supporting": ["a", "b"]},
        {"id": "2", "question": "How is orf treated?", "supporting": ["a"]},
        {"id": "3", "question": "How is footrot treated?", "label": 1},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = classifiers.run(options(questions=path))
    assert {"settings", "versions", "seed", "models"} <= set(result)
    (name,) = result["models"]
    assert name == "complexity, own.jsonl, rules"
    found = result["models"][name]["rows"]
    assert [(row["id"], row["label"], row["predicted"]) for row in found] == [("1", 1, 1), ("2", 0, 0), ("3", 1, 0)]
    assert len(classifiers.run(options(questions=path, limit=2))["models"][name]["rows"]) == 2


def test_rules_on_the_six_sets(tmp_path: Path) -> None:
    for name in TESTED:
        put(tmp_path / name / "test.jsonl.gz", [{"id": name, "question": "How is orf treated?"}])
    result = classifiers.run(options(data=tmp_path))["models"]["complexity, six sets balanced, rules"]["summary"]
    assert (result["n"], result["accuracy"], result["recall"]) == (6, 0.5, 0.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [({}, "--data"), ({"split": "train"}, "--split"), ({"questions": Path("gone.jsonl")}, r"gone\.jsonl")],
)
def test_wrong_use_is_said(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ReadError, match=message):
        classifiers.run(options(**values))


def test_a_row_without_a_label_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text('{"question": "what"}\n', encoding="utf-8")
    with pytest.raises(ReadError, match=r"own\.jsonl row 1"):
        classifiers.run(options(questions=tmp_path / "own.jsonl"))
