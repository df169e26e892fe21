"""What the tests of ``lqr.hub`` share: the stand-in Hub as the client's endpoint, and a tiny model's folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import TOKEN, HubServer

CARD = "---\nlicense: apache-2.0\nlibrary_name: lqr\n---\n\n# Tiny\n"


@pytest.fixture
def hub_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    """A fresh Hub that the real client talks to, as with ``HF_ENDPOINT``, ``HF_TOKEN`` and ``HF_HUB_DISABLE_XET=1``."""
    from huggingface_hub import constants

    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = HubServer()
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", server.endpoint + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    yield server
    server.stop()


def safetensors(tensors: dict[str, list[int]], filler: bytes = b"\x01") -> bytes:
    """A file of float32 tensors of these shapes."""
    header, at = {}, 0
    for name, shape in tensors.items():
        size = 4
        for n in shape:
            size *= n
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + (filler * at)[:at]


def tiny_model(folder: Path, filler: bytes = b"\x01") -> Path:
    """A model's folder as training leaves it: a large file, small ones, a card."""
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(CARD)
    config = {"model_type": "bert", "vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 1}
    (folder / "config.json").write_text(json.dumps(config))
    tensors = {"embeddings.word_embeddings.weight": [30, 16], "encoder.layer.0.output.weight": [16, 16]}
    (folder / "model.safetensors").write_bytes(safetensors(tensors, filler))
    return folder
