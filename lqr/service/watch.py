"""Watches over every answer of a served pipeline: its time limit, its counts, its figures, its log line, its trace.

A :class:`WatchedPipeline` is a :class:`~lqr.pipeline.Pipeline` that works in a thread of its own and hands its events on, so
that an answer that hangs gives its place back when its time is up, whatever it hangs in. It decides nothing about answers.
"""

from __future__ import annotations

import contextvars
import dataclasses
import logging
import queue
import secrets
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, cast

from lqr.app import Application, collection_folder
from lqr.errors import Cancelled, LqrError
from lqr.pipeline import Pipeline, never
from lqr.service.freshness import Freshness
from lqr.service.logs import request
from lqr.service.metrics import Metrics, Outcome
from lqr.service.names import UpToDate
from lqr.service.recent import Recent
from lqr.service.traces import Traces
from lqr.settings import Settings
from lqr.types import Answer, Event, Turn

log = logging.getLogger(__name__)
STEP = 0.1  # seconds between two looks at the clock while nothing happens
PATIENCE = 2.0  # seconds that a stopped answer is waited for, so that its work and the next one's do not overlap
Work = Callable[[Callable[[], bool]], Iterator[Event]]


class ClosingError(LqrError):
    """The program is being stopped and takes no further question."""


class _Task:
    """One answer at work. ``events`` ends with None; ``error`` is what ended it, if anything did."""

    def __init__(self, work: Work, stopped: Callable[[], bool]) -> None:
        self.events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self.error: BaseException | None = None
        self.stop = threading.Event()
        self.ended = threading.Event()
        self._work = work
        self._stopped = stopped
        context = contextvars.copy_context()  # Gradio and ZeroGPU know by it whom they work for
        threading.Thread(target=context.run, args=(self._run,), name="lqr-answer", daemon=True).start()

    def _run(self) -> None:
        try:
            stream = self._work(lambda: self.stop.is_set() or self._stopped())
            with closing(cast("Generator[Event, None, None]", stream)) as events:
                for event in events:
                    self.events.put(event)
                    if self.stop.is_set():
                        break
        except BaseException as error:  # raised again where the answer is waited for
            self.error = error
        finally:
            self.ended.set()
            self.events.put(None)


