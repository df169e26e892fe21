"""Builds the complexity data set: can a question be decomposed (1) or not (0)?

The label comes from how a set was made (Huang et al. 2024, section 3.1): questions of multi-hop sets need two facts, those of
single-passage sets one. A second label comes from the outcome: did one BM25 retrieval hold every supporting passage? Exact
and near duplicates go, also those of any test question. Knows nothing of models. The layout of the folder is the README's.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lqr.errors import ReadError
from lqr.text import normalise
from lqr.training.datasets.near_duplicates import without_near_duplicates
from lqr.training.pairs import bm25_neighbours, read_rows

COMPLEX = ("hotpotqa", "musique", "2wikimultihopqa", "strategyqa")
SIMPLE = ("squad", "natural_questions", "triviaqa")
TESTED = ("hotpotqa", "musique", "2wikimultihopqa", *SIMPLE)  # those with a test split
NEAR = 0.8  # Jaccard of the words from which two questions count as the same
_FILES = ("train.jsonl.gz", "questions_only.jsonl.gz", "train_paragraphs.jsonl.gz")


@dataclass(frozen=True, slots=True)
class Question:
    """``label`` is 1 if the question can be decomposed. ``origin`` names the set; ``id`` is the set's own."""

    id: str
    question: str
    label: int
    origin: str


@dataclass(frozen=True, slots=True)
class ComplexityData:
    """Shuffled rows for training and for early stopping, and what was left out on the way to them."""

    train: tuple[Question, ...]
    held_out: tuple[Question, ...]
    counts: dict[str, Any]


