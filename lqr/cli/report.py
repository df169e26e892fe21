"""``lqr report``: compares result files, checks whether they can be trusted, and writes Markdown, HTML and CSV."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lqr.cli.common import progress_bars

if TYPE_CHECKING:
    from lqr.cli.common import Commands


def add(commands: Commands, shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "report",
        parents=[shared],
        allow_abbrev=False,
        help="compare results and check whether they can be trusted",
        description="Write report.md, report.html (with plots inside) and CSV from files that `lqr evaluate` wrote. Figures "
        "that fail a check of measurement integrity are struck through, with the reason.",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json", help="results of lqr evaluate")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the report")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with the public sets: their training files are searched")
    parser.add_argument(
        "--train", type=Path, action="append", default=[], metavar="FILE.jsonl[.gz]", help="more questions trained on; repeatable"
    )
    parser.add_argument("--no-plots", action="store_true", help="without plots, which need matplotlib")
    group = parser.add_argument_group("RAGAS, by a judge model (pip install -e '.[eval]')")
    group.add_argument(
        "--ragas",
        metavar="JUDGE",
        help="add RAGAS scores to copies of the files: smollm2, FILE.gguf, a Hub id or https://host/v1#model",
    )
    group.add_argument("--corpus", type=Path, metavar="FILE.jsonl[.gz]", help="the passages that rows name, instead of --data")
    group.add_argument("--ragas-limit", type=int, metavar="N", help="judge the first N rows of each file only")
    parser.set_defaults(command=_report)


def _report(arguments: argparse.Namespace) -> int:
    from lqr.evaluation import report
    from lqr.evaluation.report_pages import integrity_lines

    files = arguments.files
    if arguments.ragas:
        from lqr.evaluation import ragas_scores

        files = ragas_scores.run(
            files,
            arguments.out,
            arguments.ragas,
            data=arguments.data,
            corpus=arguments.corpus,
            limit=arguments.ragas_limit,
            progress=progress_bars(),
        )
    made = report.run(files, arguments.out, data=arguments.data, train=arguments.train, with_plots=not arguments.no_plots)
    print("\n".join(integrity_lines(made)))
    print(f"written to {arguments.out}")
    return 0
