"""``lqr evaluate support``: claims against evidence, errors planted into a collection's sentences, and harmless rewrites.

The labelled sets have one public split; a seeded half tunes (``--split train`` or ``dev``), the other is reported
(``--split test``), rows of one claim on the same side. WiCE is read as *supported* against the rest. Figures come from the
rows alone, see :func:`summarise`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lqr.classifiers.support import load_support
from lqr.errors import SettingsError
from lqr.evaluation.planted import HARMLESS, NUMERIC, OTHER, plant, sentences_of
from lqr.evaluation.provenance import plain_settings, versions
from lqr.grounding.checks import check_claim, verify
from lqr.settings import Settings
from lqr.training.support_claims import SETS, halves, load_claims

PLANTED = "planted"
EACH = 200  # planted sentences of each kind: 1,000 numeric and unit errors
CLEAN = ("quoted", "supported")  # shown without a mark


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Measure; ``dataset`` is one of the labelled sets, ``planted``, or None for all that ``data`` allows.

    Raises:
        SettingsError: the set is unknown, or it needs ``--data``.
        WeightsError: models/support is missing or damaged.
        ReadError: a file of the set cannot be read.
    """
    settings = Settings.load()
    wanted = [options.dataset] if options.dataset else [*(SETS if options.data else ()), PLANTED]
    if unknown := set(wanted) - {*SETS, PLANTED}:
        raise SettingsError(f"no set {sorted(unknown)[0]!r} for support; there are {', '.join(SETS)} and {PLANTED}")
    if not options.data and set(wanted) & set(SETS):
        raise SettingsError(f"{wanted[0]} needs --data DIR, the folder with the public sets")
    rows: list[dict[str, Any]] = []
    name = ""
    for chosen in wanted:
        if chosen == PLANTED:
            rows.extend(_planted_rows(settings, options))
            continue
        model = load_support(settings.models / "support")
        if model is None:
            raise SettingsError("models/support holds no checker; fit one with `lqr train support`")
        name = model.name
        tuning, reported = halves(load_claims(options.data, chosen))
        claims = reported if options.split == "test" else tuning
        claims = claims[: options.limit] if options.limit else claims
        for claim, judged in zip(claims, model.judge([(c.claim, c.evidence) for c in claims]), strict=True):
            support = (
                "supported"
                if judged.probability >= model.supported
                else "partial"
                if judged.probability >= model.partial
                else "unsupported"
            )
            rows.append(
                {
                    "id": f"{chosen}-{claim.id}", "set": chosen, "label": claim.label, "supported": claim.supported,
                    "probability": round(judged.probability, 4), "predicted": support, "weakest": judged.weakest,
                }
            )  # fmt: skip
    return {
        "settings": {"split": options.split, "sets": wanted, "checker": name, "each": EACH, **plain_settings(settings)},
        "versions": versions(settings),
        "seed": options.seed,
        "date": time.strftime("%Y-%m-%d"),
        "summary": summarise(rows),
        "rows": rows,
    }


def _planted_rows(settings: Settings, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    folder = settings.knowledge / settings.collection
    if not folder.is_dir():
        raise SettingsError(f"{settings.collection} has no folder of documents under LQR_KNOWLEDGE to plant errors in")
    # as everywhere: one seed tunes, another is reported
    seed = options.seed if options.split == "test" else options.seed + 1000
    each = options.limit or EACH
    for number, item in enumerate(plant(sentences_of(folder), (*NUMERIC, *OTHER, *HARMLESS), each, seed)):
        predicted = verify(item.text, [item.passage])
        faults = () if predicted in CLEAN else check_claim(item.text, [item.passage])  # a clean one has none
        yield {
            "id": f"planted-{number}",
            "set": PLANTED,
            "kind": item.kind,
            "wrong": item.wrong,
            "claim": item.text,
            "original": item.original,
            "passage": item.passage.id,
            "predicted": predicted,
            "faults": [fault.detail for fault in faults],
        }


def summarise(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every figure from the rows: balanced accuracy of each labelled set; shares caught and false alarms of the planted.

    *Caught* is an error that would not be shown without a mark; a *false alarm* a right sentence that would not.
    """
    summary: dict[str, Any] = {}
    for name in SETS:
        chosen = [row for row in rows if row["set"] == name]
        if chosen:
            summary[name] = {"n": len(chosen), **_balanced(chosen)}
    planted = [row for row in rows if row["set"] == PLANTED]
    if planted:
        groups = {"numeric and unit": NUMERIC, "other errors": OTHER}
        for group, kinds in groups.items():
            summary[f"{group}, caught"] = _share([r["predicted"] not in CLEAN for r in planted if r["kind"] in kinds])
        summary["untouched, false alarms"] = _share([r["predicted"] not in CLEAN for r in planted if r["kind"] == "untouched"])
        summary["harmless rewrites, false alarms"] = _share(
            [r["predicted"] not in CLEAN for r in planted if r["kind"] in HARMLESS and r["kind"] != "untouched"]
        )
        summary["by kind, not shown clean"] = {
            kind: _share([r["predicted"] not in CLEAN for r in planted if r["kind"] == kind])["share"]
            for kind in (*NUMERIC, *OTHER, *HARMLESS)
            if any(r["kind"] == kind for r in planted)
        }
    return summary


def _balanced(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    right = {
        label: [(r["predicted"] == "supported") == label for r in rows if r["supported"] is label] for label in (True, False)
    }
    shares = {label: sum(found) / len(found) if found else 0.0 for label, found in right.items()}
    order = sorted(rows, key=lambda r: r["probability"])
    ranks: dict[float, list[int]] = {}
    for place, row in enumerate(order, start=1):
        ranks.setdefault(row["probability"], []).append(place)
    mean = {value: sum(places) / len(places) for value, places in ranks.items()}
    good, bad = len(right[True]), len(right[False])
    area = (
        (sum(mean[r["probability"]] for r in rows if r["supported"]) - good * (good + 1) / 2) / (good * bad)
        if good and bad
        else 0.0
    )
    return {
        "balanced_accuracy": round((shares[True] + shares[False]) / 2, 4),
        "supported_found": round(shares[True], 4),
        "unsupported_found": round(shares[False], 4),
        "auc": round(area, 4),
    }


def _share(values: Sequence[bool]) -> dict[str, float]:
    return {"n": len(values), "share": round(sum(values) / len(values), 4) if values else 0.0}
