"""What a guard, most of all one over a path, refuses before it begins: one line each."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conftest import Ended

Command = Callable[..., Ended]

_UDP = ("--udp", "192.0.2.7:5000")
_KEY = ("--key-file", "link.key")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--lan", "lo", *_UDP), "give both guards the same --key-file"),
        ((*_UDP, *_KEY), "give --lan eth1, or --tun over0"),
        (("--lan", "lo", "--tun", "over0", *_UDP, *_KEY), "give --lan eth1, or --tun over0"),
        (("--lan", "lo", "--link", "lo", *_UDP, *_KEY), "a guard with --udp has no --link"),
        (("--lan", "lo", "--auto", *_UDP, *_KEY), "tunes itself without --auto"),
        (("--lan", "lo", "-p", "lg", *_UDP, *_KEY), "lg is for links"),
        (("--lan", "lo", "-p", "lgg", *_UDP, *_KEY), "unknown protection 'lgg'; did you mean 'lg'?"),
        (("--lan", "lo", "--address", "10.9.0.1/30", *_UDP, *_KEY), "--address is that of a TUN"),
        (("--tun", "over0", "--address", "10.9.0.300/30", *_UDP, *_KEY), "is no address of an interface"),
        (("--tun", "over0", "--udp", "192.0.2.7", *_KEY), "'192.0.2.7' is no peer"),
        (("--tun", "over0", "--link", "lo"), "--tun and --address need a path"),
        (("--lan", "lo", "--link", "lo"), "--lan and --link are both lo"),
        (("--lan", "lo", "--link", "packet:lo"), "--lan and --link are both lo"),
        (("--tun", "lo", *_UDP, *_KEY), "it is no TUN; give another name"),
    ],
)
def test_a_guard_says_what_is_missing(options: tuple[str, ...], words: str, command: Command) -> None:
    ended = command("guard", *options)
    assert ended.code == 2
    assert words in ended.err
    assert ended.err.count("\n") == 1
