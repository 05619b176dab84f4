//! The line protocol of a routed guard: every frame sealed whole, session by session (RT-2, RT-3).

use super::code::{self, Decoder, Field};
use super::frames::{Restored, begin, is_bare, restore, restore_whole};
use super::headers::Seen;
use super::report::{self, State};
use super::sending::Sending;
use super::{Receiver, extended, low};
use crate::engine::report::Group;
use crate::guard::{Frame, HelloOctets, LineProtocol, Origin, Surroundings, WHOLE_SEAL, ecn};
use crate::loss::LossLaw;
use crate::protection::Protection;
use crate::time::{Duration, Instant};
use crate::wire::ethernet::{EtherType, EthernetHeader};
use crate::wire::routed::{
    self, BEFORE_ENTRIES, DataHeader, ENTRY, Entry, MOST_ENTRIES, REPAIR_HEADER, RoutedFrame, UNREAD, Whole,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

/// The bytes by which a repair is longer than the longest frame of the LAN, without the seal: the local octets, the
/// EtherType, the header, the prefix of a body. A data frame is shorter.
const HEADROOM: usize = EthernetHeader::LEN + REPAIR_HEADER + code::PREFIX;

/// The least time between two messages of the receiving end that it lacks a model.
const UNREAD_LEAST: Duration = Duration::from_ms(1);

/// Both ends of the routed guard's protection.
#[derive(Debug)]
pub struct RoutedLine {
    /// Whether the frames that this end sends may be asked for again. If not, they are only sealed and numbered.
    is_repairing: bool,
    /// Whether the frames that the peer sends may be asked for.
    is_asking: bool,
    sending: Sending,
    receiver: Receiver,
    decoder: Decoder,
    /// The models of this session, and of the one before.
    seen: Seen,
    former_seen: Seen,
    field: Box<dyn Field>,
    /// Entries of the next request, or of the next message of frames that will not come.
    entries: Vec<Entry>,
    malformed: u64,
    /// Short frames whose model had not arrived.
    unread: u64,
    tell_unread_from: Instant,
    /// Frames with a mark that their transport does not take (RT-4).
    mismarked: u64,
}

impl RoutedLine {
    /// Returns both ends, before any session. Their code uses this arithmetic.
    pub fn new(field: Box<dyn Field>) -> Self {
        Self {
            is_repairing: false,
            is_asking: false,
            sending: Sending::default(),
            receiver: Receiver::default(),
            decoder: Decoder::default(),
            seen: Seen::default(),
            former_seen: Seen::default(),
            field,
            entries: Vec::with_capacity(MOST_ENTRIES),
            malformed: 0,
            unread: 0,
            tell_unread_from: Instant::ZERO,
            mismarked: 0,
        }
    }

    /// Takes in a frame of the present session.
    fn handle_session(&mut self, around: &mut Surroundings<'_>, frame: &[u8], said: RoutedFrame<'_>) {
        match said {
            RoutedFrame::Data(header, contents) => self.handle_data(around, frame, header, contents),
            RoutedFrame::Request(entries) => {
                for entry in entries.iter().filter(|_| self.is_repairing) {
                    self.sending.handle_request(entry, &mut self.entries);
                }
                self.repeat(around);
                self.say(around, false);
            }
            RoutedFrame::Gone(entries) => {
                for entry in entries.iter() {
                    let first = extended(entry.first, self.receiver.end());
                    self.receiver.gone(first, entry.length);
                }
            }
            RoutedFrame::Told(next) => self.know(around, next),
            RoutedFrame::Repair(end, covered, sum) => self.handle_repair(around, end, covered, sum),
        }
    }

    fn know(&mut self, around: &mut Surroundings<'_>, next: u32) {
        if self.is_asking {
            let next = extended(next, self.receiver.end());
            self.receiver.know(around.now, next);
        }
    }

    /// Takes in a repair, whose number also tells how far was sent (RT-15).
    fn handle_repair(&mut self, around: &mut Surroundings<'_>, end: u32, covered: u8, sum: &[u8]) {
        if !self.is_asking {
            return;
        }
        self.know(around, end);
        self.receiver.repair_came(around.now);
        let end = extended(end, self.receiver.end());
        let Self { decoder, field, receiver, seen, malformed, .. } = self;
        let mut give =
            |number: u64, body: &[u8]| hand_on_rebuilt(around, (receiver, seen), malformed, number, body);
        decoder.repair(&**field, end, covered, sum, &mut give);
    }

    /// Takes in the contents of a frame, to which others may refer, and by which others may be rebuilt.
    fn note_contents(&mut self, around: &mut Surroundings<'_>, number: u64, whole: Whole, contents: &[u8]) {
        let Self { decoder, field, receiver, seen, malformed, .. } = self;
        if whole.is_model {
            seen.note(number, contents, whole.is_bare);
        }
        let mut give =
            |number: u64, body: &[u8]| hand_on_rebuilt(around, (receiver, seen), malformed, number, body);
        decoder.frame(&**field, number, whole, contents, &mut give);
    }

    /// Returns a repair of the frames that were sent last, if it can be paid (RT-14).
    fn repair(&mut self, around: &mut Surroundings<'_>) -> Option<Frame> {
        let mut out = around.empty_frame()?;
        begin(&mut out, 0);
        if !self.sending.repair(&*self.field, &mut out) {
            around.pool.give_back(out);
            return None;
        }
        around.seal.finish_whole(&mut out);
        Some(out)
    }

    fn handle_data(
        &mut self,
        around: &mut Surroundings<'_>,
        frame: &[u8],
        header: DataHeader,
        contents: &[u8],
    ) {
        let number = extended(header.number, self.receiver.end());
        let Some(mut item) = around.empty_frame() else { return };
        let whole = match restore(&mut item, &self.seen, number, header.form, contents) {
            Restored::Frame(whole) => whole,
            Restored::Unknown => {
                around.pool.give_back(item);
                return self.handle_unread(around, number);
            }
            Restored::Malformed => {
                self.malformed += 1;
                return self.drop_data(around, item, number);
            }
        };
        // The contents are noted before a mark is copied into them, because repairs cover the frames as sent.
        let came = if whole.is_bare { EthernetHeader::LEN } else { 0 };
        let is_marked = frame[0] & CE == CE;
        if is_marked && ecn::field(&item) == 0 {
            self.mismarked += 1;
            self.note_contents(around, number, whole, &item[came..]);
            return self.drop_data(around, item, number);
        }
        self.receiver.note_loop(around.loop_time);
        let is_new = !self.is_asking || self.receiver.handle(around.now, number, header.repetition);
        if self.is_asking {
            self.note_contents(around, number, whole, &item[came..]);
        }
        if is_marked {
            ecn::mark(&mut item);
        }
        match is_new {
            true => hand_on(around, item),
            false => around.pool.give_back(item),
        }
    }

    /// Treats a short frame whose model has not arrived as lost: the frame is asked for, and comes whole. The sending end
    /// is told that the model is missing, once in a while only, because all frames that follow are unread, too (RT-17).
    fn handle_unread(&mut self, around: &mut Surroundings<'_>, number: u64) {
        self.unread += 1;
        self.know(around, low(number + 1));
        if self.is_asking && self.tell_unread_from <= around.now {
            let between = around.loop_time.map_or(UNREAD_LEAST, |time| (time / 4).max(UNREAD_LEAST));
            self.tell_unread_from = around.now + between;
            self.entries.push(Entry { first: low(number), length: 1, repetition: UNREAD });
            self.say(around, true);
        }
    }

    /// Drops a frame that arrived. A request for it would bring no other frame (RT-4).
    fn drop_data(&mut self, around: &mut Surroundings<'_>, item: Frame, number: u64) {
        around.pool.give_back(item);
        self.know(around, low(number + 1));
        self.receiver.gone(number, 1);
    }

    /// Sends the repetitions whose turn has come (RT-16).
    fn repeat(&mut self, around: &mut Surroundings<'_>) {
        self.sending.take_turns(around);
    }

    /// Sends the entries that have been gathered, as a request or as numbers that will not come.
    fn say(&mut self, around: &mut Surroundings<'_>, is_request: bool) {
        for part in self.entries.chunks(most_entries(around.pool.longest())) {
            let Some(mut out) = around.empty_frame() else { break };
            begin(&mut out, 0);
            routed::append_entries(&mut out, is_request, part);
            around.seal.finish_whole(&mut out);
            around.to_link.push_back(out);
        }
        self.entries.clear();
    }
}

impl LineProtocol for RoutedLine {
    fn carries(&self, _protection: &Protection) -> bool {
        true
    }

    fn ethertypes(&self) -> &'static [EtherType] {
        &[routed::ETHERTYPE]
    }

    fn headroom(&self) -> usize {
        HEADROOM
    }

    fn length_of(&self, frame: &[u8]) -> usize {
        // Lengths are those of messages, which travel with their EtherType (RT-2).
        let saved = if is_bare(frame) { EthernetHeader::LEN } else { 0 };
        frame.len() + HEADROOM - saved - 2
    }

    fn protect(&mut self, protection: &Protection, _law: LossLaw) {
        self.is_repairing = *protection == Protection::Routed;
    }

    fn start_over(&mut self, around: &mut Surroundings<'_>, peer: &Protection) {
        self.receiver.start_over();
        self.sending.start_over(around.pool);
        self.decoder.start_over();
        mem::swap(&mut self.seen, &mut self.former_seen);
        self.seen.start_over();
        self.is_asking = *peer == Protection::Routed;
    }

    fn handle_lan(&mut self, around: &mut Surroundings<'_>, frame: Frame) {
        if !self.is_repairing {
            self.sending.pass(around, &frame);
            return around.pool.give_back(frame);
        }
        if self.sending.take(around, frame)
            && let Some(repair) = self.repair(around)
        {
            around.to_link.push_back(repair);
        }
    }

    fn handle_link(&mut self, around: &mut Surroundings<'_>, frame: &[u8]) -> Origin {
        let origin = around.seal.origin_whole(frame);
        if !matches!(origin, Origin::Session | Origin::Former) {
            return origin;
        }
        let body = around.seal.body(frame).expect("what is genuine has a seal");
        match (RoutedFrame::parse(body), origin) {
            (Err(_), _) => self.malformed += 1,
            (Ok(said), Origin::Session) => self.handle_session(around, frame, said),
            // Of the session before only contents count, and only of frames sent first: a repetition may have come (G-6).
            (Ok(RoutedFrame::Data(header, contents)), _) if header.repetition == 0 => {
                let Some(mut item) = around.empty_frame() else { return origin };
                let number = self.receiver.former(header.number);
                let restored = restore(&mut item, &self.former_seen, number, header.form, contents);
                match matches!(restored, Restored::Frame(_)) && self.receiver.handle_former(number) {
                    true => hand_on(around, item),
                    false => around.pool.give_back(item),
                }
            }
            (Ok(_), _) => {}
        }
        origin
    }

    fn fill_at(&self) -> Instant {
        self.sending.tell_at()
    }

    /// Returns a message of how far was sent, once no more frames are (RT-13), or a repair, which tells that, too (RT-14).
    fn poll_fill(&mut self, around: &mut Surroundings<'_>) -> Option<Frame> {
        let repair = if self.sending.is_repair_due_at_rest() { self.repair(around) } else { None };
        let next = self.sending.tell(around.now, around.loop_time);
        if repair.is_some() {
            return repair;
        }
        let mut out = around.empty_frame()?;
        begin(&mut out, 0);
        routed::append_told(&mut out, next);
        around.seal.finish_whole(&mut out);
        Some(out)
    }

    fn poll_timeout(&self) -> Instant {
        self.receiver.poll_timeout().min(self.sending.turn_at())
    }

    fn handle_timeout(&mut self, around: &mut Surroundings<'_>) {
        self.repeat(around);
        let Self { receiver, entries, .. } = self;
        receiver.note_loop(around.loop_time);
        let mut ask = |wanted: super::receiver::Wanted| {
            entries.push(Entry {
                first: low(wanted.first),
                length: wanted.length,
                repetition: wanted.repetition,
            });
        };
        receiver.handle_timeout(around.now, &mut ask);
        self.say(around, true);
    }

    fn sent(&self) -> HelloOctets {
        octets(self.sending.next())
    }

    fn received(&self) -> HelloOctets {
        octets(self.receiver.base())
    }

    fn handle_sent(&mut self, around: &mut Surroundings<'_>, octets: HelloOctets) {
        self.know(around, number(octets));
    }

    fn handle_received(&mut self, around: &mut Surroundings<'_>, octets: HelloOctets) {
        self.sending.settle(number(octets), around.pool);
    }

    fn report(&self) -> Vec<Group> {
        let state = State {
            receiving: self.receiver.counters(),
            waits: *self.receiver.waits(),
            sending: self.sending.counters(),
            kept: self.sending.kept(),
            share: self.sending.credit().share(),
            repairs_share: self.sending.repairs_share(),
            malformed: self.malformed,
            unread: self.unread,
            mismarked: self.mismarked,
        };
        [Group { name: report::GROUP, counters: state.counters() }].into()
    }
}

