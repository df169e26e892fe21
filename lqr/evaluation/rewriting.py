"""``lqr evaluate rewriting``: what becomes of a follow-up question, against the standalone question that a person wrote.

Two kinds of rows: CANARD (Elgohary et al. 2019), where only texts are compared, and the dialogues of a collection with
``questions.jsonl``, where it also counts whether the passages that answer are found. Beside the rewrite stand two baselines: the
question as it is, and the whole history put before it. Figures come from the rows alone, see :func:`summarise`. No answer is
written: the passages that hold it stand in for the earlier replies. Knows nothing of how a rewrite is made.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lqr.app import Application, build
from lqr.conversation import Rewriter
from lqr.corpus.profile import Profile
from lqr.errors import ReadError, SettingsError
from lqr.evaluation.collection_answers import has_questions, questions_file
from lqr.evaluation.datasets import read_rows
from lqr.evaluation.provenance import plain_settings, versions
from lqr.evaluation.questions import Item, load
from lqr.evaluation.significance import bootstrap_interval
from lqr.retrieval.dense import Embedder
from lqr.selection import SAME_TABLE
from lqr.settings import Settings
from lqr.text import content_words, words
from lqr.types import Turn

CANARD = "canard"
TEXTS = ("rewrite", "copied", "appended")  # ours, and the baselines: the question alone, history and question
DEPTH = 5  # a gold passage counts among the first so many
HISTORY_TURNS = 20  # CANARD's dialogues are longer than a chat's memory

FindNames = Callable[[str], list[str]]


def run(options: argparse.Namespace, *, embedder: Embedder | None = None) -> dict[str, Any]:
    """Measure ``options.dataset``: ``canard`` (under ``options.data``), or a collection with questions; None: all there is.

    Raises:
        SettingsError: no such set, or CANARD without ``--data``.
        ReadError: a file is missing or damaged.
        LqrError: a part of the product is missing.
    """
    settings = Settings.load()
    collection = options.dataset or options.collection or settings.collection
    rows: list[dict[str, Any]] = []
    sets: list[str] = []
    if options.dataset in (None, CANARD):
        if options.data:
            rows += _sampled(canard_rows(read_canard(options.data, options.split)), options)
            sets.append(CANARD)
        elif options.dataset:
            raise SettingsError("canard needs --data DIR, the folder with the public sets")
    if options.dataset != CANARD:
        if has_questions(settings, collection):
            rows += list(_collection_rows(Settings.load(collection=collection, llm="composer"), options, embedder))
            sets.append(collection)
        elif options.dataset:
            raise SettingsError(f"no set {collection!r} for rewriting; there are {CANARD} and collections with questions.jsonl")
    if not rows:
        raise ReadError("nothing to measure; give --data DIR for CANARD, or a collection with questions.jsonl")
    return {
        "settings": {
            "sets": sets, "split": options.split, "limit": options.limit, "retriever": options.retriever, "depth": DEPTH,
            **plain_settings(settings),
        },
        "versions": versions(settings),
        "seed": options.seed,
        "date": time.strftime("%Y-%m-%d"),
        "summary": summarise(rows, seed=options.seed),
        "rows": rows,
    }  # fmt: skip


def read_canard(data: Path, split: str) -> list[dict[str, Any]]:
    """CANARD's rows: ``id, history, question, rewrite``; a history begins with the article's title and section.

    Raises:
        ReadError: the file is missing or damaged, or a row lacks a field.
    """
    path = data / CANARD / f"{'train' if split == 'dev' else split}.jsonl.gz"
    rows = read_rows(path)
    for number, row in enumerate(rows, start=1):
        if not {"id", "history", "question", "rewrite"} <= row.keys():
            raise ReadError(f"{path.name} row {number}: needs id, history, question and rewrite")
    return rows


def canard_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rewrite each row with a rewriter that knows no titles and no scope terms, as in a domain it never saw."""
    rewriter = Rewriter(Profile(), (), history_turns=HISTORY_TURNS)
    for row in rows:
        history = [Turn("user" if place % 2 == 0 else "assistant", text) for place, text in enumerate(row["history"])]
        # The title and the section come first; what follows them is the dialogue.
        yield _row(rewriter, CANARD, row["id"], len(history) // 2, history, row["question"], row["rewrite"], capitalised)


def _collection_rows(settings: Settings, options: argparse.Namespace, embedder: Embedder | None) -> Iterator[dict[str, Any]]:
    application = build(settings, progress=getattr(options, "progress", None), embedder=embedder)
    try:
        split = "dev" if options.split == "train" else options.split
        path = options.questions or questions_file(settings, settings.collection)
        items = [item for item in load(path, application.store) if item.split == split and len(item.turns) > 1]
        if not items:
            raise ReadError(f"{path.name}: holds no dialogue of the split {split}")
        for item in _sampled(items, options):
            yield from dialogue_rows(application, item, settings.collection, options.retriever)
    finally:
        application.close()


def dialogue_rows(application: Application, item: Item, name: str, mode: Any = "hybrid") -> Iterator[dict[str, Any]]:
    """One row for each turn after the first. ``found`` tells, for each text, whether all gold passages are among the first."""
    text_of = {passage.id: passage.text for passage in application.store.all_passages()}
    pipeline = application.pipeline
    history: list[Turn] = []
    for number, ask in enumerate(item.turns, start=1):
        if number > 1:
            names: FindNames = pipeline.entities
            row = _row(pipeline.rewriter, name, f"{item.id}-{number}", number, history, ask.question, ask.standalone, names)
            if ask.gold:
                queries = {kind: _text(row, kind) for kind in TEXTS} | {"human": ask.standalone}
                # the product reads a follow-up beside what it follows; the other texts are meant to stand alone
                before: dict[str, Any] = {kind: {} for kind in queries}
                if row["kind"] == "follow_up":
                    before["rewrite"] = {"history": history, "beside": row["beside"]}
                first = [set(ranked(application, query, mode, **before[kind])[:DEPTH]) for kind, query in queries.items()]
                row["found"] = {kind: all(ids & set(held) for held in ask.gold) for kind, ids in zip(queries, first, strict=True)}
            yield row
        reply = " ".join(text_of[held[0]] for held in ask.gold) or "The documents do not say."
        history += [Turn("user", ask.question), Turn("assistant", reply)]


def ranked(
    application: Application, query: str, mode: Any = "hybrid", history: Sequence[Turn] = (), beside: str = ""
) -> list[str]:
    """Ids of passages, best first: as the product reads them after its relevance model, or of one first stage alone.

    ``history`` is what ``query`` follows up and ``beside`` its other form; a first stage reads neither.
    """
    if mode != "hybrid":
        return [hit.passage.id for hit in application.retriever.search(query, DEPTH, mode=mode)]
    pipeline = application.pipeline
    asked, _ = pipeline.glossed(query, None)
    found = pipeline.layered.retrieve(asked, None, history, pipeline.profile.glossed(beside))
    named = pipeline.profile.renamed(query)
    read = pipeline.read(named, replace(found, questions=(named,)))
    return [hit.passage.id for hit in (*read.kept, *read.dropped) if hit.why != SAME_TABLE]


def _row(
    rewriter: Rewriter,
    name: str,
    row_id: str,
    turn: int,
    history: Sequence[Turn],
    question: str,
    human: str,
    names: FindNames,
) -> dict[str, Any]:
    began = time.perf_counter()
    rewrite = rewriter.rewrite(question, history)
    seconds = time.perf_counter() - began
    said = " ".join(earlier.content for earlier in history)
    texts = {"rewrite": rewrite.standalone, "copied": question, "appended": f"{said} {question}".strip()}
    return {
        "id": row_id,
        "set": name,
        "turn": turn,
        "question": question,
        "human": human,
        "kind": rewrite.kind,
        "note": rewrite.note,
        "beside": rewrite.beside,
        **{kind: text for kind, text in texts.items() if kind != "copied"},
        "scores": {kind: text_scores(text, human) for kind, text in texts.items()},
        "names": {kind: restored(names, said, question, human, text) for kind, text in texts.items()},
        "seconds": round(seconds, 6),
    }


def telling(text: str) -> list[str]:
    """Content words without a possessive ending: ``Zappa's`` and ``Zappa`` are one word to whoever searches."""
    return [re.sub(r"['’]s?$", "", word) for word in content_words(text)]


def text_scores(text: str, human: str) -> dict[str, float]:
    """``content_f1``, ``rouge1_recall`` (both over content words, repeats counted) and ``exact`` (same words in order)."""
    said, wanted = Counter(telling(text)), Counter(telling(human))
    common = (said & wanted).total()
    if said and wanted:
        f1, recall = 2 * common / (said.total() + wanted.total()), common / wanted.total()
    else:
        f1 = recall = float(said == wanted)  # nothing but function words on one side
    return {"content_f1": f1, "rouge1_recall": recall, "exact": float(words(text) == words(human))}


def restored(names: FindNames, said: str, question: str, human: str, text: str) -> dict[str, list[str]]:
    """Names taken from the history that the question lacks: those the person ``wanted``, which of them ``text`` ``held``, and
    those that ``text`` ``brought`` without need."""

    def taken(source: str) -> list[str]:
        found = dict.fromkeys(names(source))
        return [n for n in found if n.lower() in said.lower() and n.lower() not in question.lower()]

    wanted = taken(human)
    return {
        "wanted": wanted,
        "held": [name for name in wanted if name.lower() in text.lower()],
        "brought": [name for name in taken(text) if name.lower() not in human.lower()],
    }


_CAPITAL = re.compile(r"\b[A-Z][\w'’-]+(?: (?:of |the |de |van |and )?[A-Z][\w'’-]+)*")


def capitalised(text: str) -> list[str]:
    """Runs of capitalised words, without those that have a capital only because a sentence begins there."""
    found = []
    for match in _CAPITAL.finditer(text):
        run, before = match.group(), text[: match.start()].rstrip()
        if not before or before[-1] in ".?!":
            first, _, rest = run.partition(" ")
            if not content_words(first) or not rest:
                run = re.sub(r"^(?:of|the|and) ", "", rest)
        if run := re.sub(r"['’]s?$", "", run):
            found.append(run)
    return found


def summarise(rows: Sequence[Mapping[str, Any]], *, seed: int = 13) -> dict[str, Any]:
    """Every figure from the rows, a part for each set.

    Names are given as recall, precision and F1 over all names: the history put in front holds every name by construction, and
    only what it brings in besides tells it from a rewrite. BLEU is sacrebleu's over the corpus, in lower case.
    """
    summary: dict[str, Any] = {}
    for name in dict.fromkeys(row["set"] for row in rows):
        chosen = [row for row in rows if row["set"] == name]
        low, high = bootstrap_interval([row["scores"]["rewrite"]["content_f1"] for row in chosen], seed=seed)
        part: dict[str, Any] = {"n": len(chosen), **{f"{kind}": _figures(chosen, kind) for kind in TEXTS}}
        part["rewrite"]["content_f1_low"], part["rewrite"]["content_f1_high"] = round(low, 4), round(high, 4)
        part["names_f1_over_better_baseline"] = round(
            part["rewrite"]["names_f1"] - max(part[kind]["names_f1"] for kind in TEXTS[1:]), 4
        )
        if found := [row["found"] for row in chosen if "found" in row]:
            part[f"gold_at_{DEPTH}"] = {
                "n": len(found), **{k: round(statistics.fmean(f[k] for f in found), 4) for k in (*TEXTS, "human")}
            }  # fmt: skip
        part["milliseconds"] = round(1000 * statistics.median(row["seconds"] for row in chosen), 3)
        summary[name] = part
    return summary


def _figures(rows: Sequence[Mapping[str, Any]], kind: str) -> dict[str, float]:
    means = {
        metric: round(statistics.fmean(row["scores"][kind][metric] for row in rows), 4)
        for metric in ("content_f1", "rouge1_recall", "exact")
    }
    wanted, held, brought = (sum(len(row["names"][kind][part]) for row in rows) for part in ("wanted", "held", "brought"))
    recall, precision = held / max(1, wanted), held / max(1, held + brought)
    f1 = 2 * recall * precision / (recall + precision) if held else 0.0
    return {
        **means,
        "bleu": round(_bleu([_text(row, kind) for row in rows], [row["human"] for row in rows]), 2),
        "names_recall": round(recall, 4),
        "names_precision": round(precision, 4),
        "names_f1": round(f1, 4),
        "names": wanted,
    }


def _text(row: Mapping[str, Any], kind: str) -> str:
    return str(row["question"] if kind == "copied" else row[kind])


def _bleu(said: list[str], wanted: list[str]) -> float:
    from sacrebleu.metrics.bleu import BLEU

    return float(BLEU(lowercase=True).corpus_score(said, [wanted]).score)


def _sampled(rows: Iterable[Any], options: argparse.Namespace) -> list[Any]:
    """At most ``options.limit`` of them, drawn with the seed, in their order."""
    found = list(rows)
    if options.limit is None or options.limit >= len(found):
        return found
    return [found[i] for i in sorted(random.Random(options.seed).sample(range(len(found)), options.limit))]
