//! The flow-completion experiment: DCTCP flows of 24,387 B one after another at 100 Gb/s.

use super::{PathConfig, World};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::transport::tcp::{Config, CongestionControl};

/// The numbers of flows that lost a frame, by their repair; each flow counts once, under its
/// slowest repair.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repairs {
    pub fast: u32,
    pub timer: u32,
    pub probe: u32,
    pub timeout: u32,
}

pub(crate) struct Outcome {
    pub times: Vec<Duration>,
    pub hit: u32,
    pub repairs: Repairs,
}

/// Returns one flow of the experiment, not yet begun, over a link that loses frames with the chance
/// `loss`.
pub(crate) fn flow(loss: f64, streams: &Streams) -> World {
    let config = Config {
        congestion_control: CongestionControl::Dctcp,
        rto_min: Duration::from_ms(1),
        ..Config::default()
    };
    let path = PathConfig {
        rate: BitRate::from_gbps(100),
        rtt: Duration::from_us(30),
        loss,
        queue_bytes: 1_000_000,
        marking: 0.0,
    };
    World::new(&config, &path, Some(24_387), streams)
}

pub(crate) fn run_flows(flows: u64, loss: f64, seed: u64) -> Outcome {
    let mut outcome = Outcome { times: Vec::new(), hit: 0, repairs: Repairs::default() };
    for number in 0..flows {
        let mut world = flow(loss, &Streams::new(seed).trial(number));
        world.open();
        let time = world.run_to_completion(Instant::ZERO + Duration::from_secs(60));
        outcome.times.push(time.expect("the flow completes within a minute"));
        if world.lost_frames > 0 {
            outcome.hit += 1;
            let statistics = world.sender.statistics();
            let repairs = &mut outcome.repairs;
            let slowest = if statistics.timeouts > 0 {
                &mut repairs.timeout
            } else if statistics.loss_probes > 0 {
                &mut repairs.probe
            } else if statistics.reordering_timer_recoveries > 0 {
                &mut repairs.timer
            } else {
                &mut repairs.fast
            };
            *slowest += 1;
        }
    }
    outcome
}
