"""Kills a process that writes to a store, at random moments, and checks what is left: the store must lose nothing.

    python -m benchmarks.kill [--n 100] [--seed 13] [--folder FOLDER]

Each round a child process ingests, replaces and deletes documents and rebuilds the indexes, saying what it begins and what is
done; it is killed (SIGKILL) at a random moment of an operation of a kind that is drawn first, so that quick deletes are hit as
often as slow ingests, on a slow machine too. Another child then opens what is left and compares: the store is sound, what
was reported done is there, what was reported deleted is not, and every index agrees with the store. Exit code 1 if not.

The children are forked from a process that has loaded everything and run nothing, so a round takes a fraction of a second.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bm25s  # noqa: F401 - so that no child has to
import faiss  # noqa: F401

from lqr.corpus.ingest import ingest
from lqr.corpus.store import Store
from lqr.errors import LqrError
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.retriever import Retriever
from lqr.settings import Settings

SOURCES = 12
KINDS = ("add", "delete", "index")
FIRST = 0.01  # seconds that an operation is taken to last before one of its kind was seen to end
LATE = 1.2  # the kill comes at the latest after this many times what the last operation of its kind took


@dataclass
class Outcome:
    """What the rounds found. ``faults`` is empty if nothing was lost."""

    kills: int = 0
    operations: int = 0
    interrupted: dict[str, int] = field(default_factory=dict)  # what was under way when the kill came -> how often
    faults: list[str] = field(default_factory=list)


def run(folder: Path, rounds: int, seed: int) -> Outcome:
    """``rounds`` kills on one store in ``folder``."""
    draw = random.Random(seed)
    outcome = Outcome()
    believed: dict[str, str | None] = {}  # source -> the word that its document holds, None once deleted
    for number in range(rounds):
        lines = _killed(lambda number=number: _work(folder, seed * 1000 + number, _write), draw)
        doubtful: tuple[str, str | None] | None = None
        for line in lines:
            what, source, word = [*line.split("\t"), "", ""][:3]
            if what == "begin":
                doubtful = (source, word or None)
            else:
                doubtful = None
                outcome.operations += 1
                if source != "index":
                    believed[source] = word or None
        kind = "between" if doubtful is None else _kind(*doubtful)
        outcome.interrupted[kind] = outcome.interrupted.get(kind, 0) + 1
        outcome.kills += 1
        found = json.loads("\n".join(_told(lambda state=dict(believed), open_=doubtful: _check(folder, state, open_))) or "null")
        if found is None:
            outcome.faults.append(f"round {number}: the check itself died")
            continue
        outcome.faults += [f"round {number}: {fault}" for fault in found["faults"]]
        believed = found["words"]
    return outcome


def _work(folder: Path, seed: int, say: Callable[[str], None]) -> None:
    """Change the store for ever; ``word`` is unique to each document's content."""
    draw = random.Random(seed)
    files = folder / "files"
    files.mkdir(exist_ok=True)
    store = Store.open(folder / "store")
    while True:
        source = f"d{draw.randrange(SOURCES)}.md"
        action = draw.random()
        if action < 0.5:
            word = f"w{seed}x{draw.randrange(10**6)}"
            (files / source).write_text(f"# About {word}\n\n" + f"The word {word} is told here. More of it. \n\n" * 20)
            say(f"begin\t{source}\t{word}")
            ingest([files / source], store)
            say(f"done\t{source}\t{word}")
        elif action < 0.75:
            say(f"begin\t{source}\t")
            store.delete_source(source)
            say(f"done\t{source}\t")
        else:
            say("begin\tindex\t")
            _open(store, folder)
            say("done\tindex\t")


