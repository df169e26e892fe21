"""Does a text help to answer a question? A fine-tuned cross-encoder, and the rules that stand in where there is none.

One model serves two readings: of passages (the relevance classifier of Huang et al. 2024, section 3.3, which is also
the reranker) and of single sentences (evidence for the writer). Scores are probabilities: the logit goes through a
sigmoid, divided by the temperature that was fitted on held-out pairs. Knows nothing of retrieval or of writing.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from lqr.errors import WeightsError
from lqr.text import content_words

Text = tuple[str, str]  # (heading, text)


class RelevanceModel(Protocol):
    """Scores (question, text) pairs; thread-safe."""

    name: str

    def score(self, question: str, texts: Sequence[Text]) -> list[float]:
        """Probability, for each text under its heading, that it helps to answer ``question``."""


class CrossEncoderRelevance:
    """MiniLM (or any sequence classifier with one logit) over ``question [SEP] heading. text``."""

    def __init__(self, folder: Path, *, device: str = "cpu", max_tokens: int = 192, batch: int = 32) -> None:
        """Load weights and tokenizer from ``folder`` (safetensors only).

        Raises:
            WeightsError: a file is missing or the head has not one output.
        """
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.name = f"cross-encoder ({folder.name})"
        self._torch = torch
        self._max_tokens, self._batch = max_tokens, batch
        # Tokenizers are not safe across threads, and two forwards at once are slower than one after the other on a CPU.
        self._lock = threading.Lock()
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model = AutoModelForSequenceClassification.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, attn_implementation="eager"
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise WeightsError(
                f"models/{folder.name}: cannot be loaded ({str(error).splitlines()[0]}); train it with `lqr train relevance`"
            ) from error
        if model.config.num_labels != 1:
            raise WeightsError(f"models/{folder.name}: {model.config.num_labels} outputs, one is needed")
        self._dtype = _fast_dtype(torch, device)
        self._model: Any = model.to(device=device, dtype=self._dtype).eval()
        self._device = device
        self._temperature = _temperature(folder)

    def score(self, question: str, texts: Sequence[Text]) -> list[float]:
        """See :class:`RelevanceModel`. Texts are sorted by length inside, so that padding is small."""
        if not texts:
            return []
        joined = [f"{heading}. {text}" if heading else text for heading, text in texts]
        order = sorted(range(len(joined)), key=lambda i: len(joined[i]))
        scores = [0.0] * len(joined)
        with self._lock, self._torch.inference_mode():
            for begin in range(0, len(order), self._batch):
                part = order[begin : begin + self._batch]
                encoded = self._tokenizer(
                    [question] * len(part),
                    [joined[i] for i in part],
                    truncation="longest_first",
                    max_length=self._max_tokens,
                    padding=True,
                    return_tensors="pt",
                ).to(self._device)
                logits = self._model(**encoded).logits.float().reshape(-1) / self._temperature
                for i, probability in zip(part, self._torch.sigmoid(logits).tolist(), strict=True):
                    scores[i] = probability
        return scores


class RuleRelevance:
    """Cosine of the embedder and the share of the question's words found, in one logistic. Baseline and fallback.

    Constants set by hand on the dev half of the agricultural questions.
    """

    name = "rules"

    def __init__(self, encode: Callable[[Sequence[str]], Any], stem: Callable[[str], Sequence[str]]) -> None:
        self._encode, self._stem = encode, stem

    def score(self, question: str, texts: Sequence[Text]) -> list[float]:
        """See :class:`RelevanceModel`."""
        if not texts:
            return []
        vectors = self._encode([question, *(f"{heading}. {text}" for heading, text in texts)])
        wanted = {stem for word in content_words(question) for stem in self._stem(word)}
        scores = []
        for (heading, text), vector in zip(texts, vectors[1:], strict=True):
            found = wanted & set(self._stem(f"{heading} {text}"))
            share = len(found) / len(wanted) if wanted else 0.0
            cosine = float(vectors[0] @ vector)
            scores.append(1 / (1 + math.exp(-(9.0 * (cosine - 0.5) + 3.0 * (share - 0.5)))))
        return scores


def _fast_dtype(torch: Any, device: str) -> Any:
    if device != "cpu":
        return torch.float16
    capability = getattr(torch.backends.cpu, "get_cpu_capability", lambda: "")()
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        flags = ""
    # Measured: half the time at the same ranking where the processor multiplies bf16; slower where it only emulates it.
    return torch.bfloat16 if "avx512_bf16" in flags and capability.startswith("AVX512") else torch.float32


def _temperature(folder: Path) -> float:
    path = folder / "calibration.json"
    if not path.is_file():
        return 1.0
    value = float(json.loads(path.read_text(encoding="utf-8"))["temperature"])
    if not 0.05 <= value <= 20:
        raise WeightsError(f"models/{folder.name}/calibration.json: temperature {value} is out of range")
    return value
