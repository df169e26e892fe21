"""One logistic over several signals, for ranking passages and sentences; its weights come from a file.

A cross-encoder of 22M parameters reads better than it remembers names; BM25 is the other way round. Their blend ranks
better than either (models/README.md). Knows nothing of where the signals come from.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lqr.errors import WeightsError

log = logging.getLogger(__name__)

PASSAGE_FEATURES = ("encoder", "cosine", "lexical", "asked", "row")
UNASKED_FEATURES = ("encoder", "cosine", "lexical", "row")
UNIT_FEATURES = ("encoder", "cosine", "passage", "row", "item", "asked")
UNASKED_UNIT_FEATURES = UNIT_FEATURES[:-1]


@dataclass(frozen=True, slots=True)
class Blend:
    """Weights in log-odds for passages and for the units of the writer; ``bias`` among them.

    ``passage`` and ``unit`` are for collections with questions written about their passages, ``unasked`` and ``unasked_unit``
    for those without: a visitor's own documents, for one. Where nobody wrote questions, the weights of the former would hold
    that against every passage.
    """

    passage: Mapping[str, float] = field(default_factory=lambda: {"encoder": 1.0})
    unasked: Mapping[str, float] = field(default_factory=lambda: {"encoder": 1.0})
    unit: Mapping[str, float] = field(default_factory=lambda: {"encoder": 1.0})
    unasked_unit: Mapping[str, float] = field(default_factory=lambda: {"encoder": 1.0})

    @classmethod
    def load(cls, folder: Path) -> Blend:
        """The weights in ``folder/blend.json``, or those that leave the encoder alone.

        Raises:
            WeightsError: the file is malformed or names unknown features.
        """
        path = folder / "blend.json"
        if not path.is_file():
            return cls()
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            # files from before these two lack them: the encoder's own probability then stands
            if missing := {"unasked", "unasked_unit"} - raw.keys():
                log.warning("models/%s/blend.json lacks %s: fit it again", folder.name, " and ".join(sorted(missing)))
            unasked = {"unasked": raw.get("unasked", cls().unasked), "unasked_unit": raw.get("unasked_unit", cls().unasked_unit)}
            found = {"passage": raw["passage"], "unit": raw["unit"], **unasked}
            parts = {name: {str(k): float(v) for k, v in weights.items()} for name, weights in found.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            again = "fit it again with `python -m benchmarks.fit blend`"
            raise WeightsError(f"models/{folder.name}/blend.json: {error!r}; {again}") from error
        known = {
            "passage": PASSAGE_FEATURES,
            "unasked": UNASKED_FEATURES,
            "unit": UNIT_FEATURES,
            "unasked_unit": UNASKED_UNIT_FEATURES,
        }
        unknown = {feature for name, weights in parts.items() for feature in set(weights) - {*known[name], "bias"}}
        if unknown or not all(math.isfinite(value) for weights in parts.values() for value in weights.values()):
            raise WeightsError(f"models/{folder.name}/blend.json: unknown or endless weights ({', '.join(sorted(unknown))})")
        return cls(**parts)

    def of_passage(self, features: Mapping[str, float]) -> Mapping[str, float]:
        """The weights for a passage: those that go with its ``features``, which lack ``asked`` where nobody wrote questions."""
        return self.passage if "asked" in features else self.unasked

    def of_unit(self, features: Mapping[str, float]) -> Mapping[str, float]:
        """The weights for a unit, in the same way."""
        return self.unit if "asked" in features else self.unasked_unit


def blended(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """The logistic: a probability."""
    total = weights.get("bias", 0.0) + sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def logit(probability: float) -> float:
    """Log-odds, kept within those of 0.0001 and 0.9999."""
    clipped = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(clipped / (1 - clipped))
