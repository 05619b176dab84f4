//! The places of a network, and the least times between them.
//!
//! ```text
//!  near --near_to_link--> [ forward ] --link_to_far--> far      places that take turns; where the directions of the link
//!  near <--link_to_near-- [  back   ] <--far_to_link-- far      may not, the link is one place
//! ```
//!
//! A packet that finds a host idle is handled when the host is awake. At a host that holds packets, any later packet is
//! handled no sooner than these, so that its arrival causes no event.

use crate::kernel::ahead::Leads;
use crate::world::Path;
use lossylink_core::time::{Duration, Instant};

/// The time of each place's next event, and which hosts hold packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) near: Instant,
    pub(super) far: Instant,
    pub(super) forward: Instant,
    pub(super) back: Instant,
    pub(super) near_holds: bool,
    pub(super) far_holds: bool,
}

impl Next {
    pub(super) fn poll_timeout(&self) -> Instant {
        self.near.min(self.far).min(self.link())
    }

    /// Returns the time of the link's next event.
    pub(super) fn link(&self) -> Instant {
        self.forward.min(self.back)
    }

    fn holds(&self) -> usize {
        usize::from(self.near_holds) | usize::from(self.far_holds) << 1
    }

    /// Returns the next events of the link, of the far host, and of the near host, in this order.
    fn of_three(&self) -> [Instant; 3] {
        [self.link(), self.far, self.near]
    }

    /// Returns the next events of the forward direction, of the way back, of the far host, and of the near host, in this
    /// order.
    fn of_four(&self) -> [Instant; 4] {
        [self.forward, self.back, self.far, self.near]
    }
}

/// The least times between the places, for each set of hosts that hold packets: none, the near host, the far host, both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    near_to_link: Duration,
    link_to_far: Duration,
    far_to_link: Duration,
    link_to_near: Duration,
    /// The least times if the link is one place, which may answer a host by itself.
    three: [Leads<3>; 4],
    /// The least times if the directions of the link are places of their own, and only a host answers the other host.
    four: [Leads<4>; 4],
}

impl Places {
    pub(super) fn of(path: &Path) -> Self {
        let none = Duration::MAX;
        let mut places = Self {
            near_to_link: path.to_link.least_time(),
            link_to_far: path.to_far.least_time(),
            far_to_link: path.back_to_link.least_time(),
            link_to_near: path.to_near.least_time(),
            three: [Leads::along(&[], [none; 3]); 4],
            four: [Leads::along(&[], [none; 4]); 4],
        };
        places.set_wake_up(Duration::ZERO);
        places
    }

    /// Sets the least time after its arrival at which an idle host handles a packet.
    pub(super) fn set_wake_up(&mut self, wake_up: Duration) {
        let Self { near_to_link, link_to_far, far_to_link, link_to_near, .. } = *self;
        for holds in 0..4 {
            let dwell = |host: usize| if holds >> host & 1 == 1 { Duration::MAX } else { wake_up };
            let (near, far) = (dwell(0), dwell(1));
            let steps =
                [(2, 0, near_to_link), (0, 1, link_to_far), (1, 0, far_to_link), (0, 2, link_to_near)];
            self.three[holds] = Leads::along(&steps, [Duration::ZERO, far, near]);
            let steps =
                [(3, 0, near_to_link), (0, 2, link_to_far), (2, 1, far_to_link), (1, 3, link_to_near)];
            self.four[holds] = Leads::along(&steps, [Duration::ZERO, Duration::ZERO, far, near]);
        }
    }

    /// Returns until when the link may go on as one place, which may answer a host by itself.
    #[inline]
    pub(super) fn link_until(&self, next: &Next) -> Instant {
        self.three[next.holds()].until(0, &next.of_three())
    }

    /// Returns until when the far host may go on; `only_hosts_answer` where the link answers no host by itself.
    #[inline]
    pub(super) fn far_until(&self, next: &Next, only_hosts_answer: bool) -> Instant {
        if only_hosts_answer {
            self.four[next.holds()].until(2, &next.of_four())
        } else {
            self.three[next.holds()].until(1, &next.of_three())
        }
    }

    /// Returns until when the near host may go on; `only_hosts_answer` where the link answers no host by itself.
    #[inline]
    pub(super) fn near_until(&self, next: &Next, only_hosts_answer: bool) -> Instant {
        if only_hosts_answer {
            self.four[next.holds()].until(3, &next.of_four())
        } else {
            self.three[next.holds()].until(2, &next.of_three())
        }
    }

    /// Returns until when the forward direction may go on by itself.
    #[inline]
    pub(super) fn forward_until(&self, next: &Next) -> Instant {
        self.four[next.holds()].until(0, &next.of_four())
    }

    /// Returns until when the way back may go on by itself: by then all events of the forward direction are known.
    #[inline]
    pub(super) fn back_until(&self, next: &Next) -> Instant {
        let back = self.four[next.holds()].until(1, &next.of_four());
        back.min(next.forward.just_before()).min(self.forward_until(next))
    }
}
