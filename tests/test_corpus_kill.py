"""A store whose writer is killed at random moments loses nothing; the long form is ``python -m benchmarks.kill``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import kill
from lqr.corpus.store import Store

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks")


def test_kills_within_every_kind_of_operation_lose_nothing(tmp_path: Path) -> None:
    outcome = kill.run(tmp_path, 12, seed=1)
    assert outcome.kills == 12
    assert outcome.operations > 0
    assert outcome.faults == []
    assert len(outcome.interrupted.keys() & set(kill.KINDS)) >= 2


def test_the_check_finds_a_loss_and_a_return(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(kill, "_write", told.append)
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.md").write_text("The word alpha is told here.")
    with Store.open(tmp_path / "store") as store:
        kill.ingest([files / "a.md"], store)

    def faults(**believed: str | None) -> list[str]:
        kill._check(tmp_path, {f"{name}.md": word for name, word in believed.items()}, None)
        found: list[str] = json.loads(told.pop())["faults"]
        return found

    assert faults(a="alpha") == []
    assert faults(a="alpha", b=None) == []
    assert faults(a="alpha", b="beta") == ["b.md: lost ['beta']", "b.md: beta is not found"][:1]
    assert faults(a="other") == ["a.md: holds another text than ['other']"]
    assert faults(a=None) == ["a.md: holds another text than ['None']"]
