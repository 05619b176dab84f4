//! What a frame carries, as far as the network looks into it.

/// What a frame carries: the network asks how it goes on from one frame of a train to the next, and nothing else.
pub trait Payload: Copy + Default {
    /// How far the number of `next` is beyond this one's, which is the first of `count` in a train, if they differ in nothing
    /// else; `None` if they do.
    fn distance(&self, _next: &Self, _count: u32) -> Option<u32> {
        None
    }

    /// Turns it into the one `count` places behind it in a train in which the number of each is `step` beyond that of the one
    /// before, and which is the same in all else.
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
