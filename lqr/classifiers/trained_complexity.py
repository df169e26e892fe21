"""The fine-tuned complexity classifier: an encoder with one logit, calibrated, with the rules' signs to explain it.

The probability is a logistic over the encoder's logit and, where ``calibration.json`` weighs them, the signs that the rules
find: an encoder of 22M parameters knows the questions it was trained on, the rules know what two questions in one message
look like in any domain. Knows nothing of retrieval or of training.
"""

from __future__ import annotations

import copy
import json
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lqr import manifest
from lqr.classifiers.complexity import RULE_FEATURES, RuleComplexity
from lqr.errors import WeightsError
from lqr.text import words
from lqr.types import Route, RouteLabel

CALIBRATION = "calibration.json"
MAX_TOKENS = 64
# What the signs of the rules mean to a person; the counts (entities, conditions, long) explain little and stay unsaid.
_SIGNS = {
    "comparison": "compares two things",
    "relative": "describes a thing that has to be found first",
    "second question": "asks about two things",
    "nested of": "asks for a thing of a thing",
    "possessive chain": "goes from one owner to the next",
}


@dataclass(frozen=True, slots=True)
class Calibration:
    """``probability = sigmoid(bias + logit / temperature + sum(signs))``; complex from ``threshold``.

    ``signs`` are log-odds for the features of :class:`RuleComplexity`; with none the encoder decides alone.
    """

    temperature: float = 1.0
    threshold: float = 0.5
    bias: float = 0.0
    signs: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Calibration:
        """What ``folder/calibration.json`` says.

        Raises:
            WeightsError: the file is missing, malformed or out of range.
        """
        path = folder / CALIBRATION
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            signs = {str(name): float(value) for name, value in raw.get("signs", {}).items()}
            found = cls(float(raw["temperature"]), float(raw["threshold"]), float(raw.get("bias", 0.0)), signs)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise WeightsError(f"models/{folder.name}/{CALIBRATION}: {error!r}; restore it, or train the model again") from error
        numbers = [found.temperature, found.threshold, found.bias, *signs.values()]
        if not all(map(math.isfinite, numbers)) or not 0.05 <= found.temperature <= 20 or not 0 < found.threshold < 1:
            raise WeightsError(f"models/{folder.name}/{CALIBRATION}: a number is out of range; train the model again")
        if unknown := set(signs) - set(RULE_FEATURES):
            raise WeightsError(f"models/{folder.name}/{CALIBRATION}: unknown signs {', '.join(sorted(unknown))}; train it again")
        return found

    def probability(self, logit: float, signs: Mapping[str, float]) -> float:
        """Of *complex*, for an encoder's logit and what the rules found."""
        total = self.bias + logit / self.temperature + sum(self.signs.get(name, 0.0) * value for name, value in signs.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


class TrainedComplexity:
    """A fine-tuned sequence classifier of ``folder``; thread-safe."""

    def __init__(
        self, folder: Path, rules: RuleComplexity | None = None, *, base: Path | None = None, device: str = "cpu"
    ) -> None:
        """Load weights, tokenizer and calibration (safetensors only).

        Args:
            rules: find the signs; with the collection's entities they see more.
            base: the encoder that an adapter in ``folder`` belongs to; not needed for whole weights.

        Raises:
            WeightsError: a file is missing, damaged, of another shape, or not what the manifest says.
        """
        import torch
        from transformers import AutoTokenizer

        manifest.verify(folder)
        self.name = f"classifier ({folder.name})"
        self.calibration = Calibration.load(folder)
        self._rules = rules or RuleComplexity()
        # Tokenizers are not safe across threads, and two forwards at once are slower than one after the other on a CPU.
        self._lock = threading.Lock()
        self._torch, self._device = torch, device
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self._model: Any = _load(folder, base).float().to(device).eval()
            if 2 * len(self._tokenizer) < self._model.config.vocab_size:
                raise ValueError("the tokenizer has lost its vocabulary")  # transformers makes an empty one and says nothing
        except WeightsError:
            raise
        except Exception as error:  # transformers, tokenizers and safetensors each raise kinds of their own
            reason = (str(error).splitlines() or [repr(error)])[0]
            raise WeightsError(
                f"models/{folder.name} cannot be loaded ({reason}); restore the folder, or remove it to go without"
            ) from error

    def with_entities(self, entities: Callable[[str], list[str]]) -> TrainedComplexity:
        """See :class:`~lqr.classifiers.complexity.ComplexityModel`; encoder and lock are shared."""
        other = copy.copy(self)
        other._rules = self._rules.with_entities(entities)
        return other

    def logits(self, questions: Sequence[str]) -> list[float]:
        """The encoder's own logits, before calibration and signs."""
        found = [0.0] * len(questions)
        order = sorted(range(len(questions)), key=lambda i: len(questions[i]))
        with self._lock, self._torch.inference_mode():
            for begin in range(0, len(order), 64):
                part = order[begin : begin + 64]
                texts = [questions[i] for i in part]
                inputs = self._tokenizer(texts, truncation=True, max_length=MAX_TOKENS, padding=True, return_tensors="pt")
                logits = self._model(**inputs.to(self._device)).logits.float().squeeze(-1).tolist()
                for i, logit in zip(part, logits, strict=True):
                    found[i] = logit
        return found

    def probabilities(self, questions: Sequence[str]) -> list[float]:
        """Of *complex*, for each question."""
        logits = self.logits(questions)
        return [
            self.calibration.probability(logit, self._rules.features(question))
            for logit, question in zip(logits, questions, strict=True)
        ]

    def route(self, question: str) -> Route:
        """See :class:`~lqr.classifiers.complexity.ComplexityModel`. A question of three words or fewer is simple."""
        if len(words(question)) <= 3:
            return Route("simple", 0.02, "very short")
        signs = self._rules.features(question)
        probability = self.calibration.probability(self.logits([question])[0], signs)
        label: RouteLabel = "complex" if probability >= self.calibration.threshold else "simple"
        seen = [_SIGNS[name] for name, value in signs.items() if value and name in _SIGNS]
        return Route(
            label, round(probability, 4), f"classifier {probability:.2f}; {', '.join(seen) or 'no sign of a second step'}"
        )


def _load(folder: Path, base: Path | None) -> Any:
    from transformers import AutoModelForSequenceClassification

    from lqr.quiet import no_progress_bar

    adapted = (folder / "adapter_config.json").is_file()
    if adapted and base is None:
        raise WeightsError(f"models/{folder.name} is an adapter: name the folder of its base model")
    with no_progress_bar():
        model, loading = AutoModelForSequenceClassification.from_pretrained(
            base if adapted else folder,
            local_files_only=True,
            use_safetensors=True,
            output_loading_info=True,
            **({"num_labels": 1} if adapted else {}),
        )
        if not adapted and (missing := sorted(loading["missing_keys"])):
            raise ValueError(f"weights are missing, such as {missing[0]}")  # they would be random numbers, with only a warning
        if adapted:
            from peft import PeftModel

            model = PeftModel.from_pretrained(model, str(folder)).merge_and_unload()
    return model
