//! Tests of two guards and of an attacker on their link.

mod hostile;
