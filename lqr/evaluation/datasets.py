"""Reads questions and passages in the public layout (README, "Data for training and evaluation"), gzipped or not.

A folder with one sub-folder a set, or single files named by hand. Knows nothing of collections, retrieval or scores.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lqr.errors import ReadError, SettingsError

POOL = ("hotpotqa", "musique", "2wikimultihopqa", "squad", "natural_questions")  # the sets with passages of Wikipedia
ALL = ("all", "pooled")  # names for the questions of all of POOL
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what is known about it.

    ``supporting`` holds the ids of the gold passages, ``hops`` how many steps the annotators took (0: unknown).
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    supporting: tuple[str, ...] = ()
    type: str = ""
    hops: int = 0
    dataset: str = ""

    @property
    def complex(self) -> bool | None:
        """Whether it takes more than one step, by the annotators: several gold passages or steps; None if nothing says."""
        steps = max(len(self.supporting), self.hops)
        return steps > 1 if steps else None


@dataclass(frozen=True, slots=True)
class CorpusPassage:
    """A passage of a corpus file."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """What a run is measured on. ``corpus`` may be empty (a set without passages).

    ``origin`` says which files it was read from: name, SHA-256 and rows of each, without the folder.
    """

    name: str
    split: str
    questions: tuple[Question, ...]
    corpus: tuple[CorpusPassage, ...] = ()
    origin: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def without_titles(self) -> Dataset:
        """The same with the titles of the passages taken away: how much of a ranking is due to them?"""
        return replace(self, corpus=tuple(replace(passage, title="") for passage in self.corpus))

    def sample(self, limit: int | None, seed: int) -> Dataset:
        """At most ``limit`` questions, in their old order; a larger limit with the same seed holds the smaller sample."""
        if limit is None or limit >= len(self.questions):
            return self
        places = list(range(len(self.questions)))
        random.Random(seed).shuffle(places)
        return replace(self, questions=tuple(self.questions[i] for i in sorted(places[: max(0, limit)])))

    def missing_gold(self) -> int:
        """How many gold passages are not in the corpus, and can't be found by anyone."""
        known = {passage.id for passage in self.corpus}
        return sum(i not in known for question in self.questions for i in question.supporting)


