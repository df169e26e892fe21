"""Tests of lqr.evaluation.questions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lqr.corpus.ingest import ingest
from lqr.corpus.store import Store
from lqr.errors import ReadError
from lqr.evaluation.questions import Ask, facts_found, forbidden_found, load

SALT = """---
title: Salt for sheep
---

Sheep need **9 g** of salt – no more – a [day](other.md).

## Rates

| Stage | Salt (g/day) |
|---|---|
| Dry ewes | 7 to 9 |
| Lambs | 3 to 5 |

## Again

Sheep need water. Lambs drink 3 to 5 litres.
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("knowledge")
    (folder / "feed").mkdir()
    (folder / "feed" / "salt.md").write_text(SALT, encoding="utf-8")
    with Store.open(tmp_path_factory.mktemp("store")) as opened:
        ingest([folder], opened)
        yield opened


def turn(**more: Any) -> dict[str, Any]:
    return {
        "question": "how much salt?",
        "standalone": "How much salt do sheep need?",
        "route": "simple",
        "gold": [{"document": "feed/salt", "contains": "need 9 g of salt"}],
        "key_facts": [["9 g", "nine grams"]],
        "must_not": [],
        "expect": "answer",
    } | more


def item(**more: Any) -> dict[str, Any]:
    return {"id": "a-1", "split": "dev", "kind": "simple", "turns": [turn()]} | more


def loaded(tmp_path: Path, store: Store, *lines: dict[str, Any] | str) -> list[Any]:
    path = tmp_path / "questions.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return load(path, store)


def test_an_item_with_its_gold_passage(tmp_path: Path, store: Store) -> None:
    (found,) = loaded(tmp_path, store, item())
    assert (found.id, found.split, found.kind) == ("a-1", "dev", "simple")
    (ids,) = found.turns[0].gold
    assert [store.passage(i).text.startswith("Sheep need 9 g") for i in ids] == [True]
    assert found.turns[0].key_facts == (("9 g", "nine grams"),)


def test_passages_judged_to_hold_the_same_fact_count_too(tmp_path: Path, store: Store) -> None:
    also = [{"document": "feed/salt", "contains": "7 to 9"}]
    (found,) = loaded(
        tmp_path, store, item(turns=[turn(gold=[{"document": "feed/salt", "contains": "9 g of salt", "also": also}])])
    )
    (marked,), (held,) = found.turns[0].marked, found.turns[0].gold
    assert set(marked) < set(held)
    lost = {"document": "feed/salt", "contains": "9 g", "also": [{"document": "feed/salt", "contains": "pepper"}]}
    with pytest.raises(ReadError, match="pepper"):
        loaded(tmp_path, store, item(turns=[turn(gold=[lost])]))


@pytest.mark.parametrize(
    ("snippet", "count"),
    [
        ("NEED 9 G OF SALT", 1),
        ("of salt - no more", 1),  # an en dash there
        ("a day", 1),  # a link there
        ("7 to 9", 1),  # in a table row
        ("3 to 5", 2),  # in a row and in prose: both count
    ],
)
def test_a_snippet_is_found_as_a_person_reads_it(tmp_path: Path, store: Store, snippet: str, count: int) -> None:
    gold = [{"document": "feed/salt", "contains": snippet}]
    (found,) = loaded(tmp_path, store, item(turns=[turn(gold=gold)]))
    assert len(found.turns[0].gold[0]) == count


def test_blank_lines_and_odd_separators_inside_a_question(tmp_path: Path, store: Store) -> None:
    odd = item(id="a-2", turns=[turn(question="how\u2028much\x85salt?")])
    found = loaded(tmp_path, store, item(), "", "  ", odd)
    assert [i.id for i in found] == ["a-1", "a-2"]
    assert found[1].turns[0].question == "how\u2028much\x85salt?"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("no json", "line 1"),
        ("[]", "line 1"),
        (item(turns=[]), "no turns"),
        (item(kind="hard"), "hard"),
        (item(split="train"), "train"),
        (item(turns=[turn(route="long")]), "long"),
        (item(turns=[turn(expect="yes")]), "yes"),
        ({"id": "a-1"}, "turns"),
        (item(turns=[{"question": "?"}]), "gold"),
        (item(turns=[turn(gold=[{"document": "feed/salt", "contains": "pepper"}])]), "pepper"),
        (item(turns=[turn(gold=[{"document": "feed/none", "contains": "salt"}])]), "feed/none"),
        (item(turns=[turn(gold=[{"document": "feed/salt", "contains": " "}])]), "feed/salt"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, store: Store, line: dict[str, Any] | str, told: str) -> None:
    with pytest.raises(ReadError, match=rf"questions\.jsonl line 1.*{told}" if told != "line 1" else told):
        loaded(tmp_path, store, line)


def test_an_id_may_come_once(tmp_path: Path, store: Store) -> None:
    with pytest.raises(ReadError, match=r"line 2.*a-1"):
        loaded(tmp_path, store, item(), item())


def test_an_absent_file_is_named(tmp_path: Path, store: Store) -> None:
    with pytest.raises(ReadError, match=r"none\.jsonl"):
        load(tmp_path / "none.jsonl", store)


def ask(facts: list[list[str]], must_not: list[str]) -> Ask:
    return Ask("q", "q", "simple", "answer", (), tuple(map(tuple, facts)), tuple(must_not))


@pytest.mark.parametrize(
    ("fact", "text", "found"),
    [
        (["9 g", "nine grams"], "It needs NINE  grams.", True),
        (["9 g"], "It needs **9 g** [1].", True),
        (["15–25"], "from 15-25 days", True),
        (["5 kg"], "15 kg", False),
        (["5 kg"], "1.5 kg", False),
        (["5 kg"], "1,5 kg", False),
        (["10 to 15"], "10 to 150", False),
        (["10 to 15"], "10 to 15.5", False),
        (["10 to 15"], "10 to 15.", True),
        (["10 to 15"], "10 to 15, no more", True),
        (["20 %"], "20 % of it", True),
        (["iron"], "environment", True),  # a part of a word counts: spellings are often stems
        (["a"], "", False),
    ],
)
def test_a_fact_is_found_whole(fact: list[str], text: str, found: bool) -> None:
    assert facts_found(ask([fact], []), text) == [found]
    assert bool(forbidden_found(ask([], fact), text)) is found


def test_each_fact_is_told_apart() -> None:
    assert facts_found(ask([["one"], ["two"], ["drei", "three"]], []), "one and three") == [True, False, True]
    assert forbidden_found(ask([], ["yes", "15 kg"]), "No: 115 kg") == []
    assert forbidden_found(ask([], ["yes", "15 kg"]), "Yes, 15 kg") == ["yes", "15 kg"]
