//! LinkGuardian's counters in the words of the report: the state of both ends, by the fields of the published
//! artifact.

use super::{
    Acknowledgement, Backpressure, PauseState, Position, Receiver, ReceiverCounters, Sender, SenderCounters,
    Thresholds,
};
use crate::engine::report::{Counter, Group};
use crate::units::Bytes;
use alloc::vec;

/// Figures of the sending end, and of the copies that its driver keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendingState {
    /// The engine's counters.
    pub engine: SenderCounters,
    /// The number that the next frame takes.
    pub next: Position,
    /// The last position up to which every frame has arrived or is known to be lost.
    pub leading_ack: Position,
    /// Lost positions whose copies have not been sent again yet.
    pub holes: u32,
    /// Copies of each retransmission.
    pub copies: u8,
    /// Positions sent and not acknowledged.
    pub outstanding: u32,
    /// Dummies that are still to follow the last data frame.
    pub dummies_due: u8,
    /// Frames kept as copies.
    pub kept: u64,
    /// Bytes of frames kept.
    pub held: Bytes,
    /// The most bytes ever kept.
    pub most_held: Bytes,
    /// Copies given up to make room.
    pub evicted: u64,
}

impl SendingState {
    /// Returns the figures that the engine knows. The copies are left at zero, because its driver keeps them.
    pub fn of(engine: &Sender) -> Self {
        Self {
            engine: *engine.counters(),
            next: engine.next(),
            leading_ack: engine.leading_ack(),
            holes: engine.holes(),
            copies: engine.config().copies,
            outstanding: engine.outstanding(),
            dummies_due: engine.dummies_due(),
            ..Self::default()
        }
    }

    /// Returns the counters of the sending end in the words of the report.
    pub fn group(&self) -> Group {
        let engine = &self.engine;
        let counters = vec![
            Counter::level("next_seq", "Number that the next frame takes.", u64::from(self.next.number())),
            Counter::level("next_seq_era", "Era of that number.", era(self.next)),
            Counter::level(
                "leading_ack",
                "Number up to which all has arrived or is known to be lost.",
                u64::from(self.leading_ack.number()),
            ),
            Counter::level("leading_ack_era", "Era of that number.", era(self.leading_ack)),
            Counter::level("outstanding", "Frames sent and not acknowledged.", u64::from(self.outstanding)),
            Counter::level(
                "holes",
                "Lost positions that have not been sent again yet.",
                u64::from(self.holes),
            ),
            Counter::level("copies", "Copies of each retransmission.", u64::from(self.copies)),
            Counter::level(
                "dummies_due",
                "Dummies that are still to follow the last data frame.",
                u64::from(self.dummies_due),
            ),
            Counter::new("data", "Data frames numbered.", engine.data),
            Counter::new("dummies", "Dummies sent.", engine.dummies),
            Counter::new(
                "retransmitted",
                "Lost frames sent again, each in all its copies.",
                engine.retransmitted,
            ),
            Counter::new("acks", "Acknowledgements taken in, piggy-backed and explicit.", engine.acks),
            Counter::new("notifications", "Loss notifications taken in.", engine.notifications),
            Counter::new(
                "notifications_repeated",
                "Of them those that said nothing new: further copies.",
                engine.repeated,
            ),
            Counter::new(
                "beyond_cap",
                "Lost positions not asked for again, being beyond the cap.",
                engine.beyond_cap,
            ),
            Counter::new("out_of_range", "Acknowledged positions that were never sent.", engine.out_of_range),
            Counter::level("buffer_frames", "Copies kept.", self.kept),
            Counter::level(
                "buffer_bytes",
                "Bytes of copies kept; of a recirculation loop, those in its queue.",
                self.held.0,
            ),
            Counter::level("buffer_max_bytes", "The most of these bytes ever.", self.most_held.0),
            Counter::new("copies_evicted", "Copies given up for want of room.", self.evicted),
        ];
        Group { name: "sender", counters }
    }
}

/// Figures of the receiving end, and of the frames that its driver keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceivingState {
    /// The engine's counters.
    pub engine: ReceiverCounters,
    /// The number that the next new frame should carry.
    pub expected: Position,
    /// The position to be handed on next, in order.
    pub next: Option<Position>,
    /// The last position up to which every frame has arrived or been asked for.
    pub leading: Position,
    /// How many more times `leading` is to be acknowledged.
    pub acks_due: u8,
    /// Copies of each loss notification, pause and resume.
    pub control_copies: u8,
    /// Frames held and given up by an end that keeps order.
    pub order: Option<OrderState>,
    /// Backpressure, if the end has it.
    pub pausing: Option<PausingState>,
    /// The timer packets of an ordered end that has them.
    pub timer: Option<TimerState>,
}

/// Frames held for their turn, and frames given up or dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderState {
    /// Positions given up after their wait.
    pub given_up: u64,
    /// Bytes in the reorder buffer.
    pub held: Bytes,
    /// The most bytes ever in the reorder buffer.
    pub most_held: Bytes,
    /// Frames for which the reorder buffer had no room.
    pub overflowed: u64,
}

