//! Trains of packets that arrive at a core.

use super::{BURST_PACKETS, Core};
use crate::kernel::Train;
use crate::world::reception::Reception;
use lossylink_core::rng::Stream;

impl<F: Copy + Default> Core<F> {
    /// Takes in a train of packets, `packet` and the packets that `follow` makes of it. Equals [`Core::arrive`] of each
    /// packet at its time. `merge` adds as many packets as it can to the packet before them. Arrivals come in order. The
    /// packets' numbers go on by `train.step` each.
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

    /// Returns how many packets of a train from `index` on come before the core begins with the newest segment. Returns 0
    /// while a burst may still be put off.
    fn mergeable(&self, train: Train, index: u32, host: &Reception) -> u32 {
        let at = train.nth(index);
        if !host.merges() || at > self.begins_at || self.packets < BURST_PACKETS {
            return 0;
        }
        // With packets of others between them, each packet may be part of another segment.
        let behind = if train.step == 1 { train.count } else { index + 1 };
        let (left, span) = (behind - index, (self.begins_at - at).as_ps());
        match train.spacing.as_ps() {
            0 => left,
            spacing => (span / spacing + 1).min(u64::from(left)) as u32,
        }
    }
}
