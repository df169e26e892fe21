"""A causal language model of the Hugging Face Hub (or a folder) through transformers.

On CUDA it is loaded in 4 bits (NF4 with double quantisation: Dettmers et al. 2023, "QLoRA", sections 2 and 3) unless
bf16 is asked for. Only safetensors are read, and no code from the repository is run. This module does not choose a
model and does not download one when HF_HUB_OFFLINE is set.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lqr.errors import WriterError
from lqr.settings import Precision
from lqr.writing.base import ChatMessage, Emit, stream_from_thread, until_stop, wait_for_slot

logger = logging.getLogger(__name__)

# Chat models end a turn with one of these; several name only <|end_of_text|> as their end in the configuration.
TURN_ENDS = ("<|eot_id|>", "<|end_of_text|>", "<|im_end|>", "<|end|>", "<end_of_turn>")


class TransformersLanguageModel:
    """A chat model in this process. One answer is computed at a time; others wait, and can be cancelled while waiting.

    Args:
        model_id: Hub id, or a folder with config, tokenizer and safetensors.
        name: what people call it, if ``model_id`` is a folder.
        revision: branch, tag or commit on the Hub.
        context: tokens, prompt and answer together; less if the model itself holds less.
        precision: ``auto`` is NF4 on CUDA and float32 on a CPU.
        device: ``cuda``, ``cpu`` ...; by default CUDA when there is one.

    Raises:
        WriterError: not found, gated, no chat template, no memory, or bitsandbytes missing; says what to do.
    """

    def __init__(
        self,
        model_id: str,
        *,
        name: str | None = None,
        revision: str = "main",
        context: int = 4096,
        precision: Precision = "auto",
        device: str | None = None,
    ) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.name = name or model_id
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        if precision == "auto":
            precision = "nf4" if device.startswith("cuda") else "float32"
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(model_id, revision=revision)
            self._model: Any = AutoModelForCausalLM.from_pretrained(
                model_id, revision=revision, use_safetensors=True, device_map={"": device}, **load_arguments(precision)
            )
        except torch.OutOfMemoryError as error:
            raise WriterError(f"LQR_LLM={self.name} does not fit on {device} as {precision}; choose a smaller model") from error
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            raise WriterError(f"LQR_LLM={self.name} can't be loaded: {_first_line(error)}. {_advice(error)}") from error
        if not self._tokenizer.chat_template:
            raise WriterError(f"LQR_LLM={self.name} has no chat template; name an instruction-tuned (chat) model")
        self._model.eval()
        own = getattr(self._model.config, "max_position_embeddings", None) or context
        self.context = min(context, own)
        self._turn_ends = turn_end_ids(self._tokenizer, self._model.generation_config)
        self._tokenizer_lock = threading.Lock()  # fast tokenizers refuse to be used by two threads at once
        self._slots = threading.BoundedSemaphore(1)
        self._closing = threading.Event()
        logger.info("%s loaded on %s as %s, %d tokens of context", self.name, device, precision, self.context)

    def count_tokens(self, text: str) -> int:
        """Number of tokens of ``text`` without special tokens."""
        with self._tokenizer_lock:
            return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """See :class:`lqr.writing.base.LanguageModel`. Greedy; the answer is cut where the context ends."""
        if self._closing.is_set():
            raise WriterError(f"{self.name} is closed")
        with self._tokenizer_lock:
            inputs = self._tokenizer.apply_chat_template(
                [dict(message) for message in messages], add_generation_prompt=True, return_tensors="pt", return_dict=True
            )
        length = int(inputs["input_ids"].shape[1])
        room = self.context - length
        if room < 1:
            raise WriterError(
                f"the prompt has {length} tokens and {self.name} holds {self.context}; raise LQR_LLM_CONTEXT or lower LQR_TOP_K"
            )
        return self._stream(inputs, min(max_tokens, room), stop, lambda: self._closing.is_set() or cancelled())

    def close(self) -> None:
        """See :class:`lqr.writing.base.LanguageModel`."""
        self._closing.set()
        with self._slots:  # a running answer notices within a token
            self._model = None

    def _stream(self, inputs: Any, max_tokens: int, stop: Sequence[str], ended: Callable[[], bool]) -> Iterator[str]:
        if not wait_for_slot(self._slots, ended):
            return
        try:
            pieces = stream_from_thread(lambda emit: self._generate(inputs, max_tokens, emit), cancelled=ended, name=self.name)
            yield from until_stop(pieces, stop)
        finally:
            self._slots.release()

    def _generate(self, inputs: Any, max_tokens: int, emit: Emit) -> None:
        import torch
        from transformers import StoppingCriteria, StoppingCriteriaList, TextStreamer

        class WhenGone(StoppingCriteria):  # type: ignore[misc]
            def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
                return torch.full((input_ids.shape[0],), emit(""), dtype=torch.bool, device=input_ids.device)

        class Pieces(TextStreamer):  # type: ignore[misc]
            # TextStreamer holds text back until a word is whole; TextIteratorStreamer would only add a second queue.
            def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
                emit(text)

        model = self._model
        pad = self._tokenizer.pad_token_id  # many chat models have none; one answer at a time never needs it
        if pad is None:
            pad = next(iter(self._turn_ends), None)
        with torch.inference_mode():
            model.generate(
                **inputs.to(model.device),
                max_new_tokens=max_tokens,
                do_sample=False,
                temperature=None,
                top_p=None,
                top_k=None,
                eos_token_id=self._turn_ends or None,
                pad_token_id=pad,
                stopping_criteria=StoppingCriteriaList([WhenGone()]),
                streamer=Pieces(self._tokenizer, skip_prompt=True, skip_special_tokens=True),
            )


def load_arguments(precision: Precision) -> dict[str, Any]:
    """Arguments of ``from_pretrained`` for a precision other than ``auto``."""
    import torch

    if precision == "float32":
        return {"dtype": torch.float32}
    if precision == "bf16":
        return {"dtype": torch.bfloat16}
    from transformers import BitsAndBytesConfig

    quantization = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    return {"dtype": torch.bfloat16, "quantization_config": quantization}


def turn_end_ids(tokenizer: Any, generation_config: Any) -> list[int]:
    """Ids of all tokens that end a turn: the configured ones and those of :data:`TURN_ENDS` in the vocabulary."""
    configured = getattr(generation_config, "eos_token_id", None)
    ids = set(configured if isinstance(configured, list) else [configured])
    ids.add(tokenizer.eos_token_id)
    vocabulary = tokenizer.get_vocab()
    ids.update(vocabulary.get(token) for token in TURN_ENDS)
    return sorted(i for i in ids if i is not None)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def _advice(error: BaseException) -> str:
    text = str(error)
    if "bitsandbytes" in text:
        return "4-bit loading needs it: pip install bitsandbytes, or set LQR_LLM_PRECISION=bf16"
    if "gated" in text.lower() or "401" in text or "403" in text:
        return "Accept its licence on the Hub and log in with: hf auth login"
    return "Set LQR_LLM to a Hub id or a folder that holds it, or to composer for answers without a language model"
