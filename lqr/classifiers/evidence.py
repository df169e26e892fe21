"""Which sentences of a passage answer a question: the evidence model, and what stands in where there is none.

The model reads a passage once and judges each of its units in place (:mod:`~lqr.classifiers.sentence_encoder`); without one, the
relevance model reads every unit alone under its heading. Probabilities are calibrated by the temperature that was fitted on
held-out windows. Knows nothing of passages' stores, of retrieval or of writing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from lqr.classifiers.relevance import batches, opened
from lqr.types import Scorer, Window

MAX_TOKENS = 224  # of question, heading and window


class EvidenceModel(Protocol):
    """Scores the units of windows; thread-safe."""

    name: str

    def score(self, windows: Sequence[Window]) -> list[list[float]]:
        """For each window, the probability of each of its units that it is part of a good answer to the window's question."""


class SentenceEvidence:
    """A fine-tuned :class:`~lqr.classifiers.sentence_encoder.SentenceEncoder`."""

    def __init__(self, folder: Path, *, device: str = "cpu", max_tokens: int = MAX_TOKENS) -> None:
        """Load weights and tokenizer from ``folder`` (safetensors only).

        Raises:
            WeightsError: a file is missing, damaged, of another shape, or not what the manifest says.
        """
        from lqr.classifiers.sentence_encoder import SentenceEncoder, encode_windows

        self.name = f"sentence encoder ({folder.name})"
        self._encode, self._max_tokens = encode_windows, max_tokens
        self._opened = opened(folder, SentenceEncoder, device)

    def score(self, windows: Sequence[Window]) -> list[list[float]]:
        """See :class:`EvidenceModel`."""
        lengths = [len(w.question) + len(w.heading) + len(w.text) for w in windows]
        scores: list[list[float]] = [[] for _ in windows]
        with self._opened.inference() as model:
            for part in batches(lengths, self._opened.at_once):
                logits: Any = model(self._encode(self._opened.tokenizer, [windows[i] for i in part], self._max_tokens))
                for i, row in zip(part, logits.sigmoid().tolist(), strict=True):
                    scores[i] = row[: len(windows[i].spans)]
        return scores


class AloneEvidence:
    """Every unit read alone under its heading, by the relevance model. Baseline, and fallback where no evidence model is."""

    def __init__(self, scorer: Scorer, name: str) -> None:
        self._scorer, self.name = scorer, name

    def score(self, windows: Sequence[Window]) -> list[list[float]]:
        """See :class:`EvidenceModel`."""
        flat = iter(self._scorer([(w.question, (w.heading, w.text[start:end])) for w in windows for start, end in w.spans]))
        return [[next(flat) for _ in w.spans] for w in windows]
