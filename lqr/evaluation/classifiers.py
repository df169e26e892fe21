"""``lqr evaluate classifiers``: what each shipped classifier does on a split, beside what it has to beat.

A figure stands under the name of its test, with the rows that it can be computed from again. A model that is not there is
left out, and the result says so. Nothing here trains, and nothing prints. Figures on ``train`` only tell how much a model has
learnt by heart: it was trained on those rows.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lqr.classifiers.complexity import load_complexity
from lqr.classifiers.reader import load_reader
from lqr.classifiers.relevance import CrossEncoderRelevance, RelevanceModel, second_step
from lqr.classifiers.trained_complexity import TrainedComplexity
from lqr.corpus.profile import load_profile
from lqr.corpus.readers import read_file
from lqr.entities import EntityFinder
from lqr.errors import ReadError
from lqr.evaluation.provenance import versions
from lqr.evaluation.reading import evidence_results, reader_results
from lqr.settings import Settings
from lqr.training import baselines, complexity
from lqr.training.datasets.complexity import TESTED, Question, clean
from lqr.training.metrics import summary
from lqr.training.pairs import Pair, bm25_neighbours, read_rows, wrong_passages

Results = dict[str, Any]  # NAME -> {"summary", "rows"}
MULTI_HOP = ("hotpotqa", "musique", "2wikimultihopqa")
SPEED_WORDS = 110  # about 150 tokens of English prose
SPEED_PAIRS = 64


def run(options: argparse.Namespace) -> dict[str, Any]:
    """The result file's object.

    Args:
        options: ``data`` (the folder of public sets) or ``questions`` (a file of the same layout, for complexity alone);
            ``dataset`` (the name of a set or of the collection; None or ``all``: everything), ``limit`` (questions a set, 0
            for all), ``seed``, ``split`` (``train``, ``test``; of a collection ``dev``, for which ``train`` may be said, or
            ``test``).

    Raises:
        ReadError: neither ``data`` nor ``questions`` is given, a file is malformed, or nothing is measured on that dataset
            or split.
        WeightsError: a model is there and cannot be loaded.
    """
    data, questions = getattr(options, "data", None), getattr(options, "questions", None)
    seed, limit = int(getattr(options, "seed", None) or 13), int(getattr(options, "limit", None) or 0)
    settings = Settings.load(collection=getattr(options, "collection", None))
    split, dataset = getattr(options, "split", None) or "test", getattr(options, "dataset", None)
    names = _sets(dataset, split, settings.collection, Path(questions).name if questions else "")
    if not questions and not data and names:
        raise ReadError("nothing to measure on: give --data DIR with the public sets, or --questions FILE")
    models: Results = {}
    missing: list[str] = []
    if questions:
        models |= on_file(Path(questions), settings, limit, seed)
    if data or not names:
        own = dataset in (None, "all", settings.collection)
        models |= complexity_results(Path(data or "."), settings, limit, seed, names=names, split=split, own=own)
    if data and names:
        relevance = load_relevance(settings)
        if relevance is None:
            missing.append("relevance")
        else:
            hops = [name for name in MULTI_HOP if name in names]
            models |= relevance_results(relevance, Path(data), hops, limit, seed, split=split)
        if (settings.models / "reader" / "config.json").is_file():
            reader = load_reader(settings)
            if "squad" in names:
                models["reader, squad, gold paragraph"] = reader_results(reader, Path(data), limit, seed, split=split)
            if relevance is not None and "hotpotqa" in names:
                evidence = evidence_results(reader, relevance, Path(data), limit, seed, split=split)
                models["evidence, hotpotqa, ten passages"] = evidence
        else:
            missing.append("reader")
    record = {"limit": limit, "dataset": dataset, "split": split, "not_shipped": missing}
    return {"settings": record, "versions": versions(settings), "seed": seed, "date": time.strftime("%Y-%m-%d"), "models": models}


def _sets(dataset: str | None, split: str, collection: str, file: str = "") -> tuple[str, ...]:
    """The public sets that ``dataset`` stands for; none where it is the collection. ``file`` names what --questions gives."""
    if dataset == collection:
        return ()
    if split == "dev":
        if file:
            raise ReadError(
                f"{file} is measured whole, it has no halves: leave --split dev out; "
                f"for the questions that {collection} is tuned on, say --dataset {collection} --split dev, without --questions"
            )
        raise ReadError(
            f"the public sets have no dev half: say --split train or test; "
            f"for the questions that {collection} is tuned on, say --dataset {collection} --split dev"
        )
    if dataset in (None, "all"):
        return TESTED
    if dataset not in TESTED:
        raise ReadError(f"--dataset {dataset}: classifiers are measured on {', '.join(TESTED)}, or on {collection}")
    return (dataset,)


def complexity_results(
    data: Path,
    settings: Settings,
    limit: int,
    seed: int,
    *,
    names: Sequence[str] = TESTED,
    split: str = "test",
    own: bool = True,
) -> Results:
    """The router that the pipeline uses and the rules, on public sets, the outcome labels and half of the collection.

    Args:
        own: measure on the questions of the collection, if it has some.

    Raises:
        ReadError: a file is missing or malformed, or there is nothing to measure on.
    """
    folder = settings.knowledge / settings.collection
    asked: Sequence[Question] = ()
    entities = None
    if own and (folder / "questions.jsonl").is_file():
        asked = complexity.collection_questions(folder / "questions.jsonl", "test" if split == "test" else "dev")
        entities = EntityFinder(load_profile(folder), titles(folder))
    if not names and not asked:
        raise ReadError(f"{folder / 'questions.jsonl'}: no questions of that half; give --data DIR with the public sets")
    held = complexity.measured_sets(data, own=asked, names=names, split=split, seed=seed, limit=limit)
    results = complexity.measure(baselines.rules(), held, own_scorer=baselines.rules(entities))
    results = {f"{name}, rules": result for name, result in results.items()}
    model, _ = load_complexity(settings)
    if isinstance(model, TrainedComplexity):
        at_home, _ = load_complexity(settings, entities)
        assert isinstance(at_home, TrainedComplexity)
        threshold = model.calibration.threshold
        shipped = complexity.measure(model.probabilities, held, threshold=threshold, own_scorer=at_home.probabilities)
        left_out = _left_out(settings.models / "complexity") if split == "test" and names == TESTED else {}
        results = shipped | results | left_out
    return results


def on_file(path: Path, settings: Settings, limit: int, seed: int) -> Results:
    """The router on a file of questions; the label is ``label``, or else whether a row has several supporting passages or steps.

    Raises:
        ReadError: the file can't be read, or a row tells no label.
    """
    rows = [_labelled(row, number, path) for number, row in enumerate(_json_lines(path), start=1)]
    if limit and limit < len(rows):
        rows = random.Random(seed).sample(rows, limit)
    model, _ = load_complexity(settings)
    shown: Results = {}
    for name, scorer, threshold in (
        *(
            [(f"complexity, {path.name}", model.probabilities, model.calibration.threshold)]
            if isinstance(model, TrainedComplexity)
            else []
        ),
        (f"complexity, {path.name}, rules", baselines.rules(), 0.5),
    ):
        found = scorer([row.question for row in rows])
        scored = [
            {"id": row.id, "label": row.label, "probability": round(p, 4), "predicted": int(p >= threshold)}
            for row, p in zip(rows, found, strict=True)
        ]
        shown[name] = _result(scored, threshold)
    return shown


def load_relevance(settings: Settings) -> RelevanceModel | None:
    """The shipped relevance classifier; None where there is none."""
    folder = settings.models / "relevance"
    if not (folder / "config.json").is_file():
        return None
    return CrossEncoderRelevance(folder, device="cuda" if settings.profile == "gpu" else "cpu")


def relevance_results(
    model: RelevanceModel, data: Path, names: Sequence[str], limit: int, seed: int, *, split: str = "test"
) -> Results:
    """Balanced pairs of each set in both forms, and the time a pair of about 150 tokens takes."""
    results: Results = {}
    longest: list[Pair] = []
    for name in names:
        first, second = relevance_pairs(data / name, limit, seed, split=split)
        longest += first
        for form, pairs in (("question and passage alone", first), ("second step", second)):
            found = model.score_many([(pair.question, (pair.title, pair.text)) for pair in pairs])
            scored = [
                {"id": f"{name}-{number}", "label": int(pair.label), "probability": round(p, 4), "predicted": int(p >= 0.5)}
                for number, (pair, p) in enumerate(zip(pairs, found, strict=True))
            ]
            if scored:
                results[f"relevance, {name}, {form}"] = _result(scored, 0.5)
    if longest:
        results["relevance, speed"] = {"summary": speed(model, longest), "rows": []}
    return results


def relevance_pairs(folder: Path, limit: int, seed: int, *, split: str = "test") -> tuple[list[Pair], list[Pair]]:
    """Pairs of one set, half of each label: question and passage alone, and with the first passage behind the question.

    For each question one supporting passage and one wrong one. In the second form another supporting passage has been found
    already; the question is left out where there is no other.

    Raises:
        ReadError: a file is missing or malformed.
    """
    rng = random.Random(seed)
    corpus = {row["id"]: row for row in read_rows(folder / "corpus.jsonl.gz")}
    rows = read_rows(folder / f"{split}.jsonl.gz")
    rows = rng.sample(rows, min(limit or len(rows), len(rows)))
    near = bm25_neighbours(corpus, [row["question"] for row in rows], depth=12)
    alone: list[Pair] = []
    second: list[Pair] = []
    for row, neighbours in zip(rows, near, strict=True):
        gold = [corpus[i] for i in row["supporting"] if i in corpus]
        wrong = wrong_passages(row, neighbours, corpus)
        if not gold or not wrong:
            continue
        rng.shuffle(gold)
        bad = rng.choice(wrong)
        alone += [
            Pair(row["question"], passage["title"], passage["text"], label, folder.name)
            for passage, label in ((gold[0], 1.0), (bad, 0.0))
        ]
        if len(gold) > 1:
            asked = second_step(row["question"], gold[1]["title"], gold[1]["text"])
            second += [
                Pair(asked, passage["title"], passage["text"], label, folder.name)
                for passage, label in ((gold[0], 1.0), (bad, 0.0))
            ]
    return alone, second


def speed(model: RelevanceModel, pairs: Sequence[Pair]) -> dict[str, float]:
    """Milliseconds a pair, passages cut or repeated to about 150 tokens; the second of two passes, so that all is loaded."""
    cut = []
    for pair in pairs[:SPEED_PAIRS]:
        words = pair.text.split() or [pair.title]
        cut.append((pair.question, (pair.title, " ".join((words * (SPEED_WORDS // len(words) + 1))[:SPEED_WORDS]))))
    model.score_many(cut)
    began = time.perf_counter()
    model.score_many(cut)
    return {"n": len(cut), "ms_a_pair": round(1000 * (time.perf_counter() - began) / len(cut), 2)}


def titles(folder: Path) -> list[str]:
    """Those of a collection's articles, which are names that a question may hold."""
    return [document.title for path in sorted(folder.rglob("*.md")) for document in read_file(path, source=path.name)]


