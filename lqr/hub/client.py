"""One way to the Hugging Face Hub: what a commit would change, the commit itself, a fetched folder, and errors fit to be shown.

The token is the Hub client's own affair (``HF_TOKEN``, or ``hf auth login``): it is never an argument, and every text that leaves
here has been through :func:`redacted`. One commit a push, so that nobody finds half of it. Knows no kind of content.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lqr import manifest
from lqr.errors import HubError, LqrError
from lqr.settings import known_secrets

log = logging.getLogger(__name__)

RepoType = Literal["model", "dataset", "space"]
Files = Mapping[str, Path | bytes]  # path in the repository to a file here, or to its content

KEPT_REMOTE = frozenset({".gitattributes"})  # the Hub's own
# The boundary before a letter is looked up behind it: where every alternative begins with a letter the search skips to those,
# and takes a tenth of the time over text.
_KEY_LIKE = re.compile(
    r"h(?<=\bh)f_[A-Za-z0-9]{20,}|s(?<=\bs)k-[A-Za-z0-9_-]{20,}|g(?<=\bg)h[pousr]_[A-Za-z0-9]{30,}|A(?<=\bA)KIA[0-9A-Z]{16}\b"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_REPO = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths that a commit would add, change and delete, and those that are there already as they are here."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    same: tuple[str, ...]

    @property
    def any(self) -> bool:
        """Whether there is anything to commit."""
        return bool(self.added or self.changed or self.deleted)


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did: ``revision`` is the commit that now holds the files, ``url`` its page."""

    repo: str
    revision: str
    url: str
    changes: Changes


def api() -> Any:
    """The Hub's client, with the token it finds by itself."""
    import huggingface_hub

    return huggingface_hub.HfApi(library_name="lqr")


def check_repo(repo: str) -> str:
    """``repo`` if it is ``owner/name``.

    Raises:
        HubError: it is not.
    """
    if not _REPO.fullmatch(repo):
        raise HubError(f"{repo!r} is no repository of the Hub; write it as OWNER/NAME")
    return repo


def remote_files(client: Any, repo: str, kind: RepoType, revision: str | None = None) -> tuple[str, dict[str, str]]:
    """The commit that ``revision`` (default: main) stands for, and a content hash for each of its files.

    The hash is the one that :func:`content_hash` gives. An absent or empty repository is ``("", {})``.

    Raises:
        HubError: the Hub can't be reached or refuses.
    """
    from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

    with explained(repo):
        try:
            commit = client.repo_info(repo, repo_type=kind, revision=revision, timeout=10).sha or ""
            entries = client.list_repo_tree(repo, repo_type=kind, revision=commit or revision, recursive=True) if commit else ()
            files = [entry for entry in entries if hasattr(entry, "blob_id")]
        except (RepositoryNotFoundError, EntryNotFoundError):
            return "", {}
    return commit, {f.path: f"sha256:{f.lfs.sha256}" if f.lfs else f"git:{f.blob_id}" for f in files}


def content_hashes(content: Path | bytes) -> tuple[str, str]:
    """How the Hub names this content: as a large file (``sha256:``) and as a git blob (``git:``)."""
    data = content if isinstance(content, bytes) else content.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
    return f"sha256:{hashlib.sha256(data).hexdigest()}", f"git:{blob.hexdigest()}"


def compare(files: Files, remote: Mapping[str, str]) -> Changes:
    """What has to change for the repository to hold ``files`` and nothing else."""
    added = sorted(set(files) - set(remote))
    both = sorted(set(files) & set(remote))
    same = [name for name in both if remote[name] in content_hashes(files[name])]
    deleted = sorted(set(remote) - set(files) - KEPT_REMOTE)
    return Changes(tuple(added), tuple(sorted(set(both) - set(same))), tuple(deleted), tuple(same))


