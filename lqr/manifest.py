"""What a folder of weights or a collection must hold: a manifest of SHA-256 sums and tensor shapes, and its check.

``manifest.json`` travels with the files; ``origin.json`` stays on this machine and pins the manifest itself to the commit
it came from, so that files and manifest cannot be exchanged together unseen. Reads headers and bytes only: it loads no
model, asks no network and knows no kind of classifier.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from lqr.errors import WeightsError

MANIFEST, ORIGIN = "manifest.json", "origin.json"
FORMAT = 1
# What may travel. None of these can run code when it is read the way this project reads it.
SUFFIXES = frozenset(
    {".png", ".csv", ".safetensors", ".gguf", ".json", ".jsonl", ".txt", ".md", ".model", ".jinja", ".toml", ".npy", ".sqlite3"}
)
REMEDY = (
    "move it away and fetch it again with `lqr hub pull`; "
    f"if you changed it yourself, delete its {MANIFEST}, and its {ORIGIN} if there is one"
)
_LONGEST_HEADER = 100_000_000  # bytes; the format's own limit

Hasher = Callable[[Path], str]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a folder came from: repository, 40 hex digits of the commit, SHA-256 of its manifest.

    ``documents`` is the checksum of what a collection held, whose file changes by use; empty for other folders.
    """

    repo: str
    revision: str
    manifest: str
    documents: str = ""


def sha256(path: Path) -> str:
    """SHA-256 of a file as hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def make(files: Mapping[str, Path | bytes]) -> bytes:
    """The manifest of ``files`` (path in the folder to file or content) as JSON; the manifest itself is left out."""
    entries: dict[str, Any] = {}
    for name in sorted(files):
        if name in (MANIFEST, ORIGIN):
            continue
        content = files[name]
        if isinstance(content, bytes):
            entries[name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            continue
        entries[name] = {"size": content.stat().st_size, "sha256": sha256(content)}
        if content.suffix == ".safetensors":
            entries[name]["tensors"] = shapes(content)
    return (json.dumps({"format": FORMAT, "files": entries}, indent=1, sort_keys=True) + "\n").encode()


def read_header(path: Path) -> dict[str, Any]:
    """The header of a safetensors file: tensor name to ``dtype``, ``shape`` and ``data_offsets`` (bytes).

    Raises:
        ValueError: not a safetensors file.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(size - 8, _LONGEST_HEADER):
            raise ValueError(f"{path.name} is not a safetensors file")
        header = json.loads(file.read(length))
    if not isinstance(header, dict):
        raise ValueError(f"{path.name} is not a safetensors file")
    header.pop("__metadata__", None)
    return header


def shapes(path: Path) -> dict[str, list[int]]:
    """Tensor name to shape.

    Raises:
        ValueError: not a safetensors file.
    """
    try:
        return {name: [int(n) for n in tensor["shape"]] for name, tensor in read_header(path).items()}
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path.name} is not a safetensors file") from error