def _check(folder: Path, believed: dict[str, str | None], doubtful: tuple[str, str | None] | None) -> None:
    """Print what does not hold, and what the store holds now."""
    faults: list[str] = []
    words: dict[str, str | None] = {}
    try:
        with Store.open(folder / "store") as store:
            store.integrity_check()
            texts = {info.source: store.document(info.id).text for info in store.documents()}
            retriever = _open(store, folder)
            for source in {*believed, *texts}:
                word = believed.get(source)
                allowed = {word} | ({doubtful[1]} if doubtful and doubtful[0] == source else set())
                there = next((w for w in allowed if w and source in texts and w in texts[source]), None)
                if there is None and (source in texts or None not in allowed):
                    faults.append(
                        f"{source}: {'holds another text than' if source in texts else 'lost'} {sorted(map(str, allowed))}"
                    )
                words[source] = there
                for gone in {w for w in allowed if w and w != there}:
                    if any(gone in hit.passage.text for hit in retriever.search(gone, 5, mode="bm25")):
                        faults.append(f"{source}: {gone} is still found")
                if there and not any(there in hit.passage.text for hit in retriever.search(there, 5, mode="bm25")):
                    faults.append(f"{source}: {there} is not found")
            ids = {passage.id for passage in store.all_passages()}
            if ids != set(retriever._snapshot.rows) or retriever.generation != store.generation:
                faults.append("the indexes hold other passages than the store")
            if len(retriever._snapshot.vectors) != len(ids):
                faults.append("the vectors are not as many as the passages")
    except LqrError as error:
        faults.append(f"does not open: {error}")
    _write(json.dumps({"faults": faults, "words": words}))


def _open(store: Store, folder: Path) -> Retriever:
    return Retriever.open(store, HashingEmbedder(64), Settings(profile="cpu", home=folder), folder / "store")


_PIPE = 3  # the descriptor on which a child tells; set up by _fork


def _write(line: str) -> None:
    os.write(_PIPE, line.encode() + b"\n")


def _fork(work: Callable[[], None]) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    try:
        os.dup2(writing, _PIPE)
        work()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(0)


def _kind(source: str, word: str | None) -> str:
    return "index" if source == "index" else "add" if word else "delete"


def _killed(work: Callable[[], None], draw: random.Random) -> list[str]:
    """Run ``work`` in a child, kill it within an operation of a kind that is drawn, and return its whole lines."""
    wanted, passed = draw.choice(KINDS), draw.randrange(3)  # the kind, and how many of it are let through
    child, reading = _fork(work)
    told, lines = b"", 0
    began, lasted = 0.0, dict.fromkeys(KINDS, FIRST)
    while part := os.read(reading, 65536):
        told += part
        new = told.decode().split("\n")[:-1][lines:]
        lines += len(new)
        for line in new:
            what, source, word = [*line.split("\t"), "", ""][:3]
            kind = _kind(source, word or None)
            if what == "begin":
                began = time.perf_counter()
            else:
                lasted[kind] = time.perf_counter() - began
                passed -= kind == wanted
        if new and what == "begin" and kind == wanted and passed <= 0:
            time.sleep(draw.uniform(0, LATE * lasted[kind]))
            break
    os.kill(child, signal.SIGKILL)
    return _rest(child, reading, told)


def _told(work: Callable[[], None]) -> list[str]:
    child, reading = _fork(work)
    return _rest(child, reading, b"")


def _rest(child: int, reading: int, told: bytes) -> list[str]:
    while part := os.read(reading, 65536):
        told += part
    os.close(reading)
    os.waitpid(child, 0)
    return told.decode().split("\n")[:-1]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--folder", type=Path, help="where the store is made; a temporary folder by default")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as temporary:
        began = time.perf_counter()
        outcome = run(options.folder or Path(temporary), options.n, options.seed)
    print(
        f"{outcome.kills} kills, {outcome.operations} operations done, seed {options.seed}, {time.perf_counter() - began:.0f} s"
    )
    print("under way when killed: " + ", ".join(f"{what} {count}" for what, count in sorted(outcome.interrupted.items())))
    print(f"{len(outcome.faults)} faults")
    for fault in outcome.faults:
        print(f"  {fault}")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
