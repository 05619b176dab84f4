//! Whole numbers of very many trials: packed, laid aside where memory has no room for them, and put in order.

mod ordered;
mod packed;
mod store;

pub(crate) use ordered::Ordered;
pub(crate) use packed::{Packed, Packing, RUN, Runs};
pub(crate) use store::Store;
