"""Tests of lqr.evaluation.strategies, summary and benchmark: a small corpus, the product's own stages, no trained model."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from lqr.errors import SettingsError
from lqr.evaluation import benchmark
from lqr.evaluation.collections import open_corpus
from lqr.evaluation.datasets import CorpusPassage, Question
from lqr.evaluation.generators import Generated, Generator, Rules
from lqr.evaluation.options import Options
from lqr.evaluation.runner import rows_path
from lqr.evaluation.stages import Clock, Outcome, Stages
from lqr.evaluation.strategies import MAX_STEPS, READ_FACTOR, StrategyName, run_strategy
from lqr.evaluation.summary import router_scores, summarise
from lqr.retrieval.fake import HashingEmbedder
from lqr.settings import Settings
from lqr.types import Hit, Passage

TOWNS = ("Arbon", "Basel", "Chur", "Davos", "Egg", "Flums", "Gais", "Horn", "Ilanz", "Jona")
PEOPLE = ("Anna Abt", "Beat Bosch", "Carla Cott", "Dario Danuser", "Eva Egli", "Finn Frei", "Gian Graf", "Hanna Hug")
CORPUS = tuple(
    [
        CorpusPassage(f"town-{i}", name, f"{name} is a town. It was founded in {1200 + i} by monks.")
        for i, name in enumerate(TOWNS)
    ]
    + [
        CorpusPassage(f"person-{i}", name, f"{name} was a painter who was born in {TOWNS[i]}. The painter liked blue horses.")
        for i, name in enumerate(PEOPLE)
    ]
)
SIMPLE = Question("s", "In what year was Davos founded?", ("1203",), ("town-3",))
BRIDGE = Question("c", "When was the town where Dario Danuser was born founded?", ("1203",), ("person-3", "town-3"), "bridge")
UNKNOWN = Question("u", "Who liked blue horses?", ("Anna Abt",))


class Recording:
    """Notes what it was asked to read; its thoughts come from a list, then there is none."""

    name = "recording"

    def __init__(self, thoughts: Sequence[Generated] = ()) -> None:
        self.read: list[tuple[str, ...]] = []
        self.thought_on: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        self.closed = False
        self._thoughts = list(thoughts)

    def answer(self, question: str, passages: Sequence[Passage]) -> Generated:
        self.read.append(tuple(passage.id for passage in passages))
        return Generated("1203", "founded in 1203", "town-3", 0.5, read=10, written=1)

    def think(self, question: str, passages: Sequence[Passage], thoughts: Sequence[str]) -> Generated:
        self.thought_on.append((tuple(passage.id for passage in passages), tuple(thoughts)))
        return self._thoughts.pop(0) if self._thoughts else Generated("")

    def close(self) -> None:
        self.closed = True


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    home = tmp_path_factory.mktemp("home")
    settings = Settings(profile="cpu", home=home, models=home / "none", knowledge=home / "none", top_k=3)
    with open_corpus(CORPUS, settings, embedder=HashingEmbedder(256)) as opened:
        yield opened


def stages(application: Any, generator: Generator | None = None, **changes: Any) -> Stages:
    return Stages(application, generator, **({"k": 3} | changes))


def test_none_reads_nothing() -> None:
    generator = Recording()
    outcome = run_strategy("none", BRIDGE, stages(None, generator))
    assert (outcome.steps, outcome.retrieved, generator.read) == (0, (), [()])
    with pytest.raises(SettingsError, match="--corpus"):
        run_strategy("single", BRIDGE, stages(None, generator))


def test_single_reads_the_best_k_of_one_search(application: Any) -> None:
    generator = Recording()
    outcome = run_strategy("single", SIMPLE, stages(application, generator))
    ranked = [hit.passage.id for hit in application.retriever.search(SIMPLE.question, 20)]
    assert list(outcome.retrieved) == ranked
    assert generator.read == [tuple(ranked[:3])]
    assert (outcome.steps, outcome.route, outcome.queries) == (1, None, (SIMPLE.question,))
    assert outcome.answer is not None
    assert set(outcome.seconds) == {"retrieve", "answer"}


def test_retrieval_alone_asks_no_generator(application: Any) -> None:
    for name in ("single", "lqr", "oracle"):
        outcome = run_strategy(name, BRIDGE, stages(application, None, answering=False))  # type: ignore[arg-type]
        assert outcome.answer is None
        assert outcome.retrieved
    with pytest.raises(SettingsError, match="--generator"):
        run_strategy("multi", BRIDGE, stages(application, None, answering=False))


def test_multi_retrieves_with_its_thoughts_until_nothing_new_comes(application: Any) -> None:
    thoughts = [Generated("", f"{PEOPLE[3]} was born in Davos.", read=7, written=2), Generated("", "Davos is a town.")]
    generator = Recording(thoughts)
    outcome = run_strategy("multi", BRIDGE, stages(application, generator))
    assert outcome.queries[0] == BRIDGE.question
    assert outcome.queries[1] == f"{BRIDGE.question} {thoughts[0].sentence}"
    assert outcome.steps == len(outcome.queries) <= MAX_STEPS
    assert generator.thought_on[1][1] == (thoughts[0].sentence,)
    first, second = generator.thought_on[0][0], generator.thought_on[1][0]
    assert not set(first) & set(second)  # each thought is made from what its step brought
    assert len(generator.read[-1]) <= READ_FACTOR * 3
    assert set(first) <= set(generator.read[-1])
    row = benchmark.row(BRIDGE, outcome)
    assert row["tokens"] == {"read": 17, "written": 3}
    assert row["thoughts"][0] == thoughts[0].sentence


@pytest.mark.parametrize(
    ("thoughts", "steps"),
    [
        ([Generated("1203", "So the answer is: 1203")], 1),
        ([Generated("")], 1),
        ([Generated("", "Davos."), Generated("", "Davos.")], 2),
        ([Generated("", name) for name in TOWNS], MAX_STEPS),
    ],
)
def test_multi_stops(application: Any, thoughts: list[Generated], steps: int) -> None:
    outcome = run_strategy("multi", UNKNOWN, stages(application, Recording(thoughts), k=1))
    assert outcome.steps <= steps
    if thoughts[0].text or not thoughts[0].sentence:
        assert outcome.steps == steps


def test_adaptive_stops_where_the_best_passage_is_sure(application: Any) -> None:
    sure, unsure = (stages(application, Recording([Generated("", "Davos.")])) for _ in range(2))
    for made, score in ((sure, 0.9), (unsure, 0.1)):
        layered = replace(made.pipeline.layered, scorer=lambda pairs, score=score: [score] * len(pairs))
        made._pipeline = replace(made.pipeline, layered=layered)
    assert run_strategy("adaptive", BRIDGE, sure).steps == 1
    assert run_strategy("adaptive", BRIDGE, unsure).steps > 1


def test_the_oracle_knows_the_route(application: Any) -> None:
    simple, bridge = (run_strategy("oracle", question, stages(application, Recording())) for question in (SIMPLE, BRIDGE))
    assert simple.route is not None
    assert bridge.route is not None
    assert (simple.route.label, simple.parts) == ("simple", None)
    assert bridge.route.label == "complex"
    assert bridge.parts is not None
    assert bridge.steps > simple.steps
    with pytest.raises(SettingsError, match="question u says nothing of its hops"):
        run_strategy("oracle", UNKNOWN, stages(application, Recording()))


class Spy:
    """Notes with what mode a retriever is searched."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.modes = inner, set()  # type: ignore[var-annotated]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def search(self, query: str, k: int | None = None, *, mode: str = "hybrid") -> list[Hit]:
        self.modes.add(mode)
        return self.inner.search(query, k, mode=mode)  # type: ignore[no-any-return]


