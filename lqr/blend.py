"""One logistic over several signals, for ranking passages and sentences; its weights come from a file.

A cross-encoder of 22M parameters reads better than it remembers names; BM25 is the other way round. Their blend ranks
better than either (models/README.md). Knows nothing of where the signals come from.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lqr.errors import WeightsError

PASSAGE_FEATURES = ("encoder", "cosine", "lexical", "asked", "row")
UNIT_FEATURES = ("encoder", "cosine", "passage", "row", "item")


@dataclass(frozen=True, slots=True)
class Blend:
    """Weights in log-odds for passages and for the units of the writer; ``bias`` among them."""

    passage: Mapping[str, float] = field(default_factory=lambda: {"encoder": 1.0})
    unit: Mapping[str, float] = field(default_factory=lambda: {"encoder": 1.0})

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
            passage = {str(k): float(v) for k, v in raw["passage"].items()}
            unit = {str(k): float(v) for k, v in raw["unit"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            again = "fit it again with `python -m benchmarks.fit blend`"
            raise WeightsError(f"models/{folder.name}/blend.json: {error!r}; {again}") from error
        unknown = (set(passage) - {*PASSAGE_FEATURES, "bias"}) | (set(unit) - {*UNIT_FEATURES, "bias"})
        if unknown or not all(map(math.isfinite, [*passage.values(), *unit.values()])):
            raise WeightsError(f"models/{folder.name}/blend.json: unknown or endless weights ({', '.join(sorted(unknown))})")
        return cls(passage, unit)


def blended(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """The logistic: a probability."""
    total = weights.get("bias", 0.0) + sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def logit(probability: float) -> float:
    """Log-odds, kept within those of 0.0001 and 0.9999."""
    clipped = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(clipped / (1 - clipped))
