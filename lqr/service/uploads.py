"""The documents of one visitor: read into a collection of his own, searched beside a library or alone.

A collection has its own folder, store and indexes; no object of one knows another, and the library is never written to. Whose
it is, and when it is dropped, is decided in :mod:`lqr.service.sessions`.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, get_args

from lqr.app import Application
from lqr.corpus.passages import split
from lqr.corpus.readers import ReadLimits, clean_source, numbered_source, read_bytes
from lqr.corpus.store import Store
from lqr.errors import LqrError, ReadError
from lqr.retrieval.retriever import Retriever
from lqr.service.variants import Variants

Scope = Literal["both", "own", "library"]
OnProgress = Callable[[str, int, int], None]  # ("pages" or "passages", done, total)


class QuotaError(LqrError):
    """One visitor's documents are as many or as large as they may be, or as many visitors have some."""


class NotNowError(LqrError):
    """A visitor's documents can't answer as asked just now: they are being changed, or one could not be removed."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as its list shows it. ``size`` is in bytes; ``cut`` says what of it was left out."""

    id: str
    name: str
    size: int
    passages: int
    cut: str = ""


class Collection:
    """The documents of one session. Safe to use from several threads; questions never wait for an upload."""

    def __init__(self, variants: Variants, folder: Path) -> None:
        base = variants.base
        self._variants = variants
        self._prefix = f"own{secrets.token_hex(4)}-"  # no id of the common collection can be mistaken for one of these
        self._lock = threading.Lock()  # held while files are read, removed or dropped: for minutes
        self._view = threading.Lock()  # held to look up or build what answers; taken after the other, never waits for it
        self._views: dict[Scope, Application] = {}  # beside the library of the next one
        self._beside = variants
        self._leaving: set[str] = set()  # uploads whose removal has begun, or failed: nothing of them may be found
        self._closed = False
        self._scope: Scope = "both"
        self._uploads: dict[str, tuple[Upload, str]] = {}  # by id: the upload, and the digest of its bytes
        self._folder = folder
        folder.mkdir(mode=0o700)
        self._store = Store.open(folder)
        # Its graph stays in this process: a graph server is shared.
        settings = replace(base.settings, graph="embedded")
        self._retriever = Retriever.open(self._store, base.retriever.embedder, settings, folder)
        self._retriever.read_with(base.pipeline.layered.scorer)

    @property
    def application(self) -> Application:
        """What answers this session's questions now: the library, while there are no files.

        Raises:
            LqrError: as :meth:`view`.
        """
        scope, variants = self._scope, self._variants
        return (self.view(scope, variants) if scope != "library" else None) or variants.base

    def view(self, scope: Scope, variants: Variants) -> Application | None:
        """What answers from ``own`` documents, or from ``both`` them and the library of ``variants``; None: there are none.

        Never waits for an upload: what is found while one is read is what was found before.

        Raises:
            NotNowError: a file is being removed or could not be, or another library is asked for while files are changed.
            LqrError: the documents can't be listed.
        """
        with self._view:
            if not self._uploads:
                return None
            if self._leaving:
                raise NotNowError("a document is being removed, or could not be; try to remove it again")
            if not self._views or self._beside is not variants:
                if not self._lock.acquire(blocking=False):
                    raise NotNowError("documents are being read; ask again when they are ready")
                try:
                    self._build(variants)
                finally:
                    self._lock.release()
            return self._views[scope]

    @property
    def uploads(self) -> tuple[Upload, ...]:
        """The files, in the order they came."""
        return tuple(upload for upload, _ in list(self._uploads.values()))

    @property
    def scope(self) -> Scope:
        """Which documents answer: ``both``, ``own`` or those of the ``library``."""
        return self._scope

    def choose(self, scope: str) -> None:
        """Set :attr:`scope`; what is no scope changes nothing."""
        if scope in get_args(Scope):
            self._scope = cast(Scope, scope)

    def rebase(self, variants: Variants) -> None:
        """Stand beside another library from now on; its views are built when they are asked for, or after an upload."""
        self._variants = variants

    def add(self, name: str, data: bytes, progress: OnProgress | None = None) -> Upload:
        """Take a file in; when this returns, its passages are found.

        Args:
            name: as the visitor's computer has it. It is shown and never used as a path.

        Raises:
            ReadError: it can't be read, holds no text, or is here already.
            QuotaError: there is no room for it.
        """
        limits = self._variants.base.settings
        with self._lock:
            self._check_open()
            most = limits.upload_megabytes * 2**20
            if len(self._uploads) >= limits.upload_files:
                raise QuotaError(f"at most {limits.upload_files} files; remove one first")
            if sum(upload.size for upload in self.uploads) + len(data) > most:
                raise QuotaError(f"at most {limits.upload_megabytes} MB together; remove a file first")
            source = self._source(name)
            digest = hashlib.sha256(data).hexdigest()
            if same := next((upload.name for upload, known in self._uploads.values() if known == digest), ""):
                raise ReadError(f"{source}: the same file is here as {same}")
            upload_id = secrets.token_hex(8)
            pages = (lambda done, total: progress("pages", done, total)) if progress else None
            read = read_bytes(data, source=source, limits=_limits(most), progress=pages)
            documents = [replace(document, id=f"{self._prefix}{upload_id}{document.id}") for document in read]
            taken = [(document, split(document)) for document in documents]
            count = sum(len(passages) for _, passages in taken)
            if not count:
                raise ReadError(f"{source}: holds no text that could answer a question")
            left = limits.upload_passages - sum(upload.passages for upload in self.uploads)
            if count > left:
                raise QuotaError(f"{source}: {count} passages, and there is room for {left}; split it, or remove a file first")
            try:
                with self._store.transaction():
                    for document, passages in taken:
                        self._store.add(document, passages, file=source)
                self._retriever.refresh((lambda done, total: progress("passages", done, total)) if progress else None)
            except BaseException:
                self._store.delete_source(source)
                raise
            cut = "; ".join(str(document.metadata["truncated"]) for document in documents if "truncated" in document.metadata)
            upload = Upload(upload_id, source, len(data), count, cut)
            with self._view:
                self._uploads[upload_id] = upload, digest
                self._build(self._variants)
            return upload

    def delete(self, upload_id: str) -> Upload | None:
        """Remove a file; when this returns, nothing of it is found any more. None if there is none of this id.

        Raises:
            LqrError: it could not be removed. It is still listed, so that it can be tried again; until then no own
                documents answer.
        """
        with self._lock:
            self._check_open()
            if upload_id not in self._uploads:
                return None
            upload, _ = self._uploads[upload_id]
            with self._view:
                self._leaving.add(upload_id)
            self._store.delete_source(upload.name)
            self._retriever.refresh()
            with self._view:
                del self._uploads[upload_id]
                self._leaving.discard(upload_id)
                self._build(self._variants)
            return upload

    def close(self) -> None:
        """Drop everything; an upload that is being read ends first."""
        with self._lock:
            self._closed = True
            with self._view:
                self._uploads.clear()
                self._views = {}
            self._store.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _check_open(self) -> None:
        if self._closed:
            raise QuotaError("these documents were dropped, as the session had ended; reload the page")

    def _source(self, name: str) -> str:
        """A name of its own that can be shown: the last part of ``name``, cleaned."""
        used = {upload.name for upload in self.uploads}
        source = first = clean_source(name).rsplit("/", 1)[-1]
        number = 1
        while source in used:
            number += 1
            source = numbered_source(first, number)
        return source

    def _build(self, variants: Variants) -> None:
        """Build both views, so that the scope can be changed during an upload; both locks are held."""
        self._beside, self._views = variants, {}
        if self._uploads:
            both, own = (variants.of(self._store, self._retriever, self._is_own, alone=alone) for alone in (False, True))
            self._views = {"both": both, "own": own}

    def _is_own(self, name: str) -> bool:
        return name.startswith(self._prefix)


def _limits(most: int) -> ReadLimits:
    """Of one visitor's file: tighter than those of an operator's, as it is read while others wait."""
    return ReadLimits(bytes=most, pages=1000, ocr_pages=5, rows=20_000, characters=2_000_000)
