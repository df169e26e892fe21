"""``lqr train``: trains one of the classifiers and writes a folder that is ready for the Hub."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lqr.errors import ReadError, SettingsError
from lqr.settings import Settings

if TYPE_CHECKING:
    from lqr.cli.common import Commands
    from lqr.training.text_classifier import Progress
    from lqr.types import Passage

KINDS = ("complexity", "relevance", "reader", "evidence", "support")
BASE = "sentence-transformers/all-MiniLM-L6-v2"
_EVERY = 20.0  # seconds between two lines of progress where there is no terminal
# Options that only some kinds have.
_ONLY = {
    ("complexity",): ("patience", "adapter", "size", "left_out", "extra", "questions", "no_augment"),
    ("support",): ("reader",),
    ("reader", "evidence"): ("squad", "rounds"),
    ("reader", "evidence", "relevance"): ("dropout",),
}


def add(commands: Commands, shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "train",
        parents=[shared],
        allow_abbrev=False,
        help="train a classifier from public sets",
        description="Train a classifier and write weights, calibration, figures, plots and a model card into a folder. "
        "A run that was killed goes on with --resume. The reader also marks the needed sentences: evidence is the same training.",
    )
    parser.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder with the public sets, one folder each")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the model, such as models/NAME")
    parser.add_argument(
        "--base", default=BASE, metavar="NAME", help=f"encoder to start from: a Hub id or a folder (default: {BASE})"
    )
    parser.add_argument("--epochs", type=float, metavar="N", help="at most (default: 10 for complexity, else that of the recipe)")
    parser.add_argument("--batch", type=int, metavar="N", help="rows a step (default: 32, for the reader 24)")
    parser.add_argument("--learning-rate", type=float, metavar="X", help="peak (default: 5e-5 for complexity, else the recipe's)")
    parser.add_argument("--dropout", type=float, metavar="X", help="share (default: the base's; 0 halves a step's time on a CPU)")
    parser.add_argument("--seed", type=int, default=13, metavar="N", help="of data, order and weights (default: 13)")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="of torch; 0 lets it choose (default: 0)")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint in --out")
    group = parser.add_argument_group("support only")
    group.add_argument(
        "--reader", action="store_true", default=None, help="train a token reader too; without it, a fit to signals of words"
    )
    group = parser.add_argument_group("reader only")
    group.add_argument("--squad", type=int, metavar="N", help="questions of SQuAD (default: 12000)")
    group.add_argument("--rounds", type=int, metavar="N", help="windows for each question of the multi-hop sets (default: 2)")
    group = parser.add_argument_group("complexity only")
    group.add_argument("--patience", type=int, metavar="N", help="half epochs without a better held-out loss (default: 3)")
    group.add_argument("--adapter", type=int, metavar="RANK", help="train a LoRA adapter instead of every weight (default: 0)")
    group.add_argument("--size", type=int, metavar="N", help="questions, half of each label (default: 9000)")
    group.add_argument("--left-out", action="append", metavar="SET", help="train without this set; may be repeated")
    group.add_argument("--extra", type=Path, metavar="FILE", help="JSON lines with question and label (0 or 1) to train on too")
    group.add_argument(
        "--questions", type=Path, metavar="FILE", help="a collection's questions.jsonl: dev calibrates, test is measured"
    )
    group.add_argument("--no-augment", action="store_true", default=None, help="keep capitals and question marks as they are")
    parser.set_defaults(command=_train)


def _train(arguments: argparse.Namespace) -> int:
    for kinds, names in _ONLY.items():
        given = [name for name in names if getattr(arguments, name) is not None]
        if given and arguments.kind not in kinds:
            option = given[0].replace("_", "-")
            raise SettingsError(f"--{option} is for {' and '.join(kinds)} only; leave it out for {arguments.kind}")
    if not arguments.data.is_dir():
        raise ReadError(f"{arguments.data} is not a folder; --data takes the one that holds the public sets")
    settings = Settings.load(collection=arguments.collection)
    trainers: dict[str, Callable[[argparse.Namespace, Settings], dict[str, Any]]] = {
        "complexity": _complexity,
        "relevance": _relevance,
        "reader": _reader,
        "evidence": _reader,
        "support": _support,
    }
    for test, figures in trainers[arguments.kind](arguments, settings).items():
        print(f"{test}: {_line(figures)}")
    print(f"written to {arguments.out}")
    return 0


def _complexity(arguments: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    from lqr.corpus.profile import load_profile
    from lqr.entities import EntityFinder
    from lqr.training.complexity import collection_questions, train_complexity
    from lqr.training.datasets.complexity import read
    from lqr.training.text_classifier import TextConfig

    config = TextConfig(
        base=_base(arguments, settings),
        out=arguments.out,
        seed=arguments.seed,
        threads=arguments.threads,
        augment=not arguments.no_augment,
        **_given(arguments, "epochs", "batch", "learning_rate", "patience", "adapter"),
    )
    own = arguments.questions
    # names as the chat finds them: titles and scope terms
    entities = EntityFinder(load_profile(own.parent), _titles(own.parent)) if own else None
    return train_complexity(
        arguments.data,
        config,
        base_name=arguments.base,
        left_out=arguments.left_out or (),
        extra=read(arguments.extra) if arguments.extra else (),
        own_dev=collection_questions(own, "dev") if own else (),
        own_test=collection_questions(own, "test") if own else (),
        entities=entities,
        resume=arguments.resume,
        progress=reporter(),
        **_given(arguments, "size"),
    )


def _relevance(arguments: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    from lqr.training.relevance import train_relevance

    figures = train_relevance(
        arguments.data, _passages(arguments, settings), _pair_config(arguments, settings), resume=arguments.resume
    )
    return {"held out": figures}


def _reader(arguments: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    from lqr.training import windows
    from lqr.training.reader import train_reader

    tasks = windows.build(arguments.data, seed=arguments.seed, **_given(arguments, "squad", "rounds"))
    config = replace(_pair_config(arguments, settings), max_tokens=320, eval_every=240)  # windows are longer than pairs
    if arguments.batch is None:
        config = replace(config, batch=24)
    return {"held out": train_reader(tasks, config, resume=arguments.resume)}


def _support(arguments: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    from lqr.training.support import SupportConfig, fit_words, train_support

    if not arguments.reader:
        given = [name for name in ("epochs", "batch", "learning_rate") if getattr(arguments, name) is not None]
        if given or arguments.resume:
            option = (given or ["resume"])[0].replace("_", "-")
            raise SettingsError(f"support is a fit to signals of words: leave out --{option}, or train a reader with --reader")
        return {"support": fit_words(arguments.data, arguments.out, arguments.seed)["logistic"]}
    if arguments.resume or arguments.epochs is not None:
        raise SettingsError("a reader of support is trained by processor time in one run: leave out --resume and --epochs")
    config = SupportConfig(
        base=_base(arguments, settings), out=arguments.out, seed=arguments.seed, **_given(arguments, "batch", "learning_rate")
    )
    record = train_support(arguments.data, config, _step_reporter())
    return {"support": {key: value for key, value in record.items() if isinstance(value, int | float)}}


def _pair_config(arguments: argparse.Namespace, settings: Settings) -> Any:
    from lqr.training.cross_encoder import TrainConfig

    config = TrainConfig(base=_base(arguments, settings), out=arguments.out, seed=arguments.seed, threads=arguments.threads)
    return replace(config, **_given(arguments, "epochs", "batch", "learning_rate", "dropout"))


def _base(arguments: argparse.Namespace, settings: Settings) -> str:
    from lqr.weights import find_base

    return str(find_base(arguments.base, settings=settings))


def _passages(arguments: argparse.Namespace, settings: Settings) -> Sequence[Passage]:
    """Those of the collection named, if one is: the model then learns how its documents speak."""
    if not arguments.collection:
        return ()
    from lqr.app import collection_folder
    from lqr.corpus.store import Store

    with Store.open(collection_folder(settings, arguments.collection)) as store:
        return store.all_passages()


def _titles(folder: Path) -> list[str]:
    from lqr.corpus.readers import read_file

    return [document.title for path in sorted(folder.rglob("*.md")) for document in read_file(path, source=path.name)]


def _given(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(arguments, name)) is not None}


def reporter() -> Callable[[Progress], None]:
    """Shows where a training is on standard error: a bar on a terminal, else a line now and then, each with the time left."""
    if sys.stderr.isatty():
        from tqdm import tqdm  # type: ignore[import-untyped, unused-ignore]

        bar = tqdm(desc="training", unit="step")

        def draw(progress: Progress) -> None:
            bar.total = progress.steps
            bar.set_postfix_str("" if progress.loss is None else f"loss {progress.loss:.3f}", refresh=False)
            bar.update(progress.step - bar.n)

        return draw
    said = [0.0]

    def tell(progress: Progress) -> None:
        if progress.step < progress.steps and time.monotonic() - said[0] < _EVERY:
            return
        said[0] = time.monotonic()
        loss = "" if progress.loss is None else f", loss {progress.loss:.3f}"
        left = f"{progress.seconds_left / 60:.1f} min left"
        print(f"step {progress.step} of {progress.steps}, epoch {progress.epoch:.2f}{loss}, {left}", file=sys.stderr, flush=True)

    return tell


def _step_reporter() -> Callable[[str, float, float], None]:
    began: dict[str, float] = {}
    said = [0.0]

    def tell(step: str, done: float, loss: float) -> None:
        now = time.monotonic()
        start = began.setdefault(step, now)
        if done < 1 and now - said[0] < _EVERY:
            return
        said[0] = now
        left = (now - start) * (1 - done) / done / 60 if done else 0.0
        print(f"{step}: {done:.0%}, loss {loss:.3f}, {left:.1f} min left", file=sys.stderr, flush=True)

    return tell


def _line(figures: dict[str, Any]) -> str:
    return ", ".join(f"{name} {round(value, 4) if isinstance(value, float) else value}" for name, value in figures.items())
