"""What a reader may choose for one question: how it is looked up, how strict the gate is, how many passages are read.

Chosen per request and sent with it: the server's own settings stay as they are. Knows no component and no text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, cast, get_args

from lqr.grounding.refusal import Gate, Verdict
from lqr.pipeline import Pipeline
from lqr.settings import RouteSetting

Strictness = Literal["cautious", "balanced", "open"]
MOST_PASSAGES = 12
USUAL = 0  # passages: as many as the server is set to


@dataclass(frozen=True, slots=True)
class Options:
    """The defaults change nothing."""

    route: RouteSetting = "auto"
    strictness: Strictness = "balanced"
    passages: int = USUAL

    def to_json(self) -> dict[str, Any]:
        """The form that the browser stores."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Any) -> Options:
        """Read what a browser or a client sent; a value that is not on offer is the default."""
        if not isinstance(raw, Mapping):
            return cls()
        route, strictness, passages = raw.get("route"), raw.get("strictness"), raw.get("passages")
        whole = isinstance(passages, int) and not isinstance(passages, bool)
        return cls(
            cast(RouteSetting, route) if route in get_args(RouteSetting) else "auto",
            cast(Strictness, strictness) if strictness in get_args(Strictness) else "balanced",
            min(max(cast(int, passages), USUAL), MOST_PASSAGES) if whole else USUAL,
        )

    def tuned(self, pipeline: Pipeline) -> Pipeline:
        """``pipeline`` with these options (the route goes to ``stream``); the stages are shared, nothing is loaded anew."""
        if self.passages != USUAL:
            pipeline = replace(pipeline, settings=replace(pipeline.settings, top_k=self.passages))
        if self.strictness != "balanced":
            threshold = line(pipeline.settings.refusal_threshold, self.strictness)
            pipeline = replace(pipeline, gate=cast(Gate, MovedGate(pipeline.gate, threshold)))
        return pipeline


def line(threshold: float, strictness: Strictness) -> float:
    """The probability from which is answered: ``cautious`` halves what is left above the usual one, ``open`` halves it."""
    return {"cautious": (1 + threshold) / 2, "balanced": threshold, "open": threshold / 2}[strictness]


@dataclass(frozen=True, slots=True)
class MovedGate:
    """A gate whose line between answering and refusing lies elsewhere.

    Only doubt is judged anew: what the documents cannot hold, or hold for another animal, is refused as before.
    """

    gate: Gate
    threshold: float

    def judge(self, *args: Any, **keywords: Any) -> Verdict:
        """As :meth:`Gate.judge`."""
        verdict = self.gate.judge(*args, **keywords)
        if verdict.why not in ("", "thin"):
            return verdict
        answerable = verdict.probability >= self.threshold
        return replace(verdict, answerable=answerable, why="" if answerable else "thin")
