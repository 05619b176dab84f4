"""Resolution: layers, spellings, lines in errors, and the simulator's JSON."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossylink._package.resources import PUBLISHED, SCENARIOS
from lossylink.declared.experiments import all_experiments
from lossylink.errors import UserError
from lossylink.scenario.fingerprint import fingerprint
from lossylink.scenario.keys import resolve_key
from lossylink.scenario.native import configuration
from lossylink.scenario.profiles import load_profile, thresholds_at
from lossylink.scenario.resolving import resolve
from lossylink.scenario.save import scenario_toml

REPOSITORY = Path(__file__).resolve().parents[2]


def scenario_file(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", sorted(all_experiments()))
def test_every_experiment_has_a_sound_default_scenario(name: str) -> None:
    scenario = resolve(name)
    config = configuration(scenario, scenario.protections[0])
    assert config["experiment"] == name
    assert scenario.title


def test_the_resources_of_the_package_are_those_of_the_repository() -> None:
    assert SCENARIOS.resolve() == REPOSITORY / "scenarios"
    assert PUBLISHED.resolve() == REPOSITORY / "reference" / "published.toml"
    assert tomllib.loads(PUBLISHED.read_text())["linkguardian"]["stress"]["packets"] == 100_000_000


def test_later_layers_win(tmp_path: Path) -> None:
    path = scenario_file(
        tmp_path, 'experiment = "stress"\nseed = 5\n[link]\nrate = "25Gbps"\n[traffic]\npackets = 7\n'
    )
    scenario = resolve(path, settings={"traffic.packets": "1_000"}, seed=9)
    assert scenario.values.link.rate == 25 * 10**9
    assert scenario.values.traffic is not None
    assert scenario.values.traffic.packets == 1000
    assert scenario.values.traffic.frame == 1514
    assert scenario.seed == 9


def test_the_scenario_keeps_the_users_spelling() -> None:
    described = resolve("stress", settings={"link.rate": "25gbit", "loss": "0.1%"}).describe()
    assert described["link"]["rate"] == "25gbit"
    assert described["loss"]["forward"] == "0.1%"
    assert described["loss"]["forward_ratio"] == 1e-3
    assert described["loss"]["forward_percent"] == 0.1
    assert described["calibrated"]["switch"] is True


@pytest.mark.parametrize("name", sorted(all_experiments()))
def test_a_saved_scenario_resolves_to_the_same_run(name: str, tmp_path: Path) -> None:
    first = resolve(name, settings={"loss.reverse": "1e-4"}, seed=3)
    second = resolve(scenario_file(tmp_path, scenario_toml(first.describe())))
    assert fingerprint(second, "") == fingerprint(first, "")


def test_files_are_looked_for_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "loss.txt").write_text("0001")
    (tmp_path / "switch.toml").write_text(
        (SCENARIOS / "switch" / "ideal.toml").read_text().replace("= 350", "= 99")
    )
    text = 'experiment = "stress"\nloss = "trace:loss.txt"\n[switch]\nprofile = "switch.toml"\n'
    scenario = resolve(scenario_file(tmp_path, text))
    assert scenario.forward.mean == 0.25
    assert scenario.switch["sender_queue_packets"] == 99
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    again = resolve(scenario_file(elsewhere, scenario_toml(scenario.describe())))
    assert fingerprint(again, "") == fingerprint(scenario, "")


def test_length_and_propagation_put_each_other_out_of_force() -> None:
    scenario = resolve("stress", settings={"link.length": "20m"})
    assert configuration(scenario, scenario.protections[0])["link"]["propagation_ps"] == 100_000
    with pytest.raises(UserError, match="not both"):
        resolve("stress", settings={"link.length": "20m", "link.propagation": "1us"})


@pytest.mark.parametrize(
    ("typed", "experiment", "key"),
    [
        ("congestion_control", "tcp-fct", "transport.congestion_control"),
        ("recovery", "rdma-fct", "transport.recovery"),
        ("trials", "tcp-fct", "flow.trials"),
        ("loss", "stress", "loss.forward"),
        ("mtu", "stress", "link.mtu"),
        ("copies", "stress", "protection.copies"),
    ],
)
def test_short_names(typed: str, experiment: str, key: str) -> None:
    assert resolve_key(typed, all_experiments()[experiment]) == key


def test_a_short_name_with_two_meanings_is_refused() -> None:
    with pytest.raises(UserError, match=r"link\.mtu or transport\.mtu"):
        resolve_key("mtu", all_experiments()["rdma-fct"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            'experiment = "stress"\n[link]\nrat = "10G"\n',
            r"mine\.toml:3: unknown key 'link\.rat'; did you mean 'link\.rate'",
        ),
        (
            'experiment = "stress"\n[lnik]\nrate = "10G"\n',
            r"mine\.toml:3: unknown key 'lnik\.rate'; did you mean 'link\.rate'",
        ),
        (
            'experiment = "stress"\n\n[link]\nrate = "10Gbs"\n',
            r"mine\.toml:4: link\.rate = 10Gbs: unknown unit",
        ),
        ('experiment = "stress"\n[flow]\nsize = 1\n', r"mine\.toml:3: stress does not use 'flow\.size'"),
        ('experiment = "stres"\n', r"mine\.toml:1: unknown experiment 'stres'; did you mean 'stress'"),
        ('[link]\nrate = "10G"\n', r"mine\.toml: the key experiment is missing"),
        ('experiment = "stress"\n[link\n', r"mine\.toml:2: "),
        ('experiment = "stress"\nloss = 15.66\n', r"mine\.toml:2: loss\.forward: 15\.66 % or a ratio\?"),
        (
            'experiment = "stress"\nprotection = ["none", "lq"]\n',
            r"mine\.toml:2: protection.*unknown protection 'lq'",
        ),
        ('experiment = "stress"\nseed = -1\n', r"mine\.toml:2: seed = -1"),
        ('experiment = "stress"\nlink.rate = "x"\n', r"mine\.toml:2: link\.rate = x"),
        ('experiment = "stress"\nlink = { rat = "1G" }\n', r"mine\.toml:2: unknown key 'link\.rat'"),
        (
            'experiment = "tcp-fct"\n[transport]\ncongestion_control = "renoo"\n',
            r"mine\.toml:3: .*valid: 'reno'",
        ),
        ('experiment = "stress"\n[switch]\nprofile = "tofino9"\n', r"mine\.toml:3: .*did you mean 'tofino1'"),
    ],
)
def test_a_slip_in_a_file_is_found_by_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        resolve(scenario_file(tmp_path, text))


@pytest.mark.parametrize(
    ("experiment", "settings", "says"),
    [
        ("stress", {"traffic.frame": 1515}, "larger than the MTU allows"),
        ("stress", {"traffic.frame": 59}, "Ethernet's minimum"),
        ("stress", {"traffic.packets": 0}, "is zero"),
        ("stress", {"link.mtu": 20_000}, "outside 68 to 9216"),
        ("stress", {"switch.resume": "50KB", "switch.pause": "40KB"}, "resume at 50000 B is not below pause"),
        ("tcp-fct", {"flow.trials": "0"}, "is zero"),
        ("tcp-fct", {"path.rtt": "0us"}, "is zero"),
        ("tcp-fct", {"transport.mss": 40}, "below Linux's minimum"),
        ("rdma-fct", {"transport.mtu": "1000"}, "RDMA has no MTU '1000'; valid: 256, 512"),
        ("rdma-fct", {"transport.mtu": 4096}, "does not fit link.mtu"),
        ("rdma-fct", {"transport.recovery": "hope"}, "valid: 'go-back-n', 'selective-repeat'"),
        ("timeline", {"timeline.protection": "0.5s"}, "comes before timeline.corruption"),
        ("throughput", {"run.duration": "9s"}, "leave nothing"),
        ("throughput", {"run.backend": "cloud"}, "valid: kernel, live, sim"),
        ("mathis", {"grid.loss_min": "0"}, "must be above 0"),
        ("stress", {"protection": []}, "no protection"),
        ("stress", {"protection": ["lg", "lg"]}, "given twice"),
    ],
)
def test_values_that_do_not_go_together(experiment: str, settings: dict[str, object], says: str) -> None:
    with pytest.raises(UserError, match=says):
        resolve(experiment, settings=settings)


def test_thresholds_have_a_test_on_each_side() -> None:
    assert resolve("stress", settings={"traffic.frame": 1514}).values.traffic is not None
    assert resolve("stress", settings={"traffic.frame": 60}).values.traffic is not None
    assert resolve("stress", settings={"switch.resume": "39_999B", "switch.pause": "40KB"}).switch
    with pytest.raises(UserError, match="resume at 40000 B is not below pause at 40000 B"):
        resolve("stress", settings={"switch.resume": "40KB", "switch.pause": "40KB"})


def test_strict_refuses_an_mss_that_would_be_cut() -> None:
    assert resolve("tcp-fct", settings={"mss": 1461}).values.transport is not None
    assert resolve("tcp-fct", settings={"mss": 1460}, strict=True).values.transport is not None
    with pytest.raises(UserError, match="set link.mtu to at least 1501"):
        resolve("tcp-fct", settings={"mss": 1461}, strict=True)


def test_overrides_of_the_switch_reach_the_simulator() -> None:
    settings = {
        "switch.queue": "1MB",
        "switch.pause": "60KB",
        "switch.rx_buffer": "200KB",
        "switch.tx_buffer": "300KB",
        "switch.recirculation": "99Gbps",
        "link.rate": "40G",
    }
    scenario = resolve("stress", settings=settings)
    switch = configuration(scenario, scenario.protections[0])["switch"]
    assert switch["queue_bytes"] == 10**6
    assert (switch["rx_buffer_max_bytes"], switch["tx_buffer_max_bytes"]) == (200_000, 300_000)
    assert switch["recirculation_bps"] == 99 * 10**9
    assert switch["threshold"] == [
        thresholds_at(scenario.switch["threshold"], rate_bps=40 * 10**9) | {"pause_bytes": 60_000}
    ]


def test_dcqcn_is_the_hosts_or_the_transports() -> None:
    def of(**settings: object) -> dict[str, Any]:
        scenario = resolve("throughput", settings={"transport.protocol": "rdma", **settings})
        return configuration(scenario, scenario.protections[0])

    assert of()["transport"]["dcqcn"] is False
    given = of(
        **{
            "transport.dcqcn": "on",
            "switch.marking_min": "50KB",
            "switch.marking_max": "200KB",
            "switch.marking_probability": "10%",
        }
    )
    assert given["transport"]["dcqcn"] is True
    marking = ("red_min_bytes", "red_max_bytes", "red_max_probability")
    assert [given["switch"][key] for key in marking] == [50_000, 200_000, 0.1]
    assert of(**{"transport.dcqcn": "on", "transport.protocol": "tcp"})["transport"]["dcqcn"] is False


def test_the_host_profile_fills_in_what_is_not_set() -> None:
    scenario = resolve("tcp-fct", settings={"rto_min": "5ms"})
    transport = configuration(scenario, scenario.protections[0])["transport"]
    assert transport["rto_min_ps"] == 5 * 10**9
    assert transport["initial_window"] == load_profile("host", "ae-hosts")["initial_window"]


@pytest.mark.parametrize(("rate", "ticks"), [(100 * 10**9, 70), (25 * 10**9, 75), (10 * 10**9, 135)])
def test_published_thresholds_are_kept_at_their_rates(rate: int, ticks: int) -> None:
    points = load_profile("switch", "tofino1")["threshold"]
    assert thresholds_at(points, rate_bps=rate) in points
    assert thresholds_at(points, rate_bps=rate)["ack_no_timeout_ticks"] == ticks


@given(st.integers(10**9, 800 * 10**9))
def test_derived_thresholds_never_resume_above_pause(rate: int) -> None:
    derived = thresholds_at(load_profile("switch", "tofino1")["threshold"], rate_bps=rate)
    assert 0 < derived["resume_bytes"] <= derived["pause_bytes"]
    assert derived["ack_no_timeout_ticks"] >= 70


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ("data_pipeline_ns", "data_pipelin_ns"),
            r"mine\.toml:\d+: unknown key 'data_pipelin_ns'; did you mean",
        ),
        (("pause_quanta = 65535", ""), "pause_quanta is missing"),
        (("recirculates = false", "recirculates = 0"), "is not true or false"),
        (("dummy_count = 3", "dummy_count = -3"), "is negative"),
        (("pause_bytes = 40_000", "pause_bytes = 1"), "resume at 36800 B is not below pause at 1 B"),
        (("pause_bytes = 40_000", ""), r"has exactly the keys"),
    ],
)
def test_a_profile_with_a_slip_is_refused(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    text = (SCENARIOS / "switch" / "ideal.toml").read_text()
    assert change[0] in text
    path = scenario_file(tmp_path, text.replace(*change, 1))
    with pytest.raises(UserError, match=says):
        load_profile("switch", str(path))


@pytest.mark.parametrize("kind", ["switch", "host"])
def test_all_profiles_of_a_kind_have_the_same_keys(kind: str) -> None:
    profiles = [tomllib.loads(path.read_text()) for path in sorted((SCENARIOS / kind).glob("*.toml"))]
    assert len(profiles) >= 2
    assert all(profile.keys() == profiles[0].keys() for profile in profiles)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"traffic.source": "saturated"}, "fec has no such source; valid: tcp, udp-smooth, udp-bursty"),
        ({"traffic.source": "udp-smooth", "run.backend": "live"}, "live, fec has the source tcp only"),
        ({"host.nic_rate": "4.5Gbps", "run.backend": "live"}, "leave it out of a live run"),
        ({"protection.schemes": ["fec:25/5,flush=30us"]}, "longer than the flush timer of 30 us allows"),
        ({"protection.schemes": ["fec:5/5,change=50/5@1s,flush=30us"]}, "block of 50 full-size frames"),
    ],
)
def test_fec_refuses_what_it_cannot_do(settings: dict[str, object], says: str) -> None:
    with pytest.raises(UserError, match=says):
        resolve("fec", settings=settings)


def test_a_capped_sender_reaches_the_simulator_beside_its_profile() -> None:
    scenario = resolve("fec", settings={"host.nic_rate": "4.5Gbps", "traffic.source": "udp-bursty"})
    assert scenario.host is not None
    words = configuration(scenario, scenario.protections[0])
    assert words["host"] == {**scenario.host, "nic_rate_bps": 4_500_000_000}
    assert words["traffic"]["source"] == "udp-bursty"
    assert words["traffic"]["rate_bps"] == 100_000_000
