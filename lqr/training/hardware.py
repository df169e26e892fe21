"""What the machine is good at, where a training may choose. Knows nothing of models."""

from __future__ import annotations

from pathlib import Path


def bf16_helps() -> bool:
    """Whether mixed precision in bf16 is faster here: a GPU that has it, or a processor with ``avx512_bf16``.

    Other processors emulate it: on one with AVX2 alone a training step took more than ten times as long as in fp32.
    """
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    flags = Path("/proc/cpuinfo")
    return flags.is_file() and "avx512_bf16" in flags.read_text(encoding="utf-8", errors="ignore")
