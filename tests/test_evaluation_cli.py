"""``lqr evaluate``: its arguments, which measurement they lead to, and what is printed."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest

from lqr.cli import evaluate, main
from lqr.evaluation import benchmark, collection_answers
from lqr.evaluation.options import Options
from lqr.evaluation.strategies import StrategyName
from lqr.retrieval.ranking import Mode

RESULT = {
    "seed": 13,
    "summary": {"n": 2, "f1": 0.51234, "intervals": {"f1": [0.4, 0.6]}, "by_type": {"bridge": {"n": 2, "f1": 0.5}}},
    "rows": [{"id": "1"}, {"id": "2"}],
}


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Options]]:
    """What was run, by which module, without running it."""
    calls: list[tuple[str, Options]] = []
    for module in (benchmark, collection_answers):
        name = module.__name__.rpartition(".")[2]
        monkeypatch.setattr(module, "run", lambda options, name=name: calls.append((name, options)) or RESULT)
    return calls


@pytest.mark.parametrize(
    ("arguments", "module"),
    [
        (["--dataset", "squad", "--data", "DATA"], "benchmark"),
        (["--questions", "q.jsonl", "--corpus", "c.jsonl.gz"], "benchmark"),
        (["--dataset", "agriculture", "--questions", "q.jsonl", "--corpus", "c.jsonl.gz"], "benchmark"),
        (["--dataset", "farm", "--data", "DATA"], "collection_answers"),
        (["--dataset", "farm"], "collection_answers"),
        (["--collection", "farm", "--questions", "q.jsonl"], "collection_answers"),
        (["--dataset", "both", "--data", "DATA"], "benchmark"),  # a set of that folder comes before a collection
        (["--dataset", "unknown"], "benchmark"),
    ],
)
def test_the_measurement_is_chosen_by_what_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: list[tuple[str, Options]], arguments: list[str], module: str
) -> None:
    for name in ("farm", "both"):
        (tmp_path / "knowledge" / name).mkdir(parents=True)
        (tmp_path / "knowledge" / name / "questions.jsonl").write_text("")
    for name in ("squad", "both"):
        (tmp_path / "data" / name).mkdir(parents=True)
    monkeypatch.setenv("LQR_KNOWLEDGE", str(tmp_path / "knowledge"))
    given = [str(tmp_path / "data") if argument == "DATA" else argument for argument in arguments]
    assert main(["evaluate", "answers", *given, "--out", str(tmp_path / "o.json")]) == 0
    assert [name for name, _ in ran] == [module]


def test_every_option_arrives(tmp_path: Path, ran: list[tuple[str, Options]], capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "--split train --questions q.jsonl --corpus c.jsonl --strategy oracle --generator smollm2 --retriever graph --k 4 "
        "--limit 9 --seed 5 --no-relevance --no-decomposition --no-comparison --no-dense --without-titles --fresh"
    )
    out = tmp_path / "o.json"
    assert main(["evaluate", *text.split(), "--out", str(out), "retrieval"]) == 0
    options = ran[0][1]
    assert (options.kind, options.out, options.split, options.questions) == ("retrieval", out, "train", Path("q.jsonl"))
    assert (options.strategy, options.generator, options.retriever) == ("oracle", "smollm2", "graph")
    assert (options.k, options.limit, options.seed) == (4, 9, 5)
    assert (options.relevance, options.decomposition, options.comparison, options.dense) == (False, False, False, False)
    assert options.graph
    assert (options.titles, options.fresh, options.pooled) == (False, True, False)
    shown = capsys.readouterr().out
    assert "f1                       0.5123  (0.4 to 0.6)" in shown
    assert "bridge: n 2, f1 0.5" in shown
    assert f"{out}: 2 rows, seed 13" in shown


def test_choices_are_those_of_the_library() -> None:
    assert get_args(StrategyName) == evaluate.STRATEGIES
    assert set(evaluate.RETRIEVERS) == set(get_args(Mode))


@pytest.mark.parametrize("arguments", [["answers"], ["nothing", "--out", "o"], ["answers", "--out", "o", "--strategy", "x"]])
def test_wrong_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", *arguments])
    assert ended.value.code == 2


def test_a_kind_with_a_module_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[argparse.Namespace] = []
    module = ModuleType("lqr.evaluation.support")
    models = {"rules": {"summary": {"accuracy": 0.75}, "rows": [{"id": 1}]}, "model": {"summary": {"f1": 1}, "rows": [{}, {}]}}
    module.run = lambda options: seen.append(options) or {"seed": 3, "models": models}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lqr.evaluation.support", module)
    out = tmp_path / "sub" / "o.json"
    for _ in range(2):  # an older result is written over
        out.parent.mkdir(exist_ok=True)
        out.write_text("old")
        assert main(["evaluate", "support", "--data", "d", "--limit", "3", "--out", str(out)]) == 0
        assert json.loads(out.read_text())["models"] == models
    assert (seen[0].data, seen[0].limit, seen[0].seed, seen[0].dataset) == (Path("d"), 3, 13, None)
    assert callable(seen[0].progress)
    assert "3 rows, seed 3" in capsys.readouterr().out


def test_a_kind_without_a_module_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(evaluate.KINDS, "missing", "x")
    given = argparse.Namespace(kind="missing", out=tmp_path / "o.json", seed=1)
    with pytest.raises(Exception, match="lqr evaluate missing is not part of this version"):
        evaluate._evaluate(given)


def test_errors_are_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "answers", "--out", str(tmp_path / "o.json")]) == 1
    assert "--dataset NAME with --data DIR" in capsys.readouterr().err
    assert main(["evaluate", "retrieval", "--strategy", "none", "--out", str(tmp_path / "o.json")]) == 1
    assert "retrieves nothing" in capsys.readouterr().err


def test_help_loads_no_model() -> None:
    code = (
        "import sys, contextlib, io\nfrom lqr.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n    main(['evaluate', '--help'])\n"
        "print({'torch', 'numpy', 'lqr.evaluation.benchmark'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_any_results_numbers_are_printed() -> None:
    lines: list[str] = evaluate._lines({"summary": {"a": None, "b": {"c": {"d": 0.12345}}, "e": [1]}}, _given())
    assert lines[0].split() == ["a", "None"]
    assert "  c: d 0.1235" in lines


def _given() -> Any:
    return argparse.Namespace(out=Path("o.json"), seed=13)
