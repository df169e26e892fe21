"""Whatever a model writes, only retrieved passages are cited; failures are named to it once, then quoted over or dropped."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from lqr.errors import WriterError
from lqr.types import Claim, Hit, Passage, TextDelta
from lqr.writing.composer import Composition
from lqr.writing.fake_lm import FakeLanguageModel
from lqr.writing.model_writer import ModelWriter, Written

TEXTS = (
    "Sheep should not get more than 15 mg/kg of copper in the ration.",
    "A newborn lamb must drink 50 ml of colostrum per kg within six hours of birth.",
    "Stand lame sheep in 10 % zinc sulphate for 15 minutes.",
)
HITS = [
    Hit(Passage(f"{c * 12}-{i}", c * 12, f"Notes {c}", (), text, i, 0, len(text)), 0.9)
    for i, (c, text) in enumerate(zip("abc", TEXTS, strict=True))
]
QUOTED = Claim(TEXTS[0], (HITS[0].passage.id,), "quoted", (TEXTS[0],))
COMPOSED = Composition(f"{TEXTS[0]} [1]", (QUOTED,), 0.9)


def write(*replies: str | Exception, **options: object) -> tuple[Written, FakeLanguageModel]:
    model = FakeLanguageModel(replies)
    writer = ModelWriter(model, prompt_tokens=1500, max_tokens=200, **options)  # type: ignore[arg-type]
    events = list(writer.write("How much copper?", HITS, (), COMPOSED, cancelled=lambda: False))
    assert all(isinstance(event, TextDelta) for event in events[:-1])
    written = events[-1]
    assert isinstance(written, Written)
    return written, model


marks = st.one_of(
    st.sampled_from(
        [
            "[1]",
            "[9]",
            "[1-99]",
            "[0]",
            "【2】",
            "[^7]",
            "[ffffffffffff-3]",
            f"[{HITS[1].passage.id}]",
            "[Notes z]",
            "(passage 4)",
            "[1,2,8]",
        ]
    ),
    st.integers(-5, 10**9).map(lambda n: f"[{n}]"),
    st.text(alphabet="[]()【】0123456789,-–;^ab ", max_size=12),
)
pieces = st.one_of(st.sampled_from(TEXTS), marks, st.text(max_size=25), st.sampled_from(["\n- ", "\n\nSources: ", " ", ". "]))


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, max_size=12).map(" ".join))
def test_no_citation_is_shown_that_was_not_retrieved(draft: str) -> None:
    written, _ = write(draft, retry=False)
    retrieved = {hit.passage.id for hit in HITS}
    cited = list(dict.fromkeys(passage_id for claim in written.claims for passage_id in claim.passages))
    assert set(cited) <= retrieved
    assert all(claim.passages for claim in written.claims)
    left = re.sub("|".join(re.escape(claim.text) for claim in written.claims), " ", written.text)
    assert {int(n) for n in re.findall(r"\[(\d+)\]", left)} <= set(range(1, len(cited) + 1))


WRONG = "Sheep should get 150 mg/kg of copper in the ration. [3]"  # the best passage stands last in the prompt


def test_a_failure_is_named_once_and_the_better_draft_stands() -> None:
    written, model = write(WRONG, f"{TEXTS[1]} [2]")
    assert written.claims[0].text == TEXTS[1]
    assert len(model.calls) == 2
    note = model.calls[1][-1]["content"]
    assert "150 mg/kg" in note
    assert "is not in the source" in note


def test_after_the_second_failure_the_passage_is_quoted() -> None:
    written, model = write(WRONG, WRONG)
    assert written.claims == (QUOTED,)
    assert written.writer.startswith("composer")
    assert len(model.calls) == 2


def test_a_good_draft_is_not_written_again_and_a_failing_model_keeps_the_first() -> None:
    _, model = write(f"{TEXTS[1]} [2]")
    assert len(model.calls) == 1
    written, _ = write(f"{TEXTS[1]} [2] {WRONG}", WriterError("gone"))
    assert written.claims[0].text == TEXTS[1]


def test_a_partly_supported_sentence_is_marked_only_if_nothing_can_be_quoted_and_the_checker_agrees() -> None:
    partly = "Lame sheep recover when they stand in zinc sulphate baths on clean dry concrete. [1]"
    good = f"{TEXTS[1]} [2] "
    spare = "Copper needs 150 mg/kg daily for sheep. [3] "  # uses up the only quotation
    marked, _ = write(good + spare + partly, retry=False, supports=lambda claim, text: True)
    assert [c.support for c in marked.claims if c.text.startswith("Lame")] == ["partial"]
    refused, _ = write(good + spare + partly, retry=False, supports=lambda claim, text: False)
    assert not [c for c in refused.claims if c.text.startswith("Lame")]
    first, _ = write(good + partly, retry=False, supports=lambda claim, text: True)
    assert not [c for c in first.claims if c.text.startswith("Lame")]
