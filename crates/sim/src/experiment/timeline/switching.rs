//! Switching a protection on and off while traffic runs, and the accounts of both.

use super::super::long_flow::TcpNetwork;
use super::super::setup::{Setup, without_parity};
use crate::ConfigError;
use crate::config::ProtectionKind;
use lossylink_core::engine::fec::Code;
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};

/// Time between two attempts to take LinkGuardian off: it leaves when all that it has numbered has
/// gone on (LG-36), which takes microseconds.
const RETRY: Duration = Duration::from_us(1);

/// What is done to the link, and what has been done.
#[derive(Debug)]
pub(super) struct Switching {
    protects: bool,
    /// The code, if the protection is one.
    code: Option<Code>,
    /// Since when the link has been protected, if it is; part of it may be taken already.
    since: Option<Instant>,
    /// Protected time that has not been taken.
    untaken: Duration,
    copies: Option<u8>,
    /// When the protection is to leave; never, if it is not.
    leaves_at: Instant,
    switched: Switched,
}

/// What has been done to the link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Switched {
    /// When it was protected for the first time.
    pub(super) first_on: Option<Instant>,
    /// When the protection left for the last time.
    pub(super) last_off: Option<Instant>,
    /// How often either happened.
    pub(super) changes: u64,
    /// The copies chosen last.
    pub(super) copies: Option<u8>,
    /// Positions that earlier turns of LinkGuardian gave up.
    timeouts: u64,
    /// Frames for which their reorder buffer had no room.
    rx_dropped: u64,
}

impl Switching {
    pub(super) fn new(setup: &Setup<'_>) -> Result<Self, ConfigError> {
        let protection = &setup.config.protection;
        let code = if protection.kind.is_code() { Some(protection.code()?) } else { None };
        Ok(Self {
            protects: protection.kind != ProtectionKind::None,
            code,
            since: None,
            untaken: Duration::ZERO,
            copies: None,
            leaves_at: Instant::NEVER,
            switched: Switched::default(),
        })
    }

    /// Whether there is a protection to switch on.
    pub(super) const fn protects(&self) -> bool {
        self.protects
    }

    /// Copies of retransmissions, while LinkGuardian is on.
    pub(super) const fn copies(&self) -> Option<u8> {
        self.copies
    }

    /// When it next does something by itself.
    pub(super) const fn deadline(&self) -> Instant {
        self.leaves_at
    }

    /// What has been done so far.
    pub(super) const fn switched(&self) -> &Switched {
        &self.switched
    }

    /// How long the link was protected since this was asked last.
    pub(super) fn take_protected_time(&mut self, now: Instant) -> Duration {
        let current = self.since.map_or(Duration::ZERO, |since| now - since);
        self.since = self.since.map(|_| now);
        std::mem::take(&mut self.untaken) + current
    }

    /// Switches the protection on with `copies`, unless the user chose their number, or changes
    /// that number. A code has none.
    pub(super) fn protect(
        &mut self,
        now: Instant,
        copies: u8,
        network: &mut TcpNetwork,
        (setup, streams): (&Setup<'_>, &Streams),
    ) {
        self.leaves_at = Instant::NEVER;
        let copies = setup.config.protection.copies.unwrap_or(copies);
        if let Some(code) = self.code {
            network.link.set_code(code);
        } else {
            if let Some(guarded) = network.link.as_linkguardian_mut() {
                guarded.set_leaving(false);
                guarded.set_copies(copies);
            } else {
                let guarded = setup.late_guard(copies, streams);
                network.link.protect(guarded.tapped(network.tap().clone()));
            }
            self.copies = Some(copies);
            self.switched.copies = self.copies;
        }
        if self.since.is_none() {
            self.since = Some(now);
            self.switched.first_on.get_or_insert(now);
            self.switched.changes += 1;
        }
    }

    /// Takes the protection off, as soon as it can leave.
    pub(super) fn unprotect(&mut self, now: Instant) {
        self.leaves_at = if self.since.is_some() { now } else { Instant::NEVER };
    }

    /// Tries to take the protection off.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        network: &mut TcpNetwork,
        (setup, streams): (&Setup<'_>, &Streams),
    ) {
        if let Some(code) = self.code {
            network.link.set_code(without_parity(code));
        } else {
            let counters = network.link.as_linkguardian().map(|guarded| guarded.counters(now));
            let tap = network.tap().clone();
            if !network.link.unprotect(now, || setup.bare_link(streams).tapped(tap)) {
                self.leaves_at = now + RETRY;
                return;
            }
            self.switched.timeouts += counters.map_or(0, |counters| counters.timeouts);
            self.switched.rx_dropped += counters.map_or(0, |counters| counters.rx_buffer_dropped);
        }
        self.untaken += self.since.take().map_or(Duration::ZERO, |since| now - since);
        self.copies = None;
        self.leaves_at = Instant::NEVER;
        self.switched.last_off = Some(now);
        self.switched.changes += 1;
    }

    /// Positions given up and frames for which the reorder buffer had no room, over all turns of
    /// LinkGuardian; `None` without any.
    pub(super) fn given_up(&self, now: Instant, network: &TcpNetwork) -> Option<(u64, u64)> {
        self.switched.copies?;
        let current = network.link.as_linkguardian().map(|guarded| guarded.counters(now));
        let (timeouts, dropped) =
            current.map_or((0, 0), |counters| (counters.timeouts, counters.rx_buffer_dropped));
        Some((self.switched.timeouts + timeouts, self.switched.rx_dropped + dropped))
    }
}
