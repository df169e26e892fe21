"""What a result depends on besides its settings: Python, packages, this code, the weights. So that a figure can be made again.

Paths stay out of it: a result file is published. It measures nothing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lqr import __version__
from lqr.manifest import sha256
from lqr.settings import ROOT, Settings
from lqr.weights import find_weights

PACKAGES = ("torch", "transformers", "sentence-transformers", "bm25s", "faiss-cpu", "numpy", "scipy", "PyStemmer", "xllamacpp")
# Settings that say where things lie or how the chat is served, and no figure hangs on.
_PLACES = frozenset({"home", "knowledge", "models", "collection", "host", "port", "queue_size", "reasons", "feedback", "llm"})


def versions(settings: Settings) -> dict[str, Any]:
    """Versions of everything that a figure may hang on.

    ``code`` is the SHA-256 of this package's sources: the commit alone says nothing of files that were changed since.
    ``models`` holds that of each folder of weights.
    """
    return {
        "python": platform.python_version(),
        "lqr": __version__,
        "commit": commit(),
        "code": folder_sha256(ROOT / "lqr", "*.py"),
        "packages": {name: _version(name) for name in PACKAGES},
        "models": {path.name: folder_sha256(path) for path in _folders(settings.models)},
    }


def machine() -> dict[str, Any]:
    """What times hang on: processor, CPUs that this process may use, and the threads it was given."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"processor": _processor(), "cpus": cpus, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS")}


def plain_settings(settings: Settings) -> dict[str, Any]:
    """The settings that a figure may hang on, as plain values."""
    values = {f.name: getattr(settings, f.name) for f in dataclasses.fields(settings) if f.name not in _PLACES}
    return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}


def embedder_revision(settings: Settings) -> str:
    """The embedder with what names its weights: a commit of the Hub, or the head of their SHA-256.

    Raises:
        WeightsError: it is not there.
    """
    return f"{settings.embedder}@{find_weights(settings.embedder, settings=settings).revision}"


def folder_sha256(folder: Path, pattern: str = "*") -> str:
    """One SHA-256 over the names and contents of all files below ``folder`` whose names fit ``pattern``."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob(pattern) if p.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{sha256(path)}\n".encode())
    return digest.hexdigest()


def model_name(name: str) -> dict[str, str]:
    """How a generator is written down: its name, and of a local file or folder the last part and SHA-256 instead of the path."""
    path = Path(name).expanduser()
    if path.is_file():
        return {"name": path.name, "sha256": sha256(path)}
    if path.is_dir():
        return {"name": path.name, "sha256": folder_sha256(path)}
    return {"name": name}


def commit() -> str | None:
    """The git commit of this code, with ``+`` where files were changed since; None outside a repository."""
    try:
        head = _git("rev-parse", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=20, check=True)
    return done.stdout.strip()


def _folders(models: Path) -> list[Path]:
    return sorted(path for path in models.iterdir() if path.is_dir()) if models.is_dir() else []


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())
