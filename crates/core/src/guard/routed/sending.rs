//! The sending end on whole frames: numbers frames, keeps them, repeats those that are asked for and paid, and sends
//! repairs ahead (RT-9, RT-10, RT-13, RT-14, RT-16, RT-17).

use super::code::{Field, MOST_COVERED, Pace, add_body, weight};
use super::headers::{Choice, Models};
use super::receiver::MOST_REQUESTS;
use super::{Credit, extended, frames, low};
use crate::guard::{Frame, FramePool, Surroundings, WHOLE_SEAL};
use crate::time::{Duration, Instant};
use crate::wire::MINIMUM_FRAME;
use crate::wire::ethernet::EthernetHeader;
use crate::wire::routed::{self, DataHeader, Entry, REPAIR_HEADER, UNREAD, Whole};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

/// The most frames, and the most bytes, that are kept of those sent (RT-13).
const MOST_FRAMES: usize = 1 << 15;
const MOST_BYTES: u64 = 32 << 20;
/// How often an end that has no more frames to send tells how far it has sent, and the least time before the first
/// telling (RT-13).
const TOLD: u8 = 3;
const LEAST_IDLE: Duration = Duration::from_ms(1);
/// The loop that is assumed before it is measured.
const UNMEASURED: Duration = Duration::from_ms(80);
/// The part of a loop after which an idle end first tells how far it has sent: one over this.
const IDLE_PART: u64 = 8;

/// Events at the sending end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SendingCounters {
    /// Frames sent for the first time.
    pub(super) data: u64,
    /// Bytes of frames sent for the first time, sealed.
    pub(super) data_bytes: u64,
    /// Frames sent for the first time that left with short headers.
    pub(super) short: u64,
    /// Repetitions, copies included.
    pub(super) repeated: u64,
    /// Bytes of the repetitions.
    pub(super) repeated_bytes: u64,
    /// Repairs sent ahead, and their bytes.
    pub(super) repairs: u64,
    pub(super) repair_bytes: u64,
    /// Frames that were asked for and not repeated for want of credit.
    pub(super) unpaid: u64,
    /// Frames that were asked for and not kept any more.
    pub(super) not_kept: u64,
}

/// A frame that may be asked for.
#[derive(Debug)]
struct Kept {
    /// The frame as the LAN gave it.
    frame: Frame,
    /// The form in which the frame left for the first time.
    choice: Choice,
}

/// The frames of one session that may be asked for.
#[derive(Debug, Default)]
pub(super) struct Sending {
    /// The number of the oldest frame that is kept.
    first: u64,
    kept: VecDeque<Kept>,
    held_bytes: u64,
    models: Models,
    credit: Credit,
    pace: Pace,
    /// Numbers to be sent again, each with its repetition: paid, and waiting for their turn (RT-16).
    waiting: VecDeque<(u64, u8)>,
    /// When the last repetition would have left without a burst, and when the next may leave.
    last_turn: Instant,
    next_turn: Instant,
    /// When to tell how far was sent, and how often that was told since the last frame.
    tell_at: Option<Instant>,
    told: u8,
    /// The sum of a repair.
    sum: Vec<u8>,
    counters: SendingCounters,
}

impl Sending {
    /// Returns the number of the next frame.
    pub(super) fn next(&self) -> u64 {
        self.first + self.kept.len() as u64
    }

    pub(super) fn counters(&self) -> SendingCounters {
        self.counters
    }

    /// Returns the number of frames and bytes that are kept.
    pub(super) fn kept(&self) -> (u64, u64) {
        (self.kept.len() as u64, self.held_bytes)
    }

    pub(super) fn credit(&self) -> &Credit {
        &self.credit
    }

    /// Begins a new session: numbers from zero, no frame kept.
    pub(super) fn start_over(&mut self, pool: &mut FramePool) {
        while self.forget_oldest(pool) {}
        self.first = 0;
        self.models.start_over();
        self.waiting.clear();
        self.pace.start_over();
        self.credit.start_over();
        (self.tell_at, self.told) = (None, 0);
    }

    fn forget_oldest(&mut self, pool: &mut FramePool) -> bool {
        let Some(Kept { frame, .. }) = self.kept.pop_front() else { return false };
        self.first += 1;
        self.held_bytes -= frame.len() as u64;
        pool.give_back(frame);
        true
    }

