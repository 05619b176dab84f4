"""The switch model of FEC in P4 decides as the simulator's does: ``python -m tests.p4.fec_model SEED...``.

Run it as root inside ``unshare --net``. For each seed the simulator tells what enters and what comes of it
(`crates/sim/examples/fec_model_vectors.rs`). The encoder must make the same packets, byte for byte, with no
losses and with all packets marked. The decoder gets the packets from the link, some marked and some missing.
It must let the same frames go, hold as many and drop as many, at checkpoints and at the end. A few dialogues
come first, about what a link that keeps order cannot show.

One line for each seed; exit code 1 and a one-line reason at the first difference.
"""

from __future__ import annotations

import copy
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lossylink.errors import LossylinkError
from lossylink.linux.bmv2.common import Pace
from lossylink.linux.bmv2.fec_model import FAMILY, FecModelSwitch, Parameters
from lossylink.linux.bmv2.sources import constants, events

from .bench import Bench, DifferenceError, compare, told_apart
from .line import wait
from .vectors import vectors

_N = constants("fec_model")
_FROM_HOST = events("fec_model", "ENCODER_")["from_host"]
_FROM_LINK = events("fec_model", "DECODER_")["from_link"]
_BLOCK_NUMBERS = 1 << 24
#: Blocks that a decoder remembers; the program's own constant.
_REMEMBERED = _N["BLOCKS"]
#: Ethernet's header, the header of the code, and the corruption header.
_ETHERNET, _CODE, _CORRUPTION = 14, 6, 1
_ADDRESSES = bytes.fromhex("020000000008020000000004")
_FEC = _N["ETHERTYPE_FEC"].to_bytes(2, "big")
#: What a host may send; a tagged frame may carry our own EtherType.
_ETHERTYPES = [b"\x08\x00", b"\x86\xdd", b"\x88\xb5", _FEC]
#: Where a decoder is looked at before the end.
_CHECKPOINTS = 3
_PATIENCE_SECONDS = 5.0
#: A seed whose packets are tagged, and some of which are recovered.
_CANARY = 10
#: Of 2^20 draws one does not mark: two in one run are no accident.
_ESCAPED_MAX = 1


@dataclass(frozen=True)
class Place:
    """A packet's place in its block: an index, or a row with size and rows."""

    block: int
    place: int
    size: int = 0
    rows: int = 0

    @classmethod
    def of(cls, tag: dict[str, Any], base: int) -> Place:
        """Read a tag of the simulator, whose blocks count from zero."""
        block = (tag["block"] + base) % _BLOCK_NUMBERS
        if tag["kind"] == "data":
            return cls(block, tag["index"])
        return cls(block, tag["row"], tag["size"], tag["rows"])

    def around(self, frame: bytes, *, is_marked: bool) -> bytes:
        """Return a host's frame behind the headers of this place (FEC-2, FEC-3, FEC-25)."""
        if self.rows:
            header = bytes([0x80 | self.place, self.size, self.rows])
        else:
            header = bytes([self.place]) + frame[12:14]
        number = self.block.to_bytes(3, "big")
        return frame[:12] + _FEC + number + header + bytes([is_marked << 7]) + frame[_ETHERNET:]


class Rig:
    """One switch, and what is done to it."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.switch = FecModelSwitch(bench.runtime)
        self.switch.set_up()

    def begin(self, block: int = 0) -> None:
        """Forget everything."""
        self.switch.start_over(block)
        self.switch.corrupt(0.0)

    def host_sends(self, frames: Sequence[bytes]) -> None:
        """Let frames enter the encoder."""
        self.bench.feed(self.bench.host, frames, self._count("encoder_events", _FROM_HOST))

    def link_brings(self, packets: Sequence[bytes]) -> None:
        """Let packets enter the decoder."""
        self.bench.feed(self.bench.link, packets, self._count("decoder_events", _FROM_LINK))

    def _count(self, counter: str, index: int) -> Callable[[], int]:
        return lambda: self.bench.runtime.read_counter(counter, index)

    def decoder(self, **expected: int) -> None:
        """Wait until as many packets circulate as should, then compare what else is known of the decoder."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            seen = self.switch.detail()["decoder"]
            if seen["circulating"] == expected["circulating"] or time.monotonic() > deadline:
                break
        for name, number in expected.items():
            if seen[name] != number:
                raise DifferenceError(f"decoder: {seen[name]} {name}, expected {number}")


