"""The semantic rules on each sign, and on what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqr.classifiers.complexity import RuleComplexity

NAMES = ("tan sheep", "dorper", "suffolk", "footrot", "scald", "ewes", "goats", "copper", "orf", "milk", "maize")
rules = RuleComplexity(lambda text: [name for name in NAMES if name in text.lower()])


@pytest.mark.parametrize(
    ("question", "sign"),
    [
        ("What is the climate like where Tan sheep come from?", "relative"),
        ("How is the worm that causes bottle jaw treated?", "relative"),
        ("number of frost free days in the home county of the Tan sheep?", "relative"),
        ("Which is heavier, a Dorper or a Suffolk?", "comparison"),
        ("What is the difference between footrot and scald?", "comparison"),
        ("Do ewes need more copper than goats?", "comparison"),
        ("footrot or scald, what do I look for in the hoof?", "comparison"),
        ("where do the yaks come from and what is the july temperature on that plateau", "second question"),
        ("can people catch footrot, and can they catch orf?", "second question"),
        ("How is footrot treated? And how is it prevented?", "second question"),
    ],
)
def test_complex(question: str, sign: str) -> None:
    route = rules.route(question)
    assert route.label == "complex"
    assert sign in route.reason
    assert route.probability > 0.5


@pytest.mark.parametrize(
    "question",
    [
        "Orf?",
        "How is footrot treated? And how long?",
        "How do I treat footrot?",
        "How much copper do ewes need?",
        "Can I foster lambs onto a ewe that has aborted?",
        "since sheep need more copper than goats, how much copper should I add?",
        "How many litres of colostrum does a calf need and how soon?",
        "I want to keep shelled corn more than a year. moisture?",
        "if I rest each paddock 30 days and graze it for 5, how many paddocks",
        "Is the withdrawal period for milk the same as for meat?",
        "What should a person do who breathed silo gas but feels well?",
        "What know-how do I need for pruning apple trees?",  # a hyphen inside a word begins no question
        "What must-do list is there for lambing?",
        "",
    ],
)
def test_simple(question: str) -> None:
    route = rules.route(question)
    assert (route.label, route.probability < 0.5) == ("simple", True)


def test_more_names_make_it_likelier() -> None:
    one = rules.route("How much hay for ewes in the cold months")
    two = rules.route("How much hay for ewes and goats in the cold months")
    assert two.probability > one.probability


def test_threshold_moves_the_label_and_not_the_probability() -> None:
    strict = RuleComplexity(lambda text: [], threshold=0.99)
    question = "What is the difference between footrot and scald?"
    assert strict.route(question).label == "simple"
    assert strict.route(question).probability == RuleComplexity(lambda text: []).route(question).probability


def test_without_a_lexicon_capitalised_names_count() -> None:
    assert RuleComplexity().features("Were Scott Derrickson and Ed Wood of the same country?")["entities"] == 1.0


@given(st.text(max_size=80))
def test_any_text_has_a_route(text: str) -> None:
    route = rules.route(text)
    assert 0 <= route.probability <= 1
    assert (route.label == "complex") == (route.probability >= 0.5)
