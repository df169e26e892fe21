"""The trained router: calibration by hand, reasons for a person, and errors that name the file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tiny_models import tiny_encoder

from lqr.classifiers.complexity import RuleComplexity, load_complexity
from lqr.classifiers.trained_complexity import Calibration, TrainedComplexity
from lqr.errors import WeightsError
from lqr.settings import Settings

TWO = "Which is heavier, a Dorper or a Suffolk?"
ONE = "How much copper do ewes need?"


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as ``lqr train`` leaves it, with random weights."""
    from transformers import AutoModelForSequenceClassification

    folder = tmp_path_factory.mktemp("models") / "complexity"
    base = tiny_encoder(folder, "bert", [TWO, ONE])
    AutoModelForSequenceClassification.from_pretrained(base, num_labels=1).save_pretrained(folder)
    calibrate(folder, temperature=1.0, threshold=0.5)
    return folder


def calibrate(folder: Path, **values: Any) -> None:
    (folder / "calibration.json").write_text(json.dumps(values), encoding="utf-8")


def test_probability_by_hand() -> None:
    calibration = Calibration(2.0, 0.5, -1.0, {"comparison": 3.0, "entities": 0.5})
    expected = 1 / (1 + math.exp(-(-1.0 + 4.0 / 2.0 + 3.0 + 2 * 0.5)))
    assert calibration.probability(4.0, {"comparison": 1.0, "entities": 2.0, "long": 1.0}) == pytest.approx(expected)
    assert 0 < calibration.probability(-1e9, {}) < calibration.probability(1e9, {}) < 1


def test_route_weighs_encoder_and_signs(weights: Path) -> None:
    calibrate(weights, temperature=1.0, threshold=0.5, bias=-5.0, signs={"comparison": 10.0})
    model = TrainedComplexity(weights)
    assert model.route(TWO).label == "complex"
    assert model.route(ONE).label == "simple"
    logit = model.logits([TWO])[0]
    assert model.route(TWO).probability == pytest.approx(1 / (1 + math.exp(-(5.0 + logit))), abs=1e-4)


def test_another_collection_has_other_names_and_the_same_encoder(weights: Path) -> None:
    calibrate(weights, temperature=1.0, threshold=0.5, bias=0.0, signs={"entities": 4.0})
    asked = "Is a dorper kept beside a suffolk?"
    breeds = TrainedComplexity(weights, RuleComplexity(lambda text: ["dorper", "suffolk"]))
    none = breeds.with_entities(lambda text: [])
    assert none.logits([asked]) == breeds.logits([asked])
    assert none._model is breeds._model
    odds = [math.log(p / (1 - p)) for p in (*breeds.probabilities([asked]), *none.probabilities([asked]))]
    assert odds[0] - odds[1] == pytest.approx(4.0)


def test_reason_is_for_a_person(weights: Path) -> None:
    calibrate(weights, temperature=1.0, threshold=0.5, bias=0.0)
    model = TrainedComplexity(weights)
    route = model.route(TWO)
    assert route.reason == f"classifier {route.probability:.2f}; compares two things"
    assert model.route(ONE).reason.endswith("no sign of a second step")
    assert model.route("Orf?").reason == "very short"


def test_many_at_once_are_as_one_by_one(weights: Path) -> None:
    calibrate(weights, temperature=0.5, threshold=0.5, signs={"comparison": 1.0})
    model = TrainedComplexity(weights)
    questions = [TWO, ONE, f"{ONE} {TWO}", ONE]
    alone = [model.route(question).probability for question in questions]
    assert model.probabilities(questions) == pytest.approx(alone, abs=1e-4)
    assert model.probabilities([]) == []


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"temperature": 0, "threshold": 0.5},
        {"temperature": 1, "threshold": 1},
        {"temperature": 1, "threshold": 0.5, "bias": float("nan")},
        {"temperature": 1, "threshold": 0.5, "signs": {"mood": 1}},
        {"temperature": 1, "threshold": 0.5, "signs": ["comparison"]},
        {"temperature": "warm", "threshold": 0.5},
    ],
)
def test_bad_calibration_is_named(tmp_path: Path, values: dict[str, Any]) -> None:
    calibrate(tmp_path, **values)
    with pytest.raises(WeightsError, match=r"calibration\.json"):
        Calibration.load(tmp_path)


def test_missing_calibration_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"calibration\.json"):
        Calibration.load(tmp_path)


def test_damaged_weights_are_named(weights: Path, tmp_path: Path) -> None:
    import shutil

    folder = shutil.copytree(weights, tmp_path / "complexity")
    calibrate(folder, temperature=1.0, threshold=0.5)
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(WeightsError, match="models/complexity cannot be loaded"):
        TrainedComplexity(folder)


def test_an_encoder_without_a_head_is_refused(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path / "complexity", "bert", [ONE])
    calibrate(folder, temperature=1.0, threshold=0.5)
    with pytest.raises(WeightsError, match="weights are missing"):
        TrainedComplexity(folder)


def test_rules_stand_in_where_nothing_is_trained(tmp_path: Path) -> None:
    model, why = load_complexity(Settings(profile="cpu", models=tmp_path))
    assert isinstance(model, RuleComplexity)
    assert "no trained classifier" in why


def test_what_is_trained_is_preferred(weights: Path) -> None:
    calibrate(weights, temperature=1.0, threshold=0.5)
    model, why = load_complexity(Settings(profile="cpu", models=weights.parent))
    assert isinstance(model, TrainedComplexity)
    assert why == "models/complexity"


def test_an_adapter_needs_its_base(weights: Path, tmp_path: Path) -> None:
    folder = tmp_path / "complexity"
    folder.mkdir()
    (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(WeightsError, match=r"adapter_config\.json"):
        load_complexity(Settings(profile="cpu", models=tmp_path))
