//! What a frame carries, as far as the network looks into it.

/// What a frame carries: the network asks how it goes on from one frame of a train to the next, and nothing else.
pub trait Payload: Copy + Default {
    /// How far the number of `next` is beyond this one's, if they differ in nothing else; `None` if they do.
    fn distance(&self, _next: &Self) -> Option<u32> {
        None
    }

    /// Turns it into the one whose number is `distance` beyond its own, and which is the same in all else.
    fn follow(&mut self, _distance: u32) {
        unreachable!("what is at a distance from nothing is never followed");
    }
}

impl Payload for () {}

impl Payload for u64 {
    #[inline]
    fn distance(&self, next: &Self) -> Option<u32> {
        next.checked_sub(*self).and_then(|distance| u32::try_from(distance).ok())
    }

    #[inline]
    fn follow(&mut self, distance: u32) {
        *self += Self::from(distance);
    }
}

impl Payload for u32 {
    #[inline]
    fn distance(&self, next: &Self) -> Option<u32> {
        next.checked_sub(*self)
    }

    #[inline]
    fn follow(&mut self, distance: u32) {
        *self += distance;
    }
}
