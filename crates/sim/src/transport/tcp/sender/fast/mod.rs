//! Trains of acknowledgements in, and of segments out: each function equals the same events one by one, polled in between.

mod even;
mod paced;
mod repeat;
mod train;
