"""Hold LinkGuardian's switch program against the engines of `crates/core`, arrival by arrival.

Run ``python -m tests.p4.linkguardian SEED...`` as root inside ``unshare --net``. The vectors are those of
`crates/core/examples/linkguardian_vectors`. One line tells about all of them, or about the first difference.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lossylink.errors import LossylinkError
from lossylink.linux.bmv2.linkguardian import FAMILY, LinkGuardianSwitch, Parameters
from lossylink.linux.bmv2.sources import constants

from . import linkguardian_dialogues
from .bench import Bench, DifferenceError, compare, told_apart
from .vectors import vectors

_N = constants(FAMILY)
#: A frame that the receiver passes on at once: when it has come, the one before it has been decided about.
_BARRIER = bytes.fromhex("020000000004 020000000008 9000").ljust(_N["MINIMUM_FRAME_BYTES"], b"\0")
#: Where the first octet after Ethernet's header says that a frame is sent again (WIRE-5).
_FLAGS = 14
_IS_RETRANSMISSION = 0b0000_1000
#: A register of acknowledgements whose packet is said to go round already, so that none begins to.
_CARRIER_IS_OUT = 1 << 19


@dataclass
class Step:
    """One arrival and what leaves because of it."""

    kind: str
    frame: bytes
    outputs: dict[str, list[bytes]] = field(default_factory=lambda: {"host": [], "link": []})


@dataclass
class Vector:
    """One seed."""

    seed: int
    options: dict[str, int]
    steps: list[Step] = field(default_factory=list)
    state: dict[str, int] = field(default_factory=dict)


def drawn(seeds: Sequence[int]) -> Iterator[Vector]:
    """Yield the vectors of seeds."""
    vector = None
    for line in vectors(FAMILY, seeds).splitlines():
        match line.split():
            case ["seed", seed, *options]:
                if vector:
                    yield vector
                pairs = (option.split("=") for option in options)
                vector = Vector(int(seed), {name: int(value) for name, value in pairs})
            case ["in", kind, *frame]:
                assert vector
                vector.steps.append(Step(kind, bytes.fromhex("".join(frame))))
            case ["out", port, frame]:
                assert vector
                vector.steps[-1].outputs[port].append(bytes.fromhex(frame))
            case ["state", name, value]:
                assert vector
                vector.state[name] = int(value)
    if vector:
        yield vector


class Replay:
    """A switch that lives through vectors, one after another."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.switch = LinkGuardianSwitch(bench.runtime)
        self.switch.set_up()
        self.ports = {"host": bench.host, "link": bench.link, "timer": bench.control}

    def run(self, vector: Vector) -> None:
        """Live through one vector.

        Raises
        ------
        DifferenceError
            The switch decides otherwise than the engines.
        """
        self.begin(vector.options)
        for number, step in enumerate(vector.steps):
            with told_apart(f"arrival {number} ({step.kind})"):
                self.step(step)
        self.bench.quiet()
        compare("state", self.state(vector.state), sorted(vector.state.items()))
        self.switch.drain()
        self.bench.quiet()

    def begin(self, options: dict[str, int]) -> None:
        """Start over as a vector says."""
        runtime = self.bench.runtime
        self.switch.clear()
        self.switch.set(
            Parameters(
                is_on=bool(options["is_on"]), in_order=bool(options["in_order"]), copies=options["copies"],
                control_copies=options["control_copies"], dummies=options["dummies"],
                deduplicate=bool(options["deduplicate"]), backpressure=False, reload=options["reload"],
            )
        )  # fmt: skip
        self.switch.start_over(options["start"])
        if options["only_rides"]:
            runtime.write_register("receiver_acknowledgement", _CARRIER_IS_OUT)

    def step(self, step: Step) -> None:
        """Let one frame arrive, and compare what leaves."""
        bench = self.bench
        if step.kind == "timer":
            passed = self.timer_packets() + 1
            bench.send(bench.control, self.switch.timer_frame(circulates=False))
            while self.timer_packets() < passed:
                pass
        else:
            bench.send(self.ports[step.kind], step.frame)
        for port, expected in step.outputs.items():
            seen = bench.expect(self.ports[port], len(expected))
            compare(port, in_line(seen), in_line(expected))
            # Copies come round in an order of their own.
            again = Counter(seen) - Counter(expected)
            if again:
                raise DifferenceError(f"{again.total()} frames that nobody asked for")
        if step.kind == "link" and not any(step.outputs.values()):
            bench.send(bench.link, _BARRIER)
            compare("host", bench.expect(bench.host), [_BARRIER])

    def timer_packets(self) -> int:
        """Return how many timer packets the switch has seen."""
        names = ("RECEIVER_TIMER_PACKETS", "RECEIVER_GIVEN_UP")
        return sum(self.bench.runtime.read_counter("receiver_events", _N[name]) for name in names)

    def state(self, names: dict[str, int]) -> list[tuple[str, int]]:
        """Return the same state as the engines give, from the switch."""
        runtime = self.bench.runtime
        order, register = (runtime.read_register(f"receiver_{name}") for name in ("order", "acknowledgement"))
        overrun = runtime.read_register("receiver_overrun")
        derived = {
            "turn": order & 0x1FFFF,
            "acknowledgement_pending": register >> 17 & 3,
            "acknowledgement_leading": register & 0x1FFFF,
            "given_up": runtime.read_counter("receiver_events", _N["RECEIVER_GIVEN_UP"]) + overrun,
        }
        for name in names.keys() - derived.keys():
            if name.isupper():
                counter = f"{name.split('_')[0].lower()}_events"
                derived[name] = runtime.read_counter(counter, _N[name])
            else:
                derived[name] = runtime.read_register(name)
        return sorted(derived.items())


def in_line(frames: list[bytes]) -> list[bytes]:
    """Return the frames whose order is told: all but those that are sent again."""
    return [frame for frame in frames if not is_sent_again(frame)]


def is_sent_again(frame: bytes) -> bool:
    """Return whether a frame is a retransmission with nothing riding on it."""
    is_numbered = (
        int.from_bytes(frame[12:14], "big") == _N["ETHERTYPE_LINKGUARDIAN"] and frame[_FLAGS] >> 6 == 0
    )
    return is_numbered and bool(frame[_FLAGS] & _IS_RETRANSMISSION)


def main(words: Sequence[str]) -> int:
    """Replay the vectors of seeds and return the exit code."""
    try:
        found = list(drawn([int(word) for word in words] or [1]))
        with Bench(FAMILY) as bench:
            replay = Replay(bench)
            linkguardian_dialogues.hold(bench, replay.switch)
            for vector in found:
                with told_apart(f"seed {vector.seed}"):
                    replay.run(vector)
    except (DifferenceError, LossylinkError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    steps = [step for vector in found for step in vector.steps]
    left = sum(len(frames) for step in steps for frames in step.outputs.values())
    print(f"{len(linkguardian_dialogues.DIALOGUES)} dialogues")
    print(f"{len(found)} seeds: after {len(steps)} arrivals {left} frames left, each as the engines say")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