def problem(folder: Path, hasher: Hasher = sha256, *, changes: Callable[[str], bool] = lambda name: False) -> str:
    """What in ``folder`` differs from its manifest, naming the file; empty if nothing does, or if there is no manifest.

    Args:
        hasher: gives a file's SHA-256; one that remembers saves a start the hashing of what has not changed.
        changes: says which files change by use alone; they are not compared.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return f"{MANIFEST} is missing, though {ORIGIN} names it" if (folder / ORIGIN).is_file() else ""
    try:
        if (pinned := origin(folder)) and sha256(path) != pinned.manifest:
            return f"{MANIFEST} is not that of {pinned.repo} at {pinned.revision[:12]}"
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            return f"{MANIFEST} has format {manifest['format']}, this program reads {FORMAT}"
        entries = {checked_name(name): dict(entry) for name, entry in manifest["files"].items()}
        for name, entry in entries.items():
            if not changes(name) and (fault := _fault(folder / name, entry, hasher)):
                return f"{name} {fault}"
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"{MANIFEST} is damaged ({error})"
    weights = {path.relative_to(folder).as_posix() for path in folder.rglob("*.safetensors")}
    if strangers := sorted(weights - set(entries)):
        return f"{strangers[0]} is not in {MANIFEST}"
    return ""


def verify(folder: Path) -> None:
    """Refuse a folder of a model that differs from its manifest; one that has none, or is not there, is as it should be.

    For those who load a folder of ``models/`` themselves; what :func:`lqr.weights.find_weights` gives has been compared.

    Raises:
        WeightsError: naming the file.
    """
    if fault := problem(folder):
        raise WeightsError(f"models/{folder.name}: {fault}; {REMEDY}")


def checked_name(name: str) -> str:
    """``name`` if it is a plain relative path to a kind of file that may travel.

    Raises:
        ValueError: it leaves the folder, or its kind could run code when opened.
    """
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\\" in name or str(path) != name:
        raise ValueError(f"{name!r} is no path inside the folder")
    if path.suffix not in SUFFIXES and path.name != "CURRENT":
        raise ValueError(f"{name}: files of this kind are not taken, they may run code when opened")
    return name


def origin(folder: Path) -> Origin | None:
    """Where the folder was fetched from; None if it was made here.

    Raises:
        ValueError: the note is damaged.
    """
    path = folder / ORIGIN
    if not path.is_file():
        return None
    try:
        return Origin(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{ORIGIN}: {error}") from error


def write_origin(folder: Path, repo: str, revision: str, documents: str = "") -> Origin:
    """Pin the manifest that lies in ``folder`` to the commit it came from; see :class:`Origin`."""
    note = Origin(repo, revision, sha256(folder / MANIFEST), documents)
    said = {name: value for name, value in asdict(note).items() if value}
    (folder / ORIGIN).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    return note


def _fault(path: Path, entry: Mapping[str, Any], hasher: Hasher) -> str:
    if not path.is_file():
        return "is missing"
    if path.stat().st_size != entry["size"]:
        return f"has {path.stat().st_size} bytes, not {entry['size']}"
    if hasher(path) != entry["sha256"]:
        return "was changed (SHA-256 differs)"
    if "tensors" in entry and (wrong := _wrong_shape(shapes(path), entry["tensors"])):
        return wrong
    return ""


def _wrong_shape(found: Mapping[str, list[int]], wanted: Mapping[str, list[int]]) -> str:
    for name in sorted(found.keys() | wanted.keys()):
        if found.get(name) != wanted.get(name):
            return f"holds {name} as {found.get(name)}, not {wanted.get(name)}"
    return ""


def config_problem(folder: Path) -> str:
    """Whether the weights have the shapes that ``config.json`` announces: width and vocabulary of the embeddings, layers."""
    config_path = folder / "config.json"
    if not config_path.is_file():
        return ""
    try:
        config = json.loads(config_path.read_text(encoding="utf-8"))
        wanted = (config.get("vocab_size"), config.get("hidden_size"))
        layers = config.get("num_hidden_layers")
    except (OSError, ValueError, AttributeError) as error:
        return f"config.json is damaged ({error})"
    numbers: set[int] = set()
    for path in sorted(folder.glob("*.safetensors")):
        try:
            found = shapes(path)
        except ValueError as error:
            return str(error)
        for name, shape in found.items():
            is_table = name.endswith(("word_embeddings.weight", "embed_tokens.weight"))
            if is_table and None not in wanted and tuple(shape) != wanted:
                return f"{path.name} holds {name} as {shape}, config.json says {list(wanted)}"
            parts = name.split(".")
            numbers.update(int(after) for part, after in pairwise(parts) if part in ("layer", "layers") and after.isdigit())
    if numbers and isinstance(layers, int) and len(numbers) != layers:
        return f"the weights hold {len(numbers)} layers, config.json says {layers}"
    return ""
