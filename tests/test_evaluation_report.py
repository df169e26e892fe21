"""The report: what stands in it, what is struck, that nothing in it runs or is fetched, and that its curves are right."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from lqr.cli import main
from lqr.errors import LqrError, ReadError
from lqr.evaluation import report, report_plots
from lqr.evaluation.integrity_findings import Finding
from lqr.evaluation.metrics import answer_scores, ranking_scores
from lqr.evaluation.report_compared import PAPER
from lqr.evaluation.report_curves import calibration, confusion, recall_curve, risk_coverage
from lqr.evaluation.report_pages import csv_files, integrity_lines, markdown, page
from lqr.evaluation.report_results import Run, load
from lqr.evaluation.summary import summarise

EVIL = "<script>alert('x')</script> | `a` ~~b~~"


def result(strategy: str = "lqr", right: float = 0.7, n: int = 60, seed: int = 1, **settings: Any) -> dict[str, Any]:
    """A result file's object of an honest run; ``right`` is the share of right answers."""
    rng = random.Random(seed)
    rows = []
    for number in range(n):
        answer = f"answer{number} word"
        said = answer if rng.random() < right else f"other{number} word" if rng.random() < 0.5 else "no"
        gold, wrong = [f"g{number}"], [f"w{number}-{i}" for i in range(6)]
        ranking = rng.sample([*gold, *wrong], 7)
        rows.append(
            {
                "id": f"q{number}", "question": f"What is number {number * 17} of the {number}th list?", "answers": [answer],
                "supporting": gold, "prediction": said, "retrieved": ranking, "steps": 1 if strategy == "single" else 2,
                "route": rng.choice(["simple", "complex"]), "gold_route": rng.choice(["simple", "complex"]),
                "probability": rng.random(), "seconds": (0.1 if strategy == "single" else 0.19) + rng.random() / 100,
                "answer_from": {"score": rng.random()}, "tokens": {"read": rng.randint(90, 200), "written": 4},
                "scores": {**answer_scores(said, [answer]), **ranking_scores(ranking, gold)},
            }
        )  # fmt: skip
    given = {"kind": "answers", "dataset": "hotpotqa", "split": "test", "strategy": strategy, "generator": {"name": "extractive"}}
    return {
        "settings": {**given, "k": 5, "questions": n, **settings},
        "versions": {"commit": "abc", "code": "0123456789abcdef", "models": {"relevance": "1"}},
        "machine": {"cpus": 2}, "seed": 13, "date": "2026-11-30", "summary": summarise(rows), "rows": rows,
    }  # fmt: skip


def saved(folder: Path, **results: dict[str, Any]) -> list[Path]:
    paths = []
    for name, value in results.items():
        paths.append(folder / f"{name}.json")
        paths[-1].write_text(json.dumps(value), encoding="utf-8")
    return paths


@pytest.fixture
def two(tmp_path: Path) -> list[Run]:
    return load(saved(tmp_path, single=result("single", 0.3), layered=result("lqr", 0.9)))


def table(runs: list[Run], name: str) -> list[dict[str, str]]:
    files = dict(csv_files(report.build(runs, with_plots=False), runs))
    return list(csv.DictReader(io.StringIO(files[f"{name}.csv"])))


def test_strategies_are_compared_with_a_paired_test(two: list[Run]) -> None:
    rows = table(two, "comparisons")
    assert {row["metric"] for row in rows} == {"f1", "em", "accuracy"}
    em = next(row for row in rows if row["metric"] == "em")
    assert (em["run"], em["against"], em["n"]) == ("layered", "single", "60")
    by_hand = sum(b["scores"]["em"] - a["scores"]["em"] for a, b in zip(two[0].rows, two[1].rows, strict=True)) / 60
    assert float(em["difference"]) == pytest.approx(by_hand)
    assert float(em["p"]) < 0.01
    assert 1.7 < float(em["time ratio"]) < 2.1


def test_ours_stands_beside_the_paper_with_the_caveat(two: list[Run]) -> None:
    rows = table(two, "paper")
    layered = next(row for row in rows if row["strategy"] == "lqr")
    assert (float(layered["paper F1"]), float(layered["paper accuracy"])) == PAPER["hotpotqa"] == (69.96, 53.80)
    assert 1.7 < float(layered["time / single"]) < 2.1
    text = markdown(report.build(two, with_plots=False))
    assert "so the two are not comparable" in text
    assert "corpora, splits and model differ" in text


def test_a_clean_report_says_so_and_strikes_nothing(two: list[Run]) -> None:
    made = report.build(two, with_plots=False)
    lines = integrity_lines(made)
    assert lines[0] == "no faults found"
    assert any(line.startswith("not checked: whether test questions (hotpotqa) stand in training data") for line in lines)
    assert "~~" not in markdown(made)
    assert "<s" not in page(made).replace("<style", "").replace("<strong", "")


