"""What ``tc`` says of netem: the parameters that it was given, and what its queue counted (``tc -s qdisc``).

A ``tc qdisc add`` command says the parameters alone, and so does ``tc qdisc show``. ``tc -j`` prints JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lossylink.errors import UserError
from lossylink.measuring.fit import spelling
from lossylink.measuring.tools.reading import Batch, Reading
from lossylink.scenario import netem
from lossylink.scenario.loss import Loss
from lossylink.scenario.netem import Netem
from lossylink.theory.bursts import Chain

_COUNTS: Final = re.compile(r"Sent \d+ bytes (\d+) pkts? \(dropped (\d+),")
_COMMAND: Final = re.compile(r"^\s*(?:.*\bqdisc\s.*\s|.*\bqdisc\s+)?netem\b\s*(?P<options>.*)$")
_LISTED: Final = re.compile(
    r"^qdisc\s+(?P<kind>\S+)\s+(?P<handle>\S+):\s*(?:dev\s+(?P<device>\S+)\s+)?(?P<options>.*)$"
)
#: What stands in front of the options where tc lists a queue.
_PLACE: Final = re.compile(r"^(?:root\s+|parent\s+\S+\s+|refcnt\s+\d+\s+|offloaded\s+|ingress\s+)*")


def recognises(text: str) -> bool:
    """Whether a text is of tc: a list of queues, or a command with netem."""
    begin = text.lstrip()
    if begin.startswith("["):
        return '"kind"' in begin
    return any(_LISTED.match(line) or re.search(r"\bnetem\b", line) for line in begin.splitlines())


def read(text: str, name: str) -> list[Reading]:
    """Return the losses of each netem queue.

    Raises
    ------
    UserError
        No queue is of netem, or none of them loses packets.
    """
    listed = _from_json(text, name) if text.lstrip().startswith("[") else _from_lines(text)
    found = [(title, options, counts) for title, options, counts in listed if options is not None]
    if not found:
        raise UserError(
            f"{name}: no queue is of netem; what another queue drops is congestion, and no loss of the link"
        )
    readings = [_reading(title, options, counts) for title, options, counts in found if options.has_losses]
    if not readings:
        raise UserError(
            f"{name}: its netem loses no packets ({', '.join(found[0][1].left_out) or 'no option'})"
        )
    return readings


_Queue = tuple[str, Netem | None, Batch | None]


def _from_lines(text: str) -> Iterator[_Queue]:
    title, options, counts = "", None, None
    for line in text.splitlines():
        listed, command = _LISTED.match(line), _COMMAND.match(line)
        if listed or command:
            if title:
                yield title, options, counts
            counts = None
        if listed:
            of_netem = listed["kind"] == "netem"
            title = f"netem {listed['handle']}:" if of_netem else listed["kind"]
            title += f" of {listed['device']}" if listed["device"] else ""
            options = netem.read_words(_PLACE.sub("", listed["options"])) if of_netem else None
        elif command:
            title, options = "netem", netem.read_words(command["options"])
            device = re.search(r"\bdev\s+(\S+)", line)
            title += f" of {device[1]}" if device else ""
        elif numbers := _COUNTS.search(line):
            sent, dropped = int(numbers[1]), int(numbers[2])
            counts = Batch(sent + dropped, dropped)
    if title:
        yield title, options, counts


def _from_json(text: str, name: str) -> Iterator[_Queue]:
    try:
        queues = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(
            f"{name}: the JSON breaks off in line {error.lineno}; run tc -s -j qdisc again"
        ) from None
    for queue in queues:
        title = f"{queue.get('kind')} {queue.get('handle', '')} of {queue.get('dev', 'an interface')}"
        of_netem = queue.get("kind") == "netem"
        options = netem.read_options(queue.get("options") or {}) if of_netem else None
        yield title, options, _counts(queue)


def _counts(queue: Mapping[str, Any]) -> Batch | None:
    if "packets" not in queue:
        return None
    dropped = int(queue.get("drops", 0))
    return Batch(int(queue["packets"]) + dropped, dropped)


def _reading(title: str, options: Netem, counts: Batch | None) -> Reading:
    native, notes = options.process()
    if options.left_out:
        notes = (*notes, f"left out, being no losses: {', '.join(options.left_out)}")
    batches = (counts,) if counts is not None and counts.sent else ()
    if batches and options.corrupt:
        notes = (*notes, "the queue counts what it dropped, and not what it corrupted")
    return Reading(title, "packets", batches, notes, loss=Loss(_spelling(native), native))


def _spelling(native: dict[str, Any]) -> str:
    """Spell a process as ``--set loss=`` takes it, to six digits."""
    if native["model"] == "gilbert-elliott":
        return spelling(Chain.of(native))
    return f"{native['p']:.6g}" if native["model"] == "bernoulli" else "none"
