"""``lqr ask``: answers one question, as text or as JSON."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from lqr.cli.common import progress_bars
from lqr.errors import ReadError
from lqr.settings import RouteSetting, Settings
from lqr.types import Answer, Source, Turn, as_turns

if TYPE_CHECKING:
    from lqr.cli.common import Commands

log = logging.getLogger(__name__)


def add(commands: Commands, shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "ask",
        parents=[shared],
        allow_abbrev=False,
        help="answer one question",
        description="Answer one question and name the passages that the answer stands on.",
    )
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument(
        "--history", type=Path, metavar="FILE.json", help='the turns before it: [{"role": "user", "content": "..."}, ...]'
    )
    parser.add_argument("--json", action="store_true", help="print the whole answer as one JSON object")
    parser.add_argument("--route", choices=get_args(RouteSetting), default="auto", help="overrule the complexity classifier")
    parser.set_defaults(command=_ask)


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
