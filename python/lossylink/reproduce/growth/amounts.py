"""How much work a job is: trials, or a simulated time. Read, changed and said in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lossylink.reproduce.framework.model import Job
from lossylink.reproduce.framework.quantity import count_of
from lossylink.units import parse_count, parse_time

DURATION: Final = "run.duration"
"""The only setting that is a time; its amount is in picoseconds, any other is a count."""
_PICOSECONDS_A_MILLISECOND: Final = 10**9
_PICOSECONDS_A_SECOND: Final = 10**12
_MILLION: Final = 10**6
_BILLION: Final = 10**9


def amount_of(job: Job) -> int:
    """How much work the job is.

    Examples
    --------
    >>> amount_of(Job("a", "tcp-fct", ("lg",), {"flow.trials": 5000}, grows="flow.trials"))
    5000
    """
    value = job.settings[job.grows]
    return parse_time(value) if job.grows == DURATION else parse_count(value)


def with_amount(job: Job, amount: int) -> Job:
    """The job with another amount of work.

    Examples
    --------
    >>> job = Job("a", "mathis", ("none",), {"run.duration": "240s"}, grows="run.duration")
    >>> with_amount(job, 2 * amount_of(job)).settings
    {'run.duration': '480000ms'}
    """
    is_time = job.grows == DURATION
    value = f"{amount // _PICOSECONDS_A_MILLISECOND}ms" if is_time else amount
    return replace(job, settings={**job.settings, job.grows: value})


def said(key: str, amount: float) -> str:
    """An amount in words.

    Examples
    --------
    >>> said("flow.trials", 640_000), said("run.duration", 480e12)
    ('640,000 trials', '480 s of simulated time')
    """
    if key == DURATION:
        return f"{amount / _PICOSECONDS_A_SECOND:,.0f} s of simulated time"
    return f"{count_of(amount)} trials"


def about(key: str, amount: float) -> str:
    """An amount more that nobody knows to more than two digits, in words.

    Examples
    --------
    >>> about("flow.trials", 41_234_567), about("flow.trials", 1234), about("run.duration", 4805e12)
    ('about 41 million more trials', 'about 1,200 more trials', 'about 4,800 s more of simulated time')
    """
    rounded = float(f"{amount / (_PICOSECONDS_A_SECOND if key == DURATION else 1):.1e}")
    if key == DURATION:
        return f"about {rounded:,.0f} s more of simulated time"
    return f"about {large(rounded)} more trials"


def large(count: float) -> str:
    """A large count with two digits.

    Examples
    --------
    >>> large(67_108_864), large(1.3e10), large(5_400)
    ('67 million', '13 billion', '5,400')
    """
    rounded = float(f"{count:.1e}")
    for unit, name in ((_BILLION, "billion"), (_MILLION, "million")):
        if rounded >= unit:
            return f"{rounded / unit:,g} {name}"
    return f"{rounded:,.0f}"
