"""A collection's profile (``collection.toml``): its name, examples, refusal texts and the kinds of thing in its scope.

One pipeline serves any domain because everything that is about farming, and not about question answering, stands in
this file. A folder without one gets the empty profile. Knows nothing of passages or models.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lqr.corpus.lexicon import Glossary, Things, has, lexicon
from lqr.corpus.rulebook_style import RuleStyle, rule_style
from lqr.errors import SettingsError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = "collection.toml"
_KEYS = {"title", "description", "language", "examples", "prompt", "generator", "router", "refusal", "not_held", "scope",
         "classes", "elements", "topics", "rules", "synonyms"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class NotHeld:
    """A wish that no document of this collection can meet (``words``), and the sentence that says so."""

    words: tuple[str, ...]
    unless: tuple[str, ...]
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Element:
    """Something that an answer may have to say. ``by`` says how it shows: quantity, time, cited, scope or words."""

    name: str
    by: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of question, told by ``words``, and the elements that its answer needs."""

    name: str
    words: tuple[str, ...]
    required: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """A scope term found in a text. ``thing`` is its first name, ``kind`` its group (``animal``, ``crop``...)."""

    kind: str
    thing: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Profile:
    """See ``knowledge/agriculture/collection.toml`` for the meaning of each field."""

    name: str = ""
    title: str = ""
    description: str = ""
    language: str = "en"
    examples: tuple[str, ...] = ()
    refusal: Mapping[str, str] = field(default_factory=dict)
    not_held: tuple[NotHeld, ...] = ()
    scope: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    classes: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    elements: tuple[Element, ...] = ()
    topics: tuple[Topic, ...] = ()
    prompt: str = ""  # the instruction to a language model, in place of the built-in one
    generator: str = ""  # who writes where LQR_LLM names nobody
    router: str = ""  # "rules": they decide what is complex, even where a classifier was trained
    rules: RuleStyle | None = None  # how its rules are numbered, if it is a rule book
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the documents' name: what people say instead

    @cached_property
    def _lexicons(self) -> dict[str, tuple[re.Pattern[str] | None, Things]]:
        return {"scope": lexicon(self.scope), "classes": lexicon(self.classes)}

    def mentions(self, text: str, *, classes: bool = False) -> list[Mention]:
        """Scope terms in ``text`` (or class terms, with ``classes=True``), longest first at each place, in order."""
        pattern, things = self._lexicons["classes" if classes else "scope"]
        if pattern is None:
            return []
        found = []
        for match in pattern.finditer(text):
            # IGNORECASE also takes İ and ı for i and ſ for s, which lower() does not: such a word is no name of ours
            for kind, thing in things.get(match.group().lower(), ()):
                found.append(Mention(kind, thing, match.group(), match.start(), match.end()))
        return found

    def things(self, text: str) -> dict[str, set[str]]:
        """Scope terms of ``text`` by kind: ``{"animal": {"sheep"}}``."""
        result: dict[str, set[str]] = {}
        for mention in self.mentions(text):
            result.setdefault(mention.kind, set()).add(mention.thing)
        return result

    @cached_property
    def _glossary(self) -> Glossary:
        # a wish that can't be met stays as it was said: of "多少钱" (what price) "多少" alone is how much
        return Glossary.of(self.synonyms, [word for entry in self.not_held for word in (*entry.words, *entry.unless)])

    def glossed(self, question: str) -> str:
        """``question`` with the documents' own name in brackets behind each word of the people that it uses.

        "cocci in lambs" as "cocci (coccidiosis) in lambs"; a name that the question has already is not said again.
        """
        return self._glossary.glossed(question)

    def renamed(self, question: str) -> str:
        """``question``, glossed or not, with the documents' own names in place of the people's."""
        return self._glossary.renamed(question)

    def said(self, text: str) -> list[tuple[int, int, str]]:
        """Where ``text`` says something else for a name of the documents: start, end and that name, in order."""
        return self._glossary.said(text)

    def cannot_hold(self, question: str, language: str = "en") -> str | None:
        """The sentence for a wish that the documents can't meet (prices, forecasts...), or None."""
        lowered = question.lower()
        for entry in self.not_held:
            if any(has(lowered, word) for word in entry.words) and not any(has(lowered, word) for word in entry.unless):
                return entry.texts.get(language) or entry.texts.get("en")
        return None

    def text(self, key: str, language: str = "en") -> str:
        """A refusal text in ``language``, else in English, else the built-in one."""
        if key == "refusal":
            return self.refusal.get(language) or self.refusal.get("en") or _BUILT_IN["refusal"]
        return self.refusal.get(f"{key}_{language}") or self.refusal.get(f"{key}_en") or _BUILT_IN[key]


