"""Adds RAGAS scores (Es et al. 2023) to the rows of result files: any judge model, through ragas itself.

ragas makes the prompts and the scores; the judge is whatever ``LQR_LLM`` may name, the embeddings are ours. A copy of the
result with the scores is written, the result itself is left as it is. Every judgement goes to a file beside it at once, so that a
run that was broken off goes on. Refusals are judged apart and on their passages only: ragas gives a refusal no relevancy and full
faithfulness, and would so punish or reward it by accident. ragas is an extra, and takes some 14 s to import.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from lqr.errors import LqrError, ReadError, SettingsError
from lqr.evaluation.datasets import read_rows
from lqr.evaluation.provenance import model_name
from lqr.evaluation.report_results import Row, read_result, texts
from lqr.evaluation.runner import write_json
from lqr.settings import Settings

METRICS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall")
OF_PASSAGES = METRICS[2:]  # those that a refusal can have
JUDGE_CONTEXT = 8192  # tokens: a prompt of ragas holds its examples and all passages
CACHE = "ragas-cache.jsonl"

OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Sample:
    """What is judged. ``reference`` is the right answer, empty where none is known; then recall and precision have no score."""

    question: str
    answer: str
    contexts: tuple[str, ...]
    reference: str
    refused: bool

    def metrics(self) -> tuple[str, ...]:
        """Those that make sense for it."""
        if not self.contexts or not self.question:
            return ()
        return tuple(
            name for name in METRICS if (self.reference if name in OF_PASSAGES else self.answer.strip() and not self.refused)
        )


class Judge(Protocol):
    """Scores samples. ``name`` and ``version`` are what a judgement hangs on besides the sample."""

    name: str
    version: str

    def score(self, metric: str, sample: Sample) -> tuple[float | None, str]:
        """The score, or None with the reason why there is none.

        Raises:
            WriterError: the model can't be reached or fails.
        """


def run(
    files: Sequence[Path],
    out: Path,
    judge: str,
    *,
    data: Path | None = None,
    corpus: Path | None = None,
    limit: int | None = None,
    progress: OnProgress | None = None,
) -> list[Path]:
    """Judge the rows of ``files`` and write a copy of each with the scores into ``out``; returns what a report should read.

    Args:
        judge: what ``LQR_LLM`` may be, except ``composer``.
        data: folder of the public sets, whose corpora hold the passages that rows name.
        corpus: a file of passages instead. Without either they come from the collection that the file names.
        limit: rows of each file; the others get no score.

    Raises:
        LqrError: ragas is not installed, or a passage is not to be found.
        ReadError: a file is not a result file.
        WriterError: the judge fails. What it has judged so far is kept.
    """
    if limit is not None and limit < 1:
        raise SettingsError(f"--ragas-limit {limit}: must be at least 1")
    results = [read_result(path) for path in files]
    passages = _passages(results, data, corpus)
    from lqr.evaluation.ragas_judge import open_judge  # ragas takes long to import: only now

    settings = Settings.load()
    made = []
    with open_judge(replace(settings, llm=judge, llm_context=JUDGE_CONTEXT, llm_slots=1), identity(judge)) as opened:
        cache = Cache(out / CACHE)
        for path, result in zip(files, results, strict=True):
            if not isinstance(result.get("rows"), list):  # classifiers: nothing to judge
                made.append(path)
                continue
            judged = judge_result(result, opened, passages, cache, limit=limit, progress=progress, what=path.stem)
            made.append(out / f"{path.stem}.ragas.json")
            write_json(made[-1], judged)
    return made


def judge_result(
    result: Mapping[str, Any],
    judge: Judge,
    passages: Mapping[str, str],
    cache: Cache,
    *,
    limit: int | None = None,
    progress: OnProgress | None = None,
    what: str = "rows",
) -> dict[str, Any]:
    """A copy of ``result`` with scores in its rows, and under ``summary.ragas`` each mean with how many rows it covers.

    The scores of an answered row stand among its ``scores``, null where the judge gave none; those of a refusal apart, under
    ``ragas_refused``, so that no mean mixes the two.

    Raises:
        ReadError: a passage that a row names is not in ``passages``.
        WriterError: the judge fails.
    """
    top_k = _top_k(result.get("settings"))
    chosen = result["rows"][: limit or len(result["rows"])]
    rows = []
    for number, row in enumerate(chosen, start=1):
        sample = sample_of(row, passages, top_k)
        scores = {name: cache.score(judge, name, sample) for name in sample.metrics()}
        if sample.refused:
            rows.append({**row, "ragas_refused": scores})
        else:
            rows.append({**row, "scores": {**(row.get("scores") or {}), **scores}})
        if progress:
            progress(f"RAGAS, {what}", number, len(chosen))
    answered = [_only(row.get("scores") or {}) for row in rows if "ragas_refused" not in row]
    refused = [row["ragas_refused"] for row in rows if "ragas_refused" in row]
    parts = {"answered": means(answered), "refused": means(refused)}
    summary = {
        **(result.get("summary") or {}),
        **{name: parts["answered"][name] for name in METRICS if parts["answered"].get(name) is not None},
        "ragas": {"judge": judge.name, "version": judge.version, **parts},
    }
    return {**result, "summary": summary, "rows": [*rows, *result["rows"][len(rows) :]]}


def means(scores: Sequence[Mapping[str, float | None]]) -> dict[str, Any]:
    """``n``, and for each metric the mean over the rows that have a number, with ``..._scored`` how many those are."""
    found: dict[str, Any] = {"n": len(scores)}
    for name in METRICS:
        given = [value for row in scores if (value := row.get(name)) is not None]
        found[name] = round(sum(given) / len(given), 6) if given else None
        found[f"{name}_scored"] = len(given)
    return found


def sample_of(row: Row, passages: Mapping[str, str], top_k: int) -> Sample:
    """What a row gives to judge: the passages that its writer read, else the first ``top_k`` that were retrieved.

    Raises:
        ReadError: one of them is not in ``passages``.
    """
    ids = _read(row, top_k)
    if missing := [passage for passage in ids if passage not in passages]:
        raise ReadError(f"passage {missing[0]} is not in the corpus; give --corpus the file that the run was made with")
    answers = texts(row.get("answers"))
    reference = "; ".join(answers) if "key_facts" in row else next(iter(answers), "")
    said = row.get("prediction") if isinstance(row.get("prediction"), str) else ""
    return Sample(
        question=str(row.get("standalone") or row.get("question") or ""),
        answer=str(said),
        contexts=tuple(passages[passage] for passage in ids),
        reference=reference,
        refused=bool(row.get("refused")) or not str(said).strip(),
    )


class Cache:
    """Judgements on disk, one a line, by a hash of all that they hang on; a line that a kill cut off is left out."""

    def __init__(self, path: Path) -> None:
        """Read what is there.

        Raises:
            OSError: the file or its folder can't be read or made.
        """
        self._path = path
        self._known: dict[str, float | None] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file():
            return
        content = path.read_text(encoding="utf-8", errors="replace")
        for line in content.split("\n"):
            try:
                entry = json.loads(line)
                self._known[entry["key"]] = entry["score"]
            except (ValueError, KeyError, TypeError):
                continue
        if content and not content.endswith("\n"):
            with path.open("a", encoding="utf-8") as file:
                file.write("\n")

    def score(self, judge: Judge, metric: str, sample: Sample) -> float | None:
        """The judgement, from disk or from ``judge``; None where the judge gave no number, which is kept too.

        Raises:
            WriterError: the judge fails; nothing is kept then.
        """
        used = [judge.name, judge.version, metric, sample.question, sample.contexts, sample.answer, sample.reference]
        if metric in OF_PASSAGES:
            used[5] = ""  # not looked at
        key = hashlib.sha256(json.dumps(used).encode()).hexdigest()
        if key not in self._known:
            value, reason = judge.score(metric, sample)
            self._known[key] = value if value is not None and math.isfinite(value) else None
            entry = {"key": key, "metric": metric, "score": self._known[key], "reason": reason}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        return self._known[key]


def identity(judge: str) -> str:
    """What names the judge in a result: of a file its name and the head of its SHA-256, of an address host and model only."""
    if "://" in judge:
        address, _, model = judge.partition("#")
        return f"{model} at {address.partition('://')[2].rpartition('@')[2]}"
    return " ".join(value[:64] if key == "name" else value[:12] for key, value in model_name(judge).items())


def _only(scores: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: scores[name] for name in METRICS if name in scores}


def _read(row: Row, top_k: int) -> list[str]:
    return texts(row.get("read")) or texts(row.get("retrieved"))[:top_k]


def _top_k(settings: Any) -> int:
    k = settings.get("k") if isinstance(settings, Mapping) else None
    return k if isinstance(k, int) and k > 0 else 5


def _passages(results: Iterable[Mapping[str, Any]], data: Path | None, corpus: Path | None) -> dict[str, str]:
    """The passages that rows name, by id: title and text."""
    found: dict[str, str] = {}
    for result in results:
        rows = result.get("rows")
        if not isinstance(rows, list):
            continue
        top_k = _top_k(result.get("settings"))
        wanted = {passage for row in rows for passage in _read(row, top_k)} - found.keys()
        if not wanted:
            continue
        name = str((result.get("settings") or {}).get("dataset") or "")
        if corpus is None and data is None:
            found |= _of_collection(name, wanted)
            continue
        sets = {str(row.get("dataset") or name) for row in rows}
        paths = [corpus] if corpus else [data / each / "corpus.jsonl.gz" for each in sorted(sets) if data]
        for path in paths:
            found |= {
                row["id"]: f"{row.get('title') or ''}\n{row['text']}".strip()
                for row in read_rows(path)
                if row.get("id") in wanted and isinstance(row.get("text"), str)
            }
    return found


def _of_collection(name: str, wanted: set[str]) -> dict[str, str]:
    from lqr.app import collection_folder
    from lqr.corpus.store import Store

    settings = Settings.load()
    folder = collection_folder(settings, name or settings.collection)
    if not folder.is_dir():
        raise LqrError(f"no passages for {name or 'a result without a set'}: give --data DIR or --corpus FILE")
    with Store.open(folder, read_only=True) as store:
        return {passage.id: f"{passage.heading}\n{passage.text}" for passage in store.all_passages() if passage.id in wanted}
