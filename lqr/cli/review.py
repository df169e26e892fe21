"""``lqr review FILE``: examples for a new domain, labelled by a model and reviewed by a person."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lqr.errors import SettingsError, WriterError
from lqr.settings import Settings

if TYPE_CHECKING:
    from lqr.cli.common import Commands
    from lqr.training.labelling import Cost
    from lqr.training.review import LabelFile

PORT = 7861  # beside the chat's


def add(commands: Commands, shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "review",
        parents=[shared],
        allow_abbrev=False,
        help="label examples with a model, and accept or correct the labels on a page",
        description='FILE is JSON lines: {"question": ...} to be labelled simple (0) or complex (1), {"question": ..., '
        '"text": ...} to be labelled irrelevant (0) or relevant (1). Without --label a page opens. '
        "The file keeps who said what, and when.",
        epilog="`lqr train complexity --extra FILE` trains on reviewed questions.",
    )
    parser.add_argument("file", type=Path, metavar="FILE")
    label = parser.add_argument_group("labelling by a model")
    label.add_argument(
        "--label", metavar="MODEL", help="smollm2, FILE.gguf, a Hub id, or https://host/v1#model; goes on where it stopped"
    )
    label.add_argument("--limit", type=int, metavar="N", help="only the first N rows that the model has not labelled")
    label.add_argument("--price", type=float, nargs=2, metavar=("IN", "OUT"), help="dollars for a million tokens read, written")
    label.add_argument("--dry-run", action="store_true", help="only say what it would cost")
    label.add_argument("--yes", action="store_true", help="do not ask before it starts")
    page = parser.add_argument_group("the page")
    page.add_argument("--by", default="reviewer", metavar="NAME", help="your name as the file keeps it (default: reviewer)")
    page.add_argument("--port", type=int, default=PORT, metavar="N", help=f"on this machine only (default {PORT})")
    parser.set_defaults(command=_review)


def _review(arguments: argparse.Namespace) -> int:
    from lqr.training.review import LabelFile

    if arguments.limit is not None and arguments.limit < 1:
        raise SettingsError(f"--limit {arguments.limit}: must be at least 1")
    file = LabelFile.open(arguments.file)
    return _label(file, arguments) if arguments.label else _open(file, arguments)


def _label(file: LabelFile, arguments: argparse.Namespace) -> int:
    from lqr.cli.common import progress_bars
    from lqr.training import labelling
    from lqr.writing.factory import load_language_model

    model = load_language_model(Settings.load(llm=arguments.label))
    if model is None:
        raise SettingsError(
            "--label composer: the composer is no language model; name a .gguf file, a Hub id or https://host/v1#model"
        )
    try:
        prices = tuple(arguments.price) if arguments.price else None
        cost = labelling.estimate(file, model, limit=arguments.limit, prices=prices)
        print(describe(cost, model.name))
        if not cost.rows or arguments.dry_run or not (arguments.yes or _agreed()):
            return 0
        done = labelling.label(file, model, limit=arguments.limit, progress=progress_bars())
    finally:
        model.close()
    print(f"{done.labelled} labelled, {done.unreadable} without a readable reply, {done.requests} requests")
    if not done.labelled:
        raise WriterError(f"{model.name} gave no label that could be read; name a larger model")
    print(f"review them with: lqr review {file.path}")
    return 0


def describe(cost: Cost, model: str) -> str:
    """The cost in one line, before anything is spent."""
    money = f", about ${cost.dollars:.2f} at most" if cost.dollars is not None else ""
    return (
        f"{model}: {cost.rows} rows to label, {cost.requests} requests (more where a reply is unreadable), "
        f"about {cost.prompt_tokens:,} tokens to read and at most {cost.answer_tokens:,} to write{money}"
    )


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise SettingsError("nobody is here to agree to that; start it with --yes")
    return input("Go on? [y/N] ").strip().lower() in ("y", "yes")


def _open(file: LabelFile, arguments: argparse.Namespace) -> int:
    from lqr.ui import theme
    from lqr.ui.review import STYLE, ReviewPage

    options = theme.launch_options()
    options["css"] += STYLE
    page = ReviewPage(file, arguments.by).build()
    print(f"{file.path}: {len(file)} rows, {file.progress().reviewed} reviewed; http://127.0.0.1:{arguments.port} (Ctrl+C ends)")
    page.launch(server_name="127.0.0.1", server_port=arguments.port, quiet=True, **options)
    return 0