def build(
    data: Path,
    *,
    size: int = 9000,
    held_out: float = 0.1,
    joined: float = 0.06,
    seed: int = 13,
    left_out: Collection[str] = (),
    extra: Sequence[Question] = (),
) -> ComplexityData:
    """A balanced set of about ``size`` questions.

    Args:
        data: folder with the public sets; only files of train splits make rows, the test splits are read to be avoided.
        held_out: share of each set kept for early stopping and calibration.
        joined: share of ``size`` made by putting two simple questions of a set into one message, which is complex.
        left_out: sets that give no row, to see whether complexity was learnt or the style of the sets.
        extra: rows of one's own domain, taken whole and in addition.

    Raises:
        ReadError: a file is missing, or a label has no set left.
    """
    rng = random.Random(seed)
    tests = [row.question for name in TESTED for row in test_rows(data, name)]
    counts: dict[str, Any] = {"sets": {}}
    rows: list[Question] = []
    for label, names in ((1, COMPLEX), (0, SIMPLE)):
        pools: dict[str, list[Question]] = {}
        for name in names:
            if name in left_out:
                continue
            pool = list(_train_rows(data, name, label))
            rng.shuffle(pool)
            pool = pool[: 2 * size]  # plenty; SQuAD holds 87,000
            kept, in_test, repeated = without_near_duplicates([row.question for row in pool], threshold=NEAR, against=tests)
            pools[name] = [pool[i] for i in kept]
            counts["sets"][name] = {"read": len(pool), "like_a_test_question": in_test, "near_duplicates": repeated}
        if not pools:
            raise ReadError(f"no set is left for label {label}; leave out fewer than {', '.join(names)}")
        wanted = size // 2 - (round(joined * size) if label else 0)
        for name, share in shares({name: len(pool) for name, pool in pools.items()}, wanted, size // 3).items():
            rows += pools[name][:share]
            counts["sets"][name]["used"] = share
        if label == 0:
            rows += _joined([row for pool in pools.values() for row in pool[-size // 6 :]], round(joined * size), rng)
    # two sets may ask the same thing, perhaps under different labels: the first one stays
    rng.shuffle(rows)
    kept, _, across = without_near_duplicates([row.question for row in rows], threshold=NEAR)
    rows = [rows[i] for i in kept]
    kept, in_test, repeated = without_near_duplicates([row.question for row in extra], threshold=NEAR, against=tests)
    rows += [extra[i] for i in kept]
    counts |= {"near_duplicates_across_sets": across, "extra": {"like_a_test_question": in_test, "near_duplicates": repeated}}
    apart: list[Question] = []
    stay: list[Question] = []
    for origin in sorted({row.origin for row in rows}):
        own = [row for row in rows if row.origin == origin]
        rng.shuffle(own)
        cut = round(held_out * len(own))
        apart += own[:cut]
        stay += own[cut:]
    rng.shuffle(stay)
    rng.shuffle(apart)
    for name, part in (("train", stay), ("held_out", apart)):
        counts[name] = dict(sorted(Counter(f"{row.origin}={row.label}" for row in part).items()))
    return ComplexityData(tuple(stay), tuple(apart), counts)


def shares(sizes: dict[str, int], wanted: int, cap: int) -> dict[str, int]:
    """How many rows each set gives: equal parts of ``wanted``; what a small set lacks is spread, up to ``cap`` for one."""
    given: dict[str, int] = {}
    left = wanted
    for number, name in enumerate(sorted(sizes, key=lambda n: (sizes[n], n))):
        given[name] = min(sizes[name], cap, left // (len(sizes) - number))
        left -= given[name]
    return given


def split_rows(data: Path, name: str, split: str) -> list[Question]:
    """The questions of a ``split`` (``train``, ``test``) of one of :data:`TESTED`; of ``train`` all that a training may read.

    Raises:
        ReadError: the file is missing or malformed.
    """
    return test_rows(data, name) if split == "test" else list(_train_rows(data, name, int(name in COMPLEX)))


def test_rows(data: Path, name: str) -> list[Question]:
    """The test questions of one of :data:`TESTED`, in the file's order.

    Raises:
        ReadError: the file is missing or malformed.
    """
    label = int(name in COMPLEX)
    return [Question(str(row["id"]), clean(row["question"]), label, name) for row in read_rows(data / name / "test.jsonl.gz")]


def outcome_labels(folder: Path, split: str, *, k: int = 5) -> dict[str, int]:
    """For each question id of a set: 0 if one BM25 retrieval of ``k`` held every supporting passage, else 1.

    Raises:
        ReadError: the set has no corpus, or a file is malformed.
    """
    corpus = {row["id"]: row for row in read_rows(folder / "corpus.jsonl.gz")}
    rows = [row for row in read_rows(folder / f"{split}.jsonl.gz") if row.get("supporting")]
    found = bm25_neighbours(corpus, [row["question"] for row in rows], depth=k)
    return {str(row["id"]): int(not set(row["supporting"]) <= set(near)) for row, near in zip(rows, found, strict=True)}


def clean(question: str) -> str:
    """The question without the marks of its set: doubled quotes (TriviaQA), outer quotes, odd spaces."""
    text = re.sub(r'"{2,}', '"', normalise(question))
    if text.count('"') % 2 == 0 and text.startswith('"') and text.endswith('"'):
        text = text[1:-1]
    return re.sub(r"\s+([?.,!])", r"\1", text).strip()


def write(rows: Sequence[Question], path: Path) -> None:
    """One JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def read(path: Path) -> list[Question]:
    """The rows of a JSON-lines file with at least ``question`` and ``label`` (0 or 1), as :func:`write` makes it.

    Raises:
        ReadError: the file can't be read or a line is malformed.
    """
    rows = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(f"{path.name}: {error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
            if raw["label"] not in (0, 1):
                raise ValueError(f"label {raw['label']!r} is neither 0 nor 1")
            where = str(raw.get("id", f"{path.stem}-{number}"))
            rows.append(Question(where, clean(str(raw["question"])), int(raw["label"]), str(raw.get("origin", path.stem))))
        except (ValueError, KeyError, TypeError) as error:
            raise ReadError(f"{path.name} line {number}: {error!r}") from error
    return rows


def _train_rows(data: Path, name: str, label: int) -> Iterator[Question]:
    files = [data / name / file for file in _FILES if (data / name / file).is_file()]
    if not files:
        raise ReadError(f"{name}: none of {', '.join(_FILES)} is there; pass the folder that holds the sets with --data")
    for file in files:
        for row in read_rows(file):
            if "questions" in row:
                for number, asked in enumerate(row["questions"]):
                    yield Question(f"{row['title']}-{asked['answer_start']}-{number}", clean(asked["question"]), label, name)
            else:
                yield Question(str(row["id"]), clean(row["question"]), label, name)


def _joined(rows: Sequence[Question], count: int, rng: random.Random) -> Iterator[Question]:
    """Two simple questions of one set in one message."""
    by_set: dict[str, list[Question]] = {}
    for row in rows:
        if len(row.question.split()) <= 14:
            by_set.setdefault(row.origin, []).append(row)
    names = sorted(name for name, pool in by_set.items() if len(pool) > 1)
    for number in range(count if names else 0):
        one, two = rng.sample(by_set[names[number % len(names)]], k=2)
        yield Question(f"{one.id}+{two.id}", join(one.question, two.question, rng), 1, "joined")


def join(one: str, two: str, rng: random.Random) -> str:
    """Two questions as one message, in the ways that people do it."""
    first, second = one.rstrip(" ?.!"), two.rstrip(" ?.!")
    follow = second[:1].lower() + second[1:]
    return rng.choice((f"{first} and {follow}?", f"{first}, and {follow}?", f"{first}? {second}?", f"{first}? And {follow}?"))
