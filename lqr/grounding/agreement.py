"""Do the passages behind an answer agree? Finds another passage that says the same thing with another number.

A contradiction here is narrow: nearly the same words in the same order, and a quantity of the same dimension with another
value. Passages that disagree in other words are not found; passages on other animals or breeds are no contradiction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lqr.grounding.alignment import repeated
from lqr.grounding.quantities import is_stated, quantities
from lqr.text import content_words
from lqr.types import Claim, Hit

SAME = 0.8  # share of the claim's words, in order: two sentences of one subject on one thing


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A claim, the sentence that gives another number, and the passage that it stands in."""

    claim: str
    other: str
    passage_id: str
    detail: str


def contradictions(claims: Sequence[Claim], kept: Sequence[Hit]) -> tuple[Contradiction, ...]:
    """For each claim the sentences of *other* kept documents that say it with another number; at most one a passage."""
    documents = {hit.passage.id: hit.passage.document_id for hit in kept}
    found = []
    for claim in claims:
        mine = quantities(claim.text)
        if not mine:
            continue
        own = {documents.get(passage_id) for passage_id in claim.passages}
        titles = " ".join(hit.passage.title for hit in kept if hit.passage.id in claim.passages)
        for hit in kept:
            if hit.passage.document_id in own or hit.passage.kind == "table_row":
                continue
            for sentence in repeated(claim.text, hit.passage.text, SAME):
                if _of_another(claim.text, titles, sentence, hit.passage.title):
                    continue
                theirs = quantities(sentence)
                other = next(
                    (
                        (one, two)
                        for one in mine
                        for two in theirs
                        if one.dimension == two.dimension and not is_stated(one, theirs) and not is_stated(two, mine)
                    ),
                    None,
                )
                if other:
                    said = f"“{other[0].text.strip()}” here, “{other[1].text.strip()}” in {hit.passage.title}"
                    found.append(Contradiction(claim.text, sentence, hit.passage.id, said))
                    break
    return tuple(found)


def _of_another(claim: str, title: str, sentence: str, other: str) -> bool:
    """Whether each sentence names its own article's subject and not the other's: the wool of two breeds may well differ."""
    mine, theirs = set(content_words(title)), set(content_words(other))
    said, told = set(content_words(claim)), set(content_words(sentence))
    return bool((mine - theirs) & said - told) and bool((theirs - mine) & told - said)
