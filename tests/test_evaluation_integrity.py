"""Each defect is planted in a clean result and has to be found; the clean result stays clean."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lqr.errors import ReadError
from lqr.evaluation.integrity import constant_scores, counts, examine, recomputation, shape_only, struck, unscored
from lqr.evaluation.integrity_comparable import ablation, baseline, comparable, groups
from lqr.evaluation.integrity_findings import ALL, Finding
from lqr.evaluation.integrity_leaks import Asked, answers_given_away, read_training, train_leaks, training_files
from lqr.evaluation.integrity_recomputed import recomputed, recomputed_summary
from lqr.evaluation.metrics import answer_scores, ranking_scores
from lqr.evaluation.report_results import Run
from lqr.evaluation.summary import summarise

Rows = list[dict[str, Any]]
WORDS = ["alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "willow"]


def clean_rows(n: int = 40, seed: int = 3) -> Rows:
    """Rows of an honest run: some answers right, some half right, some wrong."""
    rng = random.Random(seed)
    rows = []
    for number in range(n):
        answer = f"{rng.choice(WORDS)} {rng.choice(WORDS)} {number}"
        said = rng.choice([answer, f"the {answer} tree", answer.split()[0], "nothing of it"])
        gold = [f"g{number}", f"h{number}"]
        ranking = rng.sample([*gold, *(f"x{number}-{i}" for i in range(8))], 8)
        said_route, gold_route = rng.choice(["simple", "complex"]), rng.choice(["simple", "complex"])
        rows.append(
            {
                "id": f"q{number}", "question": f"What grows behind the {number}th house of the village?", "answers": [answer],
                "supporting": gold, "prediction": said, "retrieved": ranking, "route": said_route, "gold_route": gold_route,
                "probability": rng.random(), "steps": rng.choice([1, 2]), "seconds": rng.random(), "type": "bridge",
                "scores": {**answer_scores(said, [answer]), **ranking_scores(ranking, gold)},
            }
        )  # fmt: skip
    return rows


def run_of(rows: Rows, summary: dict[str, Any] | None = None, **changes: Any) -> Run:
    settings = {"dataset": "hotpotqa", "split": "test", "strategy": "lqr", "generator": "extractive", "questions": len(rows)}
    given: dict[str, Any] = {"name": "run", "file": "run.json", "kind": "answers", "settings": settings, "seed": 13}
    return Run(**{**given, "rows": tuple(rows), "summary": summarise(rows) if summary is None else summary, **changes})


@pytest.fixture
def rows() -> Rows:
    return clean_rows()


def faults(found: list[Finding]) -> set[tuple[str, tuple[str, ...]]]:
    return {(finding.check, finding.figures) for finding in found if finding.figures}


def test_a_clean_result_stays_clean(rows: Rows) -> None:
    train = [Asked("t1", "Who wrote the song about a river in the north?", "train")]
    assert examine(run_of(rows), train) == []


def test_the_citation_score_that_was_085_for_103_of_110_rows() -> None:
    rows = clean_rows(110)
    for number, row in enumerate(rows):
        row["scores"]["citation_score"] = 0.85 if number < 103 else 0.5
    run = run_of(rows)
    found = examine(run)
    (finding,) = (finding for finding in found if finding.check == "constant")
    assert "0.85 in 103 of 110 rows" in finding.reason
    assert struck(found, "run", "citation_score")
    assert not struck(found, "run", "f1")


def test_a_constant_beside_the_scores_is_found_too(rows: Rows) -> None:
    for row in rows:
        row["citation"] = 0.85
    assert ("constant", ("citation",)) in faults(constant_scores(run_of(rows)))


@pytest.mark.parametrize(("share", "caught"), [(0.8, False), (0.95, True)])
def test_how_constant_is_constant(share: float, caught: bool) -> None:
    rows = clean_rows(100)
    for number, row in enumerate(rows):
        row["scores"]["judged"] = 1.0 if number < share * 100 else 0.3
    assert bool(constant_scores(run_of(rows))) is caught


def test_a_recall_of_one_throughout_is_a_note_and_not_struck(rows: Rows) -> None:
    for row in rows:
        row["retrieved"] = row["supporting"]
        row["scores"] |= ranking_scores(row["retrieved"], row["supporting"])
    found = examine(run_of(rows))
    assert any("recall@10 is 1 in all 40 rows" in finding.reason for finding in found)
    assert faults(found) == set()


def test_a_classifier_that_always_says_the_same(rows: Rows) -> None:
    labelled = [{"id": str(i), "label": i % 3 == 0, "predicted": 0, "probability": 0.1 + i / 100} for i in range(30)]
    labelled = [{**row, "label": int(row["label"])} for row in labelled]
    run = run_of(labelled, {"accuracy": 2 / 3}, kind="classifier", settings={})
    assert faults(constant_scores(run)) == {("constant", (ALL,))}
    labelled[0]["predicted"] = 1
    assert constant_scores(run_of(labelled, {}, kind="classifier", settings={})) == []


def cited(rows: Rows, score: Callable[[dict[str, Any], float], float]) -> Rows:
    """Rows with claims of varying support and a citation score made of row and support."""
    rng = random.Random(5)
    for row in rows:
        supports = [rng.choice(["quoted", "unsupported"]) for _ in range(rng.choice([1, 2, 3]))]
        row["claims"] = [{"text": "x", "passages": ["p"], "support": support} for support in supports]
        row["prediction"] += " [1]" * rng.choice([0, 1, 2])
        row["scores"] |= answer_scores(row["prediction"], row["answers"])
        row["scores"]["citation_score"] = score(row, supports.count("quoted") / len(supports))
    return rows


def test_a_score_of_citations_that_looks_at_support_is_clean(rows: Rows) -> None:
    assert examine(run_of(cited(rows, lambda row, support: support))) == []


def test_a_score_that_is_always_one_while_support_varies(rows: Rows) -> None:
    (finding,) = shape_only(run_of(cited(rows, lambda row, support: 1.0)))
    assert "while their support varies (0 to 1)" in finding.reason
    assert finding.figures == ("citation_score",)


def test_a_score_that_does_not_go_with_support() -> None:
    flip = iter(range(1000))
    rows = cited(clean_rows(400), lambda row, support: float(next(flip) % 2))
    (finding,) = shape_only(run_of(rows))
    assert "does not go with support" in finding.reason


def test_a_score_that_counts_marks_where_nobody_checked_support(rows: Rows) -> None:
    cited(rows, lambda row, support: min(1.0, row["prediction"].count("[1]") / 2))
    for row in rows:
        del row["claims"]
    (finding,) = shape_only(run_of(rows))
    assert "number of citation marks" in finding.reason
    rows[0]["scores"]["citation_score"] = 0.77
    rows[1]["scores"]["citation_score"] = 0.13
    rows[2]["scores"]["citation_score"] = 0.31
    assert shape_only(run_of(rows)) == []


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf")])
def test_scores_that_are_no_number(rows: Rows, bad: float | None) -> None:
    for number, row in enumerate(rows):
        row["scores"]["faithfulness"] = bad if number < 12 else number / 40
    (finding,) = unscored(run_of(rows, {}))
    assert "no number in 12 of 40 rows: the mean covers the other 28" in finding.reason
    assert finding.figures == ("faithfulness",)


def test_a_few_unscored_rows_are_a_note(rows: Rows) -> None:
    for number, row in enumerate(rows):
        row["scores"]["faithfulness"] = None if number == 0 else number / 40
    (finding,) = unscored(run_of(rows, {}))
    assert finding.figures == ()


def test_an_id_that_stands_twice(rows: Rows) -> None:
    rows[7]["id"] = rows[3]["id"]
    assert ("duplicate ids", (ALL,)) in faults(counts(run_of(rows)))


def test_an_n_that_is_not_the_number_of_rows(rows: Rows) -> None:
    summary = {**summarise(rows), "n": 50}
    assert faults(counts(run_of(rows, summary))) == {("n", (ALL,))}


def test_rows_that_are_missing(rows: Rows) -> None:
    run = run_of(rows)
    assert faults(counts(run_of(rows[:30], settings=dict(run.settings)))) == {("missing rows", (ALL,))}
    assert faults(counts(run_of([], {}))) == {("missing rows", (ALL,))}


def test_a_row_without_id_or_prediction(rows: Rows) -> None:
    del rows[0]["id"]
    rows[1]["prediction"] = None
    assert {check for check, _ in faults(counts(run_of(rows)))} == {"missing rows"}
    assert ("missing rows", ("em", "f1", "accuracy")) in faults(counts(run_of(rows)))


@pytest.mark.parametrize("name", ["em", "f1", "accuracy", "recall@5", "all_gold@3", "mrr"])
def test_a_score_that_the_row_does_not_give(rows: Rows, name: str) -> None:
    summary = summarise(rows)
    right = rows[4]["scores"][name]
    rows[4]["scores"][name] = 1 - right if right != 0.5 else 0.9
    found = recomputation(run_of(rows, summary))
    assert faults(found) == {("recomputed", (name,))}
    assert "of 1 rows" in found[0].reason


@pytest.mark.parametrize("name", ["em", "f1", "recall@5", "steps", "seconds_p50"])
def test_a_summary_that_the_rows_do_not_give(rows: Rows, name: str) -> None:
    summary = summarise(rows)
    summary[name] += 0.05
    assert faults(recomputation(run_of(rows, summary))) == {("recomputed", (name,))}


def test_a_router_figure_that_the_rows_do_not_give(rows: Rows) -> None:
    summary = copy.deepcopy(summarise(rows))
    summary["router"]["f1"] += 0.1
    found = recomputation(run_of(rows, summary))
    assert faults(found) == {("recomputed", ("router.f1",))}
    assert not struck(found, "run", "f1")


def test_a_struck_score_strikes_the_groups_too() -> None:
    finding = Finding("constant", "run", "", ("f1",))
    assert finding.strikes("by_type.bridge.f1")
    assert not finding.strikes("router.f1")
    assert Finding("n", "run", "", (ALL,)).strikes("router.f1")


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        ("The Eiffel Tower!", ["Eiffel tower"]), ("", ["x"]), ("a", ["the"]), ("“the” cat", ["cat"]), ("a–b", ["b"]),
        ("U.S.A.", ["USA", "United States"]), ("the an a", ["an"]), ("Ångström a day", ["ångström day"]), ("b b c", ["b c c"]),
    ],
)  # fmt: skip
def test_both_codes_agree_on_odd_answers(said: str, answers: list[str]) -> None:
    scores = answer_scores(said, answers)
    assert recomputed({"prediction": said, "answers": answers, "scores": scores}) == pytest.approx(scores)


def test_both_codes_agree_on_a_whole_summary(rows: Rows) -> None:
    summary = summarise(rows)
    again = recomputed_summary(run_of(rows))
    for name in ("n", "em", "f1", "accuracy", "recall@1", "all_gold@10", "mrr", "steps", "seconds_p95", "seconds_mean"):
        assert again[name] == pytest.approx(summary[name], abs=1e-4), name
    for name, value in summary["router"].items():
        assert again[f"router.{name}"] == pytest.approx(value, abs=1e-5), name


def test_classifier_figures_agree_with_those_of_training() -> None:
    from lqr.training.metrics import summary

    rng = random.Random(1)
    pairs = [(rng.randint(0, 1), rng.random()) for _ in range(200)]
    rows = [{"id": str(i), "label": y, "probability": p, "predicted": int(p >= 0.5)} for i, (y, p) in enumerate(pairs)]
    figures = summary([y for y, _ in pairs], [p for _, p in pairs])
    assert recomputation(run_of(rows, figures, kind="classifier")) == []
    assert faults(recomputation(run_of(rows, {**figures, "ece": 0.0}, kind="classifier"))) == {("recomputed", ("ece",))}


def test_test_questions_in_training_data(rows: Rows) -> None:
    leaked = [Asked(f"t{i}", rows[i]["question"].upper().replace("?", " ?"), "train.jsonl.gz") for i in range(3)]
    (finding,) = train_leaks(run_of(rows), leaked)
    assert finding.figures == (ALL,)
    assert "3 of 40" in finding.reason
    assert train_leaks(run_of(rows), [Asked("t", "How tall is a house?", "f")]) == []


def test_one_leak_of_many_is_a_note() -> None:
    rows = clean_rows(150)
    (finding,) = train_leaks(run_of(rows), [Asked("t", rows[9]["question"], "train.jsonl.gz")])
    assert finding.figures == ()


def test_a_train_split_is_no_test(rows: Rows) -> None:
    (finding,) = train_leaks(run_of(rows, settings={"split": "train"}), [])
    assert "no figure here is a test result" in finding.reason


def test_training_files_are_found_and_read(tmp_path: Path, rows: Rows) -> None:
    (tmp_path / "hotpotqa").mkdir()
    with gzip.open(tmp_path / "hotpotqa" / "train.jsonl.gz", "wt") as file:
        file.write(json.dumps({"id": "a", "question": "Who?"}) + "\n")
        file.write(json.dumps({"title": "T", "questions": [{"question": "When?"}, {"question": "Where?"}]}) + "\n")
    found = read_training(training_files(tmp_path, [run_of(rows)]))
    assert [asked.question for asked in found] == ["Who?", "When?", "Where?"]
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"turns": [{"say": "Orf?", "means": "Orf?"}, {"say": "why", "means": "Why is it orf?"}]}) + "\n")
    assert [asked.question for asked in read_training([talk])] == ["Orf?", "Why is it orf?", "why"]
    with pytest.raises(ReadError, match="not a folder"):
        training_files(tmp_path / "none", [])
    (tmp_path / "empty.jsonl").write_text('{"text": "x"}\n')
    with pytest.raises(ReadError, match="holds no question"):
        read_training([tmp_path / "empty.jsonl"])


def test_answers_in_their_questions(rows: Rows) -> None:
    for row in rows[:5]:
        row["question"] = f"Is it true that {row['answers'][0]} grows here?"
    (finding,) = answers_given_away(run_of(rows))
    assert finding.figures == ("em", "f1", "accuracy")
    for row in rows[:5]:
        row["question"] = f"Which is older, {row['answers'][0]} or the castle?"
    assert answers_given_away(run_of(rows)) == []


def test_answers_in_sub_questions_and_prompts(rows: Rows) -> None:
    rows[0]["sub_questions"] = ["What grows?", f"Where is {rows[0]['answers'][0]}?"]
    (finding,) = answers_given_away(run_of(rows))
    assert finding.figures == (ALL,)
    del rows[0]["sub_questions"]
    settings = {"strategy": "single", "prompt": {"examples": [f"Q: {rows[2]['question']} A: x"]}}
    (finding,) = answers_given_away(run_of(rows, settings=settings))
    assert "stand in the prompt (q2)" in finding.reason
    rows[3] |= {"steps": 0, "prompt": f"Answer: {rows[3]['answers'][0]}. Now, {rows[3]['question']}"}
    (finding,) = answers_given_away(run_of(rows, settings={}))
    assert "(q3)" in finding.reason


def test_settings_that_differ_strike_a_comparison(rows: Rows) -> None:
    a = run_of(rows, name="a", settings={"dataset": "d", "strategy": "single", "generator": "x", "k": 5, "lqr": {"rrf_k": 60}})
    b = run_of(rows, name="b", settings={"dataset": "d", "strategy": "lqr", "generator": "y", "k": 5, "lqr": {"rrf_k": 60}})
    assert comparable(a, b) == []
    c = run_of(rows, name="c", settings={**b.settings, "lqr": {"rrf_k": 10}}, seed=14)
    (finding,) = comparable(a, c)
    assert "lqr.rrf_k, seed" in finding.reason
    assert (finding.run, finding.figures) == ("c against a", (ALL,))


def test_weights_strike_a_comparison_and_a_machine_only_its_times(rows: Rows) -> None:
    a = run_of(rows, name="a", versions={"models": {"relevance": "1"}, "code": "1"}, machine={"cpus": 2})
    b = run_of(rows, name="b", versions={"models": {"relevance": "2"}, "code": "2"}, machine={"cpus": 8})
    found = comparable(a, b)
    assert [finding.figures for finding in found] == [(ALL,), (), ("time_ratio",)]


def test_runs_that_ask_other_questions(rows: Rows) -> None:
    (finding,) = comparable(run_of(rows, name="a"), run_of(rows[:35], name="b", settings=run_of(rows).settings))
    assert "5 questions are in one run only" in finding.reason


def test_an_ablation_is_compared_with_the_whole_and_a_strategy_with_single(rows: Rows) -> None:
    common = {"dataset": "d", "generator": "x", "graph": True, "dense": True, "embedder": "e"}
    whole = run_of(rows, name="whole", settings={**common, "strategy": "lqr"})
    single = run_of(rows, name="single", settings={**common, "strategy": "single"})
    flat = run_of(rows, name="flat", settings={**common, "strategy": "lqr", "dense": False, "embedder": None})
    group = [whole, flat, single]
    assert groups(group) == [group]
    assert baseline(flat, group) is whole
    assert baseline(whole, group) is single
    assert ablation(whole, flat) == "dense"
    assert comparable(whole, flat) == []
    assert baseline(single, [single]) is None


def test_of_two_values_of_k_the_second_is_compared_with_the_first(rows: Rows) -> None:
    common = {"dataset": "d", "generator": "x", "strategy": "lqr"}
    group = [run_of(rows, name=f"k{k}", settings={**common, "k": k, "lqr": {"top_k": k}}) for k in (5, 3, 4)]
    assert [found.name if (found := baseline(run, group)) else None for run in group] == [None, "k5", "k5"]
    assert comparable(group[0], group[1]) == []


def test_how_the_chat_is_served_and_how_many_were_asked_is_no_difference(rows: Rows) -> None:
    a = run_of(rows, name="a", settings={"limit": 40, "questions": 40, "lqr": {"traces": "off", "rrf_k": 60}})
    b = run_of(rows, name="b", settings={"limit": None, "questions": 50, "lqr": {"traces": "on", "rrf_k": 60}})
    assert comparable(a, b) == []
