//! Trains of packets that arrive at a core.

use super::{BURST_PACKETS, Core};
use crate::kernel::Train;
use crate::world::reception::Reception;
use lossylink_core::rng::Stream;

impl<F: Copy + Default> Core<F> {
    /// A train of packets arrives, `packet` and those that `follow` makes of it, as each by itself would. `merge` adds as
    /// many to the packet before them as it can. Arrivals come in order. The packets' numbers go on by one each.
    pub fn arrive_in_train(
        &mut self,
        train: Train,
        packet: &mut F,
        host: &Reception,
        draws: &mut Stream,
        merge: impl Fn(&mut F, &F, u32) -> u32,
        follow: impl Fn(&mut F, u32),
    ) {
        let mut index = 0;
        while index < train.count {
            let most = self.mergeable(train, index, host);
            let held = if most > 0 { self.waiting.last_mut() } else { None };
            let mut taken = held.map_or(0, |held| merge(held, packet, most));
            self.packets += taken;
            if taken == 0 {
                self.arrive(train.nth(index), packet, host, draws, |held, next| merge(held, next, 1) == 1);
                taken = 1;
            }
            index += taken;
            if index < train.count {
                follow(packet, taken * train.step);
            }
        }
    }

    /// How many of a train from `index` on come before the core begins with the newest segment, once a burst has been
    /// put off or cannot be any more.
    fn mergeable(&self, train: Train, index: u32, host: &Reception) -> u32 {
        let at = train.nth(index);
        if !host.merges() || at > self.begins_at || self.packets < BURST_PACKETS {
            return 0;
        }
        // With others between them each may be part of another segment.
        let behind = if train.step == 1 { train.count } else { index + 1 };
        let (left, span) = (behind - index, (self.begins_at - at).as_ps());
        match train.spacing.as_ps() {
            0 => left,
            spacing => (span / spacing + 1).min(u64::from(left)) as u32,
        }
    }
}
