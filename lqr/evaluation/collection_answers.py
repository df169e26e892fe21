"""Measures a collection on its own questions (``questions.jsonl``): the whole product, dialogues and refusals included.

A turn's history is what was really asked and answered before it. What a right answer must hold are key facts; what it must not
hold are given too. Figures that a refusal could raise or lower by accident stand twice: over all answerable turns, a
refusal counting as nothing said, and over the answered ones alone. Knows nothing of public sets.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from lqr.app import Application, build
from lqr.corpus.profile import Profile
from lqr.errors import ReadError, SettingsError
from lqr.evaluation import runner
from lqr.evaluation.datasets import file_sha256
from lqr.evaluation.metrics import ranking_scores
from lqr.evaluation.options import Options
from lqr.evaluation.provenance import machine, model_name, plain_settings, versions
from lqr.evaluation.questions import Ask, Item, facts_found, forbidden_found, load
from lqr.evaluation.significance import bootstrap_interval
from lqr.evaluation.summary import effort, router_scores, score_means, values
from lqr.grounding.completeness import completeness
from lqr.retrieval.dense import Embedder
from lqr.selection import SAME_TABLE
from lqr.settings import RouteSetting, Settings
from lqr.types import Answer, Hit, TextDelta, Turn

FILE_NAME = "questions.jsonl"
OWN_WRITER = ("extractive", "composer")  # names of the product's writer without a language model
Routing = Literal["lqr", "single", "oracle"]
BY_TYPE = ("facts", "complete", "completeness", "recall@3", "recall@5", "all_gold@3", "all_gold@5")
WITH_INTERVAL = ("facts", "facts_answered", "recall@5", "all_gold@5")


def run(options: Options, *, embedder: Embedder | None = None) -> dict[str, Any]:
    """Measure the collection ``options.dataset``, write ``options.out``, and return what was written.

    ``options.strategy`` is ``lqr`` (the product as it is), ``single`` (every question is simple) or ``oracle`` (the annotated
    route). ``options.generator`` is ``extractive`` for the composer, else what ``LQR_LLM`` may be. ``options.questions`` is a
    file of the same kind to ask instead. For ``retrieval`` each turn is asked by its human standalone question, so that
    only the retrieval is measured.

    Raises:
        SettingsError: a strategy or ablation that the whole product does not know.
        ReadError: the collection has no questions, or none of the split.
        LqrError: a part of the product is missing.
    """
    if options.strategy not in ("lqr", "single", "oracle"):
        raise SettingsError(f"--strategy {options.strategy}: a collection is measured with lqr, single or oracle")
    stages = (options.relevance, options.graph, options.decomposition, options.comparison, options.vectors, options.titles)
    if not all(stages) or options.pooled:
        raise SettingsError("stages are left out on the public sets only; leave --no-... away, or name a set with --data")
    name = options.dataset or ""
    llm = "composer" if options.generator in OWN_WRITER or options.kind == "retrieval" else options.generator
    settings = Settings.load(collection=name, llm=llm)
    settings = replace(settings, top_k=options.k or settings.top_k)
    path = options.questions or questions_file(settings, name)
    split = "dev" if options.split == "train" else options.split
    described = {
        **options.plain(),
        "split": split,
        "k": settings.top_k,
        "generator": model_name(llm),
        "files": {f"questions: {path.name}": {"sha256": file_sha256(path)}},
        "lqr": plain_settings(settings),
    }
    hangs_on = {**described, "versions": versions(settings)}
    began = time.perf_counter()
    application = build(settings, progress=options.progress, embedder=embedder)
    ready = time.perf_counter() - began
    try:
        items = sample([item for item in load(path, application.store) if split in ("all", item.split)], options)
        if not items:
            raise ReadError(f"{path.name}: holds no question of the split {split}")
        hangs_on["passages"] = len(application.retriever)
        routing: Routing = options.strategy  # checked above

        def work(item: Item) -> Iterable[dict[str, Any]]:
            yield from answer_rows(application, item, routing=routing, alone=options.kind == "retrieval")

        rows = runner.run(items, work, options.out, hangs_on, fresh=options.fresh, progress=options.progress)
        settings_now = {**described, "startup": list(application.startup), "passages": len(application.retriever)}
    finally:
        application.close()
    result = {
        "settings": settings_now,
        "versions": hangs_on["versions"],
        "machine": machine(),
        "seed": options.seed,
        "date": time.strftime("%Y-%m-%d"),
        "summary": {"ready_seconds": round(ready, 2), **summarise(rows, seed=options.seed)},
        "rows": rows,
    }
    runner.finish(options.out, result)
    return result


def questions_file(settings: Settings, collection: str) -> Path:
    """Where the questions of ``collection`` lie.

    Raises:
        ReadError: it has none.
    """
    path = settings.knowledge / collection / FILE_NAME
    if not path.is_file():
        raise ReadError(f"{path}: not there; give --data DIR for a public set, or write questions for the collection")
    return path


def has_questions(settings: Settings, collection: str | None) -> bool:
    """Whether ``collection`` names one with questions of its own."""
    plain = bool(collection) and Path(str(collection)).name == collection
    return plain and (settings.knowledge / str(collection) / FILE_NAME).is_file()


def sample(items: Sequence[Item], options: Options) -> list[Item]:
    """At most ``options.limit`` items, drawn with the seed, in the file's order."""
    if options.limit is None or options.limit >= len(items):
        return list(items)
    places = list(range(len(items)))
    random.Random(options.seed).shuffle(places)
    return [items[i] for i in sorted(places[: options.limit])]


