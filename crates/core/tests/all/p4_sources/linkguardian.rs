//! The counterparts of `p4/linkguardian` in this crate.

use super::common::{ethernet, ethernet_of, ethernet_values, next_values};
use super::comparison::{Family, Numbers};
use super::frames::{Frame, Header};
use super::layout::Values;
use lossylink_core::engine::linkguardian::{LARGEST_HOLE, Position, SENDS_PER_UPDATE, SenderConfig};
use lossylink_core::wire::MINIMUM_FRAME;
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader, MacAddress};
use lossylink_core::wire::linkguardian::{
    AckHeader, Content, DataHeader, LinkGuardianFrame, LossNotification,
};
use lossylink_core::wire::pfc::{self, CLASSES, PauseFrame};

/// The programs for BMv2.
pub(crate) const FAMILY: Family = Family {
    folder: "linkguardian",
    files: &["common", "linkguardian"],
    constants: || [shared_constants(), own_constants()].concat(),
    widths: || vec![("position_t", Position::COUNT.ilog2() as usize)],
    headers,
    frames,
    inside: &[&SHARED, &PAUSING, &["WAITING_MAX", "NEVER", "HELD_MAX", "MARKS"]],
    numbered: &["SENDER_", "RECEIVER_"],
};

/// The programs for Tofino: their headers are those of the programs for BMv2.
pub(crate) const FOR_TOFINO: Family = Family {
    folder: "linkguardian_tna",
    files: &["common", "linkguardian/headers.p4", "linkguardian_tna"],
    constants: || [shared_constants(), constants_of_receivers()].concat(),
    inside: &[&SHARED, &PAUSING, &TOFINO],
    numbered: &["QUEUE_", "ORIGIN_", "SESSION_"],
    ..FAMILY
};

/// WIRE-4: the first two bits of a header.
const DATA: u128 = 0b00;
const ACK: u128 = 0b01;
const NOTIFICATION: u128 = 0b10;
const NEVER_ON_A_WIRE: u128 = 0b11;

/// Returns the constants of `headers.p4`.
fn shared_constants() -> Vec<(&'static str, u128)> {
    let destination = MacAddress::MAC_CONTROL.0.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
    vec![
        ("ETHERTYPE_LINKGUARDIAN", u128::from(EtherType::LINKGUARDIAN.0)),
        ("ETHERTYPE_MAC_CONTROL", u128::from(EtherType::MAC_CONTROL.0)),
        ("MAC_CONTROL_DESTINATION", destination),
        ("KIND_DATA", DATA),
        ("KIND_ACK", ACK),
        ("KIND_NOTIFICATION", NOTIFICATION),
        ("KIND_TX_TAG", NEVER_ON_A_WIRE),
        ("PFC_OPCODE", u128::from(pfc::OPCODE)),
        ("PFC_CLASS_1", 1 << pfc::LINKGUARDIAN_CLASS),
        ("PFC_QUANTA_PAUSE", u128::from(pfc::QUANTA_MAX)),
        // WIRE-10: zero quanta resume.
        ("PFC_QUANTA_RESUME", 0),
    ]
}

fn own_constants() -> Vec<(&'static str, u128)> {
    let mut constants = constants_of_receivers();
    constants.push(("WINDOW", u128::from(Position::WINDOW)));
    constants.push(("HOLE_CAP", u128::from(SenderConfig::PUBLISHED_HOLE_CAP)));
    constants
}

fn constants_of_receivers() -> Vec<(&'static str, u128)> {
    vec![("LARGEST_HOLE", u128::from(LARGEST_HOLE)), ("SENDS_PER_UPDATE", u128::from(SENDS_PER_UPDATE))]
}

/// Returns the headers of WIRE-5 to WIRE-8 and WIRE-10.
fn headers(n: &Numbers) -> Vec<Header> {
    let (data, ack, notification, pause) = (data_of(n), ack_of(n), notification_of(n), pause_of(n));
    let emitted = |length: usize, emit: &dyn Fn(&mut [u8])| {
        let mut bytes = vec![0; length];
        emit(&mut bytes);
        bytes
    };
    vec![
        ethernet(&ethernet_of(n, EtherType(n[2] as u16))),
        next(EtherType(n[3] as u16)),
        Header {
            name: "data_t",
            values: data_values(&data),
            bytes: emitted(DataHeader::LEN, &|bytes| data.emit(bytes)),
        },
        Header {
            name: "ack_t",
            values: ack_values(&ack),
            bytes: emitted(AckHeader::LEN, &|bytes| ack.emit(bytes)),
        },
        Header {
            name: "notification_t",
            values: notification_values(&notification),
            bytes: emitted(LossNotification::LEN, &|bytes| notification.emit(bytes)),
        },
        Header {
            name: "pfc_t",
            values: pause_values(&pause),
            bytes: emitted(PauseFrame::LEN, &|bytes| pause.emit(bytes)),
        },
    ]
}

