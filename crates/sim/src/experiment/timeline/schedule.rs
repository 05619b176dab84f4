//! The schedule of a link on a time line: it corrupts and heals, and is protected, at set moments or as monitors of
//! its counters ask.

use super::super::row::Row;
use super::super::setup::Setup;
use super::bins::Bins;
use super::switching::Switching;
use crate::config::{Config, TimelineConfig};
use crate::net::{Advice, Losses, Payload, ProtectedLink, Report, Traffic};
use crate::{Columns, ConfigError};
use lossylink_core::engine::monitor::{Decision, Monitor};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};

/// The events of a link from an instant on, and the account of them.
pub(in crate::experiment) struct Schedule {
    begin: Instant,
    end: Instant,
    bin: Duration,
    poll_period: Duration,
    bins: Bins,
    switching: Switching,
    /// When the link starts to corrupt, and when it heals; never, when that moment is past.
    corruption: Instant,
    healing: Instant,
    onset: Losses,
    healed: Losses,
    /// When the protection is to be switched on; never, if a monitor decides or nothing protects.
    protection: Instant,
    advice: Advice,
    /// Data frames that entered the link while it corrupted in the past, and how many had entered when the
    /// corruption in progress began.
    at_risk: u64,
    at_risk_since: Option<u64>,
    /// The monitors of the counters of the two switches: for the direction of the data, and for the way back
    /// (LG-47).
    monitors: Option<[Monitor; 2]>,
    poll: Instant,
}

impl Schedule {
    /// Builds the schedule of `link` that the configuration asks for, from `begin` on.
    ///
    /// # Errors
    /// If the moments are in the wrong order, or the settings of a monitor are not possible.
    pub(in crate::experiment) fn new<P: Payload>(
        setup: &Setup<'_>,
        streams: &Streams,
        begin: Instant,
        link: &impl ProtectedLink<P>,
    ) -> Result<Self, ConfigError> {
        let config = *setup.config.require(&setup.config.timeline, "timeline")?;
        check(&config)?;
        let span = Duration::from_ps(setup.config.require(&setup.config.run, "run")?.duration_ps);
        let monitors = if setup.protects() && config.protection_ps.is_none() {
            Some([monitor(setup.config)?, monitor(setup.config)?])
        } else {
            None
        };
        let at = |ps: Option<u64>| ps.map_or(Instant::NEVER, |ps| begin + Duration::from_ps(ps));
        Ok(Self {
            begin,
            end: begin + span,
            bin: Duration::from_ps(config.bin_ps),
            poll_period: Duration::from_ps(config.poll_ps),
            bins: Bins::new(begin, link),
            switching: Switching::default(),
            corruption: at(Some(config.corruption_ps)),
            healing: at(config.corruption_end_ps),
            onset: setup.setting_in(streams),
            healed: Setup::healed(streams),
            protection: at(config.protection_ps.filter(|_| setup.protects())),
            advice: setup.advice(),
            at_risk: 0,
            at_risk_since: None,
            poll: if monitors.is_some() { begin } else { Instant::NEVER },
            monitors,
        })
    }

    /// Returns when the next event of the schedule is due; never, once the schedule is over.
    pub(in crate::experiment) fn poll_timeout(&self) -> Instant {
        if self.bins.start() >= self.end {
            return Instant::NEVER;
        }
        let moments = [
            self.bin_end(),
            self.corruption,
            self.healing,
            self.protection,
            self.poll,
            self.switching.poll_timeout(),
        ];
        moments.into_iter().min().expect("there is an end")
    }

    fn bin_end(&self) -> Instant {
        (self.bins.start() + self.bin).min(self.end)
    }

    /// Carries out the events that are due at `now`, with everything on the link done until then. A bin ends before
    /// the events at its end. The hosts have sent `retransmissions` segments again.
    pub(in crate::experiment) fn act<P: Payload>(
        &mut self,
        now: Instant,
        link: &mut impl ProtectedLink<P>,
        retransmissions: u64,
    ) {
        if now == self.bin_end() {
            self.bins.close(now, link, &mut self.switching, retransmissions);
        }
        if now == self.corruption {
            self.corruption = Instant::NEVER;
            self.at_risk_since = Some(link.traffic().data_frames);
            set_losses(link, &self.onset);
        }
        if now == self.healing {
            self.healing = Instant::NEVER;
            self.at_risk = self.frames_at_risk(link);
            self.at_risk_since = None;
            set_losses(link, &self.healed);
        }
        if now == self.protection {
            self.protection = Instant::NEVER;
            self.switching.protect(now, self.advice, link);
        }
        if now == self.poll {
            self.poll = now + self.poll_period;
            self.ask_monitors(now, link);
        }
        if now == self.switching.poll_timeout() {
            self.switching.advance(now, link);
        }
    }

