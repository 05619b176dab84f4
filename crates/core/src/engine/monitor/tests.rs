//! The monitor in dialogue: readings in, decisions out, a test on each side of every threshold.

use super::*;
use crate::loss::{LossModel, LossProcess};
use crate::rng::Streams;
use crate::time::Duration;
use alloc::vec::Vec;

/// A monitor and the counters that it reads.
struct Link {
    monitor: Monitor,
    now: Instant,
    ok: u64,
    all: u64,
}

impl Link {
    fn new(config: MonitorConfig) -> Self {
        let mut link = Self { monitor: Monitor::new(config).unwrap(), now: Instant::ZERO, ok: 0, all: 0 };
        assert_eq!(link.poll(0, 0), None);
        link
    }

    /// Polls after a second in which `frames` frames arrive, `lost` of them corrupted.
    fn poll(&mut self, frames: u64, lost: u64) -> Option<Decision> {
        self.now += Duration::from_secs(1);
        self.ok += frames - lost;
        self.all += frames;
        self.monitor.observe(self.now, self.ok, self.all)
    }
}

/// Returns thresholds with round numbers: on from 1e-4, off below 1e-5.
fn config() -> MonitorConfig {
    MonitorConfig {
        window_frames: 1_000_000,
        on_loss: 1e-4,
        off_loss: 1e-5,
        confidence: 0.99,
        hold: Duration::from_secs(5),
        ..MonitorConfig::default()
    }
}

const fn protect(copies: u8) -> Option<Decision> {
    Some(Decision::Protect { copies })
}

// MON-3, MON-4: where 10 are expected at the threshold, 19 have a chance of 0.7 %, 18 of 1.4 %.
#[test]
fn protection_starts_when_the_loss_is_surely_above_the_threshold() {
    assert_eq!(Link::new(config()).poll(100_000, 18), None);
    assert_eq!(Link::new(config()).poll(100_000, 19), protect(2));
}

// MON-3, MON-4: a rate that no single poll shows adds up in the window.
#[test]
fn a_small_loss_is_seen_by_the_window() {
    let mut link = Link::new(config());
    // 14 losses where 10 are expected are no evidence; 56 where 40 are expected are.
    assert_eq!([(); 3].map(|()| link.poll(100_000, 14)), [None; 3]);
    assert_eq!(link.poll(100_000, 14), protect(2));
}

// MON-4: with the published thresholds, one corrupted frame is not yet a corrupting link.
#[test]
fn one_loss_among_many_frames_is_no_evidence() {
    let mut link = Link::new(MonitorConfig::default());
    assert_eq!(link.poll(8_000_000, 1), None);
    assert_eq!(link.poll(8_000_000, 1), None);
    assert_eq!(link.poll(8_000_000, 8_000), protect(2));
}

// MON-5: one copy serves 1e-4; 125 of a million have a chance of 0.9 % there, 124 of 1.1 %.
#[test]
fn copies_rise_when_one_is_surely_not_enough() {
    for (lost, decision) in [(124, None), (125, protect(2))] {
        let mut link = Link::new(MonitorConfig { on_loss: 2e-5, ..config() });
        assert_eq!(link.poll(1_000_000, 90), protect(1));
        assert_eq!(link.poll(1_000_000, lost), decision, "{lost} lost");
    }
}

// MON-5: no number of copies up to 16 serves a loss of one half, which asks for 26.
#[test]
fn copies_rise_to_sixteen_and_no_further() {
    let mut link = Link::new(config());
    assert_eq!(link.poll(100_000, 50_000), protect(16));
    assert_eq!(link.poll(100_000, 50_000), None);
    assert_eq!(link.poll(100_000, 50_000), None);
}

// MON-5: a sudden rise is followed within one reading, though the window is still clean.
#[test]
fn a_sudden_rise_is_followed_at_once() {
    let mut link = Link::new(config());
    assert_eq!(link.poll(900_000, 0), None);
    assert_eq!(link.poll(10_000, 100), protect(3));
}

// MON-6: two copies serve 2.15e-3, with the margin of a tenth 2.15e-4. Of a million frames 181 lost
// have a chance of 0.9 % there, 182 of 1.1 %. Half a window without enough losses is no evidence.
#[test]
fn copies_fall_when_fewer_are_surely_enough() {
    for (lost, decision) in [(182, None), (181, protect(2))] {
        let mut link = Link::new(config());
        assert_eq!(link.poll(1_000_000, 10_000), protect(3));
        (0..6).for_each(|_| assert_eq!(link.poll(80_000, 0), None));
        assert_eq!(link.poll(1_000_000, lost), decision, "{lost} lost");
    }
}

