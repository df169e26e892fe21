"""The collections that a visitor may choose from; each is opened when it is first chosen.

They share the embedder, the language model and the watch over answers. Which ones there are is the operator's decision: the
collection that the page was started with and those that ``LQR_LIBRARIES`` names, no other of this machine. Knows no session.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import replace

from lqr.app import Application, build, collection_folder, collection_profile
from lqr.corpus.store import FILE_NAME
from lqr.errors import SettingsError
from lqr.service.variants import with_prompt
from lqr.service.watch import WatchedPipeline, watched_by

log = logging.getLogger(__name__)


class Libraries:
    """The collections on offer, the one that ``base`` serves first. Safe to use from several threads."""

    def __init__(self, base: Application) -> None:
        """Look up those that ``settings.libraries`` names; open none.

        Raises:
            SettingsError: there is none of a name.
            LqrError: a name or a profile is malformed.
        """
        settings = base.settings
        self._base = base
        self._lock = threading.Lock()
        self._open: dict[str, Application] = {settings.collection: base}
        self._titles = {settings.collection: base.profile.title or settings.collection}
        for name in filter(None, map(str.strip, settings.libraries.split(","))):
            if name in self._titles:
                continue
            if not (collection_folder(settings, name) / FILE_NAME).is_file() and not (settings.knowledge / name).is_dir():
                raise SettingsError(f"LQR_LIBRARIES names {name!r}: run `lqr ingest PATH --collection {name}`, or leave it out")
            self._titles[name] = collection_profile(settings, name).title or name

    @property
    def titles(self) -> Mapping[str, str]:
        """What each collection is called, by its name."""
        return dict(self._titles)

    def application(self, name: str) -> Application:
        """What answers from the collection ``name``; takes seconds when it is asked for the first time.

        Raises:
            KeyError: there was none of this name when the program started.
            LqrError: it can't be opened.
        """
        if name not in self._titles:
            raise KeyError(name)
        if found := self._open.get(name):
            return found
        with self._lock:  # one is opened at a time; what is open is had without waiting
            if name not in self._open:
                self._open[name] = self._made(name)
            return self._open[name]

    def _made(self, name: str) -> Application:
        base = self._base
        # No second copy of a language model: the one that is loaded writes, unless LQR_LLM names none and the profile another.
        settings = replace(base.settings, collection=name, llm="composer" if base.settings.llm else "")
        made = build(settings, collection=name, embedder=base.retriever.embedder)
        writer = made.pipeline.model_writer or with_prompt(base.pipeline.model_writer, made.profile.prompt)
        made = replace(made, pipeline=replace(made.pipeline, model_writer=writer))
        if isinstance(base.pipeline, WatchedPipeline):
            made = watched_by(base.pipeline.watch, made, name)  # its own store is looked at, not the base's
        log.info("collection %s opened: %d passages", name, len(made.retriever))
        return made

    def close(self) -> None:
        """Close what was opened here; the base is the caller's."""
        base = self._base.pipeline.model_writer
        with self._lock:
            for application in self._open.values():
                if application is not self._base:
                    writer = application.pipeline.model_writer
                    shared = base is not None and writer is not None and writer.model is base.model
                    pipeline = replace(application.pipeline, model_writer=None) if shared else application.pipeline
                    replace(application, pipeline=pipeline).close()
            self._open = {self._base.settings.collection: self._base}
