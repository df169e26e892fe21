"""The span model: its exact search against a slow one, cutting at spans, saving, and its place beside the rules."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest

from lqr.decompose import Decomposer, load_decomposer
from lqr.decompose.cut import cut_bridge, cut_comparison
from lqr.decompose.spans import MOST_WORDS, SpanModel, features_of
from lqr.decompose.words import split_words
from lqr.errors import WeightsError
from lqr.settings import Settings
from lqr.training.decomposer import Tagged, parts_of, train

BRIDGE = "Where was the {noun} of {name} born?"
COMPARISON = "Who is older, {name} or {other}?"


def bridge(noun: str, name: str) -> Tagged:
    words = split_words(BRIDGE.format(noun=noun, name=name))
    return Tagged(tuple(words), "bridge", ((2, len(words) - 2),))


def comparison(name: str, other: str) -> Tagged:
    words = split_words(COMPARISON.format(name=name, other=other))
    start, place = 4, [word.text for word in words].index("or")
    return Tagged(tuple(words), "comparison", ((start, place), (place + 1, len(words) - 1)))


@pytest.fixture(scope="module")
def model() -> SpanModel:
    names = ["Ada Stone", "Karl Ritter Berg", "Lin Wei", "Olga", "Peter van Dam", "Sun Ra Jones"]
    rows = [bridge(noun, name) for noun in ("father", "owner", "author") for name in names]
    rows += [comparison(a, b) for a, b in itertools.permutations(names, 2)]
    return train(rows, epochs=6)


@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_the_best_of_all_readings(seed: int) -> None:
    words = split_words("who is the older one , Ann or Bob ?")
    features = features_of(words, frozenset({"who", "or", "the"}))
    rng = random.Random(seed)
    count = len(words)
    spans = [(i, j) for i in range(count) for j in range(i + 1, count + 1)]
    readings = [("bridge", (span,)) for span in spans]
    readings += [("comparison", (a, b)) for a in spans for b in spans if a[1] <= b[0]]
    names = {name for operator, chosen in readings for name in parts_of(operator, chosen, features)}
    weights = {name: rng.uniform(-1, 1) for name in sorted(names)}

    def score(operator: str, chosen: tuple[tuple[int, int], ...]) -> float:
        return sum(weights[name] * count for name, count in parts_of(operator, chosen, features).items())

    said = SpanModel(weights, frozenset({"who", "or", "the"})).read(words)
    assert said is not None
    assert said.score == pytest.approx(max(score(*reading) for reading in readings))
    assert said.score == pytest.approx(score(said.operator, said.spans))


def test_new_names_are_split_as_the_known_ones(model: SpanModel) -> None:
    split = Decomposer(model)
    parts = split("Where was the trainer of Zed Quill Moss born?")
    assert (parts.first, parts.second) == ("What is the trainer of Zed Quill Moss?", "Where was #1 born?")
    assert parts.method == "spans: bridge"


def test_lower_case_questions_are_split_too(model: SpanModel) -> None:
    parts = Decomposer(model)("where was the father of tom brook born?")
    assert parts.second == "Where was #1 born?"


def test_two_questions_and_stories_go_by_rule(model: SpanModel) -> None:
    split = Decomposer(model)
    assert split("Where was the father of Olga born and when did he die?").method == "rules: two questions"
    assert split("My ewe is thin. Where was the father of Olga born?").method.startswith("rules")
    assert split("Which is heavier, a Dorper or a Suffolk?").method == "rules: comparison"


@pytest.mark.parametrize("text", ["", "?", "🐑", "why", "word " * (MOST_WORDS + 1), "a" * 5000, "((( )))", "羊的病是什么?"])
def test_any_text_gets_a_decomposition(model: SpanModel, text: str) -> None:
    parts = Decomposer(model)(text)
    assert parts.first.endswith("?")
    assert parts.second.endswith("?")


def test_cut_bridge_asks_for_the_description() -> None:
    question = "Who married the actor who voices Batman in the film?"
    words = split_words(question)
    assert cut_bridge(question, words, (2, len(words) - 1)) == ("which actor voices Batman in the film", "Who married #1?")
    question = "What is the climate of the county where Tan sheep come from?"
    words = split_words(question)
    assert cut_bridge(question, words, (5, len(words) - 1)) == ("where Tan sheep come from", "What is the climate of #1?")


def test_cut_keeps_a_possessive_apart_from_the_number() -> None:
    question = "What is the area of Olga's home?"
    words = split_words(question)
    assert cut_bridge(question, words, (5, 7)) == ("what is Olga's", "What is the area of #1 home?")


def test_cut_comparison_keeps_what_stands_around() -> None:
    question = "Are both villages, X and Y, in the same country?"
    words = split_words(question)
    text = [word.text for word in words]
    x, y = text.index("X"), text.index("Y")
    first, second = cut_comparison(question, words, ((x, x + 1), (y, y + 1)))
    assert first == "Are villages, X, in the same country?"
    assert second == "Are villages, Y, in the same country?"


def test_saved_and_loaded_reads_alike(model: SpanModel, tmp_path: Path) -> None:
    model.save(tmp_path)
    words = split_words("Who is older, Ida Bell or Max Orff?")
    before, after = model.read(words), SpanModel.load(tmp_path).read(words)
    assert before is not None
    assert after is not None
    assert (before.operator, before.spans) == (after.operator, after.spans)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 9, "vocabulary": [], "weights": {}}', '{"format": 1}'])
def test_a_damaged_model_is_named(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "decomposer"
    folder.mkdir()
    (folder / "spans.json").write_text(content)
    with pytest.raises(WeightsError, match=r"spans\.json"):
        load_decomposer(Settings.load(models=tmp_path))


def test_without_a_model_the_rules_serve_and_say_so(tmp_path: Path) -> None:
    decomposer, why = load_decomposer(Settings.load(models=tmp_path))
    assert decomposer.model is None
    assert "no model" in why


def test_the_shipped_model_is_small_and_splits() -> None:
    folder = Path(__file__).parents[1] / "models" / "decomposer"
    assert (folder / "spans.json").stat().st_size < 2_000_000
    assert json.loads((folder / "evaluation.json").read_text())["held_out"]["musique"]["operator"] > 0.9
    parts = Decomposer(SpanModel.load(folder))("When did the author of The Long Field die?")
    assert parts.second == "When did #1 die?"
