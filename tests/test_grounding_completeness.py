"""Elements that a topic requires are seen in the answer, and the missing ones are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from lqr.corpus.profile import Profile, load_profile
from lqr.errors import SettingsError
from lqr.grounding.completeness import completeness
from lqr.types import Claim

TOML = """
[scope]
animal = [["sheep", "ewe", "ewes"]]
[elements]
dose = { by = "quantity" }
timing = { by = "time" }
species = { by = "scope", words = ["animal"] }
withdrawal = { by = "words", words = ["withdrawal"] }
source = { by = "cited" }
[[topics]]
name = "medicine"
words = ["drench"]
required = ["dose", "timing", "species", "withdrawal", "source"]
"""


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    (tmp_path / "collection.toml").write_text(TOML)
    return load_profile(tmp_path)


def test_share_of_the_topic_s_elements(profile: Profile) -> None:
    text = "Drench ewes with 0.2 mg/kg."
    found = completeness(profile, "how do I drench ewes", text, [Claim(text, ("a-0",), "quoted")])
    assert (found.topic, found.score) == ("medicine", 0.6)
    assert found.missing == ("timing", "withdrawal")


def test_all_and_none(profile: Profile) -> None:
    whole = "Drench ewes before lambing with 0.2 mg/kg; the withdrawal period is 14 days."
    assert completeness(profile, "drench?", whole, [Claim(whole, ("a-0",), "quoted")]).score == 1.0
    assert completeness(profile, "drench?", "Ask a vet.", [Claim("Ask a vet.", (), "partial")]).score == 0.0
    assert completeness(profile, "what is hay", whole, []).score is None
    assert completeness(profile, "what is hay", whole, [], required=["dose"]).score == 1.0
    with pytest.raises(KeyError):
        completeness(profile, "what is hay", whole, [], required=["mood"])


@pytest.mark.parametrize("wrong", ['required = ["mood"]', 'by = "smell"'])
def test_unknown_elements_are_refused(tmp_path: Path, wrong: str) -> None:
    text = (
        TOML.replace('required = ["dose", "timing", "species", "withdrawal", "source"]', wrong)
        if "req" in wrong
        else TOML.replace('by = "time"', wrong)
    )
    (tmp_path / "collection.toml").write_text(text)
    with pytest.raises(SettingsError, match="elements"):
        load_profile(tmp_path)
