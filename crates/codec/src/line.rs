//! Forward error correction as a line protocol of a guard: blocks of tagged frames, session by session.
//!
//! ```text
//!   handle_lan --> [Sender: data] --to_link-->       to_lan <-- [Receiver: release, rebuild] <-- handle_link
//!                      | parity behind the last, or when the flush timer ends a block
//! ```
//!
//! The protocol is `docs/protocols/fec.md`; the tags and sessions that a guard adds are
//! `docs/protocols/guard.md`.

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

/// The multiple of a full block's time at link rate after which a partial block is closed, as in the
/// simulator (G-19).
const FLUSH_BLOCKS: u64 = 4;
/// The slack of a decoder beside two flush times: a late wake-up of the other end.
const SLACK: Duration = Duration::from_ms(5);
/// The number of blocks that may be open, because a veth may hand frames over in another order.
const OPEN_BLOCKS: u32 = 4;
/// The most bytes that a decoder keeps.
const KEPT_MAX: Bytes = Bytes(32 << 20);
/// The data frames of a block that a decoder assumes while no peer has told the size of its blocks.
const ASSUMED_SIZE: u32 = 32;
/// The last instant before never: no block is waited for beyond it.
const END_OF_TIME: Instant = Instant::from_ps(u64::MAX - 1);

/// Both ends of forward error correction on whole frames.
#[derive(Debug)]
pub struct FecLine {
    /// Time of the longest frame on the link.
    full_frame: Duration,
    /// The sending end, while the frames that this end sends use this protocol.
    sender: Option<Sender<Cauchy>>,
    receiver: Receiver<Cauchy>,
    /// Whether the frames that the peer sends use this protocol.
    is_receiving: bool,
    /// Counters of the receiving end before this session.
    earlier: DecoderCounters,
    /// The most bytes that the receiving end kept before this session.
    most_kept: Bytes,
    /// Counters of the sending end before this session, or before its protection last changed.
    encoded: EncoderCounters,
    malformed: u64,
}

impl FecLine {
    /// Returns two ends on a link of this rate whose frames are no longer than `longest` without FCS. The
    /// times of blocks are computed from both.
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

    /// Sends blocks of this code, beginning with block zero. The counters so far are kept (G-18).
    fn send_by(&mut self, code: Option<Code>) {
        self.encoded = self.encoded();
        let flush = |code| flush_time(self.full_frame, code);
        self.sender = code.map(|code| Sender::new(Cauchy::new(), code, flush(code), BlockNumber::ZERO));
    }

    /// Takes in a genuine frame of this session, without its seal.
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

    /// Sends a frame of the LAN at once, and parity behind it if it ends a block (FEC-6).
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

    /// Returns the counters; none if no frame was ever coded here.
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

/// Seals a frame that the coder has made and sends it. Frames of a code without parity are not coded (FEC-1),
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

/// Hands on a frame of the session before this one: its contents count, its block does not. Parity is left
/// out, because it would rebuild frames that may have arrived (G-6, G-18).
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

/// Returns a receiving end. It is not told a code, because parity carries it. Its wait for a block follows
/// from the flush time of the sending end's blocks.
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

/// Returns the counters of both ends. Failed rebuilds and malformed headers are counted here, because only
/// real bytes have them.
fn coder(encoder: &EncoderState, decoder: &DecoderState, failed_rebuilds: u64, malformed: u64) -> Group {
    let own = [
        Counter::new("failed_rebuilds", "Rebuilt blocks whose bytes failed their check.", failed_rebuilds),
        Counter::new("malformed", "Genuine frames whose header makes no sense.", malformed),
    ];
    let counters = encoder.counters().chain(decoder.counters()).chain(own).collect();
    Group { name: report::GROUP, counters }
}
