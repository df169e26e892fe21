"""The complexity set is balanced, free of test questions, and the same for the same seed."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lqr.errors import ReadError
from lqr.training.datasets import complexity as datasets
from lqr.training.datasets.complexity import Question

NOUNS = [f"{a}{b}" for a in "abcdefghijklmnop" for b in "qrstuvwxyz"]


def put(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))


def asked(name: str, part: str, count: int) -> list[dict[str, Any]]:
    rng = random.Random(f"{name}{part}")
    return [{"id": f"{name}-{part}-{i}", "question": f"What {' '.join(rng.sample(NOUNS, 6))}?"} for i in range(count)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in datasets.TESTED:
        put(tmp_path / name / "test.jsonl.gz", asked(name, "test", 8))
        if name != "squad":
            put(tmp_path / name / "train.jsonl.gz", asked(name, "train", 60))
    put(tmp_path / "strategyqa" / "train.jsonl.gz", asked("strategyqa", "train", 12))
    questions = [{"question": row["question"], "answer": "x", "answer_start": 3} for row in asked("squad", "train", 60)]
    put(tmp_path / "squad" / "train_paragraphs.jsonl.gz", [{"title": "T", "text": "x", "questions": questions}])
    return tmp_path


def test_balanced_and_capped(data: Path) -> None:
    built = datasets.build(data, size=100)
    rows = [*built.train, *built.held_out]
    labels = Counter(row.label for row in rows)
    assert abs(labels[0] - labels[1]) <= 2
    assert max(Counter(row.origin for row in rows).values()) <= 100 // 3
    assert {row.origin for row in rows if row.label == 0} == set(datasets.SIMPLE)
    assert {row.origin for row in rows if row.label == 1} == {*datasets.COMPLEX, "joined"}
    assert not {row.id for row in built.train} & {row.id for row in built.held_out}
    assert len(built.held_out) == pytest.approx(10, abs=4)


def test_test_questions_and_repeats_are_left_out_and_counted(data: Path) -> None:
    test = datasets.test_rows(data, "musique")[0].question
    rows = asked("musique", "train", 60)
    rows[0]["question"] = test.lower().rstrip("?")
    rows[1]["question"] = rows[2]["question"].upper()
    put(data / "musique" / "train.jsonl.gz", rows)
    built = datasets.build(data, size=600)
    counts = built.counts["sets"]["musique"]
    assert (counts["like_a_test_question"], counts["near_duplicates"], counts["used"]) == (1, 1, 58)
    assert test.lower().rstrip("?") not in {row.question for row in (*built.train, *built.held_out)}


def test_same_seed_same_rows(data: Path) -> None:
    assert datasets.build(data, size=60, seed=4) == datasets.build(data, size=60, seed=4)
    assert datasets.build(data, size=60, seed=4).train != datasets.build(data, size=60, seed=5).train


def test_left_out_set_gives_nothing_and_the_others_fill_up(data: Path) -> None:
    built = datasets.build(data, size=60, joined=0.0, left_out=("triviaqa",))
    rows = [*built.train, *built.held_out]
    assert "triviaqa" not in {row.origin for row in rows}
    assert Counter(row.origin for row in rows if row.label == 0) == {"squad": 15, "natural_questions": 15}


def test_no_set_left(data: Path) -> None:
    with pytest.raises(ReadError, match="no set is left for label 0"):
        datasets.build(data, size=60, left_out=datasets.SIMPLE)


def test_missing_set_is_named(data: Path) -> None:
    (data / "triviaqa" / "train.jsonl.gz").unlink()
    with pytest.raises(ReadError, match="triviaqa"):
        datasets.build(data, size=60)


def test_extra_rows_come_in_whole_unless_they_are_test_questions(data: Path) -> None:
    own = [
        Question("a", "how many ewes for a ram", 0, "farm"),
        Question("b", datasets.test_rows(data, "squad")[0].question, 0, "farm"),
    ]
    built = datasets.build(data, size=60, held_out=0.0, extra=own)
    assert [row.id for row in built.train if row.origin == "farm"] == ["a"]
    assert built.counts["extra"]["like_a_test_question"] == 1


@pytest.mark.parametrize(
    ("sizes", "wanted", "cap", "expected"),
    [
        ({"a": 100, "b": 100}, 50, 100, {"a": 25, "b": 25}),
        ({"a": 10, "b": 100}, 50, 100, {"a": 10, "b": 40}),
        ({"a": 10, "b": 100}, 50, 30, {"a": 10, "b": 30}),
        ({"a": 5, "b": 5}, 50, 30, {"a": 5, "b": 5}),
    ],
)
def test_shares(sizes: dict[str, int], wanted: int, cap: int, expected: dict[str, int]) -> None:
    assert datasets.shares(sizes, wanted, cap) == expected


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ('"""Who would like a """"miller\'s thumb""""?"""', 'Who would like a "miller\'s thumb"?'),
        ("When was it founded ?", "When was it founded?"),
        ("  who   asked ", "who asked"),
    ],
)
def test_marks_of_the_sets_go(raw: str, clean: str) -> None:
    assert datasets.clean(raw) == clean


def test_outcome_is_whether_one_retrieval_held_all(tmp_path: Path) -> None:
    corpus = [
        {"id": "copper", "title": "Copper", "text": "copper poisons sheep"},
        {"id": "rain", "title": "Rain", "text": "rain falls"},
    ]
    corpus += [{"id": f"p{i}", "title": f"Title {i}", "text": "copper sheep poison dose"} for i in range(3)]
    put(tmp_path / "corpus.jsonl.gz", corpus)
    rows = [
        {"id": "one", "question": "does rain fall", "supporting": ["rain"]},
        {"id": "two", "question": "copper poison sheep dose", "supporting": ["p0", "rain"]},
        {"id": "none", "question": "nothing", "supporting": []},
    ]
    put(tmp_path / "test.jsonl.gz", rows)
    assert datasets.outcome_labels(tmp_path, "test", k=1) == {"one": 0, "two": 1}


def test_written_rows_are_read_again(tmp_path: Path) -> None:
    rows = [Question("1", "which is heavier, “a” or b?", 1, "x"), Question("2", "what is a", 0, "y")]
    datasets.write(rows, tmp_path / "rows.jsonl")
    assert datasets.read(tmp_path / "rows.jsonl") == rows


@pytest.mark.parametrize("line", ['{"question": "a"}', '{"question": "a", "label": 2}', "no json", "[]"])
def test_malformed_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "rows.jsonl").write_text(f'{{"question": "a", "label": 1}}\n{line}\n', encoding="utf-8")
    with pytest.raises(ReadError, match=r"rows\.jsonl line 2"):
        datasets.read(tmp_path / "rows.jsonl")