/// Returns how many entries fit a frame of this length, for which ports have room: between the EtherType, kind and number
/// of entries, and the seal.
fn most_entries(longest: usize) -> usize {
    (longest.saturating_sub(EthernetHeader::LEN + BEFORE_ENTRIES + WHOLE_SEAL) / ENTRY).clamp(1, MOST_ENTRIES)
}

/// The ECN code point of congestion experienced.
const CE: u8 = 0b11;

/// Returns a number in the octets of a hello.
fn octets(number: u64) -> HelloOctets {
    let [_, octets @ ..] = low(number).to_be_bytes();
    octets
}

fn number([high, middle, low]: HelloOctets) -> u32 {
    u32::from_be_bytes([0, high, middle, low])
}

/// Hands a frame to the LAN.
fn hand_on(around: &mut Surroundings<'_>, frame: Frame) {
    around.counters.contents += 1;
    around.to_lan.push_back(frame);
}

/// Hands a rebuilt frame to the LAN, if it was missing.
fn hand_on_rebuilt(
    around: &mut Surroundings<'_>,
    (receiver, seen): (&mut Receiver, &mut Seen),
    malformed: &mut u64,
    number: u64,
    body: &[u8],
) {
    let Some(mut item) = around.empty_frame() else { return };
    let Some((whole, contents)) = code::contents(body)
        .filter(|(whole, contents)| matches!(restore_whole(&mut item, *whole, contents), Restored::Frame(_)))
    else {
        *malformed += 1;
        return around.pool.give_back(item);
    };
    if whole.is_model {
        seen.note(number, contents, whole.is_bare);
    }
    match receiver.rebuild(around.now, number) {
        true => hand_on(around, item),
        false => around.pool.give_back(item),
    }
}
