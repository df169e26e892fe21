"""Are the provisions that an answer cites right? Each must be held, retrieved, support its claim, and be of the claimed type.

A number cites when it stands in a claim, or when the claim rests on that rule's passage; one inside a quotation is the rule's
own reference. Guidance quoted as guidance is right, but said to be guidance; a rule out of force is said to be. How numbers
look and what is binding stands in the profile (:class:`RuleStyle`). Knows no graph: it is given a function that finds rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lqr.corpus.rulebook_style import RuleStyle
from lqr.text import sentences
from lqr.types import Claim, Confidence, Hit, Passage

Find = Callable[[str], Sequence[Passage]]  # the passages of a rule by its number; empty if it is not held
Company = Callable[[str], Sequence[tuple[Passage, float, str]]]  # what a passage cites or is cited by: weight, and how
ANCHORS, COMPANY = 3, 3  # so many of the best rules bring along at most so many others
EXCEPTIONS = 2  # quoted under an answer


@dataclass(frozen=True, slots=True)
class RuleCitation:
    """One cited number and what was found of it. ``detail`` says in words what is wrong; empty if nothing is."""

    number: str
    known: bool
    retrieved: bool
    supports: bool
    type_right: bool
    detail: str = ""

    @property
    def right(self) -> bool:
        """All four hold."""
        return self.known and self.retrieved and self.supports and self.type_right


@dataclass(frozen=True, slots=True)
class CheckedRules:
    """The citations of an answer, its claims with notes, and what must be said under it (status, guidance)."""

    citations: tuple[RuleCitation, ...]
    claims: tuple[Claim, ...]
    notices: tuple[str, ...]

    @property
    def wrong(self) -> tuple[RuleCitation, ...]:
        """Those that must not be shown."""
        return tuple(citation for citation in self.citations if not citation.right)


@dataclass(frozen=True, slots=True)
class RuleChecker:
    """Checks answers of one rule book."""

    style: RuleStyle
    find: Find
    company: Company = lambda _: ()

    def unheld(self, question: str) -> str:
        """The sentence for a question that names provisions of which none is held; empty for any other."""
        numbers = self._named(question)
        if not numbers or any(self.find(number) for number in numbers):
            return ""
        return self._filled("unknown", None, number=numbers[0])

    def with_company(
        self, question: str, kept: Sequence[Hit], scored: Mapping[str, Hit], allowed: Callable[[Passage], bool]
    ) -> list[Hit]:
        """The rules that ``question`` names, then ``kept``, and after the best of them what they cite or what cites them.

        An exception shares few words with the question that needs it, so that no search brings it.

        Args:
            scored: hits by id that were read but not kept; their scores stand.
            allowed: whether a passage may be used for the question.
        """
        named = [passage for number in self._named(question) for passage in self.find(number)]
        first = [scored.get(p.id, Hit(p, 1.0, {}, "named in the question")) for p in named]
        ids = {passage.id for passage in named}
        ranked = [*first, *(hit for hit in kept if hit.passage.id not in ids)]
        held = {hit.passage.id for hit in ranked[:ANCHORS]}
        brought: dict[str, Hit] = {}
        for hit in ranked[:ANCHORS]:
            for passage, weight, phrase in self.company(hit.passage.id):
                if passage.id not in held and allowed(passage):
                    found = scored.get(passage.id, Hit(passage, hit.score * weight / 2, {"graph": weight}))
                    why = f"“{hit.passage.metadata.get('number', hit.passage.heading)}” {phrase} it"
                    brought.setdefault(passage.id, replace(found, why=why))
        chosen = list(brought.values())[:COMPANY]
        taken = {hit.passage.id for hit in chosen}
        return [*ranked[:ANCHORS], *chosen, *(hit for hit in ranked[ANCHORS:] if hit.passage.id not in taken)]

    def exceptions(self, claims: Sequence[Claim], kept: Sequence[Hit]) -> list[tuple[str, Claim]]:
        """Exceptions to the rule that the first claim rests on, read but not said: the line to add, and its claim."""
        if not claims or self.style.exception is None:
            return []
        cited = list(dict.fromkeys(passage_id for claim in claims for passage_id in claim.passages))
        linked = {passage.id for passage_id in claims[0].passages for passage, _, _ in self.company(passage_id)}
        added: list[tuple[str, Claim]] = []
        for hit in kept:
            quote = next((text for text in sentences(hit.passage.text) if not self.aside(text)), "")
            if hit.passage.id not in linked or hit.passage.id in cited or not self.style.exception.search(quote):
                continue
            cited.append(hit.passage.id)
            added.append((f"{quote} [{len(cited)}]", Claim(quote, (hit.passage.id,), "quoted", (quote,))))
        return added[:EXCEPTIONS]

    def aside(self, text: str) -> bool:
        """Whether a sentence says nothing by itself: a date in brackets, or that another provision makes an exception."""
        return self.style.aside is not None and self.style.aside.search(text.strip()) is not None

    def _named(self, text: str) -> list[str]:
        return list(dict.fromkeys(self.style.canonical(match.group()) for match in self.style.reference.finditer(text)))

    def check(self, claims: Sequence[Claim], kept: Sequence[Hit]) -> CheckedRules:
        """Check every number that ``claims`` cite.

        Args:
            kept: what was read for the answer; a claim may rest on nothing else.
        """
        passages = {hit.passage.id: hit.passage for hit in kept}
        citations: list[RuleCitation] = []
        noted: list[Claim] = []
        notices: dict[str, None] = {}
        for claim in claims:
            found = list(self._of_claim(claim, passages))
            said = [self._notice(passages[i]) for i in claim.passages if i in passages]
            notices.update((notice, None) for notice in said if notice)
            notes = [*([claim.note] if claim.note else []), *(c.detail for c in found if c.detail), *filter(None, said)]
            wrong = any(not citation.right for citation in found)
            noted.append(replace(claim, note=" ".join(dict.fromkeys(notes)), support="unsupported" if wrong else claim.support))
            citations += found
        return CheckedRules(tuple(citations), tuple(noted), tuple(notices))

    def _of_claim(self, claim: Claim, kept: Mapping[str, Passage]) -> Iterator[RuleCitation]:
        cited = [kept[i] for i in claim.passages if i in kept]
        supported = claim.support in ("quoted", "supported")
        for passage in cited:
            if number := str(passage.metadata.get("number", "")):
                known = bool(self.find(number))
                yield self._citation(claim, number, passage, known=known, retrieved=True, supports=supported)
        quoted = " ".join(passage.text for passage in cited)
        for number in self._named(claim.text):
            if number in quoted or any(number == passage.metadata.get("number") for passage in cited):
                continue  # the passage's own number, or a reference inside what is quoted
            found = self.find(number)
            retrieved = any(passage.id in kept for passage in found)
            yield self._citation(
                claim, number, found[0] if found else None, known=bool(found), retrieved=retrieved, supports=False
            )

    def _citation(
        self, claim: Claim, number: str, passage: Passage | None, *, known: bool, retrieved: bool, supports: bool
    ) -> RuleCitation:
        """``supports`` is False for a number that the claim names without resting on it."""
        if passage is None:
            other = next((held for held in map(self.find, self._siblings(number)) if held), ())
            if other:  # the same number with another letter: the rule is held, the type is wrong
                detail = self._filled("wrong_type", other[0], number=number, claimed=self.style.type_of(number))
                return RuleCitation(number, True, False, False, False, detail)
            return RuleCitation(number, False, False, False, True, self._filled("unknown", None, number=number))
        claimed = self._claimed(claim.text, number, passage)
        actual = str(passage.metadata.get("type", self.style.type))
        detail = ""
        if claimed != actual:
            detail = self._filled("wrong_type", passage, claimed=claimed)
        elif not retrieved:
            detail = self._filled("not_retrieved", passage)
        return RuleCitation(number, known, retrieved, supports, claimed == actual, detail)

    def _claimed(self, text: str, number: str, passage: Passage) -> str:
        """The type that ``text`` gives to ``number``: by the word before it, or by a "must" that guidance does not hold."""
        names = sorted({*self.style.types.values(), self.style.type}, key=len, reverse=True)
        named = re.search(rf"\b({'|'.join(map(re.escape, names))})\s+{re.escape(number)}", text, re.IGNORECASE)
        if named:
            return named[1].lower()
        actual = str(passage.metadata.get("type", self.style.type))
        if self.style.binding and actual not in self.style.binding and _orders(text) and not _orders(passage.text):
            return self.style.binding[0]
        return actual

    def _siblings(self, number: str) -> list[str]:
        """The number with each other type's letter."""
        base = re.match(r"(.*\d)([A-Z])((?:\(\w+\))*)$", number)
        return [base[1] + letter + base[3] for letter in self.style.types if letter != base[2]] if base else []

    def _notice(self, passage: Passage) -> str:
        """What must be said beside a rule that is quoted: that it is no longer in force, or that it binds nobody."""
        if (status := str(passage.metadata.get("status", ""))) in self.style.notes:
            return self._filled(status, passage)
        kind = passage.metadata.get("type")
        return self._filled("not_binding", passage) if kind and self.style.binding and kind not in self.style.binding else ""

    def _filled(self, note: str, passage: Passage | None, **values: str) -> str:
        metadata = passage.metadata if passage else {}
        known = {
            "number": str(metadata.get("number", "")),
            "type": str(metadata.get("type", "")),
            "until": str(metadata.get("until", "")),
            "by": str(metadata.get("replaced_by", "")) or "no other provision",
            **values,
        }
        template = self.style.notes.get(note, f"{{number}}: {note.replace('_', ' ')}")
        return re.sub(r"\{(\w+)\}", lambda match: known.get(match[1], match[0]), template)


def out_of_force(style: RuleStyle | None, question: str, passage: Passage) -> str:
    """Why ``passage`` must not answer ``question``: its rule no longer applies, and the question is not about the past."""
    if style is None or not passage.metadata.get("barred"):
        return ""
    if style.asks_past is not None and style.asks_past.search(question):
        return ""
    return f"{passage.metadata.get('status')}, not in force"


def tempered(sure: Confidence, linked: Sequence[str], read: Sequence[str]) -> Confidence:
    """``sure`` with its neighbourhood: how many provisions the cited ones are linked to, and how many of them were read.

    An unread one may hold an exception, so that the confidence is no longer rich.
    """
    if sure.level == "none" or not linked:
        return sure
    seen = len(set(linked) & set(read))
    told = f"{seen} of {len(set(linked))} linked provisions read"
    return replace(sure, level=sure.level if seen == len(set(linked)) else "thin", reason=f"{sure.reason}; {told}")


def _orders(text: str) -> bool:
    return re.search(r"\b(?:must|shall|is required|are required|is obliged|are obliged)\b", text, re.IGNORECASE) is not None
