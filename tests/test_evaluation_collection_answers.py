"""Tests of lqr.evaluation.collection_answers: a small collection with questions of its own, no trained model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lqr.corpus.profile import Profile
from lqr.errors import ReadError, SettingsError
from lqr.evaluation import collection_answers as measured
from lqr.evaluation.options import Options
from lqr.evaluation.questions import Ask, Item
from lqr.retrieval.fake import HashingEmbedder
from lqr.settings import Settings
from lqr.types import Answer, Claim, Confidence, Hit, Passage, Route, Trace

PAGES = {
    "salt": "---\ntitle: Salt for sheep\n---\n\nDry ewes need 9 g of salt a day.\n\n## Lambs\n\nLambs need 4 g of salt a day.\n",
    "hay": "---\ntitle: Dry hay\n---\n\nHay must hold less than 18 % moisture before it is stacked.\n",
    "cow": "---\ntitle: Water for dairy cows\n---\n\nA dairy cow drinks 60 to 100 litres of water each day.\n",
}


def turn(question: str, document: str = "salt", contains: str = "9 g of salt", fact: str = "9 g", **more: Any) -> dict[str, Any]:
    return {
        "question": question,
        "standalone": question,
        "route": "simple",
        "gold": [{"document": document, "contains": contains}],
        "key_facts": [[fact]],
        "must_not": [],
        "expect": "answer",
    } | more


ITEMS = [
    {"id": "a", "split": "test", "kind": "simple", "turns": [turn("How much salt does a dry ewe need each day?")]},
    {
        "id": "b",
        "split": "test",
        "kind": "dialogue",
        "turns": [
            turn("How much salt does a dry ewe need each day?", must_not=["9 g of salt"]),
            turn("and lambs?", contains="4 g of salt", fact="4 g", standalone="How much salt do lambs need each day?"),
        ],
    },
    {
        "id": "c",
        "split": "test",
        "kind": "refuse",
        "turns": [turn("What is the price of a tractor in Chicago?", gold=[], key_facts=[], expect="refuse") | {"gold": []}],
    },
    {
        "id": "d",
        "split": "dev",
        "kind": "simple",
        "turns": [turn("How wet may hay be when stacked?", "hay", "18 % moisture", "18 %")],
    },
]


@pytest.fixture
def knowledge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "knowledge" / "farm"
    folder.mkdir(parents=True)
    for name, page in PAGES.items():
        (folder / f"{name}.md").write_text(page, encoding="utf-8")
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, ITEMS)), encoding="utf-8")
    monkeypatch.setenv("LQR_KNOWLEDGE", str(folder.parent))
    monkeypatch.setenv("LQR_MODELS", str(tmp_path / "no-models"))
    monkeypatch.setenv("LQR_PROFILE", "cpu")
    return folder


def run(tmp_path: Path, **changes: Any) -> dict[str, Any]:
    options = replace(Options("answers", tmp_path / "out.json", dataset="farm"), **changes)
    return measured.run(options.checked(), embedder=HashingEmbedder(512))


def test_answers_of_a_collection(tmp_path: Path, knowledge: Path) -> None:
    result = run(tmp_path)
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == result
    rows = {row["id"]: row for row in result["rows"]}
    assert list(rows) == ["a-1", "b-1", "b-2", "c-1"]
    for row in rows.values():
        assert {"id", "question", "answers", "supporting", "prediction", "retrieved", "route", "steps", "seconds"} <= set(row)
        assert isinstance(row["seconds"], float)
        assert row["cited_retrieved"]
    first = rows["a-1"]
    assert "9 g" in first["prediction"]
    assert first["scores"]["facts"] == first["scores"]["complete_answered"] == 1.0
    assert first["supporting"][0] == first["retrieved"][0]
    assert rows["b-1"]["forbidden"] == ["9 g of salt"]
    assert "lambs" in rows["b-2"]["standalone"].lower()
    assert rows["b-2"]["standalone"] != "and lambs?"  # the history of the dialogue went along
    assert rows["c-1"]["refused"]
    assert rows["c-1"]["scores"] == {}
    summary = result["summary"]
    assert (summary["n"], summary["n_answerable"], summary["n_must_refuse"]) == (4, 3, 1)
    assert summary["must_refuse_answered"] == 0.0
    assert summary["with_forbidden"] == 0.25
    assert summary["by_type"]["simple"]["n"] == 1
    assert summary["later_turns"]["n"] == 1
    again = measured.summarise(result["rows"], seed=result["seed"])
    assert {key: summary[key] for key in again} == again


def test_retrieval_asks_each_turn_on_its_own(tmp_path: Path, knowledge: Path) -> None:
    result = run(tmp_path, kind="retrieval")
    row = next(row for row in result["rows"] if row["id"] == "b-2")
    assert row["standalone"] == "How much salt do lambs need each day?"
    assert row["scores"]["recall@1"] == 1.0


def test_the_split_train_is_the_half_for_tuning(tmp_path: Path, knowledge: Path) -> None:
    assert [row["id"] for row in run(tmp_path, split="train")["rows"]] == ["d-1"]
    assert [row["id"] for row in run(tmp_path, split="dev")["rows"]] == ["d-1"]
    assert len(run(tmp_path, limit=1)["rows"]) in (1, 2)


def test_another_file_can_be_asked(tmp_path: Path, knowledge: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(ITEMS[0] | {"id": "z"}), encoding="utf-8")
    assert [row["id"] for row in run(tmp_path, questions=other)["rows"]] == ["z-1"]


def test_the_oracle_sets_the_route(tmp_path: Path, knowledge: Path) -> None:
    items = [{**ITEMS[0], "turns": [ITEMS[0]["turns"][0] | {"route": "complex"}]}]  # type: ignore[index]
    (knowledge / "questions.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    assert run(tmp_path, strategy="oracle")["rows"][0]["route"] == "complex"
    assert run(tmp_path, strategy="single")["rows"][0]["route"] == "simple"


def test_what_a_collection_cannot_be_measured_with_is_said(tmp_path: Path, knowledge: Path) -> None:
    with pytest.raises(SettingsError, match="lqr, single or oracle"):
        run(tmp_path, strategy="multi")
    with pytest.raises(SettingsError, match="public sets only"):
        run(tmp_path, graph=False)
    with pytest.raises(ReadError, match=r"questions\.jsonl: not there"):
        run(tmp_path, dataset="nothing")
    (knowledge / "questions.jsonl").write_text(json.dumps(ITEMS[3]), encoding="utf-8")
    with pytest.raises(ReadError, match="no question of the split test"):
        run(tmp_path)


def test_a_collection_is_told_from_a_path(tmp_path: Path, knowledge: Path) -> None:
    settings = Settings(knowledge=knowledge.parent)
    assert measured.has_questions(settings, "farm")
    for name in (None, "", "other", "../knowledge/farm", str(knowledge)):
        assert not measured.has_questions(settings, name)


# Rows and figures ---------------------------------------------------------------------------------------------------------


def passage(number: int) -> Passage:
    return Passage(f"p{number}", "d", "T", (), "text", number, 0, 4)


def answer(text: str, *, refused: bool = False, kept: tuple[int, ...] = (1, 2), why: str = "") -> Answer:
    hits = tuple(Hit(passage(i), 0.5, why=why if i == 2 else "") for i in kept)
    trace = Trace("q", route=Route("simple", 0.1), kept=hits, dropped=(Hit(passage(9), 0.1),), steps=1)
    claims = () if refused else (Claim("said", ("p1",), "quoted"),)
    return Answer(text, claims, (), refused, Confidence("rich", "r", 0.8), trace)


def ask(**changes: Any) -> Ask:
    given: dict[str, Any] = {
        "question": "q",
        "standalone": "q",
        "route": "simple",
        "expect": "answer",
        "gold": (("p3", "p2"), ("p9",)),
        "key_facts": (("9 g", "nine grams"), ("4 g",)),
        "must_not": (),
    }
    return Ask(**(given | changes))


ITEM = Item("i", "test", "two_step", ())
PROFILE = Profile(name="farm", title="Farm")


def test_a_refusal_says_no_fact_whatever_its_words() -> None:
    said, refused = (measured.row(ITEM, 0, ask(), answer("nine grams", refused=r), PROFILE) for r in (False, True))
    assert said["scores"]["facts"] == said["scores"]["facts_answered"] == 0.5
    assert refused["scores"]["facts"] == 0.0
    assert "facts_answered" not in refused["scores"]
    rows = [{**r, "seconds": 1.0, "first_token_seconds": None} for r in (said, refused)]
    summary = measured.summarise(rows)
    assert (summary["facts"], summary["facts_answered"]) == (0.25, 0.5)
    assert summary["key_facts"] == 0.25
    assert summary["answerable_refused"] == 0.5
    assert summary["answers_with_citation"] == 1.0
    assert summary["must_refuse_answered"] is None


def test_any_passage_that_holds_a_fact_will_do() -> None:
    found = measured.row(ITEM, 0, ask(), answer("x"), PROFILE)
    assert found["supporting"] == ["p2", "p9"]  # p3 holds it too, but p2 was found
    assert found["scores"]["recall@2"] == 0.5
    assert found["scores"]["all_gold@3"] == 1.0


def test_rows_that_came_along_with_their_table_are_not_ranked() -> None:
    found = measured.row(ITEM, 0, ask(), answer("x", why=measured.SAME_TABLE), PROFILE)
    assert found["retrieved"] == ["p1", "p9"]
