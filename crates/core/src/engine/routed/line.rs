//! The line protocol of a routed guard: every frame sealed whole, session by session (RT-2, RT-3).

use super::code::{self, Decoder, Field};
use super::report::{self, State};
use super::sending::Sending;
use super::{Receiver, extended, low};
use crate::engine::guard::{Frame, LineProtocol, Origin, Surroundings};
use crate::engine::guard::{HelloOctets, WHOLE_SEAL, ecn, envelope};
use crate::engine::report::Group;
use crate::loss::LossLaw;
use crate::protection::Protection;
use crate::time::Instant;
use crate::wire::ethernet::{EtherType, EthernetHeader};
use crate::wire::routed::{
    self, BEFORE_ENTRIES, DataHeader, ENTRY, Entry, MOST_ENTRIES, REPAIR_HEADER, RoutedFrame,
};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// By how much a repair is longer than the longest frame of the LAN, without the seal: the local octets, the EtherType,
/// the header, the prefix of a body. A data frame is shorter.
const HEADROOM: usize = EthernetHeader::LEN + REPAIR_HEADER + code::PREFIX;

/// Both ends of the routed guard's protection.
#[derive(Debug)]
pub struct RoutedLine {
    /// Whether what we send may be asked for again; if not it is sealed and numbered, and that is all.
    is_repairing: bool,
    /// Whether what the peer sends may be asked for.
    is_asking: bool,
    sending: Sending,
    receiver: Receiver,
    decoder: Decoder,
    field: Box<dyn Field>,
    /// Entries under way into a request, or into what is gone.
    entries: Vec<Entry>,
    malformed: u64,
    /// Frames with a mark that their transport does not take (RT-4).
    mismarked: u64,
}

impl RoutedLine {
    /// Both ends, at rest, which code by this arithmetic.
    pub fn new(field: Box<dyn Field>) -> Self {
        Self {
            is_repairing: false,
            is_asking: false,
            sending: Sending::default(),
            receiver: Receiver::default(),
            decoder: Decoder::default(),
            field,
            entries: Vec::with_capacity(MOST_ENTRIES),
            malformed: 0,
            mismarked: 0,
        }
    }

    /// A frame of the present session: what it says counts.
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

    /// A repair, which tells how far was sent, too (RT-15).
    fn handle_repair(&mut self, around: &mut Surroundings<'_>, end: u32, covered: u8, sum: &[u8]) {
        if !self.is_asking {
            return;
        }
        self.know(around, end);
        self.receiver.repair_came(around.now);
        let end = extended(end, self.receiver.end());
        let Self { decoder, field, receiver, malformed, .. } = self;
        let mut give = |number: u64, body: &[u8]| hand_on_rebuilt(around, receiver, malformed, number, body);
        decoder.repair(&**field, end, covered, sum, &mut give);
    }

    /// Contents have come, by which others may be rebuilt.
    fn note_contents(&mut self, around: &mut Surroundings<'_>, number: u64, is_bare: bool, contents: &[u8]) {
        let Self { decoder, field, receiver, malformed, .. } = self;
        let mut give = |number: u64, body: &[u8]| hand_on_rebuilt(around, receiver, malformed, number, body);
        decoder.frame(&**field, number, is_bare, contents, &mut give);
    }

    /// A repair of what was sent last, if it can be paid (RT-14).
    fn repair(&mut self, around: &mut Surroundings<'_>) -> Option<Frame> {
        let mut out = around.empty_frame()?;
        begin(&mut out, 0);
        if !self.sending.repair(&*self.field, &mut out, contents) {
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
        let is_whole = restore(&mut item, header, contents);
        let is_marked = frame[0] & CE == CE;
        let is_mismarked = is_marked && ecn::field(&item) == 0;
        self.malformed += u64::from(!is_whole);
        self.mismarked += u64::from(is_mismarked);
        if !is_whole || is_mismarked {
            around.pool.give_back(item);
            // To ask for it again would bring no other (RT-4).
            self.know(around, low(number + 1));
            self.receiver.gone(number, 1);
            return self.note_contents(around, number, header.is_bare, contents);
        }
        if is_marked {
            ecn::mark(&mut item);
        }
        if !self.is_asking {
            return hand_on(around, item);
        }
        self.receiver.note_loop(around.loop_time);
        match self.receiver.handle(around.now, number, header.repetition) {
            true => hand_on(around, item),
            false => around.pool.give_back(item),
        }
        self.note_contents(around, number, header.is_bare, contents);
    }

    /// Sends again what was asked for and has its turn (RT-16).
    fn repeat(&mut self, around: &mut Surroundings<'_>) {
        self.sending.take_turns(around, |around, number, repetition, frame| {
            send(around, DataHeader { is_bare: is_bare(frame), repetition, number: low(number) }, frame)
        });
    }

    /// Sends the entries that have been gathered, as a request or as what is gone.
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
        let saved = if is_bare(frame) { EthernetHeader::LEN } else { 0 };
        frame.len() + HEADROOM - saved
    }

    fn protect(&mut self, protection: &Protection, _law: LossLaw) {
        self.is_repairing = *protection == Protection::Routed;
    }