    /// Sends a frame that cannot be asked for.
    pub(super) fn pass(&self, around: &mut Surroundings<'_>, frame: &Frame) {
        frames::send(around, &self.models, (0, 0), Choice::Whole, frame);
    }

    /// Sends a frame of the LAN and keeps it. Returns whether a repair is due (RT-14).
    pub(super) fn take(&mut self, around: &mut Surroundings<'_>, frame: Frame) -> bool {
        let number = self.next();
        let (is_bare, contents) = frames::contents(&frame);
        let choice = self.models.choose(number, contents, is_bare);
        // A frame without room in the pool is lost as on the path, and can be asked for.
        let bytes = frames::send(around, &self.models, (number, 0), choice, &frame).unwrap_or(0);
        self.counters.short += u64::from(matches!(choice, Choice::Short(_)));
        self.counters.data += 1;
        self.counters.data_bytes += bytes;
        self.credit.note_loop(around.now, around.loop_time);
        self.credit.earn(bytes);
        self.held_bytes += frame.len() as u64;
        self.kept.push_back(Kept { frame, choice });
        while self.kept.len() > MOST_FRAMES || self.held_bytes > MOST_BYTES {
            self.forget_oldest(around.pool);
        }
        self.told = 0;
        self.tell_at = Some(around.now + idle(around.loop_time));
        self.pace.take(around.now, around.loop_time, &self.credit)
    }

    /// Whether an idle end is to send a repair in place of telling how far it has sent (RT-14).
    pub(super) fn is_repair_due_at_rest(&self) -> bool {
        self.told == 0 && self.pace.is_due_at_rest(&self.credit)
    }

    /// Returns the repairs per frame, in ten-thousandths.
    pub(super) fn repairs_share(&self) -> u64 {
        self.pace.share(&self.credit)
    }

    /// Appends a repair of the frames that the receiving end may miss. Returns `false` if it cannot be paid.
    pub(super) fn repair(&mut self, field: &dyn Field, out: &mut Vec<u8>) -> bool {
        self.pace.sent();
        let covered = (self.kept.len() as u64).min(MOST_COVERED);
        let (end, start) = (self.next(), self.next() - covered);
        let covering = self.kept.range(self.kept.len() - covered as usize..);
        let mut sum = mem::take(&mut self.sum);
        sum.clear();
        for (number, kept) in (start..).zip(covering) {
            let (is_bare, contents) = frames::contents(&kept.frame);
            let whole = Whole { is_bare, is_model: kept.choice == Choice::Model };
            // The padding of a short datagram travels: the receiving end cannot tell it from contents.
            let length = contents.len().max(LEAST_CONTENTS);
            add_body(field, weight(number, end), (whole, length), contents, &mut sum);
        }
        let bytes = sum.len() as u64 + REPAIR_HEADERS;
        let is_paid = covered > 0 && self.credit.pay(bytes);
        if is_paid {
            routed::append_repair(out, low(end), covered as u8);
            out.extend_from_slice(&sum);
            self.counters.repairs += 1;
            self.counters.repair_bytes += bytes;
        }
        self.sum = sum;
        is_paid
    }

    /// Takes note that the receiving end has settled all numbers before the number that ends in these bits.
    pub(super) fn settle(&mut self, bits: u32, pool: &mut FramePool) {
        let settled = extended(bits, self.next()).min(self.next());
        self.models.settle(settled);
        while self.first < settled {
            self.forget_oldest(pool);
        }
    }

    /// Takes in a request for these numbers. Repetitions that can be paid wait for their turn. Numbers that will not come
    /// are noted in `gone`.
    pub(super) fn handle_request(&mut self, entry: Entry, gone: &mut Vec<Entry>) {
        if entry.repetition == UNREAD {
            return self.handle_unread(extended(entry.first, self.next()));
        }
        if entry.repetition <= 1 {
            // The frames were rebuilt or are asked for: the path lost them.
            self.credit.lose(u64::from(entry.length), 1);
        }
        if !(1..=MOST_REQUESTS).contains(&entry.repetition) {
            return;
        }
        let first = extended(entry.first, self.next());
        for number in first..first + u64::from(entry.length) {
            let Some(Kept { frame, .. }) = kept(&self.kept, self.first, number) else {
                // A number that was never sent belongs to no frame.
                if number < self.first {
                    self.counters.not_kept += 1;
                    self.models.forget(number);
                    note(gone, number);
                }
                continue;
            };
            let copies = if entry.repetition == 1 { 1 } else { 2 };
            for copy in 0..copies {
                // A repetition is longer than the frame by its headers at most.
                if !self.credit.pay(frame.len() as u64 + HEADERS) {
                    if copy == 0 {
                        self.counters.unpaid += 1;
                        self.models.forget(number);
                        note(gone, number);
                    }
                    break;
                }
                self.waiting.push_back((number, entry.repetition));
            }
        }
    }