def test_stages_can_be_left_out(application: Any) -> None:
    def found(**changes: Any) -> tuple[Outcome, Spy]:
        made = stages(application, None, answering=False, **changes)
        spy = Spy(application.retriever)
        made._pipeline = replace(made.pipeline, retriever=spy)  # type: ignore[arg-type]
        return run_strategy("oracle", BRIDGE, made), spy

    whole, spy = found()
    assert spy.modes == {"hybrid", "graph"}
    _, spy = found(graph=False)
    assert spy.modes == {"hybrid"}
    _, spy = found(mode="bm25")
    assert spy.modes == {"bm25", "graph"}
    undivided, _ = found(decomposition=False)
    assert undivided.parts is not None
    assert (undivided.parts.first, undivided.parts.second) == (BRIDGE.question, BRIDGE.question)
    assert whole.parts != undivided.parts
    unfiltered, _ = found(relevance=False)
    assert "relevance" in whole.seconds
    assert len(unfiltered.read) == 3
    assert unfiltered.retrieved != whole.retrieved


def test_the_clock_adds_up() -> None:
    clock = Clock()
    for _ in range(2):
        with clock.timed("a"):
            pass
    assert set(clock.seconds) == {"a"}
    assert clock.seconds["a"] > 0


# Summary ------------------------------------------------------------------------------------------------------------------


def made_row(i: int, **more: Any) -> dict[str, Any]:
    scores = {"em": float(i % 2), "f1": i / 10, "recall@5": 1.0, "mrr": 0.5}
    return {"id": i, "scores": scores, "seconds": i / 10, "steps": i % 3, "type": "a", "dataset": "d", "read": ["p"]} | more


def test_every_figure_follows_from_the_rows() -> None:
    rows = [made_row(i, tokens={"read": i, "written": 1}) for i in range(10)] + [made_row(10, scores={}, type="b", tokens={})]
    summary = summarise(rows)
    assert (summary["n"], summary["n_answers"], summary["n_gold"]) == (11, 10, 10)
    assert summary["f1"] == pytest.approx(statistics.fmean(row["scores"]["f1"] for row in rows[:10]))
    low, high = summary["intervals"]["f1"]
    assert low < summary["f1"] < high
    assert summary["seconds_p50"] == pytest.approx(np.median([row["seconds"] for row in rows]))
    assert summary["steps"] == pytest.approx(statistics.fmean(row["steps"] for row in rows), abs=1e-4)
    assert summary["tokens_read"] == pytest.approx(4.5)
    assert summary["by_type"]["b"] == {"n": 1}
    assert summary["by_type"]["a"]["f1"] == summary["f1"]
    assert "by_dataset" not in summary
    assert summarise([])["n"] == 0


