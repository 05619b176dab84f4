//! The sending host: connection, timers and the polling interface.

mod acknowledge;
#[cfg(feature = "fast")]
mod fast;
mod losses;
mod react;
mod reductions;
mod sacks;
mod timeouts;
mod transmit;

use super::bursts::Bursts;
use super::clock::Clock;
use super::config::Config;
use super::congestion::{Algorithm, Congestion, View};
use super::flow::Flow;
use super::handshake::Handshake;
use super::outgoing::{Outgoing, Plan};
use super::pacing::Pacing;
use super::packet::{Ack, Packet, SackBlocks};
use super::probe::Probe;
use super::rack::Rack;
use super::rate::DeliveryRate;
use super::recovery::Recovery;
use super::recovery_state::State;
use super::reduction::Reduction;
use super::rtt::RoundTrip;
use super::sack::SackCache;
use super::scoreboard::Scoreboard;
use super::statistics::Statistics;
use super::timers::{RepairTimer, SenderTimer};
use super::undo::Undo;
use super::window::Window;
use lossylink_core::time::{Duration, Instant};

/// The sender of one flow.
///
/// The sender does no I/O and reads no clock. The driver calls [`open`](Self::open) once, then
/// [`handle_packet`](Self::handle_packet) for every packet that arrives and
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) is due. After each
/// of these, at the same instant, the driver calls [`poll_transmit`](Self::poll_transmit) until there is
/// no packet left to send, and only then looks at `poll_timeout` again.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Config,
    clock: Clock,
    handshake: Handshake,
    flow: Flow,
    board: Scoreboard,
    sacks: SackCache,
    rtt: RoundTrip,
    rack: Rack,
    probe: Probe,
    reduction: Reduction,
    undo: Undo,
    window: Window,
    congestion: Congestion,
    /// Stamps for rate samples, kept only for algorithms that need them.
    rate: DeliveryRate,
    pacing: Pacing,
    bursts: Bursts,
    recovery: Recovery,
    timer: RepairTimer,
    outgoing: Outgoing,
    statistics: Statistics,
}

impl Sender {
    /// Returns a sender of `flow_bytes`, or of an endless flow, on a host whose timer ticks come at
    /// `tick_phase` and every tick thereafter.
    pub fn new(config: &Config, flow_bytes: Option<u64>, tick_phase: Duration) -> Self {
        Self::with_board(Scoreboard::new(), config, flow_bytes, tick_phase)
    }

    fn with_board(board: Scoreboard, config: &Config, flow_bytes: Option<u64>, tick_phase: Duration) -> Self {
        let clock = Clock::of(config, tick_phase);
        Self {
            rtt: RoundTrip::new(config.rto_min, &clock),
            clock,
            handshake: Handshake::new(),
            flow: Flow::new(config, flow_bytes),
            board,
            sacks: SackCache::default(),
            rack: Rack::new(),
            probe: Probe::default(),
            reduction: Reduction::default(),
            undo: Undo::new(),
            window: Window::new(config.initial_window),
            congestion: Congestion::new(config.congestion_control),
            rate: DeliveryRate::default(),
            pacing: Pacing::new(config.stack_rate),
            bursts: Bursts::new(config),
            recovery: Recovery::new(),
            timer: RepairTimer::default(),
            outgoing: Outgoing::new(),
            statistics: Statistics::new(),
            config: config.clone(),
        }
    }

    /// Starts another flow on a new connection, keeping the memory of this one.
    pub fn reopen(&mut self, flow_bytes: Option<u64>, tick_phase: Duration) {
        let board = self.board.reopen();
        *self = Self::with_board(board, &self.config, flow_bytes, tick_phase);
    }

    /// Requests the connection.
    pub fn open(&mut self, now: Instant) {
        assert!(self.handshake.is_closed(), "a connection opens once");
        self.clock.refresh(now);
        self.request();
    }

    /// Begins to send on a connection that stands and has measured this round trip, without a handshake.
    pub fn resume(&mut self, now: Instant, round_trip_us: u64) {
        assert!(self.handshake.is_closed(), "a connection opens once");
        self.clock.refresh(now);
        self.handshake.skip();
        self.begin(Some(round_trip_us));
    }

