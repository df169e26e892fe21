"""The transformers engine with a tiny random Llama made here: streaming, stopping, stop tokens, 4-bit arguments."""

from __future__ import annotations

import logging
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lqr.errors import WriterError
from lqr.writing import transformers_lm, zerogpu
from lqr.writing.memory_plan import NF4_BYTES, MemoryPlan, fit, plan_memory
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


def test_the_four_bit_path_answers(folder: Path, lm: TransformersLanguageModel, caplog: pytest.LogCaptureFixture) -> None:
    """NF4 with double quantisation, on a CPU: the same code as on CUDA."""
    caplog.set_level(logging.INFO, logger="lqr")  # another test may have run the command line, which sets a level there
    model = TransformersLanguageModel(str(folder), name="tiny", precision="nf4", context=200)
    layer = model._model.model.layers[0].mlp.up_proj
    assert type(layer).__name__ == "Linear4bit"
    assert (layer.weight.quant_type, layer.weight.compress_statistics) == ("nf4", True)
    assert layer.weight.quant_state.state2 is not None  # the scales are quantised too
    assert type(model._model.lm_head).__name__ == "Linear"
    assert "as nf4: weights" in caplog.text  # the plan comes before the weights
    assert list(model.stream(MESSAGES, max_tokens=6)) == list(model.stream(MESSAGES, max_tokens=6)) != []
    # Saved, it is what the Hub calls pre-quantised: loaded as it is, and no other precision is to be had from it.
    stored = folder.parent / "stored-nf4"
    model._model.save_pretrained(stored)
    model._tokenizer.save_pretrained(stored)
    again = TransformersLanguageModel(str(stored), name="stored", device="cpu", context=200)
    assert type(again._model.model.layers[0].mlp.up_proj).__name__ == "Linear4bit"
    assert list(again.stream(MESSAGES, max_tokens=6)) == list(model.stream(MESSAGES, max_tokens=6))
    with pytest.raises(WriterError, match="LQR_LLM_PRECISION=bf16"):
        TransformersLanguageModel(str(stored), precision="bf16", device="cpu")


def test_bfloat16_is_an_option(folder: Path) -> None:
    model = TransformersLanguageModel(str(folder), precision="bf16", context=200, device="cpu")
    assert str(model._model.dtype) == "torch.bfloat16"
    assert list(model.stream(MESSAGES, max_tokens=3))


def llama_3_tokenizer() -> Any:
    """Bytes as tokens, with the special tokens of Llama 3, its chat template, and a start token that it adds by itself."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: n for n, token in enumerate([*sorted(pre_tokenizers.ByteLevel.alphabet()), *SPECIAL])}
    core = Tokenizer(models.BPE(vocabulary, []))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    start = ("<|begin_of_text|>", vocabulary["<|begin_of_text|>"])
    core.post_processor = processors.TemplateProcessing(single="<|begin_of_text|> $A", special_tokens=[start])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token=SPECIAL[0], eos_token=SPECIAL[1], additional_special_tokens=SPECIAL[2:]
    )
    tokenizer.chat_template = (
        "{{ bos_token }}{% for message in messages %}{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'"
        " + message['content'] | trim + '<|eot_id|>' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
    )
    return tokenizer


def test_a_prompt_is_what_llama_3_was_trained_on(lm: TransformersLanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = llama_3_tokenizer()
    monkeypatch.setattr(lm, "_tokenizer", tokenizer)
    ids = lm._input_ids([{"role": "system", "content": "Cite."}, {"role": "user", "content": " Do sheep eat? "}])
    assert tokenizer.decode(ids) == (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCite.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nDo sheep eat?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    )
    assert ids.count(tokenizer.bos_token_id) == 1
    ends = turn_end_ids(tokenizer, SimpleNamespace(eos_token_id=None))
    assert ends == sorted(tokenizer.convert_tokens_to_ids(["<|eot_id|>", "<|end_of_text|>"]))


def out_of_memory(lm: TransformersLanguageModel, longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every pass over more than ``longest`` tokens fail as CUDA does."""
    import torch

    forward = lm._model.forward

    def limited(*args: Any, **kwargs: Any) -> Any:
        if kwargs["input_ids"].shape[1] > longest:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return forward(*args, **kwargs)

    monkeypatch.setattr(lm._model, "forward", limited)


