"""Who asks how often: a token bucket for each client, and which address a client has.

It knows no HTTP server and no question; a client is any string. Buckets that are full again are forgotten, so memory is
bounded by the clients of the last minutes.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable

MAX_CLIENTS = 20_000  # beyond this the one that was quiet longest is forgotten


class TokenBuckets:
    """``per_minute`` requests of each client, ``burst`` of them at once (the token bucket of Turner 1986).

    Safe to use from several threads.
    """

    def __init__(self, per_minute: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._burst = float(burst)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client -> (tokens, when), quietest first

    def __len__(self) -> int:
        """How many clients are remembered."""
        return len(self._buckets)

    def take(self, client: str) -> float:
        """Take one token of ``client``; returns 0.0, or the seconds after which there is one again."""
        if self._rate <= 0:
            return 0.0
        with self._lock:
            now = self._clock()
            tokens, when = self._buckets.pop(client, (self._burst, now))
            tokens = min(self._burst, tokens + (now - when) * self._rate)
            wait = 0.0 if tokens >= 1 else (1 - tokens) / self._rate
            self._buckets[client] = (tokens - 1 if not wait else tokens, now)
            self._forget(now)
            return wait

    def _forget(self, now: float) -> None:
        """Drop full buckets from the quiet end: a new one would be the same."""
        while self._buckets:
            client, (tokens, when) = next(iter(self._buckets.items()))
            if len(self._buckets) <= MAX_CLIENTS and tokens + (now - when) * self._rate < self._burst:
                return
            del self._buckets[client]


def client_address(peer: str | None, forwarded: Iterable[str], trusted_proxies: int) -> str:
    """The address that a request counts for.

    Args:
        peer: the other end of the connection.
        forwarded: the values of its ``X-Forwarded-For`` headers, in order.
        trusted_proxies: how many proxies of our own append to that header. Only what they wrote is believed, counted
            from the right: everything further left was sent by the client, who may write what it likes.

    Returns:
        An IPv4 address, or the /64 network of an IPv6 one (a household has so many), or ``unknown``.
    """
    hops = [part.strip() for value in forwarded for part in value.split(",") if part.strip()]
    text = hops[-trusted_proxies] if 0 < trusted_proxies <= len(hops) else (peer or "")
    try:
        address = ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def is_loopback(peer: str | None) -> bool:
    """Whether the other end of a connection is this machine."""
    try:
        return ipaddress.ip_address((peer or "").partition("%")[0]).is_loopback
    except ValueError:
        return False


def is_private(peer: str | None) -> bool:
    """Whether the other end of a connection is this machine or one of a network of its own, as a proxy is."""
    try:
        address = ipaddress.ip_address((peer or "").partition("%")[0])
    except ValueError:
        return False
    return not (getattr(address, "ipv4_mapped", None) or address).is_global
