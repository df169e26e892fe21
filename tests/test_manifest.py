"""A folder of a model that differs from its manifest is refused by whoever loads it, before a byte of it is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lqr import manifest
from lqr.classifiers.complexity import load_complexity
from lqr.classifiers.reader import Reader
from lqr.classifiers.relevance import CrossEncoderRelevance
from lqr.classifiers.support import load_support
from lqr.classifiers.trained_complexity import TrainedComplexity
from lqr.decompose import load_decomposer
from lqr.errors import WeightsError
from lqr.grounding.calibration import Calibration
from lqr.grounding.refusal import load_weights
from lqr.retrieval.ranker import Ranker
from lqr.settings import Settings


def folder_of(models: Path, name: str, files: tuple[str, ...]) -> Path:
    """A folder with ``files``, and the manifest of them that a pull leaves behind."""
    folder = models / name
    folder.mkdir()
    for file in files:
        (folder / file).write_text("{}")
    (folder / manifest.MANIFEST).write_bytes(manifest.make({file: folder / file for file in files}))
    manifest.write_origin(folder, f"me/{name}", "0" * 40)
    return folder


LOADERS: dict[str, tuple[str, tuple[str, ...], Callable[[Path], Any]]] = {
    "complexity": ("complexity", ("config.json",), TrainedComplexity),
    "complexity of the settings": ("complexity", ("config.json",), lambda f: load_complexity(Settings(models=f.parent))),
    "relevance": ("relevance", ("config.json", "blend.json"), CrossEncoderRelevance),
    "reader": ("reader", ("config.json",), Reader),
    "support, words": ("support", ("logistic.json",), load_support),
    "gate": ("gate", ("gate.json",), load_weights),
    "confidence": ("gate", ("confidence.json", "gate.json"), Calibration.load),
    "ranker": ("ranker", ("ranker.json",), Ranker.load),
    "decomposer": ("decomposer", ("spans.json",), lambda f: load_decomposer(Settings(models=f.parent))),
}


@pytest.mark.parametrize("loader", LOADERS)
def test_a_tampered_folder_is_refused_at_load(tmp_path: Path, loader: str) -> None:
    name, files, load = LOADERS[loader]
    folder = folder_of(tmp_path, name, files)
    manifest.verify(folder)
    (folder / files[0]).write_text("[]")
    with pytest.raises(WeightsError, match=rf"models/{name}: {files[0]} was changed.*lqr hub pull"):
        load(folder)
    (folder / manifest.MANIFEST).write_bytes(manifest.make({file: folder / file for file in files}))
    with pytest.raises(WeightsError, match=rf"manifest\.json is not that of me/{name}"):
        load(folder)
    (folder / manifest.MANIFEST).unlink()
    with pytest.raises(WeightsError, match=r"manifest\.json is missing"):
        load(folder)


def test_a_folder_of_ones_own_needs_no_manifest(tmp_path: Path) -> None:
    (tmp_path / "gate.json").write_text('{"bias": 1.0}')
    manifest.verify(tmp_path)
    manifest.verify(tmp_path / "nowhere")


def test_files_that_change_by_use_may_be_left_out(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "farm", ("store.json", "card.json"))
    (folder / "store.json").write_text("[]")
    assert manifest.problem(folder).startswith("store.json was changed")
    assert manifest.problem(folder, changes=lambda name: name == "store.json") == ""
    (folder / "card.json").unlink()
    assert manifest.problem(folder, changes=lambda name: name == "store.json") == "card.json is missing"
