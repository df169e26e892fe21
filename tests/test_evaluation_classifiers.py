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
from lqr.evaluation import classifiers, reading
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


def test_a_half_that_is_not_there_is_refused_with_what_to_say_instead(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"question": "How is orf treated?", "label": 0}\n', encoding="utf-8")
    with pytest.raises(ReadError, match=r"own\.jsonl is measured whole.* leave --split dev out") as refused:
        classifiers.run(options(questions=path, split="dev"))
    assert "--dataset agriculture --split dev, without --questions" in str(refused.value)
    with pytest.raises(ReadError, match=r"say --split train or test.*--dataset agriculture"):
        classifiers.run(options(data=tmp_path, split="dev"))
    # the file of a collection, in its own layout
    path.write_text('{"id": "q1", "split": "dev", "turns": []}\n', encoding="utf-8")
    with pytest.raises(ReadError, match=r"own\.jsonl row 1: .* of a collection; say --dataset"):
        classifiers.run(options(questions=path))


def test_rules_on_the_six_sets(tmp_path: Path) -> None:
    for name in TESTED:
        put(tmp_path / name / "test.jsonl.gz", [{"id": name, "question": "How is orf treated?"}])
    result = classifiers.run(options(data=tmp_path))["models"]["complexity, six sets balanced, rules"]["summary"]
    assert (result["n"], result["accuracy"], result["recall"]) == (6, 0.5, 0.0)


def six_sets(data: Path) -> None:
    for name in TESTED:
        put(data / name / "test.jsonl.gz", [{"id": f"{name}-test", "question": "How is orf treated?"}])
        put(data / name / "train.jsonl.gz", [{"id": f"{name}-train", "question": "How is bloat treated?"}])
    (data / "squad" / "train.jsonl.gz").unlink()  # this set trains on paragraphs
    asked = [{"question": "How is mastitis treated?", "answer": "milking", "answer_start": 0}]
    put(data / "squad" / "train_paragraphs.jsonl.gz", [{"title": "Udders", "text": "milking helps", "questions": asked}])


@pytest.mark.parametrize(("split", "ending"), [("test", "-test"), ("train", "-train")])
def test_a_split_is_the_one_that_is_read(tmp_path: Path, split: str, ending: str) -> None:
    six_sets(tmp_path)
    result = classifiers.run(options(data=tmp_path, split=split))
    rows = result["models"]["complexity, six sets balanced, rules"]["rows"]
    assert result["settings"]["split"] == split
    assert {row["set"] for row in rows} == set(TESTED)
    assert all(row["id"].endswith(ending) for row in rows if row["set"] != "squad")
    assert [row["id"] for row in rows if row["set"] == "squad"] == ["squad-test" if split == "test" else "Udders-0-0"]


def test_a_dataset_is_the_only_one_that_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    six_sets(tmp_path)
    (tmp_path / "models" / "reader").mkdir(parents=True)
    (tmp_path / "models" / "reader" / "config.json").write_text("{}")
    monkeypatch.setenv("LQR_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(classifiers, "load_reader", lambda settings: None)
    monkeypatch.setattr(classifiers, "load_relevance", lambda settings: Titles())
    read: list[str] = []
    monkeypatch.setattr(classifiers, "reader_results", lambda *_, split: read.append(split) or {"rows": []})
    found = classifiers.run(options(data=tmp_path, dataset="natural_questions"))["models"]
    assert set(found) == {"complexity, natural_questions, rules"}
    assert read == []
    found = classifiers.run(options(data=tmp_path, dataset="squad", split="train"))["models"]
    assert set(found) == {"complexity, squad, rules", "reader, squad, gold paragraph"}
    assert read == ["train"]


class Echo:
    """Reads the title of the passage it is shown."""

    def answer(self, question: str, passages: Sequence[Any]) -> Any:
        return argparse.Namespace(text=passages[0].title)


def test_the_reader_is_measured_on_the_training_paragraphs_too(tmp_path: Path) -> None:
    six_sets(tmp_path)
    found = reading.reader_results(Echo(), tmp_path, 0, 13, split="train")  # type: ignore[arg-type]
    (row,) = found["rows"]
    assert (row["prediction"], row["answers"], row["em"]) == ("Udders", ["milking"], 0.0)


def test_a_collection_is_measured_by_its_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "knowledge" / "farm"
    folder.mkdir(parents=True)
    (folder / "questions.jsonl").write_text(
        "".join(
            json.dumps({"id": split, "split": split, "turns": [{"standalone": "How is orf treated?", "route": "simple"}]}) + "\n"
            for split in ("dev", "test")
        )
    )
    monkeypatch.setenv("LQR_KNOWLEDGE", str(tmp_path / "knowledge"))
    for split, read in (("test", "test-1"), ("dev", "dev-1"), ("train", "dev-1")):
        found = classifiers.run(options(dataset="farm", collection="farm", split=split))["models"]
        assert [row["id"] for row in found["complexity, farm, rules"]["rows"]] == [read]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "--data"),
        ({"split": "dev"}, "--split dev"),
        ({"dataset": "canard", "data": Path(".")}, "--dataset canard"),
        ({"dataset": "agriculture"}, "no questions"),
        ({"questions": Path("gone.jsonl")}, r"gone\.jsonl"),
    ],
)
def test_wrong_use_is_said(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ReadError, match=message):
        classifiers.run(options(**values))


def test_a_row_without_a_label_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text('{"question": "what"}\n', encoding="utf-8")
    with pytest.raises(ReadError, match=r"own\.jsonl row 1"):
        classifiers.run(options(questions=tmp_path / "own.jsonl"))
