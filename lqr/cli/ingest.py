"""``lqr ingest``: takes files and folders into a collection, and saves their vectors beside them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
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
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="a file, or a folder with all below it")
    parser.add_argument(
        "--save-vectors",
        action="store_true",
        help="take in the collection's own folder in LQR_KNOWLEDGE, as each start does, and write its vectors into it: "
        "where it is copied to (another machine, a Space, an image) nothing is embedded again",
    )
    parser.set_defaults(command=partial(_ingest, parser))


def _ingest(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    if arguments.save_vectors == bool(arguments.paths):
        parser.error("give a PATH, or --save-vectors without one")
    from lqr.app import asked_source, collection_folder, collection_profile
    from lqr.corpus.ingest import IngestProgress, ingest, taken_from
    from lqr.corpus.store import Store
    from lqr.errors import ReadError
    from lqr.retrieval.dense import load_embedder
    from lqr.retrieval.retriever import Retriever
    from lqr.retrieval.shipped import FILE_NAME

    settings = Settings.load(collection=arguments.collection)
    folder = collection_folder(settings, settings.collection)
    own = settings.knowledge / settings.collection
    if arguments.save_vectors and not own.is_dir():
        raise ReadError(f"{own} is no folder: put the documents there, or name another collection")
    show = progress_bars()
    names: dict[str, list[str]] = {}

    def told(progress: IngestProgress) -> None:
        names.setdefault(progress.outcome, []).append(progress.source)
        show("reading", progress.done, progress.total)

    with Store.open(folder) as store:
        rules = collection_profile(settings, settings.collection).rules
        report = ingest(arguments.paths or [own], store, told, prune=not arguments.paths, rules=rules)
        print("\n".join(_report_lines(report, names)), flush=True)  # what is kept is kept, whatever becomes of the index
        retriever = Retriever.open(
            store,
            load_embedder(settings),
            settings,
            folder,
            lambda d, t: show("embedding", d, t),
            asked_of=asked_source(settings, settings.collection, store),
            shipped=own / FILE_NAME,
        )
        print(f"{settings.collection}: {len(retriever)} passages of {len(store.documents())} documents indexed")
        if arguments.save_vectors:
            count = retriever.save_vectors(own / FILE_NAME, taken_from(store, own))
            print(f"{own / FILE_NAME}: {count} vectors, {(own / FILE_NAME).stat().st_size / 1e6:.1f} MB")
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
