"""Names are found once, longest first, in the order of the text."""

from __future__ import annotations

from lqr.corpus.profile import Profile
from lqr.entities import EntityFinder, TopicFinder

PROFILE = Profile(scope={"animal": (("sheep", "ewes"), ("goats", "does")), "region": (("Ningxia",),), "crop": (("barley",),)})
finder = EntityFinder(
    PROFILE, ("Tan sheep", "Barley and highland barley", "Chronic copper poisoning in sheep", "Making good hay")
)


def test_names_in_order_without_overlaps() -> None:
    assert finder("Tan sheep in Ningxia") == ["Tan sheep", "Ningxia"]
    assert finder("Is copper poisoning in ewes from hay?") == ["copper poisoning", "ewes", "hay"]
    assert finder("highland barley, barley") == ["highland barley", "barley"]


def test_the_longest_name_wins() -> None:
    assert finder("chronic copper poisoning in sheep") == ["chronic copper poisoning in sheep"]


def test_words_inside_words_are_none() -> None:
    assert finder("sheepish hayward") == []


def test_the_verb_does_is_no_goat() -> None:
    assert finder("How much does it cost?") == []
    assert finder("How many does?") == ["does"]


def test_nothing_known_finds_nothing() -> None:
    assert EntityFinder(Profile(), ())("Tan sheep in Ningxia") == []


def test_topics_are_named_whole_or_by_their_head() -> None:
    named_in = TopicFinder(PROFILE)
    titles = {"Chronic copper poisoning in sheep", "Making good hay", "Tan sheep"}
    named = {"Chronic copper poisoning in sheep"}
    assert named_in("Does chronic copper poisoning show in Tan sheep?", titles) == named  # the breed is no topic
    assert named_in("What do my sheep eat?", titles) == set()  # nor is an animal
    assert named_in("Making good hay", ()) == set()
