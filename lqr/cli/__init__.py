"""The command line: one module per command. Only these modules, beside ``app.py``, print and set up logging.

Exit codes: 0 done (a refusal is an answer); 1 an error, or a file that could not be read; 2 wrong usage; 130 interrupted;
141 the reader of our output went away. A command module's ``add`` only declares its arguments; heavy modules are imported
when the command runs, so that ``lqr --help`` answers at once. It decides nothing about stages.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable, Sequence

from lqr import __version__
from lqr.cli import ask, deploy, evaluate, hub, ingest, report, review, train
from lqr.errors import LqrError
from lqr.service.redaction import guard_logs

COMMANDS = (ingest, ask, evaluate, report, train, review, hub, deploy)  # in the order of --help


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
    for command in COMMANDS:
        command.add(commands, shared)
    return parser


def _set_up(verbose: int) -> None:
    """Logging without keys, and streams that never fail over a character the terminal has no sign for."""
    level = logging.DEBUG if verbose > 1 else logging.ERROR
    handler = logging.StreamHandler()
    # Some libraries (bm25s) set their own loggers to DEBUG when imported, and so pass over the level of the root.
    handler.addFilter(lambda record: record.levelno >= level or record.name.partition(".")[0] == "lqr")
    logging.basicConfig(level=level, format="%(name)s: %(message)s", handlers=[handler])
    guard_logs()
    logging.getLogger("lqr").setLevel((logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)])
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def _give_up(message: str, code: int) -> int:
    print(f"lqr: {' '.join(message.split())}", file=sys.stderr)
    return code