def host_frame(seed: int, number: int, length: int, *, is_bare: bool = False) -> bytes:
    """Return a frame that is like no other."""
    rng = random.Random(f"{seed}/{number}")
    ethertype = rng.choice(_ETHERTYPES[: 3 if is_bare else 4])
    return _ADDRESSES + ethertype + number.to_bytes(4, "big") + rng.randbytes(length - _ETHERNET - 4)


# --- The encoder ----------------------------------------------------------------------------------


def replay_encoder(rig: Rig, vector: dict[str, Any], base: int, *, loss_ratio: float) -> None:
    """Let the encoder make what the simulator's made, from block ``base`` on."""
    rig.begin(base)
    rig.switch.corrupt(loss_ratio)
    seen: list[bytes] = []
    expected: list[bytes] = []
    escaped_bare = bare_count = 0
    for code, frames, made in _segments(vector, base):
        _, size, rows = code
        rig.switch.set(Parameters(is_on=True, size=size, rows=rows))
        tagged = [packet for packet, is_bare in made if not is_bare]
        bare = [packet for packet, is_bare in made if is_bare]
        expected += tagged
        bare_count += len(bare)
        rig.host_sends(frames)
        if loss_ratio == 0.0:
            compare("packet", rig.bench.expect(rig.bench.link, len(made)), [packet for packet, _ in made])
        else:
            seen += rig.bench.expect(rig.bench.link, len(tagged))
    # Packets of no block that are lost show nowhere else.
    wait("packets met the faulty link", lambda: rig.switch.corruption()["frames"], len(vector["made"]).__eq__)
    link = rig.switch.corruption()
    if loss_ratio == 0.0:
        rig.bench.quiet()
        if link["corrupted"]:
            raise DifferenceError(f"{link['corrupted']} packets marked without losses")
        return
    seen += rig.bench.take(rig.bench.link)
    packets = [packet for packet in seen if packet[12:14] == _FEC]
    escaped_bare = len(seen) - len(packets)
    marked = sum(packet[_ETHERNET + _CODE] == 0x80 for packet in packets)
    compare("packet", map(_unmarked, packets), expected)
    # FEC-1, FEC-25: what no block holds is dropped, not marked.
    if marked + bare_count - escaped_bare != link["corrupted"]:
        raise DifferenceError(f"{marked} packets marked and {link['corrupted']} counted")
    if link["frames"] - link["corrupted"] > _ESCAPED_MAX:
        raise DifferenceError(f"{link['frames'] - link['corrupted']} packets of {link['frames']} not marked")


def _segments(
    vector: dict[str, Any], base: int
) -> Iterator[tuple[list[int], list[bytes], list[tuple[bytes, bool]]]]:
    """Yield each code with the frames that enter under it, and what is made of them."""
    seed, lengths = vector["seed"], vector["frames"]
    bare = {packet["tag"]["number"] for packet in vector["made"] if packet["tag"]["kind"] == "bare"}
    frames = [
        host_frame(seed, number, length, is_bare=number in bare) for number, length in enumerate(lengths)
    ]
    begins = [*(code[0] for code in vector["codes"]), len(frames)]
    made: list[list[tuple[bytes, bool]]] = [[] for _ in vector["codes"]]
    number = -1
    for packet in vector["made"]:
        tag = packet["tag"]
        number = tag.get("number", number)
        segment = sum(number >= begin for begin in begins[1:-1])
        is_bare = tag["kind"] == "bare"
        # FEC-24: a parity packet is a clone of the data packet before it.
        octets = frames[number] if is_bare else Place.of(tag, base).around(frames[number], is_marked=False)
        if len(octets) != packet["bytes"]:
            raise DifferenceError(f"a packet of {len(octets)} B, in the simulator {packet['bytes']} B")
        made[segment].append((octets, is_bare))
    for place, code in enumerate(vector["codes"]):
        yield code, frames[begins[place] : begins[place + 1]], made[place]


