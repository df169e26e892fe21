"""Token buckets against a slow count of the same rule, and whose address a request counts for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqr.service import limits
from lqr.service.limits import TokenBuckets, client_address, is_loopback


@given(st.lists(st.floats(0, 30), max_size=40), st.integers(1, 5), st.sampled_from([6.0, 30.0, 120.0]))
def test_never_more_than_the_burst_and_the_rate(gaps: list[float], burst: int, per_minute: float) -> None:
    now = [0.0]
    buckets = TokenBuckets(per_minute, burst, clock=lambda: now[0])
    allowed: list[float] = []
    for gap in gaps:
        now[0] += gap
        wait = buckets.take("a")
        if wait == 0:
            allowed.append(now[0])
        else:
            assert 0 < wait <= 60 / per_minute + 1e-6
    for i, start in enumerate(allowed):  # in every window, what the bucket held and what flowed in
        for j in range(i, len(allowed)):
            assert j - i + 1 <= burst + (allowed[j] - start) * per_minute / 60 + 1e-6


def test_clients_do_not_share_and_waiting_helps() -> None:
    now = [0.0]
    buckets = TokenBuckets(60, 2, clock=lambda: now[0])
    assert [buckets.take("a") > 0 for _ in range(3)] == [False, False, True]
    assert buckets.take("b") == 0
    now[0] += buckets.take("a")
    assert buckets.take("a") == 0


def test_zero_is_no_limit_and_quiet_clients_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    free = TokenBuckets(0, 1)
    assert all(free.take("a") == 0 for _ in range(100))
    monkeypatch.setattr(limits, "MAX_CLIENTS", 10)
    now = [0.0]
    buckets = TokenBuckets(60, 5, clock=lambda: now[0])
    for number in range(100):
        buckets.take(str(number))
    assert len(buckets) <= 10
    now[0] += 60
    buckets.take("new")
    assert len(buckets) == 1


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "address"),
    [
        ("203.0.113.9", [], 0, "203.0.113.9"),
        ("203.0.113.9", ["1.2.3.4"], 0, "203.0.113.9"),  # anybody can write that header
        ("127.0.0.1", ["6.6.6.6, 1.2.3.4"], 1, "1.2.3.4"),  # the client wrote the left part
        ("127.0.0.1", ["6.6.6.6", "1.2.3.4, 10.0.0.1"], 2, "1.2.3.4"),
        ("127.0.0.1", ["1.2.3.4"], 2, "127.0.0.1"),
        ("127.0.0.1", ["<script>"], 1, "unknown"),
        ("::ffff:1.2.3.4", [], 0, "1.2.3.4"),
        ("2001:db8:1:2:3::4", [], 0, "2001:db8:1:2::/64"),
        ("fe80::1%eth0", [], 0, "fe80::/64"),
        (None, [], 0, "unknown"),
    ],
)
def test_client_address(peer: str | None, forwarded: list[str], proxies: int, address: str) -> None:
    assert client_address(peer, forwarded, proxies) == address


def test_loopback() -> None:
    assert [is_loopback(peer) for peer in ("127.0.0.1", "::1", "10.0.0.1", "testclient", None)] == [
        True,
        True,
        False,
        False,
        False,
    ]
