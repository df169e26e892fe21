"""The questions that people ask about a collection's passages, in their own words: ``asked.jsonl`` in its folder.

Each line names a document (its source, with or without suffix), a snippet of the sentence or table row that answers, and the
question. They are found by, never shown or quoted: a shepherd asks about a ewe that will not get up, the article is titled
"Pregnancy toxaemia" (document expansion by queries, Nogueira et al. 2019, arXiv 1904.08375; there a model writes them).
Knows nothing of indexes.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lqr.errors import ReadError
from lqr.types import Passage

log = logging.getLogger(__name__)

FILE_NAME = "asked.jsonl"


@dataclass(frozen=True, slots=True)
class Asked:
    """A written question and where its answer stands. ``document`` is the source without its suffix."""

    question: str
    document: str
    snippet: str


def read_asked(path: Path) -> list[Asked]:
    """The questions of a JSON-lines file with the keys ``document``, ``contains`` and ``question``.

    Raises:
        ReadError: the file can't be read or a line is malformed.
    """
    asked = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ReadError(f"{path.name}: can't be read ({error}); restore it, or remove it to go without") from error
    for number, line in enumerate(lines, start=1):
        try:
            raw = json.loads(line)
            asked.append(Asked(str(raw["question"]), str(raw["document"]).removesuffix(".md"), str(raw["contains"])))
        except (ValueError, KeyError, TypeError) as error:
            raise ReadError(f"{path.name} line {number}: {error!r}; each line needs document, contains and question") from error
    return asked


def asked_of(asked: Iterable[Asked], passages: Sequence[Passage], sources: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Questions by the id of the passage that answers them; what no longer stands in its document is left out and logged.

    Args:
        sources: document id to source.
    """
    by_source: dict[str, list[tuple[str, str]]] = {}
    for passage in passages:
        source = sources.get(passage.document_id, "").rsplit(".", 1)[0]
        by_source.setdefault(source, []).append((passage.id, plain(passage.text)))
    found: dict[str, list[str]] = {}
    lost = 0
    for item in asked:
        texts = by_source.get(item.document, ())
        home = next((passage_id for passage_id, text in texts if holds(text, item.snippet)), None)
        if home is None:
            lost += 1
        else:
            found.setdefault(home, []).append(item.question)
    if lost:
        log.info("%d questions of %s fit no passage any more", lost, FILE_NAME)
    return {passage_id: tuple(questions) for passage_id, questions in found.items()}


def holds(text: str, snippet: str) -> bool:
    """Whether ``text``, already :func:`plain`, holds ``snippet``.

    Of a snippet of a table's line it must hold every cell: the reader of tables writes them apart, each behind its column's name.
    """
    cells = [cell for cell in map(str.strip, plain(snippet).split("|")) if cell]
    return bool(cells) and all(cell in text for cell in cells)


def plain(text: str) -> str:
    """``text`` for comparison: links without addresses, one kind of dash, single spaces, lower case."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\s+", " ", re.sub(r"[‐-―−]", "-", text)).strip().lower()
