"""What a reader may choose for one question, and that it stays with that question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqr.grounding.refusal import Verdict
from lqr.settings import Settings
from lqr.ui.options import MOST_PASSAGES, MovedGate, Options, line


@dataclass(frozen=True)
class OneVerdict:
    verdict: Verdict

    def judge(self, *args: Any, **keywords: Any) -> Verdict:
        return self.verdict


@dataclass(frozen=True)
class Parts:
    settings: Settings
    gate: Any = None


def test_the_defaults_leave_the_pipeline_alone() -> None:
    pipeline: Any = Parts(Settings.load(profile="cpu"))
    assert Options().tuned(pipeline) is pipeline


def test_options_make_another_pipeline_and_leave_the_first_as_it_was() -> None:
    pipeline: Any = Parts(Settings.load(profile="cpu", refusal_threshold=0.4), SimpleNamespace())
    tuned = Options("auto", "open", 8).tuned(pipeline)
    assert tuned.settings.top_k == 8
    assert tuned.gate.threshold == pytest.approx(0.2)
    assert tuned.gate.gate is pipeline.gate
    assert pipeline.settings.top_k == Settings.load(profile="cpu").top_k


@given(st.floats(0, 1))
def test_the_lines_are_in_order(threshold: float) -> None:
    assert 0 <= line(threshold, "open") <= line(threshold, "balanced") <= line(threshold, "cautious") <= 1


@pytest.mark.parametrize(
    ("why", "probability", "answered"),
    [
        ("", 0.6, False),
        ("", 0.8, True),
        ("thin", 0.3, False),
        ("thin", 0.75, True),
        ("scope", 0.9, False),
        ("not_held", 0.9, False),
    ],
)
def test_only_doubt_is_judged_anew(why: Any, probability: float, answered: bool) -> None:
    verdict = Verdict(why == "", probability, why, "detail")
    judged = MovedGate(OneVerdict(verdict), 0.7).judge("question", ())  # type: ignore[arg-type]
    assert judged.answerable is answered
    assert judged.probability == probability
    if why in ("scope", "not_held"):
        assert judged == verdict
    assert judged == replace(verdict, answerable=answered, why=judged.why)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_whatever_a_browser_sends_is_an_option(raw: Any) -> None:
    for sent in (raw, {"route": raw, "strictness": raw, "passages": raw}):
        options = Options.from_json(sent)
        assert options.route in ("auto", "simple", "complex")
        assert 0 <= options.passages <= MOST_PASSAGES
        assert Options.from_json(options.to_json()) == options
