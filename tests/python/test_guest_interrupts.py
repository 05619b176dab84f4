"""Ctrl-C that waits until what it ends is held."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from lossylink.linux.guest.interrupts import interrupted_later


@pytest.fixture(autouse=True)
def usual_handlers() -> Iterator[None]:
    before = {
        number: signal.signal(number, signal.default_int_handler)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_takes_effect_once_the_block_has_ended(number: signal.Signals) -> None:
    held: list[bool] = []

    def hold() -> None:
        with interrupted_later():
            signal.raise_signal(number)
            held.append(True)

    with pytest.raises(KeyboardInterrupt):
        hold()
    assert held
    assert signal.getsignal(number) is signal.default_int_handler


def test_no_signal_no_interruption() -> None:
    with interrupted_later():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_that_is_ignored_stays_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupted_later():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_another_thread_has_no_handlers_to_change() -> None:
    done: list[bool] = []

    def work() -> None:
        with interrupted_later():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