def push(client: Any, repo: str, kind: RepoType, files: Files, *, message: str, private: bool = True, **creation: Any) -> Pushed:
    """Make the repository if need be and bring it to ``files`` in one commit; nothing is committed if nothing differs.

    After a break, run it again: large files that have arrived are not sent a second time.

    Args:
        private: of a repository that is made now.
        creation: more for ``create_repo``, such as ``space_sdk``.

    Raises:
        HubError: a secret is in the files, or the Hub can't be reached, refuses or breaks off.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    check_repo(repo)
    if found := secrets_in(files):
        raise HubError(f"not pushed: {found[0]} holds what looks like a key; take it out")
    with explained(repo):
        client.create_repo(repo, repo_type=kind, private=private, exist_ok=True, **creation)
    parent, remote = remote_files(client, repo, kind)
    changes = compare(files, remote)
    page = f"{client.endpoint}/{'' if kind == 'model' else kind + 's/'}{repo}"
    if not changes.any:
        return Pushed(repo, parent, page, changes)
    operations: list[Any] = [CommitOperationDelete(name) for name in changes.deleted]
    for name in (*changes.added, *changes.changed):
        content = files[name]
        operations.append(CommitOperationAdd(name, content if isinstance(content, bytes) else str(content)))
    with explained(repo):
        made = client.create_commit(
            repo, operations, repo_type=kind, commit_message=message, parent_commit=parent or None, revision="main"
        )
    return Pushed(repo, made.oid, page, changes)


def fetch(client: Any, repo: str, kind: RepoType, revision: str | None, folder: Path) -> str:
    """Fetch the files of one commit that may travel into the empty ``folder``; returns the commit.

    Raises:
        HubError: not there, can't be reached, or a name in it would leave the folder.
    """
    import huggingface_hub

    check_repo(repo)
    commit, remote = remote_files(client, repo, kind, revision)
    if not commit:
        raise HubError(f"{repo}: no such {kind}, or it is private and no token is set; log in with: hf auth login")
    wanted = []
    for name in sorted(remote):
        try:
            wanted.append(manifest.checked_name(name))
        except ValueError as error:
            log.info("%s: %s", repo, error)
    with explained(repo):
        huggingface_hub.snapshot_download(
            repo,
            repo_type=kind,
            revision=commit,
            local_dir=folder,
            allow_patterns=wanted,
            endpoint=client.endpoint,
            max_workers=4,
        )
    for name in wanted:  # what arrived is what the commit lists: a proxy or a mirror may answer with a page of its own
        if not (folder / name).is_file() or remote[name] not in content_hashes(folder / name):
            raise HubError(f"{repo}: {name} did not arrive as the commit lists it; run it again")
    return commit


def secrets_in(files: Files) -> list[str]:
    """Paths whose text holds a key: one of this process's own, or what has the form of one."""
    own = _own_secrets()
    found = []
    for name in sorted(files):
        content = files[name]
        if isinstance(content, Path) and content.suffix in (".safetensors", ".npy", ".gguf"):
            continue  # numbers: forms of keys appear there by chance
        data = content if isinstance(content, bytes) else content.read_bytes()
        text = data.decode("utf-8", "ignore")
        if _KEY_LIKE.search(text) or any(secret in text for secret in own):
            found.append(name)
    return found


def redacted(text: str) -> str:
    """``text`` without the keys of this process and without what has the form of one."""
    for secret in _own_secrets():
        text = text.replace(secret, "***")
    return _KEY_LIKE.sub("***", text)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turns whatever the Hub's client raises into a :class:`HubError` of one line, without keys and without a traceback chain."""
    try:
        yield
    except LqrError:
        raise
    except Exception as error:  # httpx, OSError, RuntimeError and the Hub's own: all end one command
        raise HubError(f"{what}: {_said(error)}") from None  # the chain could quote a header


def _said(error: BaseException) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    cause = error.__cause__ or error
    line = next(iter(str(cause).strip().splitlines()), "") or type(cause).__name__
    said = redacted(line)[:300].rstrip(".")
    if status in (401, 403):
        return f"refused ({status}); log in with `hf auth login`, with a token that may write there"
    if type(error).__name__ == "OfflineModeIsEnabled":
        return "not asked, HF_HUB_OFFLINE is set; unset it"
    if status == 412 or "parent commit" in said.lower():
        return "somebody else committed meanwhile; run it again"
    return f"{type(cause).__name__}: {said}. Run it again: what has arrived is not sent twice"


def _own_secrets() -> Sequence[str]:
    import huggingface_hub

    token = huggingface_hub.get_token() or ""  # it may come from a file
    return [*known_secrets(), *known_secrets({"HF_TOKEN": token})]
