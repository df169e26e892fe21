"""Settings: what is read from where, what is refused and how it is said."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import lqr.settings
from lqr.errors import SettingsError
from lqr.settings import Settings

NAMES = [f.name for f in fields(Settings) if f.name != "reasons"]


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lqr.settings, "_cuda_available", lambda: False)


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, isolated: Path) -> None:
    monkeypatch.delenv("LQR_HOME", raising=False)


def test_defaults_are_valid(no_gpu: None) -> None:
    settings = Settings.load()
    assert settings.profile == "cpu"
    assert settings.reasons == ("profile cpu: no CUDA device found",)


def test_the_default_home_follows_xdg_and_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert Settings().home == tmp_path / "data" / "lqr"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Settings().home == tmp_path / ".local" / "share" / "lqr"


def test_every_setting_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch, no_gpu: None) -> None:
    expected: dict[str, Any] = {name: high for name, _, high in lqr.settings._RANGES}
    expected |= {"profile": "server", "route": "complex", "llm_precision": "bf16"}
    expected |= {"log": "json", "traces": "full", "metrics": "open"}
    for name in NAMES:
        default = getattr(Settings(), name)
        expected.setdefault(name, Path("/some/where") if isinstance(default, Path) else "x")
        assert expected[name] != default
        monkeypatch.setenv(f"LQR_{name.upper()}", str(expected[name]))
    settings = Settings.load()
    assert {name: getattr(settings, name) for name in NAMES} == expected
    assert all(isinstance(getattr(settings, name), type(getattr(Settings(), name))) for name in NAMES)


def test_keywords_win_over_the_environment_and_none_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LQR_TOP_K", "7")
    monkeypatch.setenv("LQR_COLLECTION", "farm")
    settings = Settings.load(top_k=9, collection=None)
    assert (settings.top_k, settings.collection) == (9, "farm")


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Settings.load(home="~/lqr").home == tmp_path / "lqr"


def test_an_unknown_variable_is_refused_and_the_known_ones_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LQR_TOPK", "3")
    with pytest.raises(SettingsError, match="unknown setting LQR_TOPK") as error:
        Settings.load()
    assert all(f"LQR_{name.upper()}" in str(error.value) for name in NAMES)


@pytest.mark.parametrize("name", ["reasons", "topk"])
def test_an_unknown_keyword_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"unknown setting '{name}'"):
        Settings.load(**{name: "x"})


def test_reasons_are_not_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LQR_REASONS", "x")
    with pytest.raises(SettingsError):
        Settings.load()


def test_the_key_of_a_server_is_known_but_never_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LQR_LLM_KEY", "hush")
    assert "hush" not in repr(Settings.load())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("profile", "tpu"),
        ("route", "both"),
        ("llm_precision", "int8"),
        ("top_k", 0),
        ("top_k", "five"),
        ("top_k", "5.5"),
        ("top_k", ""),
        ("port", 65536),
        ("port", -1),
        ("relevance_threshold", 1.01),
        ("relevance_threshold", "nan"),
        ("llm_timeout", "inf"),
    ],
)
def test_a_wrong_value_names_its_variable_on_one_line(name: str, value: object) -> None:
    with pytest.raises(SettingsError) as error:
        Settings.load(**{name: value})
    assert str(error.value).startswith(f"LQR_{name.upper()} is ")
    assert "\n" not in str(error.value)


def test_each_range_holds_its_ends_and_no_more() -> None:
    for name, low, high in lqr.settings._RANGES:
        for value in (low, high):
            assert getattr(Settings.load(**{name: value}), name) == value
        for value in (low - 1, high + 1):
            with pytest.raises(SettingsError, match=f"between {low} and {high}"):
                Settings.load(**{name: value})


def test_every_number_has_a_range() -> None:
    numbers = {
        n for n in NAMES if isinstance(getattr(Settings(), n), int | float) and not isinstance(getattr(Settings(), n), bool)
    }
    assert numbers == {name for name, _, _ in lqr.settings._RANGES}


@pytest.mark.parametrize(
    ("overrides", "cuda", "profile", "why"),
    [
        ({}, True, "gpu", "CUDA device found"),
        ({}, False, "cpu", "no CUDA device"),
        ({"llm": "https://host/v1#model"}, True, "server", "an address; the models here stay on the CPU"),
        ({"profile": "server"}, True, "server", "set by LQR_PROFILE; the models here stay on the CPU"),
        ({"profile": "cpu"}, True, "cpu", "set by LQR_PROFILE"),
        ({"profile": "gpu"}, True, "gpu", "set by LQR_PROFILE"),
        ({"profile": "cpu", "llm": "https://host/v1#model"}, False, "cpu", "set by LQR_PROFILE"),
    ],
)
def test_the_profile_is_chosen_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, overrides: dict[str, str], cuda: bool, profile: str, why: str
) -> None:
    monkeypatch.setattr(lqr.settings, "_cuda_available", lambda: cuda)
    settings = Settings.load(**overrides)
    assert settings.profile == profile
    assert len(settings.reasons) == 1
    assert why in settings.reasons[0]


def test_a_gpu_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lqr.settings, "_cuda_available", lambda: False)
    with pytest.raises(SettingsError, match="no CUDA device"):
        Settings.load(profile="gpu")


@pytest.mark.parametrize("name", ["LQR_HOME", "LQR_HOST", "LQR_LLM"])
def test_an_empty_variable_is_no_value(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "")
    with pytest.raises(SettingsError, match=f"{name} is '': empty"):
        Settings.load()


def test_without_a_driver_torch_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda self: False)
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it would raise
    assert Settings.load().profile == "cpu"
