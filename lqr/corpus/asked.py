"""The questions that people ask about a collection's passages, in their own words: ``asked.jsonl`` in its folder.

Each line names a document (its source, with or without suffix), a snippet of the sentence or table row that answers, and the
question. They are found by, never shown or quoted: a shepherd asks about a ewe that will not get up, the article is titled
"Pregnancy toxaemia" (document expansion by queries, Nogueira et al. 2019, arXiv 1904.08375; there a model writes them).
Knows nothing of indexes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lqr.errors import ReadError
from lqr.text import cells_of, holds_all, plain
from lqr.types import Asked, Passage

log = logging.getLogger(__name__)

FILE_NAME = "asked.jsonl"


def read_asked(path: Path) -> list[Asked]:
    """The questions of a JSON-lines file with the keys ``document``, ``contains`` and ``question``.

    Raises:
        ReadError: the file can't be read or a line is malformed.
    """
    asked = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")  # not splitlines(): a question may hold a U+2028
    except (OSError, ValueError) as error:
        raise ReadError(f"{path.name}: can't be read ({error}); restore it, or remove it to go without") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
            asked.append(Asked(str(raw["question"]), str(raw["document"]).removesuffix(".md"), str(raw["contains"])))
        except (ValueError, KeyError, TypeError) as error:
            raise ReadError(f"{path.name} line {number}: {error!r}; each line needs document, contains and question") from error
    return asked


def asked_of(asked: Iterable[Asked], passages: Sequence[Passage], sources: Mapping[str, str]) -> dict[str, tuple[Asked, ...]]:
    """``asked`` by the id of the passage that answers; what no longer stands in its document is left out and logged.

    Args:
        sources: document id to source.
    """
    by_source: dict[str, list[tuple[str, str]]] = {}
    for passage in passages:
        source = sources.get(passage.document_id, "").rsplit(".", 1)[0]
        by_source.setdefault(source, []).append((passage.id, plain(passage.text)))
    found: dict[str, list[Asked]] = {}
    lost = 0
    for item in asked:
        texts, cells = by_source.get(item.document, ()), cells_of(item.snippet)
        home = next((passage_id for passage_id, text in texts if holds_all(text, cells)), None)
        if home is None:
            lost += 1
        else:
            found.setdefault(home, []).append(item)
    if lost:
        log.info("%d questions of %s fit no passage any more", lost, FILE_NAME)
    return {passage_id: tuple(items) for passage_id, items in found.items()}
