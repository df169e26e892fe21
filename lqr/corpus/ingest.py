"""Takes files and folders into a store: find (:mod:`lqr.corpus.finding`), read, split, keep.

Each file is one transaction, so that a kill at any moment leaves whole files; a second run skips what is done. One bad
file is named in the report and never stops the rest. Ingest knows no index: those see the store's generation.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lqr.corpus import rulebook
from lqr.corpus.finding import Found, content, find, root_key
from lqr.corpus.passages import split
from lqr.corpus.readers import ReadLimits, read_bytes
from lqr.corpus.rulebook_style import RuleStyle
from lqr.corpus.store import IdTakenError, Store
from lqr.errors import ReadError, StoreError
from lqr.types import Document, Passage

log = logging.getLogger(__name__)

FORMAT = 2  # raise it when readers or passages change: files are then read again though their bytes are the same

FileOutcome = Literal["added", "unchanged", "replaced", "duplicate", "failed", "removed", "reading"]
PAGES_STEP = 10  # pages of one file between two progress reports


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """One file is done: its source, what became of it, and how many of how many.

    While a long PDF is read it comes with the outcome ``reading`` and ``pages``: how many of how many are read.
    """

    done: int
    total: int
    source: str
    outcome: FileOutcome
    pages: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of every file. Sources are as the store has them; counts are of documents."""

    added: int = 0
    unchanged: int = 0
    replaced: int = 0
    removed: int = 0  # documents whose file, or whose record in it, is gone
    passages: int = 0  # passages written
    duplicates: tuple[tuple[str, str], ...] = ()  # (source, source of the document that is the same)
    failed: tuple[tuple[str, str], ...] = ()  # (source, reason)
    truncated: tuple[tuple[str, str], ...] = ()  # (source, what was left out)
    skipped: Mapping[str, int] = field(default_factory=dict)  # reason -> number of files


def ingest(
    paths: Sequence[Path],
    store: Store,
    progress: Callable[[IngestProgress], None] | None = None,
    *,
    prune: bool = False,
    rules: RuleStyle | None = None,
    limits: ReadLimits = ReadLimits(),  # noqa: B008
) -> IngestReport:
    """Take files and folders into ``store``.

    A document's source is its path below the ingested folder (a file given by itself: its name). The same source with
    other content replaces the old document, also where the file comes from another folder; only files given in one call
    are told apart by a number. ``prune`` removes the documents of files that are no longer in the folders given; files
    from elsewhere stay. ``rules`` says how the rules of a rule book are numbered; it is then split by them.

    Raises:
        ReadError: one of ``paths`` does not exist.
        StoreError: the store can't be written; what was reported as done stays.
    """
    skipped: Counter[str] = Counter()
    found = find(paths, skipped)
    run = _Run(store, limits, progress, len(found), rules)
    if prune:  # before reading: a file that was moved must not look like a duplicate of itself
        run.prune({root_key(path) for path in paths if path.is_dir()}, {item.source for item in found})
    marked = store.marked_files()
    for number, item in enumerate(found, start=1):
        run.file(item, number, marked)
    run.retry_twins()
    return run.report(skipped)


def taken_from(store: Store, folder: Path) -> frozenset[str]:
    """Ids of the documents that were taken in from the files below ``folder``, and not from elsewhere."""
    root = root_key(folder)
    files = [source for source, (_, marked) in store.marked_files().items() if marked == root]
    return frozenset(document_id for file in files for document_id in store.sources_of(file).values())


