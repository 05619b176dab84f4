//! The tests of the core from outside, as one program: each module has one subject.

#[path = "../checks/mod.rs"]
mod checks;
mod citations;
mod guard;
mod p4;
mod p4_sources;
mod parsers;
mod phy_bit_by_bit;
mod rules;
mod tidy;