def test_the_router_against_the_annotated_route() -> None:
    routes = [("complex", "complex")] * 3 + [("complex", "simple")] * 2 + [("simple", "simple")] * 4 + [("simple", "complex")]
    rows = [{"gold_route": gold, "route": said} for gold, said in routes] + [{"gold_route": None, "route": "simple"}]
    found = router_scores(rows)
    assert (found["n"], found["accuracy"], found["precision"], found["recall"]) == (10, 0.7, 0.75, 0.6)
    assert found["f1"] == pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6), abs=1e-6)
    assert found["complex as simple"] == 2
    assert router_scores([{"gold_route": "simple", "route": None}]) == {}


# The whole ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    monkeypatch.setenv("LQR_MODELS", str(tmp_path / "no-models"))
    monkeypatch.setenv("LQR_PROFILE", "cpu")
    questions, corpus = tmp_path / "questions.jsonl", tmp_path / "corpus.jsonl"
    asked = [
        {"id": q.id, "question": q.question, "answers": q.answers, "supporting": q.supporting} for q in (SIMPLE, BRIDGE, UNKNOWN)
    ]
    questions.write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    corpus.write_text("\n".join(json.dumps({"id": p.id, "title": p.title, "text": p.text}) for p in CORPUS), encoding="utf-8")
    return {"questions": questions, "corpus": corpus, "out": tmp_path / "result.json"}


CONTRACT = {"id", "question", "answers", "supporting", "prediction", "retrieved", "route", "steps", "seconds", "scores"}


@pytest.mark.parametrize("strategy", [name for name in get_args(StrategyName) if name != "oracle"])
def test_a_result_holds_what_is_promised(files: dict[str, Path], strategy: StrategyName) -> None:
    options = Options("answers", **files, strategy=strategy, generator="rules", k=3, limit=3)
    result = benchmark.run(options, embedder=HashingEmbedder(256))
    assert json.loads(files["out"].read_text(encoding="utf-8")) == result
    assert {"settings", "versions", "seed", "summary", "rows"} <= set(result)
    assert [row["id"] for row in result["rows"]] == ["s", "c", "u"]
    for row in result["rows"]:
        assert set(row) >= CONTRACT
        assert isinstance(row["seconds"], float)
        assert set(row["scores"]) >= {"em", "f1", "accuracy"}
        assert ("recall@5" in row["scores"]) == (bool(row["supporting"]) and strategy != "none")
    assert summarise(result["rows"], seed=result["seed"]) == result["summary"]
    assert result["settings"]["strategy"] == strategy
    assert result["settings"]["generator"] == {"name": "rules"}
    assert str(files["out"].parent) not in json.dumps(result["settings"])
    assert result["versions"]["packages"]["bm25s"]


def test_retrieval_alone_with_bm25(files: dict[str, Path]) -> None:
    result = benchmark.run(Options("retrieval", **files, strategy="single", retriever="bm25"))
    simple, bridge, unknown = result["rows"]
    assert simple["retrieved"][0] == "town-3"
    assert (simple["prediction"], simple["read"], simple["tokens"]) == (None, None, {})
    assert bridge["scores"]["all_gold@10"] in (0.0, 1.0)
    assert unknown["scores"] == {}
    assert (result["summary"]["n"], result["summary"]["n_gold"], result["summary"]["n_answers"]) == (3, 2, 0)
    assert result["settings"]["generator"] is None
    assert "embedder" not in result["settings"]


def test_titles_can_be_left_out_of_a_run(files: dict[str, Path]) -> None:
    result = benchmark.run(Options("retrieval", **files, strategy="single", retriever="bm25", titles=False))
    assert result["settings"]["titles"] is False
    assert result["rows"][0]["retrieved"][0] == "town-3"  # the text names the town too


def test_a_generator_that_was_given_is_used_and_a_failure_can_be_resumed(files: dict[str, Path]) -> None:
    class Failing(Rules):
        name = "given"

        def answer(self, question: str, passages: Sequence[Passage]) -> Generated:
            if question == UNKNOWN.question:
                raise KeyboardInterrupt
            return super().answer(question, passages)

    options = Options("answers", **files, strategy="single", retriever="bm25")
    with pytest.raises(KeyboardInterrupt):
        benchmark.run(options, generator=Failing())
    assert len(rows_path(files["out"]).read_text(encoding="utf-8").splitlines()) == 3

    class Given(Rules):
        name = "given"

    told: list[tuple[str, int, int]] = []
    result = benchmark.run(replace(options, progress=lambda *said: told.append(said)), generator=Given())
    assert len(result["rows"]) == 3
    assert ("questions", 3, 3) in told
    assert not rows_path(files["out"]).exists()
