"""Any server that speaks the OpenAI chat protocol (vLLM, TGI, llama-server, a hosted one), over httpx.

The key is read from LQR_LLM_KEY in the environment, sent in one header, and kept out of every log line and error.
This module does not know the server's tokenizer: it counts tokens by a cautious estimate.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import httpx

from lqr.errors import WriterError
from lqr.writing.base import ChatMessage, Emit, stream_from_thread, until_stop

logger = logging.getLogger(__name__)

KEY_VARIABLE = "LQR_LLM_KEY"
ATTEMPTS = 3  # before the first token only: afterwards a second try would show the beginning twice
FIRST_PAUSE = 0.5  # seconds before the second attempt; doubled each time
LONGEST_PAUSE = 8.0  # also the longest Retry-After that is obeyed; a person is waiting
CONNECT_SECONDS = 5.0
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_LONGEST_LINE = 1 << 20  # characters of one event; a chat token never comes near


class _Retry(Exception):
    """An attempt failed before the first token in a way that may pass."""

    def __init__(self, message: str, pause: float | None = None) -> None:
        super().__init__(message)
        self.pause = pause


class OpenAILanguageModel:
    """A model behind ``base_url`` (``http(s)://host[:port]/v1``).

    Args:
        base_url: without ``/chat/completions``; must not hold a user name or password.
        model: the name the server knows it by.
        context: tokens, prompt and answer together.
        timeout: seconds without a word from the server, before the first token or between two.
    """

    def __init__(self, base_url: str, model: str, *, context: int = 4096, timeout: float = 60.0) -> None:
        try:
            url = httpx.URL(base_url)
        except httpx.InvalidURL as error:
            raise WriterError(f"LQR_LLM is not a valid address: {error}") from None
        if url.userinfo:
            raise WriterError(f"LQR_LLM must not hold a password; put the server's key in {KEY_VARIABLE}")
        if url.scheme not in ("http", "https") or not url.host:
            raise WriterError("LQR_LLM must look like https://host/v1#model")
        self.name = f"{model} at {url.host}"
        self.context = context
        self._url = str(url.copy_with(fragment=None, query=None)).rstrip("/") + "/chat/completions"
        self._model = model
        self._timeout = timeout
        self._closed = False

    def count_tokens(self, text: str) -> int:
        """About one token per three bytes of UTF-8: too many for English, about right for Chinese."""
        return -(-len(text.encode("utf-8", "replace")) // 3)

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """See :class:`lqr.writing.base.LanguageModel`. Ending early closes the connection, upon which servers stop."""
        if self._closed:
            raise WriterError(f"{self.name} is closed")
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [dict(message) for message in messages],
            "max_tokens": max_tokens,
            "temperature": 0.0,
            "stream": True,
        }
        if stop:
            body["stop"] = list(stop)[:4]  # the protocol's limit
        running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

        async def answer(emit: Emit) -> None:
            task = asyncio.current_task()
            assert task is not None
            running.append((asyncio.get_running_loop(), task))
            if not emit(""):  # else the consumer has gone before there was a task to cancel
                await self._answer(body, emit)

        def produce(emit: Emit) -> None:
            # An event loop for each answer: cancelling its task is the clean way out of a read that waits.
            with contextlib.suppress(asyncio.CancelledError):
                asyncio.run(answer(emit))

        def on_stop() -> None:
            for loop, task in running:
                with contextlib.suppress(RuntimeError):  # the loop has ended by itself in the meantime
                    loop.call_soon_threadsafe(task.cancel)

        def ended() -> bool:
            return self._closed or cancelled()

        return until_stop(stream_from_thread(produce, cancelled=ended, on_stop=on_stop, name=self.name), stop)

    def close(self) -> None:
        """See :class:`lqr.writing.base.LanguageModel`."""
        self._closed = True

    async def _answer(self, body: dict[str, Any], emit: Emit) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                async for text in self._attempt(body):
                    if emit(text):
                        return
                return
            except _Retry as failure:
                if attempt == ATTEMPTS:
                    raise WriterError(
                        f"{self.name}: {failure} ({ATTEMPTS} attempts); is the server of LQR_LLM running?"
                    ) from None
                pause = FIRST_PAUSE * 2 ** (attempt - 1) if failure.pause is None else failure.pause
                logger.warning("%s: %s; trying again in %.1f s", self.name, failure, pause)
                await asyncio.sleep(min(pause, LONGEST_PAUSE))

    async def _attempt(self, body: dict[str, Any]) -> AsyncIterator[str]:
        key = os.environ.get(KEY_VARIABLE, "").strip()
        headers = {"Accept": "text/event-stream"} | ({"Authorization": f"Bearer {key}"} if key else {})
        begun = False
        try:
            timeout = httpx.Timeout(self._timeout, connect=min(CONNECT_SECONDS, self._timeout))
            async with (
                httpx.AsyncClient(timeout=timeout) as client,
                client.stream("POST", self._url, json=body, headers=headers) as response,
            ):
                if response.status_code != 200:
                    await self._refused(response, key)
                if "text/event-stream" not in response.headers.get("content-type", ""):
                    raise WriterError(f"{self.name} did not answer with a stream of events; does the address end in /v1?")
                async for text in self._events(response, key):
                    begun = True
                    yield text
        except httpx.TimeoutException:
            self._lost(f"no word for {self._timeout:g} s (LQR_LLM_TIMEOUT)", begun)
        except httpx.HTTPError as error:
            # the message of a transport error may quote what was sent; its type says enough
            self._lost(f"the connection failed ({type(error).__name__})", begun)
        except UnicodeError:
            raise WriterError(f"{self.name}: the key in {KEY_VARIABLE} holds characters that no header may hold") from None

    async def _events(self, response: httpx.Response, key: str) -> AsyncIterator[str]:
        """Text of the server-sent events, up to ``[DONE]``. Comments and empty deltas don't count as a word."""
        heard = time.monotonic()
        finished = False
        async for line in _lines(response):
            if time.monotonic() - heard > self._timeout:
                raise httpx.ReadTimeout("only keep-alives")
            if not line.startswith("data:"):
                continue
            data = line[5:].strip()
            if data == "[DONE]":
                return
            text, finished_now, error = _read_event(data)
            if error:
                raise WriterError(f"{self.name}: {_redacted(error, key)}")
            finished = finished or finished_now
            if text:
                heard = time.monotonic()
                yield text
        if not finished:
            raise httpx.RemoteProtocolError("the stream ended in mid-answer")

    async def _refused(self, response: httpx.Response, key: str) -> None:
        status = response.status_code
        detail = _redacted(_error_text((await response.aread())[:4000]), key)
        if status in (401, 403):
            raise WriterError(f"{self.name} refused the key ({status}); set {KEY_VARIABLE}")
        if status in _RETRIED:
            raise _Retry(f"the server answered {status}{detail}", _retry_after(response))
        if status == 404:
            raise WriterError(f"{self.name}: not found (404){detail}; LQR_LLM must be https://host/v1#model")
        raise WriterError(f"{self.name}: the server answered {status}{detail}")

    def _lost(self, what: str, begun: bool) -> None:
        if begun:
            raise WriterError(f"{self.name}: {what} in mid-answer; ask again") from None
        raise _Retry(what) from None


async def _lines(response: httpx.Response) -> AsyncIterator[str]:
    held = b""
    async for chunk in response.aiter_bytes():
        held += chunk
        if len(held) > _LONGEST_LINE and b"\n" not in held:
            raise httpx.RemoteProtocolError("endless line")
        *whole, held = held.split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace").rstrip("\r")
    if held:
        yield held.decode("utf-8", "replace")


def _read_event(data: str) -> tuple[str, bool, str]:
    """Text, whether the answer is complete, and an error for a person."""
    try:
        event = json.loads(data)
        if not isinstance(event, dict):
            raise TypeError
        if event.get("error"):
            error = event["error"]
            return "", False, str(error.get("message", error) if isinstance(error, dict) else error)[:300]
        choices = event.get("choices") or [{}]  # the last event may hold the usage only
        text = (choices[0].get("delta") or {}).get("content") or ""
        if not isinstance(text, str):
            raise TypeError
        return text, choices[0].get("finish_reason") is not None, ""
    except (ValueError, TypeError, AttributeError, IndexError, KeyError):
        return (
            "",
            False,
            "the server sent something that is not a chat completion; is LQR_LLM the address of an OpenAI-compatible API?",
        )


def _error_text(body: bytes) -> str:
    try:
        error = json.loads(body)
        error = error.get("error", error)
        message = error.get("message", "") if isinstance(error, dict) else error
        return f": {str(message)[:200]}" if message else ""
    except (ValueError, AttributeError):
        return ""


def _redacted(text: str, key: str) -> str:
    return text.replace(key, "***") if key else text


def _retry_after(response: httpx.Response) -> float | None:
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None
