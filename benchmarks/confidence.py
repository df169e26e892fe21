"""Calibrates the confidence of answers, and says how good it is.

    python -m benchmarks.agriculture --split dev --out DEV.json
    python -m benchmarks.confidence fit DEV.json        -> models/gate/confidence.json, with cross-validated figures
    python -m benchmarks.agriculture --split test --out TEST.json
    python -m benchmarks.confidence measure TEST.json   -> calibration error, area under the risk-coverage curve

An answer is right if all its key facts are in it and nothing forbidden is. What was fitted is kept only if, over held-out
dialogues, it beats the gate's own probability. ``rich`` and ``thin`` count the answers on either side of the line between
"well covered" and "thinly covered", ``..._right`` says what share of them was right.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from lqr.grounding.calibration import Calibration
from lqr.settings import Settings
from lqr.training.confidence import fit, measure


def main(argv: Sequence[str] | None = None) -> int:
    given = list(argv if argv is not None else sys.argv[1:])
    if len(given) != 2 or given[0] not in ("fit", "measure"):
        print(__doc__)
        return 2
    rows = json.loads(Path(given[1]).read_text(encoding="utf-8"))["rows"]
    gate = Settings.load().models / "gate"
    if given[0] == "fit":
        if any(row["split"] != "dev" for row in rows):
            print("these rows are not of the dev half")
            return 1
        figures = fit(rows, gate)
        print(json.dumps(figures, indent=1))
        if figures["brier"] >= figures["gate_brier"]:
            print("no better than the gate's own probability: models/gate/confidence.json was left as it is")
            return 1
        return 0
    calibration = Calibration.load(gate)
    if calibration is None:
        print("models/gate/confidence.json is not there: fit it first")
        return 1
    print(json.dumps(measure(rows, calibration), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
