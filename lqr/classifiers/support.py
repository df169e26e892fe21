"""Does an evidence text support a claim? A small logistic over signals of words and, where one is trained, a token reader.

The reader is one encoder over (claim, evidence) with a head on each *claim* token: the probability that the evidence does
not hold this word. A claim is as weak as its weakest words, so the tokens are pooled by a soft maximum; one exchanged name
in a sentence of twenty words is then as loud as in one of five. Long evidence is cut to the window nearest the claim.
The logistic's weights and thresholds come from ``logistic.json`` beside the weights. Numbers and doses are checked by
rule elsewhere (``grounding.checks``): a model of 22M parameters does not do arithmetic.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lqr import manifest
from lqr.classifiers.support_signals import SIGNALS, signals, window_of
from lqr.errors import WeightsError

if TYPE_CHECKING:
    from lqr.classifiers.token_reader import TokenReader

HEAD_FILE = "head.safetensors"
LOGISTIC_FILE = "logistic.json"
FEATURES = ("reader", "weakest", *SIGNALS)
MAX_TOKENS = 192
WINDOW_WORDS = 110


@dataclass(frozen=True, slots=True)
class Judgement:
    """Probability in [0, 1] that the evidence supports the claim, and the claim's least supported word."""

    probability: float
    weakest: str = ""


class SupportModel(Protocol):
    """Judges (claim, evidence) pairs; thread-safe."""

    name: str
    supported: float  # probability from which a claim counts as supported
    partial: float  # and from which as partly supported

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """One judgement for each (claim, evidence)."""


class WordSupport:
    """The logistic over the signals of words alone: baseline, and what serves where no reader is trained."""

    name = "word signals"

    def __init__(self, folder: Path) -> None:
        """Load ``folder/logistic.json``.

        Raises:
            WeightsError: it is missing, malformed, was fitted with a reader, or is not what the manifest says.
        """
        manifest.verify(folder)
        self._weights, self.supported, self.partial = load_logistic(folder, SIGNALS)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """See :class:`SupportModel`."""
        return [Judgement(probability(self._weights, values)) for values in self.features(pairs)]

    @staticmethod
    def features(pairs: Sequence[tuple[str, str]]) -> list[dict[str, float]]:
        """What the logistic sees of each pair (:data:`SIGNALS`)."""
        return [signals(claim, window_of(claim, evidence, WINDOW_WORDS)) for claim, evidence in pairs]


class ReaderSupport:
    """The trained checker: :class:`TokenReader` and logistic. See :class:`SupportModel`."""

    def __init__(self, folder: Path, *, device: str = "cpu", batch: int = 16) -> None:
        """Load from ``folder``.

        Raises:
            WeightsError: a file is missing, damaged, of another shape, or not what the manifest says.
        """
        from transformers import AutoTokenizer

        from lqr.classifiers.pair_encoder import encode_pairs
        from lqr.classifiers.token_reader import TokenReader

        manifest.verify(folder)
        self._encode_pairs = encode_pairs
        self.name = f"token reader ({folder.name})"
        self._batch, self._device = batch, device
        self._lock = threading.Lock()  # tokenizers are not safe across threads
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self._model: TokenReader = TokenReader.load(folder).to(device).eval()
        except Exception as error:  # transformers, tokenizers and safetensors each raise kinds of their own
            reason = (str(error).splitlines() or [repr(error)])[0]
            raise WeightsError(
                f"models/{folder.name} cannot be loaded ({reason}); restore the folder, or remove it to go without"
            ) from error
        self._weights, self.supported, self.partial = load_logistic(folder, FEATURES)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """See :class:`SupportModel`."""
        return [Judgement(probability(self._weights, values), weakest) for values, weakest in self.features(pairs)]

    def features(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[dict[str, float], str]]:
        """What the logistic sees of each pair (:data:`FEATURES`), and the claim's weakest word."""
        import torch

        windows = [window_of(claim, evidence, WINDOW_WORDS) for claim, evidence in pairs]
        found: list[tuple[dict[str, float], str]] = [({}, "")] * len(pairs)
        order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(windows[i]))
        with self._lock, torch.inference_mode():
            for begin in range(0, len(order), self._batch):
                part = order[begin : begin + self._batch]
                inputs = self._encode_pairs(self._tokenizer, [pairs[i][0] for i in part], [windows[i] for i in part], MAX_TOKENS)
                ids = inputs["input_ids"]
                tokens, logits = self._model(**{name: value.to(self._device) for name, value in inputs.items()})
                mine = tokens.cpu().masked_fill(inputs["segments"] != 0, -1e4)
                top, place = mine.max(dim=-1)
                for row, i in enumerate(part):
                    word = str(self._tokenizer.decode(ids[row, place[row]])).strip("# ")
                    values = {"reader": -float(logits[row]), "weakest": -float(top[row])}
                    found[i] = ({**values, **signals(pairs[i][0], windows[i])}, word)
        return found


def probability(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """The logistic over :data:`FEATURES`."""
    total = weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def load_support(folder: Path) -> SupportModel | None:
    """The checker in ``folder``: with a reader if its weights are there, else of words alone; None without a folder.

    Raises:
        WeightsError: what is there is damaged.
    """
    if (folder / HEAD_FILE).is_file():
        return ReaderSupport(folder)
    return WordSupport(folder) if (folder / LOGISTIC_FILE).is_file() else None


def load_supports(folder: Path) -> Callable[[str, str], bool] | None:
    """The checker in ``folder`` as a plain answer to "does this text support this claim?"; None where there is none."""
    model = load_support(folder)
    if model is None:
        return None
    return lambda claim, text: model.judge([(claim, text)])[0].probability >= model.supported


def load_logistic(folder: Path, known: Sequence[str]) -> tuple[dict[str, float], float, float]:
    """Weights of ``folder/logistic.json``, and the thresholds of *supported* and *partial*.

    Args:
        known: the features that the caller can give.

    Raises:
        WeightsError: the file is missing, malformed or names other features.
    """
    again = f"models/{folder.name}/{LOGISTIC_FILE}: {{}}; fit it again with `lqr train support`"
    try:
        raw = json.loads((folder / LOGISTIC_FILE).read_text(encoding="utf-8"))
        weights = {str(name): float(value) for name, value in raw["weights"].items()}
        supported, partial = float(raw["supported"]), float(raw["partial"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(again.format(repr(error))) from error
    unknown = set(weights) - {*known, "bias"}
    if unknown or "bias" not in weights or not all(map(math.isfinite, weights.values())):
        raise WeightsError(again.format(f"unknown or endless weights {sorted(unknown)}, or no bias"))
    if not 0 <= partial <= supported <= 1:
        raise WeightsError(again.format("0 <= partial <= supported <= 1 does not hold"))
    return weights, supported, partial
