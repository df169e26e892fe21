"""Reads the public sets of labelled claims, and cuts each into a half to tune on and a half to report on.

They have one public split only; rows of one claim stay in one half. Knows nothing of models.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lqr.errors import ReadError
from lqr.training.support_pairs import statement

SEED = 13
SETS = ("wice", "fever_symmetric", "halueval")
_FILES = {
    "wice": "wice/claims_dev.jsonl.gz",
    "fever_symmetric": "fever_symmetric/dev.jsonl.gz",
    "halueval": "halueval/qa.jsonl.gz",
}
_LABELS = {
    "wice": ("supported", "partially_supported", "not_supported"),
    "fever_symmetric": ("SUPPORTS", "REFUTES"),
    "halueval": ("right_answer", "hallucinated_answer"),
}


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A row of a public set. ``label`` is the set's own word; ``group`` keeps rows of one claim in one half."""

    id: str
    claim: str
    evidence: str
    supported: bool
    label: str
    group: str


def load_claims(data: Path, name: str) -> list[LabelledClaim]:
    """All rows of ``name`` (one of :data:`SETS`) as claims with evidence.

    WiCE: ``supported`` against the other two labels. FEVER symmetric: SUPPORTS against REFUTES. HaluEval: question and
    answer as one statement, the right answer against the hallucinated one.

    Raises:
        ReadError: the file is missing or malformed.
    """
    path = data / _FILES[name]
    try:
        return list(_claims(name, read_lines(path)))
    except (KeyError, TypeError) as error:
        raise ReadError(f"{name}: a row of {path.name} lacks {error!r}; see the README for the layout") from error


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a gzipped JSON-lines file.

    Raises:
        ReadError: the file is missing or malformed.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]
    except (OSError, ValueError) as error:
        where = f"{path.parent.name}/{path.name}"
        raise ReadError(f"{where} cannot be read ({error}); --data must name a folder laid out as in the README") from error


def _claims(name: str, raw: Sequence[dict[str, Any]]) -> Iterator[LabelledClaim]:
    for n, row in enumerate(raw):
        if name == "halueval":
            for key, good in (("right_answer", True), ("hallucinated_answer", False)):
                yield LabelledClaim(f"{n}-{key}", _said(row["question"], row[key]), row["knowledge"], good, key, row["question"])
        elif name == "wice":
            claim = row["claim"]
            yield LabelledClaim(str(n), claim, " ".join(row["evidence"]), row["label"] == "supported", row["label"], claim)
        else:
            claim, evidence = _detokenised(row["claim"]), _detokenised(row["evidence"])
            yield LabelledClaim(f"{n}-{row['id']}", claim, evidence, row["label"] == "SUPPORTS", row["label"], str(row["id"]))


def _said(question: str, answer: str) -> str:
    """A statement of both; an answer that is a sentence says all by itself."""
    if len(answer.split()) > 6:
        return answer
    turned = statement(question, answer.rstrip("."))
    return turned[0] if turned else f"{question.rstrip('?')}: {answer}"


def _detokenised(text: str) -> str:
    for mark, plain in (("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("``", '"'), ("''", '"'), (" --", " –")):
        text = text.replace(mark, plain)
    for mark in (" .", " ,", " ;", " :", " 's", " n't", " '", " )", " ]"):
        text = text.replace(mark, mark.strip())
    return text.replace("( ", "(").replace("[ ", "[")


def halves(rows: Sequence[LabelledClaim], seed: int = SEED) -> tuple[list[LabelledClaim], list[LabelledClaim]]:
    """The tuning half and the half to report on; groups (rows of one claim) stay together."""
    groups = sorted({row.group for row in rows})
    random.Random(seed).shuffle(groups)
    tuning = set(groups[: len(groups) // 2])
    return [row for row in rows if row.group in tuning], [row for row in rows if row.group not in tuning]


def set_of(row: LabelledClaim) -> str:
    """The set that a row is of, told by its label."""
    return next(name for name, labels in _LABELS.items() if row.label in labels)
