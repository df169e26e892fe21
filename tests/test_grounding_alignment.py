"""Exchanged numbers, animals, months and negations are seen where a claim repeats its source; rewordings are left alone."""

from __future__ import annotations

import pytest

from lqr.grounding.agreement import contradictions
from lqr.grounding.alignment import alignment_faults, repeated
from lqr.grounding.quantities import falling_ranges
from lqr.types import Claim, Hit, Passage

SOURCE = (
    "Each 100 kg of urea nitrogen needs 180 kg of lime. Keep ewes inside from March to April, and never feed wet hay to them."
)


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("Each 180 kg of urea nitrogen needs 100 kg of lime.", "number"),
        ("Keep rams inside from March to April, and never feed wet hay to them.", "species"),
        ("Keep cows inside from March to April.", "species"),
        ("Keep ewes inside from March to June, and never feed wet hay to them.", "date"),
        ("Keep ewes inside from March to April, and feed wet hay to them.", "polarity"),
        ("Each 100 kg of urea nitrogen does not need 180 kg of lime.", "polarity"),
    ],
)
def test_one_exchange_is_one_fault(claim: str, kind: str) -> None:
    assert kind in {fault.kind for fault in alignment_faults(claim, [SOURCE])}


@pytest.mark.parametrize(
    "claim",
    [
        "Each 100 kg of urea nitrogen needs 180 kg of lime.",
        "Each 100 kg of urea nitrogen needs 180 kg (0.18 t) of lime.",
        "Keep ewes inside from March to April.",
        "Keep the sheep inside from March to April, and never feed wet hay to them.",
        "Lime, 180 kg of it, is what 100 kg of nitrogen asks for.",
        "",
    ],
)
def test_what_says_the_same_has_no_fault(claim: str) -> None:
    assert alignment_faults(claim, [SOURCE]) == []


def test_one_source_without_the_fault_is_enough() -> None:
    other = "Each 180 kg of urea nitrogen needs 100 kg of lime."
    assert alignment_faults(other, [SOURCE]) != []
    assert alignment_faults(other, [SOURCE, other]) == []


def test_a_falling_range_is_a_fault_unless_the_source_has_it() -> None:
    assert falling_ranges("15 to 10 kg, 5-8 cm, 2,000–1,500 m") == [(15, 10), (2000, 1500)]
    assert [f.kind for f in alignment_faults("Give 15 to 10 kg.", ["Give 10 to 15 kg."])] == ["number"]
    assert alignment_faults("Cool from 15 to 10 degrees.", ["Cool it from 15 to 10 degrees."]) == []


def test_repeated_compares_both_ways() -> None:
    assert repeated("Sheep need 9 g of salt.", "Sheep need 12 g of salt. Goats eat hay.") == ["Sheep need 12 g of salt."]
    assert (
        repeated(
            "Sheep need salt.", "Sheep that graze on the dry steppe far from any lake or spring need much more salt in summer."
        )
        == []
    )


def hit(document: str, text: str) -> Hit:
    return Hit(Passage(f"{document}-0", document, document.title(), (), text, 0, 0, len(text)), 0.9)


def test_passages_that_differ_are_found_and_named() -> None:
    kept = [
        hit("a", "A ewe needs 9 g of salt a day."),
        hit("b", "A ewe needs 15 g of salt a day."),
        hit("c", "A ewe needs 0.009 kg of salt a day."),
    ]
    claim = Claim("A ewe needs 9 g of salt a day.", ("a-0",), "quoted")
    found = contradictions([claim], kept)
    assert [(c.passage_id, c.other) for c in found] == [("b-0", "A ewe needs 15 g of salt a day.")]
    assert "9 g" in found[0].detail
    assert "15 g" in found[0].detail


def test_the_same_document_and_other_dimensions_do_not_contradict() -> None:
    claim = Claim("A ewe needs 9 g of salt a day.", ("a-0",), "quoted")
    assert contradictions([claim], [hit("a", "A ewe needs 15 g of salt a day.")]) == ()
    assert contradictions([claim], [hit("a", claim.text), hit("b", "A ewe needs 9 g of salt in 2 days.")]) == ()


def test_the_same_figure_of_two_breeds_is_no_contradiction() -> None:
    claim = Claim("Tan ewes give about 2 kg of wool a year.", ("tan sheep-0",), "quoted")
    kept = [
        hit("tan sheep", claim.text),
        hit("hu sheep", "Hu ewes give about 1 kg of wool a year."),
        hit("wool", "Tan ewes give about 3 kg of wool a year."),
    ]
    assert [found.passage_id for found in contradictions([claim], kept)] == ["wool-0"]
