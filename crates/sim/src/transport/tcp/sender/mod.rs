//! The sending host: connection, timers and the polling interface.

mod acknowledge;
mod losses;
mod timeouts;
mod transmit;

use crate::transport::tcp::bursts::Bursts;
use crate::transport::tcp::clock::Clock;
use crate::transport::tcp::config::Config;
use crate::transport::tcp::congestion::{Algorithm, Congestion, View};
use crate::transport::tcp::flow::Flow;
use crate::transport::tcp::handshake::Handshake;
use crate::transport::tcp::pacing::Pacing;
use crate::transport::tcp::packet::{Ack, Packet, SackBlocks};
use crate::transport::tcp::probe::Probe;
use crate::transport::tcp::prr::Reduction;
use crate::transport::tcp::rack::Rack;
use crate::transport::tcp::rate::DeliveryRate;
use crate::transport::tcp::recovery::State;
use crate::transport::tcp::rtt::RoundTrip;
use crate::transport::tcp::sack::SackCache;
use crate::transport::tcp::scoreboard::Scoreboard;
use crate::transport::tcp::statistics::Statistics;
use crate::transport::tcp::timers::{RepairTimer, SenderTimer};
use crate::transport::tcp::undo::Undo;
use crate::transport::tcp::window::Window;
use lossylink_core::time::{Duration, Instant};

/// What to send after an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// New segments only.
    Nothing,
    /// Lost segments, then new ones.
    Lost,
    /// New segments, to tell a spurious timeout; lost ones if there are none.
    NewThenLost,
}

/// What is left to send at this instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Idle,
    Lost,
    New,
    LostThenNew,
    NewThenLost,
}

/// The sender of one flow.
///
/// It does no I/O and reads no clock. The driver calls [`open`](Self::open) once, then
/// [`handle_packet`](Self::handle_packet) for every packet that arrives and
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) is due.
/// After each of these, at the same instant, it calls [`poll_transmit`](Self::poll_transmit) until
/// there is nothing more to send, and only then looks at `poll_timeout` again.
#[derive(Clone, Debug)]
pub struct Sender {
    pub(super) config: Config,
    pub(super) clock: Clock,
    handshake: Handshake,
    pub(super) flow: Flow,
    pub(super) board: Scoreboard,
    pub(super) sack_cache: SackCache,
    pub(super) rtt: RoundTrip,
    pub(super) rack: Rack,
    pub(super) probe: Probe,
    pub(super) reduction: Reduction,
    pub(super) undo: Undo,
    pub(super) window: Window,
    pub(super) congestion: Congestion,
    /// Kept only for algorithms that need it.
    pub(super) rate: DeliveryRate,
    pub(super) pacing: Pacing,
    pub(super) bursts: Bursts,
    pub(super) state: State,
    /// The state ends when everything before this segment is acknowledged.
    pub(super) recovery_end: u64,
    /// Timeouts since the last progress.
    pub(super) expiries: u32,
    /// F-RTO has not ruled out that the last timeout was spurious.
    pub(super) suspect_spurious: bool,
    /// The next new segment tells the receiver that the window was reduced.
    pub(super) announce_reduction: bool,
    pub(super) delivered_marked: u64,
    pub(super) timer: RepairTimer,
    pub(super) plan: Plan,
    /// Whether new segments left since the last acknowledgement or timer.
    pub(super) sent_since_ack: bool,
    pub(super) outbox: Option<Packet>,
    pub(super) statistics: Statistics,
}

impl Sender {
    /// A sender of `flow_bytes`, or of an endless flow, on a host whose timer ticks come at
    /// `tick_phase` and every tick thereafter.
    pub fn new(config: &Config, flow_bytes: Option<u64>, tick_phase: Duration) -> Self {
        let clock = Clock::new(config.tick, tick_phase);
        Self {
            rtt: RoundTrip::new(config.rto_min, &clock),
            clock,
            handshake: Handshake::new(),
            flow: Flow::new(config, flow_bytes),
            board: Scoreboard::new(),
            sack_cache: SackCache::default(),
            rack: Rack::new(),
            probe: Probe::default(),
            reduction: Reduction::default(),
            undo: Undo::new(),
            window: Window::new(config.initial_window),
            congestion: Congestion::new(config.congestion_control),
            rate: DeliveryRate::default(),
            pacing: Pacing::new(config.stack_rate),
            bursts: Bursts::new(config),
            state: State::Open,
            recovery_end: 0,
            expiries: 0,
            suspect_spurious: false,
            announce_reduction: false,
            delivered_marked: 0,
            timer: RepairTimer::default(),
            plan: Plan::Idle,
            sent_since_ack: false,
            outbox: None,
            statistics: Statistics::new(),
            config: config.clone(),
        }
    }

    /// Starts another flow on a new connection, keeping the memory of this one.
    pub fn reopen(&mut self, flow_bytes: Option<u64>, tick_phase: Duration) {
        let mut board = std::mem::replace(&mut self.board, Scoreboard::new());
        board.clear();
        *self = Self { board, ..Self::new(&self.config, flow_bytes, tick_phase) };
    }

    /// Requests the connection.
    pub fn open(&mut self, now: Instant) {
        assert!(self.handshake.is_closed(), "a connection opens once");
        self.clock.refresh(now);
        self.request();
    }

