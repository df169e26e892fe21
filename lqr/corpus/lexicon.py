"""Finds names in a text: whole words where words have spaces around them, anywhere in Chinese and Japanese.

Knows no profile and no document; :mod:`lqr.corpus.profile` says which names there are and what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lqr.text import is_cjk

Things = dict[str, list[tuple[str, str]]]  # a name in lower case: each (kind, first name) that it stands for


def any_of(names: Collection[str]) -> re.Pattern[str] | None:
    """Any of ``names`` as whole words, the longest first; None of nothing."""
    if not names:
        return None
    longest_first = sorted(names, key=len, reverse=True)
    # no spaces stand between a CJK name and the next word
    cjk = "|".join(re.escape(name) for name in longest_first if is_cjk(name))
    spaced = "|".join(re.escape(name) for name in longest_first if not is_cjk(name))
    # one look-around for all: where there are thousands, one for each name would take milliseconds a question
    either = [cjk, rf"(?<![\w-])(?:{spaced})(?![\w-])" if spaced else ""]
    return re.compile("|".join(filter(None, either)), re.IGNORECASE)


def lexicon(groups: Mapping[str, Sequence[Sequence[str]]]) -> tuple[re.Pattern[str] | None, Things]:
    """The names of ``groups`` (by kind, the names of each thing) as one pattern, and what each stands for."""
    things: Things = {}
    for kind, entries in groups.items():
        for names in entries:
            for name in names:
                things.setdefault(name.lower(), []).append((kind, names[0]))
    return any_of(things), things


def has(text: str, phrase: str) -> bool:
    """Whether ``text`` holds ``phrase``, both in lower case, as whole words."""
    if phrase not in text or is_cjk(phrase):
        return phrase in text  # in CJK no spaces stand between words; and most phrases need no pattern
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


@dataclass(frozen=True, slots=True)
class Glossary:
    """What people say, as ``pattern``, and the documents' own ``names`` for it, by what was said in lower case."""

    pattern: re.Pattern[str] | None
    names: Mapping[str, str]

    @classmethod
    def of(cls, synonyms: Mapping[str, Sequence[str]], untouched: Collection[str] = ()) -> Glossary:
        """From what people say instead of each name. Words that are ``untouched`` stay, whatever stands in them."""
        names = {name.lower(): name for name in synonyms}  # its own too, or "corn" would break up "corn borer"
        names |= {said.lower(): name for name, alike in synonyms.items() for said in alike}
        names |= {word.lower(): word for word in untouched} if names else {}
        return cls(any_of(names), names)

    def said(self, text: str) -> list[tuple[int, int, str]]:
        """See :meth:`lqr.corpus.profile.Profile.said`."""
        found = self.pattern.finditer(text) if self.pattern else ()
        named = [(match.start(), match.end(), self.names.get(match.group().lower(), match.group())) for match in found]
        return [(start, end, name) for start, end, name in named if text[start:end].lower() != name.lower()]

    def glossed(self, question: str) -> str:
        """See :meth:`lqr.corpus.profile.Profile.glossed`."""
        if self.pattern is None:
            return question
        held = question.lower()

        def behind(match: re.Match[str]) -> str:
            nonlocal held
            name = self.names.get(match.group().lower(), "")
            if not name or has(held, name.lower()):
                return match.group()
            held += f" {name.lower()} "
            return f"{match.group()} ({name})"

        return self.pattern.sub(behind, question)

    def renamed(self, question: str) -> str:
        """See :meth:`lqr.corpus.profile.Profile.renamed`."""
        if self.pattern is None:
            return question
        put: set[str] = set()
        kept: set[tuple[str, str]] = set()

        def instead(match: re.Match[str]) -> str:
            said = match.group()
            name = self.names.get(said.lower(), said)
            if name.lower() == said.lower():
                return said
            if _forms_of_one(said.lower(), name.lower()):  # "a ewe that abortion" is no sentence, and the models know the form
                kept.add((said, name))
                return said
            put.add(name)
            return f" {name} " if is_cjk(said) else name  # no spaces stand around a CJK word, but must around the name

        text = self.pattern.sub(instead, question)
        for said, name in kept:
            text = re.sub(rf"({re.escape(said)}) \({re.escape(name)}\)", r"\1", text)
        for name in put:  # of a question that was glossed before
            twice = re.escape(name)
            text = re.sub(rf"{twice}\s*\({twice}\)(\w?)", lambda m, name=name: f"{name} {m[1]}" if m[1] else name, text)  # type: ignore[misc]
        return text


def _forms_of_one(said: str, name: str) -> bool:
    """Whether two words, neither Chinese, are forms of one: "aborted" and "abortion"."""
    return said[:5] == name[:5] and len(said) > 4 and " " not in said + name and not is_cjk(said)
