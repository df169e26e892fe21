"""Fine-tuning of a sentence encoder: a tiny one learns which passage answers which question, and is saved to be loaded again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lqr.training.cross_encoder import TrainConfig
from lqr.training.embedder import Example, train

WORDS = [f"{kind}{n}" for kind in ("ask", "tell") for n in range(16)] + ["how", "the"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence encoder of 32 dimensions with random weights, as sentence-transformers saves one."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers import models as parts
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("base")
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]), encoding="utf-8")
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(WORDS) + 5,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
    )
    bert = folder / "bert"
    BertModel(config, add_pooling_layer=False).save_pretrained(bert)
    BertTokenizerFast(vocab=str(vocabulary), do_lower_case=True).save_pretrained(bert)
    encoder = parts.Transformer(str(bert))
    SentenceTransformer(modules=[encoder, parts.Pooling(32)], device="cpu").save(str(folder / "whole"))
    return folder / "whole"


def examples(count: int) -> list[Example]:
    return [Example(f"how ask{n % 16}", f"the tell{n % 16}") for n in range(count)]


def test_questions_come_to_lie_near_their_passages(base: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    config = TrainConfig(
        base=str(base), out=tmp_path / "made", epochs=12, batch=16, learning_rate=3e-3, max_tokens=16, eval_every=50
    )
    figures = train(examples(256), examples(32), config)
    assert figures["accuracy"] > 0.8
    assert json.loads((tmp_path / "made" / "training.json").read_text())["metrics"] == figures
    made, old = (SentenceTransformer(str(folder), device="cpu").float() for folder in (tmp_path / "made", base))
    asked = [f"how ask{n}" for n in range(16)]
    told = [f"the tell{n}" for n in range(16)]

    def right(model: SentenceTransformer) -> float:
        cosines = (
            np.asarray(model.encode(asked, normalize_embeddings=True))
            @ np.asarray(model.encode(told, normalize_embeddings=True)).T
        )
        return float((cosines.argmax(1) == np.arange(16)).mean())

    assert right(made) > 0.8 > 0.4 > right(old)
    words = [dict(model.named_parameters()) for model in (made, old)]
    name = next(key for key in words[0] if "word_embeddings" in key)
    np.testing.assert_allclose(words[0][name].detach().numpy(), words[1][name].detach().numpy(), atol=1e-3)


def test_a_passage_that_comes_twice_in_a_batch_is_no_wrong_answer(base: Path) -> None:
    import torch
    from sentence_transformers import SentenceTransformer

    from lqr.training.embedder import _contrast

    encoder = SentenceTransformer(str(base), device="cpu").float()
    encode = encoder.tokenizer
    texts = ["the tell1", "the tell2", "the tell1"]
    inputs = {"questions": encode(["how ask1", "how ask2", "ask1"], padding=True, return_tensors="pt")}
    inputs["passages"] = encode(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        out = _contrast(encoder)(**{k: dict(v) for k, v in inputs.items()}, labels=torch.tensor([0, 1, 0]))
    assert (out["logits"][:, 2] < -1000).all()
    assert torch.isfinite(out["loss"])
