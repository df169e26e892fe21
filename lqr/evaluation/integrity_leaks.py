"""Checks for answers that a run could have known: training data that holds test questions, prompts that hold answers.

It reads training files in the public layout (README, "Data for training and evaluation"), and rows; it knows no models.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lqr.errors import ReadError
from lqr.evaluation.datasets import read_rows
from lqr.evaluation.integrity_findings import ALL, Finding, few, strike
from lqr.evaluation.report_results import Row, Run, texts
from lqr.training.datasets.near_duplicates import JaccardIndex

ALIKE = 0.9  # Jaccard of two questions from which one is the other
TOLERATED = 0.01  # share of leaked questions that is a note; a larger one strikes
GIVEN_AWAY = 0.05  # share of questions that hold their answer that is a note
TRAIN_FILES = ("train.jsonl.gz", "questions_only.jsonl.gz", "train_paragraphs.jsonl.gz")

_PARTS = ("questions", "turns")  # of a row
_QUESTIONS = ("question", "standalone", "means", "say")  # keys that hold one
_CHOICE = re.compile(r"\bor\b|\bwhich\b|\bbetween\b|\bboth\b|\bwho\b.*,.*\band\b", re.IGNORECASE)
_PROMPT_KEY = re.compile(r"prompt|instruction|example|few_shot", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that something was trained or tuned on, and the file it stands in."""

    id: str
    question: str
    file: str


def training_files(data: Path, runs: Sequence[Run]) -> list[Path]:
    """The training files below ``data`` of every set that a run asks questions of.

    Raises:
        ReadError: ``data`` is not a folder.
    """
    if not data.is_dir():
        raise ReadError(f"{data} is not a folder; --data takes the one that holds the public sets")
    names = {name for run in runs for name in (run.dataset, *(str(row.get("dataset") or "") for row in run.rows))}
    plain = sorted(name for name in names if name and Path(name).name == name)
    return [path for name in plain for file in TRAIN_FILES if (path := data / name / file).is_file()]


def read_training(paths: Sequence[Path]) -> list[Asked]:
    """Every question of training files, those under their paragraph and the turns of conversations included.

    A turn counts as it was said and as it is written out (``means``, ``standalone``).

    Raises:
        ReadError: a file can't be read, or holds no question.
    """
    found: list[Asked] = []
    for path in paths:
        before = len(found)
        name = f"{path.parent.name}/{path.name}"
        for number, row in enumerate(read_rows(path), start=1):
            for part in (row, *(part for key in _PARTS if isinstance(row.get(key), list) for part in row[key])):
                if isinstance(part, Mapping):
                    asked = dict.fromkeys(part[key] for key in _QUESTIONS if isinstance(part.get(key), str))
                    found += [Asked(str(part.get("id", number)), question, name) for question in asked]
        if len(found) == before:
            raise ReadError(f"{path}: holds no question; --train takes JSON lines with the key question, questions or turns")
    return found


def train_leaks(run: Run, train: Sequence[Asked]) -> list[Finding]:
    """Questions of a test split that stand in training data, word for word or nearly so (Jaccard 0.9)."""
    if run.split in ("train", "dev"):
        return [Finding("train and test", run.name, f"the split is {run.split}: no figure here is a test result")]
    if not run.rows or not train or not any(isinstance(row.get("question"), str) for row in run.rows):
        return []
    index = JaccardIndex(ALIKE, (asked.question for asked in train))
    for asked in train:
        index.add(asked.question)
    leaked = []
    for row in run.rows:
        question = str(row.get("gold_standalone") or row.get("question") or "")
        place = index.near(question) if question else None
        if place is not None:
            leaked.append(f"{row.get('id')} in {train[place].file}")
    if not leaked:
        return []
    reason = f"{len(leaked)} of {len(run.rows)} test questions stand in training data ({few(leaked)})"
    return [Finding("train and test", run.name, reason, (ALL,) if len(leaked) > TOLERATED * len(run.rows) else ())]


def answers_given_away(run: Run) -> list[Finding]:
    """Questions whose answer stands in the question, in a prompt, or in a sub-question made before anything was retrieved.

    A question that offers a choice (*A or B?*) names its answer by nature and is counted apart.
    """
    found = []
    asked = [row for row in run.rows if texts(row.get("answers")) and isinstance(row.get("question"), str) and "facts" not in row]
    held = [row for row in asked if _holds(row["question"], row)]
    plain = [str(row.get("id")) for row in held if not _is_choice(row)]
    if plain:
        reason = f"{len(plain)} of {len(asked)} questions hold their answer without offering a choice ({few(plain)})"
        struck = ("em", "f1", "accuracy") if len(plain) > GIVEN_AWAY * len(asked) else ()
        found.append(Finding("answer given away", run.name, reason, struck))
    split = [
        str(row.get("id"))
        for row in asked
        if row not in held and any(_holds(part, row) for part in texts(row.get("sub_questions")))
    ]
    if split:
        reason = f"{len(split)} of {len(asked)} sub-questions hold the answer before anything was read ({few(split)})"
        found.append(Finding("answer given away", run.name, reason, (ALL,) if len(split) > TOLERATED * len(asked) else ()))
    templates = " ".join(_prompt_texts(run.settings)).casefold()
    shown = [str(row.get("id")) for row in asked if templates and row["question"].casefold() in templates]
    closed = [str(row.get("id")) for row in asked if row not in held and row.get("steps") == 0 and _holds(row.get("prompt"), row)]
    if leaked := [*shown, *closed]:
        reason = f"{len(leaked)} test questions or answers stand in the prompt ({few(leaked)})"
        found.append(strike(run, "answer given away", reason))
    return found


def _holds(text: Any, row: Row) -> bool:
    if not isinstance(text, str):
        return False
    padded = f" {_plain(text)} "
    wanted = [_plain(answer) for answer in texts(row.get("answers"))]
    return any(len(answer) > 2 and answer not in ("yes", "true", "false") and f" {answer} " in padded for answer in wanted)


def _is_choice(row: Row) -> bool:
    return "comparison" in str(row.get("type") or "") or bool(_CHOICE.search(row["question"]))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _prompt_texts(settings: Mapping[str, Any], inside: bool = False) -> Iterable[str]:
    for key, value in settings.items():
        here = inside or bool(_PROMPT_KEY.search(str(key)))
        if isinstance(value, Mapping):
            yield from _prompt_texts(value, here)
        elif here:
            yield from [value] if isinstance(value, str) else texts(value)