def _unmarked(packet: bytes) -> bytes:
    at = _ETHERNET + _CODE
    return packet[:at] + bytes([packet[at] & 0x7F]) + packet[at + 1 :]


# --- The decoder ----------------------------------------------------------------------------------


def replay_decoder(rig: Rig, vector: dict[str, Any], base: int) -> None:
    """Let the decoder decide about what arrives at the simulator's, whose blocks begin with ``base``."""
    rig.begin()
    seed, arrivals = vector["seed"], vector["arrivals"]
    if not arrivals:
        return
    rng = random.Random(seed)
    ends = {rng.randrange(1, len(arrivals) + 1) for _ in range(_CHECKPOINTS)}
    ends |= {vector["healed_from"], len(arrivals)} - {0}
    frames: dict[int, bytes] = {}
    begin, intact = 0, 0
    for end in sorted(ends):
        packets, at_once, all_frames = [], [], []
        for arrival in arrivals[begin:end]:
            packet, number = _arriving(seed, arrival, base, frames)
            all_frames += [frames[gone] for gone in arrival["goes_on"]]
            # A bare packet that is lost does not arrive.
            if packet is not None:
                packets.append(packet)
                if number is not None and not arrival["is_marked"]:
                    at_once.append(frames[number])
        rig.link_brings(packets)
        seen = rig.bench.expect(rig.bench.host, len(all_frames))
        compare("frame that goes on", sorted(seen), sorted(all_frames))
        # What is intact goes on at once, in order; what was let go comes between.
        now = set(at_once)
        compare("intact frame", (frame for frame in seen if frame in now), at_once)
        last = arrivals[end - 1]
        intact += sum(
            arrival["tag"]["kind"] == "data" and not arrival["is_marked"] for arrival in arrivals[begin:end]
        )
        rig.decoder(
            circulating=last["circulating"], recovered=last["recovered"], unrecovered=last["unrecovered"],
            intact=intact, forgotten=0, late=0, malformed=0,
        )  # fmt: skip
        begin = end
    rig.bench.quiet()


def _arriving(
    seed: int, arrival: dict[str, Any], base: int, frames: dict[int, bytes]
) -> tuple[bytes | None, int | None]:
    """Return a packet as it arrives, none if it does not, and the number of its frame if it has one."""
    tag, is_marked = arrival["tag"], arrival["is_marked"]
    if tag["kind"] == "parity":
        clone = host_frame(seed, 0, arrival["bytes"] - _CODE - _CORRUPTION)
        return Place.of(tag, base).around(clone, is_marked=is_marked), None
    number, is_bare = tag["number"], tag["kind"] == "bare"
    added = 0 if is_bare else _CODE + _CORRUPTION
    frame = host_frame(seed, number, arrival["bytes"] - added, is_bare=is_bare)
    frames[number] = frame
    if is_bare:
        return (None if is_marked else frame), number
    return Place.of(tag, base).around(frame, is_marked=is_marked), number


# --- Dialogues ------------------------------------------------------------------------------------

_FRAME = _ADDRESSES + b"\x08\x00" + bytes(range(60))


def data(block: int, index: int, *, is_marked: bool = False) -> bytes:
    """Return a data packet."""
    return Place(block % _BLOCK_NUMBERS, index).around(_FRAME, is_marked=is_marked)


def parity(block: int, row: int, size: int, rows: int, *, is_marked: bool = False) -> bytes:
    """Return a parity packet."""
    return Place(block % _BLOCK_NUMBERS, row, size, rows).around(_FRAME, is_marked=is_marked)


def packets_of_older_blocks(rig: Rig) -> None:
    """Check FEC-26: an older block has ended, intact packets of it go on, and nothing of it is counted."""
    rig.link_brings([data(5, 0), data(4, 0), data(4, 1, is_marked=True), parity(4, 0, 1, 1)])
    rig.bench.expect(rig.bench.host, 2)
    rig.decoder(circulating=0, recovered=0, unrecovered=1, late=1, block=5)
    # Block 5 is still the one that is received.
    rig.link_brings([data(5, 1, is_marked=True), parity(5, 0, 2, 1)])
    rig.bench.expect(rig.bench.host, 1)
    rig.decoder(circulating=0, recovered=1, unrecovered=1)


