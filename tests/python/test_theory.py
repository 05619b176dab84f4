"""Closed forms against published figures, against each other, and at the edges of their domains."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc

from lossylink.statistics import intervals
from lossylink.theory import cubic, dctcp, fec, linkguardian, mathis, pftk

RATIOS = st.floats(min_value=1e-6, max_value=0.5)


class TestMathis:
    def test_trial_5_of_the_study(self) -> None:
        b = mathis.bandwidth_bps(mss_bytes=1460, rtt_s=6e-3, loss_ratio=0.1566283969)
        assert float(b) / 1e6 == pytest.approx(4.92, abs=0.005)

    def test_published_constants(self) -> None:
        rounded = {name: round(value, 2) for name, value in mathis.CONSTANTS.items()}
        assert rounded == {
            "unit": 1.0,
            "periodic": 1.22,
            "periodic-delayed": 0.87,
            "random": 1.31,
            "random-delayed": 0.93,
        }

    @pytest.mark.parametrize(
        ("loss_ratio", "measured_mbps", "ratio"),
        [(1e-3, 24.28, 1.074), (5e-3, 10.23, 1.011), (1e-2, 7.225, 1.010), (2e-2, 5.033, 0.995)],
    )
    def test_real_linux_reno_at_20_ms(self, loss_ratio: float, measured_mbps: float, ratio: float) -> None:
        law = mathis.bandwidth_bps(
            mss_bytes=1460, rtt_s=20e-3, loss_ratio=loss_ratio, constant=mathis.PERIODIC
        )
        assert measured_mbps * 1e6 / float(law) == pytest.approx(ratio, abs=0.002)

    @given(p=RATIOS)
    def test_inverse_gives_the_loss_ratio_back(self, p: float) -> None:
        b = mathis.bandwidth_bps(mss_bytes=536, rtt_s=0.3, loss_ratio=p)
        back = mathis.loss_ratio_for_bandwidth(mss_bytes=536, rtt_s=0.3, bandwidth_bps=b)
        assert float(back) == pytest.approx(p, rel=1e-9)

    def test_shapes_broadcast(self) -> None:
        mss = np.array([536, 1460, 4312])[:, None]
        b = mathis.bandwidth_bps(mss_bytes=mss, rtt_s=0.1, loss_ratio=[1e-4, 1e-3, 1e-2, 1e-1])
        assert b.shape == (3, 4)
        assert b.dtype == np.float64

    def test_standard_error_agrees_with_a_monte_carlo_of_the_window(self) -> None:
        random = np.random.default_rng(7)
        flows, events = 2000, 200
        window = np.full(flows, 1.3)
        segments = np.zeros(flows)
        seconds = np.zeros(flows)
        for event in range(20 + events):
            wait = -window + np.sqrt(window**2 + 2 * random.exponential(size=flows))
            if event >= 20:
                segments += window * wait + wait**2 / 2
                seconds += wait
            window = (window + wait) / 2
        bandwidth = segments / seconds
        spread = bandwidth.std() / bandwidth.mean()
        assert spread == pytest.approx(float(mathis.relative_standard_error(loss_events=events)), rel=0.06)
        assert segments.sum() / seconds.sum() == pytest.approx(mathis.RANDOM, rel=0.01)

    def test_no_event_is_no_knowledge(self) -> None:
        assert math.isinf(float(mathis.relative_standard_error(loss_events=0)))


class TestPftk:
    def test_rare_loss_is_the_square_root_law(self) -> None:
        rate = pftk.segments_per_second(rtt_s=0.1, loss_ratio=1e-7, rto_s=0.3)
        assert float(rate) == pytest.approx(math.sqrt(1.5e7) / 0.1, rel=1e-3)

    @pytest.mark.parametrize(
        ("rto_s", "mbps"),
        [(0.2, 0.75), (0.01, 15.0), (1e-3, 113.0)],
    )
    def test_ten_percent_loss_at_100_us(self, rto_s: float, mbps: float) -> None:
        """The FEC study's figures for a timeout-bound flow, with a window that grows per segment."""
        b = pftk.bandwidth_bps(mss_bytes=1460, rtt_s=100e-6, loss_ratio=0.1, rto_s=rto_s)
        assert float(b) / 1e6 == pytest.approx(mbps, rel=0.05)

    @given(p=RATIOS, rtt=st.floats(min_value=1e-4, max_value=1.0))
    def test_never_above_the_square_root_law(self, p: float, rtt: float) -> None:
        law = mathis.window_segments(loss_ratio=p, constant=mathis.PERIODIC) / rtt
        rate = pftk.segments_per_second(rtt_s=rtt, loss_ratio=p, rto_s=pftk.rto_s(rtt_s=rtt))
        assert float(rate) <= float(law) * (1 + 1e-12)

    def test_window_limit_binds(self) -> None:
        rate = pftk.segments_per_second(
            rtt_s=0.01, loss_ratio=[1e-6, 0.1], rto_s=0.21, window_limit_segments=20
        )
        assert float(rate[0]) == pytest.approx(2000)
        assert float(rate[1]) < 2000

    def test_what_it_lacks_is_named_with_its_source(self) -> None:
        assert {"RACK", "tail loss probe"} <= {name for name, _, _ in pftk.LACKS}
        assert all(source.startswith("RFC ") for _, source, _ in pftk.LACKS)