/// Pauses and resumes that the receiving end asks the sending end for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PausingState {
    /// Depths of the reorder buffer at which the end pauses and resumes.
    pub thresholds: Thresholds,
    /// Whether the sender was told to stop.
    pub is_paused: bool,
    /// Pauses sent.
    pub pauses: u64,
    /// Resumes sent.
    pub resumes: u64,
}

impl From<&Backpressure> for PausingState {
    fn from(pausing: &Backpressure) -> Self {
        Self {
            thresholds: *pausing.thresholds(),
            is_paused: pausing.state() == PauseState::Paused,
            pauses: pausing.pauses(),
            resumes: pausing.resumes(),
        }
    }
}

/// The countdown and the number of timer packets (LG-21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerState {
    /// Countdown of the present wait; its start while no position is missing.
    pub time_remaining: u32,
    /// Timer packets that passed and gave nothing up.
    pub passed: u64,
}

impl ReceivingState {
    /// Returns the figures that engine and register know. Copies, buffer, backpressure and timers are their
    /// driver's.
    pub fn of(engine: &Receiver, register: &Acknowledgement) -> Self {
        Self {
            engine: engine.counters(),
            expected: engine.expected(),
            next: engine.as_ordered().map(|side| side.next()),
            leading: register.leading(),
            acks_due: register.pending(),
            ..Self::default()
        }
    }

    /// Returns the counters of the receiving end in the words of the report.
    pub fn group(&self) -> Group {
        let engine = &self.engine;
        let mut counters = vec![
            Counter::level(
                "expected_seq",
                "Number that the next new frame should carry.",
                u64::from(self.expected.number()),
            ),
            Counter::level("expected_seq_era", "Era of that number.", era(self.expected)),
            Counter::level(
                "ack",
                "Number to be handed on next, in order.",
                self.next.map(|next| u64::from(next.number())),
            ),
            Counter::level("ack_era", "Era of that number.", self.next.map(era)),
            Counter::level(
                "leading_ack",
                "Number up to which all has arrived or been asked for.",
                u64::from(self.leading.number()),
            ),
            Counter::level("leading_ack_era", "Era of that number.", era(self.leading)),
            Counter::level(
                "ack_pending",
                "How many more times that number is to be acknowledged.",
                u64::from(self.acks_due),
            ),
            Counter::level(
                "control_copies",
                "Copies of each loss notification, pause and resume.",
                u64::from(self.control_copies),
            ),
            Counter::new("data", "Data frames that arrived for the first time.", engine.data),
            Counter::new("retransmissions", "Retransmitted copies that arrived.", engine.retransmissions),
            Counter::new("dummies", "Dummies that arrived.", engine.dummies),
            Counter::new("lost", "Positions found to be missing.", engine.lost),
            Counter::new("recovered", "Of them those handed on after all.", engine.recovered),
            Counter::new(
                "unreported",
                "Of them those beyond the 255 of a loss notification.",
                engine.unreported,
            ),
            Counter::new("notifications", "Loss notifications made.", engine.notifications),
            Counter::new("forwarded", "Frames handed on, held ones included.", engine.forwarded),
            Counter::new(
                "duplicates",
                "Copies dropped because their position had been dealt with.",
                engine.duplicates,
            ),
            Counter::new("stale", "Numbered frames behind the expected position.", engine.stale),
        ];
        counters.extend(self.order.iter().flat_map(OrderState::counters));
        counters.extend(self.pausing.iter().flat_map(PausingState::counters));
        counters.extend(self.timer.iter().flat_map(TimerState::counters));
        Group { name: "receiver", counters }
    }
}

impl OrderState {
    fn counters(&self) -> [Counter; 4] {
        [
            Counter::new("given_up", "Positions given up after their wait.", self.given_up),
            Counter::level("buffer_bytes", "Bytes in the reorder buffer.", self.held.0),
            Counter::level(
                "buffer_max_bytes",
                "The most bytes ever in the reorder buffer.",
                self.most_held.0,
            ),
            Counter::new(
                "buffer_overflowed",
                "Frames for which the reorder buffer had no room.",
                self.overflowed,
            ),
        ]
    }
}

impl PausingState {
    fn counters(&self) -> [Counter; 5] {
        let Thresholds { pause_bytes, resume_bytes } = self.thresholds;
        [
            Counter::level("paused", "Whether the sender was told to stop.", self.is_paused),
            Counter::new("pauses", "Pauses asked for.", self.pauses),
            Counter::new("resumes", "Resumes asked for.", self.resumes),
            Counter::level("pause_bytes", "Depth of the reorder buffer that pauses the sender.", pause_bytes),
            Counter::level("resume_bytes", "Depth of it that lets a paused sender go on.", resume_bytes),
        ]
    }
}

impl TimerState {
    fn counters(&self) -> [Counter; 2] {
        [
            Counter::level(
                "time_remaining",
                "Timer packets that the missing frame is waited for; the start of that count while none is.",
                u64::from(self.time_remaining),
            ),
            Counter::new("timer_packets", "Timer packets that passed and gave nothing up.", self.passed),
        ]
    }
}

fn era(position: Position) -> u64 {
    u64::from(position.era())
}
