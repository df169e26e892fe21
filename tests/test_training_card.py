"""A card holds every fact that was recorded, in front matter that parses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from lqr.errors import ReadError
from lqr.training.card import COMPLEXITY, card, write_card

TRAINING: dict[str, Any] = {
    "base": "sentence-transformers/all-MiniLM-L6-v2",
    "settings": {"epochs": 10, "learning_rate": 5e-5, "adapter": 0},
    "data": {"train": {"squad=0": 90, "hotpotqa=1": 91, "joined=1": 5}, "held_out": {"squad=0": 10}},
    "seconds": 61.4,
    "date": "2026-11-30",
}
EVALUATION: dict[str, Any] = {
    "seed": 13,
    "date": "2026-12-01",
    "models": {
        "complexity, six sets balanced": {"summary": {"n": 1500, "accuracy": 0.9712, "f1": 0.9714, "ece": 0.011}, "rows": []}
    },
}


def front(text: str) -> dict[str, Any]:
    return dict(yaml.safe_load(text.split("---\n")[1]))


def test_front_matter_is_complete() -> None:
    found = front(card(COMPLEXITY, TRAINING, EVALUATION, "complexity"))
    needed = {"language", "license", "base_model", "datasets", "metrics", "pipeline_tag", "model-index", "library_name"}
    assert needed <= set(found)
    assert found["base_model"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert found["datasets"] == ["hotpotqa/hotpot_qa", "rajpurkar/squad"]  # what was made here is not on the Hub
    metrics = found["model-index"][0]["results"][0]["metrics"]
    assert metrics == [{"type": "accuracy", "value": 0.9712}, {"type": "f1", "value": 0.9714}]


def test_figures_and_settings_are_shown() -> None:
    text = card(COMPLEXITY, TRAINING, EVALUATION, "complexity")
    assert "| complexity, six sets balanced | 1500 | 0.9712 | 0.9714 |  | 0.011 |" in text
    assert "| hotpotqa=1 | 91 | 0 |" in text
    assert "- learning rate: 5e-05" in text
    assert "2026-12-01" in text


def test_an_adapter_says_so() -> None:
    adapter = TRAINING | {"settings": {"adapter": 16}}
    found = front(card(COMPLEXITY, adapter, EVALUATION, "complexity"))
    assert (found["library_name"], found["base_model_relation"]) == ("peft", "adapter")


def test_written_beside_the_facts(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"training\.json"):
        write_card(tmp_path, COMPLEXITY)
    (tmp_path / "training.json").write_text(json.dumps(TRAINING), encoding="utf-8")
    (tmp_path / "evaluation.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ReadError, match=r"evaluation\.json"):
        write_card(tmp_path, COMPLEXITY)
    (tmp_path / "evaluation.json").write_text(json.dumps(EVALUATION), encoding="utf-8")
    assert front(write_card(tmp_path, COMPLEXITY).read_text(encoding="utf-8"))["model-index"][0]["name"] == tmp_path.name