def test_a_figure_that_fails_is_struck_with_its_reason(tmp_path: Path) -> None:
    bad = result()
    bad["summary"]["f1"] = 0.99
    runs = load(saved(tmp_path, bad=bad))
    made = report.build(runs, with_plots=False)
    number = 1 + next(i for i, f in enumerate(made.faults) if f.figures == ("f1",))
    assert f"~~99.0~~ ({number})" in markdown(made)
    assert re.search(r'<s title="f1: the summary says 0\.99, the rows give 0\.\d+">99\.0</s>', page(made))
    assert "f1: the summary says 0.99" in table(runs, "answers")[0]["struck"]
    em = runs[0].summary["em"]
    assert f"~~{100 * em:.1f}~~" not in markdown(made)


def test_the_constant_citation_score_is_struck(tmp_path: Path) -> None:
    bad = result(n=110)
    for number, row in enumerate(bad["rows"]):
        row["scores"]["faithfulness"] = 0.85 if number < 103 else 0.4
    mean = sum(row["scores"]["faithfulness"] for row in bad["rows"]) / 110
    bad["summary"] |= {
        "faithfulness": mean,
        "ragas": {"judge": "j", "answered": {"n": 110, "faithfulness": mean, "faithfulness_scored": 110}},
    }
    made = report.build(load(saved(tmp_path, bad=bad)), with_plots=False)
    assert f"~~{100 * mean:.1f} (110 of 110)~~" in markdown(made)
    assert "0.85 in 103 of 110 rows" in markdown(made)


def test_a_comparison_across_settings_is_struck(tmp_path: Path) -> None:
    runs = load(saved(tmp_path, single=result("single"), layered=result("lqr", embedder="another")))
    assert all("embedder" in row["struck"] for row in table(runs, "comparisons"))


def test_a_comparison_of_a_struck_figure_is_struck(tmp_path: Path) -> None:
    bad = result("single")
    bad["summary"]["f1"] = 0.99
    struck = {row["metric"]: row["struck"] for row in table(load(saved(tmp_path, a=bad, b=result())), "comparisons")}
    assert struck["f1"]
    assert not struck["em"]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]
        assert not any(name.startswith("on") for name, _ in attrs)


def test_texts_are_escaped_and_nothing_is_fetched(tmp_path: Path) -> None:
    evil = result(generator={"name": EVIL}, dataset=EVIL)
    evil["summary"]["f1"] = 0.99
    evil["rows"][0]["prediction"] = '=HYPERLINK("http://x")'
    evil["rows"][0]["scores"] |= answer_scores(evil["rows"][0]["prediction"], evil["rows"][0]["answers"])
    (path,) = saved(tmp_path, plain=evil)
    renamed = path.rename(tmp_path / "a$b_<i>|x.json")
    made = report.run([renamed], tmp_path / "out")
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    parsed = _Page()
    parsed.feed(html)
    assert not {"script", "link", "iframe", "object", "i"} & set(parsed.tags)
    assert parsed.links
    assert all(link.startswith("data:image/svg+xml;base64,") for link in parsed.links)
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "<script>" not in re.sub(r"\\.", "", text)
    lengths = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if "alert" in line and line.startswith("|")}
    assert len(lengths) <= 4  # an escaped bar makes no cell; one length for each table
    rows = (tmp_path / "out" / "rows.csv").read_text(encoding="utf-8")
    assert "'=HYPERLINK" in rows
    assert made.faults


def test_every_plot_is_drawn_and_is_the_same_twice(two: list[Run]) -> None:
    first, second = report.build(two), report.build(two)
    assert [plot.svg for plot in first.plots] == [plot.svg for plot in second.plots]
    names = " ".join(plot.name for plot in first.plots)
    for part in ("accuracy-time-hotpotqa", "recall", "confusion-layered", "calibration", "risk-coverage"):
        assert part in names
    assert all(plot.svg.lstrip().startswith("<?xml") and "</svg>" in plot.svg for plot in first.plots)