_BUILT_IN = {
    "refusal": "The documents here do not answer this question.",
    "near": "What they do hold nearby:",
    "rephrase": "You could ask about one of these, or put the question in other words.",
    "name": "No passage that was found speaks of “{name}”.",
}


def load_profile(folder: Path) -> Profile:
    """Read ``folder/collection.toml``; an absent file is an empty profile named after the folder.

    Raises:
        SettingsError: the file is not TOML, or a key is unknown or of the wrong shape, or a wish has no English sentence.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return Profile(name=folder.name, title=folder.name)
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path.name} of collection {folder.name}: {error}") from error
    unknown = set(raw) - _KEYS
    if unknown:
        raise SettingsError(
            f"{path.name} of collection {folder.name}: unknown {', '.join(sorted(unknown))}; known are {', '.join(sorted(_KEYS))}"
        )
    try:
        for key in ("refusal", "scope", "classes", "synonyms"):
            if not isinstance(raw.get(key, {}), dict):
                raise TypeError(f"{key} must be a table")
        return Profile(
            name=folder.name,
            title=_string("title", raw.get("title", folder.name)),
            description=_string("description", raw.get("description", "")),
            language=_string("language", raw.get("language", "en")),
            examples=_strings("examples", raw.get("examples", [])),
            refusal={key: _string(f"refusal.{key}", value) for key, value in raw.get("refusal", {}).items()},
            not_held=tuple(_not_held(entry) for entry in raw.get("not_held", ())),
            scope=_groups(raw.get("scope", {})),
            classes=_groups(raw.get("classes", {})),
            elements=(elements := tuple(_element(name, entry) for name, entry in raw.get("elements", {}).items())),
            topics=tuple(_topic(entry, {element.name for element in elements}) for entry in raw.get("topics", ())),
            prompt=_string("prompt", raw.get("prompt", "")),
            generator=_generator(raw.get("generator", "")),
            router=_router(raw.get("router", "")),
            rules=rule_style(raw["rules"]) if "rules" in raw else None,
            synonyms=_synonyms(raw.get("synonyms", {})),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SettingsError(
            f"{path.name} of collection {folder.name}: {error!r}; see knowledge/agriculture/{FILE_NAME} for the layout"
        ) from error


def _not_held(entry: Mapping[str, Any]) -> NotHeld:
    texts = {k: _string(k, v) for k, v in entry.items() if k not in ("words", "unless")}
    if "en" not in texts:
        raise KeyError("en")  # the sentence for every language that has none of its own
    words, unless = (_strings(key, entry.get(key, [])) for key in ("words", "unless"))
    if not words:
        raise KeyError("words")
    return NotHeld(tuple(map(str.lower, words)), tuple(map(str.lower, unless)), texts)


def _element(name: str, entry: Mapping[str, Any]) -> Element:
    by = _string("by", entry["by"])
    if by not in ("quantity", "time", "cited", "scope", "words"):
        raise TypeError(f"elements.{name}.by must be quantity, time, cited, scope or words")
    return Element(name, by, _strings("words", entry.get("words", [])))


def _topic(entry: Mapping[str, Any], known: set[str]) -> Topic:
    required = _strings("required", entry["required"])
    if missing := set(required) - known:
        raise KeyError(f"elements.{sorted(missing)[0]}")
    return Topic(_string("name", entry["name"]), _strings("words", entry["words"]), required)


def _generator(value: Any) -> str:
    # A collection may come from a stranger: it must not be able to send questions to an address, or to load a file.
    if value not in ("", "composer", "smollm2"):
        raise ValueError(f'generator is {value!r}; it may be "composer" or "smollm2"; any other writer is named by LQR_LLM')
    return str(value)


def _router(value: Any) -> str:
    if value not in ("", "rules"):
        raise ValueError(f'router is {value!r}; it may be "rules", or left out')
    return str(value)


def _string(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{key} must be text")
    return value


def _strings(key: str, value: object) -> tuple[str, ...]:
    # a bare string would be taken for a list of its letters
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise TypeError(f"{key} must be a list of texts")
    return tuple(value)


def _groups(raw: Mapping[str, Any]) -> dict[str, tuple[tuple[str, ...], ...]]:
    groups = {}
    for kind, things in raw.items():
        if not isinstance(things, list) or not all(isinstance(names, list) and names for names in things):
            raise TypeError(f"{kind} must be a list of lists of names")
        groups[kind] = tuple(_strings(kind, names) for names in things)
    return groups


def _synonyms(raw: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    owner: dict[str, str] = {}
    for name, alike in raw.items():
        found[name] = _strings(f"synonyms.{name}", alike)
        for said in map(str.lower, found[name]):
            if owner.setdefault(said, name) != name or said == name.lower():
                raise ValueError(
                    f"synonyms: {said!r} stands for {owner[said]!r} and {name!r}; give it one name that is not its own"
                )
    return found
