"""How much stands behind an answer: rich, thin or none, with the reason in words.

Reads what the gate and the writer found; makes no judgement of its own about the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from lqr.grounding.agreement import Contradiction
from lqr.types import Claim, Confidence, Hit

RICH = 0.75  # probability from which an answer is called well covered


def confidence(
    probability: float,
    claims: Sequence[Claim],
    kept: Sequence[Hit],
    *,
    complex_question: bool = False,
    calibrated: float | None = None,
    conflicts: Sequence[Contradiction] = (),
) -> Confidence:
    """The level and its reason.

    Args:
        probability: the gate's.
        claims: what is said.
        kept: passages that passed the relevance filter.
        calibrated: probability that the answer is right; it then decides in place of the gate's, and is shown.
        conflicts: passages that say the same with another number.
    """
    sure = probability if calibrated is None else calibrated
    shown = round(sure, 3)
    cited = {passage_id for claim in claims for passage_id in claim.passages}
    documents = {hit.passage.document_id for hit in kept if hit.passage.id in cited}
    strong = [hit for hit in kept if hit.score >= 0.5]
    marked = [claim for claim in claims if claim.support in ("partial", "unsupported")]
    if not cited:
        return Confidence("none", "no passage holds an answer", shown)
    said = (
        f"{len(cited)} passage{'s' if len(cited) != 1 else ''} from {len(documents)} document{'s' if len(documents) != 1 else ''}"
    )
    if conflicts:
        return Confidence("thin", f"{said}; passages differ: {'; '.join(conflict.detail for conflict in conflicts[:2])}", shown)
    if marked:
        return Confidence(
            "thin",
            f"{said}; {len(marked)} sentence{'s' if len(marked) != 1 else ''} only partly supported",
            shown,
        )
    if complex_question and len(cited) < 2:
        return Confidence("thin", f"one passage for a question in two parts; {said}", shown)
    # how relevant the passages are is in a calibrated probability already; in the gate's it is only in part
    if sure >= RICH and (calibrated is not None or len(strong) >= 2 or len(cited) >= 2):
        return Confidence("rich", said, shown)
    if sure >= RICH and strong and strong[0].passage.id in cited:
        return Confidence("rich", f"one passage that answers directly; {said}", shown)
    return Confidence("thin", f"{said}; check that {'it answers' if len(cited) == 1 else 'they answer'} your question", shown)
