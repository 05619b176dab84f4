//! Forward error correction as a line protocol of a guard: blocks of tagged frames, session by session.
//!
//! ```text
//!   handle_lan --> [Sender: data] --to_link-->       to_lan <-- [Receiver: release, rebuild] <-- handle_link
//!                      | parity behind the last, or when the flush timer ends a block
//! ```
//!
//! The protocol is `docs/protocols/fec.md`; what a guard adds (tags, sessions) is `docs/protocols/guard.md`.

use crate::{Cauchy, Receiver, Sender};
use lossylink_core::engine::fec::report::{self, DecoderState, EncoderState};
use lossylink_core::engine::fec::{
    BlockNumber, Code, DecoderConfig, DecoderCounters, EncoderCounters, Release,
};
use lossylink_core::engine::report::{Counter, Group};
use lossylink_core::guard::envelope;
use lossylink_core::guard::{Frame, LineProtocol, Origin, Surroundings};
use lossylink_core::loss::LossLaw;
use lossylink_core::protection::Protection;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader};
use lossylink_core::wire::fec::{FecHeader, FecPart};
use lossylink_core::wire::wire_octets;

/// A partial block is closed after so many times of a full one at link rate, as in the simulator (G-19).
const FLUSH_BLOCKS: u64 = 4;
/// What a decoder allows for beside two flush times: a late wake-up of the other end.
const SLACK: Duration = Duration::from_ms(5);
/// Blocks that may be open: a veth may hand frames over in another order.
const OPEN_BLOCKS: u32 = 4;
/// The most bytes that a decoder keeps.
const KEPT_MAX: Bytes = Bytes(32 << 20);
/// Data frames of the blocks that a decoder waits for while no peer has said how long its are.
const ASSUMED_SIZE: u32 = 32;
/// The last instant before never: no block is waited for beyond it.
const END_OF_TIME: Instant = Instant::from_ps(u64::MAX - 1);

/// Both ends of forward error correction on whole frames.
#[derive(Debug)]
pub struct FecLine {
    /// The time of the longest frame on the link.
    full_frame: Duration,
    /// Present while our frames go by this protocol.
    sender: Option<Sender<Cauchy>>,
    receiver: Receiver<Cauchy>,
    /// Whether the peer's frames come by this protocol.
    is_receiving: bool,
    /// The receiving end's counters before this session.
    earlier: DecoderCounters,
    /// The most bytes that it kept before.
    most_kept: Bytes,
    /// The sending end's, likewise.
    encoded: EncoderCounters,
    malformed: u64,
}

impl FecLine {
    /// Two ends on a link of this rate whose frames are no longer than `longest` without FCS: by both the
    /// times of blocks are reckoned.
    pub fn new(rate: BitRate, longest: Bytes) -> Self {
        let full_frame = wire_octets(longest) / rate;
        Self {
            full_frame,
            sender: None,
            receiver: new_receiver(full_frame, assumed()),
            is_receiving: false,
            earlier: DecoderCounters::default(),
            most_kept: Bytes::ZERO,
            encoded: EncoderCounters::default(),
            malformed: 0,
        }
    }

    fn decoded(&self) -> DecoderCounters {
        sum(&self.earlier, self.receiver.counters())
    }

    fn encoded(&self) -> EncoderCounters {
        let now = self.sender.as_ref().map(|sender| *sender.counters()).unwrap_or_default();
        EncoderCounters {
            data: self.encoded.data + now.data,
            parity: self.encoded.parity + now.parity,
            full_blocks: self.encoded.full_blocks + now.full_blocks,
            partial_blocks: self.encoded.partial_blocks + now.partial_blocks,
        }
    }

    /// Sends blocks of this code from the first on; what has been counted stays (G-18).
    fn send_by(&mut self, code: Option<Code>) {
        self.encoded = self.encoded();
        let flush = |code| flush_time(self.full_frame, code);
        self.sender = code.map(|code| Sender::new(Cauchy::new(), code, flush(code), BlockNumber::ZERO));
    }

    /// A genuine frame of this session, without its seal.
    fn handle_coded(&mut self, around: &mut Surroundings<'_>, frame: &[u8]) {
        let header = FecHeader::parse(frame.get(EthernetHeader::LEN..).unwrap_or_default());
        let is_data = matches!(header, Ok((FecHeader { part: FecPart::Data { .. }, .. }, _)));
        around.counters.contents += u64::from(is_data);
        let outcome = self.receiver.receive(around.now, frame, |delivery| hand_on(around, delivery.frame));
        self.malformed += u64::from(outcome.is_err());
    }
}

impl LineProtocol for FecLine {
    fn carries(&self, protection: &Protection) -> bool {
        matches!(protection, Protection::Fec(_))
    }