def packets_behind_the_last_one(rig: Rig) -> None:
    """Check FEC-26: the last index ends a block, and what comes behind it cannot be rebuilt any more."""
    rig.link_brings([data(9, 0, is_marked=True), parity(9, 0, 2, 1)])
    rig.decoder(circulating=0, recovered=0, unrecovered=1)
    rig.link_brings([data(9, 1), data(9, 1, is_marked=True)])
    rig.bench.expect(rig.bench.host, 1)
    rig.decoder(circulating=0, recovered=0, unrecovered=2, late=1)


def a_block_without_its_last_packet(rig: Rig) -> None:
    """Check FEC-9, FEC-26: a newer block ends it; numbers compare across the end of their space."""
    for enough in (False, True):
        rig.begin()
        rig.link_brings([data(-1, 0, is_marked=True), data(-1, 1), parity(-1, 0, 2, 2, is_marked=not enough)])
        rig.bench.expect(rig.bench.host, 1)
        rig.decoder(circulating=1, recovered=0, unrecovered=0)
        rig.link_brings([data(0, 0)])
        rig.bench.expect(rig.bench.host, 1 + enough)
        rig.decoder(circulating=0, recovered=int(enough), unrecovered=int(not enough), block=0)


def blocks_far_apart(rig: Rig) -> None:
    """Check FEC-9: half the space ahead is newer, one more is older."""
    half = _BLOCK_NUMBERS // 2
    for ahead, newest in ((half - 1, half - 1), (half, 0)):
        rig.begin()
        rig.link_brings([data(0, 0), data(ahead, 0)])
        rig.bench.expect(rig.bench.host, 2)
        rig.decoder(circulating=0, recovered=0, unrecovered=0, block=newest)


def a_round_that_takes_too_long(rig: Rig) -> None:
    """Check that a verdict stands until another block takes its place, and is not taken for that one's."""
    slow = replace(rig.switch.pace, order_packets_per_second=4)
    for ahead, is_known in ((_REMEMBERED - 1, True), (_REMEMBERED, False)):
        rig.begin()
        _set_loop(rig, slow)
        # The first round is over at once. The second one takes a quarter of a second.
        between = [parity(1 << bit, 0, 1, 2) for bit in range((_REMEMBERED - 1).bit_length())]
        rig.link_brings([data(0, 0, is_marked=True), data(0, 1), parity(0, 0, 2, 1)])
        rig.link_brings([*between, parity(ahead, 0, 1, 2)])
        rig.bench.expect(rig.bench.host, 1 + is_known)
        rig.decoder(circulating=0, recovered=int(is_known), forgotten=int(not is_known))
    _set_loop(rig, rig.switch.pace)


def _set_loop(rig: Rig, pace: Pace) -> None:
    rig.bench.runtime.set_queue(
        _N["PORT_RX_LOOP"], packets=pace.loop_frames, packets_per_second=pace.order_packets_per_second
    )


def impossible_packets(rig: Rig) -> None:
    """Check WIRE-3, FEC-3: what cannot be is dropped, counted, and changes nothing."""
    spoilt = bytearray(data(7, 0))
    spoilt[_ETHERNET + _CODE] = 0x01
    bad = [
        parity(7, 0, 0, 1), parity(7, 0, 129, 1), parity(7, 0, 1, 33), parity(7, 1, 1, 1),
        _ADDRESSES + _FEC + b"\0\0\7" + b"\x80\1\0\0" + bytes(40),
        data(7, 0)[: _ETHERNET + _CODE], parity(7, 0, 1, 1)[: _ETHERNET + _CODE], bytes(spoilt),
    ]  # fmt: skip
    rig.link_brings([data(1, 0, is_marked=True), *bad])
    rig.decoder(circulating=1, malformed=len(bad), block=1)
    # The bounds themselves are possible.
    rig.link_brings([parity(1, 0, 1, 1), parity(2, 31, 128, 32, is_marked=True)])
    rig.bench.expect(rig.bench.host, 1)
    rig.decoder(circulating=0, recovered=1, malformed=len(bad), block=2)


