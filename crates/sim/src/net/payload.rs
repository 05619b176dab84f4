//! The payload of a frame, as far as the network looks into it.

/// The payload of a frame. The network asks how the payload goes on from one frame of a train to the next, and nothing else.
pub trait Payload: Copy + Default {
    /// Returns how far the number of `next` is beyond the number of this payload, which is the first of `count` in a train.
    /// `None` if the two payloads differ in anything else.
    fn distance(&self, _next: &Self, _count: u32) -> Option<u32> {
        None
    }

    /// Turns the payload into the one `count` places behind it in a train. In the train the number of each payload is `step`
    /// beyond the number of the payload before, and all else is equal.
    fn follow(&mut self, _count: u32, _step: u32) {
        unreachable!("what is at a distance from nothing is never followed");
    }
}

impl Payload for () {}

impl Payload for u64 {
    #[inline]
    fn distance(&self, next: &Self, _count: u32) -> Option<u32> {
        next.checked_sub(*self).and_then(|distance| u32::try_from(distance).ok())
    }

    #[inline]
    fn follow(&mut self, count: u32, step: u32) {
        *self += Self::from(count * step);
    }
}

impl Payload for u32 {
    #[inline]
    fn distance(&self, next: &Self, _count: u32) -> Option<u32> {
        next.checked_sub(*self)
    }

    #[inline]
    fn follow(&mut self, count: u32, step: u32) {
        *self += count * step;
    }
}
