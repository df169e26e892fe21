"""The composer quotes, cites, and reads like an answer. The scorer here is word overlap: slow, obvious, no model."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from lqr.retrieval.fake import HashingEmbedder
from lqr.text import content_words
from lqr.types import Hit, Passage
from lqr.writing.composer import Composer
from lqr.writing.units import units_of


def overlap_scorer(pairs: Sequence[tuple[str, tuple[str, str]]]) -> list[float]:
    """Share of the question's content words in the text (heading at half weight)."""
    scores = []
    for question, (heading, text) in pairs:
        asked = {w.rstrip("s") for w in content_words(question)}
        said, above = {w.rstrip("s") for w in content_words(text)}, {w.rstrip("s") for w in content_words(heading)}
        scores.append((len(asked & said) + 0.5 * len((asked - said) & above)) / max(1, len(asked)))
    return scores


@pytest.fixture
def composer() -> Composer:
    return Composer(overlap_scorer, HashingEmbedder(dimension=256).encode)


def hit(
    text: str,
    *,
    title: str = "Sheep",
    section: tuple[str, ...] = (),
    number: int = 0,
    kind: str = "paragraph",
    score: float = 0.9,
) -> Hit:
    passage = Passage(
        f"{title.lower().replace(' ', '-')}-{number}", title.lower(), title, section, text, number, 0, len(text), kind
    )  # type: ignore[arg-type]
    return Hit(passage, score)


COPPER = hit(
    "Do not give sheep a mineral mix made for cattle. It holds 1,000 mg of copper per kg. Sheep store copper in the liver.",
    title="Copper poisoning",
)


def test_every_claim_is_quoted_from_the_passage_it_cites(composer: Composer) -> None:
    hits = [COPPER, hit("Ewes need 8 g of salt a day. Salt licks must stay dry.", title="Salt", number=1)]
    made = composer.compose("How much salt do ewes need a day?", (), hits)
    texts = {h.passage.id: h.passage.text for h in hits}
    assert made.claims
    for claim in made.claims:
        assert claim.support == "quoted"
        for quote in claim.quotes:
            assert quote in texts[claim.passages[0]]
    assert "8 g of salt" in made.text


def test_numbers_in_the_text_follow_the_order_of_the_claims(composer: Composer) -> None:
    hits = [COPPER, hit("Copper poisoning turns the urine of sheep red.", title="Signs", number=1)]
    made = composer.compose("What does copper poisoning do to sheep and their urine?", (), hits)
    order = list(dict.fromkeys(claim.passages[0] for claim in made.claims))
    shown = [int(n) for n in re.findall(r"\[(\d+)\]", made.text)]
    assert shown == [order.index(claim.passages[0]) + 1 for claim in made.claims]


@pytest.mark.parametrize(
    ("question", "sentence", "lead"),
    [
        ("Can I give my sheep the mineral mix made for cattle?", "Do not give sheep a mineral mix made for cattle.", "No. "),
        ("Can sheep graze wet red clover?", "Sheep must never graze wet red clover.", "No. "),
        ("Can people catch orf from sheep?", "People can catch orf from sheep through small cuts.", "Yes. "),
        ("Is orf dangerous for people?", "People can catch orf from sheep through small cuts.", ""),
        ("Can I feed oats or barley to sheep?", "Sheep should not be fed mouldy oats or barley.", ""),
        ("Can sheep eat silage?", "Sheep can be fed silage only if it is not mouldy.", ""),
        ("Can I inject live vaccine into pregnant ewes?", "Injecting live vaccine into pregnant ewes can cause abortion.", ""),
        ("Can I give live vaccine to pregnant ewes?", "Live vaccine given to pregnant ewes can be fatal to the lambs.", ""),
        ("Can I feed ewes silage?", "Silage can be used to feed ewes at 2 to 4 kg a day.", "Yes. "),
        ("Can my sheep eat wet clover?", "Sheep can eat wet clover and die of bloat.", ""),
        ("How do people catch orf?", "People can catch orf from sheep through small cuts.", ""),
    ],
)
def test_it_leads_with_yes_or_no_only_where_that_is_certain(composer: Composer, question: str, sentence: str, lead: str) -> None:
    made = composer.compose(question, (), [hit(sentence)])
    assert made.text.startswith(lead + sentence)


def test_a_sentence_that_leans_on_the_one_before_brings_it_along(composer: Composer) -> None:
    made = composer.compose("How many mg of copper per kg?", (), [COPPER])
    assert "made for cattle. It holds 1,000 mg" in made.text
    first = hit("It is common in wet autumns.", title="Footrot", section=("When",))
    made = composer.compose("Is it common in wet autumns?", (), [first])
    assert made.text.startswith("Footrot > When: It is common")


def test_a_table_row_is_column_and_value_under_its_heading(composer: Composer) -> None:
    row = hit(
        "Stage: late pregnancy; Hay (kg/day): 1.2; Concentrate (kg/day): 0.5",
        title="Feeding ewes",
        section=("Rates",),
        kind="table_row",
    )
    made = composer.compose("How much hay in late pregnancy?", (), [row])
    assert made.text == "Feeding ewes > Rates:\n- late pregnancy — Hay (kg/day): 1.2; Concentrate (kg/day): 0.5 [1]"


def test_a_list_that_was_asked_for_comes_whole(composer: Composer) -> None:
    listed = hit(
        "Signs of orf are:\n\n- Scabs on the lips.\n\n- Lambs that do not suck.\n\n- Sores on the udder of ewes.",
        title="Orf",
        kind="list_item",
    )
    made = composer.compose("What are the signs of orf?", (), [listed])
    assert made.text.splitlines() == [
        "Orf:",
        "- Scabs on the lips. [1]",
        "- Lambs that do not suck. [1]",
        "- Sores on the udder of ewes. [1]",
    ]


def test_the_same_thing_is_not_said_twice(composer: Composer) -> None:
    twin = hit("Do not give sheep a mineral mix made for cattle.", title="Minerals", number=1)
    made = composer.compose("Can I give sheep a mineral mix made for cattle?", (), [COPPER, twin])
    assert made.text.count("mineral mix made for cattle") == 1


def test_a_question_in_two_parts_gets_both_in_order(composer: Composer) -> None:
    climate = hit("Ningxia has 200 mm of rain and cold dry winters.", title="Ningxia", number=1)
    home = hit("Tan sheep come from Ningxia.", title="Tan sheep", number=2)
    made = composer.compose(
        "What is the climate where Tan sheep come from?",
        ("Where do Tan sheep come from?", "What is the climate of Ningxia, rain and winters?"),
        [climate, home],
    )
    assert made.text.index("Tan sheep come from") < made.text.index("200 mm of rain")
    assert len(made.part_scores) == 2


def test_nothing_to_quote_makes_no_answer(composer: Composer) -> None:
    assert composer.compose("How much?", (), []).claims == ()
    assert composer.compose("How much?", (), [hit("?!")]).claims == ()


def test_units_keep_offsets_into_the_passage() -> None:
    for made in (COPPER, hit("Do this:\n\n- Wash it.\n\n- Dry it.", kind="list_item")):
        for unit in units_of(made.passage):
            assert made.passage.text[unit.start : unit.end] == unit.text


def test_the_same_question_gives_the_same_answer(composer: Composer) -> None:
    answers = {composer.compose("Can I give sheep a mineral mix?", (), [COPPER]).text for _ in range(3)}
    assert len(answers) == 1
    assert np.isfinite(composer.compose("salt", (), [COPPER]).best)
