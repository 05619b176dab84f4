//! A guard between two real ports: one of the two boxes at the ends of a link that corrupts.

use super::{TAGS, guard_config, routed};
use crate::clock::Clock;
use crate::config::{Config, GuardPortsConfig};
use crate::error::{Attempt, Error, Result};
use crate::histogram::{Histogram, Lateness};
use crate::lines;
use crate::port::{Port, PortCounters};
use crate::report;
use crate::runner::Plane;
use crate::sys::process;
use crate::values;
use lossylink_core::guard::{Guard, Side};
use lossylink_core::loss::LossModel;
use lossylink_core::protection::Protection;
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_core::wire::wire_octets;
use serde_json::{Value, json};
use std::os::fd::BorrowedFd;

/// Frames taken from one port in a round.
const RECEIVE_BATCH: usize = 64;
/// The most batches that are taken from the link before a deadline counts: the whole receive ring of a packet
/// port.
const HEARD_FIRST: usize = 64;
/// How far ahead of the rate frames may leave: one wake-up then serves several frames.
const AHEAD: Duration = Duration::from_us(50);
/// The most time without traffic that counts toward the rate after a late wake-up.
const BEHIND: Duration = Duration::from_us(200);
/// Time between two reports to the guard of the frames that the port of its link has dropped, because each
/// costs a system call.
const PORT_INTERVAL: Duration = Duration::from_ms(50);
/// The loss rate from which copies are counted when none is given: the artifact's, which gives two copies.
const ASSUMED_LOSS: f64 = 1e-3;

/// One guard and its ports.
#[derive(Debug)]
pub(super) struct GuardBox {
    lan: Box<dyn Port>,
    link: Box<dyn Port>,
    guard: Guard,
    clock: Clock,
    rate: Option<BitRate>,
    free_from: Instant,
    streams: Streams,
    changes: u64,
    next_port_look: Instant,
    lateness: Histogram,
    is_retired: bool,
}

impl GuardBox {
    pub(super) fn build(config: &Config, ports: &GuardPortsConfig, clock: Clock) -> Result<Self> {
        // A process that cannot read the link must not guess identities and nonces (G-20, G-21): no seed is
        // set.
        let seed = process::unpredictable().attempting("draw a seed for identities")?;
        let streams = Streams::new(seed);
        let rate = ports.rate_bps.map(values::rate).transpose()?;
        let limits = guard_config(config, Bytes::ZERO)?;
        let guard = if routed::is_path(ports)? {
            routed::guard(limits, ports.protection.as_ref(), streams.stream("guard"))?
        } else {
            let protection = chosen(ports.protection.as_ref())?;
            let lines = lines::lines(rate, Bytes(limits.longest_frame as u64));
            Guard::new(limits, lines, protection, ASSUMED_LOSS, streams.stream("guard"))
        };
        Ok(Self {
            lan: values::port(&ports.lan)?.open(config.mtu_bytes, config.super_frames)?,
            link: values::port(&ports.link)?.open(config.mtu_bytes + TAGS + guard.headroom(), false)?,
            guard,
            clock,
            rate,
            free_from: Instant::ZERO,
            streams,
            changes: 0,
            next_port_look: Instant::ZERO,
            lateness: Histogram::default(),
            is_retired: false,
        })
    }

    /// Tells the guard how many frames the port of its link has dropped, which are not losses of the link
    /// (G-33).
    fn look_at_port(&mut self, now: Instant) {
        if self.next_port_look <= now {
            self.next_port_look = now + PORT_INTERVAL;
            let counters = self.link.counters();
            self.guard.set_port_drops(counters.missed, counters.send_refused);
            routed::show_carrier(&self.guard, self.lan.as_mut());
        }
    }

    /// Follows an event of the guard: sends the frames that it has for either side.
    fn drive(&mut self, now: Instant) {
        while let Some(frame) = self.guard.poll_transmit(now, Side::Lan) {
            self.lan.send(&frame);
            self.guard.recycle(frame);
        }
        while self.free_from <= now + AHEAD {
            let Some(frame) = self.guard.poll_transmit(now, Side::Link) else { break };
            self.link.send(&frame);
            if let Some(rate) = self.rate {
                let idle_until = Instant::from_ps(now.as_ps().saturating_sub(BEHIND.as_ps()));
                let octets = wire_octets(Bytes(frame.len() as u64));
                self.free_from = self.free_from.max(idle_until) + octets / rate;
            }
            self.guard.recycle(frame);
        }
    }

