"""Measures the rewriting of follow-ups, the rules' route and their sub-questions on knowledge/agriculture/questions.jsonl.

    python -m benchmarks.conversation [--split dev|test|both] [--canard FILE.jsonl.gz] [--failures] [--out FILE.json]

No model is loaded: the gold passages stand in for the earlier answers, and BM25 alone stands in for the retriever. A
CANARD file holds rows ``history, question, rewrite``, as text; its first two history entries are the article's title
and section. Tune on ``dev`` and on CANARD's training rows, report the rest.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lqr.classifiers.complexity import RuleComplexity
from lqr.conversation import Rewriter
from lqr.corpus.passages import split as split_passages
from lqr.corpus.profile import Profile, load_profile
from lqr.corpus.readers import read_file
from lqr.decompose import decompose
from lqr.entities import EntityFinder
from lqr.retrieval.bm25 import BM25Index
from lqr.retrieval.tokenizer import tokenize
from lqr.settings import ROOT
from lqr.text import content_words
from lqr.types import Passage, Turn

KNOWLEDGE = ROOT / "knowledge" / "agriculture"
ANSWERED = ("standalone", "follow_up", "topic_change")
MATCH = 0.5  # a sub-question matches the human one when their content-word F1 reaches this


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("dev", "test", "both"), default="both")
    parser.add_argument("--canard", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="only the first rows of CANARD")
    parser.add_argument("--failures", action="store_true", help="print every row that falls short")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(argv)
    collection = Collection()
    result: dict[str, Any] = {}
    for split in ("dev", "test") if options.split == "both" else (options.split,):
        rows = list(collection.rows(split))
        result[split] = {"summary": summarise(rows), "rows": rows}
    if options.canard:
        rows = list(canard(options.canard, options.limit))
        result["canard"] = {"summary": rewriting(rows), "rows": rows}
    for name, part in result.items():
        print(f"== {name}")
        for key, value in part["summary"].items():
            print(f"{key:46} {value}")
        if options.failures:
            for row in part["rows"]:
                if failed(row):
                    print(json.dumps({k: v for k, v in row.items() if k != "gold"}, ensure_ascii=False))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


class Collection:
    """The agricultural articles, read and indexed in memory, and the stages under measure."""

    def __init__(self) -> None:
        paths = sorted(KNOWLEDGE.rglob("*.md"))
        self.passages: list[Passage] = []
        self.of_source: dict[str, list[Passage]] = {}
        titles = []
        for path in paths:
            source = path.relative_to(KNOWLEDGE).as_posix()
            for document in read_file(path, source=source):
                titles.append(document.title)
                self.of_source[source.removesuffix(".md")] = list(split_passages(document))
                self.passages += self.of_source[source.removesuffix(".md")]
        self.index = BM25Index.build([tokenize(passage.indexed_text) for passage in self.passages])
        profile = load_profile(KNOWLEDGE)
        self.rewriter = Rewriter(profile, titles)
        self.entities = EntityFinder(profile, titles)
        self.complexity = RuleComplexity(self.entities)

    def rows(self, split: str) -> Iterable[dict[str, Any]]:
        """One row a user turn of the items of ``split``; the other half is never looked at."""
        for line in (KNOWLEDGE / "questions.jsonl").read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            if item["split"] != split:
                continue
            history: list[Turn] = []
            for number, turn in enumerate(item["turns"], start=1):
                yield self._row(item, number, turn, history)
                reply = " ".join(gold["contains"] for gold in turn["gold"])
                history += [Turn("user", turn["question"]), Turn("assistant", reply or "The documents do not say.")]

    def _row(self, item: dict[str, Any], number: int, turn: dict[str, Any], history: list[Turn]) -> dict[str, Any]:
        began = time.thread_time()
        rewrite = self.rewriter.rewrite(turn["question"], history)
        seconds = time.thread_time() - began
        route = self.complexity.route(turn["standalone"])
        parts = decompose(turn["standalone"], entities=self.entities) if turn["route"] == "complex" else None
        gold = [self._holding(mark) for mark in turn["gold"]]
        said = " ".join(t.content for t in history)
        return {
            "id": f"{item['id']}-{number}",
            "turn": number,
            "question": turn["question"],
            "human": turn["standalone"],
            "rewrite": rewrite.standalone,
            "kind": rewrite.kind,
            "note": rewrite.note,
            "sensible": sensible(rewrite.kind, number, turn, said),
            "appended": " ".join([*(t.content for t in history), turn["question"]]),
            "restored": restored(self.entities, said, turn["question"], turn["standalone"], rewrite.standalone),
            "seconds": seconds,
            "gold_route": turn["route"],
            "route": route.label,
            "route_reason": route.reason,
            "human_parts": turn.get("sub_questions", []),
            "parts": [parts.first, parts.second, parts.method] if parts else [],
            "gold": gold,
            "found": {
                "rewrite": self._finds(gold, rewrite.standalone),
                "question": self._finds(gold, turn["question"]),
                "human": self._finds(gold, turn["standalone"]),
                "parts": self._finds(gold, parts.first, parts.second, turn["standalone"]) if parts else None,
            },
        }

    def _holding(self, mark: dict[str, str]) -> list[int]:
        wanted = plain(mark["contains"])
        held = {p.id for p in self.of_source[mark["document"]] if wanted in plain(p.text)}
        return [number for number, passage in enumerate(self.passages) if passage.id in held]

    def _finds(self, gold: list[list[int]], *queries: str) -> bool:
        """Whether BM25 has every gold passage in the first five (of several queries: five each)."""
        found = {row for query in queries for row, _ in self.index.search(tokenize(query), 5)}
        return all(found & set(held) for held in gold)


def canard(path: Path, limit: int) -> Iterable[dict[str, Any]]:
    """The same rewrite fields for CANARD, whose collection has no profile and no titles."""
    rewriter = Rewriter(Profile(), (), history_turns=20)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if limit and number >= limit:
                return
            row = json.loads(line)
            history = [Turn("user" if place % 2 == 0 else "assistant", text) for place, text in enumerate(row["history"])]
            began = time.thread_time()
            rewrite = rewriter.rewrite(row["question"], history)
            said = " ".join(row["history"])
            yield {
                "id": row["id"],
                "turn": len(history) // 2,
                "question": row["question"],
                "human": row["rewrite"],
                "rewrite": rewrite.standalone,
                "kind": rewrite.kind,
                "note": rewrite.note,
                "appended": f"{said} {row['question']}",
                "restored": restored(capitalised, said, row["question"], row["rewrite"], rewrite.standalone),
                "seconds": time.thread_time() - began,
            }


def sensible(kind: str, number: int, turn: dict[str, Any], said: str) -> bool:
    """A first turn stands alone; a later one whose human rewrite takes words from the history is a follow-up."""
    if number == 1:
        return kind == "standalone"
    added = set(content_words(turn["standalone"])) - set(content_words(turn["question"]))
    return kind == "follow_up" if added & set(content_words(said)) else kind in ANSWERED


def f1(predicted: str, gold: str) -> float:
    """F1 of content words, repeats counted."""
    left, right = Counter(content_words(predicted)), Counter(content_words(gold))
    if not left or not right:
        return float(left == right)
    common = (left & right).total()
    return 2 * common / (left.total() + right.total())


def restored(
    entities: Callable[[str], list[str]], said: str, question: str, human: str, rewrite: str
) -> tuple[list[str], list[str]]:
    """The names that the human took from the history, and those of them that the rewrite holds."""
    wanted = [n for n in dict.fromkeys(entities(human)) if n.lower() in said.lower() and n.lower() not in question.lower()]
    return wanted, [name for name in wanted if name.lower() in rewrite.lower()]


def capitalised(text: str) -> list[str]:
    """Runs of capitalised words that do not begin a sentence only because it begins there."""
    found = re.findall(r"(?<![.?!] )(?<!^)\b[A-Z][\w'’-]+(?: (?:of |the |de |van )?[A-Z][\w'’-]+)*", text)
    return [re.sub(r"['’]s?$", "", name) for name in found]


def plain(text: str) -> str:
    """As the snippets of the questions were taken: links as their text, one kind of dash and space."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[\s*_`]+", " ", re.sub(r"[‐-―−]", "-", text)).strip().lower()


