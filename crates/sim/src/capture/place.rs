//! The hops of LinkGuardian's artifact by name, and where the simulator has them.
//!
//! ```text
//!  h4 -- sw8 -- sw4 -- sw2 == sw6 -- sw10 -- h8
//! ```

use crate::net::tap::LegName;

/// A hop by its leg and its place on it.
type OnLeg = (LegName, usize);

/// The hops around the link: name, place on the way forward, place on the way back.
const AROUND: [(&str, OnLeg, OnLeg); 5] = [
    ("h4-sw8", (LegName::ToLink, 0), (LegName::ToNear, 2)),
    ("sw8-sw4", (LegName::ToLink, 1), (LegName::ToNear, 1)),
    ("sw4-sw2", (LegName::ToLink, 2), (LegName::ToNear, 0)),
    ("sw6-sw10", (LegName::ToFar, 0), (LegName::BackToLink, 1)),
    ("sw10-h8", (LegName::ToFar, 1), (LegName::BackToLink, 0)),
];

/// Hops in front of the link in [`AROUND`].
const BEFORE: usize = 3;

/// The hop that a capture records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The protected link.
    Link,
    /// An ordinary hop: leg and index on the way forward, and on the way back.
    Hop(OnLeg, OnLeg),
}

impl Place {
    /// The name of the protected link.
    pub const LINK_NAME: &str = "sw2-sw6";

    /// Returns the hop called `name`.
    pub fn named(name: &str) -> Option<Self> {
        if name == Self::LINK_NAME {
            return Some(Self::Link);
        }
        let found = AROUND.iter().find(|(hop, ..)| *hop == name);
        found.map(|&(_, forward, backward)| Self::Hop(forward, backward))
    }

    /// Returns all names in the order of the path.
    pub fn names() -> Vec<&'static str> {
        let around = AROUND.iter().map(|(name, ..)| *name);
        around.clone().take(BEFORE).chain([Self::LINK_NAME]).chain(around.skip(BEFORE)).collect()
    }

    /// Returns the index of this hop in a leg, if the hop belongs to the leg.
    #[inline]
    pub fn index_in(self, leg: LegName) -> Option<usize> {
        let Self::Hop(forward, backward) = self else { return None };
        [forward, backward].into_iter().find(|(name, _)| *name == leg).map(|(_, index)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::tap::Direction;

    #[test]
    fn names_stand_in_the_order_of_the_path_and_are_found() {
        assert_eq!(Place::names(), ["h4-sw8", "sw8-sw4", "sw4-sw2", Place::LINK_NAME, "sw6-sw10", "sw10-h8"]);
        assert!(Place::names().into_iter().all(|name| Place::named(name).is_some()));
        assert_eq!(Place::named("sw6-sw2"), None);
    }

    #[test]
    fn every_hop_is_one_of_each_direction() {
        for (name, forward, backward) in AROUND {
            assert_eq!(forward.0.direction(), Direction::Forward, "{name}");
            assert_eq!(backward.0.direction(), Direction::Backward, "{name}");
        }
    }

    #[test]
    fn the_link_is_on_no_leg() {
        assert_eq!(Place::Link.index_in(LegName::ToLink), None);
        let first = Place::named("h4-sw8").unwrap();
        assert_eq!((first.index_in(LegName::ToLink), first.index_in(LegName::ToNear)), (Some(0), Some(2)));
        assert_eq!(first.index_in(LegName::ToFar), None);
    }
}
