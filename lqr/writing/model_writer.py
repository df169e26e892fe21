"""Lets a language model draft the answer, then keeps only what its cited passages support.

The draft streams to the reader; afterwards each sentence is checked against what it cites. One that is not supported is
replaced by the composer's best sentence, quoted, or dropped; a citation that was not retrieved is removed and counted.
If nothing of the draft survives, the composed answer stands. Knows nothing of how passages were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lqr.grounding.checks import check_claim, overlap, verify
from lqr.grounding.citations import parse
from lqr.text import content_words, sentences
from lqr.types import Claim, Hit, Passage, Support, TextDelta, Turn
from lqr.writing.base import LanguageModel
from lqr.writing.composer import Composition
from lqr.writing.prompts import build_messages


@dataclass(frozen=True, slots=True)
class Written:
    """The final text and claims, by which writer, and what the checks changed."""

    text: str
    claims: tuple[Claim, ...]
    writer: str
    removed_citations: int = 0
    replaced_claims: int = 0


# A sentence that is only partly supported is not kept: "A box that is too cold can cause the lamb to die from heat" was one.
STANDS: tuple[Support, ...] = ("quoted", "supported")


class ModelWriter:
    """Drafts with ``model``; holds no conversation."""

    def __init__(self, model: LanguageModel, *, prompt_tokens: int, max_tokens: int) -> None:
        """``prompt_tokens`` caps the prompt: on a CPU each hundred tokens are most of a second before the first word."""
        self.model = model
        self._prompt_tokens, self._max_tokens = prompt_tokens, max_tokens

    def write(
        self, question: str, kept: Sequence[Hit], history: Sequence[Turn], composed: Composition, *, cancelled: Callable[[], bool]
    ) -> Iterator[TextDelta | Written]:
        """Stream the draft, then yield one :class:`Written`.

        Raises:
            WriterError: the model failed.
        """
        budget = min(self._prompt_tokens, self.model.context - self._max_tokens)
        messages, numbered = build_messages(
            question, [hit.passage for hit in kept], budget_tokens=budget, count_tokens=self.model.count_tokens, history=history
        )
        draft = []
        for piece in self.model.stream(messages, max_tokens=self._max_tokens, cancelled=cancelled):
            draft.append(piece)
            yield TextDelta(piece)
        yield self._checked("".join(draft), question, numbered, composed)

    def _checked(self, draft: str, question: str, numbered: Sequence[Passage], composed: Composition) -> Written:
        by_id = {passage.id: passage for passage in numbered}
        cited = parse(draft, list(by_id), titles=[passage.title for passage in numbered])
        spare = list(composed.claims)
        kept: list[tuple[str, Claim]] = []  # (layout before it, claim)
        replaced = 0
        for sentence in cited.sentences:
            if any(_same(sentence.text, claim.text) for _, claim in kept) or _is_scrap(sentence.text):
                continue
            sources = [by_id[i] for i in sentence.passages] or self._likely(sentence.text, numbered)
            support: Support = verify(sentence.text, sources, question=question) if sources else "unsupported"
            if support in STANDS:
                faults = check_claim(sentence.text, sources, question=question)
                note = "; ".join(fault.detail for fault in faults)
                quotes = tuple(filter(None, (closest_sentence(sentence.text, p.text) for p in sources)))
                kept.append((sentence.lead, Claim(sentence.text, tuple(p.id for p in sources), support, quotes, note)))
                continue
            replaced += 1
            if spare:
                claim = spare.pop(0)
                if not any(_same(claim.text, other.text) for _, other in kept):
                    kept.append((sentence.lead, claim))
        if not any(claim.support != "quoted" or claim not in composed.claims for _, claim in kept):
            name = f"composer (nothing that {self.model.name} drafted is supported)"
            return Written(composed.text, composed.claims, name, cited.removed, replaced)
        return Written(_laid_out(kept), tuple(claim for _, claim in kept), self.model.name, cited.removed, replaced)

    @staticmethod
    def _likely(sentence: str, numbered: Sequence[Passage]) -> list[Passage]:
        """The passage that an uncited sentence was most likely taken from; it still has to pass the check."""
        best = max(numbered, key=lambda passage: overlap(sentence, passage.text), default=None)
        return [best] if best is not None and overlap(sentence, best.text) >= 0.5 else []


def closest_sentence(claim: str, text: str) -> str:
    """The sentence of ``text`` that shares most words with ``claim``, for highlighting; empty if none shares any."""
    asked = set(content_words(claim))
    spans = sentences(text)
    best = max(spans, key=lambda s: len(asked & set(content_words(s))), default="")
    return best if asked & set(content_words(best)) else ""


def _laid_out(kept: Sequence[tuple[str, Claim]]) -> str:
    """The claims with their ``[n]``, numbered in order of appearance, in the draft's own layout of lines and lists."""
    numbers: dict[str, int] = {}
    text = ""
    for lead, claim in kept:
        for passage_id in claim.passages:
            numbers.setdefault(passage_id, len(numbers) + 1)
        marks = "".join(f"[{numbers[passage_id]}]" for passage_id in claim.passages)
        text += f"{lead or ' '}{claim.text} {marks}"
    return text.strip()


def _is_scrap(text: str) -> bool:
    """A heading or an echo of the prompt, not a sentence: nothing is claimed, so nothing needs to stand in its place."""
    return "<<<" in text or ">>>" in text or text.rstrip().endswith(":") or len(content_words(text)) < 3


def _same(one: str, other: str) -> bool:
    return one.lower().strip(" .") == other.lower().strip(" .")
