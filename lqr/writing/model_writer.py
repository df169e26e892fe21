"""Lets a language model draft the answer, then keeps only what its cited passages support.

The draft streams to the reader; afterwards each sentence is checked against what it cites. One that is not supported is
replaced by the composer's best sentence, quoted, or dropped; a citation that was not retrieved is removed and counted.
If nothing of the draft survives, the composed answer stands. Knows nothing of how passages were found.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lqr.errors import WriterError
from lqr.grounding.checks import check_claim, overlap, verify
from lqr.grounding.citations import parse
from lqr.text import content_words, sentences
from lqr.types import Claim, Hit, Passage, Support, TextDelta, Turn
from lqr.writing.base import ChatMessage, LanguageModel
from lqr.writing.composer import Composition
from lqr.writing.prompts import GUARD, INSTRUCTION, MESSAGE_TOKENS, as_data, build_messages

log = logging.getLogger(__name__)

MAX_NAMED = 3  # failures named to the model: more would fill a small context


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

    def __init__(
        self,
        model: LanguageModel,
        *,
        prompt_tokens: int,
        max_tokens: int,
        retry: bool = True,
        supports: Callable[[str, str], bool] | None = None,
        prompt: str = "",
    ) -> None:
        """``prompt_tokens`` caps the prompt: on a CPU each hundred tokens are most of a second before the first word.

        Args:
            retry: whether a draft with unsupported sentences is written once more, with the failures named.
            supports: a trained checker of (claim, text). A sentence that the rules find partly supported, and that no
                quotation can replace, is shown with a mark if the checker agrees.
            prompt: the collection's instruction, in place of the built-in one; what guards against documents that give
                orders is added to it.
        """
        self.model = model
        self._retry, self._supports = retry, supports
        self._instruction = f"{prompt.strip()} {GUARD}" if prompt.strip() else INSTRUCTION
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
            question,
            [hit.passage for hit in kept],
            budget_tokens=budget,
            count_tokens=self.model.count_tokens,
            history=history,
            instruction=self._instruction,
        )
        draft = []
        for piece in self.model.stream(messages, max_tokens=self._max_tokens, cancelled=cancelled):
            draft.append(piece)
            yield TextDelta(piece)
        written, failures = self._checked("".join(draft), question, numbered, composed)
        if failures and self._retry and not cancelled():
            written = self._again(messages, "".join(draft), written, failures, question, numbered, composed, cancelled)
        yield written

    def _again(
        self,
        messages: Sequence[ChatMessage],
        draft: str,
        written: Written,
        failures: Sequence[str],
        question: str,
        numbered: Sequence[Passage],
        composed: Composition,
        cancelled: Callable[[], bool],
    ) -> Written:
        """Draft once more, not streamed, with the failures named; the draft with fewer of them stands."""
        note = (
            "These sentences are not in the passages: " + " ".join(failures[:MAX_NAMED]) + " Answer again from the passages only."
        )
        longer: list[ChatMessage] = [
            *messages,
            {"role": "assistant", "content": as_data(draft)},
            {"role": "user", "content": as_data(note)},
        ]
        if sum(self.model.count_tokens(m["content"]) + MESSAGE_TOKENS for m in longer) > self.model.context - self._max_tokens:
            return written
        try:
            second = "".join(self.model.stream(longer, max_tokens=self._max_tokens, cancelled=cancelled))
        except WriterError as error:
            log.warning("%s failed at its second draft, the first one stands: %s", self.model.name, error)
            return written
        redone, left = self._checked(second, question, numbered, composed)
        return redone if len(left) < len(failures) and redone.writer == self.model.name else written

    def _checked(
        self, draft: str, question: str, numbered: Sequence[Passage], composed: Composition
    ) -> tuple[Written, list[str]]:
        """What may be shown of ``draft``, and its sentences that may not, each with the reason."""
        by_id = {passage.id: passage for passage in numbered}
        cited = parse(draft, list(by_id), titles=[passage.title for passage in numbered])
        spare = list(composed.claims)
        kept: list[tuple[str, Claim]] = []  # (layout before it, claim)
        replaced = 0
        failures: list[str] = []
        for sentence in cited.sentences:
            if any(_same(sentence.text, claim.text) for _, claim in kept) or _is_scrap(sentence.text):
                continue
            sources = [by_id[i] for i in sentence.passages] or self._likely(sentence.text, numbered)
            support: Support = verify(sentence.text, sources, question=question) if sources else "unsupported"
            faults = check_claim(sentence.text, sources, question=question) if sources else ()
            if support not in STANDS:
                reason = "; ".join(fault.detail for fault in faults[:2])
                failures.append(f"“{sentence.text}”{f' ({reason})' if reason else ''}")
            marked = support == "partial" and not spare and self._supports is not None
            if marked and self._supports is not None:
                marked = any(self._supports(sentence.text, source.text) for source in sources)
            if support in STANDS or marked:
                note = "only partly supported" if marked else ""
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
            return Written(composed.text, composed.claims, name, cited.removed, replaced), failures
        claims = tuple(claim for _, claim in kept)
        return Written(_laid_out(kept), claims, self.model.name, cited.removed, replaced), failures

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
