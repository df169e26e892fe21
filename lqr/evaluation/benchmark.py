"""Measures a strategy on public questions: rankings (``retrieval``), or rankings and short answers (``answers``).

``lqr evaluate`` starts here for any set of the public layout. The result holds a row for every question, from which all
figures follow. A collection's own questions, with refusals and dialogues, are measured by ``collection_answers``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from lqr.evaluation import runner
from lqr.evaluation.collections import open_corpus
from lqr.evaluation.datasets import Question, load_dataset
from lqr.evaluation.generators import Generator, load_generator
from lqr.evaluation.metrics import answer_scores, ranking_scores
from lqr.evaluation.options import Options
from lqr.evaluation.provenance import embedder_revision, machine, model_name, plain_settings, versions
from lqr.evaluation.stages import Outcome, Stages
from lqr.evaluation.strategies import run_strategy
from lqr.evaluation.summary import summarise
from lqr.retrieval.dense import Embedder
from lqr.settings import Settings


def run(options: Options, *, embedder: Embedder | None = None, generator: Generator | None = None) -> dict[str, Any]:
    """Measure, write ``options.out``, and return what was written.

    Args:
        embedder, generator: loaded ones, instead of those that the settings and options name.

    Raises:
        SettingsError: the options lack something or contradict an earlier run that is to be gone on with.
        ReadError: a file is missing or malformed.
        LqrError: a part of the product or the generator is missing, or fails.
    """
    settings = Settings.load()
    settings = replace(settings, top_k=options.k or settings.top_k)
    dataset = load_dataset(
        options.dataset,
        options.split,
        data=options.data,
        questions=options.questions,
        corpus=options.corpus,
        pooled=options.pooled,
        with_corpus=options.strategy != "none",
    ).sample(options.limit, options.seed)
    if not options.titles:
        dataset = dataset.without_titles()
    described: dict[str, Any] = {
        **options.plain(),
        "dataset": dataset.name,
        "k": settings.top_k,
        "generator": (generator.name if generator else model_name(options.generator)) if options.thinks else None,
        "files": {name: dict(facts) for name, facts in dataset.origin.items()},
        "questions": len(dataset.questions),
        "passages": len(dataset.corpus),
        "gold_not_in_corpus": dataset.missing_gold() if dataset.corpus else None,
        "lqr": plain_settings(settings),
    }
    if options.vectors and options.strategy != "none":
        described["embedder"] = f"{embedder.name}@{embedder.revision}" if embedder else embedder_revision(settings)
    hangs_on = {**described, "versions": versions(settings)}
    with ExitStack() as opened:
        application = None
        if options.strategy != "none":
            application = opened.enter_context(
                open_corpus(dataset.corpus, settings, dense=options.vectors, progress=options.progress, embedder=embedder)
            )
        if options.thinks and generator is None:
            generator = load_generator(options.generator, settings)
            opened.callback(generator.close)
        stages = Stages(
            application,
            generator,
            k=settings.top_k,
            mode=options.mode,
            relevance=options.relevance,
            graph=options.graph,
            decomposition=options.decomposition,
            comparison=options.comparison,
            answering=options.kind == "answers",
        )

        def work(question: Question) -> Iterator[dict[str, Any]]:
            began, computed = time.perf_counter(), time.process_time()
            outcome = run_strategy(options.strategy, question, stages)
            seconds, cpu = time.perf_counter() - began, time.process_time() - computed
            yield {**row(question, outcome), "seconds": round(seconds, 5), "cpu_seconds": round(cpu, 5)}

        rows = runner.run(dataset.questions, work, options.out, hangs_on, fresh=options.fresh, progress=options.progress)
    result = {
        "settings": described,
        "versions": hangs_on["versions"],
        "machine": machine(),
        "seed": options.seed,
        "date": time.strftime("%Y-%m-%d"),
        "summary": summarise(rows, seed=options.seed),
        "rows": rows,
    }
    runner.finish(options.out, result)
    return result


def row(question: Question, outcome: Outcome) -> dict[str, Any]:
    """One question's row, without its times. ``scores`` has no answer where none was asked for, no recall without gold."""
    answer = outcome.answer
    spent = [made for made in (*outcome.thoughts, answer) if made is not None]
    gold = question.complex
    return {
        "id": question.id,
        "dataset": question.dataset,
        "type": question.type or None,
        "question": question.question,
        "answers": list(question.answers),
        "supporting": list(question.supporting),
        "prediction": answer.text if answer else None,
        "answer_from": {"passage": answer.passage_id, "sentence": answer.sentence, "score": answer.score} if answer else None,
        "retrieved": list(outcome.retrieved),
        "read": [passage.id for passage in outcome.read] if answer else None,
        "route": outcome.route.label if outcome.route else None,
        "probability": outcome.route.probability if outcome.route else None,
        "gold_route": None if gold is None else "complex" if gold else "simple",
        "sub_questions": [outcome.parts.first, outcome.parts.second] if outcome.parts else [],
        "queries": list(outcome.queries),
        "thoughts": [thought.sentence for thought in outcome.thoughts],
        "steps": outcome.steps,
        "stage_seconds": outcome.seconds,
        "tokens": {"read": sum(made.read for made in spent), "written": sum(made.written for made in spent)} if spent else {},
        "scores": {
            **(answer_scores(answer.text, question.answers) if answer else {}),
            **(ranking_scores(outcome.retrieved, question.supporting) if outcome.steps else {}),
        },
    }
