"""Reads a collection's own questions (``questions.jsonl``) and finds their gold passages in the store.

Gold is written as (document, snippet): a person can check it, and it outlives a change of passage boundaries. The ids
of the passages that hold the snippet are looked up when the file is read. A mark may carry ``also``: other passages that
were judged to hold the same fact (pooling, Voorhees and Harman 2005, chapter 2). Knows nothing of how questions are answered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from lqr.corpus.store import Store
from lqr.errors import ReadError
from lqr.text import plain
from lqr.types import Passage, RouteLabel

Kind = Literal["simple", "two_step", "dialogue", "refuse"]
Expect = Literal["answer", "refuse", "correct"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One user turn. ``gold`` holds, for each needed fact, the ids of the passages that hold it; ``marked`` those marked first.

    ``key_facts`` holds, for each fact, the spellings of which one must stand in the answer.
    """

    question: str
    standalone: str
    route: RouteLabel
    expect: Expect
    gold: tuple[tuple[str, ...], ...]
    key_facts: tuple[tuple[str, ...], ...]
    must_not: tuple[str, ...]
    sub_questions: tuple[str, ...] = ()
    marked: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """A question or a dialogue. ``split`` is ``dev`` (tuned on) or ``test`` (reported)."""

    id: str
    split: str
    kind: Kind
    turns: tuple[Ask, ...]


def load(path: Path, store: Store) -> list[Item]:
    """The items of ``path`` with their gold passages.

    Raises:
        ReadError: the file can't be read, a line is malformed, an id comes twice, or a snippet is in no passage of its document.
    """
    by_source: dict[str, list[Passage]] = {}
    sources = {info.id: info.source for info in store.documents()}
    for passage in store.all_passages():
        by_source.setdefault(re.sub(r"\.md$", "", sources[passage.document_id]), []).append(passage)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")  # not splitlines(): a question may hold a U+2028
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(f"{path.name}: {error}") from error
    items: dict[str, Item] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
            turns = tuple(_ask(turn, by_source, f"{path.name} line {number}") for turn in raw["turns"])
            item = Item(raw["id"], _one_of(raw["split"], ("dev", "test")), _one_of(raw["kind"], get_args(Kind)), turns)
            if not turns or item.id in items:
                raise ValueError("no turns" if not turns else f"the id {item.id} comes twice")
            items[item.id] = item
        except (ValueError, KeyError, TypeError) as error:
            raise ReadError(f"{path.name} line {number}: {error!r}") from error
    return list(items.values())


def _one_of(value: Any, known: tuple[Any, ...]) -> Any:
    if value not in known:
        raise ValueError(f"{value!r} is none of {', '.join(known)}")
    return value


def _ask(turn: dict[str, Any], by_source: dict[str, list[Passage]], where: str) -> Ask:
    marked, gold = [], []
    for mark in turn["gold"]:
        places = []
        for place in (mark, *mark.get("also", ())):
            held = _holding(place["contains"], by_source.get(place["document"], ()))
            if not held:
                raise ReadError(
                    f"{where}: no passage of {place['document']} holds {place['contains']!r}; correct the question or the article"
                )
            places.append(held)
        marked.append(places[0])
        gold.append(tuple(dict.fromkeys(passage for held in places for passage in held)))
    return Ask(
        turn["question"],
        turn["standalone"],
        _one_of(turn["route"], get_args(RouteLabel)),
        _one_of(turn["expect"], get_args(Expect)),
        tuple(gold),
        tuple(tuple(fact) for fact in turn["key_facts"]),
        tuple(turn["must_not"]),
        tuple(turn.get("sub_questions", ())),
        tuple(marked),
    )


def _holding(snippet: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    wanted = plain(snippet)
    return tuple(p.id for p in passages if wanted and wanted in plain(p.text))


def facts_found(ask: Ask, text: str) -> list[bool]:
    """For each key fact, whether one of its spellings stands in ``text``."""
    told = plain(text)
    return [any(_stands_in(spelling, told) for spelling in fact) for fact in ask.key_facts]


def forbidden_found(ask: Ask, text: str) -> list[str]:
    """The ``must_not`` strings that stand in ``text``."""
    told = plain(text)
    return [bad for bad in ask.must_not if _stands_in(bad, told)]


def _stands_in(spelling: str, told: str) -> bool:
    """Whether ``told`` holds ``spelling``, and not as a part of a longer number ("5 kg" is not in "15 kg" nor "1.5 kg")."""
    wanted = re.escape(plain(spelling))
    before = r"(?<!\d)(?<!\d[.,])" if wanted[:1].isdigit() else ""
    after = r"(?![.,]?\d)" if wanted[-1:].isdigit() else ""
    return re.search(before + wanted + after, told) is not None
