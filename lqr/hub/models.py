"""Publishes the folders of ``models/`` as model repositories, and fetches them back: pinned and checked.

A manifest of SHA-256 sums and tensor shapes goes up with the files. What comes down is compared with it before it takes its
place, and again at each load (``lqr.weights``). Reads folder names from the disk; knows no particular classifier.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from lqr import manifest
from lqr.errors import HubError
from lqr.hub import client as hub

CARD = "README.md"


def model_files(folder: Path) -> dict[str, Path | bytes]:
    """What of ``folder`` goes to the Hub: every file that may travel, and a fresh manifest.

    Raises:
        HubError: no folder, no card with a licence, a file that could run code, or weights that don't fit their config.
    """
    if not folder.is_dir():
        raise HubError(f"{folder}: no such folder; give one of models/, such as models/NAME")
    files: dict[str, Path | bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or any(part.startswith(".") for part in Path(name).parts) or name == manifest.ORIGIN:
            continue
        try:
            files[manifest.checked_name(name)] = path
        except ValueError as error:
            raise HubError(f"{folder}: {error}; take the file out") from error
    if problem := manifest.config_problem(folder):
        raise HubError(f"{folder}: {problem}; train or fetch it again")
    if not card_metadata(folder / CARD).get("license"):
        raise HubError(f"{folder / CARD}: a model card with a license in its front matter is needed; write one")
    files[manifest.MANIFEST] = manifest.make(files)
    return files


def push_model(folder: Path, repo: str, *, client: Any = None, private: bool = True, version: str = "") -> hub.Pushed:
    """Bring the repository ``repo`` to what ``folder`` holds, in one commit; tag it ``version`` if given.

    Raises:
        HubError: the folder is not fit to be published, or the Hub refuses or breaks off.
    """
    client = client or hub.api()
    pushed = hub.push(client, repo, "model", model_files(folder), message=f"Update {folder.name}", private=private)
    if version:
        with hub.explained(repo):
            client.create_tag(repo, tag=version, revision=pushed.revision, repo_type="model", exist_ok=True)
    return pushed


def pull_model(repo: str, to: Path, *, client: Any = None, revision: str | None = None) -> manifest.Origin:
    """Fetch ``repo`` at ``revision`` (default: the newest commit), check it, and put it at ``to`` as a whole or not at all.

    A repository without a manifest gets one of what was fetched, so that later changes show. Only an earlier pull that nobody
    has changed is replaced.

    Raises:
        HubError: not there, or a file is tampered with or of the wrong shape (named), or ``to`` holds what no pull could bring
            back (own work, any folder named by mistake); ``to`` is as it was then.
    """
    if problem := kept(to):
        raise HubError(f"{to}: {problem}, and pulling would delete it; move it away, or give another folder with --to")
    client = client or hub.api()
    return fetched(repo, to, "model", revision, client, manifest.config_problem)


def kept(folder: Path, *, changes: Callable[[str], bool] = lambda name: False) -> str:
    """Why ``folder`` must not be replaced: it holds something that was not fetched just so. Empty if it may be.

    Args:
        changes: says which files change, come and go by use alone, and may therefore be lost.
    """
    if not folder.exists():
        return ""
    if not folder.is_dir():
        return "is not a folder"
    if not any(folder.iterdir()):
        return ""
    if not (folder / manifest.ORIGIN).is_file():
        return f"was not fetched from the Hub (no {manifest.ORIGIN})"
    if problem := manifest.problem(folder, changes=changes):
        return problem
    listed = json.loads((folder / manifest.MANIFEST).read_text(encoding="utf-8"))["files"].keys()
    fetched_files = listed | {manifest.MANIFEST, manifest.ORIGIN}
    found = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_symlink() or not p.is_dir()}
    own = sorted(name for name in found - fetched_files if not changes(name))
    return f"{own[0]} is not in {manifest.MANIFEST}" if own else ""


def fetched(
    repo: str,
    to: Path,
    kind: hub.RepoType,
    revision: str | None,
    client: Any,
    extra_check: Callable[[Path], str],
    checksum: Callable[[Path], str] | None = None,
) -> manifest.Origin:
    """Fetch, check against the manifest and by ``extra_check`` (returns what is wrong, or nothing), then exchange the folder.

    ``checksum`` gives the :attr:`~lqr.manifest.Origin.documents` of a folder that was found good.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{to.name}-", dir=to.parent))
    try:
        new = work / "new"
        commit = hub.fetch(client, repo, kind, revision, new)
        shutil.rmtree(new / ".cache", ignore_errors=True)  # the client's notes on the download
        (new / manifest.ORIGIN).unlink(missing_ok=True)  # a note of ours, not theirs
        if not (new / manifest.MANIFEST).is_file():
            files = {p.relative_to(new).as_posix(): p for p in new.rglob("*") if p.is_file()}
            try:
                (new / manifest.MANIFEST).write_bytes(manifest.make(files))
            except ValueError as error:
                raise HubError(f"{repo}: {error}; refused, {to} is as it was") from error
        origin = manifest.write_origin(new, repo, commit)
        if problem := manifest.problem(new) or extra_check(new):
            raise HubError(f"{repo} at {commit[:12]}: {problem}; refused, {to} is as it was")
        if checksum is not None:
            origin = manifest.write_origin(new, repo, commit, checksum(new))
        if to.exists():
            to.rename(work / "old")
        try:
            new.rename(to)
        except OSError:
            if (work / "old").exists():
                (work / "old").rename(to)
            raise
        return origin
    finally:
        shutil.rmtree(work, ignore_errors=True)


def card_metadata(path: Path) -> dict[str, Any]:
    """The front matter of a card; empty if there is none.

    Raises:
        HubError: it is not YAML.
    """
    if not path.is_file():
        return {}
    return front_matter(path.read_text(encoding="utf-8"), str(path))


def front_matter(text: str, name: str) -> dict[str, Any]:
    """The YAML between the two ``---`` lines at the head of ``text``; empty if there is none.

    Raises:
        HubError: it is not a YAML mapping.
    """
    if not text.startswith("---\n") or "\n---" not in text[4:]:
        return {}
    try:
        data = yaml.safe_load(text[4:].split("\n---", 1)[0])
    except yaml.YAMLError as error:
        raise HubError(f"{name}: the front matter is not YAML ({str(error).splitlines()[0]}); mend it") from error
    if not isinstance(data, dict):
        raise HubError(f"{name}: the front matter is not a list of names and values; mend it")
    return data
