"""The audit of dependencies: what counts as found, as allowed, and as not known."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / ".ci" / "audit.py"


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.venv, "create", lambda *_, **__: None)
    return module


def answering(audit: ModuleType, monkeypatch: pytest.MonkeyPatch, **replies: Any) -> list[tuple[str, ...]]:
    """``pip-audit`` answers as said, by service; ``install`` is the exit code of its installation."""
    calls: list[tuple[str, ...]] = []

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        if "pip" in command:
            return subprocess.CompletedProcess(command, replies.get("install", 0), "", "warning\nno network")
        reply = replies[command[command.index("--vulnerability-service") + 1]]
        if isinstance(reply, str):
            return subprocess.CompletedProcess(command, 1, "", reply)
        return subprocess.CompletedProcess(command, 0, json.dumps({"dependencies": reply}), "")

    monkeypatch.setattr(audit, "_run", run)
    return calls


SOUND = {"name": "gradio", "version": "6.31.0", "vulns": []}
BAD = {"name": "lxml", "version": "6.1.3", "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["6.1.4"]}]}
UNKNOWN = {"name": "torch", "skip_reason": "not found on PyPI"}


def test_the_list_of_this_project_is_well_formed(audit: ModuleType) -> None:
    audit.allowed(audit.ALLOWED.read_text(encoding="utf-8"))


def test_an_entry_needs_an_id_a_date_and_a_reason(audit: ModuleType) -> None:
    text = "# a comment\n\nGHSA-aaaa-bbbb-cccc 2026-11-30 only for servers on Windows\n"
    assert audit.allowed(text) == {"GHSA-aaaa-bbbb-cccc": "only for servers on Windows (reviewed 2026-11-30)"}
    for line in ("CVE-2026-1", "CVE-2026-1 2026-11-30", "CVE-2026-1 because", "something else"):
        with pytest.raises(ValueError, match="line 1"):
            audit.allowed(line)


def test_found_is_a_failure_and_names_package_and_mend(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = answering(audit, monkeypatch, pypi=[SOUND, BAD, UNKNOWN])
    assert audit.main([]) == 1
    out = capsys.readouterr().out
    assert "2 packages" in out
    assert "FOUND PYSEC-2026-1 in lxml 6.1.3, mended in 6.1.4" in out
    assert "not audited: torch" in out
    assert len(calls) == 2  # the second service is not asked


def test_what_is_allowed_is_handed_to_pip_audit_and_told(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "allow.txt").write_text("PYSEC-2026-1 2026-11-30 never parses XML of strangers\n")
    monkeypatch.setattr(audit, "ALLOWED", tmp_path / "allow.txt")
    calls = answering(audit, monkeypatch, pypi=[SOUND])
    assert audit.main([]) == 0
    assert calls[1][-2:] == ("--ignore-vuln", "PYSEC-2026-1")
    assert "allowed: PYSEC-2026-1: never parses" in capsys.readouterr().out


def test_nothing_known_is_skipped_aloud_and_a_failure_where_it_is_required(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answering(audit, monkeypatch, pypi=[UNKNOWN], osv="Traceback\nconnection refused")
    assert audit.main([]) == 0
    assert audit.main(["--required"]) == 1
    out = capsys.readouterr().out.splitlines()[0]
    assert out.startswith("audit: SKIPPED")
    assert "pypi: knows none of 1 packages" in out
    assert "osv: connection refused" in out
    answering(audit, monkeypatch, install=1)
    assert audit.main([]) == 0
    assert "can't be installed: no network" in capsys.readouterr().out


def test_the_second_service_is_asked_where_the_first_knows_nothing(audit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(audit, monkeypatch, pypi=[UNKNOWN], osv=[BAD])
    assert audit.main([]) == 1