    /// Returns how many data frames entered the link while it corrupted, until now.
    fn frames_at_risk<P: Payload>(&self, link: &impl ProtectedLink<P>) -> u64 {
        self.at_risk + self.at_risk_since.map_or(0, |since| link.traffic().data_frames - since)
    }

    /// Reads the counters of both switches, and switches the protection as the monitors decide (LG-47).
    fn ask_monitors<P: Payload>(&mut self, now: Instant, link: &mut impl ProtectedLink<P>) {
        let (traffic, reverse) = (*link.traffic(), *link.reverse_traffic());
        let Some([forward, back]) = &mut self.monitors else { return };
        let read = |monitor: &mut Monitor, traffic: Traffic| {
            monitor.observe(now, traffic.frames - traffic.lost, traffic.frames)
        };
        let decisions = (read(forward, traffic), read(back, reverse));
        let advice =
            forward.copies().map(|copies| Advice { copies, control_copies: back.copies().unwrap_or(1) });
        match (decisions, advice) {
            ((None, None), _) => {}
            ((Some(Decision::Unprotect), _), _) => self.switching.unprotect(now),
            (_, Some(advice)) => self.switching.protect(now, advice, link),
            (_, None) => {}
        }
    }

    /// Returns the bins, column by column.
    pub(in crate::experiment) fn columns(&self) -> Columns {
        self.bins.columns()
    }

    /// Sets the figures of the schedule; `report` is that of the link.
    pub(in crate::experiment) fn set<P: Payload>(
        &self,
        row: &mut Row,
        report: &Report,
        link: &impl ProtectedLink<P>,
    ) {
        let switched = self.switching.switched();
        let seconds = |at: Option<Instant>| at.map(|at| (at - self.begin).as_secs_f64());
        row.set("protected_at_s", seconds(switched.first_on))
            .set("unprotected_at_s", seconds(switched.last_off))
            .set("protection_changes", switched.changes)
            .set("copies", report.count("copies"))
            .set("control_copies", report.count("control_copies"))
            .set("frames_offered", link.traffic().data_frames)
            .set("frames_at_risk", self.frames_at_risk(link))
            .set("frames_lost", link.traffic().data_lost)
            .set("rx_buffer_drops", report.count("rx_buffer_drops"))
            .set("reorder_timeouts", report.count("timeouts"));
    }
}

/// Gives both directions of the link new loss processes: they begin or cease to corrupt.
fn set_losses<P: Payload>(link: &mut impl ProtectedLink<P>, (forward, reverse): &Losses) {
    link.set_loss(forward.clone());
    *link.losses_mut().1 = reverse.clone();
}

/// Refuses moments in the wrong order.
fn check(timeline: &TimelineConfig) -> Result<(), ConfigError> {
    let refuse = |message: &str| Err(ConfigError(message.into()));
    if timeline.protection_ps.is_some_and(|at| at < timeline.corruption_ps) {
        return refuse(
            "timeline.protection comes before timeline.corruption; switch it on after the corruption",
        );
    }
    if timeline.corruption_end_ps.is_some_and(|at| at <= timeline.corruption_ps) {
        return refuse(
            "timeline.corruption_end does not come after timeline.corruption; let the corruption last",
        );
    }
    if timeline.bin_ps == 0 || timeline.poll_ps == 0 {
        return refuse("timeline.bin and timeline.poll must be above zero");
    }
    Ok(())
}

/// Builds the monitor with the scenario's thresholds, or with the published ones.
fn monitor(config: &Config) -> Result<Monitor, ConfigError> {
    let settings = config.monitor.unwrap_or_default();
    Monitor::new(settings).map_err(|error| ConfigError(format!("monitor: {error}")))
}
