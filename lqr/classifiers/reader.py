"""Reads passages for a question: the short answer as a span (or yes or no), and which sentences it stands on.

Passages are packed, best first, into windows of a few hundred tokens, so that what two hops say is read together. Scores
of windows are comparable because each is taken against the window's own "not here". The answer is always a piece of a
passage or the word yes or no: this model cannot make anything up, but it can choose wrongly.
It knows nothing of retrieval, of the order of hops, or of whether an answer may be given.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lqr import manifest
from lqr.classifiers.relevance import fast_dtype
from lqr.errors import WeightsError
from lqr.settings import Settings
from lqr.text import sentence_spans
from lqr.types import Passage

ANSWER_TOKENS = 24  # the longest span; SQuAD's 99th percentile is below it
PASSAGE_CHARACTERS = 1200  # of one passage in a window; the rest would only be cut by the model
TYPICAL_CHARACTERS = 4  # of a token, to pack windows without tokenising twice


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """``score`` is the logit of the answer against "not here"; ``text`` is empty where nothing was read."""

    text: str
    passage_id: str
    sentence: str
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of a passage and the probability that it is needed for the answer."""

    passage_id: str
    sentence: str
    probability: float


@dataclass(frozen=True, slots=True)
class Packed:
    """A window's text with what lies where: ``(begin, end, passage index)`` of passages; sentences likewise."""

    text: str
    passages: tuple[tuple[int, int, int], ...]
    sentences: tuple[tuple[int, int, int], ...]


def pack(passages: Sequence[tuple[str, str]], limit: int) -> list[Packed]:
    """Windows of at most about ``limit`` characters over ``(title, text)`` in the given order; titles are read too."""
    windows: list[Packed] = []
    text, spans, marks = "", [], []  # type: ignore[var-annotated]
    for index, (title, body) in enumerate(passages):
        body = body[:PASSAGE_CHARACTERS]
        head = f"{title}. " if title else ""
        if text and len(text) + len(head) + len(body) > limit:
            windows.append(Packed(text, tuple(spans), tuple(marks)))
            text, spans, marks = "", [], []
        begin = len(text)
        text += head
        marks += [(len(text) + b, len(text) + e, index) for b, e in sentence_spans(body)]
        text += body
        spans.append((begin, len(text), index))
        text += "\n"
    if text:
        windows.append(Packed(text, tuple(spans), tuple(marks)))
    return windows