def _left_out(folder: Path) -> Results:
    """The table of sets left out of training: models of their own, so it is read from the model's evaluation.json."""
    path = folder / "evaluation.json"
    try:
        models = json.loads(path.read_text(encoding="utf-8"))["models"]
        return {name: result for name, result in models.items() if "left out" in name}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReadError(f"{path}: {error!r}; train the model again") from error


def _labelled(row: Any, number: int, path: Path) -> Question:
    if isinstance(row, dict) and "turns" in row:
        raise ReadError(
            f"{path.name} row {number}: laid out as the questions of a collection; say --dataset NAME, without --questions"
        )
    try:
        label = (
            row["label"]
            if "label" in row
            else int(len(row.get("supporting") or ()) > 1 or len(row.get("decomposition") or ()) > 1)
        )
        if label not in (0, 1) or not ({"label", "supporting", "decomposition"} & set(row)):
            raise ValueError("no label, supporting passages or decomposition")
        return Question(str(row.get("id", number)), clean(str(row["question"])), int(label), path.stem)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ReadError(f"{path.name} row {number}: {error!r}") from error


def _json_lines(path: Path) -> list[Any]:
    if path.suffix == ".gz":
        return list(read_rows(path))
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except (OSError, ValueError) as error:
        raise ReadError(f"{path.name}: {error}; give a .jsonl or .jsonl.gz file") from error


def _result(rows: list[dict[str, Any]], threshold: float) -> dict[str, Any]:
    figures = summary([row["label"] for row in rows], [row["probability"] for row in rows], threshold=threshold)
    return {"summary": figures, "rows": rows}
