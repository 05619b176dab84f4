//! A guard in its stride costs no allocation, whatever its line protocol: the loop around it runs in real time.

use lossylink_codec::FecLine;
use lossylink_core::engine::guard::{Guard, GuardConfig, LineProtocol, LinkGuardianLine, QueueLimits, Side};
use lossylink_core::engine::llr::LlrLine;
use lossylink_core::protection::{Fec, LinkGuardian, Llr, Protection};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};

/// Full frames back to back take 12.3 us at 1 Gb/s.
const SPACING: Duration = Duration::from_us(13);
/// Of so many frames on the link one is lost.
const LOST_EVERY: u64 = 101;

fn guard(name: &str, protection: &Protection) -> Guard {
    let queue = QueueLimits { capacity: Bytes(560_000), mark_from: None };
    let config = GuardConfig { queue, longest_frame: 1514, frames: 5_000, secret: None };
    let rate = BitRate::from_gbps(1);
    let lines: Vec<Box<dyn LineProtocol>> = vec![
        Box::new(LinkGuardianLine::new()),
        Box::new(FecLine::new(rate, Bytes(1514))),
        Box::new(LlrLine::new(rate, Bytes(1514))),
    ];
    Guard::new(config, lines, protection.clone(), 1e-2, Streams::new(1).stream(name))
}

/// Sends `frames` frames from the near end, and carries whatever the guards have to say.
fn run(ends: &mut [Guard; 2], now: &mut Instant, seen: &mut u64, frames: u32) {
    let frame = [0x5a; 1514];
    for _ in 0..frames {
        *now += SPACING;
        ends.iter_mut().for_each(|end| end.handle_timeout(*now));
        ends[0].handle_frame(*now, Side::Lan, &frame);
        for end in [0, 1, 0, 1] {
            while let Some(frame) = ends[end].poll_transmit(*now, Side::Link) {
                *seen += 1;
                if !(*seen).is_multiple_of(LOST_EVERY) {
                    ends[1 - end].handle_frame(*now, Side::Link, &frame);
                }
                ends[end].recycle(frame);
            }
            while let Some(frame) = ends[end].poll_transmit(*now, Side::Lan) {
                ends[end].recycle(frame);
            }
        }
    }
}

#[test]
fn a_guard_in_its_stride_costs_no_allocation() {
    let protections = [
        Protection::None,
        Protection::LinkGuardian(LinkGuardian::ORDERED),
        Protection::LinkGuardian(LinkGuardian::NON_BLOCKING),
        Protection::Fec(Fec::new(5, 2)),
        Protection::Llr(Llr { replays: 255, ..Llr::default() }),
    ];
    for protection in protections {
        let mut ends = [guard("near", &protection), guard("far", &protection)];
        let (mut now, mut seen) = (Instant::ZERO, 0);
        run(&mut ends, &mut now, &mut seen, 40_000);
        let allocated = allocation_counter::measure(|| run(&mut ends, &mut now, &mut seen, 20_000));
        assert_eq!(allocated.count_total, 0, "{protection}");
        assert!(ends[1].counters().to_lan > 58_000, "{protection}");
    }
}
