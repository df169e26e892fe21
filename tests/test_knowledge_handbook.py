"""The invented rule book itself: its size, its references, its questions, as the issue wants them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lqr.app import Application, build
from lqr.corpus.ingest import ingest
from lqr.corpus.profile import Profile, load_profile
from lqr.corpus.rulebook import references
from lqr.corpus.store import Store
from lqr.evaluation.questions import load
from lqr.grounding.refusal import out_of_scope
from lqr.grounding.rules import out_of_force
from lqr.retrieval.fake import HashingEmbedder
from lqr.settings import Settings
from lqr.types import Passage

FOLDER = Path(__file__).resolve().parent.parent / "knowledge" / "handbook-sample"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("store")) as opened:
        ingest([FOLDER], opened, rules=profile().rules)
        yield opened


def profile() -> Profile:
    return load_profile(FOLDER)


def rules(store: Store) -> dict[str, Passage]:
    return {str(p.metadata["number"]): p for p in store.all_passages() if "number" in p.metadata}


def items() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


def test_it_is_labelled_as_invented() -> None:
    for path in FOLDER.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert "invented: true" in text, path
        assert re.search(r"^Invented text", text, re.MULTILINE), path


def test_size_chapters_types_and_kinds(store: Store) -> None:
    found = rules(store)
    assert len(found) >= 150
    assert len({p.metadata["chapter"] for p in found.values()}) == 6
    assert set(Counter(p.metadata["type"] for p in found.values())) == {"rule", "guidance", "evidential provision", "direction"}
    states = Counter(p.metadata["status"] for p in found.values())
    assert states["repealed"] >= 8
    assert states["transitional"] >= 5
    assert sum("defines" in p.metadata for p in found.values()) >= 12
    assert all(sum(island in p.text for p in found.values()) >= 10 for island in ("Northmarr", "Southmarr"))


def test_no_number_twice_and_every_rule_of_the_files_is_a_passage(store: Store) -> None:
    written = re.findall(
        r"^([A-Z]{3} \d+\.\d+[RGED]) ", "\n".join(p.read_text(encoding="utf-8") for p in FOLDER.glob("*.md")), re.M
    )
    assert sorted(written) == sorted(rules(store))


def test_references_lead_somewhere_but_for_the_one_left_open_on_purpose(store: Store) -> None:
    counted = references(store.all_passages())
    assert counted.open == (("LIC 2.6R", "FEE 3.2R"),)
    assert len(counted.resolved) >= 60
    assert len(counted.outside) >= 5


def test_a_repealed_rule_names_a_rule_in_force(store: Store) -> None:
    found = rules(store)
    for passage in found.values():
        if passage.metadata["status"] == "repealed":
            assert found[passage.metadata["replaced_by"]].metadata["status"] == "in force", passage.text


def test_questions_are_as_many_and_of_the_kinds_wanted(store: Store) -> None:
    counts = Counter(item["task"] for item in items())
    assert counts == {"factual": 80, "document": 20, "case": 10, "refuse": 20}
    watched = {item["watch"] for item in items()}
    assert watched >= {
        "wrong jurisdiction",
        "superseded rule",
        "guidance as rule",
        "missing exception",
        "definition out of scope",
    }
    loaded = load(FOLDER / "questions.jsonl", store)
    assert {item.split for item in loaded} == {"dev", "test"}
    assert len(loaded) == 130


def test_gold_is_the_named_rule_and_may_be_used(store: Store) -> None:
    found, known = rules(store), profile()
    for raw, item in zip(items(), load(FOLDER / "questions.jsonl", store), strict=True):
        question = item.turns[0].question
        for number, held in zip(raw["rules"], item.turns[0].gold, strict=True):
            assert held == (found[number].id,), question
            assert not out_of_scope(known, question, found[number]), question
            assert not out_of_force(known.rules, question, found[number]), question


def test_key_points_stand_in_the_gold_rules_and_forbidden_ones_do_not(store: Store) -> None:
    found = rules(store)
    for raw in items():
        text = " ".join(found[number].text for number in raw["rules"]).lower()
        turn = raw["turns"][0]
        assert all(any(spelling.lower() in text for spelling in point) for point in turn["key_facts"]), turn["question"]
        assert bool(turn["key_facts"]) == (turn["expect"] == "answer")
        assert not any(re.search(rf"(?<!\d){re.escape(bad.lower())}", text) for bad in turn["must_not"]), turn["question"]


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """The whole pipeline without trained models, so that only its wiring is tested."""
    home = tmp_path_factory.mktemp("home")
    settings = Settings(collection=FOLDER.name, home=home, models=home / "none", knowledge=FOLDER.parent)
    opened = build(settings, embedder=HashingEmbedder())
    yield opened
    opened.close()


def test_the_start_tells_what_became_of_the_references(application: Application) -> None:
    assert any(re.fullmatch(r"cross-references: \d+ resolved, 1 open, \d+ to other works", line) for line in application.startup)


def test_an_island_is_not_answered_for_another(application: Application) -> None:
    answer = application.pipeline.ask("How far must the isolation pen stand from other pens in Southmarr?")
    assert "30 metres" in answer.text
    assert "12 metres" not in answer.text
    assert any(hit.why == "about Northmarr, not Southmarr" for hit in answer.trace.dropped)


def test_an_exception_is_told_with_its_rule_and_a_transitional_one_called_so(application: Application) -> None:
    answer = application.pipeline.ask("Which insurance must a dealer hold?")
    assert "LIC 4.7R" in answer.text
    assert "LIC 4.8R A seed dealer" in answer.text
    assert "LIC 6.1R is transitional and applies until 31 December 2026." in answer.text
    marks = {int(mark) for mark in re.findall(r"\[(\d+)\]", answer.text)}
    assert marks <= {source.number for source in answer.sources}
    assert {"“LIC 4.7R” cites it"} <= {hit.why for hit in answer.trace.kept}


def test_a_number_that_is_not_in_the_book_is_refused(application: Application) -> None:
    answer = application.pipeline.ask("What does CUS 9.4R require?")
    assert answer.refused
    assert answer.text.startswith("CUS 9.4R is not in the handbook.")


def test_a_repealed_rule_answers_nothing_about_today(application: Application) -> None:
    today = application.pipeline.ask("What is the fee for a livestock licence?")
    assert "540 crowns" in today.text
    assert "410 crowns" not in today.text
