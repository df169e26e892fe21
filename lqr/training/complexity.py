"""The recipe of ``models/complexity``: data, training, calibration, tests, plots and card, in one folder.

The encoder is fine-tuned on the public sets; then a logistic weighs its logit and the signs of the rules on held-out rows and,
where a collection brings labelled questions, on their dev half. Test rows are only measured. Knows nothing of the command line.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lqr.classifiers.complexity import RULE_FEATURES, RuleComplexity
from lqr.classifiers.trained_complexity import CALIBRATION, Calibration
from lqr.errors import ReadError
from lqr.training import text_classifier
from lqr.training.baselines import Scorer
from lqr.training.card import COMPLEXITY, write_card
from lqr.training.cross_encoder import fit_temperature
from lqr.training.datasets import complexity as datasets
from lqr.training.datasets.complexity import Question
from lqr.training.metrics import best_threshold, summary
from lqr.training.plots import confusion, curves
from lqr.training.text_classifier import Progress, TextConfig

Entities = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class MeasuredOn:
    """What a complexity classifier is measured on.

    ``outcomes`` maps ids of ``public`` to the second kind of label (did one retrieval miss a supporting passage?).
    """

    public: tuple[Question, ...]  # of the six sets, as many of each
    own: tuple[Question, ...] = ()  # one half of a collection's questions
    outcomes: dict[str, int] | None = None


def measured_sets(
    data: Path,
    *,
    own: Sequence[Question] = (),
    names: Sequence[str] = datasets.TESTED,
    split: str = "test",
    seed: int = 13,
    limit: int = 0,
    outcomes: bool = True,
) -> MeasuredOn:
    """Equally many questions of each of the sets ``names``: as many as the smallest has, or ``limit``.

    Args:
        split: ``test``, or ``train`` to see how much better a classifier does on what it has seen.
        outcomes: give the labels by the outcome of one retrieval too, where a set has a corpus and this split of questions.

    Raises:
        ReadError: a file is missing or malformed.
    """
    rng = random.Random(seed)
    found = {name: datasets.split_rows(data, name, split) for name in names}
    count = min([*map(len, found.values()), limit or 10**9])
    public = tuple(row for name in names for row in rng.sample(found[name], count))
    held: dict[str, int] = {}
    if outcomes:
        for name in names:
            if all((data / name / f"{part}.jsonl.gz").is_file() for part in ("corpus", split)):
                held |= datasets.outcome_labels(data / name, split)
    return MeasuredOn(public, tuple(own), {row.id: held[row.id] for row in public if row.id in held})


def collection_questions(path: Path, split: str) -> list[Question]:
    """Every turn of ``split`` (``dev``, ``test``) of a collection's ``questions.jsonl``, in its standalone form.

    Raises:
        ReadError: the file can't be read or a line is malformed.
    """
    rows = []
    try:
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line.strip() and (item := json.loads(line))["split"] == split:
                for number, turn in enumerate(item["turns"], start=1):
                    label = int(turn["route"] == "complex")
                    rows.append(Question(f"{item['id']}-{number}", turn["standalone"], label, path.parent.name))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReadError(f"{path.name}: {error!r}; each line needs split and turns with standalone and route") from error
    return rows


def measure(scorer: Scorer, held: MeasuredOn, *, threshold: float = 0.5, own_scorer: Scorer | None = None) -> dict[str, Any]:
    """``{NAME: {"summary", "rows"}}``: the public sets together and one by one, the collection, and the outcome labels.

    Args:
        own_scorer: scores the collection's questions, where its entities make a difference; ``scorer`` by default.
    """
    result: dict[str, Any] = {}
    if held.public:
        scored = _rows(held.public, scorer, threshold)
        names = list(dict.fromkeys(row.origin for row in held.public))
        together = _result(scored, threshold)
        result["complexity, six sets balanced" if len(names) == len(datasets.TESTED) else f"complexity, {', '.join(names)}"] = (
            together
        )
        for name in names:
            own = [row for row in scored if row["set"] == name]
            right = sum(row["predicted"] == row["label"] for row in own)
            together["summary"][f"accuracy {name}"] = round(right / len(own), 4)
        if held.outcomes:
            by_outcome = [row | {"label": held.outcomes[row["id"]]} for row in scored if row["id"] in held.outcomes]
            result["complexity, outcome labels"] = _result(by_outcome, threshold)
    if held.own:
        result[f"complexity, {held.own[0].origin}"] = _result(_rows(held.own, own_scorer or scorer, threshold), threshold)
    return result


def train_complexity(
    data: Path,
    config: TextConfig,
    *,
    base_name: str,
    size: int = 9000,
    left_out: Sequence[str] = (),
    extra: Sequence[Question] = (),
    own_dev: Sequence[Question] = (),
    own_test: Sequence[Question] = (),
    entities: Entities | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> dict[str, Any]:
    """Train and write everything a Hub repository needs into ``config.out``; returns the summaries by test.

    Args:
        base_name: what the base is called on the Hub; ``config.base`` may be a local folder.
        extra: labelled questions of one's own to train on.
        own_dev: a collection's questions on which the signs are weighed too; ``entities`` are that collection's.
        own_test: its questions that are only measured.

    Raises:
        ReadError: data is missing, or an unfinished run is in the way.
        LqrError: matplotlib is missing.
    """
    built = datasets.build(data, size=size, seed=config.seed, left_out=left_out, extra=extra)
    datasets.write(built.train, config.out / "data" / "train.jsonl")
    datasets.write(built.held_out, config.out / "data" / "held_out.jsonl")
    pairs = [(row.question, float(row.label)) for row in built.train]
    trained = text_classifier.train(
        pairs, [(row.question, float(row.label)) for row in built.held_out], config, resume=resume, progress=progress
    )

    def logits(questions: Sequence[str]) -> Any:
        return text_classifier.logits_of(trained.model, trained.tokenizer, questions, max_tokens=config.max_tokens)

    calibration = calibrate(
        trained.held_out_logits, built.held_out, logits([row.question for row in own_dev]) if own_dev else (), own_dev, entities
    )
    text_classifier.save(trained, config.out)
    (config.out / CALIBRATION).write_text(json.dumps(asdict(calibration), indent=1) + "\n", encoding="utf-8")
    _name_base(config.out / "adapter_config.json", base_name)

    def scorer(finder: Entities | None) -> Scorer:
        signs = RuleComplexity(finder)
        return lambda questions: [
            calibration.probability(float(z), signs.features(q)) for z, q in zip(logits(questions), questions, strict=True)
        ]

    held = measured_sets(data, own=own_test, seed=config.seed)
    models = measure(scorer(None), held, threshold=calibration.threshold, own_scorer=scorer(entities))
    date = time.strftime("%Y-%m-%d")
    settings = {key: value for key, value in asdict(config).items() if key not in ("base", "out", "threads")}
    facts = {"base": base_name, "settings": settings | {"epochs run": round(trained.epochs, 2)}, "data": built.counts}
    _write(config.out / "training.json", facts | {"seconds": round(trained.seconds, 1), "date": date, "history": trained.history})
    _write(
        config.out / "evaluation.json",
        {"settings": {"left_out": list(left_out)}, "seed": config.seed, "date": date, "models": models},
    )
    curves(trained.history, config.out / "curves.png")
    rows = models["complexity, six sets balanced"]["rows"]
    confusion([r["label"] for r in rows], [r["predicted"] for r in rows], ("simple", "complex"), config.out / "confusion.png")
    write_card(config.out, COMPLEXITY)
    text_classifier.finish(config.out)
    return {name: result["summary"] for name, result in models.items()}


def calibrate(
    held_logits: Sequence[float],
    held: Sequence[Question],
    own_logits: Sequence[float] = (),
    own: Sequence[Question] = (),
    entities: Entities | None = None,
) -> Calibration:
    """Temperature on the held-out rows; with ``own`` questions also the weights of the signs, on both halves weighed equally.

    The threshold is that of best accuracy on what was fitted last.
    """
    import numpy as np

    z, y = np.asarray(held_logits, dtype=float), np.asarray([row.label for row in held])
    temperature = fit_temperature(z, y)
    if len({row.label for row in own}) < 2:
        return Calibration(temperature, _threshold(y.tolist(), (1 / (1 + np.exp(-z / temperature))).tolist()))
    from sklearn.linear_model import LogisticRegression

    general, local = RuleComplexity(), RuleComplexity(entities)
    x = np.vstack(
        [_features(z / temperature, held, general), _features(np.asarray(own_logits, dtype=float) / temperature, own, local)]
    )
    label = np.concatenate([y, [row.label for row in own]])
    weight = np.concatenate([np.full(len(held), 0.5 / len(held)), np.full(len(own), 0.5 / len(own))]) * len(label)
    model = LogisticRegression(C=1.0, max_iter=1000).fit(x, label, sample_weight=weight)
    slope = float(model.coef_[0][0])
    if slope <= 0.05:  # the encoder tells nothing here; a division by its weight would be without sense
        raise ReadError("the encoder's logit does not rise with complexity on the held-out rows; train longer or on other data")
    signs = {name: round(float(value), 4) for name, value in zip(RULE_FEATURES, model.coef_[0][1:], strict=True)}
    fitted = Calibration(round(temperature / slope, 4), 0.5, round(float(model.intercept_[0]), 4), signs)
    probabilities = [
        fitted.probability(float(logit), rules.features(row.question))
        for logits, rows, rules in ((held_logits, held, general), (own_logits, own, local))
        for logit, row in zip(logits, rows, strict=True)
    ]
    # both halves count the same for the threshold as for the weights
    repeat = max(1, round(len(held) / len(own)))
    own_p, own_y = probabilities[len(held) :] * repeat, [row.label for row in own] * repeat
    threshold = _threshold([*y.tolist(), *own_y], [*probabilities[: len(held)], *own_p])
    return Calibration(fitted.temperature, threshold, fitted.bias, signs)


def _threshold(labels: Sequence[int], probabilities: Sequence[float]) -> float:
    # at 0 or 1 one of the routes would be closed for good
    return round(min(max(best_threshold(labels, probabilities), 0.01), 0.99), 4)


def _features(scaled: Any, rows: Sequence[Question], rules: RuleComplexity) -> Any:
    import numpy as np

    signs = [[rules.features(row.question)[name] for name in RULE_FEATURES] for row in rows]
    return np.column_stack([scaled, np.asarray(signs, dtype=float)])


def _rows(questions: Sequence[Question], scorer: Scorer, threshold: float) -> list[dict[str, Any]]:
    found = scorer([row.question for row in questions])
    return [
        {"id": row.id, "set": row.origin, "label": row.label, "probability": round(p, 4), "predicted": int(p >= threshold)}
        for row, p in zip(questions, found, strict=True)
    ]


def _result(rows: list[dict[str, Any]], threshold: float) -> dict[str, Any]:
    return {
        "summary": dict(summary([r["label"] for r in rows], [r["probability"] for r in rows], threshold=threshold)),
        "rows": rows,
    }


def _name_base(path: Path, name: str) -> None:
    """An adapter names its base as the Hub does, not by this machine's folder."""
    if path.is_file():
        _write(path, json.loads(path.read_text(encoding="utf-8")) | {"base_model_name_or_path": name})


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
