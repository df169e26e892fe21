"""Writes the Hub model card (README.md) of a trained classifier from the facts recorded beside it.

The facts are ``training.json`` and ``evaluation.json`` of the model's folder and a short description for each kind of model;
no figure is typed by hand. Front matter after huggingface.co/docs/hub/model-cards. Knows nothing of training itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lqr.errors import ReadError

# Where the sets live on the Hub, for the front matter.
DATASETS = {
    "hotpotqa": "hotpotqa/hotpot_qa",
    "musique": "dgslibisey/MuSiQue",
    "2wikimultihopqa": "xanhho/2WikiMultihopQA",
    "strategyqa": "ChilleD/StrategyQA",
    "squad": "rajpurkar/squad",
    "natural_questions": "google-research-datasets/nq_open",
    "triviaqa": "mandarjoshi/trivia_qa",
    "agxqa": "msu-ceco/agxqa_v1",
}


@dataclass(frozen=True, slots=True)
class Description:
    """What a person says about a model, once for each kind; everything else in the card is recorded."""

    title: str
    summary: str
    pipeline_tag: str
    use: str
    not_for: str
    limits: Sequence[str]
    procedure: str
    code: str  # Python that loads the model
    tags: Sequence[str] = ()


COMPLEXITY = Description(
    title="Complexity classifier",
    summary="Says whether a question can be decomposed (complex, 1) or not (simple, 0): the router of Layered Query Retrieval.",
    pipeline_tag="text-classification",
    use="deciding whether a question is looked up once or split and looked up in two steps.",
    not_for="judging how hard a question is for a person, or text that is not a question.",
    limits=(
        "English only.",
        "A label says how a set was made, not whether a second retrieval is worth its time; see the outcome labels below.",
        "On a domain that is not in the training data it is less sure than on the sets it was trained on.",
    ),
    procedure="One logit on the encoder, read through a sigmoid divided by the temperature. Questions are lower-cased and lose "
    "their final mark half of the time while training, so that the style of a set does not tell its label.",
    code="""from pathlib import Path
from lqr.classifiers.complexity import load_complexity
from lqr.settings import Settings

model, _ = load_complexity(Settings.load(models=Path("models")))
print(model.route("Which ram is heavier, a Dorper or a Suffolk?"))""",
    tags=("question-complexity", "query-routing", "retrieval-augmented-generation"),
)


def write_card(folder: Path, description: Description, *, name: str | None = None) -> Path:
    """Write ``folder/README.md`` from its ``training.json`` and ``evaluation.json``; returns the path.

    Args:
        name: the model's name on the Hub; by default that of the folder.

    Raises:
        ReadError: one of the two files is missing or is not JSON.
    """
    path = folder / "README.md"
    path.write_text(
        card(description, _facts(folder / "training.json"), _facts(folder / "evaluation.json"), name or folder.name), "utf-8"
    )
    return path


def card(description: Description, training: Mapping[str, Any], evaluation: Mapping[str, Any], name: str) -> str:
    """The card as Markdown with its front matter.

    Args:
        training: ``base``, ``settings``, ``data`` (rows by origin), ``seconds``, ``date``.
        evaluation: ``models``, by name of the test, each with a ``summary`` of figures.
    """
    import yaml

    origins = sorted({key.split("=")[0] for key in training["data"].get("train", {})})
    tables = {test: result["summary"] for test, result in evaluation["models"].items()}
    front = {
        "language": "en",
        "license": "apache-2.0",
        "library_name": "peft" if training["settings"].get("adapter") else "transformers",
        "base_model": training["base"],
        "base_model_relation": "adapter" if training["settings"].get("adapter") else "finetune",
        "pipeline_tag": description.pipeline_tag,
        "tags": list(description.tags),
        "datasets": [DATASETS[origin] for origin in origins if origin in DATASETS],
        "metrics": ["accuracy", "f1"],
        "model-index": [{"name": name, "results": [_result(description, test, figures) for test, figures in tables.items()]}],
    }
    day = evaluation.get("date", "an unrecorded day")
    left_out = "Only train splits; exact and near duplicates, and whatever is like a test question, were taken out."
    parts = [
        f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True)}---",
        f"# {description.title}\n\n{description.summary}",
        f"**Use it for** {description.use} **Not for** {description.not_for}",
        f"## How to load\n\n```python\n{description.code}\n```",
        "## Limits\n\n" + "\n".join(f"- {limit}" for limit in description.limits),
        f"## Data\n\n{left_out}\n\n{_counts(training['data'])}",
        f"## Procedure\n\n{description.procedure}\n\n{_settings(training)}",
        f"## Measured\n\nOn {day}, seed {evaluation.get('seed')}; rows in `evaluation.json`.\n\n{_table(tables)}",
        "![curves](curves.png) ![confusion matrix](confusion.png)",
    ]
    return "\n\n".join(parts) + "\n"


def _result(description: Description, test: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "task": {"type": description.pipeline_tag},
        "dataset": {"name": test, "type": DATASETS.get(test, test.replace(" ", "-"))},
        "metrics": [{"type": kind, "value": figures[kind]} for kind in ("accuracy", "f1") if kind in figures],
    }


def _counts(data: Mapping[str, Any]) -> str:
    keys = sorted({*data.get("train", {}), *data.get("held_out", {})})
    lines = ["| set and label | train | held out |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {key} | {data['train'].get(key, 0)} | {data['held_out'].get(key, 0)} |" for key in keys)])


def _settings(training: Mapping[str, Any]) -> str:
    lines = [f"- {key.replace('_', ' ')}: {value}" for key, value in training["settings"].items()]
    return "\n".join([*lines, f"- time: {training['seconds']:.0f} s", f"- date: {training['date']}"])


def _table(tables: Mapping[str, Mapping[str, Any]]) -> str:
    columns = ("n", "accuracy", "f1", "macro_f1", "ece")
    lines = [f"| test | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for test, figures in tables.items():
        lines.append(f"| {test} | {' | '.join(str(figures.get(column, '')) for column in columns)} |")
    return "\n".join(lines)


def _facts(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReadError(f"{path}: {error}; train or evaluate the model first") from error
    if not isinstance(facts, dict):
        raise ReadError(f"{path} is not a JSON object; train or evaluate the model first")
    return facts
