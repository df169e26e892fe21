"""Fixtures for all tests: nothing touches the user's home, environment or the network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lqr.retrieval.dense import SentenceEmbedder

# Before anything imports huggingface_hub, which reads it only once.
os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Homes in a temporary folder, no ``LQR_*`` of the person who runs the tests, no Hub."""
    for name in list(os.environ):
        if name.startswith("LQR_"):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("LQR_HOME", str(home / "lqr"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return home


@pytest.fixture(scope="session")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> SentenceEmbedder:
    """The real all-MiniLM-L6-v2, loaded once; its tests are marked ``model``."""
    from lqr.retrieval.dense import load_embedder
    from lqr.settings import Settings

    return load_embedder(Settings(profile="cpu", home=tmp_path_factory.mktemp("weights-home")))
