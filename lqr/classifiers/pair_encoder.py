"""The network behind the relevance and evidence models: one encoder over (question, text), two means, a small head.

Question and text are read together, so every layer attends across them; then the tokens of each are averaged apart and
the head sees ``[u, v, |u - v|, u * v, cos(u, v)]``. On a sentence encoder such as MiniLM the cosine tells something from
the first step on: a head on ``[CLS]`` stayed at chance for 16,000 pairs here, this one was at 80 % after 2,400
(models/README.md). Works with any Hub encoder; segments come from the tokenizer's sequence ids, not from token types.
Knows nothing of retrieval, files of the store, or training data.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lqr.quiet import no_progress_bar

HEAD_FILE = "head.safetensors"
PAIR_CONFIG = "pair_encoder.json"
HIDDEN = 128


class PairEncoder(nn.Module):
    """``forward(segments, labels=None, **encoder_inputs)`` gives ``{"logits": (n,), "loss"?}``."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        size = int(encoder.config.hidden_size)
        self.head = nn.Sequential(nn.Linear(4 * size + 1, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, 1))

    def forward(
        self, segments: torch.Tensor, labels: torch.Tensor | None = None, **inputs: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Logits of a batch.

        Args:
            segments: ``(n, length)``; 0 on the question's tokens, 1 on the text's, -1 elsewhere.
            labels: ``(n,)`` in [0, 1]; adds the binary cross-entropy as ``loss``.
            inputs: what the encoder takes, each ``(n, length)``.
        """
        states = self.encoder(**inputs).last_hidden_state
        question, text = masked_mean(states, segments == 0), masked_mean(states, segments == 1)
        cosine = nn.functional.cosine_similarity(question.float(), text.float(), dim=-1).unsqueeze(-1).to(states.dtype)
        logits = self.head(torch.cat([question, text, (question - text).abs(), question * text, cosine], dim=-1)).squeeze(-1)
        if labels is None:
            return {"logits": logits}
        loss = nn.functional.binary_cross_entropy_with_logits(logits.float(), labels.float())
        return {"loss": loss, "logits": logits}

    def save(self, folder: Path, tokenizer: Any) -> None:
        """Write fp16 weights, head and tokenizer into ``folder`` (safetensors only)."""
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        self.half()
        self.encoder.save_pretrained(folder)
        save_file({name: value.contiguous() for name, value in self.head.state_dict().items()}, str(folder / HEAD_FILE))
        tokenizer.save_pretrained(folder)
        (folder / PAIR_CONFIG).write_text(json.dumps({"format": 1, "head": [HIDDEN, 1]}) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> PairEncoder:
        """The model saved in ``folder``, in fp32.

        Raises:
            OSError, ValueError, KeyError, RuntimeError, SafetensorError: a file is missing, damaged or of another shape.
        """
        from safetensors.torch import load_file

        model = cls(load_encoder(folder))
        model.head.load_state_dict({name: value.float() for name, value in load_file(str(folder / HEAD_FILE)).items()})
        return model


def load_encoder(folder: Path) -> Any:
    """The encoder saved in ``folder``, in fp32.

    Raises:
        OSError, ValueError: a file is missing, damaged or lacks weights.
    """
    from transformers import AutoModel

    # eager attention: measured twice as fast as sdpa on CPUs at these lengths
    with no_progress_bar():
        encoder, loading = AutoModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, attn_implementation="eager", output_loading_info=True
        )
    if missing := sorted(key for key in loading["missing_keys"] if "pooler" not in key):
        raise ValueError(f"weights are missing, such as {missing[0]}")  # they would be random numbers, with only a warning
    return encoder.float()


def encode_pairs(tokenizer: Any, question: Sequence[str], texts: Sequence[str], max_tokens: int) -> dict[str, torch.Tensor]:
    """Encoder inputs plus ``segments`` for pairs; the text is cut first, a very long question to half the length."""
    short = {q: clipped(q, tokenizer, max_tokens // 2) for q in set(question)}
    encoded = tokenizer(
        [short[q] for q in question],
        list(texts),
        truncation="only_second",
        max_length=max_tokens,
        padding=True,
        pad_to_multiple_of=8,
        return_tensors="pt",
    )
    rows = [[-1 if s is None else s for s in encoded.sequence_ids(i)] for i in range(len(texts))]
    return {**encoded, "segments": torch.tensor(rows)}


def clipped(question: str, tokenizer: Any, limit: int) -> str:
    """``question`` cut to ``limit`` tokens."""
    if len(question.encode()) <= limit:  # no tokenizer makes more than one token of a byte; a Chinese letter is one token
        return question
    ids = tokenizer(question, truncation=True, max_length=limit, add_special_tokens=False)["input_ids"]
    return str(tokenizer.decode(ids))


def masked_mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean of ``states`` (n, length, size) over the places where ``mask`` (n, length) is true."""
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=1)
