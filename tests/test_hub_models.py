"""Publishing and fetching models against a stand-in Hub, driven by the real client."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from hub_fixtures import hub_server, safetensors, tiny_model
from hub_server import TOKEN, HubServer

from lqr import manifest
from lqr.cli.hub import add
from lqr.errors import HubError, WeightsError
from lqr.hub import client
from lqr.hub.models import pull_model, push_model
from lqr.settings import Settings
from lqr.weights import LLAMA3_GATED, LLAMA3_OPEN, find_weights

__all__ = ["hub_server"]

SHAPES = {"embeddings.word_embeddings.weight": [30, 16], "encoder.layer.0.output.weight": [16, 16]}


def test_a_model_goes_up_in_one_commit_and_comes_back_as_it_was(hub_server: HubServer, tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    pushed = push_model(folder, "me/tiny", version="v1")
    assert (len(hub_server.repos["models/me/tiny"].commits), hub_server.repos["models/me/tiny"].private) == (1, True)
    assert set(pushed.changes.added) == {"README.md", "config.json", "model.safetensors", "manifest.json"}
    origin = pull_model("me/tiny", tmp_path / "back", revision="v1")
    assert origin.revision == pushed.revision
    for name in ("README.md", "config.json", "model.safetensors"):
        assert (tmp_path / "back" / name).read_bytes() == (folder / name).read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []


@pytest.mark.parametrize(
    ("text", "is_key"),
    [
        ("hf_" + "a1" * 10, True),
        ("(sk-" + "b2" * 10 + ")", True),
        ("token=ghp_" + "C3" * 15, True),
        ("AKIA" + "D4" * 8, True),
        ("-----BEGIN RSA PRIVATE KEY-----", True),
        ("hf_" + "a1" * 9, False),
        ("xhf_" + "a1" * 10, False),  # within a word
        ("task-" + "b2" * 10, False),
        ("AKIA" + "D4" * 9, False),
        ("\0" * 5000 + " hf_" + "a1" * 10, True),
    ],
)
def test_what_looks_like_a_key(text: str, is_key: bool) -> None:
    assert client.secrets_in({"notes.md": text.encode()}) == (["notes.md"] if is_key else [])


def test_a_second_push_sends_only_what_changed(hub_server: HubServer, tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    push_model(folder, "me/tiny")
    assert not push_model(folder, "me/tiny").changes.any
    (folder / "config.json").write_text((folder / "config.json").read_text() + "\n")
    (folder / "README.md").rename(folder / "CARD.md")
    (folder / "README.md").write_bytes((folder / "CARD.md").read_bytes())
    again = push_model(folder, "me/tiny").changes
    assert (again.added, again.changed) == (("CARD.md",), ("config.json", "manifest.json"))
    (folder / "CARD.md").unlink()
    assert push_model(folder, "me/tiny").changes.deleted == ("CARD.md",)
    assert len(hub_server.uploads) == 1  # the weights went up once
    assert len(hub_server.repos["models/me/tiny"].commits) == 3


def test_a_cut_in_mid_upload_is_one_line_and_the_next_run_sends_only_the_rest(
    hub_server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub.utils import _http

    monkeypatch.setattr(_http.time, "sleep", lambda seconds: None)  # the client's own pauses between tries
    folder = tiny_model(tmp_path / "tiny")
    (folder / "second.safetensors").write_bytes(safetensors({"w": [400]}))
    hub_server.refuse_uploads_after = 1
    with pytest.raises(HubError, match=r"me/tiny: .*Run it again") as caught:
        push_model(folder, "me/tiny")
    assert "\n" not in str(caught.value)
    assert hub_server.repos["models/me/tiny"].commits == []  # nobody sees half of it
    assert len(hub_server.uploads) == 1
    hub_server.refuse_uploads_after = None
    push_model(folder, "me/tiny")
    assert len(hub_server.uploads) == 2 == len(set(hub_server.uploads))
    assert set(hub_server.files("me/tiny")) == {
        "README.md",
        "config.json",
        "model.safetensors",
        "second.safetensors",
        "manifest.json",
    }


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("model.safetensors", safetensors(SHAPES, b"\x02"), "model.safetensors was changed"),
        ("config.json", b"{}", r"config.json has 2 bytes"),
        ("extra.safetensors", safetensors({"w": [2]}), "extra.safetensors is not in manifest.json"),
    ],
)  # fmt: skip
def test_a_tampered_file_is_refused_by_name_and_what_lay_there_stays(
    hub_server: HubServer, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    push_model(tiny_model(tmp_path / "tiny"), "me/tiny")
    old = tmp_path / "models" / "tiny"
    pull_model("me/tiny", old)
    before = (old / "model.safetensors").read_bytes()
    hub_server.put("me/tiny", "model", {**hub_server.files("me/tiny"), name: content})
    with pytest.raises(HubError, match=said):
        pull_model("me/tiny", old)
    assert (old / "model.safetensors").read_bytes() == before
    assert [p.name for p in old.parent.iterdir()] == ["tiny"]


def test_only_an_earlier_pull_that_nobody_changed_is_replaced(hub_server: HubServer, tmp_path: Path) -> None:
    push_model(tiny_model(tmp_path / "tiny"), "me/tiny")
    (tmp_path / "empty").mkdir()
    pull_model("me/tiny", tmp_path / "empty")
    push_model(tiny_model(tmp_path / "newer", filler=b"\x07"), "me/tiny")
    pull_model("me/tiny", tmp_path / "empty")
    assert (tmp_path / "empty" / "model.safetensors").read_bytes()[-1] == 7


def _add_notes(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")


def _change_config(folder: Path) -> None:
    (folder / "config.json").write_text("{}")


def _forget_origin(folder: Path) -> None:
    (folder / manifest.ORIGIN).unlink()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_add_notes, r"notes.txt is not in manifest.json"),
        (_change_config, r"config.json has 2 bytes"),
        (_forget_origin, r"no origin.json"),
    ],
)
def test_own_work_in_the_folder_is_not_deleted(
    hub_server: HubServer, tmp_path: Path, change: Callable[[Path], None], said: str
) -> None:
    push_model(tiny_model(tmp_path / "tiny"), "me/tiny")
    to = tmp_path / "models" / "tiny"
    pull_model("me/tiny", to)
    change(to)
    before = {p.name: p.read_bytes() for p in to.iterdir()}
    with pytest.raises(HubError, match=said) as caught:
        pull_model("me/tiny", to)
    assert str(to) in str(caught.value)
    assert "move it away" in str(caught.value)
    assert {p.name: p.read_bytes() for p in to.iterdir()} == before


def test_the_default_target_is_guarded_too(hub_server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    push_model(tiny_model(tmp_path / "tiny"), "me/tiny")
    own = tiny_model(tmp_path / "models" / "tiny")
    monkeypatch.setenv("LQR_MODELS", str(own.parent))
    parser = argparse.ArgumentParser()
    add(parser.add_subparsers(), argparse.ArgumentParser(add_help=False))
    arguments = parser.parse_args(["hub", "pull", "me/tiny"])
    arguments.collection = None
    with pytest.raises(HubError, match=r"models/tiny: was not fetched"):
        arguments.command(arguments)
    assert not (own / manifest.ORIGIN).exists()


def test_a_graph_password_and_a_login_are_not_pushed(
    hub_server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LQR_GRAPH_USER", "tiny")
    monkeypatch.setenv("LQR_GRAPH_KEY", "blue-window")
    monkeypatch.setenv("LQR_AUTH", "ann:green-door, bob:red-gate")
    assert client.redacted("tiny blue-window green-door red-gate") == "tiny *** *** ***"
    for secret in ("blue-window", "red-gate"):
        assert client.secrets_in({"notes.txt": secret.encode(), "card.md": b"ann, bob, tiny"}) == ["notes.txt"]


def test_weights_of_another_shape_than_their_config_are_refused(hub_server: HubServer, tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    wrong = safetensors({"embeddings.word_embeddings.weight": [30, 8], "encoder.layer.0.output.weight": [16, 16]})
    files = {p.name: p.read_bytes() for p in folder.iterdir()} | {"model.safetensors": wrong}
    hub_server.put("me/wrong", "model", files)  # its author has no manifest, or one that fits
    with pytest.raises(HubError, match=r"model.safetensors holds embeddings.word_embeddings.weight as \[30, 8\]"):
        pull_model("me/wrong", tmp_path / "back")
    assert not (tmp_path / "back").exists()
    (folder / "model.safetensors").write_bytes(wrong)
    with pytest.raises(HubError, match=r"\[30, 8\]"):
        push_model(folder, "me/tiny")


def test_what_was_pulled_is_checked_again_at_each_load(hub_server: HubServer, tmp_path: Path) -> None:
    push_model(tiny_model(tmp_path / "tiny"), "me/tiny")
    settings = Settings(home=tmp_path / "home", models=tmp_path / "models")
    origin = pull_model("me/tiny", settings.models / "tiny")
    assert f"me/tiny at {origin.revision[:12]}" in find_weights("tiny", settings=settings).reason
    weights = settings.models / "tiny" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(WeightsError, match=r"model.safetensors was changed"):
        find_weights("tiny", settings=settings)
    # With a manifest that fits the change, the note of the commit gives it away.
    files = {p.name: p for p in weights.parent.iterdir() if p.name != manifest.ORIGIN}
    (weights.parent / manifest.MANIFEST).write_bytes(manifest.make(files))
    with pytest.raises(WeightsError, match=r"manifest.json is not that of me/tiny"):
        find_weights("tiny", settings=settings)


def test_a_pinned_revision_is_what_loads(hub_server: HubServer, tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    first = push_model(folder, "me/tiny").revision
    (folder / "model.safetensors").write_bytes(
        tiny_model(tmp_path / "other", filler=b"\x09").joinpath("model.safetensors").read_bytes()
    )
    second = push_model(folder, "me/tiny").revision
    settings = Settings(home=tmp_path / "home", models=tmp_path / "none")
    for commit in (first, second):
        assert find_weights(f"me/tiny@{commit}", settings=settings, kind="classifier").revision == commit[:12]
    assert find_weights("me/tiny", settings=settings, kind="classifier").revision == second[:12]


def test_llama3_is_metas_own_where_a_token_is_set_and_an_open_copy_elsewhere(
    hub_server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {p.name: p.read_bytes() for p in tiny_model(tmp_path / "tiny").iterdir()}
    gated, copy = (hub_server.put(repo, "model", files, message=repo) for repo in (LLAMA3_GATED, LLAMA3_OPEN))
    settings = Settings(home=tmp_path / "home", models=tmp_path / "none")
    assert find_weights("llama3", settings=settings, kind="llm").revision == gated[:12]
    monkeypatch.delenv("HF_TOKEN")
    assert find_weights("llama3", settings=settings, kind="llm").revision == copy[:12]


def test_what_could_run_code_stays_here_and_there(hub_server: HubServer, tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    (folder / "optimizer.pt").write_bytes(b"pickled")
    with pytest.raises(HubError, match=r"optimizer.pt.*run code"):
        push_model(folder, "me/tiny")
    (folder / "optimizer.pt").unlink()
    files = {p.name: p.read_bytes() for p in folder.iterdir()}
    hub_server.put("me/tiny", "model", files | {"modeling.py": b"import os", "weights.bin": b"pickled"})
    pull_model("me/tiny", tmp_path / "back")
    assert not {"modeling.py", "weights.bin"} & {p.name for p in (tmp_path / "back").iterdir()}


def test_no_card_no_folder_no_repository(hub_server: HubServer, tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    (folder / "README.md").write_text("# no front matter")
    with pytest.raises(HubError, match="license"):
        push_model(folder, "me/tiny")
    with pytest.raises(HubError, match="no such folder"):
        push_model(tmp_path / "nothing", "me/tiny")
    with pytest.raises(HubError, match="OWNER/NAME"):
        client.check_repo("tiny")
    with pytest.raises(HubError, match="no such model"):
        pull_model("me/nothing", tmp_path / "back")


def test_the_token_is_in_no_log_error_or_commit(
    hub_server: HubServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    folder = tiny_model(tmp_path / "tiny")
    (folder / "notes.txt").write_text(f"my token is {TOKEN}")
    with pytest.raises(HubError, match=r"notes.txt holds what looks like a key") as caught:
        push_model(folder, "me/tiny")
    assert TOKEN not in str(caught.value)
    assert "models/me/tiny" not in hub_server.repos
    monkeypatch.setenv("LQR_LLM_KEY", "of-no-known-form-4711")
    (folder / "notes.txt").write_text("key: of-no-known-form-4711")
    with pytest.raises(HubError, match=r"notes.txt"):
        push_model(folder, "me/tiny")
    (folder / "notes.txt").unlink()
    monkeypatch.setenv("HF_TOKEN", "hf_" + "W" * 34)  # the server repeats a wrong token in its refusal
    with pytest.raises(HubError, match="hf auth login") as caught:
        push_model(folder, "me/tiny")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    push_model(folder, "me/tiny")
    pull_model("me/tiny", tmp_path / "back")
    said = caplog.text + str(caught.value) + client.redacted(f"Bearer {TOKEN}")
    assert TOKEN not in said
    assert "W" * 34 not in said
    assert TOKEN not in json.dumps(hub_server.repos["models/me/tiny"].commits, default=repr)
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and TOKEN.encode() in p.read_bytes()]


@pytest.mark.parametrize("name", ["../x.json", "/x.json", "a/../../x.json", "a\\x.json", "x.py", "", "a//x.json"])
def test_names_that_leave_the_folder_are_no_names(name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        manifest.checked_name(name)
