//! The tests of the codec from outside, as one program: each module has one subject.

mod allocations;
#[path = "../checks/mod.rs"]
mod checks;
mod garbage;
mod guards;
mod link;
mod patterns;
mod residual;
mod routed;
