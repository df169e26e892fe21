"""The reader: windows, spans, and a tiny random model that must answer with pieces of its passages."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest

from lqr.classifiers.reader import Reader, best_span, pack
from lqr.errors import WeightsError
from lqr.types import Passage

WORDS = "how much salt do sheep need a day . ? nine grams of the cow needs more wool is cut in spring rain falls".split()


def passage(number: int, text: str) -> Passage:
    return Passage(f"p{number}", "d", f"Salt {number}", (), text, number, 0, len(text))


PASSAGES = [passage(n, "Sheep need nine grams of salt a day. Rain falls in spring.") for n in range(7)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A span encoder of 16 dimensions with random weights, saved as the training saves one."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    from lqr.classifiers.span_encoder import SpanEncoder

    where = tmp_path_factory.mktemp("models") / "reader"
    where.mkdir()
    vocabulary = where / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]), encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(vocabulary), do_lower_case=True)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(WORDS) + 5,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=96,
    )
    SpanEncoder(BertModel(config, add_pooling_layer=False)).save(where, tokenizer)
    (where / "calibration.json").write_text(json.dumps({"evidence_temperature": 1.5}))
    return where


def test_windows_hold_whole_passages_and_know_where_everything_lies() -> None:
    windows = pack([(p.topic, p.text) for p in PASSAGES], 160)
    assert sum(len(w.passages) for w in windows) == len(PASSAGES)
    assert len(windows) > 1
    for window in windows:
        assert len(window.text) <= 161
        for begin, end, index in window.passages:
            assert window.text[begin:end] == f"Salt {index}. {PASSAGES[index].text}"
        assert {window.text[b:e] for b, e, _ in window.sentences} == {
            "Sheep need nine grams of salt a day.",
            "Rain falls in spring.",
        }


def test_a_passage_longer_than_a_window_has_one_of_its_own() -> None:
    [one, two] = pack([("", "x" * 500), ("", "y")], 100)
    assert len(one.text) == 501
    assert two.text == "y\n"


def test_the_best_span_is_that_of_a_loop() -> None:
    import torch

    torch.manual_seed(3)
    for _ in range(20):
        start, end = torch.randn(12), torch.randn(12)
        pairs = [(b, e) for b, e in itertools.combinations_with_replacement(range(1, 12), 2) if e - b < 4]
        want = max(pairs, key=lambda p: float(start[p[0]] + end[p[1]]))
        begin, last, score = best_span(start, end, 4)
        assert (begin, last) == want
        assert score == pytest.approx(float(start[want[0]] + end[want[1]] - start[0] - end[0]), abs=1e-5)


def test_answers_are_pieces_of_the_passage_they_name_and_every_sentence_is_scored(folder: Path) -> None:
    reader = Reader(folder, max_tokens=64)
    answer, evidence = reader.read("How much salt do sheep need?", PASSAGES)
    assert len(evidence) == 2 * len(PASSAGES)
    assert all(0.0 <= e.probability <= 1.0 for e in evidence)
    if answer.text not in ("", "yes", "no"):
        home = next(p for p in PASSAGES if p.id == answer.passage_id)
        assert answer.text in f"{home.topic}. {home.text}"
    assert reader.answer("How much?", PASSAGES) == reader.read("How much?", PASSAGES)[0]


def test_nothing_to_read_gives_no_answer(folder: Path) -> None:
    answer, evidence = Reader(folder).read("How much?", [])
    assert answer.text == ""
    assert answer.score == float("-inf")
    assert evidence == []


@pytest.mark.parametrize("lost", ["heads.safetensors", "calibration.json", "model.safetensors"])
def test_a_missing_file_is_named_with_the_folder(folder: Path, tmp_path: Path, lost: str) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "reader"))
    (copy / lost).unlink()
    with pytest.raises(WeightsError, match="models/reader cannot be loaded"):
        Reader(copy)
