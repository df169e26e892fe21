"""The network behind the support checker: one encoder over (claim, evidence) with a head on each token of the claim.

Knows nothing of thresholds or of how claims are made.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from lqr.classifiers.pair_encoder import load_encoder

HEAD_FILE = "head.safetensors"


class TokenReader(nn.Module):
    """``forward(segments, **encoder_inputs)`` gives logits that a claim token is *not* supported, ``(n, length)``."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        size = int(encoder.config.hidden_size)
        self.head = nn.Sequential(nn.Linear(size, 64), nn.GELU(), nn.Linear(64, 1))
        self.pool = nn.Parameter(torch.tensor([1.0, 0.0]))  # scale and shift of the pooled logit

    def forward(self, segments: torch.Tensor, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Token logits, ``(n, length)``, and the claim's logit of *not supported*, ``(n,)``.

        Args:
            segments: ``(n, length)``; 0 on the claim's tokens, 1 on the evidence's, -1 elsewhere.
            inputs: what the encoder takes, each ``(n, length)``.
        """
        states = self.encoder(**inputs).last_hidden_state
        tokens = self.head(states).squeeze(-1).float()
        mine = tokens.masked_fill(segments != 0, -1e4)
        pooled = torch.logsumexp(2.0 * mine, dim=-1) / 2.0
        return tokens, self.pool[0] * pooled + self.pool[1]

    def save(self, folder: Path, tokenizer: Any) -> None:
        """Write fp16 weights, head and tokenizer into ``folder`` (safetensors only)."""
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        self.half()
        self.encoder.save_pretrained(folder)
        own = {name: value.contiguous() for name, value in self.state_dict().items() if not name.startswith("encoder.")}
        save_file(own, str(folder / HEAD_FILE))
        tokenizer.save_pretrained(folder)

    @classmethod
    def load(cls, folder: Path) -> TokenReader:
        """The model saved in ``folder``, in fp32.

        Raises:
            OSError, ValueError, KeyError, RuntimeError, SafetensorError: a file is missing, damaged or of another shape.
        """
        from safetensors.torch import load_file

        model = cls(load_encoder(folder))
        own = {name: value.float() for name, value in load_file(str(folder / HEAD_FILE)).items()}
        wrong = model.load_state_dict(own, strict=False)
        if wrong.unexpected_keys or any(not key.startswith("encoder.") for key in wrong.missing_keys):
            raise ValueError(f"{HEAD_FILE} does not fit the model")
        return model
