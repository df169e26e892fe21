"""Tests of lqr.retrieval.continuity."""

from __future__ import annotations

import time

import pytest

from lqr.retrieval.bm25 import BM25Index
from lqr.retrieval.continuity import ANSWERS, BONUS, SENTENCES, Thread, quoted, thread
from lqr.retrieval.tokenizer import tokenize
from lqr.types import Hit, Passage, Turn

FLUSHING = "Ewes below score 2.5 get 0.4 to 0.5 kg of concentrate a day for flushing."
PARASITES = "Barber's pole worm sucks blood and makes the eyelids pale."
TEXTS = {
    "flushing": ("Flushing of ewes", FLUSHING),
    "worms": ("Stomach worms", PARASITES),
    "wilting": ("Wilted sorghum", "Sorghum: after frost; Wait: 7 days; Why: prussic acid falls only slowly."),
}


def passage(name: str) -> Passage:
    title, text = TEXTS[name]
    return Passage(f"{name}-0", name, title, ("In short",), text, 0, 0, len(text))


class Lexical:
    """BM25 over ``TEXTS``, as a retriever in its mode ``bm25``."""

    def __init__(self) -> None:
        self.passages = [passage(name) for name in TEXTS]
        self.index = BM25Index.build([tokenize(p.indexed_text) for p in self.passages])
        self.asked: list[str] = []

    def search(self, query: str, k: int | None = None, *, mode: str = "hybrid") -> list[Hit]:
        assert mode == "bm25"
        self.asked.append(query)
        return [Hit(self.passages[row], score) for row, score in self.index.search(tokenize(query), k or 3)]


def history(*answers: str) -> list[Turn]:
    return [turn for answer in answers for turn in (Turn("user", "How?"), Turn("assistant", answer))]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (f"{FLUSHING} [1]", ["flushing"]),
        (f"No. {PARASITES} [1]\n\n{FLUSHING} [2]", ["worms", "flushing"]),
        ("Wilted sorghum > In short:\n- after frost — Wait: 7 days; Why: prussic acid falls only slowly [1]", ["wilting"]),
        ("The documents here do not answer this question.", []),
        ("Ewes of many breeds are shorn once a year before they lamb in the shed.", []),  # shares a word, quotes nothing
        ("Ewes. Yes.", []),
        ("", []),
    ],
)
def test_the_passage_behind_a_sentence_is_the_one_that_holds_it(answer: str, expected: list[str]) -> None:
    assert [p.document_id for p in quoted(answer, Lexical())] == expected


def test_empty_lines_cost_no_time() -> None:
    began = time.perf_counter()
    assert [p.document_id for p in quoted("\n" * 20_000 + f"- {FLUSHING}", Lexical())] == ["flushing"]
    assert time.perf_counter() - began < 2.0  # seconds; was half a minute when a mark could reach over lines


def test_only_the_beginning_of_an_answer_is_looked_up() -> None:
    lexical = Lexical()
    other = "Nothing of this kind stands anywhere here at all. " * SENTENCES
    assert list(quoted(other + FLUSHING, lexical)) == []
    assert lexical.asked == [other.strip()]  # one search, whatever the number of sentences


def test_the_last_answer_counts_more_than_the_one_before_it() -> None:
    found = thread(history(PARASITES, FLUSHING), "", Lexical())
    assert found == Thread({"flushing": BONUS[0], "worms": BONUS[1]})
    assert thread(history(FLUSHING, FLUSHING), "", Lexical()).bonus == {"flushing": BONUS[0]}


def test_older_answers_are_forgotten() -> None:
    assert thread(history(FLUSHING, *["The documents here do not say."] * ANSWERS), "", Lexical()) == Thread()
    assert thread((), "How? For long?", Lexical()) == Thread(beside="How? For long?")


def test_a_bonus_lifts_only_the_passages_of_its_document() -> None:
    found = Thread({"flushing": 1.0})
    assert found.lifted(0.5, passage("flushing")) == pytest.approx(0.7311, abs=1e-4)  # the logistic of 1
    assert found.lifted(0.5, passage("worms")) == 0.5
    assert Thread().lifted(0.00001, passage("worms")) == 0.00001