def frames_without_a_block(rig: Rig) -> None:
    """Check FEC-1, FEC-19: they pass untouched; our own EtherType cannot leave without a tag."""
    rig.switch.set(Parameters(is_on=False))
    own = _ADDRESSES + _FEC + bytes(60)
    rig.host_sends([_FRAME, own, _FRAME])
    compare("frame", rig.bench.expect(rig.bench.link, 2), [_FRAME, _FRAME])
    encoder = rig.switch.detail()["encoder"]
    compare("count", (encoder["bare"], encoder["ambiguous"], encoder["sent_data"]), (2, 1, 0))
    rig.link_brings([_FRAME])
    compare("frame", rig.bench.expect(rig.bench.host, 1), [_FRAME])


DIALOGUES = (
    packets_of_older_blocks,
    packets_behind_the_last_one,
    a_block_without_its_last_packet,
    blocks_far_apart,
    a_round_that_takes_too_long,
    impossible_packets,
    frames_without_a_block,
)


# --- All of it ------------------------------------------------------------------------------------


def drawn(seeds: Sequence[int]) -> list[dict[str, Any]]:
    """Return the vectors of seeds."""
    return [json.loads(line) for line in vectors(FAMILY, seeds).splitlines()]


def first_block(seed: int) -> int:
    """Return where a seed's blocks begin: at zero, shortly before the numbers wrap, or anywhere."""
    return random.Random(seed).choice([0, _BLOCK_NUMBERS - 2, seed * 7919 % _BLOCK_NUMBERS])


def check_dialogues(rig: Rig) -> None:
    """Hold the dialogues."""
    for dialogue in DIALOGUES:
        rig.begin()
        try:
            dialogue(rig)
            rig.bench.quiet()
        except DifferenceError as difference:
            raise DifferenceError(f"{dialogue.__name__}: {difference}") from None


def check_seed(rig: Rig, vector: dict[str, Any]) -> str:
    """Replay a vector and return a line about it."""
    begun = time.monotonic()
    base = first_block(vector["seed"])
    with told_apart(f"seed {vector['seed']}"):
        for loss_ratio in (0.0, 1.0):
            replay_encoder(rig, vector, base, loss_ratio=loss_ratio)
        replay_decoder(rig, vector, base)
    last = vector["arrivals"][-1] if vector["arrivals"] else {"recovered": 0, "unrecovered": 0}
    return (
        f"seed {vector['seed']}: {len(vector['made'])} packets made, {len(vector['arrivals'])} arrived, "
        f"{last['recovered']} recovered, {last['unrecovered']} not; {time.monotonic() - begun:.2f} s"
    )


def check_canaries(rig: Rig, vector: dict[str, Any]) -> None:
    """Check that a vector with one false packet, and one with one false count, are refused."""
    base = first_block(vector["seed"])
    false_packet, false_count = copy.deepcopy(vector), copy.deepcopy(vector)
    tag = next(packet["tag"] for packet in false_packet["made"] if packet["tag"]["kind"] == "data")
    tag["index"] ^= 1
    false_count["arrivals"][-1]["recovered"] += 1
    replays: list[Callable[[], None]] = [
        lambda: replay_encoder(rig, false_packet, base, loss_ratio=0.0),
        lambda: replay_decoder(rig, false_count, base),
    ]
    for replay in replays:
        try:
            replay()
        except DifferenceError:
            rig.bench.clear()
        else:
            raise DifferenceError("a false vector was not refused")


def main(words: Sequence[str]) -> int:
    """Check the seeds and return the exit code."""
    seeds = [int(word) for word in words] or [1]
    try:
        found = drawn(seeds)
        with Bench("fec_model") as bench:
            rig = Rig(bench)
            check_dialogues(rig)
            check_canaries(rig, drawn([_CANARY])[0])
            print(f"{len(DIALOGUES)} dialogues and the canaries")
            for vector in found:
                print(check_seed(rig, vector), flush=True)
    except (DifferenceError, LossylinkError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
