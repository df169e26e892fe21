"""The transformers engine with a tiny random Llama made here: streaming, stopping, stop tokens, 4-bit arguments."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from lqr.errors import WriterError
from lqr.writing.transformers_lm import TransformersLanguageModel, load_arguments, turn_end_ids

MESSAGES: Any = [{"role": "user", "content": "do sheep eat grass ?"}]
TEMPLATE = (
    "<|begin_of_text|>{% for m in messages %}<|start_header_id|>{{ m['role'] }}<|end_header_id|> {{ m['content'] }}<|eot_id|>"
    "{% endfor %}{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|> {% endif %}"
)
SPECIAL = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>"]


def make_model(folder: Path, *, template: str | None = TEMPLATE, positions: int = 256) -> Path:
    """A Llama of a few thousand random weights with a tokenizer of whole words, saved as safetensors."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    plain = [*(f"w{n}" for n in range(50)), "do", "sheep", "eat", "grass", "?", "user", "assistant", "system"]
    vocabulary = {word: n for n, word in enumerate([*SPECIAL, *("▁" + word for word in plain), "[UNK]"])}
    core = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.Metaspace(split=True)
    core.decoder = decoders.Metaspace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        unk_token="[UNK]",
        bos_token="<|begin_of_text|>",
        eos_token="<|end_of_text|>",
        additional_special_tokens=SPECIAL[2:],
    )
    tokenizer.chat_template = template
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        bos_token_id=0,
        eos_token_id=1,
        tie_word_embeddings=False,
    )
    network = LlamaForCausalLM(config)
    ends = [*range(len(SPECIAL)), vocabulary["[UNK]"]]
    with torch.no_grad():
        network.lm_head.weight[ends] = 0  # of 60 random scores, the best is above zero
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("tiny-llama"))


@pytest.fixture(scope="module")
def lm(folder: Path) -> TransformersLanguageModel:
    return TransformersLanguageModel(str(folder), name="tiny", device="cpu", context=200)


def always(
    lm: TransformersLanguageModel, token: str | None, monkeypatch: pytest.MonkeyPatch, after: int = 0, pause: float = 0.0
) -> list[int]:
    """Make the model write w0 w1 w2 ... and ``token`` after so many; returns the list of steps it makes."""
    import torch

    steps: list[int] = []
    ids = lm._tokenizer.get_vocab()
    forward = lm._model.forward

    def scripted(*args: Any, **kwargs: Any) -> Any:
        output = forward(*args, **kwargs)
        time.sleep(pause)
        chosen = ids[token] if token is not None and len(steps) >= after else ids[f"▁w{len(steps) % 50}"]
        steps.append(chosen)
        output.logits = torch.full_like(output.logits, -10.0)
        output.logits[..., chosen] = 10.0
        return output

    monkeypatch.setattr(lm._model, "forward", scripted)
    return steps


def test_streams_the_same_answer_twice_and_no_special_tokens(lm: TransformersLanguageModel) -> None:
    pieces = list(lm.stream(MESSAGES, max_tokens=12))
    assert len(pieces) > 1
    assert list(lm.stream(MESSAGES, max_tokens=12)) == pieces
    assert "<|" not in "".join(pieces)
    assert "sheep eat grass" not in "".join(pieces)  # the prompt is not repeated


