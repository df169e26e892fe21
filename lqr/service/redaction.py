"""Takes secrets and personal data out of text before it is written to a log or a trace.

Patterns, not understanding: a name, or an address written in words, is not found. What is known to be secret (values of
the variables that hold keys) is found wherever it stands.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from lqr.settings import known_secrets

__all__ = ["MASK", "RecordFactory", "guard_logs", "known_secrets", "mapped", "redacted", "stored_token", "without_secrets"]

MASK = "[removed]"
# Keys and tokens: of the Hub, of OpenAI and its like, of GitHub, of AWS; a JSON Web Token; what follows "Bearer" or "token=".
_KEYS = re.compile(
    r"\b(?:hf_(?:oauth_|jwt_)[\w.-]{8,}|hf_[A-Za-z0-9]{8,}|sk-[\w-]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{8,2000}\.[\w-]{8,}\.[\w-]{8,})"
    r"|(?i:(?<=bearer )|(?<=basic )|(?<=token=)|(?<=api_key=)|(?<=apikey=)|(?<=password=))[^\s\"'&,;]{4,}"
)
_CREDENTIALS = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")  # https://user:password@host
_PERSONAL = re.compile(
    r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # an e-mail address; tried once a word, else a long one takes seconds
    r"|(?<![\w.])\+?\d(?:[\s()/-]{0,2}\d){8,17}(?![\w.]*\d)"  # a phone, card or account number: nine digits or more
    r"|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)"  # an IPv4 address
)
# What may be an IPv6 address, with an IPv4 tail or a zone; times and ratios look alike, so a parser has the last word.
_IPV6 = re.compile(
    r"(?<!\w)(?:[0-9A-Fa-f]{0,4}:){1,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{1,4}|(?<!::):)(?!\w)(?:%\w[\w-]*)?",
    re.ASCII,
)


def without_secrets(text: str, known: Iterable[str] = ()) -> str:
    """``text`` with keys, tokens and the ``known`` secrets masked."""
    for secret in known:
        text = text.replace(secret, MASK)
    return _CREDENTIALS.sub(MASK, _KEYS.sub(MASK, text))


def redacted(text: str, known: Iterable[str] = ()) -> str:
    """``text`` without secrets, e-mail addresses, IP addresses and long numbers."""
    return _PERSONAL.sub(MASK, _IPV6.sub(_without_ipv6, without_secrets(text, known)))


def _without_ipv6(found: re.Match[str]) -> str:
    try:
        ipaddress.IPv6Address(found[0])
    except ValueError:
        return found[0]
    return found[0] if found[0] == "::" else MASK  # alone it is punctuation, and nobody's address


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """``value`` (of JSON types) with ``change`` applied to every text in it, keys apart."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mapped(item, change) for item in value]
    return value


class RecordFactory:
    """Makes log records without secrets, their tracebacks included; see :func:`guard_logs`."""

    def __init__(self, make: Callable[..., logging.LogRecord], known: Iterable[str]) -> None:
        """``make`` is the factory that makes the record as such."""
        self.make = make
        self._known = tuple(known)

    def __call__(self, *args: Any, **keywords: Any) -> logging.LogRecord:
        """As :class:`logging.LogRecord`. A record that holds no secret is left as it is."""
        record = self.make(*args, **keywords)
        try:
            said = record.getMessage()
        except Exception:  # arguments that do not fit are for the handler to report, which shows them
            said = f"{record.msg} {record.args}"
        if (clean := without_secrets(said, self._known)) != said:
            record.msg, record.args = clean, None
        if record.exc_info:
            trace = logging.Formatter().formatException(record.exc_info)
            if (clean := without_secrets(trace, self._known)) != trace:
                record.exc_text, record.exc_info = clean, None
        if record.stack_info:
            record.stack_info = without_secrets(record.stack_info, self._known)
        return record


def guard_logs(known: Iterable[str] | None = None) -> None:
    """From now on no log record of this process holds a secret, whatever handler gets it and at whatever level.

    Libraries bring handlers of their own, and the HTTP client logs headers at DEBUG, in which a server may repeat a token: so
    it is the record that is cleaned, when it is made. For programs (``app.py``, the command line), not for the library.

    Args:
        known: secrets besides what has the form of one; by default those of this process and the Hub token that is stored.
    """
    make = logging.getLogRecordFactory()
    inner = make.make if isinstance(make, RecordFactory) else make
    logging.setLogRecordFactory(RecordFactory(inner, [*known_secrets(), *stored_token()] if known is None else known))


def stored_token(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The token that ``hf auth login`` has left on the disk, where the Hub's client looks for it; none, or one."""
    environment = os.environ if environment is None else environment
    cache = environment.get("XDG_CACHE_HOME") or "~/.cache"
    home = environment.get("HF_HOME") or f"{cache}/huggingface"
    try:
        token = Path(environment.get("HF_TOKEN_PATH") or f"{home}/token").expanduser().read_text(encoding="utf-8").strip()
    except (OSError, ValueError, RuntimeError):  # not there, no text, or no home to expand
        return ()
    return known_secrets({"HF_TOKEN": token})
