"""How a collection's rules are numbered, typed, dated and linked: the ``[rules]`` table of its profile, as patterns.

The patterns are data, so that a handbook (``COBS 9.2.1R``), a European act (``Article 12(3)``), a statute (``§ 7``) and a
standard (``8.5.1``) are four settings of one splitter. Each key is shown in ``knowledge/handbook-sample/collection.toml``.
Knows nothing of documents.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_KEYS = {
    "number", "book", "chapter", "part", "reference", "outside", "definition", "local", "type", "types", "binding", "status",
    "since", "asks_past", "aside", "exception", "edges", "entities", "notes",
}  # fmt: skip
EDGES = {"cites": 1.0, "part": 0.8, "replaced": 1.0, "defines": 0.4}  # weights where the profile names none
NOTES = ("unknown", "not_retrieved", "wrong_type", "not_binding")  # besides one for each status


@dataclass(frozen=True, slots=True)
class Status:
    """A rule whose text matches ``pattern`` has this status. ``barred``: it answers only questions about the past."""

    name: str
    pattern: re.Pattern[str]  # its groups ``until`` and ``by`` become metadata
    barred: bool = False


@dataclass(frozen=True, slots=True)
class RuleStyle:
    """Compiled ``[rules]``.

    ``number`` matches at the beginning of a rule; its groups are ``number`` (needed) and ``type``. ``reference`` finds the
    numbers that a text refers to, ``outside`` references to works that are not in the collection.
    """

    number: re.Pattern[str]
    reference: re.Pattern[str]
    part: re.Pattern[str] | None = None
    outside: re.Pattern[str] | None = None
    definition: re.Pattern[str] | None = None
    local: re.Pattern[str] | None = None
    chapter: re.Pattern[str] | None = None
    book: re.Pattern[str] | None = None
    since: re.Pattern[str] | None = None
    asks_past: re.Pattern[str] | None = None
    aside: re.Pattern[str] | None = None  # a sentence that is never quoted
    exception: re.Pattern[str] | None = None  # told with the rule that it belongs to
    type: str = "rule"
    types: Mapping[str, str] = field(default_factory=dict)
    binding: tuple[str, ...] = ()
    status: tuple[Status, ...] = ()
    edges: Mapping[str, float] = field(default_factory=lambda: dict(EDGES))
    entities: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""  # of the table: passages made by other patterns are made again

    def canonical(self, number: str, book: str = "") -> str:
        """One spelling for a number: ``9.2.1 R`` in the book COBS is ``COBS 9.2.1R``; ``Article 12 (3)`` is ``Article 12(3)``."""
        folded = re.sub(r"\s+", " ", number.replace("\u00a0", " ")).strip(" .:")
        folded = re.sub(r"(?<=[\d)])\s+(?=\()", "", folded)
        if self.types:
            folded = re.sub(rf"(?<=\d)\s+(?=(?:{'|'.join(map(re.escape, self.types))})\b)", "", folded)
        return f"{book} {folded}" if book and folded[:1].isdigit() else folded

    def type_of(self, number: str) -> str:
        """The type that a number claims by its letter (``COBS 9.2.4G(1)`` is guidance), or the default."""
        letter = re.search(r"\d([A-Z])(?:\(\w+\))*$", number)
        return self.types.get(letter[1], self.type) if letter else self.type

    def chapter_of(self, number: str) -> str:
        """The chapter that a number belongs to; empty without a pattern."""
        match = self.chapter.match(number) if self.chapter else None
        return match[0] if match else ""


def rule_style(raw: Mapping[str, Any]) -> RuleStyle:
    """Compile a ``[rules]`` table.

    Raises:
        KeyError: a needed key is missing or one is unknown.
        TypeError: a value has the wrong shape, or a pattern is not a regular expression.
    """
    if unknown := set(raw) - _KEYS:
        raise KeyError(f"rules.{sorted(unknown)[0]}")
    number = _pattern("number", raw["number"])
    if "number" not in number.groupindex:
        raise TypeError("rules.number must have a group (?P<number>...)")
    edges = {**EDGES, **{str(k): float(v) for k, v in raw.get("edges", {}).items()}}
    if unknown := set(edges) - set(EDGES):
        raise KeyError(f"rules.edges.{sorted(unknown)[0]}")
    names = ("part", "outside", "definition", "local", "chapter", "book", "since", "asks_past", "aside", "exception")
    status = tuple(
        Status(_text("status.name", entry["name"]), _pattern("status", entry["pattern"]), bool(entry.get("barred", False)))
        for entry in raw.get("status", ())
    )
    notes = {str(k): _text(f"notes.{k}", v) for k, v in raw.get("notes", {}).items()}
    if unknown := set(notes) - {*NOTES, *(entry.name for entry in status)}:
        raise KeyError(f"rules.notes.{sorted(unknown)[0]}")
    return RuleStyle(
        number=number,
        reference=_pattern("reference", raw["reference"]),
        **{name: _pattern(name, raw[name]) for name in names if name in raw},
        type=_text("type", raw.get("type", "rule")),
        types={str(k): _text("types", v) for k, v in raw.get("types", {}).items()},
        binding=tuple(_text("binding", entry) for entry in raw.get("binding", ())),
        status=status,
        edges=edges,
        entities={str(k): _pattern(f"entities.{k}", v) for k, v in raw.get("entities", {}).items()},
        notes=notes,
        fingerprint=hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()[:12],
    )


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"rules.{key} must be text")
    return value


def _pattern(key: str, value: object) -> re.Pattern[str]:
    try:
        return re.compile(_text(key, value))
    except re.error as error:
        raise TypeError(f"rules.{key} is no regular expression: {error}") from error
