"""Tests of lqr.evaluation.datasets."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from lqr.errors import ReadError, SettingsError
from lqr.evaluation.datasets import POOL, load_dataset, read_rows


def write(path: Path, rows: list[Any], *, zipped: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode() + b"\n"
    path.write_bytes(gzip.compress(content) if zipped else content)
    return path


def question(number: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": f"q{number}", "question": f"Question {number}?", "answers": ["x"], "supporting": ["p1"]} | more


def passage(number: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": f"p{number}", "title": f"Title {number}", "text": f"Text {number}."} | more


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for i, name in enumerate(POOL):
        write(tmp_path / name / "corpus.jsonl.gz", [passage(id=f"{name}-1"), passage(2, id=f"{name}-2")])
        write(tmp_path / name / "test.jsonl.gz", [question(n, id=f"q{n}") for n in range(i + 1)])
        write(tmp_path / name / "train.jsonl.gz", [question(9)])
    return tmp_path


def test_a_set_of_the_folder(data: Path) -> None:
    found = load_dataset("musique", "test", data=data)
    assert [q.id for q in found.questions] == ["q0", "q1"]
    assert [p.id for p in found.corpus] == ["musique-1", "musique-2"]
    assert (found.name, found.split, found.questions[0].dataset) == ("musique", "test", "musique")
    assert load_dataset("musique", "train", data=data).questions[0].id == "q9"
    path = data / "musique" / "test.jsonl.gz"
    assert found.origin["questions: musique/test.jsonl.gz"] == {
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "rows": 2,
    }
    assert str(data) not in json.dumps(found.origin)


def test_pooled_passages_and_all_questions(data: Path) -> None:
    pooled = load_dataset("squad", "test", data=data, pooled=True)
    assert len(pooled.corpus) == 2 * len(POOL)
    assert len(pooled.questions) == 4
    for name in ("all", "pooled"):
        everything = load_dataset(name, "test", data=data)
        assert len(everything.questions) == 1 + 2 + 3 + 4 + 5
        assert len({q.id for q in everything.questions}) == 15  # ids that sets share are told apart
        assert {q.dataset for q in everything.questions} == set(POOL)


@pytest.mark.parametrize("zipped", [True, False])
def test_files_given_by_hand_need_no_folder(tmp_path: Path, zipped: bool) -> None:
    suffix = ".jsonl.gz" if zipped else ".jsonl"
    questions = write(tmp_path / f"mine{suffix}", [question()], zipped=zipped)
    corpus = write(tmp_path / f"corpus{suffix}", [passage()], zipped=zipped)
    found = load_dataset(None, "test", questions=questions, corpus=corpus)
    assert (found.name, len(found.questions), len(found.corpus)) == ("mine", 1, 1)
    assert found.missing_gold() == 0
    assert load_dataset("named", "test", questions=questions, corpus=corpus).name == "named"


def test_a_name_ending_in_gz_does_not_make_a_gzip(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl.gz", [question()], zipped=False)
    assert read_rows(path)[0]["id"] == "q1"


def test_one_file_by_hand_and_the_rest_from_the_folder(data: Path, tmp_path: Path) -> None:
    questions = write(tmp_path / "own.jsonl", [question(7)], zipped=False)
    found = load_dataset("squad", "test", data=data, questions=questions)
    assert [q.id for q in found.questions] == ["q7"]
    assert found.corpus[0].id == "squad-1"
    corpus = write(tmp_path / "own-corpus.jsonl", [passage(5)], zipped=False)
    found = load_dataset("squad", "test", data=data, corpus=corpus)
    assert len(found.questions) == 4
    assert [p.id for p in found.corpus] == ["p5"]
    assert found.missing_gold() == 4
    assert load_dataset("squad", "test", data=data, with_corpus=False).corpus == ()


def test_what_is_known_of_a_question(tmp_path: Path) -> None:
    rows = [
        question(1, supporting=["p1", "p2", "p1"], type="bridge"),
        question(2),
        {"question": "no id, no gold"},
        question(4, answers="one", supporting=[], decomposition=[{"question": "a"}, {"question": "b"}]),
        {"id": "q5", "question": "Is it?", "answer": True},
        question(6, question="half a pair \ud83d"),
    ]
    path = write(tmp_path / "q.jsonl", rows, zipped=False)
    corpus = write(tmp_path / "c.jsonl", [passage()], zipped=False)
    found = load_dataset(None, "test", questions=path, corpus=corpus).questions
    assert [q.complex for q in found] == [True, False, None, True, None, False]
    assert found[0].supporting == ("p1", "p2")
    assert (found[2].id, found[2].answers) == ("3", ())
    assert (found[3].answers, found[4].answers) == (("one",), ("yes",))
    assert found[5].question == "half a pair ?"


def test_samples_are_seeded_nested_and_in_order(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", [question(n) for n in range(50)], zipped=False)
    whole = load_dataset(None, "test", questions=path, with_corpus=False)
    small, large = (whole.sample(n, 13).questions for n in (5, 20))
    assert len(small) == 5
    assert set(small) < set(large)
    assert list(large) == [q for q in whole.questions if q in large]
    assert whole.sample(5, 14).questions != small
    assert whole.sample(None, 13) == whole
    assert whole.sample(500, 13) == whole


def test_titles_can_be_taken_away(data: Path) -> None:
    bare = load_dataset("squad", "test", data=data).without_titles()
    assert {p.title for p in bare.corpus} == {""}
    assert bare.corpus[0].text == "Text 1."


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["{not json"], "line 1: not JSON"),
        (["[1]"], "must be a JSON object"),
        ([{"id": "q"}], "question 1: has no text"),
        ([question(), question(2, question=" ")], "question 2: has no text"),
        ([question(answers=3)], "must be lists"),
        ([], "holds no question"),
    ],
)
def test_malformed_questions_are_named(tmp_path: Path, rows: list[Any], said: str) -> None:
    path = write(tmp_path / "q.jsonl", rows, zipped=False)
    with pytest.raises(ReadError, match=said):
        load_dataset(None, "test", questions=path, with_corpus=False)


def test_malformed_passages_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", [question()], zipped=False)
    for rows, said in (([{"id": "p1"}], "passage 1: must have"), ([passage(), passage(text="other")], "is taken")):
        corpus = write(tmp_path / "c.jsonl", rows, zipped=False)
        with pytest.raises(ReadError, match=said):
            load_dataset(None, "test", questions=path, corpus=corpus)
    twice = write(tmp_path / "twice.jsonl", [passage(), passage()], zipped=False)
    assert len(load_dataset(None, "test", questions=path, corpus=twice).corpus) == 1


def test_what_is_missing_is_said(data: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="--dataset NAME with --data DIR"):
        load_dataset(None, "test")
    with pytest.raises(SettingsError, match="needs --data"):
        load_dataset("squad", "test")
    with pytest.raises(ReadError, match=r"holds no set 'nothing'; it holds .*squad"):
        load_dataset("nothing", "test", data=data)
    with pytest.raises(ReadError, match="not readable"):
        load_dataset("squad", "dev", data=data)
    questions = write(tmp_path / "q.jsonl", [question()], zipped=False)
    with pytest.raises(SettingsError, match="--corpus FILE"):
        load_dataset(None, "test", questions=questions)
    cut = data / "squad" / "test.jsonl.gz"
    cut.write_bytes(cut.read_bytes()[:-10])
    with pytest.raises(ReadError, match="not readable"):
        load_dataset("squad", "test", data=data)