class Watch:
    """What watches over the answers of a program, whichever library they come from. Safe to use from several threads."""

    def __init__(self, settings: Settings, metrics: Metrics, traces: Traces) -> None:
        self.settings = settings
        self.metrics = metrics
        self.recent = Recent()
        self._traces = traces
        self._closing = threading.Event()
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._under_way = 0
        self._given_up: list[_Task] = []
        metrics.gauge("answers_under_way", "Questions that are being answered", lambda: self._under_way)
        metrics.gauge("answers_stuck", "Answers given up that still hold a thread", lambda: self.stuck)

    @property
    def under_way(self) -> int:
        """How many answers are being made."""
        return self._under_way

    @property
    def stuck(self) -> int:
        """How many answers were given up and have still not ended."""
        with self._lock:
            self._given_up = [task for task in self._given_up if not task.ended.is_set()]
            return len(self._given_up)

    @property
    def closing(self) -> bool:
        """Whether new questions are turned away."""
        return self._closing.is_set()

    def close_doors(self) -> None:
        """Take no further question; what is under way goes on."""
        self._closing.set()

    def drain(self, seconds: float, hurry: Callable[[], bool] = never) -> int:
        """Wait up to ``seconds``, or until ``hurry()``, for the answers under way, then stop them; returns how many were."""
        self.close_doors()
        end = time.monotonic() + seconds
        while self._under_way and time.monotonic() < end and not hurry():
            time.sleep(0.05)
        left = self._under_way
        self._ending.set()
        end = time.monotonic() + PATIENCE
        while self._under_way and time.monotonic() < end:
            time.sleep(0.05)
        return left

    def stream(self, work: Work, question: str, history: Sequence[Turn], cancelled: Callable[[], bool]) -> Iterator[Event]:
        """The events of ``work``, which is given a function that says when to stop.

        Raises:
            Cancelled: ``cancelled()`` said so.
            ClosingError: the program is being stopped.
            LqrError: the time of one answer was up.
        """
        if self.closing:
            raise ClosingError("the program is being stopped; ask again in a minute")
        number = secrets.token_hex(6)
        began = time.monotonic()
        outcome: Outcome = "failed"
        answer: Answer | None = None
        with self._lock:
            self._under_way += 1
        try:
            with request(number):
                task = _Task(work, lambda: cancelled() or self._ending.is_set())
            try:
                for event in self._events(task, began, cancelled):
                    if isinstance(event, Answer):
                        answer, outcome = event, _outcome(event)
                    yield event
            except (GeneratorExit, Cancelled):
                outcome = "stopped" if answer is None else outcome
                task.stop.set()
                task.ended.wait(PATIENCE)
                raise
            except _TimeUpError:
                outcome = "timeout"
                raise
            finally:
                task.stop.set()
                if not task.ended.wait(0.2):
                    with self._lock:
                        self._given_up.append(task)
        finally:
            with self._lock:
                self._under_way -= 1
            self._settle(number, outcome, time.monotonic() - began, answer, question, history)

    def _events(self, task: _Task, began: float, cancelled: Callable[[], bool]) -> Iterator[Event]:
        limit = self.settings.answer_seconds
        while True:
            left = limit - (time.monotonic() - began)
            if left <= 0:
                raise _TimeUpError(f"the answer took longer than {limit:.0f} s (LQR_ANSWER_SECONDS) and was ended")
            try:
                event = task.events.get(timeout=min(STEP, left))
            except queue.Empty:
                if cancelled() or self._ending.is_set():
                    raise Cancelled("stopped") from None
                continue
            if event is None:
                if task.error is not None:
                    raise task.error
                return
            yield event

    def _settle(
        self, number: str, outcome: Outcome, seconds: float, answer: Answer | None, question: str, history: Sequence[Turn]
    ) -> None:
        stages = dict(answer.trace.seconds) if answer else {}
        self.metrics.answered(outcome, seconds, stages)
        fields: dict[str, Any] = {"event": "answer", "outcome": outcome, "seconds": round(seconds, 3), "stages": stages}
        if answer:
            self.recent.add(answer)
            route = answer.trace.route
            fields |= {
                "turn": answer.trace.turn_kind,
                "route": route.label if route else None,
                "steps": answer.trace.steps,
                "passages": len(answer.trace.kept),
                "writer": answer.trace.writer,
                "confidence": answer.confidence.level,
                "evaluation": dataclasses.asdict(answer.evaluation) if answer.evaluation else None,
            }
        with request(number):
            log.info("answer %s: %s in %.2f s", number, outcome, seconds, extra={"fields": fields})
        self._traces.record(number, question, history, outcome, answer.to_dict() if answer else None)


class _TimeUpError(LqrError):
    """The time of one answer is up."""


def _outcome(answer: Answer) -> Outcome:
    if answer.refused:
        return "refused"
    return "answered" if answer.claims else "replied"


@dataclass(frozen=True, kw_only=True)
class WatchedPipeline(Pipeline):
    """A pipeline whose answers are watched over. ``dataclasses.replace`` with other stages keeps the watch.

    ``up_to_date`` sees to what other processes have ingested into its library before each answer; without it nothing does.
    """

    watch: Watch
    up_to_date: UpToDate | None = None

    def stream(
        self, question: str, history: Sequence[Turn] = (), *, cancelled: Callable[[], bool] = never, **options: Any
    ) -> Iterator[Event]:
        """As :meth:`lqr.pipeline.Pipeline.stream`, within ``settings.answer_seconds``."""

        def work(stop: Callable[[], bool]) -> Iterator[Event]:
            now = self.up_to_date.of(self) if self.up_to_date else self
            yield from Pipeline.stream(now, question, history, cancelled=stop, **options)

        return self.watch.stream(work, question, history, cancelled)


def watched(application: Application, metrics: Metrics | None = None) -> tuple[Application, Watch]:
    """``application`` with its pipeline watched over, and its watch."""
    settings = application.settings
    traces = Traces(settings.home / "traces", settings.traces, settings.traces_days)
    watch = Watch(settings, metrics or Metrics(), traces)
    watch.metrics.gauge("passages", "Passages that searches see", lambda: len(application.retriever))
    watch.metrics.gauge("generation", "Generation of the store that searches see", lambda: application.retriever.generation)
    return watched_by(watch, application, settings.collection), watch


def watched_by(watch: Watch, application: Application, collection: str) -> Application:
    """``application``, which serves ``collection``, with its pipeline under a ``watch`` that there is already."""
    freshness = Freshness(application.retriever, application.store, collection_folder(application.settings, collection))
    stages = {field.name: getattr(application.pipeline, field.name) for field in dataclasses.fields(Pipeline)}
    pipeline = WatchedPipeline(**stages, watch=watch, up_to_date=UpToDate(freshness))
    return dataclasses.replace(application, pipeline=pipeline)