class TestCubic:
    def test_rfc_9438_table(self) -> None:
        """The curve 1.054 * (RTT / p)^0.75 of RFC 9438, section 5.1, at 0.1 s."""
        window = cubic.cubic_window_segments(rtt_s=0.1, loss_ratio=[1e-4, 1e-6, 1e-8])
        assert window.round() == pytest.approx([187, 5928, 187_475], rel=2e-3)

    def test_the_larger_window_applies(self) -> None:
        reno, curve = cubic.window_segments(rtt_s=[0.001, 0.2], loss_ratio=1e-4)
        assert float(reno) == pytest.approx(math.sqrt(1.5e4))
        assert float(curve) == pytest.approx(1.054 * 0.2**0.75 / 1e-4**0.75, rel=1e-3)

    def test_reno_friendly_equals_reno(self) -> None:
        friendly = cubic.reno_friendly_window_segments(loss_ratio=[1e-4, 1e-2])
        assert friendly == pytest.approx(
            mathis.window_segments(loss_ratio=[1e-4, 1e-2], constant=mathis.PERIODIC)
        )


class TestDctcp:
    def test_alpha_settles_at_the_marking_ratio(self) -> None:
        random = np.random.default_rng(3)
        window, rounds = 200, 20_000
        marked = random.binomial(window, 0.01, size=rounds) / window
        alpha = np.empty(rounds)
        value = 1.0
        for index, part in enumerate(marked):
            value += dctcp.GAIN * (part - value)
            alpha[index] = value
        settled = alpha[500:]
        spread = float(dctcp.alpha_standard_deviation(marking_ratio=0.01, window_segments=window))
        assert settled.std() == pytest.approx(spread, rel=0.1)
        standard_error = spread * math.sqrt(2 / dctcp.GAIN / settled.size)
        assert abs(settled.mean() - float(dctcp.alpha_mean(marking_ratio=0.01))) < 4 * standard_error

    def test_linux_window_balances_growth_and_cuts(self) -> None:
        w = float(dctcp.window_under_random_marking_segments(marking_ratio=0.01))
        assert (1 / 0.01) / w == pytest.approx(w * 0.01 / 2)

    def test_growing_window_balances_growth_and_cuts(self) -> None:
        w = float(dctcp.window_under_random_marking_segments(marking_ratio=0.01, grows_while_reducing=True))
        assert w * 0.005 * (1 - math.exp(-0.01 * w)) == pytest.approx(1)

    def test_alpha_at_threshold_solves_its_equation(self) -> None:
        w = np.array([2.0, 20.0, 2000.0])
        alpha = dctcp.alpha_at_threshold(window_segments=w)
        assert alpha**2 * (1 - alpha / 4) == pytest.approx((2 * w + 1) / (w + 1) ** 2)
        with pytest.raises(ValueError, match="above 1"):
            dctcp.alpha_at_threshold(window_segments=1)


