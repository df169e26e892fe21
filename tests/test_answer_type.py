"""What a question asks for and whether a sentence shows it."""

from __future__ import annotations

import pytest

from lqr.answer_type import expects, shows


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How much salt does a ewe need?", "quantity"),
        ("what is the right soil pH for tea", "quantity"),
        ("ivermectin dose in mg/kg for my goats", "quantity"),
        ("how often should i trim feet", "frequency"),
        ("When do I sow winter wheat?", "time"),
        ("which month is best for shearing", "time"),
        ("Why do sheep store copper?", None),
        ("Can I feed oats when it is cold?", None),
        ("what are the signs of orf", None),
    ],
)
def test_the_kind_is_read_from_the_question(question: str, kind: str | None) -> None:
    assert expects(question) == kind


def test_a_sentence_shows_its_kind_or_not() -> None:
    assert shows("Give 8 g of salt.", "quantity")
    assert shows("Give half a litre.", "quantity")
    assert not shows("Sheep like salt.", "quantity")
    assert shows("Trim feet twice a year.", "frequency")
    assert not shows("Trim feet with a sharp knife.", "frequency")
    assert shows("Sow in late September.", "time")
    assert not shows("Wheat is a cereal.", "time")
    assert shows("Anything at all.", None)
