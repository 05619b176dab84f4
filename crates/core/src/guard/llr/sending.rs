//! The sending end on whole frames: numbers frames, keeps them, sends them again (LLR-3, LLR-11, LLR-25).

use super::frames;
use super::pace::{Link, MOST_BYTES, MOST_FRAMES, Pace};
use crate::engine::llr::report::SendingState;
use crate::engine::llr::{Control, FrameAction, Sender, SenderConfig, SenderState, Transmit};
use crate::guard::{Frame, FramePool, Surroundings};
use crate::protection::Llr;
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use alloc::collections::VecDeque;

/// The timer of the engine itself, as short as any, because [`Sending::due`] puts off its deadlines.
const ENGINE_TIMER: Duration = Duration::from_us(1);

/// The sending engine, and the frames that it has outstanding.
#[derive(Debug)]
pub(super) struct Sending {
    engine: Sender,
    pace: Pace,
    /// The original frames, oldest first.
    kept: VecDeque<Frame>,
    /// The longest frame that may come, in bytes; known once INIT has left.
    longest: Bytes,
    most_held: Bytes,
}

impl Sending {
    /// Returns a sending end that is off.
    pub(super) fn new(link: Link, options: &Llr) -> Self {
        let config = config(options);
        let kept = VecDeque::with_capacity(config.outstanding_frames_max as usize);
        Self {
            engine: Sender::new(config),
            pace: Pace::new(link, options),
            kept,
            longest: Bytes::ZERO,
            most_held: Bytes::ZERO,
        }
    }

    pub(super) fn engine(&self) -> &Sender {
        &self.engine
    }

    pub(super) fn engine_mut(&mut self) -> &mut Sender {
        &mut self.engine
    }

    /// Takes in the loop as measured at present.
    pub(super) fn note(&mut self, loop_time: Option<Duration>) {
        self.pace.note(loop_time);
    }

    /// Ends the session. Outstanding frames go back to the pool, and no frame is numbered until
    /// [`open`](Self::open) (LLR-26).
    pub(super) fn close(&mut self, now: Instant, pool: &mut FramePool) {
        if self.engine.state() != SenderState::Off {
            self.engine.start(now, self.engine.next_init());
            self.engine.leave(now);
            self.release(pool);
        }
    }

    /// Sends INIT, once in a session, when both guards know each other (LLR-26).
    pub(super) fn open(&mut self, now: Instant, pool: &FramePool) {
        if self.engine.state() == SenderState::Off {
            self.longest = Bytes(pool.longest() as u64);
            self.engine.start(now, self.engine.next_init());
        }
    }

    /// Whether a frame for an otherwise idle link waits: the first INIT, or a replay.
    pub(super) fn has_fill(&self) -> bool {
        matches!(self.engine.state(), SenderState::Off | SenderState::Replay)
    }

    /// Whether the longest frame may leave (LLR-4, LLR-25).
    pub(super) fn may_send(&self) -> bool {
        match self.engine.state() {
            SenderState::Off => self.engine.config().init_action != FrameAction::Block,
            SenderState::Replay => false,
            SenderState::Advance if !self.is_within_loop() => false,
            _ => self.engine.wants_transmit(Some(self.longest)),
        }
    }

    /// Whether the window of the loop has room for the longest frame. One frame may always be outstanding.
    fn is_within_loop(&self) -> bool {
        let frames = self.engine.outstanding_frames();
        frames == 0 || self.engine.outstanding_bytes() + self.longest <= self.pace.window()
    }

    /// Sends a frame that leaves the queue (LLR-3, LLR-17).
    pub(super) fn transmit(&mut self, around: &mut Surroundings<'_>, frame: Frame) {
        // A frame that could not be sent must not be numbered: the other end would wait for it.
        let Some(mut out) = around.empty_frame() else { return around.pool.give_back(frame) };
        let bytes = Bytes(frame.len() as u64);
        match self.engine.poll_transmit(around.now, Some(bytes)) {
            Some(Transmit::Numbered(number)) => {
                frames::write(&mut out, &frame, number, false, around.seal);
                around.to_link.push_back(out);
                self.kept.push_back(frame);
                self.most_held = self.most_held.max(self.engine.outstanding_bytes());
            }
            Some(Transmit::Unnumbered) => {
                around.pool.give_back(out);
                around.to_link.push_back(frame);
            }
            Some(Transmit::Discard) => {
                around.pool.give_back(out);
                around.pool.give_back(frame);
            }
            Some(Transmit::Replay(_)) | None => unreachable!("`may_send` lets no new frame leave"),
        }
    }

    /// Returns the next frame of a replay, while there is one (LLR-11). If no frame of the pool is free
    /// the replayed frame comes later, or the replay timer ends a replay that cannot be sent.
    pub(super) fn replay(&mut self, around: &mut Surroundings<'_>) -> Option<Frame> {
        if self.engine.state() != SenderState::Replay {
            return None;
        }
        let mut out = around.pool.empty()?;
        let Some(Transmit::Replay(number)) = self.engine.poll_transmit(around.now, None) else {
            unreachable!("a replay has a frame to send");
        };
        let place = number.steps_after(self.engine.oldest()) as usize;
        frames::write(&mut out, &self.kept[place], number, true, around.seal);
        Some(out)
    }

    /// Takes in a control set.
    pub(super) fn handle_control(&mut self, now: Instant, control: Control, pool: &mut FramePool) {
        self.engine.handle_control(now, control);
        self.release(pool);
    }

    /// Returns when the replay timer ends: the engine's time, put off to the timer in force.
    pub(super) fn due(&self) -> Instant {
        self.engine.poll_timeout().saturating_add(self.pace.timer().saturating_sub(ENGINE_TIMER))
    }

    /// Carries out the end of the replay timer, if it has ended (LLR-12, LLR-13).
    pub(super) fn handle_timeout(&mut self, now: Instant, pool: &mut FramePool) {
        if self.due() <= now {
            self.engine.handle_timeout(now);
            self.release(pool);
        }
    }

    fn release(&mut self, pool: &mut FramePool) {
        let freed = self.engine.poll_release() as usize;
        self.kept.drain(..freed).for_each(|frame| pool.give_back(frame));
    }

    /// Returns the figures of the sending end. The sizes are those of the loop, not the engine's.
    pub(super) fn state(&self) -> SendingState {
        SendingState {
            window: self.pace.window(),
            timer: self.pace.timer(),
            is_raised: Some(self.pace.is_raised()),
            ..SendingState::of(&self.engine, self.most_held)
        }
    }
}

/// Returns the chosen options as parameters of the engine. The loop, which changes, is left to [`Pace`].
fn config(options: &Llr) -> SenderConfig {
    SenderConfig {
        outstanding_frames_max: options.frames.unwrap_or(MOST_FRAMES),
        outstanding_bytes_max: options.bytes.map_or(MOST_BYTES, |bytes| Bytes(u64::from(bytes))),
        replay_timer: ENGINE_TIMER,
        replay_count_max: u8::try_from(options.replays).expect("the options have been checked"),
        pcs_lost_timeout: None,
        data_age_timeout: None,
        init_action: options.init,
        flush_action: options.flush,
        re_init_on_flush: options.reinit,
    }
}
