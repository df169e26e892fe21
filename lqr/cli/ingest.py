"""``lqr ingest``: takes files and folders into a collection."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lqr.cli.common import progress_bars
from lqr.settings import Settings

if TYPE_CHECKING:
    from lqr.cli.common import Commands
    from lqr.corpus.ingest import IngestReport

NAMES_SHOWN = 20  # of files that went well; those that did not are all named


def add(commands: Commands, shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "ingest",
        parents=[shared],
        allow_abbrev=False,
        help="take files and folders into a collection",
        description="Take files and folders into a collection and index them. What has not changed is not read again.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file, or a folder with all below it")
    parser.set_defaults(command=_ingest)


def _ingest(arguments: argparse.Namespace) -> int:
    from lqr.app import asked_source, collection_folder, collection_profile
    from lqr.corpus.ingest import IngestProgress, ingest
    from lqr.corpus.store import Store
    from lqr.retrieval.dense import load_embedder
    from lqr.retrieval.retriever import Retriever

    settings = Settings.load(collection=arguments.collection)
    folder = collection_folder(settings, settings.collection)
    show = progress_bars()
    names: dict[str, list[str]] = {}

    def told(progress: IngestProgress) -> None:
        names.setdefault(progress.outcome, []).append(progress.source)
        show("reading", progress.done, progress.total)

    with Store.open(folder) as store:
        report = ingest(arguments.paths, store, told, rules=collection_profile(settings, settings.collection).rules)
        print("\n".join(_report_lines(report, names)), flush=True)  # what is kept is kept, whatever becomes of the index
        retriever = Retriever.open(
            store,
            load_embedder(settings),
            settings,
            folder,
            lambda d, t: show("embedding", d, t),
            asked_of=asked_source(settings, settings.collection, store),
        )
        print(f"{settings.collection}: {len(retriever)} passages of {len(store.documents())} documents indexed")
    return 1 if report.failed else 0


def _report_lines(report: IngestReport, names: Mapping[str, Sequence[str]]) -> list[str]:
    counts = f"{report.added} added, {report.unchanged} unchanged, {report.replaced} replaced, {report.removed} removed"
    lines = [f"{counts}, {len(report.duplicates)} duplicates, {len(report.failed)} failed; {report.passages} passages written"]
    for outcome in ("added", "replaced"):
        sources = names.get(outcome, ())
        lines += [f"{outcome}: {source}" for source in sources[:NAMES_SHOWN]]
        if more := sources[NAMES_SHOWN:]:
            lines.append(f"{outcome}: and {len(more)} more")
    lines += [f"duplicate: {source} is the same as {twin}" for source, twin in report.duplicates]
    lines += [f"shortened: {source}: {left_out}" for source, left_out in report.truncated]
    lines += [f"skipped: {count} files ({reason})" for reason, count in sorted(report.skipped.items())]
    # A reason often begins with the file's name already.
    lines += [f"failed: {why if why.startswith(source) else f'{source}: {why}'}" for source, why in report.failed]
    return lines
