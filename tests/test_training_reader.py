"""Training windows from small sets made here, and the loss and alignment of the reader's training."""

from __future__ import annotations

import gzip
import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lqr.training.reader import marginal, token_spans
from lqr.training.windows import NO, SPAN, build


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    text = "The capital of Pell is Orm. It lies on a lake."
    question = {"question": "What is the capital of Pell?", "answer": "Orm", "answer_start": text.index("Orm")}
    write(tmp_path / "squad" / "train_paragraphs.jsonl.gz", [{"title": "Pell", "text": text, "questions": [question]}])
    corpus = [
        {"id": "1", "title": "Orm", "text": "Orm is a town. Its mayor is Ada Fenn."},
        {"id": "2", "title": "Ada Fenn", "text": "Ada Fenn was born in Tarn."},
        *({"id": str(n), "title": f"Other {n}", "text": f"Nothing of note, number {n}."} for n in range(3, 15)),
    ]
    rows = [
        {
            "id": "a",
            "question": "Where was the mayor of Orm born?",
            "answers": ["Tarn"],
            "supporting": ["1", "2"],
            "evidence": [
                {"passage": "1", "sentence": "Its mayor is Ada Fenn."},
                {"passage": "2", "sentence": "Ada Fenn was born in Tarn."},
            ],
        },
        {"id": "b", "question": "Is Orm a lake?", "answers": ["no"], "supporting": ["1"]},
    ]
    for name in ("hotpotqa", "2wikimultihopqa", "musique", "natural_questions"):
        write(tmp_path / name / "corpus.jsonl.gz", corpus)
        write(tmp_path / name / "train.jsonl.gz", rows)
    return tmp_path


def test_answers_lie_where_they_are_said_to(data: Path) -> None:
    tasks = build(data, squad=5, rounds=4)
    assert {t.origin for t in tasks} == {"squad", "hotpotqa", "2wikimultihopqa", "musique", "natural_questions"}
    for task in tasks:
        assert len(task.needed) == len(task.window.sentences)
        for begin, end in task.answers:
            assert task.window.text[begin:end] in ("Orm", "Tarn")
    answered = [t for t in tasks if t.question.startswith("Where") and t.answers]
    assert answered
    for task in answered:
        marked = [task.window.text[b:e] for (b, e, _), n in zip(task.window.sentences, task.needed, strict=True) if n == 1]
        assert set(marked) == {"Its mayor is Ada Fenn.", "Ada Fenn was born in Tarn."}


def test_yes_and_no_have_no_span_and_unmarked_sentences_are_left_open(data: Path) -> None:
    task = next(t for t in build(data, squad=1, rounds=4) if t.question.startswith("Is") and t.kind == NO)
    assert task.answers == ()
    home = [n for (_, _, index), n in zip(task.window.sentences, task.needed, strict=True) if n == -1]
    assert len(home) == 2  # the two sentences of the right passage, which nobody marked


def test_a_window_without_the_right_passage_needs_nothing(data: Path) -> None:
    tasks = build(data, squad=1, rounds=40)
    without = [t for t in tasks if t.question.startswith("Where") and "Ada Fenn" not in t.window.text]
    assert without
    assert all(t.kind == SPAN and t.answers == () and set(t.needed) <= {0} for t in without)


def test_the_same_seed_gives_the_same_windows(data: Path) -> None:
    assert build(data, seed=5, squad=1) == build(data, seed=5, squad=1)


def test_marginal_loss_is_that_of_the_formula() -> None:
    import torch

    rng = random.Random(4)
    logits = [[rng.gauss(0, 1) for _ in range(6)] for _ in range(3)]
    right = [[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]]
    want = []
    for row, marks in zip(logits, right, strict=True):
        whole = sum(map(math.exp, row))
        want.append(-math.log(sum(math.exp(z) for z, m in zip(row, marks, strict=True) if m) / whole))
    assert marginal(torch.tensor(logits), torch.tensor(right)).tolist() == pytest.approx(want, abs=1e-5)


def test_spans_become_the_tokens_that_hold_their_ends() -> None:
    offsets = [(0, 0), (0, 3), (4, 9), (9, 10), (11, 15), (0, 0)]
    assert token_spans([(4, 10), (0, 3), (11, 15)], offsets) == [(2, 3), (1, 1), (4, 4)]
    assert token_spans([(12, 20)], offsets) == []  # cut off


def test_a_reader_is_trained_and_training_goes_on_from_it_heads_and_all(data: Path, tmp_path: Path) -> None:
    from lqr.classifiers.span_encoder import SpanEncoder
    from lqr.training.cross_encoder import TrainConfig
    from lqr.training.reader import train_reader
    from tests.tiny_models import tiny_encoder

    tasks = build(data, squad=5, rounds=4)
    base = tiny_encoder(tmp_path / "base", "bert", [task.question + " " + task.window.text for task in tasks])
    config = TrainConfig(base=str(base), out=tmp_path / "one", epochs=1, batch=4, max_tokens=64, eval_every=2, bf16=False)
    assert train_reader(tasks, config)["loss"] > 0
    again = replace(config, base=str(tmp_path / "one"), out=tmp_path / "two", learning_rate=0.0)
    train_reader(tasks, again)
    one, two = (SpanEncoder.load(tmp_path / name).state_dict() for name in ("one", "two"))
    assert all(one[name].equal(two[name]) for name in one)  # without a step, what was loaded is what is saved
