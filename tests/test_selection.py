"""Tests of lqr.selection: what the conversation before a follow-up does to the order; the rest is tested through the pipeline."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lqr.blend import Blend
from lqr.corpus.profile import Profile
from lqr.entities import TopicFinder
from lqr.retrieval.continuity import Thread
from lqr.retrieval.layered import Retrieved
from lqr.retrieval.rerank import Reranker
from lqr.selection import OTHER_ANIMAL, OTHER_TOPIC, ROWS_BESIDE, SAME_TABLE, Selection, on_another_thing
from lqr.settings import Settings
from lqr.types import Hit, Passage

HELPS = {"salt": 0.6, "wool": 0.5, "hay": 0.02, "lime": 0.015}


def hit(name: str) -> Hit:
    return Hit(Passage(f"{name}-0", name, name.title(), (), f"On {name}.", 0, 0, 9), 1.0)


def scorer(pairs: Sequence[tuple[str, tuple[str, str]]]) -> list[float]:
    return [HELPS[title.lower()] for _, (title, _) in pairs]


def signals(query: str, ids: Sequence[str]) -> tuple[list[float], list[float], list[float | None]]:
    """Only "Wool then" is near to the passage about wool."""
    near = [1.0 if query == "Wool then" and i == "wool-0" else 0.0 for i in ids]
    return near, near, [None] * len(ids)


def chosen(thread: Thread) -> tuple[list[Hit], list[Hit]]:
    reranker = Reranker(scorer, signals, Blend(unasked={"encoder": 1.0, "cosine": 2.0}))
    found = Retrieved(("And then?",), (tuple(map(hit, HELPS)),), ("And then?",), 1, thread)
    return Selection(Settings(), Profile(), reranker, lambda document: ()).choose("And then?", found)


def test_without_a_conversation_the_model_decides_alone() -> None:
    kept, dropped = chosen(Thread())
    assert [h.passage.title for h in (*kept, *dropped)] == ["Salt", "Wool", "Hay", "Lime"]
    assert not any("ahead" in h.scores for h in (*kept, *dropped))


def test_the_document_of_the_last_answer_is_ahead_but_helps_no_more() -> None:
    kept, dropped = chosen(Thread({"wool": 1.0, "lime": 1.0}))
    assert [h.passage.title for h in (*kept, *dropped)] == ["Wool", "Salt", "Lime", "Hay"]
    assert kept[0].score == pytest.approx(0.5)  # what the gate weighs is as before
    assert kept[0].scores["ahead"] == pytest.approx(0.7311, abs=1e-4)
    assert [h.passage.title for h in kept] == ["Wool", "Salt", "Lime"]  # lifted over the threshold


def test_of_a_long_table_the_rows_nearest_to_the_kept_one_come_along() -> None:
    def row(number: int) -> Passage:
        return Passage(f"hay-{number}", "hay", "Hay", ("Bales",), f"Bale: {number}", number, 0, 9, "table_row")

    table = [row(number) for number in range(3000)]
    found = Retrieved(("q",), ((Hit(table[1500], 1.0), Hit(table[1510], 1.0)),), ("q",), 1)
    reranker = Reranker(lambda pairs: [0.9, 0.8], signals, Blend())
    kept, _ = Selection(Settings(), Profile(), reranker, lambda document: table).choose("q", found)
    beside = [h.passage.position for h in kept if h.why == SAME_TABLE]
    assert len(beside) == ROWS_BESIDE
    assert beside == sorted(beside)
    assert {1499, 1501} <= set(beside) <= set(range(1470, 1530)) - {1500, 1510}
    whole, _ = Selection(Settings(), Profile(), reranker, lambda document: table[1495:1515]).choose("q", found)
    assert len(whole) == 20  # each row once, though two of them were found


def test_what_another_article_says_of_a_disease_goes_behind_its_own() -> None:
    def about(title: str) -> Passage:
        return Passage(title, title, title, (), "Vets add glucose.", 0, 0, 17)

    def apart(profile: Profile, parts: list[str], passages: list[Passage]) -> dict[tuple[int, str], float]:
        return on_another_thing(profile, TopicFinder(profile), parts, passages)

    own, other, asked = about("Pregnancy toxaemia in ewes"), about("Hypocalcaemia"), ["How is pregnancy toxaemia treated?"]
    assert apart(Profile(), asked, [own, other]) == {(0, "Hypocalcaemia"): OTHER_TOPIC}
    assert apart(Profile(), ["Pregnancy toxaemia or hypocalcaemia?"], [own, other]) == {}  # both are named
    assert apart(Profile(), ["How is a ewe that lies down treated?"], [own, other]) == {}  # no article is
    assert apart(Profile(), asked, [other]) == {}  # nor one that was found
    twice = [*asked, "How is pregnancy toxaemia prevented?"]
    assert apart(Profile(), twice, [own, other]) == {(n, "Hypocalcaemia"): OTHER_TOPIC for n in (0, 1)}
    compared = [*asked, "How is hypocalcaemia treated?"]
    assert apart(Profile(), compared, [own, other]) == {}
    chained = [*asked, "How much glucose is given?"]
    assert apart(Profile(), chained, [own, other]) == {}
    farm = Profile(scope={"animal": (("sheep", "ewe"), ("goats",))})
    assert apart(farm, ["What do sheep eat?"], [about("Goats"), about("Hay")]) == {(0, "Goats"): OTHER_ANIMAL}
