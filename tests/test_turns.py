"""Who waits goes before who has just had a turn."""

from __future__ import annotations

import threading
import time

from lqr.turns import Turns


def test_a_long_work_in_pieces_lets_a_short_one_in() -> None:
    turns, began = Turns(), threading.Event()
    done: list[str] = []

    def long_work() -> None:
        for _ in range(50):
            with turns:
                began.set()
                time.sleep(0.01)
                done.append("piece")

    thread = threading.Thread(target=long_work)
    thread.start()
    began.wait(5)
    with turns:
        done.append("short")
    thread.join()
    assert done.count("piece") == 50
    assert done.index("short") <= 3


def test_one_at_a_time_and_given_back_after_an_error() -> None:
    turns = Turns()
    inside = [0, 0]  # now, most

    def work() -> None:
        for number in range(20):
            try:
                with turns:
                    inside[0] += 1
                    inside[1] = max(inside)
                    time.sleep(0.0005)
                    inside[0] -= 1
                    if number % 3 == 0:
                        raise ValueError
            except ValueError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
    assert inside == [0, 1]
