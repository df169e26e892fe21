"""Tests of lqr.classifiers.relevance: the rules, and a tiny random pair encoder made on the spot."""

from __future__ import annotations

import json
import math
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from lqr.classifiers.relevance import CrossEncoderRelevance, RuleRelevance, batches
from lqr.errors import WeightsError
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.tokenizer import tokenize

WORDS = "how much salt do sheep need a day . ? nine grams of the cow needs more wool is cut in spring rain falls 羊 需".split()
TEXTS = [
    ("Salt", "Sheep need nine grams of salt a day."),
    ("", "Rain falls in spring."),
    ("Wool", "The wool is cut in spring. " * 60),  # far over the limit of tokens
    ("Salt", ""),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pair encoder of 16 dimensions with random weights, saved as the training saves one."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    from lqr.classifiers.pair_encoder import PairEncoder

    where = tmp_path_factory.mktemp("models") / "relevance"
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
        max_position_embeddings=64,
    )
    PairEncoder(BertModel(config, add_pooling_layer=False)).save(where, tokenizer)
    return where


def copied(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to / "relevance"))


def load(folder: Path, **options: Any) -> CrossEncoderRelevance:
    return CrossEncoderRelevance(folder, max_tokens=48, **options)


@pytest.fixture(scope="module")
def model(folder: Path) -> CrossEncoderRelevance:
    return load(folder)


def test_scores_are_probabilities_in_the_order_given(model: CrossEncoderRelevance) -> None:
    scores = model.score("how much salt do sheep need?", TEXTS)
    assert len(scores) == len(TEXTS)
    assert all(0.0 < score < 1.0 for score in scores)
    alone = [model.score("how much salt do sheep need?", [text])[0] for text in TEXTS]
    assert scores == pytest.approx(alone, abs=0.01)
    assert len({round(score, 4) for score in scores}) > 1


def test_a_batch_holds_no_more_than_it_may_when_padded() -> None:
    lengths = [300, 10, 290, 20, 15, 900, 5]
    parts = list(batches(lengths, 600))
    assert [[lengths[i] for i in part] for part in parts] == [[5, 10, 15, 20], [290, 300], [900]]
    assert list(batches([], 600)) == []


def test_batches_do_not_change_the_scores(folder: Path, model: CrossEncoderRelevance) -> None:
    pairs = [(question, text) for question in ("salt?", "how much wool do sheep need a day?") for text in TEXTS]
    alone = [model.score_many([pair])[0] for pair in pairs]
    assert alone == pytest.approx(model.score_many(pairs), abs=0.01)
    assert model.score_many(pairs)[: len(TEXTS)] == pytest.approx(model.score("salt?", TEXTS), abs=0.01)


def test_nothing_to_score(model: CrossEncoderRelevance) -> None:
    assert model.score("salt?", []) == []
    assert model.score_many([]) == []


@pytest.mark.parametrize(
    "question", ["", "?", "🐑🐑", "salt " * 4000, "羊" * 70, "羊" * 140, "羊" * 20000, "[SEP] [CLS]", "\x00"]
)
def test_odd_questions_are_scored(model: CrossEncoderRelevance, question: str) -> None:
    scores = model.score(question, TEXTS)
    assert all(math.isfinite(score) for score in scores)


def test_it_is_the_sigmoid_of_the_logit_over_the_temperature(folder: Path, model: CrossEncoderRelevance, tmp_path: Path) -> None:
    warm = copied(folder, tmp_path)
    (warm / "calibration.json").write_text(json.dumps({"temperature": 4.0}))
    plain = model.score("salt?", TEXTS)
    logits = [math.log(score / (1 - score)) / 4.0 for score in plain]
    assert load(warm).score("salt?", TEXTS) == pytest.approx([1 / (1 + math.exp(-logit)) for logit in logits], abs=0.01)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"temperature": "warm"}', '{"temperature": 0}', '{"temperature": NaN}'])
def test_a_damaged_calibration_is_refused_by_name(folder: Path, tmp_path: Path, text: str) -> None:
    damaged = copied(folder, tmp_path)
    (damaged / "calibration.json").write_text(text)
    with pytest.raises(WeightsError, match=r"calibration\.json"):
        load(damaged)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "head.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["gone", "empty", "garbage"])
def test_a_damaged_model_is_refused_by_name(folder: Path, tmp_path: Path, name: str, damage: str) -> None:
    damaged = copied(folder, tmp_path)
    if damage == "gone":
        (damaged / name).unlink()
        (damaged / "vocab.txt").unlink(missing_ok=True)
    else:
        (damaged / name).write_bytes(b"" if damage == "empty" else b"\x08\x00\x00\x00not at all")
    with pytest.raises(WeightsError, match="models/relevance"):
        load(damaged)


def test_lacking_weights_are_not_made_up(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    damaged = copied(folder, tmp_path)
    weights = load_file(str(damaged / "model.safetensors"))
    save_file({k: v for k, v in weights.items() if "attention" not in k}, str(damaged / "model.safetensors"), {"format": "pt"})
    with pytest.raises(WeightsError, match="models/relevance"):
        load(damaged)


def test_pickled_weights_are_not_loaded(folder: Path, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    damaged = copied(folder, tmp_path)
    torch.save(load_file(str(damaged / "model.safetensors")), damaged / "pytorch_model.bin")
    (damaged / "model.safetensors").unlink()
    with pytest.raises(WeightsError):
        load(damaged)


def test_an_absent_folder_is_refused_and_nothing_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="restore the folder"):
        load(tmp_path / "relevance")


def test_two_threads_score_alike(model: CrossEncoderRelevance) -> None:
    expected = model.score("how much salt?", TEXTS)
    found: list[list[float]] = []

    def work() -> None:
        found.extend(model.score("how much salt?", TEXTS) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 10
    assert all(scores == pytest.approx(expected, abs=0.01) for scores in found)


@pytest.fixture
def rules() -> RuleRelevance:
    return RuleRelevance(HashingEmbedder(256).encode, tokenize)


def test_rules_prefer_the_text_that_shares_words(rules: RuleRelevance) -> None:
    scores = rules.score("How much salt do sheep need?", TEXTS[:3])
    assert scores[0] == max(scores)
    assert all(0.0 < score < 1.0 for score in scores)


def test_rules_are_the_plain_formula(rules: RuleRelevance) -> None:
    embedder = HashingEmbedder(256)
    question, (heading, text) = "How much salt do sheep need?", TEXTS[0]
    vectors = embedder.encode([question, f"{heading}. {text}"])
    cosine = float(vectors[0] @ vectors[1])
    wanted = {*tokenize("salt sheep")}  # "how much do ... need" are stop words
    share = len(wanted & {*tokenize(f"{heading}. {text}")}) / len(wanted)
    assert rules.score(question, [TEXTS[0]])[0] == pytest.approx(1 / (1 + math.exp(-(9 * (cosine - 0.5) + 3 * (share - 0.5)))))


def test_rules_score_pairs_as_they_score_one_by_one(rules: RuleRelevance) -> None:
    pairs = [(question, text) for question in ("salt?", "", "🐑", "wool of sheep") for text in TEXTS]
    single = [rules.score(question, [text])[0] for question, text in pairs]
    assert rules.score_many(pairs) == pytest.approx(single)
    assert rules.score_many([]) == rules.score("salt?", []) == []
