from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqr.retrieval.tokenizer import MAX_TERM, STOP_WORDS, tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.5 mg/kg of N at pH 6.5", ["2.5", "mg/kg", "mg", "kg", "n", "ph", "6.5"]),
        ("pH <5.5, 1,500 kg", ["ph", "5.5", "1500", "kg"]),
        ("10kg at 20 °C, 14 %", ["10", "kg", "20", "°c", "14", "%"]),
        ("P₂O₅ and K2O", ["p2o5", "k2o"]),
        ("N-P-K 15-15-15", ["n-p-k", "n", "p", "k", "15", "15", "15"]),
        ("copper-free mixes", ["copper-free", "copper", "free", "mix"]),
        ("The ewe's lambs; ewes' milk", ["ewe", "lamb", "ewe", "milk"]),
        ("vitamin A and vitamin E", ["vitamin", "a", "vitamin", "e"]),
        ("H. contortus", ["h", "contortus"]),
        ("दूध उत्पादन", ["दूध", "उत्पादन"]),
        ("小麦锈病", ["小麦", "麦锈", "锈病"]),
        ("羊", ["羊"]),
        ("rust小麦", ["rust", "小麦"]),
        ("Mérino", ["merino"]),
        ("e\u0301levage", ["elevag"]),
        ("soft\u00adhyphen zero\u200bwidth", ["softhyphen", "zerowidth"]),
        ("$3-$5/ha", ["3", "5", "ha"]),
        ("🐑 !!! …", []),
        ("", []),
        ("what is it", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


def test_inflections_meet() -> None:
    assert tokenize("drenching lambs") == tokenize("drenched lamb")


def test_month_and_well_are_words() -> None:
    assert {"may", "well"}.isdisjoint(STOP_WORDS)


def test_encoded_data_is_cut() -> None:
    assert max(map(len, tokenize("a" * 5000 + " " + "x-" * 3000))) <= MAX_TERM


@given(st.text())
def test_never_raises_and_terms_are_writable(text: str) -> None:
    for term in tokenize(text):
        assert term
        term.encode("utf-8")
        assert not any(c.isspace() for c in term)


def test_lone_surrogate() -> None:
    assert tokenize("sheep \ud800 wool") == ["sheep", "wool"]


def test_threads_agree() -> None:
    text = "grazing stocking rates drenching vaccinations " * 50
    expected, wrong = tokenize(text), []

    def work() -> None:
        for _ in range(20):
            if tokenize(text) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
