"""Starts the page behind the gateway and ends it in good order: a signal closes the doors, answers under way may finish.

It sets signal handlers, so it belongs to the main thread of ``app.py``.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Mapping
from types import FrameType
from typing import Any

from lqr.errors import SettingsError
from lqr.service.gateway import Doors, Gateway
from lqr.service.watch import Watch

log = logging.getLogger(__name__)
HUB_FRAMES = ("https://huggingface.co", "https://*.huggingface.co", "https://*.hf.space")


def launch_options(watch: Watch, blocks: Any, queue: str, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Keyword arguments for ``Blocks.launch`` that put the gateway in front and, with ``LQR_AUTH``, ask for a login.

    Args:
        queue: the concurrency id of the functions that answer questions.

    Raises:
        SettingsError: ``LQR_AUTH`` is malformed.
    """
    from starlette.middleware import Middleware

    environment = os.environ if environment is None else environment
    frames = HUB_FRAMES if "SPACE_ID" in environment else ()
    options: dict[str, Any] = {
        "app_kwargs": {"middleware": [Middleware(Gateway, watch=watch, doors=Doors.of(blocks, queue), framed_by=frames)]},
        "max_file_size": "64mb",
    }
    if users := logins(environment.get("LQR_AUTH", "")):
        options["auth"] = users
    return options


def logins(text: str) -> list[tuple[str, str]]:
    """``name:password,name:password`` as pairs.

    Raises:
        SettingsError: a pair lacks a part. The message does not repeat it.
    """
    pairs = [part.strip().partition(":") for part in text.split(",") if part.strip()]
    if not all(name and password for name, _, password in pairs):
        raise SettingsError("LQR_AUTH must be NAME:PASSWORD, several separated by commas")
    return [(name, password) for name, _, password in pairs]


def serve(page: Any, watch: Watch) -> None:
    """Block until SIGTERM or SIGINT, then finish what is under way (``settings.shutdown_seconds``) and close the page.

    A second signal ends the waiting.
    """
    stop = threading.Event()
    again = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        (again if stop.is_set() else stop).set()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        while not stop.wait(0.5) and page.is_running:
            pass
        watch.close_doors()
        log.info("stopping: %d answers under way may take %.0f s more", watch.under_way, watch.settings.shutdown_seconds)
        left = watch.drain(watch.settings.shutdown_seconds, hurry=again.is_set)
        log.info("stopped: every answer was finished" if not left else f"stopped: {left} answers were cut off")
    finally:
        page.close(verbose=False)
        for number, handler in before.items():
            signal.signal(number, handler)
