"""The errors a person may meet. Each message names the file or setting and the way out, on one line."""

from __future__ import annotations


class LqrError(Exception):
    """Base of all errors raised on purpose; its message is fit to be shown to the user."""


class SettingsError(LqrError):
    """A setting is unknown, malformed or contradicts another."""


class WeightsError(LqrError):
    """Model weights were not found or are not what they claim to be; lists what was tried."""


class ReadError(LqrError):
    """A file can't be read as a document (unknown type, no text layer, damaged, too large)."""


class StoreError(LqrError):
    """The store can't be opened or written (locked, damaged, newer version, no space)."""


class RetrievalError(LqrError):
    """A derived index is missing or stale and can't be rebuilt."""


class WriterError(LqrError):
    """A language model failed to load or to answer."""


class HubError(LqrError):
    """The Hugging Face Hub refused or broke off, or what goes there or came from there is not what it should be."""


class Cancelled(LqrError):
    """The user stopped the answer."""