def test_llama_3_ends_its_turn_with_eot(lm: TransformersLanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lm._model.generation_config.eos_token_id == 1  # <|end_of_text|> alone, as some repositories have it
    steps = always(lm, "<|eot_id|>", monkeypatch, after=3)
    assert "".join(lm.stream(MESSAGES, max_tokens=40)).split() == ["w0", "w1", "w2"]
    assert len(steps) == 4
    assert turn_end_ids(lm._tokenizer, lm._model.generation_config) == [1, 2]


def test_stop_strings_and_the_length_end_the_work(lm: TransformersLanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = always(lm, None, monkeypatch, pause=0.005)
    assert "".join(lm.stream(MESSAGES, max_tokens=5)).split() == ["w0", "w1", "w2", "w3", "w4"]
    steps.clear()
    assert "".join(lm.stream(MESSAGES, max_tokens=150, stop=["w3 w4"])).split() == ["w0", "w1", "w2"]
    assert len(steps) < 60


@pytest.mark.parametrize("way", ["close", "cancel"])
def test_ending_early_ends_the_thread(lm: TransformersLanguageModel, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    steps = always(lm, None, monkeypatch, pause=0.005)
    stop = threading.Event()
    pieces = lm.stream(MESSAGES, max_tokens=150, cancelled=stop.is_set)
    next(pieces)
    if way == "close":
        pieces.close()  # type: ignore[attr-defined]
    else:
        stop.set()
        list(pieces)
    assert not [thread for thread in threading.enumerate() if thread.name == "tiny"]
    made = len(steps)
    assert made < 100
    time.sleep(0.1)
    assert len(steps) == made
    assert "".join(lm.stream(MESSAGES, max_tokens=2))  # free again


def test_a_second_answer_waits_for_the_first_and_can_be_cancelled(
    lm: TransformersLanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    always(lm, None, monkeypatch, pause=0.005)
    first = lm.stream(MESSAGES, max_tokens=150)
    next(first)
    began = time.perf_counter()
    assert list(lm.stream(MESSAGES, max_tokens=2, cancelled=lambda: time.perf_counter() - began > 0.15)) == []
    first.close()  # type: ignore[attr-defined]


def test_a_failure_in_the_thread_reaches_the_reader(lm: TransformersLanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(lm._model, "forward", broken)
    with pytest.raises(WriterError, match="out of memory"):
        list(lm.stream(MESSAGES, max_tokens=2))


def test_context_is_the_smaller_of_setting_and_model(lm: TransformersLanguageModel) -> None:
    assert lm.context == 200
    assert lm.count_tokens("do sheep eat grass ?") == 5
    with pytest.raises(WriterError, match="LQR_LLM_CONTEXT"):
        lm.stream([{"role": "user", "content": "sheep " * 250}], max_tokens=5)
    long: Any = [{"role": "user", "content": "sheep " * 180}]
    assert len("".join(lm.stream(long, max_tokens=100)).split()) <= 20  # cut where the context ends


def test_a_model_without_a_chat_template_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WriterError, match="chat template"):
        TransformersLanguageModel(str(make_model(tmp_path / "plain", template=None)), device="cpu")
    with pytest.raises(WriterError, match=r"LQR_LLM=.*nothing"):
        TransformersLanguageModel(str(tmp_path / "nothing"), device="cpu")


def test_closed(tmp_path: Path) -> None:
    model = TransformersLanguageModel(str(make_model(tmp_path / "tiny")), device="cpu")
    model.close()
    model.close()
    with pytest.raises(WriterError, match="closed"):
        model.stream(MESSAGES, max_tokens=1)


def test_loading_arguments_are_nf4_with_double_quantisation() -> None:
    import torch

    assert load_arguments("bf16") == {"dtype": torch.bfloat16}
    assert load_arguments("float32") == {"dtype": torch.float32}
    quantization = load_arguments("nf4")["quantization_config"]
    assert quantization.load_in_4bit
    assert quantization.bnb_4bit_quant_type == "nf4"
    assert quantization.bnb_4bit_use_double_quant
    assert quantization.bnb_4bit_compute_dtype == torch.bfloat16


def test_the_four_bit_path_answers(folder: Path) -> None:
    pytest.importorskip("bitsandbytes")
    model = TransformersLanguageModel(str(folder), precision="nf4", context=200)
    assert type(model._model.model.layers[0].mlp.up_proj).__name__ == "Linear4bit"
    assert list(model.stream(MESSAGES, max_tokens=6))
