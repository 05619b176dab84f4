//! Two guards and whoever else is on their link.

mod hostile;
