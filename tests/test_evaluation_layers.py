"""The two layers over a small corpus: the product's stages without trained models, and a generator that answers from a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from lqr.evaluation.collections import open_corpus
from lqr.evaluation.datasets import CorpusPassage
from lqr.evaluation.generators import Generated
from lqr.evaluation.layers import TOGETHER, _for_a_name, holds, layered
from lqr.evaluation.stages import Clock, Outcome, Stages
from lqr.retrieval.fake import HashingEmbedder
from lqr.settings import Settings
from lqr.types import Passage, Route

TOWNS = ("Arbon", "Basel", "Chur", "Davos", "Egg", "Flums", "Gais", "Horn")
PEOPLE = ("Anna Abt", "Beat Bosch", "Carla Cott", "Dario Danuser", "Eva Egli")
CORPUS = (
    *(CorpusPassage(f"town-{i}", name, f"{name} is a town. It was founded in {1200 + i}.") for i, name in enumerate(TOWNS)),
    *(
        CorpusPassage(f"person-{i}", n, f"{n} is a painter who was born in {TOWNS[i]} in {1950 - i}.")
        for i, n in enumerate(PEOPLE)
    ),
)
BRIDGE = "What is the age of the town where Dario Danuser was born?"
COMPARED = "Who was born first, Anna Abt or Carla Cott?"
SIMPLE, COMPLEX = Route("simple", 0.1, "given"), Route("complex", 0.9, "given")


class Table:
    """Answers a question that holds one of the table's words; notes what it was asked and shown."""

    name = "table"

    def __init__(self, table: dict[str, Generated]) -> None:
        self.table, self.asked = table, []  # type: ignore[var-annotated]

    def answer(self, question: str, passages: Sequence[Passage]) -> Generated:
        self.asked.append((question, tuple(passage.id for passage in passages)))
        return next((made for word, made in self.table.items() if word in question), Generated("?", score=0.0))

    def think(self, question: str, passages: Sequence[Passage], thoughts: Sequence[str]) -> Generated:
        raise AssertionError("the layers put questions, they ask for no thought")

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    home = tmp_path_factory.mktemp("home")
    settings = Settings(profile="cpu", home=home, models=home / "none", knowledge=home / "none", top_k=4)
    with open_corpus(CORPUS, settings, embedder=HashingEmbedder(256)) as opened:
        yield opened


def run(application: Any, question: str, route: Route, table: dict[str, Generated], **changes: Any) -> tuple[Outcome, Table]:
    generator = Table(table)
    return layered(question, route, Stages(application, generator, k=4, **changes), Clock()), generator


def test_a_simple_question_is_one_search_and_one_reading(application: Any) -> None:
    outcome, generator = run(application, "In what year was Davos founded?", SIMPLE, {"Davos": Generated("1203")})
    assert (outcome.steps, outcome.parts, len(generator.asked)) == (1, None, 1)
    assert outcome.read[0].id == "town-3"
    assert len(outcome.read) <= 4
    assert outcome.answer is not None
    assert outcome.answer.text == "1203"
    assert outcome.retrieved[: len(outcome.read)] == tuple(passage.id for passage in outcome.read)


def test_the_answer_to_q1_stands_in_q2(application: Any) -> None:
    table = {"Where Dario": Generated("Davos", passage_id="person-3", score=5.0)}
    outcome, generator = run(application, BRIDGE, COMPLEX, table)
    first, second, whole = (question for question, _ in generator.asked)
    assert "Dario Danuser" in first
    assert "Davos" in second
    assert "#1" not in second
    assert "Dario" not in second
    assert whole == BRIDGE  # the chain does not hold, so the question is read as a whole
    assert outcome.queries == (BRIDGE, first, second)
    assert outcome.parts is not None
    assert outcome.parts.second == second
    assert outcome.thoughts[0].text == "Davos"
    assert {"person-3", "town-3"} <= set(outcome.retrieved[:4])
    assert generator.asked[-1][1] == tuple(passage.id for passage in outcome.read)
    assert len(outcome.read) <= TOGETHER
    assert outcome.answer is not None
    assert outcome.answer.text == "?"


