"""Planted errors are errors and harmless rewrites are not; figures come from the rows; the checker's files are checked."""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from lqr.classifiers.support import WordSupport, load_support, load_supports
from lqr.classifiers.support_signals import SIGNALS, signals, window_of
from lqr.errors import ReadError, SettingsError, WeightsError
from lqr.evaluation.planted import HARMLESS, NUMERIC, OTHER, plant, sentences_of
from lqr.evaluation.support import run, summarise
from lqr.grounding.quantities import is_stated, quantities
from lqr.training.support import fit_words
from lqr.training.support_claims import halves, load_claims
from lqr.training.support_pairs import from_articles, from_questions, from_sentences, statement

ARTICLE = """---
title: Ewes
---
Ewes need 1.5 kg of hay a day in winter, because grass is short. Feed 10 to 15 kg of straw per 20 ewes within 2 weeks of lambing.
Lambs must not lie below 5 °C in March. Apply 1,200 kg/ha of lime before sowing wheat.

| Class | Hay (kg) | Water (litres) |
|---|---|---|
| Ewe | 1.5 | 6 |
| Lamb | 0.5 | 2 |
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "farm").mkdir()
    (tmp_path / "farm" / "ewes.md").write_text(ARTICLE)
    return tmp_path / "farm"


def test_every_kind_finds_a_sentence_and_changes_it(folder: Path) -> None:
    items = plant(sentences_of(folder), (*NUMERIC, *OTHER, *HARMLESS), 50, 13)
    assert {item.kind for item in items} >= {*NUMERIC, *OTHER, *HARMLESS} - {"percent"}
    assert all((item.text != item.original) == (item.kind != "untouched") for item in items)
    assert items == plant(sentences_of(folder), (*NUMERIC, *OTHER, *HARMLESS), 50, 13)
    for item in items:
        if item.kind in ("converted", "degrees", "separator"):
            stated = quantities(item.passage.text)
            assert all(is_stated(quantity, stated) for quantity in quantities(item.text)), item.text


def options(**values: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"dataset": "planted", "data": None, "split": "test", "limit": 20, "seed": 13, **values})


def test_run_measures_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LQR_KNOWLEDGE", str(folder.parent))
    monkeypatch.setenv("LQR_COLLECTION", "farm")
    result = run(options())
    assert set(result) >= {"settings", "versions", "seed", "summary", "rows"}
    assert result["summary"] == summarise(json.loads(json.dumps(result["rows"])))
    assert result["summary"]["numeric and unit, caught"]["share"] == 1.0
    assert result["summary"]["untouched, false alarms"]["share"] == 0.0
    with pytest.raises(SettingsError, match="no set 'mood'"):
        run(options(dataset="mood"))
    with pytest.raises(SettingsError, match="needs --data"):
        run(options(dataset="wice"))


def test_balanced_accuracy_and_area_from_rows() -> None:
    rng = random.Random(13)
    rows = [
        {
            "set": "wice",
            "supported": label,
            "probability": round(rng.random(), 1),
            "predicted": rng.choice(["supported", "partial"]),
        }
        for label in [True] * 30 + [False] * 70
    ]
    found = summarise(rows)["wice"]
    good, bad = [r for r in rows if r["supported"]], [r for r in rows if not r["supported"]]
    wins = [(g["probability"] > b["probability"]) + 0.5 * (g["probability"] == b["probability"]) for g in good for b in bad]
    assert found["auc"] == pytest.approx(sum(wins) / len(wins), abs=1e-4)
    accuracy = sum(r["predicted"] == "supported" for r in good) / 60 + sum(r["predicted"] != "supported" for r in bad) / 140
    assert found["balanced_accuracy"] == pytest.approx(accuracy, abs=1e-4)


def write_sets(data: Path) -> None:
    rows: dict[str, list[dict[str, Any]]] = {
        "wice/claims_dev.jsonl.gz": [
            {
                "claim": f"The mill of {name} opened in 19{n}.",
                "evidence": [f"In 19{n + (not ok)} the mill of {name} opened.", "It ground oats."],
                "label": "supported" if ok else "not_supported",
            }
            for n, name in enumerate(["Ashby", "Borth", "Corwen", "Dale", "Elm", "Fife"] * 3, start=10) for ok in (True, False)
        ],
        "fever_symmetric/dev.jsonl.gz": [
            {"id": str(n), "claim": "Ann is a singer .", "evidence": f"Ann -LRB- born 19{n} -RRB- is a {what} .", "label": label}
            for n in range(10, 20) for what, label in (("singer", "SUPPORTS"), ("farmer", "REFUTES"))
        ],
        "halueval/qa.jsonl.gz": [
            {
                "knowledge": f"Delhi has {n} gates.",
                "question": "Which city holds gates?",
                "right_answer": "Delhi",
                "hallucinated_answer": "Mumbai",
            }
            for n in range(10)
        ],
    }  # fmt: skip
    for name, lines in rows.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(data / name, "wt") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)


def test_halves_keep_groups_apart_and_words_can_be_fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sets(tmp_path)
    tuning, reported = halves(load_claims(tmp_path, "wice"))
    assert tuning
    assert reported
    assert not {row.group for row in tuning} & {row.group for row in reported}
    assert load_claims(tmp_path, "fever_symmetric")[0].evidence == "Ann (born 1910) is a singer."
    assert load_claims(tmp_path, "halueval")[1].claim == "Mumbai holds gates."
    assert load_support(tmp_path / "models" / "support") is None
    fit_words(tmp_path, tmp_path / "models" / "support")
    model = load_support(tmp_path / "models" / "support")
    assert isinstance(model, WordSupport)
    right, wrong = model.judge([("Ann is a singer.", "Ann is a singer."), ("Bob is a vet.", "Ann is a singer.")])
    assert right.probability > wrong.probability
    supports = load_supports(tmp_path / "models" / "support")
    assert supports is not None
    assert not supports("Bob is a vet.", "Ann is a singer.")
    monkeypatch.setenv("LQR_MODELS", str(tmp_path / "models"))
    assert run(options(dataset="wice", data=tmp_path))["summary"]["wice"]["n"] == 18
    (tmp_path / "models" / "support" / "logistic.json").write_text(
        '{"weights": {"bias": 0, "reader": 1}, "supported": 0.5, "partial": 0.4}'
    )
    with pytest.raises(WeightsError, match="reader"):
        load_support(tmp_path / "models" / "support")
    with pytest.raises(ReadError, match="wice"):
        load_claims(tmp_path / "nowhere", "wice")


def test_signals_and_window() -> None:
    found = signals("The mill of Borth opened in 1912", "In 1912 a mill opened. It never closed.")
    assert set(found) == set(SIGNALS)
    assert (found["numbers"], found["names"], found["negation"]) == (1.0, 0.0, 0.0)
    filler = "Nothing of interest is said in this long sentence about the weather. " * 20
    assert window_of("The mill opened in 1912", filler + "The mill opened in 1912.", 30) == "The mill opened in 1912."


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Who wrote Hamlet?", "Shakespeare", "Shakespeare wrote Hamlet."),
        ("What city did Ann visit?", "Rome", "Ann visit Rome."),
        ("When was the treaty signed?", "1802", "the treaty was signed in 1802."),
        ("Why is it so?", "x", None),
    ],
)
def test_statements(question: str, answer: str, expected: str | None) -> None:
    found = statement(question, answer)
    assert (found[0] if found else None) == expected
    assert not found or found[0][slice(*found[1])] == answer


def test_made_pairs_mark_what_was_exchanged() -> None:
    rng = random.Random(13)
    text = "Ann Lee was born in 1912 in Rome. The first mill of Borth was opened by Carl Orff in 1950, and it is large."
    paragraph = {
        "title": "T", "text": text,
        "questions": [
            {"question": "Who opened the mill?", "answer": "Carl Orff", "answer_start": text.index("Carl")},
            {"question": "Who was born in Rome?", "answer": "Ann Lee", "answer_start": 0},
        ],
    }  # fmt: skip
    articles = [
        {"title": "A", "text": "Ann Lee is an American singer. She sings."},
        {"title": "B", "text": "Borth is a small village in Wales."},
    ]
    pairs = [
        *from_questions([paragraph] * 10, rng),
        *from_articles(articles * 20, rng),
        *from_sentences([text] * 40, rng),
    ]
    wrong = [pair for pair in pairs if not pair.supported]
    assert {pair.origin for pair in wrong} >= {"question", "kind", "sentence"}
    for pair in wrong:
        for start, end in pair.wrong:
            said = pair.claim[start:end].strip()
            assert said
            assert pair.origin != "question" or said in ("Carl Orff", "Ann Lee")
    assert all(not pair.wrong for pair in pairs if pair.supported)
