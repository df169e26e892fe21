"""Builds a Space: exactly the files that go up, and everything that must hold before they do.

The files are ``app.py``, ``lqr``, ``models``, ``knowledge``, the licence, and from ``spaces/HARDWARE`` the card, the requirements
and the settings. Revisions of models are pinned when they go up. Builds and checks without the network; knows no stage.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from lqr import manifest
from lqr.errors import HubError
from lqr.hub import client as hub
from lqr.hub import imports
from lqr.hub.models import front_matter, model_files
from lqr.settings import ROOT, Settings
from lqr.weights import LLAMA3_OPEN

Hardware = Literal["zerogpu", "gpu", "cpu"]
HARDWARE: tuple[Hardware, ...] = get_args(Hardware)

LARGEST = 50_000_000  # bytes of one file
ENTRY = "space.py"
_LEFT_OUT = frozenset({"__pycache__", "README.md.orig"})
_CODE = frozenset({".py", ".css", ".js", ".svg", ".html", ".json", ".toml", ".txt"})
_COLOURS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")
_HARDWARE_NAMES = {
    "zerogpu": r"zero-a10g",
    "gpu": r"(t4|l4|l40s|a10g|a100|h100|h200|rtx-pro)[\w-]*",
    "cpu": r"cpu-(basic|upgrade)",
}
ZEROGPU_TORCH = ("2.8.0", "2.9.1", "2.10.0", "2.11.0")
ZEROGPU_PYTHON = ("3.10.13", "3.12.12")
# name: (required, pattern of the value as text); what is not named here may not stand in the card
_FRONT_MATTER: dict[str, tuple[bool, str]] = {
    "title": (True, r".{1,100}"),
    "emoji": (True, r"[^\w\s]{1,8}"),
    "colorFrom": (True, "|".join(_COLOURS)),
    "colorTo": (True, "|".join(_COLOURS)),
    "sdk": (True, "gradio"),
    "sdk_version": (True, r"6\.\d+\.\d+"),
    "python_version": (True, r"3\.1[012](\.\d+)?"),
    "app_file": (True, re.escape(ENTRY)),
    "license": (True, r"[a-z0-9.-]+"),
    "short_description": (True, r".{1,60}"),
    "suggested_hardware": (True, r"[\w-]+"),
    "pinned": (False, "True|False"),
    "hf_oauth": (False, "True|False"),
    "header": (False, "mini|default"),
    "fullWidth": (False, "True|False"),
    "startup_duration_timeout": (False, r"\d+[mh]"),
}
_REPOSITORY_LISTS = ("models", "datasets", "preload_from_hub", "tags")


@dataclass(frozen=True, slots=True)
class SpaceBuild:
    """A Space ready to go up: ``files`` by path in the repository, and ``problems`` that forbid it (empty if none)."""

    hardware: Hardware
    files: Mapping[str, Path | bytes]
    problems: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(_size(content) for content in self.files.values())

    @property
    def collection(self) -> str:
        """The collection that the Space asks."""
        settings = json.loads(_text(self.files["space.json"]))["settings"]
        return str(settings.get("LQR_COLLECTION", Settings().collection))


def build_space(
    hardware: Hardware, *, root: Path = ROOT, models: Path | None = None, pins: Mapping[str, str] | None = None
) -> SpaceBuild:
    """Collect and check the files of a Space.

    Args:
        root: the project.
        models: the folder of classifiers; by default the project's own.
        pins: Hub id to commit, for the models that the Space fetches.

    Raises:
        HubError: a part of the project is missing.
    """
    folder = root / "spaces" / hardware
    needed = [root / "app.py", root / "LICENSE", root / "spaces" / ENTRY]
    needed += [folder / name for name in ("README.md", "requirements.txt", "settings.json")]
    if missing := [path for path in needed if not path.is_file()]:
        raise HubError(f"{missing[0]} is missing; deploy from a clone of the project")
    pins = pins or {}
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    if (commit := pins.get(LLAMA3_OPEN)) and settings.get("LQR_LLM") == "llama3":
        settings["LQR_LLM"] = f"{LLAMA3_OPEN}@{commit}"
    files: dict[str, Path | bytes] = {
        "README.md": _card((folder / "README.md").read_text(encoding="utf-8"), pins),
        "requirements.txt": folder / "requirements.txt",
        ENTRY: root / "spaces" / ENTRY,
        "space.json": (json.dumps({"hardware": hardware, "settings": settings}, indent=1, sort_keys=True) + "\n").encode(),
        "app.py": root / "app.py",
        "LICENSE": root / "LICENSE",
    }
    files |= {name: path for name, path in _below(root, root / "lqr") if path.suffix in _CODE}
    files |= dict(_below(root, root / "knowledge"))
    for path in sorted((models or root / "models").iterdir()):
        if path.is_dir() and not path.name.startswith("."):
            files |= {f"models/{path.name}/{name}": content for name, content in _model(path).items()}
    return SpaceBuild(hardware, files, tuple(_problems(hardware, files, root)))


def write_space(build: SpaceBuild, folder: Path) -> None:
    """Write the files into the empty or new ``folder``; nothing more and nothing less than what goes up.

    Raises:
        HubError: the folder holds something.
    """
    if folder.exists() and any(folder.iterdir()):
        raise HubError(f"{folder} is not empty; name a new folder")
    for name, content in build.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.read_bytes())


def fetched_models(hardware: Hardware, root: Path = ROOT) -> list[str]:
    """Hub ids of the models that the Space of this hardware fetches when it is built."""
    return [str(item).split()[0] for item in _read_card(hardware, root).get("preload_from_hub", [])]


def pin_models(client: Any, hardware: Hardware, root: Path = ROOT) -> dict[str, str]:
    """Hub id to its present commit, for each of :func:`fetched_models`.

    Raises:
        HubError: the Hub can't be reached, or there is no such model.
    """
    pins = {}
    for repo in fetched_models(hardware, root):
        with hub.explained(repo):
            pins[repo] = str(client.model_info(repo, timeout=10).sha)
    return pins


def _read_card(hardware: str, root: Path) -> dict[str, Any]:
    path = root / "spaces" / hardware / "README.md"
    return front_matter(path.read_text(encoding="utf-8"), str(path))


def _card(text: str, pins: Mapping[str, str]) -> bytes:
    """The card with the commits of preloaded models: ``- owner/name`` becomes ``- owner/name FILES COMMIT``."""
    files = "config.json,generation_config.json,model.safetensors,special_tokens_map.json,tokenizer.json,tokenizer_config.json"
    lines, preloaded = [], False
    for line in text.splitlines():
        if not line.startswith("- "):
            preloaded = line.startswith("preload_from_hub:")
        repo = line.removeprefix("- ")
        lines.append(f"{line} {files} {pins[repo]}" if preloaded and repo in pins else line)
    return ("\n".join(lines) + "\n").encode()


def _model(folder: Path) -> Mapping[str, Path | bytes]:
    if (folder / "README.md").is_file():
        return model_files(folder)
    # Without a card it is no model for others, but part of this program all the same.
    files: dict[str, Path | bytes] = {name: path for name, path in _below(folder, folder) if name != manifest.ORIGIN}
    files[manifest.MANIFEST] = manifest.make(files)
    return files


def _below(root: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT and not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith((".pyc", ".tmp", "~")):
                path = Path(directory) / name
                yield path.relative_to(root).as_posix(), path


def _problems(hardware: Hardware, files: Mapping[str, Path | bytes], root: Path) -> Iterator[str]:
    yield from card_problems(hardware, _text(files["README.md"]))
    yield from requirement_problems(hardware, _text(files["requirements.txt"]), _text(files["README.md"]))
    yield from (f"{name} has {_size(c)} bytes; at most {LARGEST} go up" for name, c in files.items() if _size(c) > LARGEST)
    yield from (f"{name} holds what looks like a key; take it out" for name in hub.secrets_in(files))
    code = {name: _text(content) for name, content in files.items() if name.endswith(".py")}
    yield from imports.missing(code, ENTRY, _text(files["requirements.txt"]))
    if any(name.endswith("/adapter_config.json") for name in files) and "\npeft==" not in _text(files["requirements.txt"]):
        yield "requirements.txt: a model is an adapter (adapter_config.json), which needs peft"
    if fault := _starts(files):
        yield fault


def card_problems(hardware: Hardware, text: str) -> Iterator[str]:
    """What is wrong with the front matter of a Space's card."""
    try:
        data = front_matter(text, "README.md")
    except HubError as error:
        yield str(error)
        return
    for name, (required, pattern) in _FRONT_MATTER.items():
        if name not in data:
            if required:
                yield f"README.md: {name} is missing"
        elif not re.fullmatch(pattern, str(data[name])):
            yield f"README.md: {name} is {data[name]!r}, which the Hub does not take"
    for name in data.keys() - _FRONT_MATTER.keys() - set(_REPOSITORY_LISTS):
        yield f"README.md: {name} is no field of a Space's card"
    for name in _REPOSITORY_LISTS:
        if not isinstance(data.get(name, []), list) or not all(isinstance(item, str) for item in data.get(name, [])):
            yield f"README.md: {name} must be a list"
    if not re.fullmatch(_HARDWARE_NAMES[hardware], str(data.get("suggested_hardware"))):
        yield f"README.md: suggested_hardware {data.get('suggested_hardware')!r} is none of {hardware}"
    if hardware == "zerogpu" and str(data.get("python_version")) not in ZEROGPU_PYTHON:
        yield f"README.md: python_version must be one of {', '.join(ZEROGPU_PYTHON)} on ZeroGPU"


