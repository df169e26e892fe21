"""``lqr evaluate KIND``: measures retrieval, answers and the classifiers, and writes every row behind the figures.

One parser for all kinds; the module of a kind is imported when it is run.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lqr.cli.common import progress_bars
from lqr.errors import SettingsError
from lqr.settings import Settings

if TYPE_CHECKING:
    from lqr.cli.common import Commands

KINDS = {
    "retrieval": "are the gold passages among the first",
    "answers": "short answers of a public set, or whole answers of a collection with questions of its own",
    "classifiers": "complexity, relevance, reader and evidence against their test pairs",
    "rewriting": "follow-up questions against their standalone rewrites",
    "support": "claims against evidence, and planted errors",
}
STRATEGIES = ("none", "single", "multi", "adaptive", "lqr", "oracle")
RETRIEVERS = ("hybrid", "bm25", "dense", "graph", "paths", "read")
SHOWN = 2  # levels of a summary that are printed; the file holds all


def add(commands: Commands, shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "evaluate",
        parents=[shared],
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        help="measure retrieval, answers and classifiers",
        description="Measure one of:\n" + "\n".join(f"  {kind:12} {what}" for kind, what in KINDS.items()),
        epilog="A run that is broken off goes on where it stopped. `lqr report FILE.json...` compares results.",
    )
    parser.add_argument("kind", choices=tuple(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.json", help="the result: settings, summary, every row")

    what = parser.add_argument_group("what is measured on")
    what.add_argument(
        "--dataset", metavar="NAME", help="a folder of --data; a collection with questions.jsonl; all: the pooled sets"
    )
    what.add_argument("--split", choices=("train", "dev", "test"), default="test", help="tune on train, report on test (default)")
    what.add_argument("--data", type=Path, metavar="DIR", help="folder with a sub-folder for each set (README, Data)")
    what.add_argument("--questions", type=Path, metavar="FILE.jsonl[.gz]", help="questions of that layout, instead of the set's")
    what.add_argument("--corpus", type=Path, metavar="FILE.jsonl[.gz]", help="passages of that layout, instead of the set's")
    what.add_argument("--limit", type=int, metavar="N", help="only N questions, drawn with the seed")
    what.add_argument("--seed", type=int, default=13, metavar="N", help="of samples and intervals (default 13)")
    what.add_argument("--pooled", action="store_true", help="search the passages of all five Wikipedia sets together")
    what.add_argument("--without-titles", action="store_true", help="take the titles of the passages away")

    how = parser.add_argument_group("how (retrieval and answers)")
    how.add_argument("--strategy", choices=STRATEGIES, default="lqr", help="default lqr, the product's own path")
    how.add_argument(
        "--generator",
        default="extractive",
        metavar="NAME_OR_PATH",
        help="extractive (the reader, no language model), rules, smollm2, FILE.gguf, a Hub id, https://host/v1#model",
    )
    how.add_argument("--retriever", choices=RETRIEVERS, default="hybrid", help="the first stage (bm25 needs no vectors)")
    how.add_argument("--k", type=int, metavar="N", help="passages that one step reads (default LQR_TOP_K)")
    how.add_argument("--no-relevance", action="store_true", help="without the relevance classifier, in the order of retrieval")
    how.add_argument("--no-graph", action="store_true", help="without the passage graph")
    how.add_argument("--no-decomposition", action="store_true", help="two steps, but the whole question in both")
    how.add_argument("--no-comparison", action="store_true", help="dates and countries are read, not compared by rule")
    how.add_argument("--no-dense", action="store_true", help="without vectors")
    how.add_argument("--fresh", action="store_true", help="forget the rows of a run that was broken off")
    parser.set_defaults(command=_evaluate)


def _evaluate(arguments: argparse.Namespace) -> int:
    arguments.progress = progress_bars()
    result = _own(arguments) if arguments.kind in ("retrieval", "answers") else _other(arguments)
    print("\n".join(_lines(result, arguments)))
    return 0


def _own(arguments: argparse.Namespace) -> dict[str, Any]:
    """Retrieval or answers, of a public set or of a collection; both keep their rows as they go and write the result."""
    from lqr.evaluation import benchmark, collection_answers
    from lqr.evaluation.options import Options

    arguments.dataset = arguments.dataset or arguments.collection
    options = Options.of(arguments.kind, arguments)
    in_data = options.data and options.dataset and (options.data / options.dataset).is_dir()
    if not options.corpus and not in_data and collection_answers.has_questions(Settings.load(), options.dataset):
        return collection_answers.run(options)
    return benchmark.run(options)


def _other(arguments: argparse.Namespace) -> dict[str, Any]:
    """A kind with a module of its own, which gives the result; it is written here.

    Raises:
        SettingsError: this version has no such measurement.
    """
    from lqr.evaluation.runner import write_json

    name = f"lqr.evaluation.{arguments.kind}"
    try:
        run: Callable[[argparse.Namespace], dict[str, Any]] = importlib.import_module(name).run
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise SettingsError(f"lqr evaluate {arguments.kind} is not part of this version; see lqr evaluate --help") from error
    result = run(arguments)
    write_json(arguments.out, result)
    return result


def _lines(result: Mapping[str, Any], arguments: argparse.Namespace) -> list[str]:
    lines = []
    if "models" in result:
        for name, model in result["models"].items():
            lines += [name, *_figures(model.get("summary", {}), "  ")]
    else:
        lines += _figures(result.get("summary", {}), "")
    return [*lines, f"{arguments.out}: {_rows(result)} rows, seed {result.get('seed', arguments.seed)}"]


def _rows(result: Mapping[str, Any]) -> int:
    models = result.get("models", {}).values()
    return len(result.get("rows", ())) or sum(len(model.get("rows", ())) for model in models)


def _figures(summary: Mapping[str, Any], indent: str, level: int = 1) -> list[str]:
    lines = []
    intervals = summary.get("intervals", {})
    for name, value in summary.items():
        if name == "intervals":
            continue
        if not isinstance(value, Mapping):
            if _is_plain(value):
                interval = f"  ({' to '.join(map(_plain, intervals[name]))})" if name in intervals else ""
                lines.append(f"{indent}{name:24} {_plain(value)}{interval}")
        elif level < SHOWN:
            lines += [f"{indent}{name}", *_figures(value, indent + "  ", level + 1)]
        else:
            lines.append(f"{indent}{name}: " + ", ".join(f"{key} {_plain(v)}" for key, v in value.items() if _is_plain(v)))
    return lines


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _plain(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
