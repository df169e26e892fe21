"""How much memory a language model will take, worked out from its files before any of it is loaded.

Weights are counted tensor by tensor from the headers of the safetensors files, the key-value cache from ``config.json``, the
rest is an estimate that errs upwards. If it does not fit, the context is halved until it does. Loads nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from lqr import manifest
from lqr.errors import WriterError
from lqr.settings import Precision

SMALLEST_CONTEXT = 512  # tokens; below this no passage fits beside a question
FIXED = 400 * 2**20  # bytes: CUDA's own state, its kernels, fragmentation
USABLE = 0.95  # of the free memory
# NF4: half a byte a weight, one 8-bit scale for 64 weights, and one 32-bit scale for 256 of those ("QLoRA", section 3).
NF4_BYTES = 0.5 + 1 / 64 + 4 / (64 * 256)
_STORED = {
    "F64": 8,
    "I64": 8,
    "F32": 4,
    "I32": 4,
    "F16": 2,
    "BF16": 2,
    "I16": 2,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
}


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Bytes by purpose, for ``context`` tokens. ``free`` is what the device has left; None if that is not known."""

    weights: int
    cache_per_token: int
    work_per_token: int
    context: int
    free: int | None

    @property
    def total(self) -> int:
        """Everything together, in bytes."""
        return self.weights + self.context * (self.cache_per_token + self.work_per_token) + FIXED

    @property
    def fits(self) -> bool:
        """Whether it fits into what is free; True if that is not known."""
        return self.free is None or self.total <= USABLE * self.free

    def __str__(self) -> str:
        """One line for the log."""
        parts = (
            f"weights {_gib(self.weights)} + cache {_gib(self.context * self.cache_per_token)} for {self.context} tokens"
            f" + work {_gib(self.context * self.work_per_token + FIXED)} = {_gib(self.total)} GiB"
        )
        return f"{parts}, {_gib(self.free)} free" if self.free is not None else f"{parts}, free memory not known"


def plan_memory(folder: Path, precision: Precision, context: int, free: int | None) -> MemoryPlan:
    """The plan for the model in ``folder`` with ``context`` tokens.

    Raises:
        ValueError, OSError: the folder's files can't be read.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    stored = quantized(config)
    weights = sum(
        _tensor_bytes(name, tensor, precision, stored)
        for file in sorted(folder.glob("*.safetensors"))
        for name, tensor in manifest.read_header(file).items()
    )
    number = 4 if precision == "float32" else 2
    heads = int(config["num_attention_heads"])
    hidden = int(config["hidden_size"])
    width = int(config.get("head_dim") or hidden // heads)
    keys = int(config.get("num_key_value_heads") or heads)
    cache = 2 * int(config["num_hidden_layers"]) * keys * width * number
    # At the widest place of a layer: the residual, its norm, the gated product of the feed-forward part and its two factors.
    work = (3 * int(config.get("intermediate_size", 4 * hidden)) + 4 * hidden) * number
    return MemoryPlan(round(weights), cache, work, context, free)


def fit(plan: MemoryPlan, name: str) -> MemoryPlan:
    """``plan`` with its context halved until it fits.

    Raises:
        WriterError: not even :data:`SMALLEST_CONTEXT` tokens fit; says how much is missing and what to do.
    """
    fitting = plan
    while not fitting.fits and fitting.context > SMALLEST_CONTEXT:
        fitting = replace(fitting, context=max(SMALLEST_CONTEXT, fitting.context // 2))
    if not fitting.fits:
        raise WriterError(f"LQR_LLM={name} does not fit: {fitting}; choose a smaller model, or LQR_LLM_PRECISION=nf4")
    return fitting


def quantized(config: dict[str, Any]) -> bool:
    """Whether the files hold 4-bit weights already."""
    return bool((config.get("quantization_config") or {}).get("load_in_4bit"))


def free_bytes(device: str) -> int | None:
    """Free memory of ``device`` in bytes; None where nothing says so."""
    if device.startswith("cuda"):
        import torch

        return int(torch.cuda.mem_get_info(device)[0])
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:  # not Linux
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _tensor_bytes(name: str, tensor: dict[str, Any], precision: Precision, stored: bool) -> float:
    shape: list[int] = tensor["shape"]
    count = prod(shape)
    if stored:
        return count * _STORED.get(tensor["dtype"], 4)
    if precision == "nf4" and len(shape) == 2 and "embed" not in name and not name.startswith("lm_head"):
        return count * NF4_BYTES
    return count * (4 if precision == "float32" else 2)


def _gib(size: int) -> str:
    return f"{size / 2**30:.2f}"
