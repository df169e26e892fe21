"""Mixed precision is taken only where the processor has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lqr.training import hardware


@pytest.mark.parametrize(("flags", "helps"), [("fpu avx2", False), ("fpu avx512f avx512_bf16", True)])
def test_a_processor_that_emulates_bf16_trains_in_fp32(
    flags: str, helps: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"flags : {flags}\n", encoding="utf-8")
    monkeypatch.setattr(hardware, "Path", lambda _: cpuinfo)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert hardware.bf16_helps() is helps
