"""The families of protections behind all that shows, plans and measures them, and what a new one needs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from lossylink.charts.palette import slots_of
from lossylink.declared import protections
from lossylink.declared.protections import _registry, families, parse_protection, spellings
from lossylink.errors import UserError
from lossylink.linux.lab.settings import LabSettings, lab_settings
from lossylink.linux.lab.status import describe
from lossylink.linux.lab.watch import _guards
from lossylink.running.backends.live.bench import settings_of
from lossylink.running.backends.live.stress import load_rate
from lossylink.scenario.loss import Loss, parse_loss

SOURCES = Path(protections.__file__).parents[2]

#: A family of its own file that protects nothing: what "adding a protection" means.
TOY = """
from lossylink.declared.protections import Family, Look, Option, Spelling
from lossylink.declared.protections._options import count


class Toy(Family):
    tag = "none"
    order = 99
    spellings = (
        Spelling(
            word="toy",
            name="Toy",
            meaning="a toy",
            options=(Option(name="bricks", read=count("bricks", none="auto"), default=None,
                            usage="`bricks=N`", description="how many bricks"),),
            look=Look(slot="purple"),
        ),
    )

    def value(self, spelling, argument, options):
        return {"family": self.tag}

    def spell(self, value):
        return "toy"

    def load_share(self, value, *, loss_ratio, frame_wire_bytes):
        return 0.5


