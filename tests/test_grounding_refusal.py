"""Tests of lqr.grounding.refusal."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lqr.corpus.profile import NotHeld, Profile
from lqr.errors import WeightsError
from lqr.grounding.refusal import FEATURES, Gate, beside, load_weights, out_of_scope
from lqr.retrieval.tokenizer import tokenize
from lqr.text import words
from lqr.types import Hit, Passage

PROFILE = Profile(
    not_held=(NotHeld(("price",), (), {"en": "No prices.", "zh": "没有价格。"}),),
    scope={
        "animal": (("sheep", "lamb"), ("cattle", "cow"), ("rabbits", "rabbit")),
        "crop": (("maize", "corn"), ("wheat",)),
        "region": (("Gansu",), ("Hubei",)),
    },
)
COMMON = {"sheep": 0.05, "need": 0.2}


def passage(text: str, **metadata: Any) -> Passage:
    return Passage("d-0", "d", "Salt", ("How much",), text, 0, 0, len(text), metadata=metadata)


def hit(text: str, score: float = 0.9, dense: float = 0.7) -> Hit:
    return Hit(passage(text), score, {"dense": dense})


def rarity(stem: str) -> float:
    return COMMON.get(stem, 0.8)


@pytest.fixture
def gate() -> Gate:
    return Gate(PROFILE, rarity, words)


def test_a_well_supported_question_is_answered(gate: Gate) -> None:
    verdict = gate.judge("How much salt do sheep need?", [hit("Sheep need 9 g of salt a day.")], 0.95)
    assert verdict.answerable
    assert verdict.why == ""
    assert verdict.features is not None
    assert set(verdict.features) == set(FEATURES)


def test_nothing_found_is_refused(gate: Gate) -> None:
    assert gate.judge("How much salt?", [], 0.9).why == "nothing"


def test_weak_passages_are_refused(gate: Gate) -> None:
    verdict = gate.judge("How do rockets fly?", [hit("Sheep need salt.", 0.05, 0.1)], 0.02)
    assert (verdict.answerable, verdict.why) == (False, "thin")
    assert verdict.probability < 0.5


def test_a_wish_that_no_document_can_meet_is_refused_in_the_askers_language(gate: Gate) -> None:
    hits = [hit("Sheep need salt.")]
    assert gate.judge("What is the price of salt?", hits, 0.9).detail == "No prices."
    assert gate.judge("What is the price of salt?", hits, 0.9, language="zh").detail == "没有价格。"
    met = gate.judge("What is the price of salt?", hits, 0.9, answer="The price of salt was 2 yuan in 2020.")
    assert met.why != "not_held"


def test_an_answer_must_meet_the_very_wish(gate: Gate) -> None:
    wishes = (NotHeld(("price now",), (), {"en": "Not today's."}), NotHeld(("price",), (), {"en": "No prices."}))
    dated = Gate(Profile(not_held=wishes), rarity, words)
    hits = [hit("The price of salt was 2 yuan in 2020.")]
    verdict = dated.judge("What is the salt price now?", hits, 0.99, answer="The price of salt was 2 yuan in 2020.")
    assert (verdict.why, verdict.detail) == ("not_held", "Not today's.")
    assert dated.judge("What was the price of salt?", hits, 0.99, answer="The price of salt was 2 yuan.").answerable
    assert dated.judge("What was the price of salt?", hits, 0.99, answer="The salt price now is 2 yuan.").answerable


def test_both_parts_of_a_hyphened_word_are_looked_for() -> None:
    gate = Gate(Profile(), lambda stem: 0.8, tokenize)
    hits = [hit("Urea of slow release is safe for ewes.")]
    joined, apart = (gate.features(f"Is {word} urea safe for ewes?", hits, 0.9) for word in ("slow-release", "slow release"))
    assert joined == apart
    assert joined["coverage"] == pytest.approx(1)
    assert joined["missing_rare"] == 0


def test_the_logistic_is_the_plain_one() -> None:
    weights = {"bias": -1.0, "evidence": 2.0, "cosine": 0.5}
    gate = Gate(PROFILE, rarity, words, weights=weights)
    hits = [hit("Sheep need salt.", 0.4, 0.6), hit("Salt.", 0.9, 0.3)]
    verdict = gate.judge("Do sheep need salt?", hits, 0.7)
    assert verdict.probability == pytest.approx(1 / (1 + math.exp(-(-1.0 + 2.0 * 0.7 + 0.5 * 0.6))))


@pytest.mark.parametrize("extreme", [1e9, -1e9])
def test_extreme_weights_do_not_overflow(extreme: float) -> None:
    gate = Gate(PROFILE, rarity, words, weights={"bias": extreme})
    assert 0.0 <= gate.judge("Do sheep need salt?", [hit("Salt.")], 0.5).probability <= 1.0


def test_the_threshold_decides() -> None:
    hits, question = [hit("Sheep need salt.")], "Do sheep need salt?"
    probability = Gate(PROFILE, rarity, words).judge(question, hits, 0.6).probability
    assert Gate(PROFILE, rarity, words, threshold=probability - 0.01).judge(question, hits, 0.6).answerable
    assert not Gate(PROFILE, rarity, words, threshold=probability + 0.01).judge(question, hits, 0.6).answerable


def test_features(gate: Gate) -> None:
    features = gate.features("How much selenium do sheep need?", [hit("Sheep need salt.", 0.4, 0.6)], 0.7, [0.9, 0.3])
    # content words: selenium 0.8 (missing), sheep 0.05; "need" asks
    assert features["missing_rare"] == pytest.approx(0.8)
    assert features["coverage"] == pytest.approx(1 - 0.8 / 0.85)
    assert features["relevance"] == 0.4
    assert features["cosine"] == 0.6
    assert features["weakest_part"] == 0.3
    assert gate.features("Salt?", [hit("Salt.")], 0.7)["weakest_part"] == 0.7


@pytest.mark.parametrize("question", ["", "?", "what is it", "🐑", "羊", "a" * 20000])
def test_odd_questions_have_finite_features(gate: Gate, question: str) -> None:
    features = gate.features(question, [hit("Sheep need salt.")], 0.1)
    assert all(map(math.isfinite, features.values()))
    assert 0.0 <= features["coverage"] <= 1.0


def test_metadata_counts_as_said(gate: Gate) -> None:
    held = Hit(passage("Salt is needed.", species=["sheep"]), 0.9, {})
    assert gate.features("salt sheep", [held], 0.5)["coverage"] == 1.0


@pytest.mark.parametrize(
    ("question", "text", "metadata", "out"),
    [
        ("How much salt does a cow need?", "Sheep need salt.", {}, True),
        ("How much salt does a sheep need?", "Sheep need salt.", {}, False),
        ("How much salt does a lamb need?", "Sheep need salt.", {}, False),  # one thing, two names
        ("Can sheep eat cattle feed?", "Cattle mixes kill sheep.", {}, False),
        ("Can a cow eat this?", "Cattle mixes kill sheep.", {}, False),
        ("How much salt does a cow need?", "Salt is cheap.", {}, False),  # general
        ("How much salt does a cow need?", "Salt is needed.", {"species": ["sheep"]}, True),
        ("How much salt does a cow need?", "Salt is needed.", {"species": "sheep"}, True),
        ("How much salt?", "Sheep need salt.", {}, False),
        ("Can sheep graze maize?", "Wheat straw for sheep.", {}, True),  # right animal, wrong crop
        ("How cold is Gansu?", "Hubei is warm.", {}, False),  # regions are weighed, not barred
    ],
)
def test_scope(question: str, text: str, metadata: dict[str, Any], out: bool) -> None:
    why = out_of_scope(PROFILE, question, passage(text, **metadata))
    assert bool(why) is out
    if out:
        assert why.startswith("about ")


def test_the_reason_names_both_things() -> None:
    assert (
        out_of_scope(PROFILE, "Do rabbits need salt?", passage("Sheep and cattle need it.")) == "about cattle, sheep, not rabbits"
    )


def test_no_file_is_no_weights(tmp_path: Path) -> None:
    assert load_weights(tmp_path) is None


def test_fitted_weights_are_read(tmp_path: Path) -> None:
    weights = {"bias": -1, **dict.fromkeys(FEATURES, 0.5)}
    (tmp_path / "gate.json").write_text(json.dumps({"weights": weights}))
    assert load_weights(tmp_path) == weights


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"weights": 3}',
        '{"weights": {"bias": "x"}}',
        '{"weights": {"bias": 1, "colour": 2}}',
        '{"weights": {"evidence": 1}}',
        '{"weights": {"bias": NaN}}',
        '{"weights": {"bias": Infinity}}',
    ],
)
def test_damaged_weights_are_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "gate.json").write_text(text)
    with pytest.raises(WeightsError, match=r"gate\.json"):
        load_weights(tmp_path)


def test_a_thing_that_hardly_a_document_names_is_not_answered_for_another(gate: Gate) -> None:
    verdict = gate.judge("How much salt does a rabbit need?", [hit("Salt is needed, 9 g.")], 0.99)
    assert (verdict.answerable, verdict.why, verdict.detail) == (False, "scope", "rabbits")
    assert gate.judge("How much salt does a rabbit need?", [hit("A rabbit needs 1 g of salt.")], 0.99).why != "scope"
    assert gate.judge("How much salt does a sheep need?", [hit("Salt is needed, 9 g.")], 0.99).why != "scope"  # often named
    both = gate.judge("How much salt do a sheep and a rabbit need?", [hit("Sheep need 9 g of salt.")], 0.99)
    assert both.why != "scope"


@pytest.mark.parametrize(
    ("question", "species", "aside"),
    [
        ("How much copper is safe for sheep?", ["cattle"], True),
        ("How much copper is safe for sheep?", ["sheep"], False),
        ("How much copper is safe for sheep?", ["sheep", "cattle"], False),
        ("How much copper is safe for sheep?", [], False),  # an article on no animal in particular
        ("Can I give sheep cattle minerals?", ["cattle"], False),
        ("How much copper is safe?", ["cattle"], False),
    ],
)
def test_an_article_on_another_animal_is_beside_the_question(question: str, species: list[str], aside: bool) -> None:
    assert beside(PROFILE, question, passage("Cattle need 10 mg and sheep 7 mg.", species=species)) is aside


def test_of_regions_only_the_title_puts_an_article_beside_the_question() -> None:
    asked = "How much rain has Gansu?"
    assert not beside(PROFILE, asked, passage("Rain.", region=["Hubei"]))
    elsewhere = replace(passage("Much rain falls."), title="Climate of Hubei")
    assert beside(PROFILE, asked, elsewhere)
    assert not beside(PROFILE, "How much rain falls?", elsewhere)
    assert not beside(PROFILE, asked, replace(elsewhere, text="Gansu has less rain."))
    assert not beside(PROFILE, asked, replace(elsewhere, title="Climate of Hubei and Gansu"))
