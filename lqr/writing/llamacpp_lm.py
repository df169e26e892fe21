"""A GGUF model in this process, through llama.cpp (the ``xllamacpp`` package).

llama.cpp batches several answers together and keeps the prompt of each slot, so a prompt that begins like an
earlier one is read from where they part. This module does not know where the file came from, nor what is asked.

The engine opens an HTTP port on loopback by itself. It can't be switched off, so it is guarded with a random key
that never leaves this object; the only use made of it is counting tokens, for which there is no other call.
"""

from __future__ import annotations

import ctypes
import logging
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from lqr.errors import WriterError
from lqr.writing.base import ChatMessage, Emit, stream_from_thread, wait_for_slot

logger = logging.getLogger(__name__)

# Tokens of the prompt that are read at once. Between two batches an answer can be stopped, and other slots get
# their turn; a larger batch was measured to read no faster on a CPU of few cores.
PROMPT_BATCH = 128


class LlamaCppLanguageModel:
    """llama.cpp with ``slots`` parallel answers of ``context`` tokens each (prompt and answer together).

    ``threads`` 0 means one fewer than this process may use (see :func:`default_threads`). Decoding is greedy.

    Raises:
        WriterError: the file is missing or is not a GGUF, or xllamacpp is absent or refuses the model.
    """

    def __init__(self, path: Path, *, context: int = 2048, slots: int = 2, threads: int = 0) -> None:
        _check_gguf(path)
        try:
            import xllamacpp
        except ImportError as error:
            raise WriterError(f"{path.name} needs llama.cpp: pip install xllamacpp, or set LQR_LLM=composer") from error
        self.name = path.stem
        self.context = context
        self._slots = threading.BoundedSemaphore(slots)
        self._closing = threading.Event()
        key = secrets.token_urlsafe(32)
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_parallel = slots
        params.n_ctx = context * slots  # shared out evenly among the slots
        params.n_batch = params.n_ubatch = PROMPT_BATCH
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads or default_threads()
        params.api_keys = [key]
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.ui = False
        params.offline = True
        params.verbosity = 0  # a library does not print
        # Each slot keeps its own prompt; the second cache, of slots put aside, would grow to 8 GiB of people's questions.
        params.cache_ram_mib = 0
        params.cache_idle_slots = False
        try:
            with _signal_handlers_kept():
                self._server: Any = xllamacpp.Server(params)
        except Exception as error:
            raise WriterError(f"llama.cpp can't load {path}: is the file whole, and is there memory for it?") from error
        self._http = httpx.Client(
            base_url=self._server.listening_address,
            headers={"Authorization": f"Bearer {key}"},
            timeout=30.0,
            trust_env=False,  # a proxy must never see loopback traffic
        )

    def count_tokens(self, text: str) -> int:
        """Number of tokens of ``text``, special tokens not interpreted."""
        if self._closing.is_set():
            raise WriterError(f"{self.name} is closed")
        try:
            reply = self._http.post("/tokenize", json={"content": text, "add_special": False, "parse_special": False})
            return len(reply.raise_for_status().json()["tokens"])
        except (httpx.HTTPError, ValueError, KeyError) as error:
            raise WriterError(f"{self.name} can't count tokens: {type(error).__name__}") from error

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """See :class:`lqr.writing.base.LanguageModel`. Waits for a free slot, and can be cancelled while it waits."""
        if self._closing.is_set():
            raise WriterError(f"{self.name} is closed")
        request: dict[str, Any] = {
            "messages": [dict(message) for message in messages],
            "max_tokens": max_tokens,
            "stop": [s for s in stop if s],
            "stream": True,
            "temperature": 0.0,
            "cache_prompt": True,
            "return_progress": True,  # calls back between prompt batches, so that reading can be stopped too
        }

        def ended() -> bool:
            return self._closing.is_set() or cancelled()

        return self._stream(request, ended)

    def close(self) -> None:
        """See :class:`lqr.writing.base.LanguageModel`."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._http.close()
        self._server = None  # the engine's destructor waits for its threads

    def _stream(self, request: Mapping[str, Any], ended: Callable[[], bool]) -> Iterator[str]:
        if not wait_for_slot(self._slots, ended):
            return
        try:
            server = self._server
            if server is None:
                return
            yield from stream_from_thread(lambda emit: self._produce(server, request, emit), cancelled=ended, name=self.name)
        finally:
            self._slots.release()

    def _produce(self, server: Any, request: Mapping[str, Any], emit: Emit) -> None:
        failure: list[str] = []

        def on_chunk(chunk: Any) -> bool:
            # An exception raised in here would be swallowed by the engine; returning True makes it cancel the task.
            text, error = _read_chunk(chunk)
            if error:
                failure.append(error)
                return True
            return emit(text)

        server.handle_chat_completions(dict(request), on_chunk)
        if failure:
            raise WriterError(f"{self.name}: {failure[0]}")


def default_threads() -> int:
    """One thread fewer than there are CPUs, and at least one.

    llama.cpp's threads wait for one another by spinning. When anything else wants a CPU (another answer's
    retrieval, the web server), a thread per CPU was measured to read a 350-token prompt three times slower, and to
    write five times slower, than a thread fewer.
    """
    return max(1, usable_cpus() - 1)


def usable_cpus() -> int:
    """CPUs this process may really use: its affinity, and the container's quota where there is one."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            # More threads than that would spin at llama.cpp's barriers while the kernel holds the others back.
            cpus = min(cpus, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass
    return cpus


def _read_chunk(chunk: Any) -> tuple[str, str]:
    """The text of one streamed chunk, or an error for a person."""
    if not isinstance(chunk, Mapping):
        return "", "llama.cpp sent something that is not a chunk"
    if "error" in chunk:
        error = chunk["error"]
        if isinstance(error, Mapping) and error.get("type") == "exceed_context_size_error":
            return "", (
                f"the prompt has {error.get('n_prompt_tokens')} tokens and the context holds {error.get('n_ctx')}; "
                "raise LQR_LLM_CONTEXT or lower LQR_TOP_K"
            )
        return "", str(error.get("message", error) if isinstance(error, Mapping) else error)
    choices = chunk.get("choices") or [{}]
    return choices[0].get("delta", {}).get("content") or "", ""


def _check_gguf(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise WriterError(f"LQR_LLM: can't read {path}: {error.strerror or error}") from error
    if magic != b"GGUF":
        raise WriterError(f"LQR_LLM: {path} is not a GGUF file (it does not begin with 'GGUF')")


@contextmanager
def _signal_handlers_kept() -> Iterator[None]:
    """Put SIGINT and SIGTERM back as they were: the engine takes them, and Ctrl-C would no longer stop the program.

    ``signal.signal`` works in the main thread only, while a model may load in any; hence the C call, with the
    structure left unread (no platform's ``struct sigaction`` is longer than 512 bytes).
    """
    if sys.platform == "win32":
        yield
        return
    libc = ctypes.CDLL(None)
    saved = {number: ctypes.create_string_buffer(512) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, action in saved.items():
        libc.sigaction(int(number), None, action)
    try:
        yield
    finally:
        for number, action in saved.items():
            libc.sigaction(int(number), action, None)
