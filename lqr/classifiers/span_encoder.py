"""The network behind the reader and the evidence model: one encoder over a question and a window of several passages.

Three heads: where the answer begins and ends (Devlin et al. 2019, section 4.2; position 0, ``[CLS]``, says "not here"),
whether it is a span, yes or no, and for each sentence whether it is needed (HotpotQA's supporting facts, Yang et al. 2018,
section 5.2). The sentence head has the form of :mod:`lqr.classifiers.pair_encoder`, whose weights the encoder starts from.
Knows nothing of passages: windows come ready made, with their offsets.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lqr.classifiers.pair_encoder import HIDDEN, clipped, load_encoder, masked_mean

HEADS_FILE = "heads.safetensors"
SPAN_CONFIG = "span_encoder.json"
SPAN, YES, NO = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Window:
    """A question and the text read with it; ``sentences`` are character offsets into ``text``."""

    question: str
    text: str
    sentences: tuple[tuple[int, int], ...]


class SpanEncoder(nn.Module):
    """``forward(segments, sentences, **encoder_inputs)``; see :func:`encode_windows` for the tensors."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        size = int(encoder.config.hidden_size)
        self.span = nn.Linear(size, 2)
        self.kind = nn.Sequential(nn.Linear(4 * size + 1, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, 3))
        self.evidence = nn.Sequential(nn.Linear(4 * size + 1, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, 1))

    def forward(self, segments: torch.Tensor, sentences: torch.Tensor, **inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        """Logits of a batch of ``n`` windows.

        Args:
            segments: ``(n, length)``; 0 on the question's tokens, 1 on the text's, -1 elsewhere.
            sentences: ``(n, length)``; the index of the token's sentence, -1 outside of any.
            inputs: what the encoder takes, each ``(n, length)``.

        Returns:
            ``start`` and ``end`` ``(n, length)``, impossible places at -1e4; ``kind`` ``(n, 3)``; ``evidence``
            ``(n, most sentences)``.
        """
        states = self.encoder(**inputs).last_hidden_state
        places = self.span(states).float()
        allowed = segments == 1
        allowed[:, 0] = True
        places = places.masked_fill(~allowed.unsqueeze(-1), -1e4)
        question, text = masked_mean(states, segments == 0), masked_mean(states, segments == 1)
        count = max(1, int(sentences.max()) + 1)
        member = nn.functional.one_hot(sentences.clamp(min=0), count).to(states.dtype) * (sentences >= 0).unsqueeze(-1)
        means = torch.einsum("nls,nlh->nsh", member, states) / member.sum(1).clamp(min=1).unsqueeze(-1)
        asked = question.unsqueeze(1).expand_as(means)
        return {
            "start": places[..., 0],
            "end": places[..., 1],
            "kind": self.kind(_compare(question, text)).float(),
            "evidence": self.evidence(_compare(asked, means)).squeeze(-1).float(),
        }

    def save(self, folder: Path, tokenizer: Any) -> None:
        """Write fp16 weights, heads and tokenizer into ``folder`` (safetensors only)."""
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        self.half()
        self.encoder.save_pretrained(folder)
        heads = {name: value.contiguous() for name, value in self.state_dict().items() if not name.startswith("encoder.")}
        save_file(heads, str(folder / HEADS_FILE))
        tokenizer.save_pretrained(folder)
        (folder / SPAN_CONFIG).write_text(json.dumps({"format": 1, "hidden": HIDDEN}) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> SpanEncoder:
        """The model saved in ``folder``, in fp32.

        Raises:
            OSError, ValueError, KeyError, RuntimeError, SafetensorError: a file is missing, damaged or of another shape.
        """
        from safetensors.torch import load_file

        model = cls(load_encoder(folder))
        heads = {name: value.float() for name, value in load_file(str(folder / HEADS_FILE)).items()}
        _, unexpected = model.load_state_dict(heads, strict=False)
        lost = {name for name in model.state_dict() if not name.startswith("encoder.")} - set(heads)
        if unexpected or lost:
            raise ValueError(f"{HEADS_FILE} holds other heads than expected, such as {sorted([*unexpected, *lost])[0]}")
        return model


def encode_windows(
    tokenizer: Any, windows: Sequence[Window], max_tokens: int
) -> tuple[dict[str, torch.Tensor], list[list[tuple[int, int]]]]:
    """Model inputs for ``windows``, and the character offsets of each token in its window's text ((0, 0) outside of it).

    The text is cut at ``max_tokens``, a very long question at half of that.
    """
    questions = [clipped(window.question, tokenizer, max_tokens // 2) for window in windows]
    encoded = tokenizer(
        questions,
        [window.text for window in windows],
        truncation="only_second",
        max_length=max_tokens,
        padding=True,
        pad_to_multiple_of=8,
        return_offsets_mapping=True,
        return_tensors="pt",
    )
    offsets = encoded.pop("offset_mapping").tolist()
    segments, sentences, kept = [], [], []
    for row, window in enumerate(windows):
        ids = [-1 if s is None else s for s in encoded.sequence_ids(row)]
        spans = [(b, e) if s == 1 else (0, 0) for s, (b, e) in zip(ids, offsets[row], strict=True)]
        segments.append(ids)
        kept.append(spans)
        sentences.append(_members(spans, window.sentences))
    return {**encoded, "segments": torch.tensor(segments), "sentences": torch.tensor(sentences)}, kept


def _members(spans: Sequence[tuple[int, int]], sentences: Sequence[tuple[int, int]]) -> list[int]:
    """The sentence that each token begins in, or -1; both lists are in order."""
    found, at = [], 0
    for begin, end in spans:
        if begin == end:
            found.append(-1)
            continue
        while at < len(sentences) and sentences[at][1] <= begin:
            at += 1
        found.append(at if at < len(sentences) and sentences[at][0] <= begin else -1)
    return found


def _compare(question: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
    cosine = nn.functional.cosine_similarity(question.float(), text.float(), dim=-1).unsqueeze(-1).to(question.dtype)
    return torch.cat([question, text, (question - text).abs(), question * text, cosine], dim=-1)
