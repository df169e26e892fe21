"""Tests of lqr.training.evidence and its windows: marks find their units, and a tiny model learns from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lqr.errors import ReadError
from lqr.training.evidence_windows import (
    FINE,
    FIRST,
    MISLEADS,
    SAY,
    UNTOLD,
    Judged,
    Marked,
    answered_windows,
    asked_windows,
    judged_windows,
    read_judged,
)
from lqr.types import Asked, Passage, Window
from tests.tiny_models import tiny_encoder

TEXT = "Give 50 ml of glucose by mouth. Call the vet. Goats differ. Rain falls."


def passage(text: str = TEXT, number: int = 0, kind: str = "paragraph") -> Passage:
    return Passage(f"d-{number}", "d", "Collapse", ("Treatment",), text, number, 0, len(text), kind)  # type: ignore[arg-type]


def judged(**changed: object) -> Judged:
    fields: dict[str, object] = {
        "question": "my ewe is down, what now?",
        "shown": (("sheep/collapse", "Give 50 ml of glucose"),),
        "say": (("sheep/collapse", "Give 50 ml"), ("sheep/collapse", "Call the vet")),
        "fine": (),
        "bad": (("sheep/collapse", "Goats differ"),),
    }
    return Judged(**{**fields, **changed})  # type: ignore[arg-type]


def test_each_unit_gets_what_was_said_of_it() -> None:
    (marked,) = judged_windows([judged()], {"sheep/collapse": [passage()]})
    assert [marked.window.text[s:e] for s, e in marked.window.spans] == [
        "Give 50 ml of glucose by mouth.",
        "Call the vet.",
        "Goats differ.",
        "Rain falls.",
    ]
    assert marked.labels == (FIRST, SAY, 0.0, 0.0)
    assert marked.weights == (1.0, 1.0, MISLEADS, 1.0)


def test_what_no_longer_stands_in_the_document_is_left_out() -> None:
    assert judged_windows([judged(shown=(("sheep/collapse", "Sentences of last year"),))], {"sheep/collapse": [passage()]}) == []
    assert judged_windows([judged()], {}) == []


def test_a_mark_of_another_document_is_none_here() -> None:
    (marked,) = judged_windows([judged(say=(("goats/milk", "Call the vet"),))], {"sheep/collapse": [passage()]})
    assert marked.labels == (0.0, 0.0, 0.0, 0.0)


def test_of_a_long_table_the_marked_rows_and_some_others_are_shown() -> None:
    rows = [passage(f"Age: week {n}; Milk: {n} litres", n, "table_row") for n in range(30)]
    shown = tuple(("calves/milk", f"Age: week {n};") for n in range(30))
    row = judged(shown=shown, say=(("calves/milk", "Age: week 29;"),), fine=(("calves/milk", "Age: week 28;"),), bad=())
    found = judged_windows([row], {"calves/milk": rows})
    labels = [marked.labels[0] for marked in found]
    assert labels.count(FIRST) == 1
    assert labels.count(FINE) == 1
    assert 4 <= labels.count(0.0) < 25


def test_a_written_question_tells_little_of_the_other_units() -> None:
    (marked,) = asked_windows([Asked("who do I call?", "sheep/collapse", "Call the vet")], {"sheep/collapse": [passage()]})
    assert marked.labels == (0.0, FIRST, 0.0, 0.0)
    assert marked.weights == (UNTOLD, 1.0, UNTOLD, UNTOLD)
    assert asked_windows([Asked("who?", "sheep/collapse", "no such words")], {"sheep/collapse": [passage()]}) == []


def test_whoever_wrote_the_ideal_answer_saw_the_whole_article_and_no_other() -> None:
    other = Passage("o-0", "o", "Goats", (), "Goats need browse. Call the vet.", 0, 0, 32, "paragraph")
    answers = {
        "who now?": (Asked("who now?", "sheep/collapse", "Call the vet"), Asked("who now?", "sheep/collapse", "Give 50 ml"))
    }
    found = answered_windows(answers, {"sheep/collapse": [passage()], "goats/browse": [other]}, lambda question: [other])
    by_heading = {marked.window.heading.split(" ")[0]: marked for marked in found}
    assert len(found) == 2
    mine, others = (marked for _, marked in sorted(by_heading.items()))
    assert mine.labels == (SAY, FIRST, 0.0, 0.0)
    assert mine.weights == (1.0, 1.0, 1.0, 1.0)
    assert others.labels == (0.0, 0.0)  # the same words in another article are not what was marked
    assert others.weights == (UNTOLD, UNTOLD)


def test_a_malformed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    place = [{"document": "a", "contains": "b"}]
    path.write_text(json.dumps({"question": "q", "shown": place, "say": place, "fine": [], "bad": []}) + "\n\n{}\n")
    with pytest.raises(ReadError, match=r"judged\.jsonl line 3"):
        read_judged(path)
    path.write_text(path.read_text().replace("{}\n", ""))
    assert read_judged(path) == [Judged("q", (("a", "b"),), (("a", "b"),), (), ())]
    with pytest.raises(ReadError):
        read_judged(tmp_path / "none.jsonl")


def test_a_tiny_model_learns_which_sentence_is_said(tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    from lqr.classifiers.evidence import SentenceEvidence
    from lqr.classifiers.sentence_encoder import SentenceEncoder
    from lqr.training.cross_encoder import TrainConfig
    from lqr.training.evidence import train

    words = ["red", "blue", "green", "grey"]

    def marked(n: int) -> Marked:
        first, second = words[n % 4], words[(n + 1 + n // 4 % 3) % 4]
        text = f"The {first} sheep eats. The {second} goat waits here."
        middle = text.index(".") + 1
        right = (1.0, 0.0) if n % 2 else (0.0, 1.0)
        asked = "sheep eats" if n % 2 else "goat waits here"
        return Marked(Window(asked, "Farm", text, ((0, middle), (middle + 1, len(text)))), right, (1.0, 1.0), "test")

    rows = [marked(n) for n in range(96)]
    base = tiny_encoder(tmp_path / "base", "bert", [row.window.text + row.window.question for row in rows] + ["Farm goat here"])
    SentenceEncoder(AutoModel.from_pretrained(base)).save(tmp_path / "start", AutoTokenizer.from_pretrained(base))
    config = TrainConfig(
        str(tmp_path / "start"), tmp_path / "out", epochs=12, batch=8, learning_rate=5e-3, max_tokens=64, eval_every=24
    )
    result = train(rows[:80], rows[80:], config)
    assert result["accuracy"] > 0.9
    model = SentenceEvidence(tmp_path / "out", max_tokens=64)
    assert all((a > b) == (row.labels[0] > 0.5) for row in rows[80:] for a, b in model.score([row.window]))
    assert json.loads((tmp_path / "out" / "training.json").read_text())["windows"] == 80