def requirement_problems(hardware: Hardware, text: str, card: str) -> Iterator[str]:
    """What is wrong with a Space's requirements: every line pinned, Gradio as in the card, torch that ZeroGPU takes."""
    pins = {}
    for line in (line.split("#")[0].strip() for line in text.splitlines()):
        if not line or line.startswith("--extra-index-url "):
            continue
        pin = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?==([\w.+!-]+)", line)
        if pin is None:
            yield f"requirements.txt: {line!r} is not pinned; write NAME==VERSION"
        else:
            pins[pin[1].lower()] = pin[2]
    wanted = front_matter(card, "README.md").get("sdk_version")
    if pins.get("gradio") != wanted:
        yield f"requirements.txt: gradio is {pins.get('gradio')}, sdk_version in README.md is {wanted}"
    if hardware == "zerogpu":
        if "spaces" not in pins:
            yield "requirements.txt: ZeroGPU needs the package spaces"
        if pins.get("torch") not in ZEROGPU_TORCH:
            yield f"requirements.txt: torch is {pins.get('torch')}; ZeroGPU takes {', '.join(ZEROGPU_TORCH)}"


def _starts(files: Mapping[str, Path | bytes]) -> str:
    """Import the entry file from a copy of the code alone, in a process without this project's environment."""
    with tempfile.TemporaryDirectory() as work:
        for name, content in files.items():
            if name.endswith((".py", ".json", ".css", ".js")) and not name.startswith(("models/", "knowledge/")):
                path = Path(work) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content if isinstance(content, bytes) else content.read_bytes())
        code = f"import sys; sys.path.insert(0, {work!r}); import space, app; print(app.__file__)"
        environment = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
        environment |= {"HOME": work, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-I", "-c", code],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode or not done.stdout.startswith(work):
            last = (done.stderr.strip().splitlines() or ["it imports something else"])[-1]
            return f"{ENTRY} does not start from these files: {hub.redacted(last)}"
    return ""


def _text(content: Path | bytes) -> str:
    return content.decode("utf-8") if isinstance(content, bytes) else content.read_text(encoding="utf-8")


def _size(content: Path | bytes) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size
