"""Spaces: what goes up is complete and checked, and the second run changes only what changed."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from hub_fixtures import hub_server
from hub_server import TOKEN, HubServer

from lqr.cli import main
from lqr.errors import HubError
from lqr.hub import client, imports
from lqr.hub.space import HARDWARE, LARGEST, build_space, card_problems, pin_models, requirement_problems, write_space
from lqr.settings import ROOT, Settings
from lqr.weights import LLAMA3_OPEN

__all__ = ["hub_server"]

COMMIT = "c0ffee" * 6 + "cafe"


def pins_of(path: Path) -> dict[str, str]:
    text = re.sub(r"^(.*); python_version < .*$", "", path.read_text(), flags=re.MULTILINE)
    return dict(re.findall(r"^([\w-]+)==([\w.+]+)", text, re.MULTILINE))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with one article and no weights: what takes part in a build, quickly copied."""
    root = tmp_path_factory.mktemp("project")
    for name in ("app.py", "LICENSE"):
        shutil.copy(ROOT / name, root / name)
    for name in ("lqr", "spaces"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "knowledge" / "agriculture").mkdir(parents=True)
    (root / "knowledge" / "agriculture" / "footrot.md").write_text("# Footrot\n\nZinc sulphate.\n")
    (root / "knowledge" / "agriculture" / "vectors.safetensors").write_bytes(b"some vectors")
    (root / "models" / "gate").mkdir(parents=True)
    (root / "models" / "gate" / "gate.json").write_text("{}")
    return root


@pytest.mark.parametrize("hardware", HARDWARE)
def test_the_project_is_fit_to_go_up(hardware: Any) -> None:
    began = time.process_time()
    build = build_space(hardware)
    assert build.problems == ()
    assert time.process_time() - began < 10
    assert {"README.md", "requirements.txt", "space.py", "space.json", "app.py", "LICENSE", "lqr/ui/assets/page.css"} <= set(
        build.files
    )
    shipped = {path.name for path in (ROOT / "models").iterdir() if path.is_dir() and any(path.iterdir())}
    assert {name.split("/")[1] for name in build.files if name.startswith("models/")} == shipped
    assert all(f"models/{name}/manifest.json" in build.files for name in shipped)
    assert not [name for name in build.files if "__pycache__" in name or name.startswith(("spaces/", "tests/", "."))]
    assert max(len(c) if isinstance(c, bytes) else c.stat().st_size for c in build.files.values()) <= LARGEST


