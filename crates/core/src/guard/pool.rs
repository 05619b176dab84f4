//! A pool of frames that are used again and again: after the first use of each no frame costs an
//! allocation.

use alloc::vec::Vec;

/// One Ethernet frame without its FCS, with room to grow to the longest frame of its pool.
pub type Frame = Vec<u8>;

/// A bounded stock of frames.
#[derive(Debug)]
pub struct FramePool {
    free: Vec<Frame>,
    longest: usize,
    outside: usize,
    limit: usize,
}

impl FramePool {
    /// Returns a pool of at most `limit` frames of at most `longest` bytes each; empty until first
    /// used.
    pub fn new(limit: usize, longest: usize) -> Self {
        Self { free: Vec::new(), longest, outside: 0, limit }
    }

    /// Returns a frame with these bytes, or `None` when the bytes are too many or every frame is in
    /// use.
    pub fn copy(&mut self, bytes: &[u8]) -> Option<Frame> {
        if bytes.len() > self.longest {
            return None;
        }
        let mut frame = self.empty()?;
        frame.extend_from_slice(bytes);
        Some(frame)
    }

    /// Returns an empty frame, or `None` when every frame is in use.
    pub fn empty(&mut self) -> Option<Frame> {
        if self.outside == self.limit {
            return None;
        }
        self.outside += 1;
        Some(self.free.pop().unwrap_or_else(|| Vec::with_capacity(self.longest)))
    }

    /// Takes a frame back.
    ///
    /// # Panics
    /// When more frames come back than went out.
    pub fn give_back(&mut self, mut frame: Frame) {
        assert!(self.outside > 0, "a frame came back that never went out");
        self.outside -= 1;
        frame.clear();
        self.free.push(frame);
    }

    /// Returns the length of the longest frame, in bytes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Returns how many frames may be in use.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns how many frames are in use.
    pub fn in_use(&self) -> usize {
        self.outside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_is_bounded_and_reuses_its_frames() {
        let mut pool = FramePool::new(2, 100);
        let first = pool.copy(&[1; 100]).unwrap();
        let second = pool.copy(&[2; 3]).unwrap();
        assert_eq!(pool.copy(&[3]), None);
        let place = first.as_ptr();
        pool.give_back(first);
        let third = pool.copy(&[3; 60]).unwrap();
        assert_eq!(third.as_ptr(), place);
        assert_eq!((third.as_slice(), second.as_slice()), ([3; 60].as_slice(), [2; 3].as_slice()));
        assert_eq!(pool.in_use(), 2);
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused() {
        assert_eq!(FramePool::new(1, 100).copy(&[0; 101]), None);
    }
}
