"""The command line: ``lqr ingest`` and ``lqr ask``. The only module, beside ``app.py``, that prints and sets up logging.

Exit codes: 0 done (a refusal is an answer); 1 an error, or a file that could not be read; 2 wrong usage; 130 interrupted;
141 the reader of our output went away. Heavy modules are imported by the command that needs them, so that ``lqr --help``
answers at once. It decides nothing about stages.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, get_args

from lqr import __version__
from lqr.errors import LqrError, ReadError
from lqr.settings import RouteSetting, Settings
from lqr.types import Answer, Source, Turn, as_turns

if TYPE_CHECKING:
    from lqr.corpus.ingest import IngestReport

log = logging.getLogger(__name__)

NAMES_SHOWN = 20  # of files that went well; those that did not are all named


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        argv: the arguments without the program's name; ``sys.argv`` by default.

    Raises:
        SystemExit: argparse's own, after ``--help``, ``--version`` (0) or wrong usage (2).
    """
    arguments = _parser().parse_args(argv)
    _set_up(arguments.verbose)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        code = command(arguments)
        sys.stdout.flush()  # here, where a broken pipe can still be caught
        return code
    except LqrError as error:
        return _give_up(str(error), 1)
    except KeyboardInterrupt:
        return _give_up("interrupted", 130)
    except BrokenPipeError:
        # What is left in the buffer would raise again when the interpreter flushes it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "lqr":
            raise
        return _give_up(f"the package {error.name} is not installed; run pip install -r requirements.txt", 1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _give_up(f"{where}{error.strerror or error}; free space or change its permissions, or set LQR_HOME", 1)


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("-v", "--verbose", action="count", default=0, help="say what is chosen and why; twice: everything")
    shared.add_argument("--collection", metavar="NAME", help="the collection (default: LQR_COLLECTION, else agriculture)")

    parser = argparse.ArgumentParser(
        prog="lqr",
        description="Questions about your documents, answered in sentences that each cite a passage.",
        epilog="Settings are LQR_* environment variables; the README lists them. The chat is started by: python app.py",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"lqr {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    ingest = commands.add_parser(
        "ingest",
        parents=[shared],
        allow_abbrev=False,
        help="take files and folders into a collection",
        description="Take files and folders into a collection and index them. What has not changed is not read again.",
    )
    ingest.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file, or a folder with all below it")
    ingest.set_defaults(command=_ingest)

    ask = commands.add_parser(
        "ask",
        parents=[shared],
        allow_abbrev=False,
        help="answer one question",
        description="Answer one question and name the passages that the answer stands on.",
    )
    ask.add_argument("question", metavar="QUESTION")
    ask.add_argument(
        "--history", type=Path, metavar="FILE.json", help='the turns before it: [{"role": "user", "content": "..."}, ...]'
    )
    ask.add_argument("--json", action="store_true", help="print the whole answer as one JSON object")
    ask.add_argument("--route", choices=get_args(RouteSetting), default="auto", help="overrule the complexity classifier")
    ask.set_defaults(command=_ask)
    return parser


def _ingest(arguments: argparse.Namespace) -> int:
    from lqr.app import collection_folder
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
        report = ingest(arguments.paths, store, told)
        print("\n".join(_report_lines(report, names)), flush=True)  # what is kept is kept, whatever becomes of the index
        retriever = Retriever.open(store, load_embedder(settings), settings, folder, lambda d, t: show("embedding", d, t))
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


def _ask(arguments: argparse.Namespace) -> int:
    settings = Settings.load(collection=arguments.collection)
    history = read_history(arguments.history) if arguments.history else ()
    from lqr.app import build

    application = build(settings, progress=progress_bars())
    try:
        for line in application.startup:
            log.info(line)
        answer = application.pipeline.ask(arguments.question, history, route=arguments.route)
    finally:
        application.close()
    print(_as_json(answer) if arguments.json else _as_text(answer))
    return 0


def read_history(path: Path) -> tuple[Turn, ...]:
    """The turns in a JSON file: a list of objects with ``role`` and ``content``, oldest first.

    Raises:
        ReadError: the file can't be read or holds something else.
    """
    try:
        messages: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ReadError(f"{path}: can't be read ({error.strerror}); check the path of --history") from error
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or nested without end
        raise ReadError(f"{path}: not JSON in UTF-8 ({error})") from error
    wanted = 'a list of {"role": "user" or "assistant", "content": "..."}'
    if not isinstance(messages, list):
        raise ReadError(f"{path}: must hold {wanted}")
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str) or "content" not in message:
            raise ReadError(f"{path}: item {number} has no role or no content; the file must hold {wanted}")
    return as_turns(messages)


def _as_json(answer: Answer) -> str:
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    return json.dumps(answer.to_dict(), ensure_ascii=ascii_only, indent=2)


def _as_text(answer: Answer) -> str:
    parts = [answer.text]
    if answer.confidence.level == "thin":
        parts.append(f"Thin evidence: {answer.confidence.reason}.")
    if answer.sources:
        parts.append("Sources\n" + "\n".join(_source_lines(source) for source in answer.sources))
    return "\n\n".join(parts)


def _source_lines(source: Source) -> str:
    page = f", page {source.page}" if source.page else ""
    lines = [f"[{source.number}] {' > '.join((source.title, *source.section))}{page}"]
    lines += [f'    "{quote}"' for quote in source.quotes]
    lines += [f"    {reference}" for reference in (source.url, *source.references) if reference]
    return "\n".join(lines)


def progress_bars(stream: TextIO | None = None) -> Callable[[str, int, int], None]:
    """A function ``(what, done, total)`` that draws a bar for each ``what``; silent where no person looks on.

    Args:
        stream: where to draw, standard error by default.
    """
    from tqdm import tqdm  # type: ignore[import-untyped, unused-ignore]

    bars: dict[str, Any] = {}

    def show(what: str, done: int, total: int) -> None:
        if what not in bars:
            bars[what] = tqdm(total=total, desc=what, file=stream, disable=None)  # None: off unless it is a terminal
        bar = bars[what]
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    return show


def _set_up(verbose: int) -> None:
    """Logging, and streams that never fail over a character the terminal has no sign for."""
    logging.basicConfig(level=logging.DEBUG if verbose > 1 else logging.ERROR, format="%(name)s: %(message)s")
    logging.getLogger("lqr").setLevel((logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)])
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def _give_up(message: str, code: int) -> int:
    print(f"lqr: {' '.join(message.split())}", file=sys.stderr)
    return code
