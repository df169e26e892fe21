"""What must not reach a log or a trace does not, and ordinary text does."""

from __future__ import annotations

import io
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lqr.service.logs import JsonFormatter, current_request, request
from lqr.service.redaction import MASK, guard_logs, known_secrets, mapped, redacted, stored_token, without_secrets

TOKENS = (
    "hf_abcdefghijklmnop",
    "sk-proj-abc123def456",
    "ghp_abcdefghijklmnop1234",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4",
)


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("frame", ["{}", "token={}", "Authorization: Bearer {}", "https://x/?a={}&b=1", '"key": "{}"'])
def test_tokens_are_masked(token: str, frame: str) -> None:
    assert token not in without_secrets(frame.format(token))
    assert MASK in without_secrets(frame.format(token))


def test_credentials_in_addresses_and_known_secrets() -> None:
    assert without_secrets("GET https://ann:s3cret@host/v1") == f"GET https://{MASK}@host/v1"
    known = known_secrets({"LQR_LLM_KEY": "orange-house", "LQR_AUTH": "ann:green-door,bob:x", "HOME": "/root/home"})
    assert without_secrets("orange-house, green-door, x, /root/home", known) == f"{MASK}, {MASK}, x, /root/home"


def test_the_graphs_password_is_known_and_its_user_is_not() -> None:
    known = known_secrets({"LQR_GRAPH_KEY": "blue-window", "LQR_GRAPH_USER": "farm-reader", "LQR_AUTH": "ann:a-door, bob:b-door"})
    assert set(known) == {"blue-window", "a-door", "b-door", "ann:a-door, bob:b-door"}


@pytest.mark.parametrize(
    "address",
    [
        "2001:db8::8a2e:370:7334",
        "2001:0DB8:0000:0000:0000:ff00:0042:8329",
        "::1",
        "fe80::1ff:fe23:4567:890a%eth0",
        "2001:db8::",
        "::ffff:192.168.1.44",
    ],
)
@pytest.mark.parametrize("frame", ["from {}.", "[{}]:8080", "{}: refused", "client:{}", '{{"ip":"{}"}}'])
def test_ipv6_addresses_are_masked(address: str, frame: str) -> None:
    assert redacted(frame.format(address)) == frame.format(MASK)


@pytest.mark.parametrize("text", ["at 12:30:45", "a ratio of 1:2:3", "std::vector", "yes :: no", "00:1B:44:11:3A:B7", "sow: 3:1"])
def test_times_ratios_and_colons_stay(text: str) -> None:
    assert redacted(text) == text


def test_personal_data() -> None:
    text = "Write to ann.b@farm.example or +44 (0)20 7946 0958 from 192.168.1.44."
    assert redacted(text) == f"Write to {MASK} or {MASK} from {MASK}."


@pytest.mark.parametrize(
    "text",
    ["500 to 2,500 mg/kg of copper", "pH <5.5, 20 % of 100 plants", "in 2007 and 2021", "task-force", "4.2.1R(2)", "risk-based"],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redacted(text) == text


def test_mapped_reaches_every_text_and_leaves_the_rest() -> None:
    value = {"a": ["x", {"b": "x"}], "n": 1, "none": None, "t": ("x",)}
    assert mapped(value, str.upper) == {"a": ["X", {"b": "X"}], "n": 1, "none": None, "t": ["X"]}


@pytest.mark.parametrize("text", ["0" * 20_000, "a.b" * 7000, "eyJ-" * 5000, "1-" * 10_000, "a@" * 10_000, "::1" * 7000])
def test_a_long_text_takes_no_long_time(text: str) -> None:
    began = time.perf_counter()
    redacted(text)
    assert time.perf_counter() - began < 5.0  # seconds; a pattern that is tried anew at every letter takes twenty


@pytest.fixture
def guarded() -> Iterator[io.StringIO]:
    """What a handler that nobody has prepared gets, at every level."""
    before, stream = logging.getLogRecordFactory(), io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("test.redaction")
    logger.propagate = False
    logger.setLevel(logging.DEBUG)
    guard_logs(["orange-house"])
    guard_logs(["orange-house"])  # once more is the same
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)
    logging.setLogRecordFactory(before)


def test_no_token_reaches_a_log_not_even_in_a_traceback(guarded: io.StringIO) -> None:
    logger = logging.getLogger("test.redaction")
    with request("r1"):
        logger.warning("sending %s", TOKENS[0], extra={"fields": {"event": "x"}})
    assert current_request() == ""
    try:
        raise ValueError(f"bad key orange-house and {TOKENS[1]}")
    except ValueError:
        logger.exception("failed")
    logger.info("key %d orange-house", "no number")
    logger.info("by way of", stack_info=True)
    first, second, *_ = map(json.loads, guarded.getvalue().splitlines())
    assert first["message"] == f"sending {MASK}"
    assert (first["request"], first["event"], first["level"]) == ("r1", "x", "WARNING")
    assert "request" not in second
    assert "ValueError" in second["exception"]
    assert "orange-house" not in guarded.getvalue()
    assert TOKENS[1] not in guarded.getvalue()


def test_a_token_that_a_server_repeats_in_a_header_is_in_no_record(guarded: io.StringIO) -> None:
    headers = [(b"Content-Type", b"text/plain"), (b"X-Echo", f"Bearer {TOKENS[0]}".encode()), (b"X-Own", b"orange-house")]
    told = (b"HTTP/1.1", 401, b"Unauthorized", headers)
    logging.getLogger("test.redaction").debug("receive_response_headers.complete return_value=%r", told)
    assert "X-Echo" in guarded.getvalue()
    assert TOKENS[0] not in guarded.getvalue()
    assert "orange-house" not in guarded.getvalue()


def test_a_record_without_a_secret_is_as_it_was(guarded: io.StringIO) -> None:
    record = logging.getLogRecordFactory()("n", logging.INFO, "f", 1, "%s of %d", ("one", 2), None)
    assert (record.msg, record.args) == ("%s of %d", ("one", 2))


def test_the_stored_token_is_known(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("of-no-known-form-4711\n")
    assert stored_token({"HF_HOME": str(tmp_path)}) == ("of-no-known-form-4711",)
    assert stored_token({"HF_TOKEN_PATH": str(tmp_path / "token")}) == ("of-no-known-form-4711",)
    assert stored_token({"HF_HOME": str(tmp_path / "nowhere")}) == ()