def answer_rows(
    application: Application, item: Item, *, routing: Routing = "lqr", alone: bool = False
) -> Iterator[dict[str, Any]]:
    """One row a turn. With ``alone`` a turn is its human standalone question, without history."""
    history: list[Turn] = []
    for number, ask in enumerate(item.turns):
        route: RouteSetting = {"lqr": "auto", "single": "simple", "oracle": ask.route}[routing]  # type: ignore[assignment]
        asked = ask.standalone if alone else ask.question
        began, computed = time.perf_counter(), time.process_time()
        first: float | None = None
        answer: Answer | None = None
        for event in application.pipeline.stream(asked, () if alone else history, route=route):
            if isinstance(event, TextDelta) and first is None:
                first = time.perf_counter() - began
            if isinstance(event, Answer):
                answer = event
        assert answer is not None  # stream() always ends with one
        times = {
            "seconds": round(time.perf_counter() - began, 5),
            "cpu_seconds": round(time.process_time() - computed, 5),
            "first_token_seconds": round(first, 5) if first is not None else None,
        }
        history += [Turn("user", ask.question), Turn("assistant", answer.text)]
        yield {**row(item, number, ask, answer, application.profile), **times}


def row(item: Item, number: int, ask: Ask, answer: Answer, profile: Profile) -> dict[str, Any]:
    """A turn's row, without its times.

    ``supporting`` names, of the passages that hold a fact, the one that was found first; ``marked`` the same of those that the
    question's writer marked, without those found to hold it too. ``completeness`` says which of the
    elements that the collection's profile wants of such an answer are in it; whether they are right, the key facts say.
    """
    ranked = _ranked((*answer.trace.kept, *answer.trace.dropped))
    place = {passage: rank for rank, passage in enumerate(ranked)}
    gold, marked = (
        [min(held, key=lambda passage: (place.get(passage, len(ranked)), passage)) for held in facts]
        for facts in (ask.gold, ask.marked)
    )
    facts = facts_found(ask, answer.text)
    cited = {passage for claim in answer.claims for passage in claim.passages}
    trace = answer.trace
    scores = ranking_scores(ranked, gold) if ask.expect != "refuse" else {}
    if ask.expect != "refuse" and facts:
        share = 0.0 if answer.refused else sum(facts) / len(facts)
        scores |= {"facts": share, "complete": float(share == 1.0)}
        if not answer.refused:
            scores |= {"facts_answered": share, "complete_answered": float(share == 1.0)}
    elements = completeness(profile, ask.standalone, answer.text, answer.claims)
    if ask.expect != "refuse" and not answer.refused and elements.score is not None:
        scores["completeness"] = elements.score
    return {
        "id": f"{item.id}-{number + 1}",
        "type": item.kind,
        "split": item.split,
        "turn": number + 1,
        "expect": ask.expect,
        "question": ask.question,
        "standalone": trace.standalone,
        "gold_standalone": ask.standalone,
        "turn_kind": trace.turn_kind,
        "answers": [fact[0] for fact in ask.key_facts],
        "key_facts": [list(fact) for fact in ask.key_facts],
        "facts": facts,
        "completeness": asdict(elements),
        "must_not": list(ask.must_not),
        "forbidden": forbidden_found(ask, answer.text),
        "supporting": gold,
        "marked": marked,
        "gold": [list(held) for held in ask.gold],
        "retrieved": ranked,
        "prediction": answer.text,
        "claims": [{"text": claim.text, "passages": list(claim.passages), "support": claim.support} for claim in answer.claims],
        "cited": sorted(cited),
        "cited_retrieved": cited <= {hit.passage.id for hit in trace.kept},
        "refused": answer.refused,
        "confidence": {
            "level": answer.confidence.level,
            "reason": answer.confidence.reason,
            "probability": answer.confidence.probability,
        },
        "evaluation": asdict(answer.evaluation) if answer.evaluation else None,
        "gate": dict(trace.gate),
        "route": trace.route.label if trace.route else None,
        "probability": trace.route.probability if trace.route else None,
        "gold_route": ask.route,
        "sub_questions": [trace.decomposition.first, trace.decomposition.second] if trace.decomposition else [],
        "steps": trace.steps,
        "stage_seconds": dict(trace.seconds),
        "writer": trace.writer,
        "scores": scores,
    }


