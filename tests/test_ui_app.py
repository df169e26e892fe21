"""The entry point: where it listens, and what it says when it can't start."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

import app
from lqr.errors import LqrError
from lqr.settings import Settings


def test_it_listens_on_this_machine_unless_a_space_or_a_setting_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPACE_ID", "GRADIO_SERVER_NAME", "GRADIO_SERVER_PORT", "PORT"):
        monkeypatch.delenv(name, raising=False)
    assert app.address(Settings.load(profile="cpu")) == ("127.0.0.1", 7860)
    monkeypatch.setenv("SPACE_ID", "someone/lqr")
    monkeypatch.setenv("PORT", "8080")
    assert app.address(Settings.load(profile="cpu")) == ("0.0.0.0", 8080)
    monkeypatch.setenv("GRADIO_SERVER_NAME", "::1")
    monkeypatch.setenv("LQR_PORT", "7000")
    assert app.address(Settings.load(profile="cpu")) == ("::1", 7000)
    monkeypatch.setenv("LQR_HOST", "127.0.0.1")
    assert app.address(Settings.load(profile="cpu"))[0] == "127.0.0.1"


def test_a_taken_port_is_one_line_before_anything_is_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setenv("LQR_PORT", str(taken.getsockname()[1]))
        assert app.main() == 1
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert "set LQR_PORT" in lines[0]


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (LqrError("no weights for x; tried a, b"), "no weights for x; tried a, b"),
        (OSError(errno.ENOSPC, "No space left on device", "/data/store"), "set LQR_HOME"),
        (PermissionError(errno.EACCES, "Permission denied", "/data"), "set LQR_HOME"),
        (ModuleNotFoundError("No module named 'faiss'", name="faiss"), "faiss is not installed"),
    ],
)
def test_what_prevents_a_start_is_one_line(
    failure: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(settings: Settings) -> None:
        raise failure

    monkeypatch.setattr(app, "serve", fail)
    assert app.main() == 1
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert said in lines[0]


@pytest.mark.parametrize("fails", [False, True])
def test_at_the_end_the_page_s_parts_are_closed_before_the_application(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    served = SimpleNamespace(startup=(), close=lambda: closed.append("application"))
    page = SimpleNamespace(launch=lambda **_: (None, "http://x", None))

    def build(application: Any, opened: ExitStack) -> Any:
        opened.callback(closed.append, "sessions")
        if fails:
            raise LqrError("no such data set")
        return page

    monkeypatch.setattr(app, "_check_port", lambda host, port: None)
    monkeypatch.setattr("lqr.app.build", lambda settings, progress: served)
    monkeypatch.setattr("lqr.service.watch.watched", lambda application: (application, None))
    monkeypatch.setattr("lqr.service.lifecycle.launch_options", lambda *_: {})
    monkeypatch.setattr("lqr.service.lifecycle.serve", lambda *_: closed.append("page"))
    monkeypatch.setattr("lqr.ui.chat.build", build)
    monkeypatch.setenv("LQR_PROFILE", "cpu")
    assert app.main() == int(fails)
    assert closed == [*([] if fails else ["page"]), "sessions", "application"]


def test_an_unknown_setting_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LQR_PROT", "1")
    assert app.main() == 1
    assert "LQR_PROT" in capsys.readouterr().err
