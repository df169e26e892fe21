"""Tests of lqr.corpus.profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from lqr.corpus.profile import FILE_NAME, NotHeld, Profile, load_profile
from lqr.errors import SettingsError

TOML = """
title = "Bees"
description = "Hives."
examples = ["How do bees swarm?"]
[refusal]
en = "No."
zh = "没有。"
near_en = "Near:"
[[not_held]]
words = ["Price", "价格"]
unless = ["price-setting"]
en = "No prices."
zh = "没有价格。"
[scope]
animal = [["bees", "bee", "honey bee"], ["wasps", "wasp"]]
plant = [["clover", "white clover"], ["rape"]]
[classes]
caste = [["queens", "queen"], ["drones", "drone"]]
"""


def written(folder: Path, text: str) -> Profile:
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return load_profile(folder)


@pytest.fixture
def bees(tmp_path: Path) -> Profile:
    return written(tmp_path, TOML)


def test_a_folder_without_a_file_has_the_empty_profile(tmp_path: Path) -> None:
    profile = load_profile(tmp_path)
    assert (profile.name, profile.title, profile.examples) == (tmp_path.name, tmp_path.name, ())
    assert profile.mentions("sheep and price") == []
    assert profile.things("sheep") == {}
    assert profile.cannot_hold("What is the price of sheep?") is None
    assert profile.text("refusal").startswith("The documents here")
    assert profile.text("near", "zh")
    assert profile.text("rephrase")


def test_every_field_is_read(bees: Profile) -> None:
    assert bees.title == "Bees"
    assert bees.examples == ("How do bees swarm?",)
    assert bees.not_held == (NotHeld(("price", "价格"), ("price-setting",), {"en": "No prices.", "zh": "没有价格。"}),)
    assert bees.scope["animal"][0] == ("bees", "bee", "honey bee")


def test_mentions_take_the_longest_name_whole_words_and_any_case(bees: Profile) -> None:
    found = bees.mentions("A Honey Bee on WHITE CLOVER, a beetle, bee-like flies and grapes")
    assert [(m.kind, m.thing, m.text) for m in found] == [
        ("animal", "bees", "Honey Bee"),
        ("plant", "clover", "WHITE CLOVER"),
    ]
    text = "the wasp and the bee"
    assert [text[m.start : m.end] for m in bees.mentions(text)] == ["wasp", "bee"]


def test_things_are_grouped_by_kind(bees: Profile) -> None:
    assert bees.things("bee, bees, wasp and clover") == {"animal": {"bees", "wasps"}, "plant": {"clover"}}


def test_classes_are_apart_from_scope(bees: Profile) -> None:
    assert bees.mentions("the queen") == []
    assert [m.thing for m in bees.mentions("the queen", classes=True)] == ["queens"]


@pytest.mark.parametrize("text", ["waſp", "WASP İN CLOVER", "clover ın", "bee\u0307", "ſ", "İ"])
def test_letters_that_only_ignorecase_equates_do_no_harm(tmp_path: Path, text: str) -> None:
    profile = written(tmp_path, '[scope]\nanimal = [["wasp"], ["in"], ["bee"], ["ki"], ["s"], ["i"]]\n')
    for mention in profile.mentions(text):
        assert mention.text.lower() == mention.thing


def test_a_name_of_two_kinds_is_mentioned_twice(tmp_path: Path) -> None:
    profile = written(tmp_path, '[scope]\nanimal = [["turkey"]]\nregion = [["Turkey"]]\n')
    assert {(m.kind, m.thing) for m in profile.mentions("turkey")} == {("animal", "turkey"), ("region", "Turkey")}


def test_what_no_document_can_hold(bees: Profile) -> None:
    assert bees.cannot_hold("What is the PRICE of honey?") == "No prices."
    assert bees.cannot_hold("what is the price", "zh") == "没有价格。"
    assert bees.cannot_hold("what is the price", "fr") == "No prices."
    assert bees.cannot_hold("Is it priceless?") is None
    assert bees.cannot_hold("How does price-setting work?") is None


def test_chinese_has_no_spaces_between_words(bees: Profile) -> None:
    assert bees.cannot_hold("今天蜂蜜的价格是多少", "zh") == "没有价格。"


def test_refusal_texts_fall_back_to_english_and_then_to_the_built_in(bees: Profile) -> None:
    assert bees.text("refusal", "zh") == "没有。"
    assert bees.text("refusal", "fr") == "No."
    assert bees.text("near", "zh") == "Near:"
    assert bees.text("rephrase", "zh") == Profile().text("rephrase")


SYNONYMS = """
[synonyms]
varroosis = ["mites", "varroa mites", "varroa", "螨虫病"]
"queen cells" = ["cells of the queen"]
queens = ["mothers", "蜂王"]
bees = ["蜂"]
"""


@pytest.fixture
def spoken(tmp_path: Path) -> Profile:
    return written(tmp_path, SYNONYMS)


@pytest.mark.parametrize(
    ("said", "glossed", "renamed"),
    [
        ("Mites in my hive", "Mites (varroosis) in my hive", "varroosis in my hive"),
        ("mites, and again mites", "mites (varroosis), and again mites", "varroosis, and again varroosis"),  # said once
        ("kill varroa mites", "kill varroa mites (varroosis)", "kill varroosis"),  # the longest, not "varroa (varroosis) mites"
        ("mites or varroosis", "mites or varroosis", "varroosis or varroosis"),  # it is said already
        ("Varroosis and Queens", "Varroosis and Queens", "Varroosis and Queens"),  # the documents' own names stay
        ("termites, anti-mites", "termites, anti-mites", "termites, anti-mites"),  # whole words only
        ("蜂王有螨虫病", "蜂王 (queens)有螨虫病 (varroosis)", " queens 有 varroosis "),  # no spaces between words; 蜂王, not 蜂
    ],
)
def test_what_people_say_gets_the_documents_name(spoken: Profile, said: str, glossed: str, renamed: str) -> None:
    assert spoken.glossed(said) == glossed
    assert spoken.renamed(said) == renamed


def test_a_wish_that_cannot_be_met_is_not_broken_up(tmp_path: Path) -> None:
    wish = '[[not_held]]\nwords = ["多少钱", "bill for mites"]\nen = "No prices."\n'
    profile = written(tmp_path, wish + '[synonyms]\n"how much" = ["多少"]\nvarroosis = ["mites"]\n')
    for said in ("蜂蜜多少钱", "the bill for mites"):
        assert profile.renamed(said) == profile.glossed(said) == said
        assert profile.cannot_hold(profile.renamed(said)) == "No prices."
    assert profile.renamed("蜂蜜多少") == "蜂蜜 how much "


def test_another_form_of_a_name_stays_as_it_is_said(tmp_path: Path) -> None:
    profile = written(tmp_path, '[synonyms]\nabortion = ["aborted", "slipped"]\n')
    assert profile.renamed("a ewe that aborted") == "a ewe that aborted"
    assert profile.renamed(profile.glossed("a ewe that aborted")) == "a ewe that aborted"
    assert profile.renamed("she slipped") == "she abortion"  # another word, which the documents may not have


def test_a_longer_name_of_the_documents_is_not_broken_up(tmp_path: Path) -> None:
    profile = written(tmp_path, '[synonyms]\nmaize = ["corn"]\n"corn borers" = ["stalk worms"]\n')
    assert profile.renamed("corn and corn borers") == "maize and corn borers"
    assert profile.glossed("corn borers") == "corn borers"


@pytest.mark.parametrize("said", ["", "mites", "蜂王 and ſ İ"])
def test_without_synonyms_a_question_stays_as_it_is(bees: Profile, said: str) -> None:
    assert bees.glossed(said) == bees.renamed(said) == said


@pytest.mark.parametrize("text", ['a = ["x"]\nb = ["X"]', 'a = ["A"]', 'a = "x"', "a = ['']"])
def test_a_synonym_stands_for_one_name_that_is_not_its_own(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match="synonyms") as caught:
        written(tmp_path, f"[synonyms]\n{text}\n")
    assert FILE_NAME in str(caught.value)
    assert tmp_path.name in str(caught.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("title = ", FILE_NAME),
        ("colour = 1", "colour"),
        ("examples = 'How?'", "examples"),
        ("examples = [1]", "examples"),
        ("title = 3", "title"),
        ("refusal = 'No.'", "refusal"),
        ("[refusal]\nen = 3", "refusal.en"),
        ("scope = 3", "scope"),
        ("[scope]\nanimal = ['bee']", "animal"),
        ("[scope]\nanimal = [['']]", "animal"),
        ("[scope]\nanimal = 'bee'", "animal"),
        ("[[not_held]]\nen = 'No.'", "words"),
        ("[[not_held]]\nwords = 'price'\nen = 'No.'", "words"),
        ("[[not_held]]\nwords = []\nen = 'No.'", "words"),
        ("[[not_held]]\nwords = ['price']\nzh = '没有。'", "en"),
    ],
)
def test_a_malformed_file_is_refused_by_name(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(SettingsError) as caught:
        written(tmp_path, text)
    assert named in str(caught.value)
    assert tmp_path.name in str(caught.value)


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes('title = "价格"'.encode("gbk"))
    with pytest.raises(SettingsError, match=FILE_NAME):
        load_profile(tmp_path)


def test_a_glossed_question_is_renamed_like_the_plain_one() -> None:
    profile = Profile(synonyms={"coccidiosis": ("cocci",), "footrot": ("腐蹄病",)})
    for question in ("what age do lambs get cocci", "腐蹄病怎么治疗", "cocci and coccidiosis"):
        assert profile.renamed(profile.glossed(question)).split() == profile.renamed(question).split()
