"""The composer quotes, cites, and reads like an answer. The scorer here is word overlap: slow, obvious, no model."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lqr.blend import Blend
from lqr.retrieval.fake import HashingEmbedder
from lqr.text import content_words
from lqr.types import Hit, Passage
from lqr.writing.composer import Composer
from lqr.writing.rows import heading as heading_over
from lqr.writing.rows import whole_tables
from lqr.writing.units import of_people_unasked, points_elsewhere, units_of


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
        ("Can I give my sheep cattle minerals?", "No: sheep must not be given cattle minerals.", ""),
        (
            "Should I cross Tan ewes with a Dorper?",
            "Dorper rams suit the cross of Tan ewes, but the lambs cannot be sold as Tan.",
            "",
        ),
        ("Can sheep graze wet red clover?", "Sheep must never graze wet red clover.", "No. "),
        ("Can people catch orf from sheep?", "People can catch orf from sheep through small cuts.", "Yes. "),
        ("Is orf dangerous for people?", "People can catch orf from sheep through small cuts.", ""),
        ("Can I feed oats or barley to sheep?", "Sheep should not be fed mouldy oats or barley.", ""),
        ("Can sheep eat silage?", "Sheep can be fed silage only if it is not mouldy.", ""),
        ("Can I inject live vaccine into pregnant ewes?", "Injecting live vaccine into pregnant ewes can cause abortion.", ""),
        ("Can I give live vaccine to pregnant ewes?", "Live vaccine given to pregnant ewes can be fatal to the lambs.", ""),
        ("Can I feed ewes silage?", "Silage can be used to feed ewes at 2 to 4 kg a day.", ""),
        ("Can I feed ewes silage?", "Good silage can be used to feed ewes.", "Yes. "),
        ("Can urea be fed to lambs?", "Urea can be fed to lambs over six months old.", ""),
        ("Can urea be fed to lambs?", "Urea can be fed to lambs when they are full.", ""),
        ("Can't ewes be fed silage?", "Good silage can be fed to ewes.", ""),
        ("Can my sheep eat wet clover?", "Sheep can eat wet clover and die of bloat.", ""),
        ("How do people catch orf?", "People can catch orf from sheep through small cuts.", ""),
    ],
)
def test_it_leads_with_yes_or_no_only_where_that_is_certain(composer: Composer, question: str, sentence: str, lead: str) -> None:
    made = composer.compose(question, (), [hit(sentence)])
    assert made.text.startswith(lead + sentence)
    assert made.claims[0].text == sentence  # what is quoted is the sentence alone


def test_what_is_forbidden_leads_where_one_asks_whether_one_may(composer: Composer) -> None:
    text = "Urea in the row of maize seed is kept low. Never let urea granules touch germinating maize seed."
    assert composer.compose("How much urea in the row with maize seed?", (), [hit(text)]).text.startswith("Urea in the row")
    assert composer.compose("Can I put urea in the row with maize seed?", (), [hit(text)]).text.startswith("Never let urea")


def test_a_sentence_that_leans_on_the_one_before_brings_it_along(composer: Composer) -> None:
    made = composer.compose("How many mg of copper per kg?", (), [COPPER])
    assert "made for cattle. It holds 1,000 mg" in made.text
    first = hit("It is common in wet autumns.", title="Footrot", section=("When",))
    made = composer.compose("Is it common in wet autumns?", (), [first])
    assert made.text.startswith("Footrot – When: It is common")


def test_a_table_row_is_column_and_value_under_its_heading(composer: Composer) -> None:
    row = hit(
        "Stage: late pregnancy; Hay (kg/day): 1.2; Concentrate (kg/day): 0.5",
        title="Feeding ewes",
        section=("Rates",),
        kind="table_row",
    )
    made = composer.compose("How much hay in late pregnancy?", (), [row])
    assert made.text == "Feeding ewes – Rates:\n- late pregnancy — Hay (kg/day): 1.2; Concentrate (kg/day): 0.5 [1]"


def table(*rows: str, title: str, section: str) -> list[Hit]:
    return [hit(row, title=title, section=(section,), number=n, kind="table_row") for n, row in enumerate(rows)]


def test_a_label_that_is_a_number_keeps_the_name_of_its_column(composer: Composer) -> None:
    rows = table(
        "Temperature (°C): below 5; Weeks: 8",
        "Temperature (°C): 5 to 15; Weeks: 6",
        title="Straw",
        section="How long to seal straw",
    )
    made = composer.compose("How many weeks do I seal straw?", (), rows)
    assert made.text.splitlines() == [
        "How long to seal straw:",
        "- Temperature (°C): below 5 — Weeks: 8 [1]",
        "- 5 to 15 — Weeks: 6 [2]",  # the row above it has said of what
    ]


@pytest.mark.parametrize(
    ("question", "weeks"),
    [
        ("It is 10 °C, how many weeks do I seal straw?", [6]),
        ("How many weeks for straw at 32 degrees C?", [2]),
        ("Straw at 68 F (20 C): how many weeks?", [2]),
        ("Straw at 41 °C: how many weeks?", [2, 1]),
        ("How many weeks for 10 bales of straw?", [8, 6, 2, 1]),
    ],
)
def test_a_number_of_the_question_names_the_row_whose_range_holds_it(composer: Composer, question: str, weeks: list[int]) -> None:
    rows = table(
        "Air temperature (°C): below 5; Weeks: 8",
        "Air temperature (°C): 5 to 15; Weeks: 6",
        "Air temperature (°C): above 15; Weeks: 2",
        "Air temperature (°C): 40 or more; Weeks: 1",
        title="Straw",
        section="How long to seal straw",
    )
    made = composer.compose(question, (), rows)
    assert [int(n) for n in re.findall(r"Weeks: (\d)", made.text)] == weeks


@pytest.mark.parametrize(
    ("question", "weeks"),
    [
        ("How much milk at 3 weeks of age?", ["2 to 3"]),
        ("How much milk for my 2 lambs?", ["Day 1", "2 to 3", "4"]),  # a number of lambs is no age
        ("Lamb 1 week old: how much milk?", ["Day 1", "2 to 3", "4"]),  # nor is a week a day
        ("How much milk on day 1?", ["Day 1"]),
    ],
)
def test_a_number_with_another_unit_names_no_row(composer: Composer, question: str, weeks: list[str]) -> None:
    rows = table(
        "Age of lamb: Day 1; Milk (ml): 1,000",
        "Age of lamb: 2 to 3 weeks; Milk (ml): 1,500",
        "Age of lamb: 4 weeks; Milk (ml): 2,000",
        title="Bottle lambs",
        section="How much milk do bottle lambs need",
    )
    made = composer.compose(question, (), rows)
    assert re.findall(r"- (Day 1|2 to 3|4)", made.text) == weeks


@pytest.mark.parametrize("question", ["a" * 2000, "羊" * 2000, "1," * 1000, "a:" + "=" * 1998])
def test_a_question_of_one_long_word_costs_no_more_than_another(question: str) -> None:
    rows = table(*(f"Weeks: {n}; Milk (ml): {n}00" for n in range(40)), title="Milk", section="How much milk")
    units = [unit for n, row in enumerate(rows) for unit in units_of(row.passage, n)]
    began = time.process_time()
    whole_tables(question, units[:1], units)
    assert time.process_time() - began < 0.5  # once 1.5 s a row


def test_thousands_are_read_whole(composer: Composer) -> None:
    rows = table(
        "Nitrate (mg per kg): Below 1,000; Use: safe",
        "Nitrate (mg per kg): 1,000 to 2,000; Use: half",
        "Nitrate (mg per kg): Above 2,000; Use: none",
        title="Nitrate",
        section="How much nitrate is safe",
    )
    made = composer.compose("Nitrate test says 1,500 mg per kg, is it safe?", (), rows)
    assert re.findall(r"Use: (\w+)", made.text) == ["half"]


def test_a_number_names_a_row_by_a_column_that_the_question_names(composer: Composer) -> None:
    rows = table(
        "Grade: high; Olsen P (mg/kg): 20-40; Potassium (mg/kg): 150-200",
        "Grade: low; Olsen P (mg/kg): 5-10; Potassium (mg/kg): 50-100",
        "Grade: none; Olsen P (mg/kg): below 5; Potassium (mg/kg): 5-10",
        title="Soil test",
        section="How to read a soil test",
    )
    made = composer.compose("Olsen P of 8 mg/kg in my soil test: which grade is that?", (), rows)
    assert re.findall(r"- (\w+) —", made.text) == ["low"]


def test_a_table_is_not_unrolled_where_a_sentence_answers_better(composer: Composer) -> None:
    rows = table(
        "Gas: methane; Danger in a silo pit after filling: explosion",
        "Gas: ammonia; Where: litter",
        "Gas: carbon dioxide; Where: bins",
        title="Silo gas",
        section="Which",
    )
    sentence = hit("After filling a silo pit nobody may enter it for three weeks, as danger is greatest.", title="Silo", number=9)
    question = "How great is the danger in a silo pit after filling, and who may enter it?"
    made = composer.compose(question, (), [sentence, *rows])
    assert made.text.startswith("After filling a silo pit")
    assert re.findall(r"- ([\w ]+) —", made.text) in ([], ["methane"])
    alone = composer.compose("Which danger is in a silo pit after filling?", (), rows)
    assert "methane" in alone.text


@pytest.mark.parametrize(
    ("title", "section", "shown"),
    [
        ("Climate calendar of Sichuan", "What is the climate of Sichuan", "What is the climate of Sichuan"),
        ("Climate and farming calendar of Sichuan", "Sheep and goat calendar", None),  # of which region must be said
        ("Feeding straw and treating it with urea", "How to treat straw with urea", "How to treat straw with urea"),
        ("Dorper sheep", "Wool", None),
    ],
)
def test_a_heading_names_the_subject_once(title: str, section: str, shown: str | None) -> None:
    assert heading_over(hit("Text.", title=title, section=(section,)).passage) == (shown or f"{title} – {section}")


def test_the_column_that_was_asked_for_comes_first_and_cells_stay_whole(composer: Composer) -> None:
    rows = table(
        "Vaccine: orf; First course: one scratch; lambs: by label; Booster: yearly; ewes: before lambing",
        "Vaccine: pox; First course: one dose; Booster: none",
        title="Vaccines for sheep",
        section="Which",
    )
    made = composer.compose("When is the booster of the orf vaccine given?", (), rows)
    assert "- orf — Booster: yearly; ewes: before lambing; First course: one scratch; lambs: by label [1]" in made.text


def test_units_of_a_question_name_no_row_and_its_words_do(composer: Composer) -> None:
    rows = table(
        "Class: dry sheep; Grain (kg/day): 0.5",
        "Class: pregnant, first 100 days; Grain (kg/day): 0.6",
        "Class: weaner, 20 to 25 kg; Grain (kg/day): 0.4",
        title="Drought",
        section="Grain",
    )
    made = composer.compose("How much grain in kg a day keeps a 50 kg dry ewe alive for 30 days?", (), rows)
    assert re.findall(r"Grain \(kg/day\): ([\d.]+)", made.text) == ["0.5"]


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("I feel a tail but no legs, what now?", "Breech"),
        ("How many hoppers at heading?", "Heading"),
    ],
)
def test_what_is_not_there_and_how_many_name_no_row(composer: Composer, question: str, row: str) -> None:
    lambs = table(
        "Lie: Legs back; Felt: Head with one leg; Do: Bring the leg forward",
        "Lie: Breech; Felt: Tail only; Do: Bring each foot back",
        title="Difficult lambing",
        section="Positions",
    )
    rice = table(
        "Stage: Heading to milk; Limit: 1,500",
        "Stage: Many spiders or mirids; Limit: wait",
        title="Hoppers",
        section="When to act",
    )
    hits = lambs if row == "Breech" else rice
    composed = composer.compose(question, (), hits)
    assert row in composed.text
    assert "Many spiders" not in composed.text


def test_an_article_on_the_asked_animal_goes_before_one_that_names_it_by_the_way() -> None:
    def beside(parts: Sequence[str], passages: Sequence[Passage]) -> dict[tuple[int, str], float]:
        return {(0, passage.id): 0.25 for passage in passages if passage.title == "Goats"}

    goats = hit("Copper that is safe for goats is 25 mg, and for sheep it is 10 mg.", title="Goats")
    sheep = hit("For sheep 10 mg of copper in the whole diet is a safe amount.", title="Sheep")
    question = "How much copper is safe for sheep and for goats?"  # the scorer likes the goats better
    plain = Composer(overlap_scorer, HashingEmbedder(dimension=256).encode)
    aware = Composer(overlap_scorer, HashingEmbedder(dimension=256).encode, beside=beside)
    assert plain.compose(question, (), [goats, sheep]).claims[0].passages == ("goats-0",)
    assert aware.compose(question, (), [goats, sheep]).claims[0].passages == ("sheep-0",)
    assert aware.compose(question, (), [goats, sheep]).best == plain.compose(question, (), [goats, sheep]).best
    assert aware.compose(question, (), [goats]).claims  # it still answers where nothing else does


def test_figures_that_were_said_are_not_said_again_in_nearly_the_same_words(composer: Composer) -> None:
    hits = [
        hit("A newborn lamb needs 50 ml of colostrum per kg at a feed and 200 ml per kg in 24 hours.", title="Colostrum"),
        hit("Every lamb that is newborn wants 50 ml of colostrum per kg first and 200 ml per kg by 24 hours.", title="Lambs"),
    ]
    made = composer.compose("How many ml of colostrum per kg does a newborn lamb need?", (), hits)
    assert made.text.count("200 ml") == 1


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


def test_a_long_list_keeps_the_item_that_answers_and_the_other_half_of_the_question(composer: Composer) -> None:
    items = "\n".join(f"- Hot claws, case {n}." for n in range(1, 12)) + "\n- Signs of footrot in sheep are lame feet."
    signs = hit(items, title="Footrot", section=("Signs",), kind="list_item")
    cure = hit("Inject the vet's antibiotic.", title="Footrot", section=("Cure",), number=1)
    made = composer.compose(
        "What are the signs of footrot and how to cure?", ("What are the signs of footrot?", "How to inject?"), [signs, cure]
    )
    assert "lame feet" in made.text
    assert "Inject the vet" in made.text
    assert made.text.count("\n- ") <= 8


def test_the_sentence_that_people_asked_for_comes_first() -> None:
    """Of two sentences that look alike to the models, a question written for one of them tells which it is."""
    text = "Lambs need it within two hours of birth. Ewes make it in the last days before birth."
    asked = {"how soon must they drink": [("within two hours", 0.9)], "when does it come": [("in the last days", 0.9)]}
    for question, pieces in asked.items():
        composer = Composer(
            lambda pairs: [0.5] * len(pairs),
            HashingEmbedder().encode,
            Blend(unit={"bias": -2.0, "encoder": 1.0, "asked": 4.0}),
            asked=lambda question, passage_id, pieces=pieces: pieces,  # type: ignore[misc]
        )
        assert pieces[0][0] in composer.compose(question, (), [hit(text)]).text.split(".")[0]


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


@pytest.mark.parametrize(
    ("sentence", "pointer"),
    [
        ("Rates for other land are in fertilising grassland.", True),
        ("The general method is described in integrated pest management.", True),
        ("Feeding advice is in finishing lambs on concentrates, and breeding plans are in crossbreeding sheep.", True),
        ("More is in clostridial vaccination and nitrate poisoning.", True),
        ("See goat health.", True),
        ("See that every lamb drinks enough colostrum.", False),
        ("See a doctor for fever of more than 3 days.", False),
        ("Methods of drying are in making good hay, and wet crops are safer as silage.", False),
        ("All ewes are in good condition.", False),
        ("Seed rates are in the range of 20 kg.", False),
    ],
)
def test_a_sentence_that_only_points_elsewhere_is_known(sentence: str, pointer: bool) -> None:
    assert points_elsewhere(sentence) is pointer


def test_a_pointer_is_quoted_only_where_nothing_else_is_left(composer: Composer) -> None:
    pointer = "Rates of lime for grassland are in liming grassland."
    question = "Which rates of lime for grassland?"
    made = composer.compose(question, (), [hit(f"Lime for grassland is spread in autumn. {pointer}")])
    assert made.text == "Lime for grassland is spread in autumn. [1]"
    assert composer.compose(question, (), [hit(pointer)]).text == f"{pointer} [1]"


def test_first_aid_leads_only_where_one_asks_for_it(composer: Composer) -> None:
    aid = hit("Do not let sheep eat more barley grain or drink cold water.", title="Acidosis", section=("What to do first",))
    barley = hit("Sheep eat barley well after 14 days of change.", title="Barley", number=1)
    usual = composer.compose("Can sheep eat more barley grain or cold mash?", (), [aid, barley])
    assert usual.claims[0].passages == ("barley-1",)
    assert usual.text.count("Acidosis") == usual.text.count("Acidosis – What to do first: Do not") == 1
    urgent = composer.compose("What do I do first for sheep on barley grain?", (), [aid, barley])
    assert urgent.claims[0].passages == ("acidosis-0",)
    assert "What to do first" not in urgent.text


def test_a_look_alike_is_quoted_under_its_heading(composer: Composer) -> None:
    alike = hit("Stiff lambs of this age also have joint ill.", title="Stiff lamb disease", section=("Look-alikes",))
    made = composer.compose("At which age have stiff lambs joint ill?", (), [alike])
    assert made.text == "Stiff lamb disease – Look-alikes: Stiff lambs of this age also have joint ill. [1]"
    asked = composer.compose("What else looks like joint ill in stiff lambs?", (), [alike])
    assert asked.text == "Stiff lambs of this age also have joint ill. [1]"


def test_the_mistake_is_told_with_what_follows_from_it(composer: Composer) -> None:
    text = "Sheep must not be fed cattle minerals. Chronic copper poisoning shows months after the mistake began."
    made = composer.compose("How many months until chronic copper poisoning shows?", (), [hit(text)])
    assert made.text == f"{text} [1]"


def test_the_ban_of_a_quoted_passage_is_said_too(composer: Composer) -> None:
    ban = "Do not give sheep goat mineral, as copper kills."
    diet = "The whole diet of ewes should hold 7 to 11 mg copper a kg of dry matter, no more."
    other = "Never leave gates on farm tracks open at night."
    question = "How many mg copper a kg dry matter in the whole diet of ewes that get goat mineral?"
    made = composer.compose(question, (), [hit(f"{diet} {ban} {other}")])
    assert made.text == f"{diet} [1] {ban} [1]"


def test_a_dose_brings_what_its_passage_forbids(composer: Composer) -> None:
    text = "Give the ewe propylene glycol by mouth. It costs little. A drench must not go into an animal that cannot swallow."
    made = composer.compose("What should I give the ewe by mouth?", (), [hit(text)])
    assert "cannot swallow" in made.text
    mild = hit("Give the ewe good hay. Cattle in the same shed must not be crowded.", title="Hay")
    assert "crowded" not in composer.compose("What should I give the ewe?", (), [mild]).text


def test_rows_that_the_question_does_not_name_give_way_to_a_sentence(composer: Composer) -> None:
    rows = table("Gas: methane; Where: slurry store", "Gas: ammonia; Where: poultry litter", title="Gases", section="Which")
    question = "He breathed silo gas near the slurry store yesterday and feels fine, must he see a doctor?"
    sentence = hit("Anyone who breathed silo gas must see a doctor the same day, even if he feels fine.", title="Silo", number=9)
    assert "methane" not in composer.compose(question, (), [sentence, *rows]).text
    assert "methane" in composer.compose(question, (), rows).text


def test_of_two_rows_named_by_the_same_word_the_better_stays() -> None:
    rows = table(
        "Sign: ewe down before lambing; Think of: toxaemia",
        "Sign: ewe down with fits; Think of: tetanus",
        "Sign: lame; Think of: footrot",
        title="Signs",
        section="Table",
    )
    units = [replace(unit, score=s) for r, s in zip(rows, (0.9, 0.2, 0.2), strict=True) for unit in units_of(r.passage)]
    assert [u.text for u in whole_tables("Which ketone figure has a ewe?", units[:1], units)] == [units[0].text]
    even = [replace(unit, score=0.9) for unit in units]
    assert len(whole_tables("Which ketone figure has a ewe?", even[:1], even)) == 2


@pytest.mark.parametrize(
    ("question", "text", "unasked"),
    [
        ("is there a cure for brucellosis in sheep", "Doctors cure brucellosis with two antibiotics.", True),
        ("is there a cure for brucellosis in people", "Doctors cure brucellosis with two antibiotics.", False),
        ("Can I catch brucellosis?", "People catch brucellosis from afterbirths.", False),
        ("is there a cure for brucellosis in sheep", "Treatment of sheep does not clear brucellosis.", False),
    ],
)
def test_what_is_true_of_people_is_told_to_who_asks_about_them(question: str, text: str, unasked: bool) -> None:
    assert of_people_unasked(question, text) is unasked


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Can sheep eat it? No, it holds copper. Goats can.", ["Can sheep eat it? No, it holds copper.", "Goats can."]),
        ("Why? How? By frost.", ["Why? How? By frost."]),
        ("Sheep can. Can goats?", ["Sheep can.", "Can goats?"]),  # nothing answers it
        ("羊能吃吗？不能。", ["羊能吃吗？不能。"]),
    ],
)
def test_a_question_and_its_answer_are_one_unit(text: str, units: list[str]) -> None:
    found = units_of(hit(text).passage)
    assert [unit.text for unit in found] == units
    assert all(text[unit.start : unit.end] == unit.text for unit in found)


def test_a_named_row_far_behind_the_best_is_not_the_one_that_is_meant() -> None:
    rows = [
        hit("Class: Ram lamb, 8 months; Ewes: 20 to 25", kind="table_row", number=0),
        hit("Class: Ram with synchronised ewes; Ewes: 5 to 10", kind="table_row", number=1),
    ]
    near = [replace(u, score=s) for r, s in zip(rows, (0.3, 0.2), strict=True) for u in units_of(r.passage)]
    far = [replace(u, score=s) for u, s in zip(near, (0.3, 0.01), strict=True)]
    question = "How many ewes with one ram?"
    assert "synchronised" in " ".join(unit.text for unit in whole_tables(question, near[:1], near))
    assert [unit.text for unit in whole_tables(question, far[:1], far)] == [rows[0].passage.text]
