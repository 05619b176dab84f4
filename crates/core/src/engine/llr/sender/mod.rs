//! The sending end: numbers frames and replays them (LLR-2..5, LLR-9..14).

mod starting;

use super::outstanding::Outstanding;
use super::{Control, FrameAction, Init, Number, SenderConfig, SenderCounters};
use crate::time::Instant;
use crate::units::Bytes;

/// The state of the sender; the transitions stand in `docs/protocols/llr.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderState {
    /// The link is not protected: frames go without a number.
    Off,
    /// INIT has been sent, or waits to be sent; its echo is awaited (LLR-15).
    Init,
    /// New frames are sent, with numbers (LLR-3).
    Advance,
    /// Outstanding frames are sent again, and new frames wait (LLR-11).
    Replay,
    /// The protection has given up, and waits to be started (LLR-16).
    Flush,
}

/// The next frame that the line carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// The outstanding frame with this number, again.
    Replay(Number),
    /// The waiting frame, with this number; the driver keeps the frame.
    Numbered(Number),
    /// The waiting frame, without a number.
    Unnumbered,
    /// No frame: the waiting frame is dropped.
    Discard,
}

/// The sending engine of one direction.
///
/// After every call that changes the sender, the driver takes [`poll_release`](Self::poll_release),
/// then the [`Outlet`](super::Outlet)'s control set, and while the line is free
/// [`poll_transmit`](Self::poll_transmit). It calls [`handle_timeout`](Self::handle_timeout) when
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
    /// INITs, or replays, since the receiver was last heard.
    tries: u32,
    /// The INIT that was sent last, or that waits to be sent.
    init: Init,
    wants_init: bool,
    /// When the replay timer ends; in [`SenderState::Init`], when INIT is repeated.
    retry: Instant,
    /// When the line will have been down for too long.
    line_down: Instant,
    released: u32,
    counters: SenderCounters,
}

impl Sender {
    /// Returns a sender that is off.
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

    /// Returns a sender whose INIT(`init`) was echoed before the run began.
    pub fn established(config: SenderConfig, init: Init) -> Self {
        let mut sender = Self::new(config);
        sender.outstanding.restart(init.number);
        Self { state: SenderState::Advance, init, ..sender }
    }

    /// Returns the parameters of the sender.
    pub const fn config(&self) -> &SenderConfig {
        &self.config
    }

    /// Returns the state of the sender.
    pub const fn state(&self) -> SenderState {
        self.state
    }

    /// Returns the counters of the sender.
    pub const fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// Returns the number that the next new frame will take.
    pub fn next(&self) -> Number {
        self.outstanding.next()
    }

    /// Returns the number of the oldest frame that the driver keeps, once the driver has taken
    /// [`poll_release`](Self::poll_release).
    #[inline]
    pub const fn oldest(&self) -> Number {
        self.outstanding.oldest()
    }

    /// Returns how many frames are outstanding.
    pub fn outstanding_frames(&self) -> u32 {
        self.outstanding.len()
    }

    /// Returns the bytes of the outstanding frames.
    pub const fn outstanding_bytes(&self) -> Bytes {
        self.outstanding.bytes()
    }

    /// Takes note that the line comes up, or goes down (LLR-14).
    pub fn handle_line(&mut self, now: Instant, is_up: bool) {
        self.line_down = match self.config.pcs_lost_timeout {
            Some(timeout) if !is_up && self.is_numbering() => self.line_down.min(now + timeout),
            _ => Instant::NEVER,
        };
    }

    /// Takes in a control set. Control sets for the receiver of the other direction are ignored.
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

    /// Returns when a timer of the sender next ends.
    #[inline]
    pub fn poll_timeout(&self) -> Instant {
        self.retry.min(self.line_down).min(self.too_old())
    }

    /// Carries out the timer that has ended by `now`: flushes, repeats INIT, or replays.
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

    /// Whether the line has a frame to carry, when a frame of `waiting` bytes waits, or none does.
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

    /// Returns the frame that the line, which is free at `now`, carries next, when a frame of
    /// `waiting` bytes waits, or none does (LLR-3, LLR-11, LLR-17).
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

    /// Counts the frame that was numbered last as poisoned: it is sent and replayed as any other
    /// frame (LLR-5).
    pub fn note_poisoned(&mut self) {
        self.counters.tx_poisoned += 1;
    }

    /// Returns how many of the oldest frames that the driver keeps are to be freed now.
    #[inline]
    pub fn poll_release(&mut self) -> u32 {
        core::mem::take(&mut self.released)
    }

    /// Whether frames may be outstanding.
    const fn is_numbering(&self) -> bool {
        matches!(self.state, SenderState::Advance | SenderState::Replay)
    }

    /// Returns the treatment of new frames in a state that does not number them (LLR-17).
    const fn action(&self) -> FrameAction {
        match self.state {
            SenderState::Init => self.config.init_action,
            SenderState::Flush => self.config.flush_action,
            _ => FrameAction::BestEffort,
        }
    }

    /// Treats a new frame in a state that does not number frames.
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

    /// Returns the next frame of the replay; after the last one the sender advances (LLR-11).
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

    /// Frees all frames up to `last_good`. Returns false if `last_good` cannot be an acknowledged
    /// number (LLR-9).
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

    /// Replays the frames after `last_good`, of which the receiver misses the first (LLR-10,
    /// LLR-11).
    #[cold]
    fn handle_nack(&mut self, now: Instant, last_good: Number) {
        self.counters.rx_nack += 1;
        self.tries = 0;
        if self.acknowledge(now, last_good) && !self.outstanding.is_empty() {
            self.replay(now);
        }
    }

    /// Starts a replay of all outstanding frames, or flushes if they were replayed often enough
    /// (LLR-11, LLR-13).
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

    /// Returns when the oldest outstanding frame is too old (LLR-14).
    #[inline]
    fn too_old(&self) -> Instant {
        let since = self.config.data_age_timeout.zip(self.outstanding.since());
        since.map_or(Instant::NEVER, |(timeout, since)| since + timeout)
    }
}
