//! The processes by which a link corrupts frames.