def _ranked(hits: Sequence[Hit]) -> list[str]:
    """Ids best first; rows that only came along with a row of their table were not ranked."""
    return [hit.passage.id for hit in hits if hit.why != SAME_TABLE]


def summarise(rows: Sequence[dict[str, Any]], *, seed: int = 13) -> dict[str, Any]:
    """Every figure, from the rows alone.

    ``facts`` is the mean share of a turn's key facts that its answer says, ``complete`` the share of turns with all of them; both
    count a refusal as nothing said, and both stand again as ``..._answered`` over the answered turns. ``n_...`` count.
    """
    answerable = [r for r in rows if r["expect"] != "refuse"]
    must_refuse = [r for r in rows if r["expect"] == "refuse"]
    scores = score_means(rows)
    later = [r for r in answerable if r["turn"] > 1]
    first_tokens = [r["first_token_seconds"] for r in rows if r.get("first_token_seconds") is not None]
    summary: dict[str, Any] = {
        "n": len(rows),
        "n_answerable": len(answerable),
        "n_answered": sum(not r["refused"] for r in answerable),
        "n_must_refuse": len(must_refuse),
        **scores,
        "intervals": {
            name: [round(end, 4) for end in bootstrap_interval(values(rows, name), seed=seed)]
            for name in WITH_INTERVAL
            if name in scores
        },
        "key_facts": share(found and not r["refused"] for r in answerable for found in r["facts"]),
        "must_refuse_answered": share(not r["refused"] for r in must_refuse),
        "answerable_refused": share(r["refused"] for r in answerable),
        "with_forbidden": share(bool(r["forbidden"]) for r in rows),
        "citations_retrieved": share(r["cited_retrieved"] for r in rows),
        "answers_with_citation": share(bool(r["cited"]) for r in rows if not r["refused"] and r["route"]),
        **effort(rows),
        "router": router_scores(rows),
        "later_turns": {"n": len(later), **_kept(later)},
        "by_type": {
            kind: {
                "n": len(group),
                "key_facts": share(found and not r["refused"] for r in group if r["expect"] != "refuse" for found in r["facts"]),
                **_kept(group),
                "seconds_p50": round(statistics.median(r["seconds"] for r in group), 4),
            }
            for kind in dict.fromkeys(r["type"] for r in rows)
            if (group := [r for r in rows if r["type"] == kind])
        },
    }
    if first_tokens:
        summary["first_token_seconds_p50"] = round(statistics.median(first_tokens), 4)
    return summary


def _kept(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {name: mean for name, mean in score_means(rows).items() if name in BY_TYPE}


def share(found: Iterable[bool]) -> float | None:
    """The share that is true; None of nothing."""
    each = list(found)
    return round(sum(each) / len(each), 6) if each else None
