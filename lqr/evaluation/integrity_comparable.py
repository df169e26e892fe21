"""Which runs may be compared, and what else than the thing compared differs between two of them.

Two runs differ on purpose in their strategy and generator, or in one stage that is left out (an ablation). Any other setting
that differs, and weights that differ, strike the comparison; other versions and machines are noted or strike times only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lqr.evaluation.integrity_findings import ALL, Finding, few
from lqr.evaluation.report_results import Run, flat

COMPARED = frozenset({"strategy", "generator"})
# What may be left out or changed in an ablation, and the settings that follow from it.
ABLATIONS: Mapping[str, tuple[str, ...]] = {
    "k": ("lqr.top_k",),
    "retriever": ("embedder",),
    "relevance": (),
    "graph": (),
    "decomposition": (),
    "comparison": (),
    "dense": ("embedder",),
    "titles": (),
    "pooled": ("files", "passages", "gold_not_in_corpus"),
}
_WITHOUT_CORPUS = frozenset({"files", "passages", "gold_not_in_corpus", "embedder"})  # what the strategy `none` has not
_VALUES = ("k", "retriever")  # stages with several values, not left out or kept
_TIMES = "time_ratio"
# What no figure hangs on: how the chat is served, and how many were asked (see the finding on questions in one run only).
_SERVICE = "answer_seconds shutdown_seconds rate_per_minute rate_burst trusted_proxies log metrics traces traces_days llm_timeout"
_IGNORED = frozenset({"startup", "limit", "questions", *(f"lqr.{name}" for name in _SERVICE.split())})


def groups(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs of the same kind on the same split of the same set, in order; a lonely run is a group of one."""
    found: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        if run.kind in ("answers", "retrieval", "collection"):
            found.setdefault((run.kind, run.dataset, run.split), []).append(run)
    return list(found.values())


def baseline(run: Run, group: Sequence[Run]) -> Run | None:
    """What ``run`` is compared with: what it is an ablation of, else ``single`` with its generator, else the first; or None."""
    place = next(number for number, other in enumerate(group) if other is run)
    others = [*group[:place], *group[place + 1 :]]
    for number, other in enumerate(others):
        changed = ablation(other, run)
        # of two values of k or two retrievers neither is whole: the one named first is what the other is compared with
        if changed and (number < place if changed in _VALUES else _whole(other, changed)):
            return other
    single = [other for other in others if other.strategy == "single" and not ablation(other, run)]
    if run.strategy != "single":
        for other in (*[o for o in single if o.generator == run.generator], *single):
            if not unlike(other, run):
                return other
    return group[0] if group[0] is not run else None


def ablation(a: Run, b: Run) -> str | None:
    """The one stage in which two runs of the same strategy and generator differ; None if it is not exactly one."""
    differing = setting_differences(a, b)
    if any(name.partition(".")[0] in COMPARED for name in differing):
        return None
    found = [name for name in ABLATIONS if name in differing]
    return found[0] if len(found) == 1 and not unlike(a, b) else None


def setting_differences(a: Run, b: Run) -> list[str]:
    """Dotted names of settings that differ, and ``seed``."""
    one, other = dict(flat(a.settings)), dict(flat(b.settings))
    differing = [name for name in dict.fromkeys((*one, *other)) if one.get(name) != other.get(name) and name not in _IGNORED]
    return [*differing, *(["seed"] if a.seed != b.seed else [])]


def unlike(a: Run, b: Run) -> list[str]:
    """Settings that differ, but for what is compared: strategy and generator, or one stage and what follows from it."""
    differing = setting_differences(a, b)
    rest = [name for name in differing if name.partition(".")[0] not in COMPARED]
    if "none" in (a.strategy, b.strategy):
        rest = [name for name in rest if name.partition(".")[0] not in _WITHOUT_CORPUS]
    if len(rest) == len(differing):  # strategy and generator agree: one ablation is what is compared
        changed = next((name for name in ABLATIONS if name in rest), None)
        if changed:
            implied = (changed, *ABLATIONS[changed])
            rest = [name for name in rest if not any(name == known or name.startswith(f"{known}.") for known in implied)]
    return rest


def pair_name(a: Run, b: Run) -> str:
    """How the comparison of ``b`` with the baseline ``a`` is called."""
    return f"{b.name} against {a.name}"


def comparable(a: Run, b: Run) -> list[Finding]:
    """What is wrong with comparing ``b`` with ``a``."""
    pair, found = pair_name(a, b), []
    if names := unlike(a, b):
        found.append(Finding("settings differ", pair, f"settings differ besides what is compared: {few(names, 6)}", (ALL,)))
    weights = [name for name in _differing(a.versions, b.versions) if name.startswith("models.")]
    if weights:
        found.append(Finding("settings differ", pair, f"other weights: {few(weights, 6)}", (ALL,)))
    if others := [name for name in _differing(a.versions, b.versions) if not name.startswith("models.") and name != "commit"]:
        found.append(Finding("settings differ", pair, f"other versions: {few(others, 6)}"))
    if machines := _differing(a.machine, b.machine):
        found.append(Finding("settings differ", pair, f"another machine, so times say nothing: {few(machines)}", (_TIMES,)))
    one, other = ({str(row.get("id")) for row in run.rows} for run in (a, b))
    if one != other:
        reason = f"{len(one ^ other)} questions are in one run only; compared on the {len(one & other)} that both hold"
        found.append(Finding("missing rows", pair, reason))
    return found


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    a, b = dict(flat(one)), dict(flat(other))
    return [name for name in dict.fromkeys((*a, *b)) if a.get(name) != b.get(name)]


def _whole(run: Run, stage: str) -> bool:
    """Whether ``run`` is the one that has the stage, or searches its own corpus only."""
    return run.settings.get(stage) is not False if stage != "pooled" else not run.settings.get("pooled")
