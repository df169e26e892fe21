"""A causal language model of the Hugging Face Hub (or a folder) through transformers.

On CUDA it is loaded in 4 bits (NF4 with double quantisation: Dettmers et al. 2023, "QLoRA", sections 2 and 3) unless
bf16 is asked for; files that hold 4-bit weights already are loaded as they are. Before that the memory is planned, and the
context made smaller if it would not fit; a lack of memory in an answer makes it smaller too. On ZeroGPU each answer borrows the
GPU. Only safetensors are read, and no code from the repository is run. This module does not choose a model and does not
download one when HF_HUB_OFFLINE is set.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

from lqr.errors import WriterError
from lqr.settings import Precision
from lqr.writing import zerogpu
from lqr.writing.base import ChatMessage, Emit, stream_from_thread, until_stop, wait_for_slot
from lqr.writing.memory_plan import SMALLEST_CONTEXT, fit, free_bytes, plan_memory, quantized

logger = logging.getLogger(__name__)

# Chat models end a turn with one of these; several name only <|end_of_text|> as their end in the configuration.
TURN_ENDS = ("<|eot_id|>", "<|end_of_text|>", "<|im_end|>", "<|end|>", "<end_of_turn>")


class TransformersLanguageModel:
    """A chat model in this process. One answer is computed at a time; others wait, and can be cancelled while waiting.

    Args:
        model_id: Hub id, or a folder with config, tokenizer and safetensors.
        name: what people call it, if ``model_id`` is a folder.
        revision: branch, tag or commit on the Hub.
        context: tokens, prompt and answer together; less if the model itself or the memory holds less.
        precision: ``auto`` is NF4 on CUDA and float32 on a CPU; 4-bit files stay 4-bit.
        device: ``cuda``, ``cpu`` ...; by default CUDA when there is one. On ZeroGPU always CUDA: the other stages run on the
            CPU there, only this one is lent a GPU.

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
        from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

        self.name = name or model_id
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        if zerogpu.active():
            device = "cuda"
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(model_id, revision=revision)
            config = AutoConfig.from_pretrained(model_id, revision=revision)
            stored = quantized(config.to_dict())
            precision = self._precision(precision, device, stored)
            context = min(context, getattr(config, "max_position_embeddings", None) or context)
            self.context = self._planned(model_id, precision, context, device)
            self._model: Any = AutoModelForCausalLM.from_pretrained(
                model_id,
                revision=revision,
                use_safetensors=True,
                device_map={"": device},
                **({} if stored else load_arguments(precision)),
            )
        except torch.OutOfMemoryError as error:
            raise WriterError(f"LQR_LLM={self.name} does not fit on {device} as {precision}; choose a smaller model") from error
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            raise WriterError(f"LQR_LLM={self.name} can't be loaded: {_first_line(error)}. {_advice(error)}") from error
        if not self._tokenizer.chat_template:
            raise WriterError(f"LQR_LLM={self.name} has no chat template; name an instruction-tuned (chat) model")
        self._model.eval()
        self._turn_ends = turn_end_ids(self._tokenizer, self._model.generation_config)
        self._tokenizer_lock = threading.Lock()  # fast tokenizers refuse to be used by two threads at once
        self._slots = threading.BoundedSemaphore(1)
        self._closing = threading.Event()
        self._lent = zerogpu.borrow(self._alone) if zerogpu.active() else None
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
        ids = self._input_ids(messages)
        self._room(ids)  # here, so that a prompt that is too long is an error at once
        return self._stream(list(messages), ids, max_tokens, tuple(stop), lambda: self._closing.is_set() or cancelled())

    def close(self) -> None:
        """See :class:`lqr.writing.base.LanguageModel`."""
        self._closing.set()
        with self._slots:  # a running answer notices within a token
            self._model = None

    def _input_ids(self, messages: Sequence[ChatMessage]) -> list[int]:
        with self._tokenizer_lock:
            encoded = self._tokenizer.apply_chat_template(
                [dict(message) for message in messages], add_generation_prompt=True, return_dict=True
            )
        return [int(i) for i in encoded["input_ids"]]

    def _room(self, ids: Sequence[int]) -> int:
        """Tokens that an answer may have after this prompt."""
        room = self.context - len(ids)
        if room < 1:
            raise WriterError(
                f"the prompt has {len(ids)} tokens and {self.name} holds {self.context}; raise LQR_LLM_CONTEXT or lower LQR_TOP_K"
            )
        return room

    def _stream(
        self, messages: list[ChatMessage], ids: list[int], max_tokens: int, stop: tuple[str, ...], ended: Callable[[], bool]
    ) -> Iterator[str]:
        if not wait_for_slot(self._slots, ended):
            return
        begun = False
        try:
            while True:
                try:
                    with closing(self._pieces(ids, min(max_tokens, self._room(ids)), stop, ended)) as pieces:
                        for piece in pieces:
                            begun = True
                            yield piece
                    return
                except WriterError as error:
                    if not _out_of_memory(error):
                        raise
                    self._shrink(len(ids))
                    shorter = _without_history(messages)
                    if begun or len(shorter) == len(messages):
                        raise WriterError(
                            f"{self.name} ran out of memory with a prompt of {len(ids)} tokens; its context is {self.context} "
                            "tokens from now on. Ask again, or set LQR_LLM_CONTEXT lower"
                        ) from error
                    logger.warning(
                        "%s ran out of memory with a prompt of %d tokens: again without earlier turns; context %d from now on",
                        *(self.name, len(ids), self.context),
                    )
                    messages, ids = shorter, self._input_ids(shorter)
        finally:
            self._slots.release()

    def _pieces(
        self, ids: list[int], max_tokens: int, stop: tuple[str, ...], ended: Callable[[], bool]
    ) -> Generator[str, None, None]:
        """One answer; closing it ends the computation."""
        if self._lent is None:
            made = stream_from_thread(lambda emit: self._generate(ids, max_tokens, emit), cancelled=ended, name=self.name)
            yield from until_stop(made, stop)
            return
        try:
            lent = self._lent(ids, max_tokens, stop)
            with closing(lent) if isinstance(lent, Generator) else nullcontext():
                for piece in lent:
                    if ended():
                        return
                    yield piece
        except Exception as error:  # ZeroGPU's own errors are those of Gradio, which this module does not import
            raise WriterError(f"{self.name} on ZeroGPU: {zerogpu.reason(error)}") from error

    def _alone(self, ids: list[int], max_tokens: int, stop: Sequence[str]) -> Iterator[str]:
        """One answer in a process of its own, which ends when its reader closes this generator."""
        made = stream_from_thread(lambda emit: self._generate(ids, max_tokens, emit), cancelled=lambda: False, name=self.name)
        return until_stop(made, stop)

    def _shrink(self, length: int) -> None:
        """Promise less from now on: half of the prompt that was too much."""
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self.context = min(self.context, max(SMALLEST_CONTEXT, length // 2))

    def _precision(self, wanted: Precision, device: str, stored: bool) -> Precision:
        if stored:
            if wanted in ("bf16", "float32"):
                raise ValueError(f"its files hold 4-bit weights, LQR_LLM_PRECISION={wanted} is not to be had from them")
            return "nf4"
        if wanted != "auto":
            return wanted
        return "nf4" if device.startswith("cuda") else "float32"

    def _planned(self, model_id: str, precision: Precision, context: int, device: str) -> int:
        """The context that fits; logs the plan. On ZeroGPU the device is only lent later, and its memory not known."""
        folder = Path(model_id)
        if not folder.is_dir():
            logger.info("%s: memory is not planned, the files are not here yet", self.name)
            return context
        plan = plan_memory(folder, precision, context, None if zerogpu.active() else free_bytes(device))
        fitting = fit(plan, self.name)
        logger.info("%s on %s as %s: %s", self.name, device, precision, fitting)
        if fitting.context < context:
            logger.warning("%s: %d tokens of context do not fit on %s, %d do", self.name, context, device, fitting.context)
        return fitting.context

    def _generate(self, ids: list[int], max_tokens: int, emit: Emit) -> None:
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
        prompt = torch.tensor([ids], device=model.device)
        with torch.inference_mode():
            model.generate(
                input_ids=prompt,
                attention_mask=torch.ones_like(prompt),
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


def _without_history(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The instruction and the question alone."""
    return [*(message for message in messages[:-1] if message["role"] == "system"), *messages[-1:]]


def _out_of_memory(error: BaseException) -> bool:
    """Whether a lack of memory is behind ``error``: CUDA's, a CPU's (a plain RuntimeError), or that of a ZeroGPU worker."""
    import torch

    cause = error.__cause__ or error
    return isinstance(cause, torch.OutOfMemoryError | MemoryError) or any(
        words in str(cause) for words in ("can't allocate memory", "OutOfMemoryError", "out of memory")
    )


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
