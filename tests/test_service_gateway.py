"""The door in front of the web app: alone before a small app, and before the real page with the real Gradio routes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from gradio.data_classes import PredictBody
from starlette.testclient import TestClient
from ui_fakes import application

from lqr.errors import SettingsError
from lqr.service import gateway
from lqr.service.gateway import Doors, Gateway
from lqr.service.lifecycle import launch_options, logins
from lqr.service.metrics import Metrics
from lqr.service.traces import Traces
from lqr.service.watch import Watch
from lqr.settings import Settings
from lqr.ui.chat import ChatPage
from lqr.ui.endpoints import QUEUE

ASKED = {"fn_index": 3, "data": [], "session_hash": "s"}


def watch(tmp_path: Path, **settings: Any) -> Watch:
    made = Settings(profile="cpu", home=tmp_path, **settings)
    return Watch(made, Metrics(), Traces(tmp_path / "traces", "off", 14))


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the number of bytes that it got."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-content-type-options", b"own")]})
    await send({"type": "http.response.body", "body": str(size).encode()})


def client(watch: Watch, peer: str = "127.0.0.1", framed_by: tuple[str, ...] = ()) -> TestClient:
    doors = Doors({3}, {"ask"}, lambda: 4)
    return TestClient(Gateway(echo, watch, doors, framed_by), client=(peer, 5000), raise_server_exceptions=False)  # type: ignore[arg-type]


def value(watch: Watch, reason: str) -> float | None:
    return watch.metrics.registry.get_sample_value("lqr_requests_refused_total", {"reason": reason})


def test_health_says_ok_closing_and_stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watch(tmp_path, llm_slots=1)
    web = client(seen)
    assert (web.get("/health").status_code, web.get("/health").json()) == (200, {"status": "ok"})
    monkeypatch.setattr(Watch, "stuck", 1)
    assert (web.get("/health").status_code, web.get("/health").json()) == (503, {"status": "stuck"})
    seen.close_doors()
    assert web.get("/health").json() == {"status": "closing"}


@pytest.mark.parametrize(
    ("setting", "proxies", "peer", "status"),
    [
        ("local", 0, "127.0.0.1", 200),
        ("local", 0, "10.0.0.1", 404),
        ("local", 1, "127.0.0.1", 404),
        ("open", 1, "10.0.0.1", 200),
        ("off", 0, "127.0.0.1", 404),
    ],
)
def test_who_may_read_metrics(tmp_path: Path, setting: str, proxies: int, peer: str, status: int) -> None:
    reply = client(watch(tmp_path, metrics=setting, trusted_proxies=proxies), peer).get("/metrics")
    assert reply.status_code == status
    assert ("lqr_questions_waiting 4.0" in reply.text) == (status == 200)


def test_questions_are_limited_by_address_and_other_clicks_are_not(tmp_path: Path) -> None:
    seen = watch(tmp_path, rate_per_minute=60, rate_burst=2, trusted_proxies=1)
    web = client(seen)

    def asked(address: str, path: str = "/gradio_api/queue/join", body: Any = ASKED) -> int:
        return web.post(path, json=body, headers={"X-Forwarded-For": address}).status_code

    assert [asked("1.1.1.1") for _ in range(3)] == [200, 200, 429]
    assert asked("1.1.1.1", "/gradio_api/call/ask", {"data": []}) == 429
    assert asked("1.1.1.1", "/gradio_api/call/v2/ask/", {"question": "q"}) == 429
    assert asked("1.1.1.1", "/gradio_api/run/ask", {"data": []}) == 429
    assert asked("1.1.1.1", body={**ASKED, "fn_index": 5}) == 200  # a click that asks nothing
    assert asked("1.1.1.1", body=[1]) == 200  # malformed: the app says so
    assert asked("6.6.6.6, 2.2.2.2") == 200
    reply = web.post("/gradio_api/call/ask", json={}, headers={"X-Forwarded-For": "1.1.1.1"})
    assert int(reply.headers["retry-after"]) >= 1
    assert "ask again in" in reply.json()["detail"]
    assert value(seen, "rate") == 5


def test_passwords_and_files_are_limited_as_questions_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "MAX_BODY", 1000)
    for path in ("/login", "/login/", "/gradio_api/upload"):
        web = client(watch(tmp_path, rate_per_minute=60, rate_burst=2))
        assert [web.post(path, content=b"x").status_code for _ in range(3)] == [200, 200, 429]
    web = client(watch(tmp_path, rate_per_minute=60, rate_burst=2))
    assert web.post("/login", content=b"x" * 1001).status_code == 413
    assert web.post("/anything", content=b"x" * 1001).status_code == 413
    closed = client(watch(tmp_path, upload_files=0))
    assert closed.post("/gradio_api/upload", content=b"x").status_code == 403


@pytest.mark.parametrize("index", [3, "3", 3.0, "3.0", " +03 "])
def test_a_question_is_one_however_its_number_is_written(tmp_path: Path, index: Any) -> None:
    web = client(watch(tmp_path, rate_per_minute=60, rate_burst=1))
    body = {**ASKED, "fn_index": index}
    assert PredictBody.model_validate(body).fn_index == 3  # so does Gradio read it
    assert [web.post("/gradio_api/queue/join", json=body).status_code for _ in range(2)] == [200, 429]


@pytest.mark.parametrize("index", [5, "5", 3.5, "three", None, [3], {"a": 3}])
def test_what_is_no_question_by_number(tmp_path: Path, index: Any) -> None:
    web = client(watch(tmp_path, rate_per_minute=60, rate_burst=1))
    replies = [web.post("/gradio_api/queue/join", json={**ASKED, "fn_index": index}).status_code for _ in range(3)]
    assert replies == [200, 200, 200]


def test_bodies_pass_whole_and_large_ones_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "MAX_BODY", 1000)
    seen = watch(tmp_path)
    web = client(seen)
    assert web.post("/gradio_api/queue/join", content=b"x" * 1000).text == "1000"
    assert web.post("/gradio_api/queue/join", content=b"x" * 1001).status_code == 413
    assert web.post("/gradio_api/queue/join", content=iter([b"x" * 600] * 2)).status_code == 413  # without a length
    assert web.post("/gradio_api/upload", content=b"x" * 5000).text == "5000"  # Gradio's own limit holds there
    assert value(seen, "size") == 2


def test_no_question_is_taken_while_closing(tmp_path: Path) -> None:
    seen = watch(tmp_path)
    seen.close_doors()
    web = client(seen)
    assert web.post("/gradio_api/call/ask", json={"data": []}).status_code == 503
    assert web.get("/").status_code == 200


def test_headers_on_every_reply(tmp_path: Path) -> None:
    for path in ("/", "/health"):
        headers = client(watch(tmp_path)).get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "object-src 'none'" in policy
        assert "http:" not in policy
        assert headers["x-frame-options"] == "SAMEORIGIN"
        assert headers["referrer-policy"] == "no-referrer"
        assert len(headers["x-request-id"]) == 12
    assert client(watch(tmp_path)).get("/").headers["x-content-type-options"] == "own"  # what the app says stays
    framed = client(watch(tmp_path), framed_by=("https://huggingface.co",)).get("/").headers
    assert "frame-ancestors 'self' https://huggingface.co" in framed["content-security-policy"]
    assert "x-frame-options" not in framed


def test_logins() -> None:
    assert logins("") == []
    assert logins("ann:a:b, bob:c") == [("ann", "a:b"), ("bob", "c")]
    with pytest.raises(SettingsError) as caught:
        logins("ann:secret,bob")
    assert "secret" not in str(caught.value)


# Before the real page ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Any, Watch]]:
    app = application()
    blocks = ChatPage(app).build()
    seen = watch(tmp_path_factory.mktemp("home"), rate_per_minute=0)
    options = launch_options(seen, blocks, QUEUE, {})
    web = gr.routes.App.create_app(blocks, app_kwargs=options["app_kwargs"])
    with TestClient(web, client=("127.0.0.1", 1), raise_server_exceptions=False) as http:
        yield http, blocks, seen


def test_the_functions_that_answer_are_known(page: tuple[TestClient, Any, Watch]) -> None:
    _, blocks, _ = page
    doors = Doors.of(blocks, QUEUE)
    assert {"ask", "search"} <= set(doors.names)
    assert len(doors.functions) >= 3
    assert len(doors.functions) < len(blocks.fns)
    assert doors.waiting() == 0


REQUESTS: list[tuple[str, str, Any]] = [
    ("GET", "/gradio_api/file=/etc/passwd", None),
    ("GET", "/gradio_api/file=../../etc/passwd", None),
    ("GET", "/gradio_api/file=app.py", None),
    ("GET", "/gradio_api/proxy=http://127.0.0.1:1/", None),
    ("GET", "/static/../../../etc/passwd", None),
    ("GET", "/assets/%2e%2e/%2e%2e/routes.py", None),
    ("GET", "/gradio_api/nothing", None),
    ("POST", "/gradio_api/run/ask", {"data": []}),
    ("POST", "/gradio_api/run/ask", {"data": [1, 2, 3, 4]}),
    ("POST", "/gradio_api/run/nothing", {"data": []}),
    ("POST", "/gradio_api/queue/join", {"fn_index": 999, "data": [], "session_hash": "x"}),
    ("POST", "/gradio_api/queue/join", {"fn_index": "a", "data": {}, "session_hash": "x"}),
    ("POST", "/gradio_api/queue/join", [1]),
    ("POST", "/gradio_api/call/v2/ask", {"nothing": 1}),
    ("POST", "/gradio_api/call/ask", {"data": [None, {"a": 1}]}),
]


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_no_reply_holds_a_path_a_file_or_a_trace(page: tuple[TestClient, Any, Watch], method: str, path: str, body: Any) -> None:
    http, _, _ = page
    reply = http.request(method, path, json=body)
    shown = reply.text
    for hint in ("Traceback", 'File "', "site-packages", "root:x:", "/usr/", str(Path(__file__).parent), "import os"):
        assert hint not in shown, (reply.status_code, shown[:300])
    if method == "GET":
        assert reply.status_code in (400, 403, 404)


def test_the_page_comes_with_headers_and_without_server_paths(page: tuple[TestClient, Any, Watch]) -> None:
    http, _, _ = page
    reply = http.get("/config")
    assert reply.status_code == 200
    assert "content-security-policy" in reply.headers
    assert str(Path(__file__).parent.parent) not in reply.text
    assert http.get("/health").json() == {"status": "ok"}


def test_gradio_s_own_login_is_behind_the_door(tmp_path: Path) -> None:
    blocks = ChatPage(application()).build()
    blocks.auth = [("ann", "right")]  # as launch(auth=...) does
    options = launch_options(watch(tmp_path, rate_per_minute=60, rate_burst=3), blocks, QUEUE, {})
    web = gr.routes.App.create_app(blocks, app_kwargs=options["app_kwargs"])
    with TestClient(web, client=("127.0.0.1", 1), raise_server_exceptions=False) as http:

        def tried(password: str) -> int:
            return http.post("/login", data={"username": "ann", "password": password}).status_code

        assert [tried("wrong") for _ in range(2)] == [400, 400]
        assert tried("right") == 200
        assert tried("right") == 429