    fn ethertypes(&self) -> &'static [EtherType] {
        &[EtherType::FEC]
    }

    fn headroom(&self) -> usize {
        FecHeader::PARITY_OVERHEAD.0 as usize
    }

    fn protect(&mut self, protection: &Protection, _law: LossLaw) {
        self.send_by(match protection {
            Protection::Fec(options) => Some(options.code()),
            _ => None,
        });
    }

    fn start_over(&mut self, around: &mut Surroundings<'_>, peer: &Protection) {
        self.receiver.handle_timeout(END_OF_TIME, |delivery| hand_on(around, delivery.frame));
        self.earlier = self.decoded();
        self.most_kept = self.most_kept.max(self.receiver.kept().1);
        let code = match peer {
            Protection::Fec(options) => Some(options.code()),
            _ => None,
        };
        self.is_receiving = code.is_some();
        self.receiver = new_receiver(self.full_frame, code.unwrap_or_else(assumed));
        self.send_by(self.sender.as_ref().map(Sender::code));
    }

    /// The frame leaves at once, and parity behind it if it ends a block (FEC-6).
    fn handle_lan(&mut self, around: &mut Surroundings<'_>, frame: Frame) {
        match &mut self.sender {
            Some(sender) => {
                sender.send(around.now, &frame, |bytes| put_out(around, bytes));
                around.pool.give_back(frame);
            }
            None => around.to_link.push_back(frame),
        }
    }

    fn handle_link(&mut self, around: &mut Surroundings<'_>, frame: &[u8]) -> Origin {
        let origin = around.seal.origin(frame, FecHeader::LEN);
        let Some(coded) = around.seal.opened(frame) else { return origin };
        match origin {
            Origin::Session => self.handle_coded(around, coded),
            Origin::Former => hand_on_former(around, coded),
            Origin::Repeated | Origin::Foreign => {}
        }
        origin
    }

    fn poll_timeout(&self) -> Instant {
        let flush = self.sender.as_ref().map_or(Instant::NEVER, Sender::poll_timeout);
        flush.min(self.receiver.poll_timeout())
    }

    fn handle_timeout(&mut self, around: &mut Surroundings<'_>) {
        let now = around.now;
        if let Some(sender) = &mut self.sender {
            sender.handle_timeout(now, |bytes| put_out(around, bytes));
        }
        self.receiver.handle_timeout(now, |delivery| hand_on(around, delivery.frame));
    }

    /// Nothing was ever coded here: nothing is told.
    fn report(&self) -> Vec<Group> {
        let (encoder, decoder) = (self.encoded(), self.decoded());
        let is_used = self.sender.is_some() || self.is_receiving || encoder.data > 0 || decoder.data > 0;
        if !is_used {
            return Vec::new();
        }
        let open = self.sender.as_ref().map_or(0, Sender::open_data);
        let (kept, most_kept) = self.receiver.kept();
        let state = DecoderState::new(&decoder, kept, most_kept.max(self.most_kept));
        let encoder = EncoderState::new(&encoder, open);
        vec![coder(&encoder, &state, decoder.failed_rebuilds, self.malformed)]
    }
}

/// Seals what the coder has made and lets it leave. Frames of a code without parity are not coded (FEC-1),
/// and stay as they are.
fn put_out(around: &mut Surroundings<'_>, bytes: &[u8]) {
    let Some(mut frame) = around.copy(bytes) else { return };
    if envelope::ethertype(bytes) == Some(EtherType::FEC) {
        around.seal.finish(&mut frame, FecHeader::LEN);
    }
    around.to_link.push_back(frame);
}

fn hand_on(around: &mut Surroundings<'_>, bytes: &[u8]) {
    let frame = around.copy(bytes);
    around.to_lan.extend(frame);
}

/// A frame of the session before this one: its contents count, its block does not. Parity is left out: it
/// would rebuild what may have arrived (G-6, G-18).
fn hand_on_former(around: &mut Surroundings<'_>, coded: &[u8]) {
    let Ok((header, payload)) = FecHeader::parse(&coded[EthernetHeader::LEN..]) else { return };
    let FecPart::Data { ethertype, .. } = header.part else { return };
    let Some(mut frame) = around.empty_frame() else { return };
    envelope::restore(&mut frame, coded, ethertype, payload);
    around.to_lan.push_back(frame);
}

fn assumed() -> Code {
    Code::new(ASSUMED_SIZE, 1).expect("a code within its bounds")
}

fn flush_time(full_frame: Duration, code: Code) -> Duration {
    full_frame * u64::from(code.size()) * FLUSH_BLOCKS
}

/// The receiving end needs no code: parity tells it. Its patience is that of the sending end's blocks.
fn new_receiver(full_frame: Duration, code: Code) -> Receiver<Cauchy> {
    let timeout = flush_time(full_frame, code) * 2 + SLACK;
    let config =
        DecoderConfig { release: Release::InOrder, window: OPEN_BLOCKS, timeout, kept_max: KEPT_MAX };
    Receiver::new(Cauchy::new(), config)
}

fn sum(earlier: &DecoderCounters, now: &DecoderCounters) -> DecoderCounters {
    DecoderCounters {
        data: earlier.data + now.data,
        parity: earlier.parity + now.parity,
        recovered: earlier.recovered + now.recovered,
        rebuilt_blocks: earlier.rebuilt_blocks + now.rebuilt_blocks,
        given_up_blocks: earlier.given_up_blocks + now.given_up_blocks,
        unrecovered: earlier.unrecovered + now.unrecovered,
        duplicates: earlier.duplicates + now.duplicates,
        stale: earlier.stale + now.stale,
        inconsistent: earlier.inconsistent + now.inconsistent,
        failed_rebuilds: earlier.failed_rebuilds + now.failed_rebuilds,
        restarts: earlier.restarts + now.restarts,
    }
}

/// Failed rebuilds and malformed headers are those of real bytes.
fn coder(encoder: &EncoderState, decoder: &DecoderState, failed_rebuilds: u64, malformed: u64) -> Group {
    let own = [
        Counter::new("failed_rebuilds", "Rebuilt blocks whose bytes failed their check.", failed_rebuilds),
        Counter::new("malformed", "Genuine frames whose header makes no sense.", malformed),
    ];
    let counters = encoder.counters().chain(decoder.counters()).chain(own).collect();
    Group { name: report::GROUP, counters }
}