@pytest.mark.parametrize(("changes", "searches"), [({}, 4), ({"graph": False}, 3), ({"mode": "graph"}, 3)])
def test_every_search_is_a_step_that_of_the_graph_too(
    application: Any, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], searches: int
) -> None:
    asked: list[str] = []
    search = type(application.retriever).search

    def counted(self: Any, query: str, *arguments: Any, **settings: Any) -> Any:
        asked.append(query)
        return search(self, query, *arguments, **settings)

    monkeypatch.setattr(type(application.retriever), "search", counted)
    outcome, _ = run(application, BRIDGE, COMPLEX, {}, **changes)
    assert outcome.steps == len(asked) == searches


def test_where_the_chain_holds_the_second_answer_is_the_answer(application: Any) -> None:
    table = {
        "Dario": Generated("Davos", passage_id="person-3", score=5.0),
        "Davos": Generated("1203", passage_id="town-3", score=1.0),
    }
    outcome, generator = run(application, BRIDGE, COMPLEX, table)
    assert outcome.answer is not None
    assert outcome.answer.text == "1203"
    assert len(generator.asked) == 2
    assert outcome.retrieved[:2] == ("person-3", "town-3")
    assert len(set(outcome.retrieved)) == len(outcome.retrieved)


def test_a_person_is_asked_for_by_name() -> None:
    assert _for_a_name("What is the director of film Up?") == "Who is the director of film Up?"
    assert _for_a_name("What is Anna Abt's father?") == "Who is Anna Abt's father?"
    assert _for_a_name("What is the capital of Peru?") == "What is the capital of Peru?"


def test_each_side_of_a_comparison_is_asked_and_the_dates_decide(application: Any) -> None:
    table = {"Anna": Generated("1950", passage_id="person-0"), "Carla": Generated("May 1948", passage_id="person-2")}
    outcome, generator = run(application, COMPARED, COMPLEX, table)
    assert [question for question, _ in generator.asked] == ["When was Anna Abt born?", "When was Carla Cott born?"]
    assert outcome.answer is not None
    assert (outcome.answer.text, outcome.answer.passage_id) == ("Carla Cott", "person-2")
    assert outcome.steps == 3
    assert {"person-0", "person-2"} <= {passage.id for passage in outcome.read} <= set(outcome.retrieved)


def test_without_the_comparison_the_question_is_read_as_any_other(application: Any) -> None:
    table = {"Anna": Generated("1950", passage_id="person-0"), "Carla": Generated("May 1948", passage_id="person-2")}
    outcome, generator = run(application, COMPARED, COMPLEX, table, comparison=False)
    assert COMPARED in [question for question, _ in generator.asked]
    assert outcome.answer is not None
    assert outcome.answer.text != "Carla Cott"


def test_without_a_date_the_question_is_read_as_any_other(application: Any) -> None:
    outcome, generator = run(
        application, COMPARED, COMPLEX, {"first": Generated("Anna Abt", score=1.0), "Anna": Generated("no date")}
    )
    assert (COMPARED, tuple(passage.id for passage in outcome.read)) in generator.asked
    assert outcome.answer is not None
    assert outcome.answer.text == "Anna Abt"


def test_without_a_generator_the_best_title_stands_for_the_answer(application: Any) -> None:
    for question in (BRIDGE, COMPARED):
        outcome = layered(question, COMPLEX, Stages(application, None, k=4, answering=False), Clock())
        assert outcome.answer is None
        assert outcome.read
        assert all("#1" not in query for query in outcome.queries)


HOME = Passage("p", "d", "Davos", (), "It was founded in 1203.", 0, 0, 10)
ONE = Generated("Davos", score=3.0)


@pytest.mark.parametrize(
    ("two", "one", "expected"),
    [
        (Generated("1203", passage_id="p", score=0.1), ONE, True),
        (Generated("1203", passage_id="p", score=-0.1), ONE, False),  # likelier not there
        (Generated("1203", passage_id="p", score=9.0), Generated("Basel"), False),  # a passage on another town
        (Generated("1203", passage_id="q", score=9.0), ONE, False),  # an unknown passage
        (Generated("", passage_id="p", score=9.0), ONE, False),
        (Generated("davos", passage_id="p", score=9.0), ONE, False),  # the first answer again
        (Generated("the town Davos", passage_id="p", score=9.0), ONE, False),
        (Generated("1203", passage_id="p"), ONE, False),  # a generator without scores
    ],
)
def test_when_a_chain_holds(two: Generated, one: Generated, expected: bool) -> None:
    assert holds(one, two, [HOME]) is expected
