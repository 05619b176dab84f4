//! A link without protection: the passthrough engine between a queue and a wire.

use super::direct::{DirectLink, Line, Scheme};
use super::wire::Kind;
use super::{Frame, Payload, Report};
use lossylink_core::engine::passthrough::Passthrough;
use lossylink_core::time::Instant;

/// An unprotected link.
pub type PlainLink<P> = DirectLink<P, Unprotected>;

/// The scheme that sends every frame once, as it came.
#[derive(Clone, Debug, Default)]
pub struct Unprotected {
    engine: Passthrough,
}

impl<P: Payload> Scheme<P> for Unprotected {
    const SKIPS_CLEAN: bool = true;
    const PROTECTS: bool = false;

    #[inline(always)]
    fn send(&mut self, now: Instant, line: &mut Line<P>, frame: Frame<P>) {
        if line.carry(now, &frame, Kind::Data { header_octets: 0 }) {
            self.engine.handle_frame();
            line.deliver(frame);
        }
    }

    /// Adds nothing: the wire and the queue count everything that an unprotected link does.
    fn describe(&self, _report: &mut Report) {}
}
