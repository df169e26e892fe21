"""Puts the stages together into an :class:`Application`; the UI, the CLI and the evaluation all start here.

Decides which weights fill which role and says why in ``startup``. Launches nothing and prints nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lqr.blend import Blend
from lqr.classifiers.complexity import ComplexityModel, RuleComplexity, load_complexity
from lqr.classifiers.relevance import CrossEncoderRelevance, RelevanceModel, RuleRelevance
from lqr.classifiers.support import load_supports
from lqr.classifiers.word_pieces import load_pieces
from lqr.conversation import Rewriter
from lqr.corpus.asked import FILE_NAME as ASKED
from lqr.corpus.asked import asked_of, read_asked
from lqr.corpus.ingest import ingest
from lqr.corpus.profile import FILE_NAME, Profile, load_profile
from lqr.corpus.rulebook import references
from lqr.corpus.store import Store
from lqr.decompose import load_decomposer
from lqr.entities import EntityFinder, TopicFinder, places
from lqr.errors import StoreError
from lqr.grounding.calibration import Calibration
from lqr.grounding.refusal import Gate, load_weights
from lqr.grounding.rules import RuleChecker
from lqr.pipeline import Pipeline
from lqr.retrieval.dense import Embedder, load_embedder
from lqr.retrieval.index import AskedOf
from lqr.retrieval.layered import LayeredRetrieval
from lqr.retrieval.rerank import Reranker
from lqr.retrieval.retriever import Retriever
from lqr.retrieval.shipped import FILE_NAME as VECTORS
from lqr.retrieval.tokenizer import tokenize
from lqr.selection import on_another_thing
from lqr.settings import Settings
from lqr.writing.composer import Composer
from lqr.writing.factory import load_language_model
from lqr.writing.model_writer import ModelWriter

OnProgress = Callable[[str, int, int], None]  # (what, done, total)


@dataclass(frozen=True)
class Application:
    """Everything that serves one collection. ``startup`` holds the lines of the start-up log, each with its reason."""

    pipeline: Pipeline
    store: Store
    retriever: Retriever
    profile: Profile
    settings: Settings
    startup: tuple[str, ...]

    def close(self) -> None:
        """Release the store and a language model, if one is loaded."""
        if self.pipeline.model_writer is not None:
            self.pipeline.model_writer.model.close()
        self.retriever.close()
        self.store.close()


def build(
    settings: Settings, *, collection: str | None = None, progress: OnProgress | None = None, embedder: Embedder | None = None
) -> Application:
    """Open (on the first start: make) the collection and load the models.

    Raises:
        LqrError: a part is missing; the message says which and what to do.
    """
    began = time.perf_counter()
    name = collection or settings.collection
    lines = list(settings.reasons)
    folder = collection_folder(settings, name)
    knowledge = settings.knowledge / name
    profile = collection_profile(settings, name)
    profile.glossed("")  # its thousands of words become one pattern now, not while the first visitor waits
    _limit_threads(settings)
    embedder = embedder or load_embedder(settings)
    lines.append(f"embedder {embedder.name}: {getattr(embedder, 'reason', 'given by the caller')}")
    store = Store.open(folder)
    with ExitStack() as opened:  # closed again when a later part is missing
        opened.callback(store.close)
        if knowledge.is_dir():
            report = ingest(
                [knowledge],
                store,
                (lambda p: progress("reading", p.done, p.total)) if progress else None,
                prune=True,
                rules=profile.rules,
            )
            if changed := report.added + report.replaced + report.removed:
                lines.append(f"knowledge {name}: {changed} documents taken in or removed, {len(report.failed)} unreadable")
            lines.extend(f"knowledge {name}: {source} left out, {reason}" for source, reason in report.failed)
        elif store.count() == 0:
            raise StoreError(f"collection {name!r} is empty: run `lqr ingest PATH --collection {name}`, or name one that exists")
        retriever = Retriever.open(
            store,
            embedder,
            settings,
            folder,
            (lambda done, total: progress("embedding", done, total)) if progress else None,
            asked_of=asked_source(settings, name, store),
            shipped=settings.knowledge / name / VECTORS,
        )
        blend = Blend.load(settings.models / "relevance")
        relevance, why = _relevance(settings, retriever)
        lines.append(f"relevance {relevance.name}: {why}")
        retriever.read_with(relevance.score_many)
        documents = store.documents()
        entities = EntityFinder(profile, [document.title for document in documents])
        complexity: ComplexityModel
        if profile.router == "rules":
            complexity, why = RuleComplexity(entities), "the collection's profile asks for the rules"
        else:
            complexity, why = load_complexity(settings, entities)
        lines.append(f"complexity {complexity.name}: {why}")
        decomposer, why = load_decomposer(settings)
        lines.append(f"decomposition: {why}")
        gate_weights = load_weights(settings.models / "gate")
        writer, named = _writer(settings, profile)
        model = load_language_model(replace(settings, llm=writer))
        if model:
            opened.callback(model.close)
        lines.append(f"writer {model.name if model else 'composer'}: {named}")
        pipeline = Pipeline(
            settings=settings,
            store=store,
            retriever=retriever,
            profile=profile,
            rewriter=Rewriter(
                profile, [d.title for d in documents], max_chars=settings.max_question_chars, history_turns=settings.history_turns
            ),
            complexity=complexity,
            layered=LayeredRetrieval(retriever, settings, relevance.score_many, entities, partial(places, profile)),
            reranker=Reranker(relevance.score_many, retriever.signals, blend),
            composer=Composer(
                relevance.score_many,
                retriever.encode,
                blend,
                beside=partial(on_another_thing, profile, TopicFinder(profile)),
                asked=retriever.asked_about,
            ),
            gate=Gate(
                profile,
                retriever.rarity,
                tokenize,
                pieces=load_pieces(settings.models / "relevance"),
                threshold=settings.refusal_threshold,
                weights=gate_weights,
            ),
            entities=entities,
            decomposer=decomposer,
            model_writer=ModelWriter(
                model,
                prompt_tokens=settings.llm_prompt_tokens,
                max_tokens=settings.llm_max_tokens,
                supports=load_supports(settings.models / "support"),
                prompt=profile.prompt,
            )
            if model
            else None,
            calibration=Calibration.load(settings.models / "gate"),
            rules=RuleChecker(profile.rules, retriever.rule, retriever.company) if profile.rules else None,
        )
        if profile.rules:
            lines.append(f"cross-references: {references(store.all_passages())}")
        lines.append(f"passages {len(retriever)} of {len(documents)} documents in {name}")
        lines.append(f"ready in {time.perf_counter() - began:.1f} s")
        opened.pop_all()  # from here on Application.close() does it
        return Application(pipeline, store, retriever, profile, settings, tuple(lines))


def collection_folder(settings: Settings, name: str) -> Path:
    """Where the store of collection ``name`` lives.

    Raises:
        StoreError: the name could leave the folder of collections.
    """
    if not name or not all(c.isalnum() or c in "-_" for c in name):
        raise StoreError(f"collection name {name!r}: use letters, digits, - and _ only")
    return settings.home / "collections" / name


def collection_profile(settings: Settings, name: str) -> Profile:
    """The profile of collection ``name``: that of its folder of documents, else that beside its store, else the empty one.

    Raises:
        SettingsError: it is malformed.
    """
    knowledge = settings.knowledge / name
    return load_profile(knowledge if (knowledge / FILE_NAME).is_file() else collection_folder(settings, name))


def asked_source(settings: Settings, name: str, store: Store) -> AskedOf | None:
    """Gives the questions in the ``asked.jsonl`` of collection ``name`` by passage, if it has one.

    Whoever opens a retriever over the collection must hand this in, or its indexes do not fit those of the others.

    Raises:
        ReadError: the file is malformed.
    """
    path = settings.knowledge / name / ASKED
    if not path.is_file():
        return None
    questions = read_asked(path)
    return lambda passages: asked_of(questions, passages, {info.id: info.source for info in store.documents()})


def _writer(settings: Settings, profile: Profile) -> tuple[str, str]:
    """Who writes, as ``LQR_LLM`` would name it, and who said so: the operator goes before a collection, perhaps a stranger's."""
    if settings.llm:
        return settings.llm, "named by LQR_LLM"
    if profile.generator:
        return profile.generator, "named by the collection's profile"
    return "composer", "no language model is named, so sentences are quoted"


def _relevance(settings: Settings, retriever: Retriever) -> tuple[RelevanceModel, str]:
    folder = settings.models / "relevance"
    if (folder / "config.json").is_file():
        device = "cuda" if settings.profile == "gpu" else "cpu"
        return CrossEncoderRelevance(folder, device=device), "models/relevance"
    return RuleRelevance(retriever.encode, tokenize), "no trained classifier in models/relevance"


def _limit_threads(settings: Settings) -> None:
    if settings.threads:
        import torch

        torch.set_num_threads(settings.threads)
