"""The kernel's TCP counters of a host; its namespace is as young as the lab, so they count the run alone."""

from __future__ import annotations

from itertools import pairwise

from lossylink.linux.lab import Lab

#: Events that reduce a window: the entry into a recovery, and a timeout.
WINDOW_REDUCTIONS = ("TCPSackRecovery", "TCPRenoRecovery", "TCPTimeouts")
#: Reductions that were taken back because nothing had been lost.
UNDOS = ("TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo")


def tcp_counters(lab: Lab, host: str) -> dict[str, int]:
    """Return the counters of /proc/net/snmp and /proc/net/netstat."""
    return parse_counters(lab.run(host, ["cat", "/proc/net/snmp", "/proc/net/netstat"]))


def parse_counters(text: str) -> dict[str, int]:
    r"""Read pairs of lines, names above and numbers below.

    Examples
    --------
    >>> parse_counters("Tcp: InSegs RetransSegs\nTcp: 10 2\n")["RetransSegs"]
    2
    """
    counters: dict[str, int] = {}
    for names, numbers in pairwise(text.splitlines()):
        left, right = names.split(), numbers.split()
        if left and right and left[0] == right[0] and not left[1].lstrip("-").isdigit():
            counters |= dict(zip(left[1:], map(int, right[1:]), strict=True))
    return counters
