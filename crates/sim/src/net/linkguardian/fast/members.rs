//! Frames of the protection as members of trains: whether one frame follows another, and how the next frame is derived from a
//! frame.

use super::frames::{Arrival, Copied};
use crate::kernel::Member;
use crate::net::Payload;

impl<P: Payload> Member for Copied<P> {
    #[inline]
    fn distance(&self, next: &Self, count: u32) -> Option<u32> {
        let follows =
            next.number == self.number.wrapping_add(count) && next.position == self.position.plus(count);
        if follows { self.frame.distance(&next.frame, count) } else { None }
    }

    #[inline]
    fn follow(&mut self, count: u32, step: u32) {
        self.position = self.position.plus(count);
        self.number = self.number.wrapping_add(count);
        self.frame.follow(count, step);
    }
}

impl<P: Payload> Member for Arrival<P> {
    #[inline]
    fn distance(&self, next: &Self, count: u32) -> Option<u32> {
        match (self, next) {
            (Self::Data(data), Self::Data(next)) => data.distance(next, count),
            (Self::Dummy(position), Self::Dummy(next)) => (position == next).then_some(count),
            _ => None,
        }
    }

    #[inline]
    fn follow(&mut self, count: u32, step: u32) {
        if let Self::Data(data) = self {
            data.follow(count, step);
        }
    }
}
