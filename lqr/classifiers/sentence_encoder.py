"""The network behind the evidence model: a passage is read once for a question, and each of its sentences judged in it.

The encoder and the head are those of :class:`~lqr.classifiers.pair_encoder.PairEncoder`, so that one can be trained on from the
other; here the text's tokens are averaged sentence by sentence. "It must not be drenched" is read beside what "it" is, which
a sentence read alone does not tell. Knows nothing of passages, files of the store or training data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from lqr.classifiers.pair_encoder import PairEncoder, clipped, masked_mean
from lqr.types import Window

UNMARKED = -100.0  # the label of a place that holds no unit


class SentenceEncoder(PairEncoder):
    """``forward(segments, labels=None, weights=None, **encoder_inputs)`` gives ``{"logits": (n, units), "loss"?}``."""

    def forward(
        self,
        segments: torch.Tensor,
        labels: torch.Tensor | None = None,
        weights: torch.Tensor | None = None,
        **inputs: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """Logits of every unit of a batch.

        Args:
            segments: ``(n, length)``; 0 on the question's tokens, k on those of the k-th unit, -1 elsewhere.
            labels: ``(n, units)`` in [0, 1], :data:`UNMARKED` where a window has fewer units; adds the weighed cross-entropy.
            weights: ``(n, units)``, of each label; 1 without.
            inputs: what the encoder takes, each ``(n, length)``.
        """
        states = self.encoder(**inputs).last_hidden_state
        count = labels.shape[1] if labels is not None else max(1, int(segments.max()))
        numbers = torch.arange(1, count + 1, device=segments.device).view(1, -1, 1)
        mask = (segments.unsqueeze(1) == numbers).to(states.dtype)
        units = (mask @ states) / mask.sum(-1, keepdim=True).clamp(min=1)
        question = masked_mean(states, segments == 0).unsqueeze(1).expand_as(units)
        cosine = nn.functional.cosine_similarity(question.float(), units.float(), dim=-1).unsqueeze(-1).to(states.dtype)
        logits = self.head(torch.cat([question, units, (question - units).abs(), question * units, cosine], dim=-1)).squeeze(-1)
        if labels is None:
            return {"logits": logits}
        marked = labels != UNMARKED
        weigh = marked.float() if weights is None else weights.float() * marked
        each = nn.functional.binary_cross_entropy_with_logits(
            logits.float(), torch.where(marked, labels, torch.zeros_like(labels)).float(), reduction="none"
        )
        return {"loss": (each * weigh).sum() / weigh.sum().clamp(min=1e-6), "logits": logits}


def encode_windows(tokenizer: Any, windows: Sequence[Window], max_tokens: int) -> dict[str, torch.Tensor]:
    """Encoder inputs plus ``segments`` for windows.

    The text is cut first, a very long question to half the length; a unit that was cut off whole has no token, and is then
    read as an empty one.
    """
    short = {w.question: clipped(w.question, tokenizer, max_tokens // 2) for w in windows}
    heads = [f"{w.heading}. " if w.heading else "" for w in windows]
    encoded = tokenizer(
        [short[w.question] for w in windows],
        [head + w.text for head, w in zip(heads, windows, strict=True)],
        truncation="only_second",
        max_length=max_tokens,
        padding=True,
        pad_to_multiple_of=8,
        return_offsets_mapping=True,
        return_tensors="pt",
    )
    offsets = encoded.pop("offset_mapping").tolist()
    rows = []
    for i, (head, window) in enumerate(zip(heads, windows, strict=True)):
        places = [(start + len(head), end + len(head)) for start, end in window.spans]
        row = []
        for sequence, (start, end) in zip(encoded.sequence_ids(i), offsets[i], strict=True):
            if sequence == 1:
                row.append(next((k for k, (s, e) in enumerate(places, start=1) if s <= start and end <= e), -1))
            else:
                row.append(0 if sequence == 0 else -1)
        rows.append(row)
    return {**encoded, "segments": torch.tensor(rows)}
