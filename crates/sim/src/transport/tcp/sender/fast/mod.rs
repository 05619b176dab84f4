//! Trains of acknowledgements in, and of segments out. Each function equals the events one by one, polled in between.

mod constant_window;
mod paced;
mod repeat;
mod train;
