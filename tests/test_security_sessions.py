"""Many sessions on one pipeline, their steps mixed at random: nobody gets another's words.

The long form is ``python -m benchmarks.interleave``.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import interleave


def test_no_session_reads_another(tmp_path: Path) -> None:
    result = interleave.run(tmp_path, 15, seed=1)
    assert (result.interleavings, result.crossed) == (15, [])
    assert result.answers == 15 * interleave.SESSIONS
    assert result.switches > 15 * interleave.SESSIONS  # they were mixed indeed


def test_the_check_finds_a_word_of_another() -> None:
    assert interleave.foreign(0, {"text": f"about {interleave.word(1)}"}) == [1]
    assert interleave.foreign(1, {"text": f"about {interleave.word(1)}"}) == []
