//! Named random streams: adding a consumer leaves every other stream unchanged.

pub use rand_core::RngCore;
use rand_core::SeedableRng;
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// The generator behind every stream: xoshiro256++, 2^256 - 1 long, about a nanosecond a number.
pub type Stream = Xoshiro256PlusPlus;

/// The name of a stream as a number, for streams that are asked for often.
#[derive(Clone, Copy, Debug)]
pub struct StreamName(u64);

impl StreamName {
    /// Returns the FNV-1a hash of the name.
    pub const fn new(name: &str) -> Self {
        const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
        let (bytes, mut hash, mut place) = (name.as_bytes(), FNV_OFFSET, 0);
        while place < bytes.len() {
            hash = (hash ^ bytes[place] as u64).wrapping_mul(FNV_PRIME);
            place += 1;
        }
        Self(hash)
    }
}

/// The family of random streams of one run.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// Returns the family that belongs to `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the stream called `name`, for instance `"link/3/loss"`.
    pub fn stream(&self, name: &str) -> Stream {
        self.named(StreamName::new(name))
    }

    /// Returns the stream of this name.
    pub fn named(&self, name: StreamName) -> Stream {
        Stream::seed_from_u64(self.derive(name))
    }

    /// Returns the family for the `index`-th trial: trials are independent of each other, of their number and of the
    /// threads that run them.
    pub fn trial(&self, index: u64) -> Self {
        const TRIAL: StreamName = StreamName::new("trial");
        let mut mix = SplitMix64::seed_from_u64(self.derive(TRIAL) ^ index);
        Self { seed: mix.next_u64() }
    }

    /// Mixes the seed and a name: one step of SplitMix64.
    fn derive(&self, name: StreamName) -> u64 {
        SplitMix64::seed_from_u64(self.seed ^ name.0).next_u64()
    }
}

/// Returns random numbers that follow from `seed` and `index` alone, so that a draw can be repeated, in any order.
#[inline]
pub fn at_index(seed: u64, index: u64) -> impl RngCore {
    SplitMix64::seed_from_u64(seed.rotate_left(32) ^ index)
}

/// Returns a float uniform on [0, 1), with 53 random bits.
#[inline]
pub fn uniform(rng: &mut impl RngCore) -> f64 {
    as_uniform(rng.next_u64())
}

/// Returns the float on [0, 1) whose bits behind the point are the first 53 of `bits`.
#[inline]
pub const fn as_uniform(bits: u64) -> f64 {
    // A signed number takes one instruction to convert.
    (bits >> 11) as i64 as f64 * (1.0 / 9_007_199_254_740_992.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_seed_fix_a_stream() {
        let draw = |seed, name| Streams::new(seed).stream(name).next_u64();
        assert_eq!(draw(1, "link/0/loss"), draw(1, "link/0/loss"));
        assert_ne!(draw(1, "link/0/loss"), draw(1, "link/1/loss"));
        assert_ne!(draw(1, "link/0/loss"), draw(2, "link/0/loss"));
    }

    #[test]
    fn trials_differ_from_each_other() {
        let draw = |trial| Streams::new(9).trial(trial).stream("host").next_u64();
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }
}