class _Run:
    """The tallies of one call."""

    def __init__(
        self,
        store: Store,
        limits: ReadLimits,
        progress: Callable[[IngestProgress], None] | None,
        total: int,
        rules: RuleStyle | None,
    ) -> None:
        self.rules = rules
        self.format = f"{FORMAT}.{rules.fingerprint}" if rules else str(FORMAT)  # other patterns split the same bytes anew
        self.store = store
        self.limits = limits
        self.progress = progress
        self.total = total
        self.done = 0
        self.counts: Counter[str] = Counter()
        self.twins: list[tuple[Found, str, str]] = []  # (file, source, id of the document that is the same)
        self.duplicates: list[tuple[str, str]] = []
        self.failed: list[tuple[str, str]] = []
        self.truncated: list[tuple[str, str]] = []

    def prune(self, roots: set[str], sources: set[str]) -> None:
        for source, (_, root) in self.store.marked_files().items():
            if root in roots and source not in sources:
                self.counts["removed"] += self.store.delete_source(source)
                self._tell(0, source, "removed")

    def file(self, item: Found, number: int, marked: Mapping[str, tuple[str, str]]) -> None:
        try:
            outcome = self._take(item, marked)
        except (ReadError, IdTakenError) as error:
            self.failed.append((item.source, str(error)))
            outcome = "failed"
        except StoreError:  # no further file could be kept either
            raise
        except Exception as error:  # a fault of a reader must not cost the other files
            log.exception("the reader failed on %s", item.source)
            self.failed.append(
                (item.source, f"{item.source}: the reader failed ({type(error).__name__}: {error}); please report it")
            )
            outcome = "failed"
        self._tell(number, item.source, outcome)

    def retry_twins(self) -> None:
        """Read duplicates again whose twin was replaced later in the same run, as when two files swap their contents."""
        twins, self.twins = self.twins, []
        here = {info.id: info.source for info in self.store.documents()}
        lost = {item.source: item for item, _, document_id in twins if document_id not in here}
        self.duplicates = [(source, here[i]) for item, source, i in twins if item.source not in lost]
        for item in lost.values():
            self.file(item, self.total, {})
        here = {info.id: info.source for info in self.store.documents()} if lost else here
        self.duplicates += [(source, here[i]) for _, source, i in self.twins if i in here]

    def _take(self, item: Found, marked: Mapping[str, tuple[str, str]]) -> FileOutcome:
        data = content(item, self.limits.bytes + 1)
        digest = f"{self.format}:{hashlib.sha256(data).hexdigest()}"
        if marked.get(item.source) == (digest, item.root):
            self.counts["unchanged"] += len(self.store.sources_of(item.source))
            return "unchanged"
        documents = read_bytes(data, source=item.source, limits=self.limits, progress=self._pages(item))
        split_documents = [(document, self.split(document)) for document in documents]
        outcomes: Counter[str] = Counter()
        written = 0
        duplicates: list[tuple[str, str]] = []
        with self.store.transaction():
            before = self.store.sources_of(item.source)
            gone = before.keys() - {document.source for document in documents}
            for source in gone:
                self.store.delete(before[source])
            for document, passages in split_documents:
                outcome = self.store.add(document, passages, file=item.source)
                outcomes[outcome] += 1
                if outcome == "duplicate":
                    duplicates.append((document.source, document.id))
                elif outcome != "unchanged":
                    written += len(passages)
            # A duplicate must be looked at again, as its twin may be deleted: no file has the empty digest.
            self.store.mark_file(item.source, "" if duplicates else digest, item.root)
        self.counts.update(outcomes)
        self.counts["passages"] += written
        self.counts["removed"] += len(gone)
        self.twins.extend((item, source, document_id) for source, document_id in duplicates)
        notes = [
            (document.source, str(document.metadata["truncated"])) for document in documents if "truncated" in document.metadata
        ]
        self.truncated.extend(notes)
        return _summary(outcomes, bool(gone))

    def split(self, document: Document) -> tuple[Passage, ...]:
        """The passages of ``document``: by rule where it is a rule book's, by prose otherwise."""
        return rulebook.split(document, self.rules) if self.rules else split(document)

    def _pages(self, item: Found) -> Callable[[int, int], None] | None:
        if self.progress is None:
            return None
        tell = self.progress

        def read(done: int, total: int) -> None:
            if done % PAGES_STEP == 0 and done < total:
                tell(IngestProgress(self.done, self.total, item.source, "reading", (done, total)))

        return read

    def _tell(self, done: int, source: str, outcome: FileOutcome) -> None:
        self.done = done
        if self.progress is not None:
            self.progress(IngestProgress(done, self.total, source, outcome))

    def report(self, skipped: Mapping[str, int]) -> IngestReport:
        return IngestReport(
            added=self.counts["added"],
            unchanged=self.counts["unchanged"],
            replaced=self.counts["replaced"],
            removed=self.counts["removed"],
            passages=self.counts["passages"],
            duplicates=tuple(self.duplicates),
            failed=tuple(self.failed),
            truncated=tuple(self.truncated),
            skipped=dict(skipped),
        )


def _summary(outcomes: Counter[str], gone: bool) -> FileOutcome:
    """One word for a file of many records."""
    if outcomes["replaced"] or gone or (outcomes["added"] and outcomes["unchanged"]):
        return "replaced"
    for outcome in ("added", "unchanged"):
        if outcomes[outcome]:
            return "added" if outcome == "added" else "unchanged"
    return "duplicate"