@pytest.mark.parametrize("hardware", HARDWARE)
def test_settings_of_a_space_are_settings(hardware: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = json.loads((ROOT / "spaces" / hardware / "settings.json").read_text())
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    if hardware == "gpu":
        monkeypatch.setattr("lqr.settings._cuda_available", lambda: True)
    loaded = Settings.load()
    assert (loaded.llm, loaded.profile) == (values["LQR_LLM"], values["LQR_PROFILE"])
    assert loaded.llm_prompt_tokens + loaded.llm_max_tokens < loaded.llm_context


def test_pins_are_those_of_the_project_but_for_torch_and_faiss() -> None:
    own = pins_of(ROOT / "requirements.txt")
    for hardware in HARDWARE:
        pins = pins_of(ROOT / "spaces" / hardware / "requirements.txt")
        differing = {name for name in pins.keys() & own.keys() if pins[name] != own[name]}
        assert differing <= {"torch"}, hardware
        assert own.keys() - pins.keys() <= {"xllamacpp", "faiss-cpu", "tomli"}, hardware
        assert pins.keys() - own.keys() <= {"bitsandbytes", "spaces", "faiss-gpu-cu12"}, hardware


def test_there_is_no_package_that_hides_the_one_of_zerogpu() -> None:
    assert not (ROOT / "spaces" / "__init__.py").exists()
    text = (ROOT / "spaces" / "space.py").read_text()
    first = [line.strip() for line in text.splitlines() if re.match(r"\s*(import|from) ", line) and "__future__" not in line]
    assert first[:2] == ["import os", first[1]]
    assert first[1].startswith("import spaces")


def test_revisions_are_pinned_in_card_and_settings(small: Path) -> None:
    build = build_space("zerogpu", root=small, pins={LLAMA3_OPEN: COMMIT})
    card = build.files["README.md"]
    assert isinstance(card, bytes)
    assert re.search(rf"^- {LLAMA3_OPEN} config.json,\S+ {COMMIT}$", card.decode(), re.MULTILINE)
    space = json.loads(build.files["space.json"])  # type: ignore[arg-type]
    assert space["settings"]["LQR_LLM"] == f"{LLAMA3_OPEN}@{COMMIT}"
    assert build.problems == ()


def test_every_kind_of_problem_is_named(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "broken"
    shutil.copytree(small, root)
    with (root / "knowledge" / "agriculture" / "huge.md").open("wb") as file:
        file.truncate(LARGEST + 1)
    (root / "knowledge" / "agriculture" / "notes.md").write_text(f"token: {TOKEN}")
    requirements = root / "spaces" / "cpu" / "requirements.txt"
    requirements.write_text(requirements.read_text().replace("bm25s==0.3.16\n", "").replace("scipy==", "scipy>="))
    card = root / "spaces" / "cpu" / "README.md"
    card.write_text(card.read_text().replace("colorFrom: green", "colorFrom: mauve").replace("emoji: 🐑", "emoji: sheep"))
    app = root / "app.py"
    app.write_text(app.read_text().replace("import logging", "import logging\nimport nowhere_to_be_found", 1))
    problems = "\n".join(build_space("cpu", root=root).problems)
    for expected in (
        r"huge\.md has 50000001 bytes",
        r"notes\.md holds what looks like a key",
        r"bm25s is not listed, but lqr/\S+ imports bm25s",
        r"'scipy>=1.17.1' is not pinned",
        r"colorFrom is 'mauve'",
        r"emoji is 'sheep'",
        r"nowhere-to-be-found is not listed",
        r"space\.py does not start.*nowhere_to_be_found",
    ):
        assert re.search(expected, problems), expected
    assert TOKEN not in problems
    (root / "spaces" / "cpu" / "settings.json").unlink()
    with pytest.raises(HubError, match=r"settings.json is missing"):
        build_space("cpu", root=root)


@pytest.mark.parametrize(
    ("hardware", "old", "new", "said"),
    [
        ("zerogpu", 'python_version: "3.12.12"', 'python_version: "3.11"', "python_version"),
        ("zerogpu", "suggested_hardware: zero-a10g", "suggested_hardware: t4-small", "none of zerogpu"),
        ("gpu", "suggested_hardware: l4x1", "suggested_hardware: cpu-basic", "none of gpu"),
        ("cpu", "pinned: false", "colour: blue", "colour is no field"),
        ("cpu", "models:\n- sentence-transformers/all-MiniLM-L6-v2", "models: one/model", "models must be a list"),
        ("cpu", "title:", "title: [", "not YAML"),
        ("cpu", "short_description: ", "short_description: " + "x" * 60, "short_description"),
        ("cpu", "license: apache-2.0\n", "", "license is missing"),
    ],
)
def test_front_matter(hardware: Any, old: str, new: str, said: str) -> None:
    text = (ROOT / "spaces" / hardware / "README.md").read_text()
    assert list(card_problems(hardware, text)) == []
    assert old in text
    assert any(said in problem for problem in card_problems(hardware, text.replace(old, new, 1)))


def test_zerogpu_takes_only_some_releases_of_torch() -> None:
    card = (ROOT / "spaces" / "zerogpu" / "README.md").read_text()
    text = (ROOT / "spaces" / "zerogpu" / "requirements.txt").read_text()
    assert list(requirement_problems("zerogpu", text, card)) == []
    newer = (
        text.replace("torch==2.11.0", "torch==2.13.0").replace("spaces==0.51.3", "").replace("gradio==6.31.0", "gradio==6.30.0")
    )
    said = " ".join(requirement_problems("zerogpu", newer, card))
    assert all(words in said for words in ("torch is 2.13.0", "package spaces", "gradio is 6.30.0"))


def test_imports_are_followed_into_functions_but_not_beyond_what_is_reached() -> None:
    code = {
        "space.py": "import app\n",
        "app.py": "from lqr.a import f\nimport lqr.cli.train\n",
        "lqr/__init__.py": "",
        "lqr/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas\ndef f():\n    from lqr import b\n",
        "lqr/b.py": "import bs4.element\n",
        "lqr/c.py": "import ragas\n",
        "lqr/cli/train.py": "import yaml\ndef run():\n    import matplotlib\n",
    }
    assert imports.packages(code, "space.py") == {"bs4": "lqr/b.py", "yaml": "lqr/cli/train.py"}
    assert list(imports.missing(code, "space.py", "PyYAML==1\n")) == [
        "requirements.txt: beautifulsoup4 is not listed, but lqr/b.py imports bs4"
    ]
    assert list(imports.missing(code, "space.py", "beautifulsoup4==4.15.0\nPyYAML==6.0.4\n")) == []


def test_what_is_written_out_is_what_goes_up(small: Path, tmp_path: Path) -> None:
    build = build_space("cpu", root=small)
    write_space(build, tmp_path / "out")
    assert {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()} == set(build.files)
    with pytest.raises(HubError, match="not empty"):
        write_space(build, tmp_path / "out")


def deploy(monkeypatch: pytest.MonkeyPatch, root: Path, *arguments: str) -> int:
    import lqr.hub.space as space

    monkeypatch.setattr(space.build_space, "__kwdefaults__", {"root": root, "models": None, "pins": None})
    return main(["deploy", "--space", "me/lqr", *arguments])


def test_deploy_twice_changes_only_what_changed(
    hub_server: HubServer, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "project"
    shutil.copytree(small, root)
    commit = hub_server.put(LLAMA3_OPEN, "model", {"config.json": b"{}"})
    assert deploy(monkeypatch, root, "--hardware", "zerogpu") == 0
    repository = hub_server.repos["spaces/me/lqr"]
    assert (repository.creation["sdk"], repository.creation["hardware"], repository.private) == ("gradio", "zero-a10g", True)
    assert len(repository.commits) == 1
    files = hub_server.files("me/lqr", "space")
    assert json.loads(files["space.json"])["settings"]["LQR_LLM"] == f"{LLAMA3_OPEN}@{commit}"
    capsys.readouterr()

    assert deploy(monkeypatch, root, "--hardware", "zerogpu") == 0
    assert "0 new, 0 changed, 0 deleted" in capsys.readouterr().out
    assert len(repository.commits) == 1

    (root / "knowledge" / "agriculture" / "footrot.md").write_text("# Footrot\n\nCopper sulphate.\n")
    (root / "knowledge" / "agriculture" / "scab.md").write_text("# Scab\n")
    assert deploy(monkeypatch, root, "--hardware", "zerogpu", "--dry-run") == 0
    out = capsys.readouterr().out
    assert "+ knowledge/agriculture/scab.md\n~ knowledge/agriculture/footrot.md\n1 new, 1 changed, 0 deleted" in out
    assert len(repository.commits) == 1
    assert deploy(monkeypatch, root, "--hardware", "zerogpu") == 0
    (root / "knowledge" / "agriculture" / "scab.md").unlink()
    assert deploy(monkeypatch, root, "--hardware", "zerogpu") == 0
    assert "- knowledge/agriculture/scab.md" in capsys.readouterr().out
    assert len(repository.commits) == 3
    assert TOKEN not in repr(repository.commits)


def test_deploy_without_the_hub_still_shows_the_files(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert deploy(monkeypatch, small, "--hardware", "cpu", "--dry-run") == 0
    out = capsys.readouterr().out
    assert re.search(r"^ +\d+  app\.py$", out, re.MULTILINE)
    first, second, *_ = out.splitlines()
    assert re.fullmatch(r"me/lqr for cpu: \d+ files, [\d.]+ MB", first)
    assert second == "HF_HUB_OFFLINE is set, so the Hub was not asked: all files count as new"
    assert deploy(monkeypatch, small, "--hardware", "cpu") == 1  # offline: nothing goes up, and that is an error
    assert "HF_HUB_OFFLINE" in capsys.readouterr().err


def test_a_collection_that_would_be_embedded_at_each_start_is_told(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "project"
    shutil.copytree(small, root)
    assert deploy(monkeypatch, root, "--hardware", "cpu", "--dry-run") == 0
    assert "save-vectors" not in capsys.readouterr().out
    assert "knowledge/agriculture/vectors.safetensors" in build_space("cpu", root=root).files
    (root / "knowledge" / "agriculture" / "vectors.safetensors").unlink()
    assert deploy(monkeypatch, root, "--hardware", "cpu", "--dry-run") == 0
    assert "lqr ingest --save-vectors --collection agriculture" in capsys.readouterr().out
    settings = root / "spaces" / "cpu" / "settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "LQR_COLLECTION": "farm"}))
    assert deploy(monkeypatch, root, "--hardware", "cpu", "--dry-run") == 0
    assert "knowledge/farm has no vectors.safetensors" in capsys.readouterr().out


def test_a_hub_that_does_not_answer_is_named_with_its_reason_alone(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def silent(*_: Any) -> Any:
        with client.explained("me/lqr"):
            raise ConnectionError("Name or service not known")

    monkeypatch.setattr("lqr.hub.client.remote_files", silent)
    monkeypatch.setattr("lqr.hub.space.pin_models", silent)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    assert deploy(monkeypatch, small, "--hardware", "zerogpu", "--dry-run") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"not pinned, as the Hub did not say its commit: {LLAMA3_OPEN}"
    assert lines[2] == "the Hub gave no answer (me/lqr: ConnectionError: Name or service not known): all files count as new"


def test_a_problem_stops_a_deployment(
    hub_server: HubServer, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "project"
    shutil.copytree(small, root)
    (root / "knowledge" / "agriculture" / "notes.md").write_text(f"token: {TOKEN}")
    assert deploy(monkeypatch, root, "--hardware", "cpu") == 1
    output = capsys.readouterr()
    assert "notes.md holds what looks like a key" in output.err
    assert TOKEN not in output.out + output.err
    assert "spaces/me/lqr" not in hub_server.repos


def test_models_are_pinned_by_asking(hub_server: HubServer) -> None:
    commit = hub_server.put(LLAMA3_OPEN, "model", {"config.json": b"{}"})
    from lqr.hub import client

    assert pin_models(client.api(), "gpu") == {LLAMA3_OPEN: commit}
    assert pin_models(client.api(), "cpu") == {}