    /// Takes the frames that wait on the link. Frames that came while this process was kept from running came
    /// in time: a deadline that passed meanwhile must not give up the frames that they bring.
    fn hear(&mut self) -> Result<()> {
        for _ in 0..HEARD_FIRST {
            if self.receive_from(Side::Link)? < RECEIVE_BATCH {
                break;
            }
        }
        Ok(())
    }

    /// Takes the frames that wait in one port.
    fn receive_from(&mut self, side: Side) -> Result<usize> {
        let now = self.clock.now();
        let Self { lan, link, guard, .. } = self;
        let port = if side == Side::Lan { lan } else { link };
        let taken = port.receive(RECEIVE_BATCH, &mut |frame| guard.handle_frame(now, side, frame))?;
        self.drive(now);
        Ok(taken)
    }
}

impl Plane for GuardBox {
    fn receive(&mut self) -> Result<bool> {
        let from_link = self.receive_from(Side::Link)?;
        let from_lan = if self.is_retired { 0 } else { self.receive_from(Side::Lan)? };
        Ok(from_link + from_lan > 0)
    }

    fn advance(&mut self, now: Instant) -> Result<()> {
        let due = self.guard.poll_timeout();
        if due <= now {
            self.lateness.record(now.saturating_since(due));
            self.look_at_port(now);
            self.hear()?;
            let now = self.clock.now();
            if self.guard.poll_timeout() <= now {
                self.guard.handle_timeout(now);
            }
        }
        self.drive(self.clock.now());
        Ok(())
    }

    fn flush(&mut self) {
        self.lan.flush();
        self.link.flush();
    }

    fn next_event(&self) -> Instant {
        let timer = self.guard.poll_timeout();
        if !self.guard.has_frames(self.clock.now()) {
            return timer;
        }
        timer.min(Instant::from_ps(self.free_from.as_ps().saturating_sub(AHEAD.as_ps())))
    }

    fn readable(&self) -> [Option<BorrowedFd<'_>>; 2] {
        [(!self.is_retired).then(|| self.lan.readable()), Some(self.link.readable())]
    }

    fn counters(&mut self) -> Value {
        json!({
            "kind": "guard",
            "lateness": { "timers": self.lateness.lateness() },
            "ports": { "lan": self.lan.counters(), "link": self.link.counters() },
            "guards": { "guard": report::guard(&self.guard) },
        })
    }

    fn describe(&self) -> Value {
        let port = report::texts(&PortCounters::HELP);
        json!({
            "lateness": { "timers": report::texts(&Lateness::HELP) },
            "ports": { "lan": port, "link": port },
            "guards": { "guard": report::help(&self.guard) },
        })
    }

    fn set_loss(&mut self, _now: Instant, _models: [&mut Option<LossModel>; 2]) -> Result<()> {
        Err(Error::Usage("a guard has no link of its own: ask the wire".to_owned()))
    }

    fn protect(&mut self, now: Instant, protection: Option<&Protection>) -> Result<()> {
        let wanted = routed::chosen(&self.guard, protection).unwrap_or_else(|| chosen(protection))?;
        self.changes += 1;
        let rng = self.streams.trial(self.changes).stream("guard");
        self.guard.protect(now, wanted, ASSUMED_LOSS, rng);
        Ok(())
    }

    fn clear(&mut self) {
        self.lateness.clear();
    }

    fn retire(&mut self, _now: Instant) {
        self.is_retired = true;
    }

    fn is_drained(&self) -> bool {
        self.guard.frames_held() == 0
    }
}

/// Returns the protection that was asked for; none if no protection was given.
fn chosen(protection: Option<&Protection>) -> Result<Protection> {
    let protection = protection.unwrap_or(&Protection::None);
    lines::check(protection)?;
    Ok(protection.clone())
}
