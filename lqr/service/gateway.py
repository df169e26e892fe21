"""The door in front of Gradio's web app: health, metrics, rate limits, size limits and security headers.

Pure ASGI, around everything, so that it also sees what Gradio would answer by itself. It reads of a request only its
address, its path and, for a question, which function is called; it never reads what was asked.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from lqr.service.limits import TokenBuckets, client_address, is_loopback
from lqr.service.metrics import CONTENT_TYPE
from lqr.service.watch import Watch

log = logging.getLogger(__name__)
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

MAX_BODY = 8 * 2**20  # bytes of a request that is no upload: a conversation with its sources, as the browser keeps it
OTHERS = 20  # requests that are no question, upload or login are allowed this many times as often
LOGIN = "/login"  # where Gradio takes passwords, when LQR_AUTH is set
_CALL = re.compile(r"/gradio_api/(?:run|api|call(?:/v2)?)/([^/]+)/?")
_JOIN = re.compile(r"/gradio_api/queue/join/?")
# Of Gradio's own page: it needs inline scripts and evaluates the templates of gr.HTML. Nothing is loaded from, sent to or
# framed from another host, so that even markup that got through could fetch nothing.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; connect-src 'self'; "
    "worker-src 'self' blob:; frame-src 'none'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors {frames}"
)


@dataclass
class Doors:
    """What the gateway must know of the page; filled when the page is built. ``functions`` are the ids of the functions
    that answer questions, ``names`` their names in the API, ``waiting`` counts the questions in the queue."""

    functions: Collection[int] = field(default_factory=frozenset)
    names: Collection[str] = field(default_factory=frozenset)
    waiting: Callable[[], int] = lambda: 0

    @classmethod
    def of(cls, blocks: Any, queue: str) -> Doors:
        """Those of Gradio ``blocks`` whose questions wait in the queue of this concurrency id."""
        asking = [fn for fn in blocks.fns.values() if fn.concurrency_id == queue]
        return cls(
            frozenset(fn._id for fn in asking),
            frozenset(str(fn.api_name) for fn in asking if fn.api_name),
            lambda: sum(len(q.queue) for q in blocks._queue.event_queue_per_concurrency_id.values()),
        )


class Gateway:
    """ASGI middleware around the web app ``app``."""

    def __init__(self, app: App, watch: Watch, doors: Doors, framed_by: Collection[str] = ()) -> None:
        """``framed_by``: other hosts whose pages may show this one in a frame, as the Hub does with a Space."""
        from pydantic import TypeAdapter

        settings = watch.settings
        self._app = app
        self._index = TypeAdapter(int)  # Gradio's own reading of fn_index: "3" and 3.0 are 3 as well
        self._watch = watch
        self._doors = doors
        self._proxies = settings.trusted_proxies
        self._questions = TokenBuckets(settings.rate_per_minute, settings.rate_burst)
        self._others = TokenBuckets(settings.rate_per_minute * OTHERS, settings.rate_burst * OTHERS)
        policy = _POLICY.format(frames=" ".join(["'self'", *framed_by]))
        self._headers = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
            (b"cross-origin-resource-policy", b"same-site"),
        ] + ([] if framed_by else [(b"x-frame-options", b"SAMEORIGIN")])
        watch.metrics.gauge("questions_waiting", "Questions in the queue", lambda: doors.waiting())

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer by itself, turn away, or hand on to the app."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = self._with_headers(send)
        peer = scope["client"][0] if scope.get("client") else None
        path = scope["path"].removeprefix(scope.get("root_path", "")) or "/"
        if path == "/health":
            await self._health(send)
        elif path == "/metrics":
            await self._metrics(send, peer)
        elif scope["method"] == "POST":
            await self._post(scope, receive, send, path, peer)
        else:
            await self._app(scope, receive, send)

    async def _health(self, send: Send) -> None:
        """200 while questions are answered; 503 when closing, or when every place is held by an answer that hangs."""
        watch = self._watch
        status = "closing" if watch.closing else "stuck" if watch.stuck >= watch.settings.llm_slots else "ok"
        await _reply(send, 200 if status == "ok" else 503, {"status": status})

    async def _metrics(self, send: Send, peer: str | None) -> None:
        allowed = self._watch.settings.metrics
        # Behind a proxy every peer is this machine: then nothing but "open" opens the page.
        if allowed == "open" or (allowed == "local" and not self._proxies and is_loopback(peer)):
            await _send(send, 200, self._watch.metrics.text(), CONTENT_TYPE)
        else:
            await _reply(send, 404, {"detail": "Not Found"})

    async def _post(self, scope: Message, receive: Receive, send: Send, path: str, peer: str | None) -> None:
        metrics = self._watch.metrics
        upload = path.rstrip("/") == "/gradio_api/upload"  # Gradio's own limit holds there, and the body is streamed
        body = b""
        if not upload:
            read = await _read(scope, receive)
            if read is None:
                metrics.turned_away("size")
                await _reply(send, 413, {"detail": f"larger than {MAX_BODY // 2**20} MB"})
                return
            body = read
        elif not self._watch.settings.upload_files:  # Gradio's route takes files whether or not a component asks for some
            await _reply(send, 403, {"detail": "Files can't be added here."})
            return
        question = self._is_question(path, body)
        if question and self._watch.closing:
            metrics.turned_away("closing")
            await _reply(send, 503, {"detail": "The program is being stopped; ask again in a minute."}, retry=60)
            return
        forwarded = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        client = client_address(peer, forwarded, self._proxies)
        dear = question or upload or path.rstrip("/") == LOGIN  # a password that is tried, too
        wait = (self._questions if dear else self._others).take(client)
        if wait:
            metrics.turned_away("rate")
            log.info("turned away: %s too often", "asked" if question else "called")
            seconds = max(1, round(wait + 0.5))
            await _reply(send, 429, {"detail": f"Too many requests at once; ask again in {seconds} s."}, retry=seconds)
            return
        await self._app(scope, receive if upload else _replay(body, receive), send)

    def _is_question(self, path: str, body: bytes) -> bool:
        called = _CALL.fullmatch(path)
        if called and called.group(1).lstrip("/") in self._doors.names:
            return True
        if not called and not _JOIN.fullmatch(path):
            return False
        try:
            number = self._index.validate_python(json.loads(body).get("fn_index"))
        except (ValueError, AttributeError, RecursionError):  # pydantic's ValidationError is a ValueError
            return False  # Gradio turns it away as well, or finds the function by the name in the path
        return number in self._doors.functions

    def _with_headers(self, send: Send) -> Send:
        number = secrets.token_hex(6).encode()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message.get("headers", ())}
                own = [(name, value) for name, value in self._headers if name not in given]
                message = {**message, "headers": [*message.get("headers", ()), *own, (b"x-request-id", number)]}
            await send(message)

        return sending


async def _read(scope: Message, receive: Receive) -> bytes | None:
    """The body, or None when it is larger than ``MAX_BODY``."""
    declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if declared.isdigit() and int(declared) > MAX_BODY:
        return None
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives ``body`` first and goes on with the connection's own messages."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _reply(send: Send, status: int, content: dict[str, Any], retry: int = 0) -> None:
    await _send(send, status, json.dumps(content).encode(), "application/json", retry)


async def _send(send: Send, status: int, body: bytes, content_type: str, retry: int = 0) -> None:
    headers = [
        (b"content-type", content_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if retry:
        headers.append((b"retry-after", str(retry).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
