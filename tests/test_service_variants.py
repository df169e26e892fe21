"""Applications over other documents: alone these know nothing of the library's profile, beside it all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lqr.app import build
from lqr.retrieval.fake import HashingEmbedder
from lqr.service.sessions import Sessions
from lqr.settings import Settings
from lqr.types import Passage

PROFILE = '[scope]\nanimal = [["sheep", "ewe"], ["goats", "goat"]]\nregion = [["Ningxia"], ["Gansu"]]\n'
ON_SHEEP = Passage("p-0", "p", "Sheep", (), "Goats get 9 g of salt.", 0, 0, 22)


@pytest.mark.parametrize("alone", [True, False])
def test_what_the_library_is_about_is_said_of_own_documents_only_beside_it(tmp_path: Path, alone: bool) -> None:
    (tmp_path / "farm").mkdir()
    (tmp_path / "farm" / "salt.md").write_text("# Salt\n\nA sheep needs 9 g of salt.\n", encoding="utf-8")
    (tmp_path / "farm" / "collection.toml").write_text(PROFILE, encoding="utf-8")
    settings = Settings(profile="cpu", home=tmp_path / "home", knowledge=tmp_path, collection="farm", models=tmp_path / "none")
    base = build(settings, embedder=HashingEmbedder(64))
    sessions = Sessions(base)
    try:
        mine = sessions.open("session-of-anna")
        mine.add("barn.md", b"# Barn\n\nThe walnut barn holds 40 ewes.\n")
        mine.add("mill.md", b"# Mill\n\nThe mill grinds oats.\n")
        mine.choose("own" if alone else "both")
        pipeline = mine.application.pipeline
        assert (pipeline.profile.scope == {}) is alone
        assert pipeline.layered.places("a flock in Ningxia") == ([] if alone else ["Ningxia"])
        assert pipeline.entities("sheep or goats in the Barn") == (["Barn"] if alone else ["sheep", "goats", "Barn"])
        # the library's names are no sign of a second step to documents that know none of them
        assert ("entities" in pipeline.complexity.route("Do sheep and goats sleep indoors?").reason) is not alone
        # the documents' own are, as in a library
        assert "entities" in pipeline.complexity.route("Do the Barn and the Mill and the sheep have a door?").reason
        assert "entities" in base.pipeline.complexity.route("Do sheep and goats sleep indoors?").reason
        asked = "How much salt do goats need?"
        assert bool(pipeline.composer._beside([asked], [ON_SHEEP])) is not alone
        assert base.pipeline.composer._beside([asked], [ON_SHEEP])
    finally:
        sessions.close()
        base.close()
