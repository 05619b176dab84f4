//! Protection engines: an engine decides, a driver executes and times.

pub mod guard;
