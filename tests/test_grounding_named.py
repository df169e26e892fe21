"""Names that the answering passages do not mention; counts; questions without a word."""

from __future__ import annotations

import re

import pytest

from lqr.corpus.profile import Profile
from lqr.grounding.named import Names, asks_anything, counted
from lqr.grounding.quantities import UNIT_NAMES
from lqr.grounding.refusal import Gate
from lqr.types import Hit, Passage

RARITY = {"sheep": 0.1, "dose": 0.5, "colostrum": 0.6, "scrapie": 0.9, "selenium": 0.55, "footrot": 0.5, "treat": 0.3}
PIECES = {
    "blotchy": 3,
    "drooping": 3,
    "haven't": 4,
    "haven’t": 5,
    "meloxicam": 4,
    "colostrm": 4,
    "scrapie": 2,
    "selenium": 3,
    "brick": 1,
    "yesterday": 1,
}


def stem(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


NAMES = Names(lambda s: RARITY.get(s, 1.0), stem, lambda word: PIECES.get(word, 1))


@pytest.mark.parametrize(
    ("question", "texts", "name"),
    [
        ("dose of meloxicam for sheep", ["Sheep get a dose of selenium."], "meloxicam"),
        ("dose of meloxicam for sheep", ["Meloxicam is a painkiller for sheep."], ""),
        ("can Scrapie be treated", ["Antibiotics treat footrot."], "Scrapie"),
        ("can scrapie be treated", ["Scrapie has no cure."], ""),
        ("how much colostrm for a lamb", ["Lambs drink milk."], ""),  # misspelt, not a name
        ("selenium for sheep yesterday", ["Sheep."], ""),  # often held, and an everyday word
        ("leaves blotchy and drooping", ["Sheep."], ""),
        ("my sheep haven't had selenium", ["Sheep."], ""),
        ("my sheep haven’t had selenium", ["Sheep."], ""),
        ("is scrapie's cause known", ["Antibiotics treat footrot."], "scrapie"),
        ("", [], ""),
    ],
)
def test_the_name_that_is_not_there(question: str, texts: list[str], name: str) -> None:
    assert NAMES.unheld(question, texts) == name


@pytest.mark.parametrize(
    ("question", "said", "expected"),
    [
        ("how many legs has a sheep", "Check the legs of sheep for wounds.", False),
        ("how many legs has a sheep", "A sheep has four legs.", True),
        ("how many lambs does a Hu ewe have", "Hu ewes bear 2 to 3 lambs.", True),
        ("how many lambs does a Hu ewe have", "Trait: Lambs per litter; Ewe: 2.3", True),
        ("how many litres of water", "A cow drinks 80 l.", True),
        ("when do ewes lamb", "In spring.", True),
    ],
)
def test_how_many_wants_a_count(question: str, said: str, expected: bool) -> None:
    assert counted(question, said, UNIT_NAMES) is expected


@pytest.mark.parametrize(("question", "asks"), [("%s %d", False), ("?!", False), ("hay", True), ("羊", False), ("铜中毒", True)])
def test_signs_ask_nothing(question: str, asks: bool) -> None:
    from lqr.retrieval.tokenizer import tokenize

    assert asks_anything(question, tokenize) is asks


def test_the_gate_refuses_by_name_only_for_the_cited_passages() -> None:
    gate = Gate(Profile(), NAMES.rarity, stem, pieces=NAMES.pieces)
    hits = [
        Hit(Passage(f"d-{i}", "d", "Sheep", (), text, i, 0, len(text)), 0.9, {"dense": 0.8})
        for i, text in enumerate(["Meloxicam is for sheep.", "Sheep get a dose of selenium."])
    ]
    question = "dose of meloxicam for sheep"
    refused = gate.judge(question, hits, 0.95, answer="Sheep get a dose.", cited=["d-1"])
    assert (refused.answerable, refused.why, refused.detail) == (False, "name", "meloxicam")
    assert gate.judge(question, hits, 0.95, answer="Meloxicam is for sheep.", cited=["d-0"]).answerable
    assert gate.judge("%s %d", hits, 0.95).why == "nothing"


def test_scope_terms_and_glosses_are_not_names() -> None:
    profile = Profile(scope={"crop": (("barley", "qingke"),)})
    gate = Gate(profile, lambda s: {"barley": 0.5, "sow": 0.2}.get(s, 1.0), stem, pieces=lambda word: 4)
    text = "Sow barley in April."
    hits = [Hit(Passage("d-0", "d", "Barley", (), text, 0, 0, len(text)), 0.9, {"dense": 0.9})]
    assert gate.judge("sow qingke (heitutan)", hits, 0.95, answer=text, cited=["d-0"]).answerable
    assert gate.judge("sow heitutan", hits, 0.95, answer=text, cited=["d-0"]).detail == "heitutan"


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("When do I sow barley near Kashgar in southern Gansu?", ""),
        ("sow barley in Kashgar, Gansu", ""),
        ("sow barley in Kashgar", "Kashgar"),
        ("sow Kashgar barley in Gansu", "Kashgar"),  # a kind of barley lies nowhere
        ("Kashgar, southern Gansu: sow barley", ""),
        ("sow barley with Clorsulon in Gansu", "Clorsulon"),  # what is done there is no place
        ("Clorsulon in southern Gansu", "Clorsulon"),
    ],
)
def test_a_place_goes_with_the_region_that_it_lies_in(question: str, name: str) -> None:
    profile = Profile(scope={"region": (("Gansu",),)})
    rarity = {"barley": 0.5, "sow": 0.2, "southern": 0.4, "gansu": 0.5, "near": 0.3}
    gate = Gate(profile, lambda s: rarity.get(s, 1.0), stem, pieces=lambda word: 4)
    text = "Sow barley in April in southern Gansu."
    hits = [Hit(Passage("d-0", "d", "Barley", (), text, 0, 0, len(text)), 0.9, {"dense": 0.9})]
    assert gate.judge(question, hits, 0.95, answer=text, cited=["d-0"]).detail == name
