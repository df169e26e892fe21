"""The tree of errors that a person may meet."""

from __future__ import annotations

import inspect
import pickle

import pytest

import lqr.errors
from lqr.errors import LqrError

ERRORS = [c for _, c in inspect.getmembers(lqr.errors, inspect.isclass) if issubclass(c, Exception)]


@pytest.mark.parametrize("kind", ERRORS)
def test_one_catch_is_enough_and_the_message_is_what_was_said(kind: type[LqrError]) -> None:
    with pytest.raises(LqrError) as caught:
        raise kind("file.pdf: damaged; save it again")
    assert str(caught.value) == "file.pdf: damaged; save it again"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # through a process pool


def test_no_error_hides_behind_a_builtin_name() -> None:
    assert len(ERRORS) >= 8
    assert all(kind.__name__ == "Cancelled" or kind.__name__.endswith("Error") for kind in ERRORS)
    assert not any(issubclass(kind, OSError | ValueError | RuntimeError) for kind in ERRORS)