class TestLinkGuardian:
    def test_number_of_copies(self) -> None:
        assert linkguardian.copies(loss_ratio=[1e-5, 1e-4, 1e-3, 1e-2]).tolist() == [1, 1, 2, 3]
        assert int(linkguardian.copies(loss_ratio=1e-9)) == 1

    @given(p=st.floats(min_value=1e-7, max_value=0.3), target=st.floats(min_value=1e-12, max_value=1e-6))
    def test_copies_meet_the_target_and_one_fewer_does_not(self, p: float, target: float) -> None:
        n = int(linkguardian.copies(loss_ratio=p, target_loss_ratio=target))
        left = linkguardian.effective_loss_ratio(loss_ratio=p, copies=[n, n - 1])
        assert float(left[0]) <= target * (1 + 1e-7)
        assert n == 1 or float(left[1]) > target

    @given(
        p=st.floats(min_value=1e-7, max_value=1.0),
        q=st.floats(min_value=1e-7, max_value=1.0),
        n=st.integers(min_value=0, max_value=16),
        c=st.integers(min_value=1, max_value=16),
    )
    def test_lost_notifications_are_told_apart_from_lost_copies(
        self, p: float, q: float, n: int, c: int
    ) -> None:
        def left(**more: float) -> float:
            return float(linkguardian.effective_loss_ratio(loss_ratio=p, copies=n, **more))

        both = left(reverse_loss_ratio=q, control_copies=c)
        assert 1 - both / p == pytest.approx((1 - q**c) * (1 - p**n), abs=1e-12)
        assert left(reverse_loss_ratio=0.0, control_copies=c) == left()

    def test_control_copies_are_counted_as_copies_are(self) -> None:
        ratios = [1e-9, 1e-4, 1e-3, 1e-2, 0.1]
        assert list(linkguardian.control_copies(reverse_loss_ratio=ratios)) == list(
            linkguardian.copies(loss_ratio=ratios)
        )
        assert int(linkguardian.control_copies(reverse_loss_ratio=0)) == 1

    def test_saturated_speed(self) -> None:
        speed = linkguardian.nonblocking_speed_bps(rate_bps=100e9, loss_ratio=1e-3, copies=2)
        assert float(speed) == pytest.approx(100e9 * (1538 / 1541) / 1.002)

    def test_pause_expiry(self) -> None:
        expiry = linkguardian.pause_expiry_s(rate_bps=[100e9, 25e9, 10e9])
        assert expiry == pytest.approx([335.5e-6, 1.342e-3, 3.355e-3], rel=5e-4)

    def test_sequence_wrap(self) -> None:
        assert float(linkguardian.sequence_wrap_s(rate_bps=100e9)) == pytest.approx(8.08e-3, rel=1e-3)


FEC_RESIDUAL = {
    (5, 1): [5.00e-8, 4.99e-6, 4.90e-4, 1.92e-3, 1.13e-2, 4.10e-2],
    (5, 2): [1.50e-11, 1.50e-8, 1.46e-5, 1.14e-4, 1.64e-3, 1.14e-2],
    (5, 5): [1.3e-22, 1.3e-16, 1.22e-10, 7.54e-9, 1.66e-6, 8.91e-5],
    (10, 1): [1.00e-7, 9.96e-6, 9.56e-4, 3.66e-3, 2.01e-2, 6.51e-2],
    (10, 5): [2.0e-21, 2.0e-15, 1.86e-9, 1.10e-7, 2.14e-5, 9.23e-4],
    (25, 1): [2.50e-7, 2.47e-5, 2.22e-3, 7.93e-3, 3.61e-2, 9.28e-2],
    (25, 5): [1.2e-19, 1.2e-13, 9.72e-8, 5.09e-6, 6.79e-4, 1.58e-2],
    (50, 1): [4.99e-7, 4.88e-5, 3.95e-3, 1.27e-2, 4.62e-2, 9.95e-2],
    (50, 5): [3.2e-18, 3.0e-12, 2.10e-6, 8.97e-5, 6.60e-3, 6.39e-2],
}
FEC_SMALLEST_PARITY = {
    5: [1, 1, 3, 3, 5, 7],
    10: [1, 1, 3, 4, 6, 9],
    25: [1, 2, 4, 5, 8, 13],
    50: [1, 2, 5, 7, 11, 18],
    100: [1, 2, 6, 9, 17, 28],
}
FEC_LOSS_RATIOS = [1e-4, 1e-3, 1e-2, 2e-2, 5e-2, 1e-1]


