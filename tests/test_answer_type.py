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
        ("How long may a ewe stay in the crate?", "duration"),
        ("how old are kids when they come off milk", "duration"),
        ("How many more days until slaughter?", "duration"),
        ("How deep do I sow alfalfa?", "length"),
        ("how hot must compost get", "temperature"),
        ("How much does a Dorper ram weigh?", "weight"),
        ("How early can I sow maize?", "time"),
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
    assert shows("A crate holds her for two to five days.", "duration")
    assert not shows("The ewe weighs 60 kg.", "duration")
    assert shows("Depth (cm): 2 to 3", "length")
    assert not shows("Sow 15 kg in 2 weeks.", "length")
    assert shows("The heap must reach 55 °C.", "temperature")
    assert not shows("The heap must be 2 m wide.", "temperature")
    assert shows("Ram (kg): 90 to 120", "weight")
    assert not shows("A ram serves 40 ewes.", "weight")
    assert shows("Anything at all.", None)
