"""Takes secrets and personal data out of text before it is written to a log or a trace.

Patterns, not understanding: a name, or an address written in words, is not found. What is known to be secret (values of
the variables that hold keys) is found wherever it stands.
"""

from __future__ import annotations

import ipaddress
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lqr.settings import known_secrets

__all__ = ["MASK", "SecretFilter", "known_secrets", "mapped", "redacted", "without_secrets"]

MASK = "[removed]"
# Keys and tokens: of the Hub, of OpenAI and its like, of GitHub, of AWS; a JSON Web Token; what follows "Bearer" or "token=".
_KEYS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{8,}|sk-[\w-]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})"
    r"|(?i:(?<=bearer )|(?<=basic )|(?<=token=)|(?<=api_key=)|(?<=apikey=)|(?<=password=))[^\s\"'&,;]{4,}"
)
_CREDENTIALS = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")  # https://user:password@host
_PERSONAL = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # an e-mail address
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


class SecretFilter(logging.Filter):
    """Masks secrets in every record of a handler, its traceback included."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        super().__init__()
        self._known = tuple(known)

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record in place; always True."""
        record.msg, record.args = without_secrets(record.getMessage(), self._known), None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = without_secrets(record.exc_text, self._known)
        return True
