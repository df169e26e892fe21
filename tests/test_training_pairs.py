"""Tests of lqr.training.pairs on tiny data sets of the documented layout."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from lqr.errors import ReadError
from lqr.training.pairs import Pair, _supported, build, read_rows

SETS = ("natural_questions", "hotpotqa", "2wikimultihopqa", "musique", "agxqa")


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


def corpus(n: int = 8) -> list[dict[str, Any]]:
    texts = [f"Animal number {i} eats {i} kinds of grass. It lives in house {i}. It sleeps." for i in range(n)]
    return [{"id": f"p{i}", "title": f"Animal {i}", "text": text} for i, text in enumerate(texts)]


def question(i: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "id": f"q{i}",
        "question": f"Where does animal number {i} live?",
        "answers": [f"house {i}"],
        "supporting": [f"p{i}"],
    } | more


@pytest.fixture
def data(tmp_path: Path) -> Path:
    paragraphs = []
    for i in range(4):
        text = f"The sheep {i} is white. Its wool weighs {i + 2} kilograms. It eats hay."
        asked = [
            {
                "question": f"How heavy is the wool of sheep {i}?",
                "answer": f"{i + 2} kilograms",
                "answer_start": text.index(f"{i + 2} kilo"),
            },
            {"question": f"What does sheep {i} eat?", "answer": "hay", "answer_start": text.index("hay")},
        ]
        paragraphs.append({"title": "Sheep", "text": text, "questions": asked})
    write(tmp_path / "squad" / "train_paragraphs.jsonl.gz", paragraphs)
    for name in SETS:
        write(tmp_path / name / "corpus.jsonl.gz", corpus())
        evidence = [{"passage": "p0", "sentence": "It lives in house 0."}]
        write(
            tmp_path / name / "train.jsonl.gz", [question(0, evidence=evidence, distractors=["p3", "p0", "nowhere"]), question(1)]
        )
        write(tmp_path / name / "test.jsonl.gz", [question(7)])
    return tmp_path


def test_pairs_of_every_set_with_both_labels(data: Path) -> None:
    pairs = build(data)
    for origin in ("squad-sentence", "squad-passage", *SETS, *(f"{name}-sentence" for name in SETS)):
        labels = {pair.label for pair in pairs if pair.origin == origin}
        assert labels == {0.0, 1.0}, origin


def test_a_positive_holds_the_answer_and_a_negative_does_not(data: Path) -> None:
    pairs = build(data)
    for pair in pairs:
        if "wool" in pair.question:
            answer = f"{int(pair.question.split()[-1][:-1]) + 2} kilograms"
        elif "live" in pair.question:
            answer = f"house {pair.question.split()[4]}"
        else:
            answer = "hay"
        if pair.label:
            assert answer in pair.text, pair
        elif answer != "hay":
            assert answer not in pair.text, pair


def test_no_pair_has_both_labels(data: Path) -> None:
    labels: dict[tuple[str, str], set[float]] = {}
    for pair in build(data):
        labels.setdefault((pair.question, pair.text), set()).add(pair.label)
    assert all(len(found) == 1 for found in labels.values())


def test_only_train_is_read(data: Path) -> None:
    assert not any("number 7" in pair.question for pair in build(data))


def test_the_seed_decides(data: Path) -> None:
    assert build(data, seed=1) == build(data, seed=1)
    assert build(data, seed=1) != build(data, seed=2)


def test_a_negative_comes_once(data: Path) -> None:
    rows = [question(0, distractors=[f"p{i}" for i in range(1, 8)])]
    write(data / "hotpotqa" / "train.jsonl.gz", rows)
    negatives = [pair.text for pair in _supported(data / "hotpotqa", random.Random(1), hard=20) if not pair.label]
    assert len(negatives) == len(set(negatives)) == 7


def test_questions_of_unknown_words_and_small_corpora(data: Path) -> None:
    write(data / "musique" / "corpus.jsonl.gz", corpus(1))
    write(data / "musique" / "train.jsonl.gz", [question(0, question="Qqq zzz?"), question(0, question="?")])
    found = list(_supported(data / "musique", random.Random(1), hard=2))
    assert found
    assert {pair.label for pair in found} == {1.0}


def test_the_limit_of_squad(data: Path) -> None:
    assert len({pair.text for pair in build(data, squad_paragraphs=1) if pair.origin == "squad-passage"}) == 1


def test_a_paragraph_without_questions_is_passed_over(data: Path) -> None:
    write(data / "squad" / "train_paragraphs.jsonl.gz", [{"title": "T", "text": "A. B.", "questions": []}])
    assert not any(pair.origin.startswith("squad") for pair in build(data))


@pytest.mark.parametrize("damage", ["missing", "not gzip", "cut off", "not json"])
def test_a_damaged_file_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "corpus.jsonl.gz"
    if damage == "not gzip":
        path.write_bytes(b"{}")
    elif damage == "not json":
        path.write_bytes(gzip.compress(b"{}\nno\n"))
    elif damage == "cut off":
        path.write_bytes(gzip.compress(json.dumps(corpus(500)).encode())[:-20])
    with pytest.raises(ReadError, match=r"corpus\.jsonl\.gz.*--data"):
        read_rows(path)


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n\n{"a": 2}\n\n'))
    assert read_rows(path) == [{"a": 1}, {"a": 2}]


def test_a_pair_is_a_value() -> None:
    assert Pair("q", "t", "x", 1.0, "o") == Pair("q", "t", "x", 1.0, "o")