/// Returns all frames that WIRE-9 lists, and a pause frame.
fn frames(n: &Numbers) -> Vec<Frame> {
    let data = DataHeader { is_dummy: false, rx_buffered: false, ..data_of(n) };
    let dummy = DataHeader { is_dummy: true, ..data };
    let riding = AckHeader { is_piggybacked: true, ..ack_of(n) };
    let explicit = AckHeader { is_piggybacked: false, ..riding };
    // An unprotected frame of ours would read as a data header.
    let original = EtherType(n[2] as u16 & 0x7fff);
    let content = Content { ethertype: original, payload: &[] };
    let ours = EtherType::LINKGUARDIAN;
    let head = ethernet_of(n, ours);
    let notification = notification_of(n);
    let ack = || ("ack", ack_values(&riding));
    let data_part = || ("data", data_values(&data));
    let carrying = |name, frame: LinkGuardianFrame<'_>, headers| carrying(name, &head, &frame, headers);
    let control = |name, frame: LinkGuardianFrame<'_>, header| control(name, &head, &frame, header);
    vec![
        carrying(
            "protected",
            LinkGuardianFrame::Data { ack: None, data, content },
            vec![data_part(), ("data_next", next_values(original))],
        ),
        carrying(
            "unprotected, with an ACK",
            LinkGuardianFrame::Unprotected { ack: riding, content },
            vec![ack(), ("ack_next", next_values(original))],
        ),
        carrying(
            "protected, with an ACK",
            LinkGuardianFrame::Data { ack: Some(riding), data, content },
            vec![data_part(), ack(), ("data_next", next_values(original)), ("ack_next", next_values(ours))],
        ),
        control("dummy", LinkGuardianFrame::Dummy(dummy), ("data", data_values(&dummy))),
        control("explicit ACK", LinkGuardianFrame::Ack(explicit), ("ack", ack_values(&explicit))),
        control(
            "loss notification",
            LinkGuardianFrame::Notification(notification),
            ("notification", notification_values(&notification)),
        ),
        pause_frame(n),
    ]
}

