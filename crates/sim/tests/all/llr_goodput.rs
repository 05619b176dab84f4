//! The saturated speed of go-back-N is that of arithmetic: 1 / (1 + p W), W from the delays alone.

use crate::profiles;
use lossylink_core::engine::llr::Init;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::Control;
use lossylink_sim::net::llr::{LlrCounters, LlrOptions};
use lossylink_sim::net::{Ecn, Frame, LineRate, LlrLink, ProtectedLink};
use lossylink_sim::world::stress::{self, Source, Stress, StressResult};
use profiles::profile;

const OCTETS: u32 = 1538;
const RATES: [u64; 3] = [100, 400, 800];
const LOSSES: [f64; 4] = [1e-5, 1e-4, 1e-3, 1e-2];
/// The most by which the speed may be off.
const BOUND: f64 = 0.02;
/// The standard deviations of the number of losses that the bound shall contain, so that the seed does
/// not decide. The rest of the bound is for the model.
const SIGMAS: f64 = 4.0;

struct Point {
    profile: &'static str,
    gbps: u64,
    loss: f64,
    errors_seen: bool,
}

/// A run and the quantities that arithmetic uses.
struct Outcome {
    result: StressResult,
    counters: LlrCounters,
    options: LlrOptions,
    goodput: f64,
    /// The number of frames between the start of a lost frame and the start of its replay.
    lag: f64,
    /// The number of frames until the start of the replay that arrives: a replay that is lost costs the
    /// replay timer.
    mean_lag: f64,
}

impl Point {
    fn rate(&self) -> LineRate {
        LineRate::new(BitRate::from_gbps(self.gbps))
    }

    fn link(&self) -> (LlrLink<u64>, LlrOptions) {
        let (profile, rate) = (profile(self.profile), self.rate());
        let sized = LlrOptions::sized(&profile, rate, Duration::ZERO, OCTETS);
        let options = LlrOptions { errors_seen: self.errors_seen, ..sized };
        let streams = Streams::new(1);
        let forward = LossModel::bernoulli(self.loss).expect("a probability");
        let losses = (
            LossProcess::new(&forward, streams.stream("link/0/loss")),
            LossProcess::new(&LossModel::None, streams.stream("link/0/reverse-loss")),
        );
        (LlrLink::new(&profile, rate, Duration::ZERO, &options, losses, Init::default()), options)
    }

    /// Returns a number of frames that is large enough that the spread of the number of losses moves
    /// the speed by less than half of the bound: pW / (1 + pW) of the time is lost, and it varies by 1
    /// / sqrt(N p).
    fn packets(&self, lag: f64) -> u64 {
        let share = self.loss * lag / (1.0 + self.loss * lag);
        let losses = (SIGMAS * share / (BOUND / 2.0)).powi(2);
        ((losses / self.loss) as u64).max(200_000)
    }

    fn run(&self) -> Outcome {
        let (mut link, options) = self.link();
        let frame = self.rate().serialisation(OCTETS);
        let in_frames = |time: Duration| time.as_ps() as f64 / frame.as_ps() as f64;
        let lag = in_frames(link.replay_lag(OCTETS));
        let again = self.loss / (1.0 - self.loss) * in_frames(options.sender.replay_timer);
        let packets = self.packets(lag);
        let stress = Stress { packets, frame_bytes: OCTETS - 24, source: Source::Saturated };
        let result = stress::run(&mut link, stress, &Control::default());
        let time = (result.last - result.first).as_ps() as f64;
        let goodput = (result.delivered.received() - 1) as f64 * frame.as_ps() as f64 / time;
        assert_eq!(link.kept(), 0);
        Outcome { counters: link.counters(), result, options, goodput, lag, mean_lag: lag + again }
    }
}

/// The points have 200 000 to 3.5 million frames. A replay that is lost is not asked for again and
/// costs the replay timer, about p^2 R / (1 + p W) of the speed: 1.9 % at 800G over the slow switch
/// with p = 1e-2. W alone is held to the bound where that cost is less than half of it.
// LLR-10, LLR-11, LLR-20
#[test]
fn saturated_speed_is_that_of_arithmetic() {
    for (profile, errors_seen) in [("ideal", false), ("ideal", true), ("tofino1", false)] {
        for gbps in RATES {
            for loss in LOSSES {
                let point = Point { profile, gbps, loss, errors_seen };
                let outcome = point.run();
                let error = |lag: f64| outcome.goodput * (1.0 + loss * lag) - 1.0;
                println!(
                    "{profile} {gbps}G p {loss:e} seen {errors_seen}: W {:.2}, goodput {:.4}, \
                     {:+.3} % off 1/(1+pW), {:+.3} % with lost replays; {} frames",
                    outcome.lag,
                    outcome.goodput,
                    error(outcome.lag) * 100.0,
                    error(outcome.mean_lag) * 100.0,
                    outcome.counters.sender.tx_ok,
                );
                let of_lost_replays = (1.0 + loss * outcome.mean_lag) / (1.0 + loss * outcome.lag) - 1.0;
                let alone = Some(outcome.lag).filter(|_| of_lost_replays < BOUND / 2.0);
                for lag in alone.into_iter().chain([outcome.mean_lag]) {
                    let off = error(lag);
                    assert!(off.abs() < BOUND, "{profile} {gbps}G at {loss}: off by {:.3} %", off * 100.0);
                }
                let delivered = &outcome.result.delivered;
                assert_eq!((delivered.reordered(), delivered.duplicated()), (0, 0));
                let given_up = outcome.counters.sender.given_up;
                assert!(given_up > 0 || delivered.received() == outcome.counters.sender.tx_ok);
            }
        }
    }
}

/// The buffer of the sizing is enough, and not much larger than needed.
// LLR-4, LLR-20
#[test]
fn a_link_without_loss_runs_at_line_rate_within_its_buffer() {
    for profile in ["ideal", "tofino1"] {
        for gbps in RATES {
            let outcome = Point { profile, gbps, loss: 0.0, errors_seen: false }.run();
            assert!((outcome.goodput - 1.0).abs() < 1e-12, "{profile} {gbps}G: {}", outcome.goodput);
            let (held, bound) =
                (outcome.counters.high_water_bytes, outcome.options.sender.outstanding_bytes_max);
            println!("{profile} {gbps}G: {held} B of {bound} held at most");
            assert!(held <= bound.0 && held * 2 > bound.0, "{profile} {gbps}G: {held} of {bound}");
            assert_eq!(outcome.counters.sender.tx_replay, 0);
        }
    }
}

/// Once the buffers have grown to their size, no call allocates any more.
#[test]
fn the_hot_path_allocates_nothing() {
    let (mut link, _) = Point { profile: "tofino1", gbps: 100, loss: 1e-3, errors_seen: true }.link();
    let mut now = Instant::ZERO;
    let mut number = 0;
    let mut run = |frames: u64| {
        for _ in 0..frames {
            while link.backlog() < 2 {
                link.offer(now, Frame::of_frame_bytes(1514, Ecn::NotCapable, number));
                number += 1;
            }
            now = link.poll_timeout();
            link.advance(now);
            link.delivered().drain_due(now, |_, _| {});
        }
    };
    run(100_000);
    let allocated = allocation_counter::measure(|| run(400_000));
    assert_eq!(allocated.count_total, 0);
}
