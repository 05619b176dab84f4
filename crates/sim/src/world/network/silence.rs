//! Runs a network until its hosts have no event left and its link moves no data.

use super::{Addressed, Network};
use crate::net::ProtectedLink;
use crate::world::Protocol;
use crate::world::limits::LATEST;
use lossylink_core::time::Instant;

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Runs until no event is left, or until the hosts have no event and the link moves no data any more though it asks for an
    /// answer. Frames that are under way then stay where they are.
    pub fn fall_silent(&mut self) {
        loop {
            let hosts = Some(self.next_of_hosts()).filter(|next| !next.is_never());
            let end = self.link.standstill().max(hosts.unwrap_or_default()).min(LATEST);
            if self.poll_timeout() > end || self.is_stopped() {
                return;
            }
            self.run_while(0, |_| true, end);
        }
    }

    /// Returns the time of the next event outside of the link: at a host, or of a frame that reaches the link.
    fn next_of_hosts(&self) -> Instant {
        let on_the_way = self.at_link.poll_timeout().min(self.back_at_link.poll_timeout());
        on_the_way.min(self.next_at_near()).min(self.next_at_far())
    }
}