def load_dataset(
    name: str | None,
    split: str,
    *,
    data: Path | None = None,
    questions: Path | None = None,
    corpus: Path | None = None,
    pooled: bool = False,
    with_corpus: bool = True,
) -> Dataset:
    """Read what is to be measured.

    Args:
        name: a folder of ``data``; ``all`` (or ``pooled``) for the questions of :data:`POOL`. Files given by hand need none.
        split: ``train`` or ``test``: the name of the questions' file in the folder.
        data: the folder of sets; not needed when both files are given.
        questions: a file of questions, instead of the set's own.
        corpus: a file of passages, instead of the set's own.
        pooled: the passages of all of :data:`POOL` together, instead of the set's own.
        with_corpus: False leaves the passages out, for a strategy that reads none.

    Raises:
        SettingsError: neither file nor folder is named.
        ReadError: a file is missing or malformed; names it and the line.
    """
    everything = pooled or name in ALL
    names = POOL if name in ALL else (name,) if name else ()
    if questions is None and not names:
        raise SettingsError("nothing to evaluate: give --dataset NAME with --data DIR, or --questions FILE with --corpus FILE")
    origin: dict[str, dict[str, Any]] = {}

    def read(path: Path, role: str) -> list[dict[str, Any]]:
        rows = read_rows(path)
        # the sets have files of one name each: the folder tells them apart
        shown = f"{path.parent.name}/{path.name}" if data and path.is_relative_to(data) else path.name
        origin[f"{role}: {shown}"] = {"sha256": file_sha256(path), "rows": len(rows)}
        return rows

    asked: list[Question] = []
    for path, label in [(questions, name or questions.stem)] if questions else [(None, label) for label in names]:
        path = path or _folder(data, label) / f"{split}.jsonl.gz"
        asked.extend(_questions(read(_existing(path), "questions"), path, label))
    if not asked:
        raise ReadError(f"{questions or names}: holds no question; check the path of --questions")
    passages: dict[str, CorpusPassage] = {}
    if with_corpus:
        if corpus is not None:
            paths = [corpus]
        elif everything:
            paths = [_folder(data, label) / "corpus.jsonl.gz" for label in POOL]
        else:
            if not names:
                raise SettingsError("--questions needs passages: give --corpus FILE, or --dataset NAME with --data DIR")
            paths = [_folder(data, names[0]) / "corpus.jsonl.gz"]
        for path in paths:
            _add_passages(passages, read(_existing(path), "corpus"), path)
    label = name or (questions.name.split(".")[0] if questions else "")
    return Dataset(label, split, tuple(_unique(asked)), tuple(passages.values()), origin)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON-lines file, gzipped or not (its first bytes tell, not its name).

    Raises:
        ReadError: it can't be read, or a line is not a JSON object.
    """
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw.startswith(_GZIP) else raw).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:  # EOFError: cut off in the middle
        raise ReadError(f"{path}: not readable as JSON lines in UTF-8, gzipped or not ({error}); check the path") from error
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):  # not splitlines(): a text may hold a U+2028
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ReadError(f"{path.name} line {number}: not JSON ({error})") from error
        if not isinstance(row, dict):
            raise ReadError(f"{path.name} line {number}: must be a JSON object")
        rows.append(row)
    return rows


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes as hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _clean(text: str) -> str:
    """Half a surrogate pair, which JSON may escape, can be written to no file: it becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _folder(data: Path | None, name: str) -> Path:
    if data is None:
        raise SettingsError(f"--dataset {name} needs --data DIR, the folder that holds it")
    folder = data / name
    if not folder.is_dir():
        known = sorted(path.name for path in data.iterdir() if path.is_dir()) if data.is_dir() else []
        raise ReadError(f"{data} holds no set {name!r}; " + (f"it holds {', '.join(known)}" if known else "check --data"))
    return folder


def _existing(path: Path) -> Path:
    """``path``, or the same file without ``.gz``."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    return plain if not path.exists() and plain.exists() else path


def _questions(rows: Sequence[Mapping[str, Any]], path: Path, dataset: str) -> Iterable[Question]:
    for number, row in enumerate(rows, start=1):
        text = row.get("question")
        if not isinstance(text, str) or not text.strip():
            raise ReadError(f"{path.name}, question {number}: has no text under 'question'")
        answers = row.get("answers", row.get("answer", ()))
        if isinstance(answers, bool):
            answers = "yes" if answers else "no"
        answers = [answers] if isinstance(answers, str) else answers
        steps = row.get("decomposition") or ()
        try:
            yield Question(
                str(row.get("id", number)),
                _clean(text),
                tuple(_clean(str(answer)) for answer in answers),
                tuple(dict.fromkeys(map(str, row.get("supporting") or ()))),
                str(row.get("type") or ""),
                len(steps),
                dataset,
            )
        except TypeError as error:
            raise ReadError(f"{path.name}, question {number}: answers and supporting must be lists ({error})") from error


def _unique(questions: Sequence[Question]) -> Iterable[Question]:
    """Ids told apart where two sets use the same one: rows are matched by id."""
    seen: set[str] = set()
    for question in questions:
        name, copy = question.id, 1
        while name in seen:
            copy += 1
            name = f"{question.id}#{copy}"
        seen.add(name)
        yield replace(question, id=name)


def _add_passages(passages: dict[str, CorpusPassage], rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    for number, row in enumerate(rows, start=1):
        if not isinstance(row.get("id"), str | int) or not isinstance(row.get("text"), str):
            raise ReadError(f"{path.name}, passage {number}: must have 'id' and 'text'")
        passage = CorpusPassage(_clean(str(row["id"])), _clean(str(row.get("title") or "")), _clean(row["text"]))
        if passages.setdefault(passage.id, passage) != passage:
            raise ReadError(f"{path.name}, passage {number}: the id {passage.id} is taken by another text; make ids unique")