def test_a_plot_says_which_run_fails(two: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    real = report_plots._shown
    monkeypatch.setattr(report_plots, "_shown", lambda label: shown.append(label) or real(label))
    report_plots.plots(two, [Finding("recomputed", "layered", "x", ("recall@5",))])
    assert [label for label in shown if "fails a check" in label] == ["layered (fails a check)"]


def test_rows_csv_holds_every_row(two: list[Run]) -> None:
    rows = table(two, "rows")
    assert len(rows) == 120
    assert float(rows[3]["f1"]) == two[0].rows[3]["scores"]["f1"]


def run_of(kind: Any, rows: list[dict[str, Any]]) -> Run:
    return Run("r", "r.json", kind, tuple(rows))


def test_recall_curve_and_confusion() -> None:
    rows = [
        {"id": "a", "scores": {"recall@1": 0.0, "recall@10": 1.0}, "route": "simple", "gold_route": "complex"},
        {"id": "b", "scores": {"recall@1": 1.0, "recall@10": 1.0}, "route": "complex", "gold_route": "complex"},
        {"id": "c", "scores": {}, "route": None, "gold_route": "simple"},
    ]
    assert recall_curve(run_of("answers", rows)) == [(1.0, 0.5), (10.0, 1.0)]
    assert confusion(run_of("answers", rows)) == [[0, 0], [1, 1]]
    assert confusion(run_of("answers", rows[2:])) is None


def test_calibration_bins() -> None:
    rows = [{"label": 1, "predicted": 1, "probability": p} for p in (0.91, 0.99, 1.0)]
    rows += [{"label": y, "predicted": 0, "probability": 0.25} for y in (0, 1)]
    assert calibration(run_of("classifier", rows)) == [(0.25, 0.5, 2), (pytest.approx(0.9666667), 1.0, 3)]


def test_risk_falls_with_a_good_confidence_and_ties_do_not_hang_on_order() -> None:
    rows = [{"answer_from": {"score": s}, "scores": {"accuracy": a}} for s, a in ((0.9, 1.0), (0.5, 0.0), (0.5, 1.0), (0.1, 0.0))]
    curve = risk_coverage(run_of("answers", rows))
    assert curve == [(0.25, 0.0), (0.5, 0.25), (0.75, pytest.approx(1 / 3)), (1.0, 0.5)]
    assert risk_coverage(run_of("answers", rows[::-1])) == curve
    assert risk_coverage(run_of("answers", rows[1:3])) == []  # one confidence for all says nothing


def test_classifiers_collections_and_unknown_results_have_tables(tmp_path: Path) -> None:
    labelled = [{"id": str(i), "label": i % 2, "predicted": int(i % 2 or i % 5 == 0), "probability": 0.02 * i} for i in range(40)]
    models = {"models": {"router": {"summary": {"n": 40}, "rows": labelled}}}
    turns = [
        {"id": f"t{i}", "expect": "answer", "question": f"How {i}?", "facts": [i % 2 == 0], "refused": False,
         "prediction": "x", "scores": {"facts": float(i % 2 == 0)}}
        for i in range(20)
    ]  # fmt: skip
    own = {"settings": {"dataset": "agriculture"}, "summary": {"n": 20, "facts": 0.5, "key_facts": 0.5}, "rows": turns}
    other = {"summary": {"group": {"share": 0.25}, "text": "x"}, "rows": [{"id": "1"}]}
    runs = load(saved(tmp_path, models=models, own=own, other=other))
    assert [run.kind for run in runs] == ["classifier", "collection", "other"]
    assert table(runs, "classifiers")[0]["n"] == "40.0"
    assert float(table(runs, "collections")[0]["facts"]) == 0.5
    assert {row["figure"]: row["value"] for row in table(runs, "other")} == {"group.share": "0.25", "text": "x"}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"summary": {}}', '{"rows": 3}', '{"rows": [1]}'])
def test_what_is_no_result_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(ReadError, match=r"x\.json"):
        load([tmp_path / "x.json"])


def test_a_missing_file_and_a_folder_that_cannot_be_written(tmp_path: Path, two: list[Run]) -> None:
    with pytest.raises(ReadError, match=r"none\.json"):
        load([tmp_path / "none.json"])
    (tmp_path / "file").write_text("")
    with pytest.raises(LqrError, match="give --out a folder"):
        report.write(report.build(two, with_plots=False), two, tmp_path / "file")


def test_equal_names_are_told_apart(tmp_path: Path) -> None:
    (path,) = saved(tmp_path, a=result(n=12))
    assert [run.name for run in load([path, path])] == ["a", "a (2)"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = saved(tmp_path, single=result("single"), layered=result())
    train = tmp_path / "train.jsonl"
    train.write_text("\n".join(json.dumps({"question": row["question"]}) for row in result()["rows"][:9]))
    out = tmp_path / "out"
    assert main(["report", *map(str, paths), "--out", str(out), "--train", str(train), "--no-plots"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("2 faults: ")
    assert "9 of 60 test questions stand in training data" in said
    assert {path.name for path in out.iterdir()} >= {"report.md", "report.html", "answers.csv", "comparisons.csv", "rows.csv"}
    assert "~~" in (out / "report.md").read_text()
    assert main(["report", str(tmp_path / "none.json"), "--out", str(out)]) == 1