FAMILY = Toy()
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with one more module in it."""
    (tmp_path / "toy.py").write_text(TOY)
    monkeypatch.setattr(protections, "__path__", [*protections.__path__, str(tmp_path)])
    _registry.families.cache_clear()
    yield
    _registry.families.cache_clear()
    sys.modules.pop("lossylink.declared.protections.toy", None)


def test_a_family_needs_no_other_file(toy: None) -> None:
    assert protections.usages().endswith(", toy")
    assert parse_protection("toy:bricks=3").label == "toy:bricks=3"
    assert "bricks" in protections.common_options()
    assert protections.name_of("toy:bricks=3") == "Toy, bricks=3"
    assert slots_of(("toy",)) == {"toy": "purple"}
    with pytest.raises(UserError, match=r"lg takes no option 'bricks'; toy has it$"):
        parse_protection("lg:bricks=3")


def test_a_new_option_is_a_key_of_the_section(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text(TOY)
    words = (
        "from lossylink.declared import protections;"
        f"protections.__path__.append({str(tmp_path)!r});"
        "from lossylink.scenario.resolving import resolve;"
        "print(resolve('stress', settings={'bricks': '7'}, protection=['toy']).values.protection.options())"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{'bricks': 7}"


def test_help_loads_nothing_heavy() -> None:
    words = (
        "import sys; from lossylink.declared.protections import usages; usages();"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'numpy', 'pydantic', 'scipy'}))"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nobody_else_asks_which_family_it_is() -> None:
    words = [spelling.word for _, spelling in spellings() if spelling.word != "none"]
    questions = [f'{asked} "{word}' for word in words for asked in ("==", "in {")]
    questions += [f'startswith("{word}' for word in words] + ["fec_k", ".tag ==", '["family"] ==']
    exempt = (
        *("declared/protections/", "planning/families/", "reproduce/", "theory/"),
        "declared/experiments/fec.py",
    )
    found = [
        f"{path.relative_to(SOURCES)}: {question}"
        for path in sorted(SOURCES.rglob("*.py"))
        if not str(path.relative_to(SOURCES)).startswith(exempt)
        for question in questions
        if question in path.read_text()
    ]
    assert found == []


def test_the_core_agrees_on_what_is_live() -> None:
    for family, spelling in spellings():
        text = f"{spelling.word}:{spelling.argument.example}" if spelling.argument else spelling.word
        protection = parse_protection(text)
        assert protection.family is family
        if family.is_live:
            protection.check(live=True)
        else:
            with pytest.raises(UserError):
                protection.check(live=True)


def test_options_of_one_name_mean_the_same() -> None:
    options = [option for _, spelling in spellings() for option in spelling.options]
    for option in options:
        same = {
            (other.default, other.usage, other.description) for other in options if other.name == option.name
        }
        assert len(same) == 1, option.name


def rate(text: str, *, loss: str = "0", link_bps: int = 10**9, frame_bytes: int = 1514) -> int:
    return load_rate(
        parse_protection(text), loss=parse_loss(loss), link_bps=link_bps, frame_bytes=frame_bytes
    )


def test_the_live_load_fits_beside_the_parity_of_a_code() -> None:
    """FEC 5/5 leaves less than half of the link: 500 Mb/s of 1 Gb/s."""
    assert rate("fec:5/5") < 500_000_000
    # The link alone is the limit at 100 Mb/s: k / (k + h) of it, less headers and headroom.
    for code, share in (("fec:5/5", 1 / 2), ("fec:5/1", 5 / 6), ("fec:25/5", 5 / 6), ("fec:1/0", 1.0)):
        assert 0.94 * share < rate(code, link_bps=10**8) / 1e8 < 0.98 * share


def test_the_live_load_fits_beside_copies() -> None:
    bare = rate("none", link_bps=10**8)
    assert bare == 97_000_000
    twice = rate("lg:copies=2", link_bps=10**8, loss="5%")
    assert bare * 0.97 / 1.1 < twice < bare / 1.1
    # Without a number the rule for N decides: two copies at 1e-3.
    assert rate("lg", link_bps=10**8, loss="1e-3") == rate("lg:copies=2", link_bps=10**8, loss="1e-3")
    # What counts of a bursty process is its mean, not one of its parameters.
    bursty = rate("lg:copies=2", link_bps=10**8, loss="gilbert-elliott:mean=1e-3,burst=5")
    assert bursty == rate("lg:copies=2", link_bps=10**8, loss="1e-3")
    assert 0 < rate("lg", link_bps=10**8, loss="100%") <= bare


SENDER = dict.fromkeys(
    (
        *("next_seq", "next_seq_era", "leading_ack", "leading_ack_era", "holes", "copies"),
        *("outstanding", "dummies_due", "retransmitted", "beyond_cap"),
        *("buffer_frames", "buffer_bytes", "buffer_max_bytes", "dummies", "notifications", "acks"),
    ),
    2,
)
RECEIVER = dict.fromkeys(
    (
        *(
            "expected_seq",
            "ack",
            "ack_era",
            "leading_ack",
            "leading_ack_era",
            "ack_pending",
            "control_copies",
        ),
        *("given_up", "buffer_bytes", "buffer_max_bytes", "buffer_overflowed"),
        *("paused", "pauses", "resumes", "pause_bytes", "resume_bytes"),
        *("lost", "notifications", "duplicates"),
    ),
    3,
)
CODER = {
    "sent_data": 500,
    "sent_parity": 100,
    "partial_blocks": 7,
    "recovered": 11,
    "unrecovered": 2,
    "given_up_blocks": 1,
    "duplicates": 4,
}


def fake_lab(protection: str, **groups: dict[str, int]) -> Any:
    """Build a lab whose guards report these groups."""
    guard = {
        "from_lan": 1,
        "to_link": 1,
        "from_link": 1,
        "to_lan": 1,
        "queue_dropped": 0,
        "protection": protection,
        "peer_protection": protection,
        "peer": "agreed",
        "loop_us": 40.0,
        **groups,
    }
    direction = {"frames_offered": 1000, "frames_lost": 10}
    late = {"p50_us": 1.0, "p99_us": 2.0, "max_us": 3.0}
    link = {
        "uptime_seconds": 1.0,
        "scheduling": "fifo",
        "directions": {"forward": direction, "reverse": direction},
        "lateness": {"forward": late, "reverse": late},
    }
    return SimpleNamespace(
        settings=LabSettings(),
        link=SimpleNamespace(counters=lambda: link),
        guards=lambda: (guard, guard),
        ports=list,
    )


def test_the_status_of_a_code_shows_its_counters() -> None:
    text = describe(fake_lab("fec:25/5", coder=CODER))
    assert "encoder: 500 data, 100 parity" in text
    assert "blocks closed before they were full: 7" in text
    assert "decoder: 11 rebuilt, 2 lost for good" in text
    assert "Protected Port(s) (1): link" in text
    assert "reTx" not in text


@pytest.mark.parametrize(
    ("label", "groups", "shown"),
    [
        ("fec:25/5", {"coder": CODER}, ("rebuilt", "11", "lost for good")),
        ("lg", {"sender": SENDER, "receiver": RECEIVER}, ("retransmitted", "given up")),
        ("none", {}, ("queue drops",)),
    ],
)
def test_watch_shows_the_counters_of_the_protection_in_use(
    label: str, groups: dict[str, dict[str, int]], shown: tuple[str, ...]
) -> None:
    near = {"protection": label, "queue_dropped": 0, "to_link_first": 9, "to_lan": 9, **groups}
    look = {"at": 1.0, "near": near, "far": near}
    with (console := Console(width=120)).capture() as captured:
        console.print(_guards(look, look, 1.0))
    text = captured.get()
    assert all(word in text for word in shown)
    assert ("rebuilt" in text) == (label == "fec:25/5")


def test_the_status_of_linkguardian_has_the_artifacts_fields() -> None:
    text = describe(fake_lab("lg", sender=SENDER, receiver=RECEIVER))
    for field in (
        "Next seq no: 2",
        "No. of reTx copies: 2",
        "No. of control frame copies: 3",
        "Emulated holes: 2",
        "ack_era: 3",
        "loop: 40 us",
    ):
        assert field in text
    assert "Protected Port(s) (0): \n" in describe(fake_lab("none"))


@pytest.mark.parametrize("family", families(), ids=lambda family: family.tag)
def test_a_guard_that_has_not_begun_reports_nothing(family: protections.Family) -> None:
    """A protection that was just switched on has no groups yet, and a row has all its keys."""
    assert [*family.sender_lines({}), *family.receiver_lines({})] == []
    assert family.recovered({}, {}) == 0
    assert list(family.stress_row({}, {})) == [
        *("tx_buffer_kb_max", "rx_buffer_kb_max", "retransmissions", "duplicates_dropped", "timeouts")
    ]


def test_a_lab_keeps_values_and_reads_them_again() -> None:
    settings = lab_settings(protection="lg:copies=2", loss_forward="0.1%", loss_reverse="at:17,18")
    assert settings.protection == parse_protection("lg:copies=2")
    assert settings.loss_forward.native == {"model": "bernoulli", "p": 0.001}
    assert LabSettings.model_validate_json(settings.model_dump_json()) == settings


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"protection": "lq"}, "^unknown protection 'lq'; did you mean 'lg'"),
        ({"protection": "fec-model:25/5"}, "fec-model is a model of the simulator"),
        ({"loss_forward": "15"}, "a loss ratio is at most 1"),
    ],
)
def test_a_lab_refuses_in_one_line(values: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        lab_settings(**values)


def test_a_measurement_has_the_protection_and_the_losses_of_its_configuration() -> None:
    config = {
        "link": {"rate_bps": 10**9, "mtu_bytes": 1500},
        "loss": {"forward": {"model": "trace", "lost": [True, False]}},
        "protection": parse_protection("fec:5/5").value,
    }
    settings = settings_of(config)
    assert settings.protection == parse_protection("fec:5/5")
    assert settings.loss_forward == Loss("trace", {"model": "trace", "lost": [True, False]})
    with pytest.raises(UserError, match="live, fec takes no option meter"):
        settings_of({**config, "protection": parse_protection("fec:5/5,meter=mark").value})