class Reader:
    """A fine-tuned :class:`~lqr.classifiers.span_encoder.SpanEncoder`; thread-safe."""

    def __init__(self, folder: Path, *, device: str = "cpu", max_tokens: int = 384, batch: int = 8) -> None:
        """Load weights and tokenizer from ``folder`` (safetensors only).

        Raises:
            WeightsError: a file is missing, damaged, of another shape, or not what the manifest says.
        """
        import torch
        from transformers import AutoTokenizer

        from lqr.classifiers.span_encoder import SpanEncoder, encode_windows

        manifest.verify(folder)
        self.name = f"reader ({folder.name})"
        self._torch, self._encode = torch, encode_windows
        self._max_tokens, self._batch, self._device = max_tokens, batch, device
        self._lock = threading.Lock()  # as in lqr.classifiers.relevance
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model = SpanEncoder.load(folder)
            if 2 * len(self._tokenizer) < model.encoder.config.vocab_size:
                raise ValueError("the tokenizer has lost its vocabulary")
            self._calibration = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))
            self._evidence_temperature = float(self._calibration["evidence_temperature"])
        except Exception as error:  # transformers, tokenizers and safetensors each raise kinds of their own
            reason = (str(error).splitlines() or [repr(error)])[0]
            raise WeightsError(
                f"models/{folder.name} cannot be loaded ({reason}); restore the folder, or remove it to go without"
            ) from error
        self._model: Any = model.to(device=device, dtype=fast_dtype(torch, device)).eval()

    def answer(self, question: str, passages: Sequence[Passage]) -> ReaderAnswer:
        """The best answer to ``question`` in ``passages`` (best first), with the sentence that it stands in."""
        return self.read(question, passages)[0]

    def evidence(self, question: str, passages: Sequence[Passage]) -> list[Evidence]:
        """Every sentence of ``passages`` in order, with the probability that the answer needs it."""
        return self.read(question, passages)[1]

    def read(self, question: str, passages: Sequence[Passage]) -> tuple[ReaderAnswer, list[Evidence]]:
        """Answer and evidence in one pass."""
        nothing = ReaderAnswer("", "", "", float("-inf"))
        windows = pack([(p.topic, p.text) for p in passages], (self._max_tokens - 32) * TYPICAL_CHARACTERS)
        best, evidence = nothing, []
        for window, output, offsets in self._forward(question, windows):
            probabilities = self._torch.sigmoid(output["evidence"] / self._evidence_temperature).tolist()
            evidence += [
                Evidence(passages[index].id, window.text[b:e], round(probabilities[i], 4) if i < len(probabilities) else 0.0)
                for i, (b, e, index) in enumerate(window.sentences)
            ]
            found = self._best(window, output, offsets, passages, probabilities)
            if found is not None and found.score > best.score:
                best = found
        return best, evidence

    def _forward(self, question: str, windows: Sequence[Packed]) -> list[tuple[Packed, dict[str, Any], list[tuple[int, int]]]]:
        from lqr.classifiers.span_encoder import Window

        done = []
        with self._lock, self._torch.inference_mode():
            for begin in range(0, len(windows), self._batch):
                part = windows[begin : begin + self._batch]
                ready = [Window(question, w.text, tuple((b, e) for b, e, _ in w.sentences)) for w in part]
                inputs, offsets = self._encode(self._tokenizer, ready, self._max_tokens)
                outputs = self._model(**{name: value.to(self._device) for name, value in inputs.items()})
                for row, window in enumerate(part):
                    done.append((window, {name: value[row].float().cpu() for name, value in outputs.items()}, offsets[row]))
        return done

    def _best(
        self,
        window: Packed,
        output: dict[str, Any],
        offsets: Sequence[tuple[int, int]],
        passages: Sequence[Passage],
        probabilities: Sequence[float],
    ) -> ReaderAnswer | None:
        begin, end, score = best_span(output["start"], output["end"], ANSWER_TOKENS)
        kind = int(output["kind"].argmax())
        if kind and window.sentences:  # yes or no: it stands on the sentence most needed
            most = max(range(min(len(window.sentences), len(probabilities))), key=lambda i: probabilities[i])
            b, e, index = window.sentences[most]
            return ReaderAnswer(("", "yes", "no")[kind], passages[index].id, window.text[b:e], score)
        if begin == 0:
            return None
        first, last = offsets[begin][0], offsets[end][1]
        index = next((i for b, e, i in window.passages if b <= first < e), -1)
        if index < 0:
            return None
        sentence = next((window.text[b:e] for b, e, _ in window.sentences if b <= first < e), "")
        return ReaderAnswer(window.text[first:last].strip(), passages[index].id, sentence, score)


def best_span(start: Any, end: Any, longest: int) -> tuple[int, int, float]:
    """First and last token of the best span of at most ``longest`` tokens, and its logit less that of "not here".

    Args:
        start, end: ``(length,)`` logits; place 0 is "not here".
    """
    import torch

    length = start.shape[0]
    total = start.unsqueeze(1) + end.unsqueeze(0)
    ones = torch.ones(length, length, dtype=torch.bool)
    total = total.masked_fill(~(ones.triu() & ones.tril(longest - 1)), float("-inf"))
    nowhere = float(total[0, 0])
    total[0, :] = float("-inf")
    place = int(total.argmax())
    begin, last = divmod(place, length)
    return begin, last, float(total[begin, last]) - nowhere


def load_reader(settings: Settings) -> Reader:
    """The reader in ``models/reader``, on the profile's device.

    Raises:
        WeightsError: there is none, or it is damaged.
    """
    folder = settings.models / "reader"
    if not (folder / "config.json").is_file():
        raise WeightsError(f"models/{folder.name} holds no reader; restore it, or train one with `lqr train reader`")
    return Reader(folder, device="cuda" if settings.profile == "gpu" else "cpu")
