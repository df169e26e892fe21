"""Comparisons answered side by side: what is asked of each side, and what follows from the answers."""

from __future__ import annotations

import pytest

from lqr.decompose import decompose
from lqr.evaluation.comparing import Comparison, comparison, date_in
from lqr.evaluation.countries import countries_in

FILMS, AIRPORTS = ("Red Hills", "Blue Vale"), ("Ilam Airport", "Dolpa Airport")


def understood(question: str) -> Comparison | None:
    return comparison(question, decompose(question))


@pytest.mark.parametrize(
    ("question", "options", "ask", "who", "test"),
    [
        ("Which film came out first, Red Hills or Blue Vale?", FILMS, "released", "", "earliest"),
        ("Which film was released more recently, Red Hills or Blue Vale?", FILMS, "released", "", "latest"),
        ("Who is older, Anna Abt or Beat Bosch?", ("Anna Abt", "Beat Bosch"), "born", "", "earliest"),
        (
            "Which film has the director who died later, Red Hills or Blue Vale?",
            FILMS,
            "die",
            "director",
            "latest",
        ),
        (
            "Are Ilam Airport and Dolpa Airport located in the same country?",
            AIRPORTS,
            "country",
            "",
            "same",
        ),
        ("Did Anna Abt and Beat Bosch have the same nationality?", ("Anna Abt", "Beat Bosch"), "nationality", "", "same"),
        # words of a name tell neither what is asked nor of whom
        ("Which band was formed first, Kings of Zug or Red Hills?", ("Kings of Zug", "Red Hills"), "founded", "", "earliest"),
        ("Which film was released first, Death Hill or Born Blue?", ("Death Hill", "Born Blue"), "released", "", "earliest"),
        ("Who died earlier, Anna Last or Beat Bosch?", ("Anna Last", "Beat Bosch"), "die", "", "earliest"),
    ],
)
def test_what_is_compared_and_how_it_is_asked(question: str, options: tuple[str, str], ask: str, who: str, test: str) -> None:
    found = understood(question)
    assert found is not None
    assert (found.options, found.test) == (options, test)
    assert ask in found.ask
    assert (who in found.who) if who else not found.who
    assert "{}" in found.ask


@pytest.mark.parametrize(
    "question",
    [
        "Which lake is deeper, Lake Zug or Lake Thun?",  # no date
        "When was the town where Dario was born founded?",  # no comparison
        "Are Anna Abt and Beat Bosch both painters?",
        "Was the first of them, Anna Abt or Beat Bosch, born later?",  # first and later
        "",
    ],
)
def test_what_it_does_not_understand_is_none(question: str) -> None:
    assert understood(question) is None


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("12 May 1900", (1900, 5, 12)),
        ("May 12, 1900", (1900, 5, 12)),
        ("in September 1987", (1987, 9, 0)),
        ("3 Sept. 1987", (1987, 9, 3)),
        ("Mary, 1920", (1920, 0, 0)),
        ("Marcus made 12 films by 1949", (1949, 0, 0)),
        ("1949", (1949, 0, 0)),
        ("AD 843", (843, 0, 0)),
        ("12 May", None),
        ("a maker of 12 films", None),
        ("", None),
    ],
)
def test_dates(text: str, date: tuple[int, int, int] | None) -> None:
    assert date_in(text) == date


DATES = Comparison(("A", "B"), "When was {} born?", "", "earliest")


@pytest.mark.parametrize(
    ("said", "earliest", "latest"),
    [
        (("1900", "12 May 1899"), "B", "A"),
        (("3 June 1900", "12 May 1900"), "B", "A"),
        (("June 1900", "1900"), "A", "A"),  # the year alone is no later than the month in it
        (("1900", "unknown"), "", ""),
        (("", ""), "", ""),
    ],
)
def test_the_verdict_on_dates(said: tuple[str, str], earliest: str, latest: str) -> None:
    assert DATES.verdict(said) == earliest
    assert Comparison(("A", "B"), "When was {} born?", "", "latest").verdict(said) == latest


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (("Iran", "an Iranian city"), "yes"),
        (("United States", "American"), "yes"),
        (("U.S.", "American"), "yes"),
        (("USA", "United States"), "yes"),
        (("the US", "United States of America"), "yes"),
        (("U. S. A.", "US"), "yes"),
        (("UK", "United Kingdom"), "yes"),
        (("U.K.", "Great Britain"), "yes"),
        (("in the UK", "a British town"), "yes"),
        (("United Kingdom of Great Britain and Northern Ireland", "UK"), "yes"),
        (("United Kingdom of Great Britain and Northern Ireland", "Ireland"), "no"),
        (("UK", "US"), "no"),
        (("United Kingdom", "United States"), "no"),
        (("USSR", "Soviet Union"), "yes"),
        (("USSR", "USA"), "no"),
        (("UAE", "United Arab Emirates"), "yes"),
        (("United Arab Emirates", "Saudi Arabia"), "no"),
        (("Tell us of Peru", "Peruvian"), "yes"),
        (("told us nothing", "US"), "no"),  # a pronoun
        (("Swiss", "Austrian"), "no"),
        (("Austria", "Australian"), "no"),
        (("North Korea", "South Korean"), "no"),
        (("Niger", "Nigeria"), "no"),
        (("Slovakia", "a Slovene village"), "no"),
        (("Irish", "Ireland"), "yes"),
        (("Dutch", "the Netherlands"), "yes"),
        (("a French painter", "France"), "yes"),
        (("Northern Ireland", "British"), "yes"),
        (("Ruritania", "the Kingdom of Ruritania"), "yes"),  # in no table
        (("the Republic of Korea", "the Republic of Malta"), "no"),
        (("", "Swiss"), ""),
    ],
)
def test_the_verdict_on_countries(said: tuple[str, str], answer: str) -> None:
    assert Comparison(("A", "B"), "In which country is {}?", "", "same").verdict(said) == answer


def test_letters_of_other_alphabets_and_peoples() -> None:
    assert countries_in("İran and ıtaly") == frozenset()  # found without regard to case, and no names of the table
    assert countries_in("Côte d’Ivoire") == {"Ivory Coast"}
    assert countries_in("two Swedes, a Finn and New Mexico") == {"Sweden", "Finland", "United States"}
