//! Trains of acknowledgements in, and of segments out. Each function equals the events one by one, polled in between.

mod even;
mod paced;
mod repeat;
mod train;