    /// Takes note that the receiving end does not have the model of a short frame (RT-17).
    fn handle_unread(&mut self, number: u64) {
        match kept(&self.kept, self.first, number) {
            Some(Kept { choice: Choice::Short(model), .. }) => self.models.forget(*model),
            Some(_) => {}
            // The number of the model is not known any more.
            None => self.models.start_over(),
        }
    }

    /// Returns when the next repetition leaves.
    pub(super) fn turn_at(&self) -> Instant {
        if self.waiting.is_empty() { Instant::NEVER } else { self.next_turn }
    }

    /// Sends the repetitions whose turn has come (RT-16): whole, in case the receiving end lacks the model.
    pub(super) fn take_turns(&mut self, around: &mut Surroundings<'_>) {
        while self.turn_at() <= around.now
            && let Some((number, repetition)) = self.waiting.pop_front()
        {
            // A frame that has arrived meanwhile is not kept any more.
            let Some(Kept { frame, choice }) = kept(&self.kept, self.first, number) else { continue };
            let choice = if *choice == Choice::Model { Choice::Model } else { Choice::Whole };
            let Some(bytes) = frames::send(around, &self.models, (number, repetition), choice, frame) else {
                continue;
            };
            self.counters.repeated += 1;
            self.counters.repeated_bytes += bytes;
            let between = self.pace.between_repetitions(around.loop_time);
            self.last_turn = self.last_turn.max(around.now) + between;
            self.next_turn = Instant::ZERO + self.last_turn.saturating_since(Instant::ZERO + between * BURST);
        }
    }

    /// Returns when to tell how far was sent.
    pub(super) fn tell_at(&self) -> Instant {
        self.tell_at.unwrap_or(Instant::NEVER)
    }

    /// Returns the number to tell, now, as the number before which all frames were sent.
    pub(super) fn tell(&mut self, now: Instant, loop_time: Option<Duration>) -> u32 {
        self.told += 1;
        self.tell_at = (self.told < TOLD).then(|| now + idle(loop_time) * (1 << self.told));
        low(self.next())
    }
}

/// The number of repetitions that leave at once.
const BURST: u64 = 8;
/// The bytes by which a repetition is longer than the frame: the headers and the seal of RT-2.
const HEADERS: u64 = (EthernetHeader::LEN + DataHeader::LEN + WHOLE_SEAL) as u64;
/// The bytes by which a repair is longer than its sum.
const REPAIR_HEADERS: u64 = HEADERS + (REPAIR_HEADER - DataHeader::LEN) as u64;
/// The fewest octets of contents, with padding: datagrams have Ethernet's shortest length.
const LEAST_CONTENTS: usize = MINIMUM_FRAME.0 as usize - HEADERS as usize;

fn idle(loop_time: Option<Duration>) -> Duration {
    (loop_time.unwrap_or(UNMEASURED) / IDLE_PART).max(LEAST_IDLE)
}

/// Returns the frame with this number, if it is among those from `first` on.
fn kept(frames: &VecDeque<Kept>, first: u64, number: u64) -> Option<&Kept> {
    frames.get(number.checked_sub(first)? as usize)
}

/// Adds a number to the last run of `gone`, or begins a run with it.
fn note(gone: &mut Vec<Entry>, number: u64) {
    match gone.last_mut() {
        Some(run)
            if run.length < u8::MAX && low(u64::from(run.first) + u64::from(run.length)) == low(number) =>
        {
            run.length += 1;
        }
        _ => gone.push(Entry { first: low(number), length: 1, repetition: 0 }),
    }
}
