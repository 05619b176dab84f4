"""From the bit errors of an Ethernet line, through the code of the line itself, to lost frames.

The line carries codewords, and codewords carry the stream of frames. A codeword that its code cannot correct
is marked, and every frame with an octet in it is lost.

| module | what it holds |
|---|---|
| `codes` | the codes by name, octets of the stream in a codeword, overhead |
| `line` | how bit errors come: alone or in runs, precoded, on several lanes |
| `words`, `firecode` | what goes wrong in one codeword |
| `groups` | codewords and groups that cannot be corrected |
| `frames` | lost frames; the bit error ratio for a wanted loss |
| `bursts` | frames lost one behind the other |
| `undetected` | codewords that come out wrong and unmarked |
"""

from lossylink.theory.phy.bursts import frames_hit_by_group, loss_bursts, mean_loss_burst_frames
from lossylink.theory.phy.codes import (
    CODES,
    FIRECODE,
    UNCODED,
    Code,
    Firecode,
    LineCode,
    Uncoded,
    code_named,
    codeword_wait_ns,
    line_overhead,
)
from lossylink.theory.phy.frames import (
    LEAST_BIT_ERROR_RATIO,
    bit_error_ratio_for,
    frame_loss_ratio,
    mean_frame_loss_ratio,
    standard_frame_loss_ratio,
)
from lossylink.theory.phy.groups import codeword_error_ratio, group_error_ratio, group_transitions
from lossylink.theory.phy.line import PAM4_BITS, Line, LineOptions
from lossylink.theory.phy.undetected import undetected_codeword_ratio
from lossylink.theory.phy.words import symbol_error_distribution

__all__ = [
    "CODES",
    "FIRECODE",
    "LEAST_BIT_ERROR_RATIO",
    "PAM4_BITS",
    "UNCODED",
    "Code",
    "Firecode",
    "Line",
    "LineCode",
    "LineOptions",
    "Uncoded",
    "bit_error_ratio_for",
    "code_named",
    "codeword_error_ratio",
    "codeword_wait_ns",
    "frame_loss_ratio",
    "frames_hit_by_group",
    "group_error_ratio",
    "group_transitions",
    "line_overhead",
    "loss_bursts",
    "mean_frame_loss_ratio",
    "mean_loss_burst_frames",
    "standard_frame_loss_ratio",
    "symbol_error_distribution",
    "undetected_codeword_ratio",
]
