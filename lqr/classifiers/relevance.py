"""Does a text help to answer a question? A fine-tuned cross-encoder, and the rules that stand in where there is none.

One model serves two readings: of passages (the relevance classifier of Huang et al. 2024, section 3.3, which is also
the reranker) and of single sentences (evidence for the writer). Scores are probabilities: the logit goes through a
sigmoid, divided by the temperature that was fitted on held-out pairs. Knows nothing of retrieval or of writing.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from lqr import manifest
from lqr.errors import WeightsError
from lqr.text import content_words

Text = tuple[str, str]  # (heading, text)
# Characters that are read in one go, padding counted. A processor gains nothing from large batches, and loses time on rows padded
# to the length of the longest passage: fourteen took 0.6 to 0.9 s on two AVX2 cores in one batch, 0.3 to 0.55 in several.
AT_ONCE = {"cpu": 2500}
AT_ONCE_ELSEWHERE = 32 * 800
FIRST_PASSAGE = 240  # characters of the first passage in a second-step question; more would push the text out of the window


def second_step(question: str, title: str, text: str) -> str:
    """The question of the second step: the question with a first passage behind it (Huang et al. 2024, section 3.2)."""
    return f"{question} || {title}. {text[:FIRST_PASSAGE]}"


class RelevanceModel(Protocol):
    """Scores (question, text) pairs; thread-safe."""

    name: str

    def score(self, question: str, texts: Sequence[Text]) -> list[float]:
        """Probability, for each text under its heading, that it helps to answer ``question``."""

    def score_many(self, pairs: Sequence[tuple[str, Text]]) -> list[float]:
        """The same for pairs of different questions, in one go."""


class CrossEncoderRelevance:
    """A fine-tuned :class:`~lqr.classifiers.pair_encoder.PairEncoder` over (question, ``heading. text``)."""

    def __init__(self, folder: Path, *, device: str = "cpu", max_tokens: int = 192) -> None:
        """Load weights and tokenizer from ``folder`` (safetensors only).

        Raises:
            WeightsError: a file is missing, damaged, of another shape, or not what the manifest says.
        """
        import torch
        from transformers import AutoTokenizer

        from lqr.classifiers.pair_encoder import PairEncoder, encode_pairs

        manifest.verify(folder)
        self.name = f"pair encoder ({folder.name})"
        self._torch, self._encode_pairs = torch, encode_pairs
        self._max_tokens, self._at_once = max_tokens, AT_ONCE.get(device, AT_ONCE_ELSEWHERE)
        # Tokenizers are not safe across threads, and two forwards at once are slower than one after the other on a CPU.
        self._lock = threading.Lock()
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model = PairEncoder.load(folder)
            if 2 * len(self._tokenizer) < model.encoder.config.vocab_size:
                raise ValueError("the tokenizer has lost its vocabulary")  # transformers makes an empty one and says nothing
        except Exception as error:  # transformers, tokenizers and safetensors each raise kinds of their own
            reason = (str(error).splitlines() or [repr(error)])[0]
            raise WeightsError(
                f"models/{folder.name} cannot be loaded ({reason}); restore the folder, or remove it to go without"
            ) from error
        self._model: Any = model.to(device=device, dtype=fast_dtype(torch, device)).eval()
        self._device = device
        self._temperature = _temperature(folder)

    def score(self, question: str, texts: Sequence[Text]) -> list[float]:
        """See :class:`RelevanceModel`."""
        return self.score_many([(question, text) for text in texts])

    def score_many(self, pairs: Sequence[tuple[str, Text]]) -> list[float]:
        """Scores for (question, text) pairs of different questions in one go.

        Pairs are sorted by length inside, so that padding is small: one long passage does not slow down fifty sentences.
        """
        joined = [(question, f"{heading}. {text}" if heading else text) for question, (heading, text) in pairs]
        scores = [0.0] * len(joined)
        with self._lock, self._torch.inference_mode():
            for part in batches([len(question) + len(text) for question, text in joined], self._at_once):
                inputs = self._encode_pairs(
                    self._tokenizer, [joined[i][0] for i in part], [joined[i][1] for i in part], self._max_tokens
                )
                inputs = {name: value.to(self._device) for name, value in inputs.items()}
                logits = self._model(**inputs)["logits"].float() / self._temperature
                for i, probability in zip(part, self._torch.sigmoid(logits).tolist(), strict=True):
                    scores[i] = probability
        return scores


def batches(lengths: Sequence[int], at_once: int) -> Iterator[list[int]]:
    """Places in ``lengths``, shortest first, in batches that hold at most ``at_once`` when padded to their longest."""
    part: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if part and (len(part) + 1) * lengths[i] > at_once:
            yield part
            part = []
        part.append(i)
    if part:
        yield part


class RuleRelevance:
    """Cosine of the embedder and the share of the question's words found, in one logistic. Baseline and fallback.

    Constants set by hand on the dev half of the agricultural questions.
    """

    name = "rules"

    def __init__(self, encode: Callable[[Sequence[str]], Any], stem: Callable[[str], Sequence[str]]) -> None:
        self._encode, self._stem = encode, stem

    def score(self, question: str, texts: Sequence[Text]) -> list[float]:
        """See :class:`RelevanceModel`."""
        return self.score_many([(question, text) for text in texts])

    def score_many(self, pairs: Sequence[tuple[str, Text]]) -> list[float]:
        """See :class:`RelevanceModel`."""
        questions = list(dict.fromkeys(question for question, _ in pairs))
        texts = list(dict.fromkeys(f"{heading}. {text}" for _, (heading, text) in pairs))
        if not pairs:
            return []
        vectors = self._encode([*questions, *texts])
        of_question = {question: i for i, question in enumerate(questions)}
        of_text = {text: len(questions) + i for i, text in enumerate(texts)}
        wanted = {q: {stem for word in content_words(q) for stem in self._stem(word)} for q in questions}
        stems = {text: set(self._stem(text)) for text in texts}
        scores = []
        for question, (heading, body) in pairs:
            text = f"{heading}. {body}"
            share = len(wanted[question] & stems[text]) / len(wanted[question]) if wanted[question] else 0.0
            cosine = float(vectors[of_question[question]] @ vectors[of_text[text]])
            scores.append(1 / (1 + math.exp(-(9.0 * (cosine - 0.5) + 3.0 * (share - 0.5)))))
        return scores


def fast_dtype(torch: Any, device: str) -> Any:
    """The number type to infer in on ``device``: bf16 on a CPU only where the processor multiplies it."""
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
    try:
        value = float(json.loads(path.read_text(encoding="utf-8"))["temperature"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(
            f"models/{folder.name}/calibration.json: {error!r}; delete it to go without, or train again"
        ) from error
    if not 0.05 <= value <= 20:
        raise WeightsError(f"models/{folder.name}/calibration.json: temperature {value} is out of range")
    return value
