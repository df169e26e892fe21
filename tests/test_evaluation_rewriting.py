"""Figures of ``lqr evaluate rewriting``: what they say of texts whose scores can be counted by hand, and where rows come from."""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqr.conversation import Rewriter
from lqr.corpus.profile import Profile
from lqr.entities import EntityFinder
from lqr.errors import ReadError, SettingsError
from lqr.evaluation import rewriting as measured
from lqr.evaluation.questions import Ask, Item
from lqr.retrieval.layered import Retrieved
from lqr.selection import SAME_TABLE
from lqr.types import Hit, Passage

ROWS = [
    {
        "id": "q1",
        "history": ["Frank Zappa", "Disbandment"],
        "question": "When did he stop?",
        "rewrite": "When did Frank Zappa stop?",
    },
    {
        "id": "q2",
        "history": ["Frank Zappa", "Disbandment", "When did he stop?", "In Paris, in 1969."],
        "question": "Why?",
        "rewrite": "Why did Zappa stop in Paris?",
    },
]


def options(tmp_path: Path, **given: Any) -> argparse.Namespace:
    base = {"dataset": "canard", "collection": None, "data": tmp_path, "split": "test", "limit": None, "seed": 13}
    return argparse.Namespace(**base | {"retriever": "bm25", "questions": None} | given)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "canard").mkdir()
    with gzip.open(tmp_path / "canard" / "test.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in ROWS)
    return tmp_path


def test_scores_counted_by_hand() -> None:
    scores = measured.text_scores("When did Zappa disband?", "When did Frank Zappa's band disband?")
    # zappa, disband of zappa, disband and of frank, zappa, band, disband
    assert scores == {"content_f1": pytest.approx(4 / 6), "rouge1_recall": 0.5, "exact": 0.0}
    assert measured.text_scores("why did frank stop", "Why did Frank stop?")["exact"] == 1.0
    assert measured.text_scores("Why?", "Why?")["content_f1"] == 1.0
    assert measured.text_scores("Why?", "Why did Zappa stop?")["content_f1"] == 0.0


@given(st.lists(st.sampled_from(["zappa", "band", "the", "stop"])), st.lists(st.sampled_from(["zappa", "band", "of", "end"])))
def test_content_f1_against_the_slow_definition(said: list[str], wanted: list[str]) -> None:
    left, right = ([w for w in words if w not in ("the", "of")] for words in (said, wanted))
    pool, common = list(right), 0
    for word in left:
        if word in pool:
            pool.remove(word)
            common += 1
    precision = common / len(left) if left else 0.0
    recall = common / len(right) if right else 0.0
    slow = 2 * precision * recall / (precision + recall) if common else float(not left and not right)
    assert measured.text_scores(" ".join(said), " ".join(wanted))["content_f1"] == pytest.approx(slow)


def test_names_that_were_taken_from_the_history() -> None:
    said = "Frank Zappa In Paris with Moon Unit"
    names = measured.restored(
        measured.capitalised, said, "When did he stop?", "When did Frank Zappa stop?", "Did Moon Unit stop?"
    )
    assert names == {"wanted": ["Frank Zappa"], "held": [], "brought": ["Moon Unit"]}
    # what the question says itself is not restored
    again = measured.restored(measured.capitalised, said, "Did Frank Zappa?", "Did Frank Zappa stop?", "Did Frank Zappa stop?")
    assert again["wanted"] == []


def test_capitals_that_only_begin_a_sentence_are_no_names() -> None:
    assert measured.capitalised("What did Frank Zappa's band do? Later they moved to Paris.") == ["Frank Zappa", "Paris"]
    assert measured.capitalised("Did The Kinks play") == ["The Kinks"]


def test_canard_is_rewritten_and_summed_up(data: Path) -> None:
    result = measured.run(options(data))
    first, second = result["rows"]
    assert first["rewrite"] == "When did Frank Zappa stop?"
    assert first["scores"]["rewrite"]["exact"] == 1.0
    assert second["appended"] == "Frank Zappa Disbandment When did he stop? In Paris, in 1969. Why?"
    summary = result["summary"]["canard"]
    assert summary["n"] == 2
    f1 = [row["scores"]["rewrite"]["content_f1"] for row in result["rows"]]
    assert summary["rewrite"]["content_f1"] == pytest.approx(sum(f1) / 2, abs=1e-4)
    # the history holds every name; the question alone none
    assert summary["appended"]["names_recall"] == 1.0
    assert summary["copied"]["names_recall"] == 0.0
    wanted = Counter(name for row in result["rows"] for name in row["names"]["rewrite"]["wanted"])
    assert wanted == {"Frank Zappa": 1, "Zappa": 1, "Paris": 1}
    assert json.loads(json.dumps(result))["rows"] == result["rows"]


def test_bleu_of_the_humans_own_words_is_full(data: Path) -> None:
    rows = list(measured.canard_rows(ROWS))
    same = [{**row, "rewrite": row["human"]} for row in rows]
    assert measured.summarise(same)["canard"]["rewrite"]["bleu"] == pytest.approx(100.0)
    assert measured.summarise(rows)["canard"]["copied"]["bleu"] < 60


def test_what_cannot_be_measured_is_refused(tmp_path: Path, data: Path) -> None:
    with pytest.raises(SettingsError, match="--data"):
        measured.run(options(tmp_path, data=None))
    with pytest.raises(SettingsError, match="no set 'nothing'"):
        measured.run(options(tmp_path, dataset="nothing"))
    with gzip.open(data / "canard" / "test.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write('{"id": "q", "question": "Why?"}\n')
    with pytest.raises(ReadError, match="row 1"):
        measured.run(options(data))


PASSAGES = {
    "salt": Passage("salt", "d", "Salt", (), "Ewes need 9 g of salt.", 0, 0, 22),
    "lambs": Passage("lambs", "d", "Salt", (), "Lambs need 4 g of salt.", 1, 24, 47),
}


class Searching:
    """Finds the passage about lambs for whoever says so."""

    def search(self, query: str, k: int, *, mode: str) -> list[Hit]:
        assert (k, mode) == (measured.DEPTH, "bm25")
        return [Hit(PASSAGES["lambs" if "lambs" in query else "salt"], 1.0)]


def ask(question: str, standalone: str, *gold: str) -> Ask:
    return Ask(question, standalone, "simple", "answer", tuple((g,) for g in gold), (), ())


def test_the_product_ranks_what_it_keeps_before_what_it_drops() -> None:
    kept = [Hit(PASSAGES["lambs"], 0.9), Hit(PASSAGES["salt"], 0.0, why=SAME_TABLE)]
    read = argparse.Namespace(kept=kept, dropped=[Hit(PASSAGES["salt"], 0.1)])
    pipeline = argparse.Namespace(
        glossed=lambda query, parts: (query, parts),
        profile=argparse.Namespace(glossed=lambda text: text, renamed=lambda text: text),
        layered=argparse.Namespace(retrieve=lambda *asked: Retrieved((asked[0],), ((),), (repr(asked),), 1)),
        read=lambda query, found: read if found.queries == (repr((query, None, (), "")),) else None,
    )
    assert measured.ranked(argparse.Namespace(pipeline=pipeline), "Salt?") == ["lambs", "salt"]  # type: ignore[arg-type]


def test_a_dialogue_counts_gold_passages_of_its_later_turns() -> None:
    profile = replace(Profile(), scope={"animal": (("sheep", "ewe", "ewes"), ("lambs", "lamb"))})
    titles = ("Salt for sheep",)
    application: Any = argparse.Namespace(
        store=argparse.Namespace(all_passages=lambda: list(PASSAGES.values())),
        retriever=Searching(),
        pipeline=argparse.Namespace(rewriter=Rewriter(profile, titles), entities=EntityFinder(profile, titles)),
    )
    turns = (
        ask("How much salt do ewes need?", "How much salt do ewes need?", "salt"),
        ask("and for lambs?", "How much salt do lambs need?", "lambs"),
        ask("how often?", "How often do lambs need salt?", "salt", "lambs"),
    )
    rows = list(measured.dialogue_rows(application, Item("a", "test", "dialogue", turns), "farm", "bm25"))
    assert [row["id"] for row in rows] == ["a-2", "a-3"]
    assert rows[0]["rewrite"] == "How much salt do lambs need?"
    assert rows[0]["found"] == {"rewrite": True, "copied": True, "appended": True, "human": True}
    assert not any(rows[1]["found"].values())  # both passages are needed, one is found
    assert measured.summarise(rows)["farm"]["gold_at_5"] == {
        "n": 2, "rewrite": 0.5, "copied": 0.5, "appended": 0.5, "human": 0.5,
    }  # fmt: skip


def test_a_follow_up_is_searched_as_the_product_does_and_the_other_texts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(measured, "ranked", lambda app, query, mode, **more: searched.append((query, more)) or ["salt"])
    application: Any = argparse.Namespace(
        store=argparse.Namespace(all_passages=lambda: list(PASSAGES.values())),
        pipeline=argparse.Namespace(rewriter=Rewriter(Profile(), ()), entities=EntityFinder(Profile(), ())),
    )
    turns = (
        ask("How much salt do ewes need?", "How much salt do ewes need?", "salt"),
        ask("how often?", "How often do ewes need salt?", "salt"),
    )
    (row,) = measured.dialogue_rows(application, Item("a", "test", "dialogue", turns), "farm")
    assert (row["kind"], row["beside"]) == ("follow_up", "How much salt do ewes need. how often?")
    (_, rewrite), *others = searched
    assert (rewrite["beside"], rewrite["history"][0].content) == (row["beside"], turns[0].question)
    assert [more for _, more in others] == [{}] * 3
