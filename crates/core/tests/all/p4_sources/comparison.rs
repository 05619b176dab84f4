//! The comparison of a program with this crate: every constant and every header has a counterpart that
//! agrees, or is known to exist only inside a switch.

use super::common;
use super::frames::{Frame, Header};
use super::program::Program;

/// Random numbers, from which a comparison takes the values of fields.
pub(crate) type Numbers = [u64; 12];

/// The counterparts in this crate of the programs of one protection.
pub(crate) struct Family {
    /// The folder of the programs below `p4/`.
    pub(crate) folder: &'static str,
    /// The files of the programs below `p4/`, or the folders of these files.
    pub(crate) files: &'static [&'static str],
    /// Constants and their values in this crate, but for the constants that all programs share.
    pub(crate) constants: fn() -> Vec<(&'static str, u128)>,
    /// The widths of types in bits.
    pub(crate) widths: fn() -> Vec<(&'static str, usize)>,
    /// Headers on a wire, with values and the bytes that this crate makes of them.
    pub(crate) headers: fn(&Numbers) -> Vec<Header>,
    /// Whole frames, with values and the bytes that this crate makes of them.
    pub(crate) frames: fn(&Numbers) -> Vec<Frame>,
    /// Constants and headers that exist only inside a switch.
    pub(crate) inside: &'static [&'static [&'static str]],
    /// Prefixes of the names of numbered things inside a switch, such as events.
    /// `tests/python/test_bmv2_sources.py` checks those numbers.
    pub(crate) numbered: &'static [&'static str],
}

impl Family {
    /// Returns the defects of a program, one line each; empty if all agrees.
    pub(crate) fn defects(&self, program: &Program, numbers: &Numbers) -> Vec<String> {
        let constants = [common::constants(), (self.constants)()].concat();
        let headers = (self.headers)(numbers);
        let mut defects = self.unchecked(program, &constants, &headers);
        for (name, expected) in &constants {
            match program.constants.get(*name) {
                None => defects.push(format!("{name} is not in the program")),
                Some(value) if value != expected => {
                    defects.push(format!("{name} is {value}, not {expected}"))
                }
                Some(_) => {}
            }
        }
        for (name, expected) in (self.widths)() {
            let width = program.width(name);
            if width != Ok(expected) {
                defects.push(format!("{name} has {width:?} bits, not {expected}"));
            }
        }
        defects.extend(headers.iter().filter_map(|header| header.defect(program)));
        defects.extend((self.frames)(numbers).iter().filter_map(|frame| frame.defect(program)));
        defects
    }

    /// Returns the names without a counterpart, and the names in the lists that the program does not have.
    fn unchecked(
        &self,
        program: &Program,
        constants: &[(&'static str, u128)],
        headers: &[Header],
    ) -> Vec<String> {
        let checked: Vec<&str> =
            constants.iter().map(|(name, _)| *name).chain(headers.iter().map(|header| header.name)).collect();
        let inside = || common::INSIDE.iter().chain(self.inside.iter().copied().flatten());
        let is_numbered = |name: &str| self.numbered.iter().any(|prefix| name.starts_with(prefix));
        let declared = || program.constants.keys().chain(program.headers.keys()).map(String::as_str);
        let is_inside = |name: &str| inside().any(|other| *other == name) || is_numbered(name);
        let is_known = |name: &&str| checked.contains(name) != is_inside(name);
        let without = declared().filter(|name| !is_known(name));
        let gone = inside().filter(|name| declared().all(|other| other != **name));
        let without =
            without.map(|name| format!("{name} has no counterpart, or is listed as one that needs none"));
        without.chain(gone.map(|name| format!("{name} is gone"))).collect()
    }
}

/// Returns lists of numbers in which one number is as large as can be and the others are zero, each number
/// in turn. These lists tell any two fields apart.
pub(crate) fn one_at_a_time() -> impl Iterator<Item = Numbers> {
    (0..12).map(|place| std::array::from_fn(|other| if other == place { u64::MAX } else { 0 }))
}
