"""Answers knowledge/handbook-sample/questions.jsonl, the invented rule book, and prints what the README claims of it.

    python -m benchmarks.handbook [--split test|dev|all] [--llm composer|...] [--limit N] [--out FILE.json]
    python -m benchmarks.handbook --ingest 2000

Gold rules are ranked as the pipeline ranked them (kept, then dropped). "Without the graph" is the same pipeline with neither
walk nor company, asked again for the items that need several rules. A cited rule counts as verified only if it is held, was
retrieved, supports its claim, and has the claimed type; this is checked again here for every rule shown. Rows go to --out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from lqr.app import Application, build
from lqr.cli.common import progress_bars
from lqr.corpus.ingest import ingest
from lqr.corpus.profile import load_profile
from lqr.corpus.rulebook import references
from lqr.corpus.store import Store
from lqr.evaluation.collection_answers import row
from lqr.evaluation.questions import Item, load
from lqr.evaluation.significance import bootstrap_interval
from lqr.grounding.rules import RuleChecker
from lqr.retrieval.dense import load_embedder
from lqr.retrieval.retriever import Retriever
from lqr.settings import Settings

SEED = 13
NAME = "handbook-sample"
Row = dict[str, Any]


class WithoutGraph:
    """The product's retriever as it is, but for the graph."""

    def __init__(self, inner: Retriever) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def expand(self, *_: object, **__: object) -> list[Any]:
        """Leads nowhere."""
        return []

    def company(self, _: str) -> list[Any]:
        """Brings nobody."""
        return []


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("dev", "test", "all"), default="all")
    parser.add_argument("--llm", default="composer")
    parser.add_argument("--limit", type=int, help="only this many items, drawn with the seed")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--ingest", type=int, metavar="N", help="only time the ingestion of N generated rules")
    options = parser.parse_args(argv)
    if options.ingest:
        return _timed_ingest(options.ingest)
    settings = Settings.load(collection=NAME, llm=options.llm)
    show = progress_bars()
    application = build(settings, progress=show)
    try:
        bare = _without_graph(application)
        file = settings.knowledge / NAME / "questions.jsonl"
        notes = {raw["id"]: raw for raw in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
        items = [item for item in load(file, application.store) if options.split in ("all", item.split)]
        if options.limit and options.limit < len(items):
            items = random.Random(SEED).sample(items, options.limit)
        rows = []
        for number, item in enumerate(items, start=1):
            rows.append(_row(application, item, notes[item.id]))
            if len(notes[item.id]["rules"]) > 1:
                rows[-1]["without_graph"] = _row(bare, item, notes[item.id])["retrieved_rules"]
            show("asked", number, len(items))
        startup = application.startup
    finally:
        application.close()
    figures = table(rows)
    for key, value in figures.items():
        print(f"{key:44} {value}")
    if options.out:
        result = {
            "settings": {"split": options.split, "llm": options.llm, "startup": startup},
            "seed": SEED,
            "date": time.strftime("%Y-%m-%d"),
            "summary": figures,
            "rows": rows,
        }
        options.out.write_text(json.dumps(result, ensure_ascii=False, indent=1, default=str), encoding="utf-8")
    return 0


def _without_graph(application: Application) -> Application:
    bare = cast(Retriever, WithoutGraph(application.retriever))
    pipeline = application.pipeline
    layered = replace(pipeline.layered, retriever=bare)
    assert pipeline.rules is not None  # NAME is a rule book
    rules = replace(pipeline.rules, company=bare.company)
    return replace(application, pipeline=replace(pipeline, retriever=bare, layered=layered, rules=rules))


def _row(application: Application, item: Item, raw: Row) -> Row:
    """The evaluation's row of one question, with what concerns rules."""
    (ask,) = item.turns
    began = time.perf_counter()
    answer = application.pipeline.ask(ask.question)
    seconds = time.perf_counter() - began
    found = row(item, 0, ask, answer, application.profile)
    assert application.profile.rules is not None  # NAME is a rule book
    checked = RuleChecker(application.profile.rules, application.retriever.rule).check(answer.claims, answer.trace.kept)
    numbers = {hit.passage.id: hit.passage.metadata.get("number", "") for hit in (*answer.trace.kept, *answer.trace.dropped)}
    return {
        **found,
        "seconds": round(seconds, 3),
        "task": raw["task"],
        "watch": raw["watch"],
        "rules": raw["rules"],
        "retrieved_rules": [numbers[i] for i in found["retrieved"]],
        "why": {numbers[hit.passage.id]: hit.why for hit in answer.trace.kept if hit.why},
        "citations": [{**asdict(citation), "right": citation.right} for citation in checked.citations],
        "points": [
            {"point": fact[0], "said": said and not answer.refused}
            for fact, said in zip(ask.key_facts, found["facts"], strict=True)
        ],
        "unmarked": [c.text for c in answer.claims if c.support in ("partial", "unsupported") and not c.note],
    }


def table(rows: Sequence[Row]) -> dict[str, str]:
    """Every figure of the report from the rows alone."""
    answerable = [r for r in rows if r["expect"] != "refuse"]
    refuse = [r for r in rows if r["expect"] == "refuse"]
    cross = [r for r in answerable if len(r["rules"]) > 1]
    points = [point["said"] for r in answerable for point in r["points"]]
    aware = [float(r["refused"]) for r in refuse] + [_said(r) for r in answerable]
    figures = {
        "answerable items, gold rule in first 5": _share(r["rules"][0] in r["retrieved_rules"][:5] for r in answerable),
        "answerable items, all gold in first 8": _share(_all_gold(answerable, 8)),
        "several rules needed, all gold in first 8": _share(_all_gold(cross, 8)),
        "  without the graph": _share(set(r["rules"]) <= set(r["without_graph"][:8]) for r in cross),
        "several rules needed, all gold in first 5": _share(_all_gold(cross, 5)),
        "  without the graph ": _share(set(r["rules"]) <= set(r["without_graph"][:5]) for r in cross),
        "cited rules shown, verified": _share(c["right"] for r in rows for c in r["citations"]),
        "claims unsupported and unmarked": _share(flag for r in rows for flag in _unmarked(r)),
        "must refuse, answered": _share(not r["refused"] for r in refuse),
        "answerable, refused": _share(r["refused"] for r in answerable),
        "completeness: key points said": _share(points),
        "completeness, answered items only": _share(p["said"] for r in answerable if not r["refused"] for p in r["points"]),
        "refusal-aware mean (points, right refusals)": _mean(aware),
        "a forbidden point said": _share(bool(r["forbidden"]) for r in answerable),
        "seconds, mean": _mean([r["seconds"] for r in rows]),
    }
    for task in dict.fromkeys(r["task"] for r in answerable):
        figures[f"  {task}: points said"] = _share(p["said"] for r in answerable if r["task"] == task for p in r["points"])
    for watch in sorted({r["watch"] for r in answerable if r["watch"]}):
        some = [r for r in answerable if r["watch"] == watch]
        figures[f"  {watch}: points said"] = _share(p["said"] for r in some for p in r["points"])
        figures[f"  {watch}: all gold in first 8"] = _share(_all_gold(some, 8))
    return figures


def _all_gold(rows: Iterable[Row], k: int) -> Iterable[bool]:
    return (set(r["rules"]) <= set(r["retrieved_rules"][:k]) for r in rows)


def _said(row: Row) -> float:
    return sum(point["said"] for point in row["points"]) / len(row["points"])


def _unmarked(row: Row) -> list[bool]:
    return [claim["text"] in row["unmarked"] for claim in row["claims"]]


def _share(values: Iterable[bool]) -> str:
    found = [float(value) for value in values]
    if not found:
        return "none"
    low, high = bootstrap_interval(found, seed=SEED)
    return f"{100 * sum(found) / len(found):.1f} % of {len(found)} [{100 * low:.1f}, {100 * high:.1f}]"


def _mean(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.3f}, n {len(values)}" if values else "none"


def _timed_ingest(count: int) -> int:
    """Ingest ``count`` generated rules, embeddings and graph included, into a new store."""
    profile = load_profile(Settings.load().knowledge / NAME)
    draw = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        books = Path(folder) / "books"
        books.mkdir()
        for number, text in enumerate(_generated(count, draw)):
            (books / f"book-{number:02d}.md").write_text(text, encoding="utf-8")
        settings = Settings.load(home=Path(folder) / "home")
        embedder = load_embedder(settings)
        began, computed = time.perf_counter(), time.process_time()
        with Store.open(Path(folder) / "store") as store:
            report = ingest([books], store, rules=profile.rules)
            read = time.perf_counter() - began
            retriever = Retriever.open(store, embedder, settings, Path(folder) / "store")
            counted = references(store.all_passages())
            print(f"{report.passages} passages of {count} rules, {len(retriever)} indexed; cross-references: {counted}")
        seconds, cpu = time.perf_counter() - began, time.process_time() - computed
        print(f"read and split {read:.1f} s; in all {seconds:.1f} s, of CPU {cpu:.1f} s; load average {os.getloadavg()[0]:.1f}")
    return 0


def _generated(count: int, draw: random.Random) -> Iterable[str]:
    """Books of 100 rules of 20 to 80 words, one in three with a cross-reference."""
    words = (
        "dealer client deposit licence seed animal account record report notice account label price order manager island".split()
    )
    for book in range((count + 99) // 100):
        code = f"{chr(65 + book // 26)}{chr(65 + book % 26)}X"
        lines = [f"---\ntitle: {code} Generated book\n---\n"]
        for rule in range(min(100, count - 100 * book)):
            if rule % 10 == 0:
                lines.append(f"## {code} {rule // 10 + 1} Section\n")
            text = " ".join(draw.choices(words, k=draw.randint(20, 80)))
            see = f" See {code} {draw.randint(1, 10)}.{draw.randint(1, 10)}R." if rule % 3 == 0 else ""
            lines.append(f"{code} {rule // 10 + 1}.{rule % 10 + 1}R A {text}.{see}\n")
        yield "\n".join(lines)


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    sys.exit(main())
