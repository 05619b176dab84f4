//! The sending end: numbers frames and replays them (LLR-2..5, LLR-9..14).

mod starting;

use super::outstanding::Outstanding;
use super::{Control, FrameAction, Init, Number, SenderConfig, SenderCounters};
use crate::time::Instant;
use crate::units::Bytes;

/// What the sender is about; the transitions stand in `docs/protocols/llr.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderState {
    /// The link is not protected: frames go without a number.
    Off,
    /// INIT has been sent, or waits to be; its echo is awaited (LLR-15).
    Init,
    /// New frames are sent, with numbers (LLR-3).
    Advance,
    /// What is outstanding is sent again, and new frames wait (LLR-11).
    Replay,
    /// The protection has given up, and waits to be started (LLR-16).
    Flush,
}

/// What the line carries next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// The outstanding frame with this number, again.
    Replay(Number),
    /// The frame that waits, with this number; the driver keeps it.
    Numbered(Number),
    /// The frame that waits, without a number.
    Unnumbered,
    /// Nothing: the frame that waits is dropped.
    Discard,
}

/// The sending engine of one direction.
///
/// After everything that happens to it the driver takes [`poll_release`](Self::poll_release), then
/// the [`Outlet`](super::Outlet)'s control set, and while the line is free
/// [`poll_transmit`](Self::poll_transmit); it calls [`handle_timeout`](Self::handle_timeout) when
/// [`poll_timeout`](Self::poll_timeout) has come.
#[derive(Clone, Debug)]
pub struct Sender {
    config: SenderConfig,
    state: SenderState,
    is_leaving: bool,
    outstanding: Outstanding,
    /// Frames of the replay that have been sent, counted from the oldest outstanding one.
    replayed: u32,
    /// Replays since the last progress.
    replays: u8,
    /// INITs, or replays, since the receiver was last heard of.
    tries: u32,
    /// The INIT that was sent last, or is to be.
    init: Init,
    wants_init: bool,
    /// The replay timer; in [`SenderState::Init`], when INIT is repeated.
    retry: Instant,
    /// When the line has been down for too long.
    line_down: Instant,
    released: u32,
    counters: SenderCounters,
}

impl Sender {
    /// A sender that is off.
    ///
    /// # Panics
    /// If a parameter is out of its range.
    pub fn new(config: SenderConfig) -> Self {
        config.check();
        Self {
            outstanding: Outstanding::new(&config),
            config,
            state: SenderState::Off,
            is_leaving: false,
            replayed: 0,
            replays: 0,
            tries: 0,
            init: Init::default(),
            wants_init: false,
            retry: Instant::NEVER,
            line_down: Instant::NEVER,
            released: 0,
            counters: SenderCounters::default(),
        }
    }

    /// A sender whose INIT(`init`) was echoed before the run began.
    pub fn established(config: SenderConfig, init: Init) -> Self {
        let mut sender = Self::new(config);
        sender.outstanding.restart(init.number);
        Self { state: SenderState::Advance, init, ..sender }
    }

    /// Its parameters.
    pub const fn config(&self) -> &SenderConfig {
        &self.config
    }

    /// What it is about.
    pub const fn state(&self) -> SenderState {
        self.state
    }

    /// Counts of what happened so far.
    pub const fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// The number that the next new frame will take.
    pub fn next(&self) -> Number {
        self.outstanding.next()
    }

    /// The number of the oldest frame that the driver keeps, once it has taken
    /// [`poll_release`](Self::poll_release).
    #[inline]
    pub const fn oldest(&self) -> Number {
        self.outstanding.oldest()
    }

    /// Frames that are outstanding.
    pub fn outstanding_frames(&self) -> u32 {
        self.outstanding.len()
    }

    /// Their bytes.
    pub const fn outstanding_bytes(&self) -> Bytes {
        self.outstanding.bytes()
    }

    /// The line comes up, or goes down (LLR-14).
    pub fn handle_line(&mut self, now: Instant, is_up: bool) {
        self.line_down = match self.config.pcs_lost_timeout {
            Some(timeout) if !is_up && self.is_numbering() => self.line_down.min(now + timeout),
            _ => Instant::NEVER,
        };
    }

    /// A control set arrives. Those for the receiver of the other direction are not looked at.
    #[inline]
    pub fn handle_control(&mut self, now: Instant, control: Control) {
        match control {
            Control::Ack(last_good) => {
                self.counters.rx_ack += 1;
                self.acknowledge(now, last_good);
            }
            Control::Nack(last_good) => self.handle_nack(now, last_good),
            Control::InitEcho(echo) => self.handle_echo(echo),
            Control::Init(_) => {}
        }
        self.leave_if_drained();
    }

    /// When the sender next does something by itself.
    #[inline]
    pub fn poll_timeout(&self) -> Instant {
        self.retry.min(self.line_down).min(self.too_old())
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.line_down <= now || self.too_old() <= now {
            self.flush(now);
        } else if self.retry <= now {
            self.retry = Instant::NEVER;
            if self.state == SenderState::Init {
                self.wants_init = true; // LLR-15
            } else {
                self.counters.timer_replays += u64::from(!self.config.is_exhausted(self.replays));
                self.replay(now); // LLR-12
            }
        }
    }

