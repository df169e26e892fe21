"""A watched answer is the same answer; one that hangs, fails or is stopped is counted and keeps no place."""

from __future__ import annotations

import dataclasses
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ui_fakes import _answer

from lqr.errors import Cancelled, LqrError
from lqr.pipeline import Pipeline, never
from lqr.service.metrics import Metrics
from lqr.service.names import AnyPipeline, UpToDate
from lqr.service.recent import EVERY
from lqr.service.traces import Traces
from lqr.service.watch import ClosingError, Watch, WatchedPipeline
from lqr.settings import Settings
from lqr.types import Answer, Evaluation, Event, Progress

DONE = _answer("q", "text")


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    settings = Settings(profile="cpu", home=tmp_path, answer_seconds=1.0)
    return Watch(settings, Metrics(), Traces(tmp_path / "traces", "full", 14))


def count(watch: Watch, outcome: str) -> float:
    return watch.metrics.registry.get_sample_value("lqr_answers_total", {"outcome": outcome}) or 0.0


def quick(stop: Callable[[], bool]) -> Iterator[Event]:
    yield Progress("reading")
    yield DONE


def test_events_pass_in_order_and_the_answer_is_counted(watch: Watch, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="lqr"):
        assert list(watch.stream(quick, "a secret question", (), never)) == [Progress("reading"), DONE]
    assert count(watch, "answered") == 1
    assert watch.under_way == 0
    stages = {"stage": "retrieve"}
    assert watch.metrics.registry.get_sample_value("lqr_stage_seconds_count", stages) == 1
    assert b"lqr_answers_under_way 0.0" in watch.metrics.text()
    (line,) = [record for record in caplog.records if hasattr(record, "fields")]
    assert line.fields["outcome"] == "answered"
    assert "secret" not in caplog.text + str(line.fields)


def test_figures_go_to_the_log_line_the_trace_and_the_running_means(
    watch: Watch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    measured = dataclasses.replace(DONE, evaluation=Evaluation(0.5, 0.75, quoted=1, partial=1))

    def work(stop: Callable[[], bool]) -> Iterator[Event]:
        yield measured

    with caplog.at_level(logging.INFO, logger="lqr"):
        for _ in range(EVERY):
            list(watch.stream(work, "a secret question", (), never))
    (point,) = watch.recent.points
    assert (point.groundedness, point.relevance, point.quoted, point.partial) == (0.5, 0.75, EVERY, EVERY)
    expected = dataclasses.asdict(measured.evaluation)  # type: ignore[arg-type]
    assert [record.fields["evaluation"] for record in caplog.records if hasattr(record, "fields")] == [expected] * EVERY
    (path,) = (tmp_path / "traces").iterdir()
    stored = [json.loads(line)["answer"]["evaluation"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert stored == [expected] * EVERY


def test_an_error_comes_through_and_is_counted(watch: Watch) -> None:
    def broken(stop: Callable[[], bool]) -> Iterator[Event]:
        yield Progress("reading")
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        list(watch.stream(broken, "q", (), never))
    assert count(watch, "failed") == 1


def test_an_answer_that_hangs_gives_its_place_back(watch: Watch) -> None:
    release = threading.Event()

    def hangs(stop: Callable[[], bool]) -> Iterator[Event]:
        yield Progress("reading")
        release.wait(30)  # looks at no clock and at no stop
        yield DONE

    began = time.monotonic()
    with pytest.raises(LqrError, match="LQR_ANSWER_SECONDS"):
        list(watch.stream(hangs, "q", (), never))
    assert time.monotonic() - began < 10
    assert (watch.under_way, watch.stuck, count(watch, "timeout")) == (0, 1, 1)
    assert list(watch.stream(quick, "q", (), never))[-1] == DONE  # the next one is answered meanwhile
    release.set()
    deadline = time.monotonic() + 10
    while watch.stuck and time.monotonic() < deadline:
        time.sleep(0.01)
    assert watch.stuck == 0


def test_closing_the_stream_stops_the_work_before_it_returns(watch: Watch) -> None:
    ended = threading.Event()

    def slow(stop: Callable[[], bool]) -> Iterator[Event]:
        try:
            while not stop():
                yield Progress("writing")
                time.sleep(0.01)
        finally:
            ended.set()

    stream = watch.stream(slow, "q", (), never)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert ended.is_set()
    assert (watch.under_way, count(watch, "stopped")) == (0, 1)


def test_a_stop_reaches_work_that_is_silent(watch: Watch) -> None:
    stopped = threading.Event()

    def silent(stop: Callable[[], bool]) -> Iterator[Event]:
        yield Progress("reading")
        while not stop():
            time.sleep(0.01)
        raise Cancelled("stopped")

    stream = watch.stream(silent, "q", (), stopped.is_set)
    next(stream)
    stopped.set()
    with pytest.raises(Cancelled):
        list(stream)
    assert count(watch, "stopped") == 1


def test_closed_doors_and_an_end_in_good_order(watch: Watch) -> None:
    go = threading.Event()

    def waits(stop: Callable[[], bool]) -> Iterator[Event]:
        yield Progress("reading")
        go.wait(10)
        yield DONE

    got: list[Event] = []
    thread = threading.Thread(target=lambda: got.extend(watch.stream(waits, "q", (), never)))
    thread.start()
    while not watch.under_way:
        time.sleep(0.01)
    watch.close_doors()
    with pytest.raises(ClosingError):
        list(watch.stream(quick, "q", (), never))
    threading.Timer(0.1, go.set).start()
    assert watch.drain(5) == 0  # finished
    thread.join(5)
    assert got[-1] == DONE


def test_what_does_not_finish_is_cut_off_and_said(watch: Watch) -> None:
    def slow(stop: Callable[[], bool]) -> Iterator[Event]:
        while not stop():
            yield Progress("writing")
            time.sleep(0.01)
        raise Cancelled("stopped")

    ended: list[BaseException] = []

    def consume() -> None:
        try:
            list(watch.stream(slow, "q", (), never))
        except Cancelled as error:
            ended.append(error)

    thread = threading.Thread(target=consume)
    thread.start()
    while not watch.under_way:
        time.sleep(0.01)
    assert watch.drain(0.1) == 1
    thread.join(5)
    assert len(ended) == 1


def test_replacing_a_stage_keeps_the_watch(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, object]] = []

    def stream(self: Pipeline, question: str, history: object = (), **options: object) -> Iterator[Event]:
        asked.append((question, options["route"]))
        yield DONE

    monkeypatch.setattr(Pipeline, "stream", stream)
    stages = {field.name: None for field in dataclasses.fields(Pipeline)}
    pipeline = dataclasses.replace(WatchedPipeline(**stages, watch=watch), model_writer=None)  # type: ignore[arg-type]
    assert isinstance(pipeline.ask("q", route="simple"), Answer)
    assert asked == [("q", "simple")]
    assert count(watch, "answered") == 1


def test_the_store_is_looked_at_before_each_question(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []

    class Counting(UpToDate):
        def __init__(self) -> None: ...

        def of(self, pipeline: AnyPipeline) -> AnyPipeline:
            looked.append(pipeline)
            return pipeline

    def stream(self: Pipeline, question: str, history: object = (), *, cancelled: object, route: str = "auto") -> Iterator[Event]:
        yield DONE

    monkeypatch.setattr(Pipeline, "stream", stream)
    stages = {field.name: None for field in dataclasses.fields(Pipeline)}
    pipeline = WatchedPipeline(**stages, watch=watch, up_to_date=Counting())  # type: ignore[arg-type]
    for _ in range(3):
        pipeline.ask("q")
    assert looked == [pipeline] * 3
