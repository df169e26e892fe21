"""Keeps what visitors say about answers: one JSON line each, in a local file or, in batches, in a data set repository.

``LQR_FEEDBACK`` is ``off`` (this module is not asked then), ``local`` (``LQR_HOME/feedback``; a Space loses it at each restart,
and says so in its start-up line) or ``OWNER/NAME``, a data set that a ``CommitScheduler`` of the Hub's client brings up to date
every few minutes. What may be recorded, and whether the visitor agreed to it, is for the caller to decide; keys are taken out.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import uuid
from collections.abc import Mapping
from contextlib import nullcontext
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lqr.errors import HubError
from lqr.hub import client as hub
from lqr.settings import Settings

log = logging.getLogger(__name__)

EVERY_MINUTES = 5.0  # between two commits; the Hub bounds how many a repository may take in an hour
LARGEST = 16_384  # characters of one record
CLOSING_SECONDS = 20.0  # how long a shutdown waits for the last batch


class Feedback:
    """A writer of records; one for the whole program. Safe to call from several threads.

    ``reason`` is a line for the start-up log: where records go, and how long they live there.
    """

    def __init__(self, folder: Path, *, reason: str, scheduler: Any = None) -> None:
        """Records go to one new file in ``folder``; ``scheduler`` is what sends it on (None: nobody)."""
        self.reason = reason
        self._path = folder / f"{datetime.now(timezone.utc):%Y-%m-%d}-{uuid.uuid4().hex[:8]}.jsonl"
        self._scheduler = scheduler
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    def record(self, entry: Mapping[str, Any]) -> None:
        """Keep ``entry`` with the time (UTC). A Hub that fails is logged when it is: the entry lies in the local file then.

        Raises:
            ValueError: the entry is no JSON object, or too large.
            HubError: it could not be written to the file.
        """
        line = json.dumps({"time": datetime.now(timezone.utc).isoformat(timespec="seconds"), **entry}, ensure_ascii=False)
        if len(line) > LARGEST:
            raise ValueError(f"a record of {len(line)} characters; at most {LARGEST} are kept")
        with self._lock, self._scheduler.lock if self._scheduler else nullcontext():
            try:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(hub.redacted(line) + "\n")
            except OSError as error:
                raise HubError(
                    f"feedback not kept in {self._path}: {error.strerror}; free space there, or set LQR_HOME"
                ) from error

    def close(self) -> None:
        """Send the last batch, waiting at most ``CLOSING_SECONDS``; harmless when called twice."""
        scheduler, self._scheduler = self._scheduler, None
        if scheduler is None:
            return
        try:
            scheduler.trigger().result(timeout=CLOSING_SECONDS)
        except Exception as error:  # the records are in the local file still
            log.warning("the last feedback was not sent (%s); it lies in %s", hub.redacted(str(error)), self._path.parent)
        scheduler.stop()


def open_feedback(settings: Settings, *, every_minutes: float = EVERY_MINUTES) -> Feedback:
    """The writer that ``settings.feedback`` asks for.

    Raises:
        HubError: it names a data set that can't be made or written, or no token is set.
    """
    folder = settings.home / "feedback"
    if settings.feedback == "local":
        lost = "gone at the next restart" if "SPACE_ID" in os.environ else "kept there"
        return Feedback(folder, reason=f"feedback to {folder}: {lost}; LQR_FEEDBACK=OWNER/NAME sends it to a data set")
    repo = hub.check_repo(settings.feedback)
    client = hub.api()
    import huggingface_hub

    if huggingface_hub.get_token() is None:
        raise HubError(f"LQR_FEEDBACK={repo} needs a token that may write there; set HF_TOKEN, or LQR_FEEDBACK=local")
    with hub.explained(f"LQR_FEEDBACK={repo}"):
        scheduler = huggingface_hub.CommitScheduler(
            repo_id=repo,
            repo_type="dataset",
            folder_path=folder,
            path_in_repo="data",
            every=every_minutes,
            private=True,
            hf_api=client,
        )
    return Feedback(
        folder, reason=f"feedback to the data set {repo}, every {every_minutes:g} minutes, private if new", scheduler=scheduler
    )