class TestFec:
    @pytest.mark.parametrize("code", FEC_RESIDUAL)
    def test_residual_loss_table(self, code: tuple[int, int]) -> None:
        residual = fec.residual_loss_ratio(
            data_packets=code[0], parity_packets=code[1], loss_ratio=FEC_LOSS_RATIOS
        )
        assert residual == pytest.approx(FEC_RESIDUAL[code], rel=0.05)

    @pytest.mark.parametrize("k", FEC_SMALLEST_PARITY)
    def test_smallest_parity_table(self, k: int) -> None:
        found = [
            fec.smallest_parity_packets(data_packets=k, loss_ratio=p, target_loss_ratio=1e-5)
            for p in FEC_LOSS_RATIOS
        ]
        assert found == FEC_SMALLEST_PARITY[k]

    @given(k=st.integers(1, 60), h=st.integers(0, 12), p=RATIOS)
    def test_both_forms_of_the_residual_agree(self, k: int, h: int, p: float) -> None:
        n = k + h
        summed = math.fsum(
            lost / n * math.comb(n, lost) * p**lost * (1 - p) ** (n - lost) for lost in range(h + 1, n + 1)
        )
        residual = fec.residual_loss_ratio(data_packets=k, parity_packets=h, loss_ratio=p)
        assert float(residual) == pytest.approx(summed, rel=1e-9)

    @given(k=st.integers(1, 40), h=st.integers(0, 8), p=RATIOS)
    def test_block_failure_is_the_binomial_tail(self, k: int, h: int, p: float) -> None:
        n = k + h
        tail = math.fsum(math.comb(n, lost) * p**lost * (1 - p) ** (n - lost) for lost in range(h + 1, n + 1))
        failure = fec.block_failure_ratio(data_packets=k, parity_packets=h, loss_ratio=p)
        assert float(failure) == pytest.approx(tail, rel=1e-9)

    def test_capacity_share_with_headers(self) -> None:
        share = fec.capacity_share(data_packets=[5, 5, 10, 25, 25, 50], parity_packets=[1, 5, 5, 1, 5, 5])
        assert share == pytest.approx([0.829, 0.496, 0.662, 0.957, 0.829, 0.905], abs=1e-3)
        assert float(fec.capacity_share(data_packets=5, parity_packets=0)) == 1.0

    def test_recovery_delays_back_to_back_at_10g(self) -> None:
        k, h = [5, 5, 10, 25, 25, 50], [1, 5, 5, 1, 5, 5]
        mean = fec.recovery_delay_mean_s(data_packets=k, parity_packets=h, rate_bps=10e9)
        longest = fec.recovery_delay_max_s(data_packets=k, parity_packets=h, rate_bps=10e9)
        assert mean * 1e6 == pytest.approx([3.7, 8.6, 11.7, 16.0, 20.9, 36.3], abs=0.06)
        assert longest * 1e6 == pytest.approx([6.2, 11.1, 17.2, 30.8, 35.7, 66.4], abs=0.06)

    def test_flush_timer_bounds_a_slow_source(self) -> None:
        arguments = {"data_packets": 50, "parity_packets": 5, "rate_bps": 10e9, "gap_s": 1e-3}
        assert float(fec.recovery_delay_max_s(**arguments)) == pytest.approx(49e-3, rel=1e-3)
        assert float(fec.recovery_delay_max_s(**arguments, flush_s=1e-4)) == pytest.approx(106e-6, rel=1e-2)

    def test_decoder_share(self) -> None:
        share = fec.decoded_block_ratio(data_packets=25, loss_ratio=[0.0, 0.01, 0.1, 1.0])
        assert share == pytest.approx([0.0, 0.222, 0.928, 1.0], abs=1e-3)

    def test_unreachable_target_is_refused(self) -> None:
        with pytest.raises(ValueError, match="no block of 200 data packets"):
            fec.smallest_parity_packets(data_packets=200, loss_ratio=0.3, target_loss_ratio=1e-15)


