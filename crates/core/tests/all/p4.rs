//! The programs for switches in `p4/` have the headers, frames and constants of this crate.
//!
//! The programs are read as text: no compiler is needed, and a change of one side alone is found.

use crate::p4_sources::{FAMILIES, Family, Numbers, Program, Sources, folders, one_at_a_time};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Every family whose folder is there, with its program.
static PROGRAMS: LazyLock<Vec<(&Family, Program)>> = LazyLock::new(|| {
    let there = folders();
    let families = FAMILIES.into_iter().filter(|family| there.iter().any(|folder| folder == family.folder));
    families.map(|family| (family, program(&Sources::of(family.files)))).collect()
});

fn program(sources: &Sources) -> Program {
    Program::of(sources).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the defects of changed sources of LinkGuardian.
fn defects(sources: &Sources) -> Vec<String> {
    match Program::of(sources) {
        Ok(program) => one_at_a_time().flat_map(|numbers| FAMILIES[0].defects(&program, &numbers)).collect(),
        Err(error) => vec![error],
    }
}

/// Asserts that a change of LinkGuardian's sources is found, and reported in these words.
fn assert_found(sources: &Sources, words: &str) {
    let defects = defects(sources);
    assert!(defects.iter().any(|defect| defect.contains(words)), "{words:?} is not in {defects:#?}");
}

#[test]
fn every_program_is_compared() {
    let compared = FAMILIES.iter().map(|family| family.folder);
    let missing: Vec<String> =
        folders().into_iter().filter(|folder| !compared.clone().any(|other| other == folder)).collect();
    assert_eq!(missing, ["common"], "a folder of p4/ has no file in crates/core/tests/all/p4_sources");
}

proptest! {
    // WIRE-4..10
    #[test]
    fn programs_and_crate_agree(numbers: Numbers) {
        for (family, program) in PROGRAMS.iter() {
            prop_assert_eq!(family.defects(program, &numbers), Vec::<String>::new());
        }
    }
}

/// WIRE-4: a switch looks at two bits to tell the kind of the next header. A data header, whose kind is
/// zero, would not show that these bits stand elsewhere.
#[test]
fn the_kind_comes_first() {
    let program = program(&Sources::of(FAMILIES[0].files));
    let has_kind = |header: &str| program.headers[header].fields().iter().any(|field| field.name == "kind");
    let with_kind: Vec<&String> = program.headers.keys().filter(|header| has_kind(header)).collect();
    assert_eq!(with_kind, ["ack_t", "data_t", "notification_t", "tx_tag_t"]);
    for header in with_kind {
        let first = &program.headers[header].fields()[0];
        assert_eq!((first.name.as_str(), first.width), ("kind", 2), "{header}");
    }
}

/// Canaries: each change is found.
#[test]
fn a_changed_field_is_found() {
    let sources = Sources::of(FAMILIES[0].files);
    assert_eq!(defects(&sources), Vec::<String>::new());
    let changes = [
        ("bit<1> is_dummy;", "bit<2> is_dummy;", "data_t has 25 bits"),
        ("bit<1> is_dummy;", "bit<9> is_dummy;", "data_t makes"),
        ("bit<1> is_dummy;", "", "data_t has no field is_dummy"),
        ("bit<1> is_dummy;", "bit<1> is_empty;", "data_t has no field is_dummy"),
        ("bit<1> is_dummy;", "bit<1> is_dummy; bit<8> more;", "data_t has a new field more"),
        (
            "bit<1> is_retransmission;\n    bit<1> is_dummy;",
            "bit<1> is_dummy;\n    bit<1> is_retransmission;",
            "data_t makes",
        ),
        (
            "bit<8> hole_size;\n    bit<16> first_lost;",
            "bit<16> first_lost;\n    bit<8> hole_size;",
            "notifica",
        ),
        (
            "bit<80> quanta_2_to_6;\n    bit<16> quanta_7;",
            "bit<16> quanta_7;\n    bit<80> quanta_2_to_6;",
            "pfc",
        ),
        (
            "mac_t destination;\n    mac_t source;",
            "mac_t source;\n    mac_t destination;",
            "ethernet_t makes",
        ),
        ("typedef bit<16> ethertype_t;", "typedef bit<24> ethertype_t;", "next_t makes"),
        ("typedef bit<17> position_t;", "typedef bit<18> position_t;", "position_t has Ok(18) bits, not 17"),
    ];
    for (from, to, words) in changes {
        assert_found(&sources.replaced(from, to), words);
    }
}

#[test]
fn a_changed_constant_is_found() {
    let sources = Sources::of(FAMILIES[0].files);
    let changes = [
        ("ETHERTYPE_LINKGUARDIAN = 0xABCD;", "0xABCE", "ETHERTYPE_LINKGUARDIAN is 43982, not 43981"),
        ("KIND_ACK = 1;", "2", "KIND_ACK is 2, not 1"),
        ("HOLE_CAP = 5;", "6", "HOLE_CAP is 6, not 5"),
        ("WINDOW = 32768;", "32767", "WINDOW is 32767, not 32768"),
        ("SENDS_PER_UPDATE = 2;", "3", "SENDS_PER_UPDATE is 3, not 2"),
        ("LARGEST_HOLE = 255;", "256", "LARGEST_HOLE is 256, not 255"),
        ("PFC_QUANTA_PAUSE = 65535;", "65534", "PFC_QUANTA_PAUSE is 65534, not 65535"),
        ("CORRUPTION_DRAW_MAX = 0xFFFFF;", "0xFFFF", "CORRUPTION_DRAW_MAX is 65535, not 1048575"),
        ("MINIMUM_FRAME_BYTES = 60;", "64", "MINIMUM_FRAME_BYTES is 64, not 60"),
    ];
    for (line, value, words) in changes {
        let name = line.split(' ').next().expect("a name");
        assert_found(&sources.replaced(line, &format!("{name} = {value};")), words);
    }
}

/// WIRE-8, WIRE-9: the first header of a frame, and the padding of a frame.
#[test]
fn a_changed_frame_is_found() {
    let sources = Sources::of(FAMILIES[0].files);
    let ack = "    ack_t ack;\n    next_t ack_next;\n";
    let data = "    data_t data;\n    rx_tag_t rx_tag;\n    next_t data_next;\n";
    let ack_last = sources.replaced(ack, "").replaced(data, &format!("{data}{ack}"));
    assert_found(&ack_last, "protected, with an ACK of headers_t: [");
    assert_found(&sources.replaced("    ack_t ack;\n", ""), "explicit ACK: a header is in no headers_t");
    assert_found(&sources.replaced("bit<344> zeros;", "bit<336> zeros;"), "dummy of headers_t: [");
    let in_front = sources
        .replaced("    padding_t padding;\n", "")
        .replaced("    pfc_t", "    padding_t padding;\n    pfc_t");
    assert_found(&in_front, "pause of headers_t: [");
}

#[test]
fn what_has_no_counterpart_is_found() {
    let sources = Sources::of(FAMILIES[0].files);
    assert_found(&sources.with("header new_t { bit<8> field; }"), "new_t has no counterpart");
    assert_found(&sources.with("const bit<8> NEW = 1;"), "NEW has no counterpart");
    assert_found(&sources.with("const bit<8> NEW = OTHER;"), "NEW cannot be read: OTHER");
    assert_found(
        &sources.with("#define NEW 1"),
        "a number of the preprocessor is not compared: #define NEW 1",
    );
    assert_found(&sources.with("enum bit<8> new_t { FIRST = 1 }"), "an enum is not compared yet");
    assert_found(&sources.replaced("const bit<8> HOLE_CAP = 5;", ""), "HOLE_CAP is not in the program");
    assert_found(&sources.replaced("const bit<32> MARKS = 4096;", ""), "MARKS is gone");
    assert_found(&sources.replaced("header ack_t {", "header other_t {"), "ack_t is not in the program");
}