// MON-7: where 10 are expected at the threshold, 2 have a chance of 0.3 %, 3 of 1.03 %. Three losses
// still allow fewer copies.
#[test]
fn protection_ends_when_the_loss_is_surely_below_the_threshold() {
    for (lost, decision) in [(3, protect(1)), (2, Some(Decision::Unprotect))] {
        let mut link = Link::new(config());
        assert_eq!(link.poll(100_000, 1_000), protect(3));
        (0..4).for_each(|_| assert_eq!(link.poll(250_000, 0), None));
        assert_eq!(link.poll(1_000_000, lost), decision, "{lost} lost");
    }
}

// MON-6: a test on each side of the hold time.
#[test]
fn nothing_is_undone_before_the_hold_time_is_over() {
    let mut link = Link::new(config());
    assert_eq!(link.poll(10_000, 1_000), protect(7));
    let decisions: [_; 5] = core::array::from_fn(|_| link.poll(5_000_000, 0));
    assert_eq!(decisions, [None, None, None, None, Some(Decision::Unprotect)]);
    assert_eq!(link.monitor.copies(), None);
}

// MON-1
#[test]
fn counters_that_start_anew_are_no_evidence() {
    let mut link = Link::new(config());
    assert_eq!(link.poll(100_000, 0), None);
    assert_eq!(link.monitor.observe(link.now, 10, 20), None);
    assert_eq!(link.monitor.counts(), Counts { frames: 100_000, lost: 0 });
    assert_eq!(link.monitor.observe(link.now, 20, 30), None);
    assert_eq!(link.monitor.counts(), Counts { frames: 100_010, lost: 0 });
}

// MON-1: the total is read a moment before the count of good frames.
#[test]
fn more_good_frames_than_frames_count_as_no_loss() {
    let mut link = Link::new(config());
    assert_eq!(link.monitor.observe(link.now, 1_005, 1_000), None);
    assert_eq!(link.monitor.counts(), Counts { frames: 1_000, lost: 0 });
}

// MON-8
#[test]
fn below_its_threshold_one_copy_is_sent() {
    let one = MonitorConfig { many_copies_loss: 1e-3, ..config() };
    assert_eq!(Link::new(one).poll(1_000_000, 900), protect(1));
    assert_eq!(Link::new(one).poll(1_000_000, 1_100), protect(2));
    assert_eq!(Link::new(config()).poll(1_000_000, 900), protect(2));
}

/// At the threshold itself an exact design would never decide. A test of level alpha on each of n
/// independent readings decides in at most a share alpha of them. 400 links have one reading each:
/// the count of false alarms is at most binomial(400, 0.01), beyond 13 with a chance of 1e-4.
#[test]
fn false_alarms_are_as_rare_as_stated() {
    let alarms = (0..400)
        .filter(|&seed| {
            let model = LossModel::bernoulli(1e-4).unwrap();
            let mut loss = LossProcess::new(&model, Streams::new(seed).stream("link/0/loss"));
            let lost = (0..100_000).filter(|_| loss.is_lost(1518)).count() as u64;
            Link::new(config()).poll(100_000, lost).is_some()
        })
        .count();
    assert!(alarms <= 13, "{alarms} of 400 links at the threshold were taken for worse");
}

/// A constant loss is decided upon once, at any rate: below both thresholds, between them, at the
/// upper one, above it. The number of copies may be corrected as evidence arrives, but does not go
/// up and down.
// MON-4..7
#[test]
fn a_constant_loss_never_flaps() {
    for (loss, ends_protected) in
        [(2e-6, Some(false)), (3e-5, None), (1e-4, None), (1e-3, Some(true)), (1e-2, Some(true))]
    {
        for seed in 0..4 {
            let model = LossModel::bernoulli(loss).unwrap();
            let mut process = LossProcess::new(&model, Streams::new(seed).stream("link/0/loss"));
            let mut link = Link::new(config());
            let decisions: Vec<_> = (0..100)
                .filter_map(|_| {
                    link.poll(100_000, (0..100_000).filter(|_| process.is_lost(1518)).count() as u64)
                })
                .collect();
            assert!(!decisions.contains(&Decision::Unprotect), "{loss:e}: {decisions:?}");
            assert!(decisions.len() <= 3, "{loss:e}: {decisions:?}");
            let is_protected = link.monitor.copies().is_some();
            assert!(ends_protected.is_none_or(|ends| ends == is_protected), "{loss:e}: {decisions:?}");
        }
    }
}