    /// Takes a packet from the receiver.
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet) {
        self.enter(now);
        match packet {
            Packet::SynAck if self.handshake.is_waiting() => self.establish(),
            // The handshake's last acknowledgement was lost: repeat it.
            Packet::SynAck if self.handshake.is_established() => self.outbox = Some(handshake_ack()),
            Packet::Ack(ack) if self.handshake.is_established() => self.take_ack(ack),
            _ => {}
        }
    }

    /// Acts on the timer if it is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.enter(now);
        while let Some(timer) = self.due_timer(now) {
            self.expire(timer);
        }
    }

    /// The next packet to leave at this instant, if any.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        let packet = if self.outbox.is_some() { self.outbox.take() } else { self.next_planned() };
        debug_assert!(packet.is_none() || now == self.clock.now(), "poll at the instant of the cause");
        packet
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due; [`Instant::NEVER`] without a timer.
    pub fn poll_timeout(&self) -> Instant {
        self.timer.deadline().min(self.pacing.deadline())
    }

    /// What was counted so far.
    pub const fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// When the first data packet left.
    pub const fn first_data_at(&self) -> Option<Instant> {
        self.flow.first_sent_at()
    }

    /// When the acknowledgement of the whole flow arrived.
    pub const fn completed_at(&self) -> Option<Instant> {
        self.flow.completed_at()
    }

    /// Congestion window, segments.
    pub const fn congestion_window(&self) -> u32 {
        self.window.size
    }

    /// Slow-start threshold, segments; 2^31 - 1 before any congestion.
    pub const fn slow_start_threshold(&self) -> u32 {
        self.window.threshold
    }

    /// The share of marked segments as the congestion control estimates it (DCTCP's alpha); `None`
    /// if it does not.
    pub fn marked_share(&self) -> Option<f64> {
        self.congestion.marked_share()
    }

    /// Where loss recovery stands.
    pub const fn state(&self) -> State {
        self.state
    }

    /// The armed timer of handshake and repair, if any; pacing has its own beside it.
    pub const fn timer(&self) -> Option<SenderTimer> {
        self.timer.armed()
    }

    /// Bytes cumulatively acknowledged.
    pub fn bytes_acknowledged(&self) -> u64 {
        self.flow.bytes_before(self.board.una())
    }

    /// Takes note of the time, and of the window that held until now.
    fn enter(&mut self, now: Instant) {
        let before_us = self.clock.micros();
        self.clock.refresh(now);
        if self.flow.first_sent_at().is_some() {
            self.statistics.note_window(self.window.size, self.clock.micros() - before_us);
        }
    }

    /// A timer that has to fire by `now`.
    fn due_timer(&self, now: Instant) -> Option<SenderTimer> {
        let is_due = |timer: &SenderTimer| timer.at() <= now;
        self.pacing.timer().filter(is_due).or_else(|| self.timer.armed().filter(is_due))
    }

    /// Acts on a timer; each is called off or armed for a later instant.
    fn expire(&mut self, timer: SenderTimer) {
        match timer {
            SenderTimer::Pacing(_) => {
                self.pacing.disarm();
                self.plan = Plan::LostThenNew;
            }
            SenderTimer::ConnectionRequest(_) => {
                self.rtt.back_off(&self.clock);
                self.request();
            }
            SenderTimer::RetransmissionTimeout(_) => {
                self.timer.disarm();
                self.handle_retransmission_timer();
            }
            SenderTimer::Reordering(_) => self.handle_reordering_timer(),
            SenderTimer::LossProbe(_) => self.handle_probe_timer(),
        }
    }

    /// Sends a connection request and waits for its answer. (TCP-1)
    fn request(&mut self) {
        self.outbox = Some(Packet::Syn);
        self.handshake.note_sent(self.clock.micros());
        self.arm(SenderTimer::ConnectionRequest, self.rtt.timeout());
    }

    /// The answer came: the connection stands. (TCP-2, TCP-3)
    fn establish(&mut self) {
        self.timer.disarm();
        let sample_us = self.handshake.complete(self.clock.micros());
        self.rtt.begin(sample_us, &self.clock);
        if let Some(sample_us) = sample_us {
            self.statistics.note_round_trip(sample_us);
        }
        if self.handshake.was_lossy() {
            self.window = Window::new(1);
        }
        let view = self.view();
        self.congestion.on_open(&self.window, &view);
        self.outbox = Some(handshake_ack());
        self.plan = Plan::New;
    }

    /// What the congestion control may know now.
    pub(super) fn view(&self) -> View {
        View {
            now_us: self.clock.micros(),
            jiffies: self.clock.jiffies(),
            hertz: self.clock.hertz(),
            una: self.board.una(),
            next: self.board.next(),
            delivered: self.statistics.segments_delivered,
            delivered_marked: self.delivered_marked,
            lost: self.statistics.segments_lost,
            state: self.state,
            outstanding: self.board.outstanding(),
            in_flight: self.board.in_flight(),
            least_us: self.rtt.minimum_us(),
            paced_until_us: self.pacing.free_at_us(),
            payload: self.flow.payload(),
            smoothed_eighths: self.rtt.smoothed_eighths(),
        }
    }

    /// Arms the sender's one timer for `length` jiffies, in place of whatever was armed.
    pub(super) fn arm(&mut self, timer: fn(Instant) -> SenderTimer, length: u64) {
        self.timer.arm(timer, length, &self.clock);
    }
}

/// The last packet of the handshake.
fn handshake_ack() -> Packet {
    Packet::Ack(Ack { next: 0, sack: SackBlocks::default(), ecn_echo: false, ecn_capable: false, echo: 0 })
}