    /// Takes a packet from the receiver.
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet) {
        self.enter(now);
        match packet {
            Packet::SynAck if self.handshake.is_waiting() => self.establish(),
            // The handshake's last acknowledgement was lost, and is repeated.
            Packet::SynAck if self.handshake.is_established() => self.outgoing.put(handshake_ack()),
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

    /// Returns the next packet to leave at this instant, if any.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        let packet = self.outgoing.take_packet().or_else(|| self.next_planned());
        debug_assert!(packet.is_none() || now == self.clock.now(), "poll at the instant of the cause");
        packet
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) is due; [`Instant::NEVER`] without a timer.
    pub fn poll_timeout(&self) -> Instant {
        self.timer.poll_timeout().min(self.pacing.poll_timeout())
    }

    /// Returns the counters so far.
    pub const fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns when the first data packet left.
    pub const fn first_data_at(&self) -> Option<Instant> {
        self.flow.first_sent_at()
    }

    /// Returns when the acknowledgement of the whole flow arrived.
    pub const fn completed_at(&self) -> Option<Instant> {
        self.flow.completed_at()
    }

    /// Returns the congestion window, segments.
    pub const fn congestion_window(&self) -> u32 {
        self.window.size
    }

    /// Returns the slow-start threshold, segments; 2^31 - 1 before any congestion.
    pub const fn slow_start_threshold(&self) -> u32 {
        self.window.threshold
    }

    /// Returns the share of marked segments as the congestion control estimates it (DCTCP's alpha); `None`
    /// if it does not.
    pub fn marked_share(&self) -> Option<f64> {
        self.congestion.marked_share()
    }

    /// Returns the state of loss recovery.
    pub const fn state(&self) -> State {
        self.recovery.state()
    }

    /// Returns the armed timer of handshake and repair, if any. Pacing has a timer of its own beside it.
    pub const fn timer(&self) -> Option<SenderTimer> {
        self.timer.armed()
    }

    /// Returns the bytes cumulatively acknowledged.
    pub fn bytes_acknowledged(&self) -> u64 {
        self.flow.bytes_before(self.board.una())
    }

    /// Returns the bytes of the flow that have not been sent; `None` for an endless flow.
    pub fn bytes_unsent(&self) -> Option<u64> {
        self.flow.bytes_from(self.board.next())
    }

    /// Sets the clock to `now`, and counts the window that held until then.
    fn enter(&mut self, now: Instant) {
        let before_us = self.clock.micros();
        self.clock.refresh(now);
        if self.flow.first_sent_at().is_some() {
            self.statistics.note_window(self.window.size, self.clock.micros() - before_us);
        }
    }

    /// Returns a timer that has to fire by `now`.
    fn due_timer(&self, now: Instant) -> Option<SenderTimer> {
        let is_due = |timer: &SenderTimer| timer.at() <= now;
        self.pacing.timer().filter(is_due).or_else(|| self.timer.armed().filter(is_due))
    }

    /// Acts on a timer. Each timer is disarmed by that, or armed for a later instant.
    fn expire(&mut self, timer: SenderTimer) {
        match timer {
            SenderTimer::Pacing(_) => {
                self.pacing.disarm();
                self.outgoing.set_plan(Plan::LostThenNew);
            }
            SenderTimer::ConnectionRequest(_) => {
                self.rtt.back_off(&self.clock);
                self.request();
            }
            SenderTimer::RetransmissionTimeout(_) => self.handle_retransmission_timer(),
            SenderTimer::Reordering(_) => self.handle_reordering_timer(),
            SenderTimer::LossProbe(_) => self.handle_probe_timer(),
        }
    }

    /// Sends a connection request and waits for its answer. (TCP-1)
    fn request(&mut self) {
        self.outgoing.put(Packet::Syn);
        self.handshake.note_sent(self.clock.micros());
        self.timer.arm(SenderTimer::ConnectionRequest, self.rtt.timeout(), &self.clock);
    }

    /// Ends the handshake on the answer to the request. (TCP-2, TCP-3)
    fn establish(&mut self) {
        self.timer.disarm();
        let sample_us = self.handshake.complete(self.clock.micros());
        if let Some(sample_us) = sample_us {
            self.statistics.note_round_trip(sample_us);
        }
        if self.handshake.was_lossy() {
            self.window = Window::new(1);
        }
        self.outgoing.put(handshake_ack());
        self.begin(sample_us);
    }

    /// Begins to send data on a connection that stands.
    fn begin(&mut self, sample_us: Option<u64>) {
        self.rtt.begin(sample_us, &self.clock);
        let view = self.view();
        self.congestion.on_open(&self.window, &view);
        self.outgoing.set_plan(Plan::New);
    }

    /// Returns the state of the connection that the congestion control may know now.
    fn view(&self) -> View {
        View {
            now_us: self.clock.micros(),
            jiffies: self.clock.jiffies(),
            hertz: self.clock.hertz(),
            una: self.board.una(),
            next: self.board.next(),
            delivered: self.statistics.segments_delivered,
            delivered_marked: self.statistics.segments_marked,
            lost: self.statistics.segments_lost,
            state: self.recovery.state(),
            outstanding: self.board.outstanding(),
            in_flight: self.board.in_flight(),
            least_us: self.rtt.minimum_us(),
            paced_until_us: self.pacing.free_at_us(),
            payload: self.flow.payload(),
            smoothed_eighths: self.rtt.smoothed_eighths(),
        }
    }
}

/// Returns the last packet of the handshake.
fn handshake_ack() -> Packet {
    Packet::Ack(Ack { next: 0, sack: SackBlocks::default(), ecn_echo: false, ecn_capable: false, echo: 0 })
}