    fn start_over(&mut self, around: &mut Surroundings<'_>, peer: &Protection) {
        self.receiver.start_over();
        self.sending.start_over(around.pool);
        self.decoder.start_over();
        self.is_asking = *peer == Protection::Routed;
    }

    fn handle_lan(&mut self, around: &mut Surroundings<'_>, frame: Frame) {
        if !self.is_repairing {
            let header = DataHeader { is_bare: is_bare(&frame), repetition: 0, number: 0 };
            send(around, header, &frame);
            return around.pool.give_back(frame);
        }
        let is_repair_due = self.sending.take(around, frame, |number, frame, around| {
            let header = DataHeader { is_bare: is_bare(frame), repetition: 0, number: low(number) };
            send(around, header, frame)
        });
        if is_repair_due && let Some(repair) = self.repair(around) {
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
            // Of the session before only contents count, and only once: a repetition may have come (G-6).
            (Ok(RoutedFrame::Data(header, contents)), _) if header.repetition == 0 => {
                let Some(mut item) = around.empty_frame() else { return origin };
                let is_whole = restore(&mut item, header, contents);
                match is_whole && self.receiver.handle_former(header.number) {
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

    /// How far was sent, once nothing more is (RT-13); a repair says it, too (RT-14).
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
            mismarked: self.mismarked,
        };
        [Group { name: report::GROUP, counters: state.counters() }].into()
    }
}

/// How many entries fit a frame of this length, which ports have room for: between the EtherType, kind and number of
/// entries, and the seal.
fn most_entries(longest: usize) -> usize {
    (longest.saturating_sub(EthernetHeader::LEN + BEFORE_ENTRIES + WHOLE_SEAL) / ENTRY).clamp(1, MOST_ENTRIES)
}

/// Congestion experienced.
const CE: u8 = 0b11;

/// Numbers in the words of a message.
fn octets(number: u64) -> HelloOctets {
    let [_, octets @ ..] = low(number).to_be_bytes();
    octets
}

fn number([high, middle, low]: HelloOctets) -> u32 {
    u32::from_be_bytes([0, high, middle, low])
}

/// A frame goes to the LAN.
fn hand_on(around: &mut Surroundings<'_>, frame: Frame) {
    around.counters.contents += 1;
    around.to_lan.push_back(frame);
}

/// A rebuilt frame goes to the LAN, if it was missing.
fn hand_on_rebuilt(
    around: &mut Surroundings<'_>,
    receiver: &mut Receiver,
    malformed: &mut u64,
    number: u64,
    body: &[u8],
) {
    let Some(mut item) = around.empty_frame() else { return };
    let is_whole = code::contents(body).is_some_and(|(is_bare, contents)| {
        restore(&mut item, DataHeader { is_bare, repetition: 0, number: low(number) }, contents)
    });
    *malformed += u64::from(!is_whole);
    match is_whole && receiver.rebuild(around.now, number) {
        true => hand_on(around, item),
        false => around.pool.give_back(item),
    }
}

/// Whether a frame is an IP packet without addresses of neighbours, as it comes from a TUN.
fn is_bare(frame: &[u8]) -> bool {
    let packet = &frame[EthernetHeader::LEN..];
    frame[..envelope::ETHERTYPE].iter().all(|octet| *octet == 0)
        && packet.first().and_then(|first| ip_of(first >> 4)) == envelope::ethertype(frame)
}

/// What travels of a frame, and whether that is bare.
fn contents(frame: &Frame) -> (bool, &[u8]) {
    let is_bare = is_bare(frame);
    (is_bare, if is_bare { &frame[EthernetHeader::LEN..] } else { frame })
}

/// The EtherType of a version of IP.
fn ip_of(version: u8) -> Option<EtherType> {
    match version {
        4 => Some(EtherType::IPV4),
        6 => Some(EtherType::IPV6),
        _ => None,
    }
}

/// The local octets, which say the ECN field of the datagram, and the EtherType (RT-2, RT-4).
fn begin(out: &mut Frame, ecn: u8) {
    out.clear();
    out.resize(envelope::ETHERTYPE, 0);
    out[0] = ecn;
    out.extend_from_slice(&routed::ETHERTYPE.0.to_be_bytes());
}

/// Seals a frame of the LAN behind its header and lets it leave; how long it is, or nothing without room.
fn send(around: &mut Surroundings<'_>, header: DataHeader, frame: &[u8]) -> Option<u64> {
    let mut out = around.empty_frame()?;
    begin(&mut out, ecn::field(frame));
    header.append(&mut out);
    out.extend_from_slice(if header.is_bare { &frame[EthernetHeader::LEN..] } else { frame });
    around.seal.finish_whole(&mut out);
    let bytes = out.len() as u64;
    around.to_link.push_back(out);
    Some(bytes)
}

/// Writes the original frame into `out`; `false` when the contents are none.
fn restore(out: &mut Frame, header: DataHeader, contents: &[u8]) -> bool {
    if header.is_bare {
        let Some(ethertype) = contents.first().and_then(|first| ip_of(first >> 4)) else { return false };
        out.resize(envelope::ETHERTYPE, 0);
        out.extend_from_slice(&ethertype.0.to_be_bytes());
    }
    out.extend_from_slice(contents);
    out.len() >= EthernetHeader::LEN
}
