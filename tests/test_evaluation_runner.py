"""Tests of lqr.evaluation.runner, lqr.evaluation.provenance and lqr.evaluation.options."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import lqr.evaluation.provenance as provenance
from lqr.errors import ReadError, SettingsError
from lqr.evaluation.options import Options
from lqr.evaluation.runner import finish, rows_path, run, write_json
from lqr.settings import Settings


@dataclass(frozen=True)
class One:
    id: str


ASKED = [One(str(i)) for i in range(5)]


class Work:
    """Two rows for each even number; stops at ``until``."""

    def __init__(self, until: str = "") -> None:
        self.until = until
        self.seen: list[str] = []

    def __call__(self, one: One) -> Iterator[dict[str, Any]]:
        if one.id == self.until:
            raise KeyboardInterrupt
        self.seen.append(one.id)
        for part in range(2 if int(one.id) % 2 == 0 else 1):
            yield {"id": f"{one.id}-{part}", "value": "Zürich\u2028"}


def test_rows_come_in_order_and_are_told_of(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    rows = run(ASKED, Work(), tmp_path / "r.json", {"k": 5}, progress=lambda *said: told.append(said))
    assert [row["id"] for row in rows] == ["0-0", "0-1", "1-0", "2-0", "2-1", "3-0", "4-0", "4-1"]
    assert told == [("questions", n, 5) for n in range(1, 6)]


def test_a_run_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "sub" / "r.json"
    with pytest.raises(KeyboardInterrupt):
        run(ASKED, Work(until="3"), out, {"k": (1, 5)})
    assert not out.exists()
    work = Work()
    rows = run(ASKED, work, out, {"k": (1, 5)})
    assert work.seen == ["3", "4"]
    assert rows == run(ASKED, Work(), tmp_path / "other.json", {})
    finish(out, {"rows": rows})
    assert json.loads(out.read_text(encoding="utf-8"))["rows"] == rows
    assert not rows_path(out).exists()
    again = Work()
    run(ASKED, again, out, {"k": 3})  # what is finished binds no later run
    assert again.seen == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("cut", [1, 8, 30])
def test_a_line_that_was_cut_off_is_done_again(tmp_path: Path, cut: int) -> None:
    out = tmp_path / "r.json"
    with pytest.raises(KeyboardInterrupt):
        run(ASKED, Work(until="3"), out, {})
    path = rows_path(out)
    path.write_bytes(path.read_bytes()[:-cut])
    work = Work()
    rows = run(ASKED, work, out, {})
    assert work.seen == ["2", "3", "4"]
    assert [row["id"] for row in rows] == ["0-0", "0-1", "1-0", "2-0", "2-1", "3-0", "4-0", "4-1"]
    unread = Work()
    run(ASKED, unread, out, {})
    assert unread.seen == []


def test_a_run_with_other_settings_is_not_gone_on_with(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    with pytest.raises(KeyboardInterrupt):
        run(ASKED, Work(until="3"), out, {"k": 5, "versions": {"models": {"reader": "abc"}, "python": "3"}})
    with pytest.raises(SettingsError, match=r"r\.rows\.jsonl is of a run with another k, versions\.models\.reader; .*--fresh"):
        run(ASKED, Work(), out, {"k": 3, "versions": {"models": {"reader": "abd"}, "python": "3"}})
    work = Work()
    run(ASKED, work, out, {"k": 3}, fresh=True)
    assert len(work.seen) == 5


def test_damaged_rows_are_named(tmp_path: Path) -> None:
    rows_path(tmp_path / "r.json").write_text('{"settings": {}}\nnonsense\n')
    with pytest.raises(ReadError, match=r"r\.rows\.jsonl: damaged"):
        run(ASKED, Work(), tmp_path / "r.json", {})


def test_a_result_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    write_json(path, {"a": "ü"})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": "ü"}
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]
    assert path.stat().st_mode & 0o777 == 0o644


# Versions -----------------------------------------------------------------------------------------------------------------


def test_versions_change_with_the_weights_and_hold_no_path(tmp_path: Path) -> None:
    models = tmp_path / "models"
    (models / "reader").mkdir(parents=True)
    (models / "reader" / "config.json").write_text("{}")
    settings = Settings(home=tmp_path, models=models)
    before = provenance.versions(settings)
    assert set(before["models"]) == {"reader"}
    assert before["python"].count(".") == 2
    assert before["packages"]["numpy"]
    assert str(tmp_path) not in json.dumps([before, provenance.plain_settings(settings)])
    (models / "reader" / "config.json").rename(models / "reader" / "config2.json")
    assert provenance.versions(settings)["models"] != before["models"]


def test_versions_change_with_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    settings = Settings(home=tmp_path, models=tmp_path / "none")
    (tmp_path / "lqr" / "inner").mkdir(parents=True)
    (tmp_path / "lqr" / "inner" / "a.py").write_text("x = 1")
    before = provenance.versions(settings)
    (tmp_path / "lqr" / "inner" / "a.pyc").write_text("compiled")
    assert provenance.versions(settings)["code"] == before["code"]
    (tmp_path / "lqr" / "inner" / "a.py").write_text("x = 2")
    assert provenance.versions(settings)["code"] != before["code"]


def test_a_generator_is_written_down_by_its_content(tmp_path: Path) -> None:
    weights = tmp_path / "small.gguf"
    weights.write_bytes(b"GGUF1")
    assert provenance.model_name("smollm2") == {"name": "smollm2"}
    named = provenance.model_name(str(weights))
    assert (named["name"], len(named["sha256"])) == ("small.gguf", 64)
    weights.write_bytes(b"GGUF2")
    assert provenance.model_name(str(weights)) != named
    assert provenance.model_name(str(tmp_path))["name"] == tmp_path.name


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_commit_says_when_files_were_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(["git", *who, "-C", str(tmp_path), *arguments], check=True, capture_output=True, text=True).stdout

    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert provenance.commit() is None
    git("init")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-m", "first")
    head = git("rev-parse", "HEAD").strip()
    assert provenance.commit() == head
    (tmp_path / "a").write_text("2")
    assert provenance.commit() == f"{head}+"


# Options ------------------------------------------------------------------------------------------------------------------


def test_options_from_the_command_line(tmp_path: Path) -> None:
    given = argparse.Namespace(
        out=tmp_path / "o.json", dataset="squad", split="train", k=3, no_graph=True, without_titles=True, limit=None, seed=7
    )
    options = Options.of("retrieval", given)
    assert (options.dataset, options.split, options.k, options.seed, options.strategy) == ("squad", "train", 3, 7, "lqr")
    assert (options.graph, options.titles, options.relevance, options.dense) == (False, False, True, True)
    plain = options.plain()
    assert json.loads(json.dumps(plain)) == plain
    assert str(tmp_path) not in json.dumps(plain)


@pytest.mark.parametrize(
    ("changes", "vectors", "mode"),
    [
        ({}, True, "hybrid"),
        ({"dense": False}, False, "bm25"),
        ({"retriever": "bm25"}, False, "bm25"),
        ({"retriever": "graph", "dense": False}, False, "graph"),
        ({"retriever": "dense"}, True, "dense"),
    ],
)
def test_vectors_are_made_only_where_they_are_used(changes: dict[str, Any], vectors: bool, mode: str) -> None:
    options = replace(Options("retrieval", Path("o.json")), **changes).checked()
    assert (options.vectors, options.mode) == (vectors, mode)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"strategy": "other"}, "may be none, single"),
        ({"retriever": "other"}, "may be hybrid"),
        ({"strategy": "none"}, "retrieves nothing"),
        ({"retriever": "dense", "dense": False}, "nothing to retrieve with"),
        ({"retriever": "graph", "graph": False}, "contradict"),
        ({"k": 0}, "--k 0"),
        ({"limit": 0}, "--limit 0"),
        ({"pooled": True, "corpus": Path("c.jsonl")}, "give one"),
    ],
)
def test_options_that_make_no_sense_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        replace(Options("retrieval", Path("o.json")), **changes).checked()


def test_only_answers_and_thinking_strategies_need_a_generator() -> None:
    def thinks(kind: Any, strategy: Any) -> bool:
        return Options(kind, Path("o.json"), strategy=strategy).thinks

    assert [thinks("retrieval", s) for s in ("single", "lqr", "oracle", "multi", "adaptive")] == [False] * 3 + [True] * 2
    assert thinks("answers", "none")
