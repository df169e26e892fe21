"""``LQR_LLM`` chooses the engine; what it can't be is said with a way out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lqr.writing.factory as factory
from lqr.errors import LqrError, SettingsError, WeightsError, WriterError
from lqr.settings import Settings
from lqr.writing.factory import load_language_model


def loaded(llm: str, **more: Any) -> Any:
    return load_language_model(replace(Settings(), llm=llm, **more))


def test_composer_is_no_language_model() -> None:
    assert loaded("composer") is None


def test_fake_says_what_it_is() -> None:
    model = loaded("fake", llm_context=500)
    assert (model.name, model.context) == ("fake (canned replies)", 500)
    assert "canned reply" in "".join(model.stream([], max_tokens=50))


def test_an_address_with_a_model() -> None:
    model = loaded("https://example.org:8000/v1#meta/llama-3", llm_context=1000, llm_timeout=7.0)
    assert model.name == "meta/llama-3 at example.org"
    assert model.context == 1000
    assert model._url == "https://example.org:8000/v1/chat/completions"
    assert model._timeout == 7.0


@pytest.mark.parametrize("llm", ["https://example.org/v1", "https://me:secret@example.org/v1", "ftp://example.org/v1#m", ""])
def test_what_can_not_be_meant(llm: str) -> None:
    with pytest.raises(SettingsError, match="https://host/v1#model") as caught:
        loaded(llm)
    assert "secret" not in str(caught.value)


def test_a_gguf_file_that_is_missing_or_wrong(tmp_path: Path) -> None:
    with pytest.raises(LqrError, match=r"none\.gguf"):
        loaded(str(tmp_path / "none.gguf"))
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"no such thing")
    with pytest.raises(LqrError, match=r"wrong\.gguf"):
        loaded(str(wrong))


def test_an_unknown_hub_id_offline_lists_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WeightsError, match="HF_HUB_OFFLINE"):
        loaded("nobody/no-such-model")


def test_engines_get_their_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []
    built: list[tuple[Any, ...]] = []

    class Found:
        path = tmp_path / "somewhere"

    class Engine:
        name, context = "engine", 1

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            built.append((args, kwargs))

    def find(name: str, *, settings: Settings, kind: str) -> Found:
        asked.append((name, kind))
        return Found()

    monkeypatch.setattr(factory, "find_weights", find)
    monkeypatch.setattr("lqr.writing.llamacpp_lm.LlamaCppLanguageModel", Engine)
    monkeypatch.setattr("lqr.writing.transformers_lm.TransformersLanguageModel", Engine)
    loaded("smollm2", llm_slots=3, threads=5, llm_context=900)
    loaded("owner/repo/model.GGUF")
    loaded("meta-llama/Meta-Llama-3-8B-Instruct", llm_precision="bf16", llm_context=8000)
    assert asked == [("smollm2", "gguf"), ("owner/repo/model.GGUF", "gguf"), ("meta-llama/Meta-Llama-3-8B-Instruct", "llm")]
    assert built[0] == ((Found.path,), {"context": 900, "slots": 3, "threads": 5})
    assert built[2] == (
        (str(Found.path),),
        {"name": "meta-llama/Meta-Llama-3-8B-Instruct", "context": 8000, "precision": "bf16", "device": None},
    )
    loaded("owner/name", profile="cpu")
    assert built[3][1]["device"] == "cpu"


@pytest.mark.model
def test_smollm2_from_its_wheel() -> None:
    try:
        model = loaded("smollm2", llm_context=512, llm_slots=1)
    except WeightsError as error:
        pytest.skip(str(error))
    try:
        assert "SmolLM2" in model.name
        assert "".join(model.stream([{"role": "user", "content": "Say hello."}], max_tokens=4))
    finally:
        model.close()


def test_the_key_is_no_setting_but_is_allowed_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LQR_LLM_KEY", "sk-secret")
    monkeypatch.setenv("LQR_LLM", "fake")
    settings = Settings.load(profile="cpu")
    assert settings.llm == "fake"
    assert "sk-secret" not in repr(settings)
    with pytest.raises(SettingsError, match="LQR_LLM_PRECISION"):
        Settings.load(profile="cpu", llm_precision="int3")
    assert issubclass(WriterError, LqrError)