class TestIntervals:
    def test_no_event_is_an_upper_bound(self) -> None:
        low, high = intervals.clopper_pearson(events=0, trials=1000)
        assert float(low) == 0.0
        assert float(high) == pytest.approx(1 - 0.025 ** (1 / 1000))
        low, high = intervals.poisson(events=0)
        assert float(low) == 0.0
        assert float(high) == pytest.approx(-math.log(0.025))

    def test_every_trial_an_event(self) -> None:
        low, high = intervals.clopper_pearson(events=10, trials=10)
        assert float(high) == 1.0
        assert float(low) == pytest.approx(0.025 ** (1 / 10))

    @given(trials=st.integers(1, 100_000), share=st.floats(0, 1))
    def test_intervals_hold_the_ratio_seen(self, trials: int, share: float) -> None:
        events = round(trials * share)
        for interval in (intervals.clopper_pearson, intervals.wilson):
            low, high = interval(events=events, trials=trials)
            assert float(low) <= events / trials + 1e-12
            assert float(high) >= events / trials - 1e-12

    def test_exact_interval_covers_as_often_as_it_says(self) -> None:
        random = np.random.default_rng(11)
        seen = random.binomial(200, 0.03, size=4000)
        low, high = intervals.clopper_pearson(events=seen, trials=200)
        assert ((low <= 0.03) & (high >= 0.03)).mean() >= 0.95

    def test_swapped_arguments_are_noticed(self) -> None:
        with pytest.raises(ValueError, match="swap"):
            intervals.clopper_pearson(events=1000, trials=162)


class TestRefusals:
    def test_a_percentage_is_read_back_both_ways(self) -> None:
        with pytest.raises(ValueError, match=r"15\.66 % is 0\.1566"):
            mathis.bandwidth_bps(mss_bytes=1460, rtt_s=6e-3, loss_ratio=15.66)

    @pytest.mark.parametrize("p", [0.0, 1.0, -0.1, math.nan, math.inf])
    def test_loss_ratio_outside_its_domain(self, p: float) -> None:
        with pytest.raises(ValueError, match="loss_ratio must be a ratio"):
            pftk.segments_per_second(rtt_s=0.1, loss_ratio=p, rto_s=0.3)

    @pytest.mark.parametrize("rtt", [0.0, -1.0, math.nan, math.inf])
    def test_round_trip_of_nothing(self, rtt: float) -> None:
        with pytest.raises(ValueError, match="rtt_s must be finite and above 0"):
            mathis.bandwidth_bps(mss_bytes=1460, rtt_s=rtt, loss_ratio=0.01)

    def test_half_a_packet(self) -> None:
        with pytest.raises(ValueError, match=r"whole number of at least 1, not 0\.5"):
            fec.residual_loss_ratio(data_packets=0.5, parity_packets=1, loss_ratio=0.1)

    def test_one_bad_value_in_an_array_is_named(self) -> None:
        with pytest.raises(ValueError, match="not -3"):
            cubic.window_segments(rtt_s=[0.1, -3.0], loss_ratio=0.01)


@given(
    k=st.integers(1, 128),
    h=st.integers(1, 32),
    exponent=st.floats(-6, -0.001),
)
def test_residual_loss_is_the_incomplete_beta_function(k: int, h: int, exponent: float) -> None:
    p = 10**exponent
    expected = p * float(betainc(h, k, p))
    found = float(fec.residual_loss_ratio(data_packets=k, parity_packets=h, loss_ratio=p))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-300)
