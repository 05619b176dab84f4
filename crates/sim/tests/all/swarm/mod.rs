//! One seed draws a whole world around a protected link, runs the world, heals its link, and checks the run. The scene, the
//! storm and the checks of frames are those of any protection; each protection adds its options, its faults and its own checks.

mod check;
pub(crate) mod linkguardian;
pub(crate) mod llr;
mod scene;
mod storm;
mod verdict;

pub(crate) use verdict::every_seed;