def test_out_of_memory_drops_the_earlier_turns_then_asks_for_less(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(transformers_lm, "SMALLEST_CONTEXT", 64)
    lm = TransformersLanguageModel(str(folder), name="tiny", device="cpu", context=250)
    out_of_memory(lm, 60, monkeypatch)
    turns: Any = [
        {"role": "system", "content": "do sheep eat"},
        {"role": "user", "content": "grass " * 60},
        {"role": "assistant", "content": "sheep " * 60},
        {"role": "user", "content": "do sheep eat grass ?"},
    ]
    assert "".join(lm.stream(turns, max_tokens=4))
    assert lm.context == len(lm._input_ids(turns)) // 2  # half of the prompt that was too much
    assert f"context {lm.context} from now on" in caplog.text
    monkeypatch.setattr(lm, "context", 250)
    with pytest.raises(WriterError, match=r"ran out of memory with a prompt of \d+ tokens.*LQR_LLM_CONTEXT"):
        list(lm.stream([{"role": "user", "content": "sheep " * 100}], max_tokens=4))
    assert "".join(lm.stream(MESSAGES, max_tokens=4))  # and goes on


def test_the_memory_plan_counts_what_the_files_hold(folder: Path, lm: TransformersLanguageModel) -> None:
    numbers = sum(p.numel() for p in lm._model.parameters())
    in_layers = sum(p.numel() for name, p in lm._model.named_parameters() if ".layers." in name and p.dim() == 2)
    assert plan_memory(folder, "float32", 100, None).weights == 4 * numbers
    assert plan_memory(folder, "bf16", 100, None).weights == 2 * numbers
    assert plan_memory(folder, "nf4", 100, None).weights == round(NF4_BYTES * in_layers + 2 * (numbers - in_layers))
    # 2 layers, keys and values, 2 heads of 16 numbers, 2 bytes
    assert plan_memory(folder, "nf4", 100, None).cache_per_token == 2 * 2 * 2 * 16 * 2


def test_the_context_is_made_to_fit() -> None:
    plan = MemoryPlan(weights=6 * 2**30, cache_per_token=2**17, work_per_token=2**18, context=32768, free=10 * 2**30)
    assert not plan.fits
    assert fit(plan, "llama").context == 8192
    assert "6.00 + cache" in str(plan)
    with pytest.raises(WriterError, match=r"LQR_LLM=llama does not fit: .*4.00 free.*LQR_LLM_PRECISION=nf4"):
        fit(MemoryPlan(6 * 2**30, 2**17, 2**18, 8192, 4 * 2**30), "llama")


def test_a_small_memory_makes_a_small_context(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(transformers_lm, "free_bytes", lambda device: 2**20)
    with pytest.raises(WriterError, match="does not fit"):
        TransformersLanguageModel(str(folder), name="tiny", device="cpu", context=200)


class Borrowed:
    """The package ``spaces`` as far as it goes: what is decorated runs with pickled arguments and results."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.error: Exception | None = None

    def GPU(self, duration: Callable[..., int]) -> Callable[[Any], Any]:
        def decorate(task: Any) -> Any:
            def handler(*args: Any) -> Iterator[Any]:
                self.asked.append(duration(*args))
                if self.error:
                    raise self.error
                for piece in task(*pickle.loads(pickle.dumps(args))):
                    yield pickle.loads(pickle.dumps(piece))

            return handler

        return decorate


@pytest.fixture
def borrowed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Borrowed, TransformersLanguageModel]:
    """A model as a ZeroGPU Space loads it, but that its CUDA is a CPU."""
    spaces = Borrowed()
    monkeypatch.setitem(sys.modules, "spaces", SimpleNamespace(GPU=spaces.GPU))
    monkeypatch.setattr(zerogpu, "active", lambda: True)
    from transformers import AutoModelForCausalLM

    load = AutoModelForCausalLM.from_pretrained
    devices: list[str] = []

    def on_cpu(*args: Any, device_map: dict[str, str], **kwargs: Any) -> Any:
        devices.append(device_map[""])
        return load(*args, device_map={"": "cpu"}, **kwargs)

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", on_cpu)
    model = TransformersLanguageModel(str(folder), name="tiny", device="cpu", precision="float32", context=200)
    assert devices == ["cuda"]
    return spaces, model


def test_on_zerogpu_each_answer_borrows_the_gpu(
    borrowed: tuple[Borrowed, TransformersLanguageModel], lm: TransformersLanguageModel
) -> None:
    spaces, model = borrowed
    assert "".join(model.stream(MESSAGES, max_tokens=12)) == "".join(lm.stream(MESSAGES, max_tokens=12))
    assert spaces.asked == [13]
    assert zerogpu.seconds([], 220, ()) == 23
    spaces.error = RuntimeError("You have exceeded your GPU quota")
    with pytest.raises(WriterError, match="tiny on ZeroGPU: You have exceeded your GPU quota"):
        list(model.stream(MESSAGES, max_tokens=12))


def test_stopping_on_zerogpu_ends_the_work(
    borrowed: tuple[Borrowed, TransformersLanguageModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, model = borrowed
    steps = always(model, None, monkeypatch, pause=0.005)
    pieces = model.stream(MESSAGES, max_tokens=150)
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    made = len(steps)
    assert made < 100
    time.sleep(0.1)
    assert len(steps) == made


def test_zerogpu_is_what_the_platform_says_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not zerogpu.active()
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    assert zerogpu.active()
    monkeypatch.setitem(sys.modules, "spaces", None)
    with pytest.raises(WriterError, match=r"requirements\.txt"):
        zerogpu.borrow(lambda ids, tokens, stop: iter(()))