def parts_match(row: dict[str, Any]) -> bool:
    return all(f1(mine, human) >= MATCH for mine, human in zip(row["parts"], row["human_parts"], strict=False))


def failed(row: dict[str, Any]) -> bool:
    """Worth reading: a wrong kind, a lost name, a wrong route, a lost passage, poor sub-questions."""
    wanted, held = row["restored"]
    lost = row.get("found", {}).get("human") and not row["found"]["rewrite"]
    return bool(
        not row.get("sensible", True)
        or len(held) < len(wanted)
        or f1(row["rewrite"], row["human"]) < MATCH
        or row.get("route") != row.get("gold_route")
        or lost
        or (row.get("parts") and not parts_match(row))
    )


def rewriting(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The rewrite figures that need nothing but text."""
    later = [row for row in rows if row["turn"] > 1]
    names = [row for row in later if row["restored"][0]]
    wanted = sum(len(row["restored"][0]) for row in names)
    milliseconds = sorted(1000 * row["seconds"] for row in rows)
    return {
        "later turns": len(later),
        "content-word F1, rewrite": mean(f1(r["rewrite"], r["human"]) for r in later),
        "content-word F1, question copied": mean(f1(r["question"], r["human"]) for r in later),
        "content-word F1, history appended": mean(f1(r["appended"], r["human"]) for r in later),
        "names restored": f"{100 * sum(len(r['restored'][1]) for r in names) / max(1, wanted):.1f} % of {wanted}",
        "names brought in, per turn": mean(len(set(words_added(r))) for r in later),
        "milliseconds a call, p50 / p99": f"{statistics.median(milliseconds):.2f} / {milliseconds[int(0.99 * len(rows))]:.2f}",
    }


def words_added(row: dict[str, Any]) -> list[str]:
    """Content words of the rewrite that are neither in the question nor in the human rewrite: false carry-over."""
    known = set(content_words(row["question"])) | set(content_words(row["human"]))
    return [word for word in content_words(row["rewrite"]) if word not in known]


def summarise(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Every figure from the rows alone."""
    later = [row for row in rows if row["turn"] > 1]
    answerable = [row for row in later if row["gold"]]
    alone = [row for row in rows if row["turn"] == 1]
    complex_rows = [row for row in rows if row["parts"]]
    return {
        "turns": len(rows),
        "kind is sensible": share(r["sensible"] for r in rows),
        "kind is sensible, later turns": share(r["sensible"] for r in later),
        **rewriting(rows),
        "gold in BM25's first 5, rewrite": share(r["found"]["rewrite"] for r in answerable),
        "gold in BM25's first 5, question copied": share(r["found"]["question"] for r in answerable),
        "gold in BM25's first 5, human rewrite": share(r["found"]["human"] for r in answerable),
        "route, first turns and single questions": confusion(alone),
        "route, later turns": confusion(later),
        "sub-questions match (both F1 >= 0.5)": share(parts_match(r) for r in complex_rows),
        "sub-questions, mean F1": mean(
            f1(m, h) for r in complex_rows for m, h in zip(r["parts"], r["human_parts"], strict=False)
        ),
        "all gold in BM25's first 5, undivided": share(r["found"]["human"] for r in complex_rows if r["gold"]),
        "all gold in BM25's first 5, q1 + q2 + whole": share(r["found"]["parts"] for r in complex_rows if r["gold"]),
    }


def confusion(rows: Sequence[dict[str, Any]]) -> str:
    """Accuracy and the four cells; the first word is the human's."""
    cells = Counter((row["gold_route"], row["route"]) for row in rows)
    right = cells["simple", "simple"] + cells["complex", "complex"]
    counts = ", ".join(f"{gold}->{said} {count}" for (gold, said), count in sorted(cells.items()))
    return f"{100 * right / max(1, len(rows)):.1f} % ({counts})"


def mean(values: Iterable[float]) -> str:
    found = list(values)
    return f"{statistics.fmean(found):.3f}" if found else "none"


def share(values: Iterable[bool]) -> str:
    found = [bool(value) for value in values]
    return f"{100 * sum(found) / len(found):.1f} % of {len(found)}" if found else "none"


if __name__ == "__main__":
    sys.exit(main())