/// Returns a frame that carries a payload, without that payload.
fn carrying(
    name: &'static str,
    head: &EthernetHeader,
    frame: &LinkGuardianFrame<'_>,
    headers: Vec<(&'static str, Values)>,
) -> Frame {
    let mut bytes = vec![0; EthernetHeader::LEN + frame.headers_len()];
    head.emit(&mut bytes);
    frame.emit_headers(&mut bytes[EthernetHeader::LEN..]);
    let headers = [vec![("ethernet", ethernet_values(head))], headers].concat();
    Frame { name, headers, bytes, is_control: false }
}

/// Returns a control frame, which is padded to a minimum frame (WIRE-9).
fn control(
    name: &'static str,
    head: &EthernetHeader,
    frame: &LinkGuardianFrame<'_>,
    header: (&'static str, Values),
) -> Frame {
    let mut whole = carrying(name, head, frame, vec![header, padding()]);
    whole.bytes.resize(MINIMUM_FRAME.0 as usize, 0);
    Frame { is_control: true, ..whole }
}

/// Returns a pause frame (WIRE-10).
fn pause_frame(n: &Numbers) -> Frame {
    let (source, pause) = (ethernet_of(n, EtherType::MAC_CONTROL).source, pause_of(n));
    let head =
        EthernetHeader { destination: MacAddress::MAC_CONTROL, source, ethertype: EtherType::MAC_CONTROL };
    let headers = vec![("pfc", pause_values(&pause)), ("ethernet", ethernet_values(&head)), padding()];
    Frame { name: "pause", headers, bytes: pause.to_frame(source).to_vec(), is_control: true }
}

fn padding() -> (&'static str, Values) {
    ("padding", [("zeros", 0)].into())
}

/// Returns the header that holds the EtherType behind a data header (WIRE-8).
fn next(ethertype: EtherType) -> Header {
    let content = Content { ethertype, payload: &[] };
    let frame = LinkGuardianFrame::Data { ack: None, data: DataHeader::default(), content };
    let mut bytes = vec![0; LinkGuardianFrame::DATA_OVERHEAD];
    frame.emit_headers(&mut bytes);
    Header { name: "next_t", values: next_values(ethertype), bytes: bytes.split_off(DataHeader::LEN) }
}

fn data_of(n: &Numbers) -> DataHeader {
    DataHeader {
        era: n[0] & 1 == 1,
        is_retransmission: n[1] & 1 == 1,
        is_dummy: n[2] & 1 == 1,
        blocking_mode: n[3] & 1 == 1,
        rx_buffered: n[4] & 1 == 1,
        sequence: n[5] as u16,
    }
}

fn ack_of(n: &Numbers) -> AckHeader {
    AckHeader { is_piggybacked: n[0] & 1 == 1, era: n[1] & 1 == 1, leading_ack: n[2] as u16 }
}

fn notification_of(n: &Numbers) -> LossNotification {
    // A hole has one position at least.
    let hole_size = (n[2] as u8).max(1);
    LossNotification { era: n[0] & 1 == 1, leading_ack: n[1] as u16, hole_size, first_lost: n[3] as u16 }
}

fn pause_of(n: &Numbers) -> PauseFrame {
    let quanta = |class: usize| (n[class] >> 63 == 1).then_some(n[class] as u16);
    PauseFrame { quanta: std::array::from_fn(quanta) }
}

fn data_values(data: &DataHeader) -> Values {
    [
        ("kind", DATA),
        ("pad", 0),
        ("era", u128::from(data.era)),
        ("is_retransmission", u128::from(data.is_retransmission)),
        ("is_dummy", u128::from(data.is_dummy)),
        ("blocking_mode", u128::from(data.blocking_mode)),
        ("rx_buffered", u128::from(data.rx_buffered)),
        ("sequence", u128::from(data.sequence)),
    ]
    .into()
}

fn ack_values(ack: &AckHeader) -> Values {
    [
        ("kind", ACK),
        ("is_piggybacked", u128::from(ack.is_piggybacked)),
        ("era", u128::from(ack.era)),
        ("pad", 0),
        ("leading_ack", u128::from(ack.leading_ack)),
    ]
    .into()
}

fn notification_values(notification: &LossNotification) -> Values {
    [
        ("kind", NOTIFICATION),
        ("is_piggybacked", 0),
        ("era", u128::from(notification.era)),
        ("pad", 0),
        ("leading_ack", u128::from(notification.leading_ack)),
        ("hole_size", u128::from(notification.hole_size)),
        ("first_lost", u128::from(notification.first_lost)),
    ]
    .into()
}

fn pause_values(pause: &PauseFrame) -> Values {
    let quanta = |class: usize| u128::from(pause.quanta[class].unwrap_or(0));
    let enabled = (0..CLASSES).filter(|class| pause.quanta[*class].is_some());
    [
        ("opcode", u128::from(pfc::OPCODE)),
        ("class_enable", enabled.fold(0, |vector, class| vector | 1 << class)),
        ("quanta_0", quanta(0)),
        ("quanta_1", quanta(1)),
        ("quanta_2_to_6", (2..=6).fold(0, |sum, class| sum << 16 | quanta(class))),
        ("quanta_7", quanta(7)),
    ]
    .into()
}

/// Names in `headers.p4` of headers that never leave a switch, and of numbers of its parts.
#[rustfmt::skip]
const SHARED: [&str; 27] = [
    // Headers of frames that recirculate, and padding.
    "tx_tag_t", "rx_tag_t", "timer_t", "waiting_t", "padding_t", "ETHERTYPE_TIMER", "ETHERTYPE_WAITING",
    // The fields that a recirculated frame takes along, and the purposes of replicas.
    "FIELDS_RECIRCULATED",
    "RID_NONE", "RID_FORWARD", "RID_RETRANSMISSION", "RID_NOTIFICATION", "RID_PAUSE", "RID_COPY", "RID_DUMMY",
    "RID_ACK", "RID_TIMER", "RID_NOTIFICATION_COPY",
    // Multicast groups and mirror sessions.
    "GROUP_RETRANSMISSION", "GROUP_NOTIFICATION", "GROUP_NOTIFICATION_AND_HOST", "GROUP_NOTIFICATION_AND_LOOP",
    "GROUP_PAUSE", "SESSION_COPY", "SESSION_COPY_AND_DUMMY", "SESSION_DUMMY", "SESSION_ACK",
];

/// Names of the words between the registers of a receiver.
const PAUSING: [&str; 3] = ["PAUSE_NOTHING", "PAUSE_STOP", "PAUSE_RESUME"];

/// Names by which Tofino's programs count positions, reach ports and hand packets on.
#[rustfmt::skip]
const TOFINO: [&str; 10] = [
    "STEP", "OCCUPIED", "MARKS", "PORT_PROCESSOR", "PORT_GENERATOR", "DROP", "MIRROR", "origin_t", "report_t",
    "held_t",
];