    /// Whether the line has something to carry, when a frame of so many bytes waits, or none does.
    #[inline]
    pub fn wants_transmit(&self, waiting: Option<Bytes>) -> bool {
        match self.state {
            SenderState::Replay => true,
            SenderState::Advance => {
                waiting.is_some_and(|bytes| !self.is_leaving && self.outstanding.has_room(bytes))
            }
            _ => waiting.is_some() && self.action() != FrameAction::Block,
        }
    }

    /// The line is free at `now`: what it carries, when a frame of so many bytes waits, or none
    /// does (LLR-3, LLR-11, LLR-17).
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant, waiting: Option<Bytes>) -> Option<Transmit> {
        match self.state {
            SenderState::Replay => Some(Transmit::Replay(self.poll_replay())),
            SenderState::Advance => {
                let bytes = waiting.filter(|&bytes| !self.is_leaving && self.outstanding.has_room(bytes))?;
                if self.outstanding.is_empty() {
                    self.retry = now + self.config.replay_timer;
                }
                self.counters.tx_ok += 1;
                Some(Transmit::Numbered(self.outstanding.push(now, bytes)))
            }
            _ => waiting.and_then(|_| self.treat()),
        }
    }

    /// The frame that was numbered last is poisoned: it is sent and replayed as any other, and
    /// counted (LLR-5).
    pub fn note_poisoned(&mut self) {
        self.counters.tx_poisoned += 1;
    }

    /// How many of the oldest frames that the driver keeps are to be freed now.
    #[inline]
    pub fn poll_release(&mut self) -> u32 {
        core::mem::take(&mut self.released)
    }

    /// Whether frames may be outstanding.
    const fn is_numbering(&self) -> bool {
        matches!(self.state, SenderState::Advance | SenderState::Replay)
    }

    /// What becomes of new frames in a state that does not number them (LLR-17).
    const fn action(&self) -> FrameAction {
        match self.state {
            SenderState::Init => self.config.init_action,
            SenderState::Flush => self.config.flush_action,
            _ => FrameAction::BestEffort,
        }
    }

    /// A new frame in such a state.
    fn treat(&mut self) -> Option<Transmit> {
        match self.action() {
            FrameAction::Block => None,
            FrameAction::Discard => {
                self.counters.tx_discard += 1;
                Some(Transmit::Discard)
            }
            FrameAction::BestEffort => {
                self.counters.unnumbered += 1;
                Some(Transmit::Unnumbered)
            }
        }
    }

    /// The next frame of the replay; after the last one the sender advances (LLR-11).
    fn poll_replay(&mut self) -> Number {
        let number = self.outstanding.oldest().plus(self.replayed);
        self.replayed += 1;
        self.counters.replayed_frames += 1;
        self.advance_if_replayed();
        number
    }

    fn advance_if_replayed(&mut self) {
        if self.state == SenderState::Replay && self.replayed == self.outstanding.len() {
            self.state = SenderState::Advance;
        }
    }

    /// Frees everything up to `last_good`; false if that cannot be meant (LLR-9).
    #[inline]
    fn acknowledge(&mut self, now: Instant, last_good: Number) -> bool {
        if !self.is_numbering() {
            return false;
        }
        let Some(freed) = self.outstanding.release(last_good) else {
            self.counters.rx_ack_nack_seq_error += 1;
            return false;
        };
        if freed > 0 {
            self.released += freed;
            self.replays = 0; // LLR-13
            self.tries = 0;
            self.replayed = self.replayed.saturating_sub(freed);
            let waits = !self.outstanding.is_empty();
            self.retry = if waits { now + self.config.replay_timer } else { Instant::NEVER }; // LLR-12
            self.advance_if_replayed();
        }
        true
    }

    /// What follows `last_good` is missing (LLR-10, LLR-11).
    #[cold]
    fn handle_nack(&mut self, now: Instant, last_good: Number) {
        self.counters.rx_nack += 1;
        self.tries = 0;
        if self.acknowledge(now, last_good) && !self.outstanding.is_empty() {
            self.replay(now);
        }
    }

    /// Everything outstanding goes again, unless that was tried often enough (LLR-11, LLR-13).
    fn replay(&mut self, now: Instant) {
        if self.config.is_exhausted(self.replays) {
            return self.flush(now);
        }
        self.replays = self.replays.saturating_add(1);
        self.replayed = 0;
        self.tries = self.tries.saturating_add(1);
        self.state = SenderState::Replay;
        self.retry = now + self.config.wait(self.tries);
        self.counters.tx_replay += 1;
    }

    /// When the oldest outstanding frame is too old (LLR-14).
    #[inline]
    fn too_old(&self) -> Instant {
        let since = self.config.data_age_timeout.zip(self.outstanding.since());
        since.map_or(Instant::NEVER, |(timeout, since)| since + timeout)
    }
}
