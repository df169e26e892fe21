"""Planted errors are caught, true sentences and rewordings are not; units convert; support is graded."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from lqr.grounding.checks import Fault, check_claim, overlap, verify
from lqr.grounding.quantities import is_stated, quantities
from lqr.types import Passage

# (title, passage, a true rewording)
FACTS = [
    (
        "Copper in sheep",
        "Sheep should not get more than 15 mg/kg of copper in the ration. Cattle mixes often hold 500 mg/kg and can kill sheep.",
        "Cattle mixes often contain 500 mg/kg of copper, which can kill sheep.",
    ),
    (
        "Lambing",
        "A newborn lamb must drink 50 ml of colostrum per kg within six hours of birth.",
        "Within 6 hours of birth a newborn lamb must have 50 ml of colostrum per kg.",
    ),
    (
        "Gestation",
        "Ewes carry their lambs for 147 days on average, or 21 weeks.",
        "A ewe carries her lambs for about 21 weeks (147 days).",
    ),
    (
        "Stocking",
        "Typical steppe carries 0.8 sheep units per ha from May to October.",
        "From May to October typical steppe carries 0.8 sheep units per ha.",
    ),
    (
        "Liming",
        "Apply 2 t/ha of ground limestone when the pH is below 5.5.",
        "If the pH is below 5.5, 2 t/ha of ground limestone is applied.",
    ),
    (
        "Wheat seed",
        "Sow winter wheat at 12 kg per mu in early October in Hubei.",
        "In Hubei winter wheat is sown at 180 kg/ha in early October.",
    ),
    (
        "Hay",
        "Hay can be baled when it holds less than 18 % water. Wetter hay heats and may catch fire.",
        "Bale hay when it has less than 18% water.",
    ),
    (
        "Foot rot",
        "Stand lame sheep in 10 % zinc sulphate for 15 minutes and keep them on dry ground.",
        "Lame sheep stand in 10 % zinc sulphate for a quarter of an hour, 15 minutes, and are kept on dry ground.",
    ),
    (
        "Fever",
        "The normal temperature of a sheep is 39 °C; above 40 °C it has fever.",
        "Above 40 °C (104 °F) a sheep has fever.",
    ),
    (
        "Vaccination",
        "Vaccinate ewes against clostridial disease four weeks before lambing.",
        "Ewes are vaccinated against clostridial disease 28 days before lambing.",
    ),
    (
        "Rice blast",
        "Rice blast is worst in cool, wet weather. Spray tricyclazole at heading.",
        "Spray tricyclazole at heading against rice blast.",
    ),
    (
        "Yew",
        "Yew is poisonous to horses, and even 100 g can be fatal.",
        "For horses even 0.1 kg of yew can be fatal.",
    ),
    (
        "White clover",
        "White clover can be sown into short grass in spring at 3 kg/ha.",
        "In spring white clover can be sown into short grass at 3 kg/ha.",
    ),
    (
        "Maize nitrogen",
        "Maize takes 180 kg/ha of nitrogen, half of it at the six-leaf stage.",
        "Maize takes 180 kg/ha of nitrogen; half, 50 %, goes on at the six-leaf stage.",
    ),
    (
        "Potato storage",
        "Store seed potatoes at 3 to 4 °C in the dark.",
        "Seed potatoes are stored in the dark at 3 to 4 °C.",
    ),
    (
        "Ivermectin",
        "Ivermectin is given at 0.2 mg/kg. Do not use it in ewes whose milk is sold.",
        "Ivermectin is given at 0.2 mg/kg.",
    ),
    (
        "Goat kids",
        "Disbud goat kids at 7 to 10 days of age and never without pain relief.",
        "Never disbud goat kids without pain relief.",
    ),
    (
        "Cattle water",
        "A dairy cow drinks 80 litres of water a day in summer.",
        "In summer a dairy cow drinks 80 l of water per day.",
    ),
    (
        "Merino",
        "Merino wool is safe for the skin and measures 19 microns.",
        "Merino wool measures 19 µm.",
    ),
    (
        "Nitrate",
        "Sorghum hay with 1,500 mg/kg of nitrate is safe for cattle.",
        "Sorghum hay with 1500 ppm of nitrate is safe for cattle.",
    ),
    (
        "Silage",
        "Keep the silage closed for at least 6 weeks before feeding.",
        "Silage stays closed for at least 6 weeks before feeding.",
    ),
    (
        "Docking",
        "Lambs are docked before they are 7 days old with a rubber ring.",
        "With a rubber ring lambs are docked before 7 days of age.",
    ),
]


def passage(text: str, title: str = "Notes", **metadata: object) -> Passage:
    return Passage("d-0", "d", title, (), text, 0, 0, len(text), metadata=metadata)


def faults(claim: str, text: str, title: str = "Notes", question: str = "") -> set[str]:
    return {fault.kind for fault in check_claim(claim, [passage(text, title)], question=question)}


# --- planted errors, made by program -----------------------------------------------------------------------------------


def _number(claim: str) -> str | None:
    match = re.search(r"(?<![\w.,])\d+(?:[.,]\d+)?(?![\w,]*\d)", claim)
    if not match:
        return None
    return f"{claim[: match.start()]}{float(match.group().replace(',', '')) * 3 + 1:g}{claim[match.end() :]}"


_UNITS = {
    "mg/kg": "g/kg",
    "kg/ha": "kg/mu",
    "t/ha": "kg/ha",
    "ml": "litres",
    "days": "weeks",
    "weeks": "days",
    "hours": "days",
    "minutes": "hours",
    "°C": "°F",
    "g": "mg",
    "kg": "g",
    "%": "ppm",
    "l": "ml",
    "ppm": "%",
    "µm": "mm",
}


def _unit(claim: str) -> str | None:
    units = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
    match = re.search(rf"(?<=\d)(\s?)({units})(?![\w/])", claim)
    return None if not match else claim[: match.start(2)] + _UNITS[match[2]] + claim[match.end(2) :]


_SPECIES = {
    "sheep": "goats",
    "lambs": "calves",
    "lamb": "calf",
    "ewes": "cows",
    "ewe": "cow",
    "goat": "sheep",
    "cow": "ewe",
    "horses": "sheep",
    "cattle": "sheep",
    "wheat": "barley",
    "rice": "wheat",
    "maize": "rice",
    "Maize": "Rice",
    "potatoes": "onions",
}


def _species(claim: str) -> str | None:
    match = re.search(rf"\b({'|'.join(_SPECIES)})\b", claim)
    return None if not match else claim[: match.start()] + _SPECIES[match[1]] + claim[match.end() :]


def _negation(claim: str) -> str | None:
    if re.search(r"\bNever\b", claim):
        return claim.replace("Never", "Always")
    match = re.search(r"\b(can|must|should|is|are|has|takes|drinks|stays|carries|measures)\b", claim)
    return None if not match else f"{claim[: match.end()]} not{claim[match.end() :]}"


@pytest.mark.parametrize(
    ("plant", "fewest", "least_share"), [(_number, 20, 1.0), (_unit, 15, 1.0), (_species, 14, 1.0), (_negation, 15, 0.9)]
)
def test_planted_errors_are_caught(plant: object, fewest: int, least_share: float) -> None:
    caught, missed = 0, []
    for title, text, reworded in FACTS:
        for true in (reworded, text.split(". ")[0].rstrip(".") + "."):
            wrong = plant(true)  # type: ignore[operator]
            if wrong is None:
                continue
            assert wrong != true
            if check_claim(wrong, [passage(text, title)]):
                caught += 1
            else:
                missed.append(wrong)
    assert caught >= fewest
    assert caught / (caught + len(missed)) >= least_share, missed


def test_true_sentences_raise_no_alarm() -> None:
    alarms: list[tuple[str, tuple[Fault, ...]]] = []
    for title, text, reworded in FACTS:
        for true in (reworded, text, text.split(". ")[0].rstrip(".") + "."):
            found = check_claim(true, [passage(text, title)])
            if found and true != reworded:
                alarms.append((true, found))
            elif found:
                alarms.append((reworded, found))
    assert not alarms


def test_true_rewordings_are_supported_and_quotations_recognised() -> None:
    grades = [verify(reworded, [passage(text, title)]) for title, text, reworded in FACTS]
    assert "unsupported" not in grades
    assert sum(grade in ("supported", "quoted") for grade in grades) >= 0.8 * len(grades)
    assert all(verify(text, [passage(text, title)]) == "quoted" for title, text, _ in FACTS)


def test_another_facts_passage_supports_nothing() -> None:
    grades = [
        verify(claim, [passage(text, title)])
        for i, (_, _, claim) in enumerate(FACTS)
        for j, (title, text, _) in enumerate(FACTS)
        if i != j
    ]
    assert grades.count("supported") + grades.count("quoted") == 0
    assert grades.count("partial") <= 0.02 * len(grades)


# --- single rules ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claimed", "stated"),
    [
        ("500 g", "0.5 kg"),
        ("0.5 t", "500 kg"),
        ("20 ppm", "20 mg/kg"),
        ("2 g/kg", "2,000 mg/kg"),
        ("0.2 %", "2 g/kg"),
        ("104 °F", "40 °C"),
        ("40 degrees Celsius", "104 °F"),
        ("15 mu", "1 ha"),
        ("225 kg/ha", "15 kg/mu"),
        ("225 kg per hectare", "15 kg per mu"),
        ("2 weeks", "14 days"),
        ("two weeks", "2 weeks"),
        ("3 months", "90 days"),
        ("half", "50 %"),
        ("half", "1/2"),
        ("10 ml", "5-10 ml"),
        ("5 ml", "5 to 10 ml"),
        ("5 ml", "between 5 and 10 ml"),
        ("1,200 kg", "1200 kg"),
        ("2.5 acres", "1 ha"),
        ("½ litre", "500 ml"),
        ("30 kg/ha", "Rate (kg/ha): 30"),
        ("2 ml", "Dose, ml: 2; Age: 3"),
        ("twice", "two times"),
        ("12 weeks", "a 12-week course"),
        ("-5 °C", "minus 5 °C"),
        ("pH 5.5", "a pH of 5.5 to 6.5"),
        ("10 jin", "5 kg"),
        ("5 kg a day", "5 kg per day"),
        ("2 kg", "每天喂2公斤干草"),
        ("每天喂2000克干草", "每天喂 2 公斤干草"),
        ("225 kg/ha", "氮肥15公斤每亩"),
        ("8公斤", "每亩施8到10公斤"),
        ("2kg", "喂2kg干草"),
        ("pH 5.5", "土壤pH5.5时"),
    ],
)
def test_equal_quantities(claimed: str, stated: str) -> None:
    assert all(is_stated(q, quantities(stated)) for q in quantities(claimed))
    assert quantities(claimed)


@pytest.mark.parametrize(
    ("claimed", "stated"),
    [
        ("500 g", "500 kg"),
        ("5 mg", "5 mg/kg"),
        ("5 mg", "step 5"),
        ("7 ml", "5-10 ml"),
        ("7 weeks", "50 days"),
        ("15 kg/ha", "15 kg/mu"),
        ("40 °F", "40 °C"),
        ("5 °C", "-5 °C"),
        ("12", "B12"),
        ("1.5 kg", "15 kg"),
        ("1,500 kg", "1.5 kg"),
        ("20 %", "20 mg/kg"),
        ("twice", "once"),
        ("30 kg/ha", "Rate (t/ha): 30"),
        ("每天喂3公斤干草", "每天喂2公斤干草"),
        ("每天喂2克盐", "每天喂2公斤干草"),
        ("2 g", "2克/千克"),
        ("第3天", "3月2日"),
    ],
)
def test_unequal_quantities(claimed: str, stated: str) -> None:
    assert not any(is_stated(q, quantities(stated)) for q in quantities(claimed))
    assert quantities(claimed)


def test_one_is_a_pronoun_and_codes_are_no_numbers() -> None:
    assert quantities("one of them has B12 and H1N1") == []
    assert [q.value for q in quantities("one week")] == [1]


def test_numbers_in_chinese_are_found_wherever_they_stand() -> None:
    found = quantities("第2次在2023年3月,每天喂2公斤干草,温度25℃时喂10～15毫升,30%的羊。")
    assert [(q.value, q.dimension) for q in found] == [
        (2, ""),
        (2023, ""),
        (3, ""),
        (2, "mass"),
        (25, "temperature"),
        (10, "volume"),
        (15, "volume"),
        (30, "fraction"),
    ]
    assert "number" in faults("每天喂3公斤干草。", "每天喂2公斤干草。")


def test_permission_against_a_warning() -> None:
    text = "Cattle mixes often hold 500 to 2,500 mg/kg of copper and can kill sheep."
    assert "polarity" in faults("Yes, you can give your sheep the cattle mix.", text)
    assert "polarity" in faults("Cattle mixes are safe for sheep.", text)
    assert faults("No: cattle mixes can kill sheep.", text) == set()
    assert "polarity" in faults("White clover is toxic to sheep.", "White clover is safe for sheep.")
    assert "polarity" in faults("You can feed mouldy hay to ewes.", "Never feed mouldy hay to ewes.")
    assert faults("Do not feed mouldy hay to ewes.", "Never feed mouldy hay to ewes.") == set()
    assert "polarity" in faults("Vaccinate ewes after lambing.", "Vaccinate ewes before lambing.")
    assert "polarity" in faults("Lime lowers the pH of soil.", "Lime raises the pH of soil.")
    assert faults("No more than 5 ml is given to lambs.", "Give lambs no more than 5 ml.") == set()


def test_species_of_heading_metadata_and_question() -> None:
    text = "Give 2 ml under the skin."
    assert faults("Give sheep 2 ml under the skin.", text) == {"species"}
    assert faults("Give sheep 2 ml under the skin.", text, title="Vaccines for sheep") == set()
    assert not check_claim("Give sheep 2 ml under the skin.", [passage(text, species=["sheep", "goat"])])
    assert faults("Give 2 ml.", text, title="Vaccines for sheep", question="How much for my goats?") == {"species"}
    assert faults("Give 2 ml.", text, title="Vaccines for sheep", question="How much for my ewes?") == set()
    assert faults("Lambs need 2 kg of hay.", "Ewes need 2 kg of hay.") == {"species"}
    assert faults("Lambs need 2 kg of hay.", "Sheep need 2 kg of hay.") == set()
    both = "Sheep tolerate 15 mg/kg of copper. Cattle tolerate 40 mg/kg of copper."
    assert faults("Sheep tolerate 40 mg/kg of copper.", both) == {"species"}
    assert faults("Cattle tolerate 40 mg/kg of copper.", both) == set()
    assert faults("Ewes do well.", "Ewes do well; does it pay?") == set()


def test_dates_seasons_and_names() -> None:
    text = "In Gansu, sow sainfoin from April to June or in early autumn. Huang and others tried it."
    assert faults("Sow sainfoin in May.", text) == set()  # within the range
    assert faults("Sow sainfoin in July.", text) == {"date"}
    assert faults("Sow sainfoin in winter.", text) == {"date"}
    assert faults("You may sow sainfoin in April.", text) == set()
    assert faults("In Gansu, sow sainfoin in April.", text) == set()
    assert faults("Farmers in Sichuan sow sainfoin in April.", text) == {"name"}
    assert faults("Sow it with Rhizovax in April.", text) == {"name"}


def test_overlap_is_within_one_window() -> None:
    text = "Ewes eat hay. Rams rest. Lambs play. Dogs bark."
    assert overlap("Ewes eat hay", text) == 1.0
    assert overlap("ewe eating hays", text) == 1.0  # stemmed
    assert overlap("Ewes bark", text) == 0.5  # the words are there, but far apart
    assert overlap("Rams rest and lambs play", text) == 1.0  # two sentences in a row
    assert overlap("", text) == overlap("the of and", text) == 0.0
    assert overlap("绵羊吃草", "绵羊吃草。") == 1.0


def test_a_claim_may_join_two_passages() -> None:
    one, two = passage("The Hu sheep comes from Zhejiang."), passage("Zhejiang has a humid subtropical climate.")
    claim = "The Hu sheep comes from Zhejiang, which has a humid subtropical climate."
    assert verify(claim, [one, two]) == "supported"
    assert verify(claim, [one]) == "partial"


def test_vectors_lift_a_paraphrase_and_nothing_without_them() -> None:
    source = [passage("Ewes close to lambing require additional energy each day.")]
    claim = "Ewes near lambing require extra feed."
    assert verify(claim, source) in ("partial", "unsupported")

    def alike(texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 3))

    def unlike(texts: Sequence[str]) -> np.ndarray:
        return np.eye(len(texts))

    assert verify(claim, source, encode=alike) == "supported"
    assert verify(claim, source, encode=unlike) == verify(claim, source)
    assert verify("Ewes near lambing require 3 kg.", source, encode=alike) == "unsupported"  # faults come first


def test_a_number_from_elsewhere_in_the_passage_is_not_supported() -> None:
    text = "Sheep tolerate 15 mg/kg of copper. Hay holds little of it. Mixes for cattle hold 500 mg/kg."
    assert verify("Sheep can tolerate 15 mg/kg copper.", [passage(text)]) == "supported"
    assert verify("Sheep can tolerate 500 mg/kg copper.", [passage(text)]) == "partial"


def test_nothing_to_check() -> None:
    assert verify("Yes.", [passage("Ewes eat hay.")]) == "unsupported"
    assert verify("Ewes eat hay?", [passage("Ewes eat hay.")]) == "unsupported"
    assert verify("Ewes eat hay.", []) == "unsupported"
    assert check_claim("Ewes eat hay.", []) == ()
    assert verify("Ewes eat hay.", [passage("")]) == "unsupported"
