"""The thread that can be stopped, stop strings, and the fake model."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqr.errors import WriterError
from lqr.writing.base import Emit, stream_from_thread, until_stop, wait_for_slot
from lqr.writing.fake_lm import CANNED_REPLY, FakeLanguageModel


def never() -> bool:
    return False


def test_all_pieces_arrive_in_order() -> None:
    def produce(emit: Emit) -> None:
        for n in range(50):
            assert not emit(str(n))

    assert list(stream_from_thread(produce, cancelled=never)) == [str(n) for n in range(50)]


@pytest.mark.parametrize("way", ["close", "cancel"])
def test_the_thread_has_ended_when_the_stream_has(way: str) -> None:
    threads: list[threading.Thread] = []
    woken = threading.Event()
    stop = threading.Event()

    def produce(emit: Emit) -> None:
        threads.append(threading.current_thread())
        while not emit("x"):
            time.sleep(0.002)
        assert woken.wait(60)

    pieces = stream_from_thread(produce, cancelled=stop.is_set, on_stop=woken.set)
    assert next(pieces) == "x"
    if way == "close":
        pieces.close()  # type: ignore[attr-defined]
    else:
        stop.set()
        assert len(list(pieces)) < 1000
    assert not threads[0].is_alive()


def test_cancelling_works_while_nothing_arrives() -> None:
    woken = threading.Event()
    began = time.perf_counter()
    pieces = stream_from_thread(
        lambda emit: woken.wait(60), cancelled=lambda: time.perf_counter() - began > 0.1, on_stop=woken.set
    )  # type: ignore[arg-type,return-value]
    assert list(pieces) == []
    assert time.perf_counter() - began < 20


def test_errors_come_out_after_what_was_written() -> None:
    def produce(emit: Emit) -> None:
        emit("a")
        raise ValueError("broken")

    pieces = stream_from_thread(produce, cancelled=never, name="engine")
    assert next(pieces) == "a"
    with pytest.raises(WriterError, match="engine failed: ValueError: broken"):
        next(pieces)


def test_waiting_for_a_slot_can_be_cancelled() -> None:
    slots = threading.Semaphore(1)
    assert wait_for_slot(slots, never)
    began = time.perf_counter()
    assert not wait_for_slot(slots, lambda: time.perf_counter() - began > 0.1)
    slots.release()
    assert wait_for_slot(slots, never)


@given(st.text("abc", max_size=30), st.lists(st.text("abc", max_size=3), max_size=3), st.integers(1, 5))
def test_until_stop_against_a_plain_search(text: str, stops: list[str], size: int) -> None:
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    ends = [text.find(s) for s in stops if s and s in text]
    # A stop string counts as soon as it is whole, so of two overlapping ones the one that ends first wins.
    assert "".join(until_stop(iter(pieces), stops)) in {text[: min(ends)] if ends else text} | {text[:end] for end in ends}


def test_until_stop_closes_its_source_and_holds_back_no_more_than_it_must() -> None:
    closed = []

    def source() -> Iterator[str]:
        try:
            yield from ("ab", "c#", "#d", "e")
        finally:
            closed.append(True)

    pieces = until_stop(source(), ("##",))
    assert next(pieces) == "a"
    assert "".join(pieces) == "bc"
    assert closed == [True]


def test_fake_model_replies_in_turn_word_by_word() -> None:
    model = FakeLanguageModel(["one two  three", WriterError("down")], fallback=CANNED_REPLY)
    messages = [{"role": "user", "content": "hello"}]
    assert list(model.stream(messages, max_tokens=9)) == ["one", " two", " ", " three"]  # type: ignore[arg-type]
    with pytest.raises(WriterError, match="down"):
        model.stream(messages, max_tokens=9)  # type: ignore[arg-type]
    assert "".join(model.stream(messages, max_tokens=4)) == "This is a canned"  # type: ignore[arg-type]
    assert "".join(model.stream(messages, max_tokens=40, stop=["canned"])) == "This is a "  # type: ignore[arg-type]
    assert [call[0]["content"] for call in model.calls] == ["hello"] * 4
    assert "fake" in model.name
    model.close()
    with pytest.raises(WriterError, match="closed"):
        model.stream(messages, max_tokens=1)  # type: ignore[arg-type]


def test_fake_model_stops_writing_when_cancelled_or_closed_and_says_when_it_is_out_of_replies() -> None:
    model = FakeLanguageModel(["a b c d e f", "a b c d e f"])
    pieces = model.stream([], max_tokens=9)
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert model.words_written == 1
    written: list[str] = []
    written.extend(model.stream([], max_tokens=9, cancelled=lambda: model.words_written >= 3))
    assert written == ["a", " b"]
    with pytest.raises(WriterError, match="no reply left"):
        model.stream([], max_tokens=9)
