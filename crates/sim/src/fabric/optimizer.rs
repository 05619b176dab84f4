//! CorrOpt's optimizer: which corrupting links of a pod to take out of service, now that a link of the pod has come
//! back.
//!
//! Source: CorrOpt, SIGCOMM 2017, section 5.2. Everything is local to a pod: a link constrains the ToR switches of its
//! pod alone, and after each event every corrupting link in service is one that its pod cannot spare. So only the
//! pod of a link that came back can have changed.

use super::exact::Sum;
use super::pod::Pod;
use super::topology::Place;

/// A corrupting link in service.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corrupting {
    /// The number of the link.
    pub(super) link: u32,
    /// The place of the link in the fabric.
    pub(super) place: Place,
    /// The loss ratio of the link.
    pub(super) loss: Sum,
}

/// Returns the links of `corrupting` to take out of service, in ascending order. Of all sets of links that the pod can
/// spare, if every ToR switch is to keep `need` paths, it is the set with the greatest sum of losses.
pub(super) fn to_disable(pod: &Pod, corrupting: &[Corrupting], need: u32) -> Vec<u32> {
    let mut without_all = pod.clone();
    corrupting.iter().for_each(|one| without_all.set(one.place, false));
    let short = without_all.short_of(need);
    let any_is_short = short.contains(&true);
    // A link constrains nothing if no ToR switch below it is short of paths.
    let is_free = |place: Place| match place {
        Place::Lower { tor, .. } => !short[tor as usize],
        Place::Upper { .. } => !any_is_short,
    };
    let (free, rest): (Vec<&Corrupting>, Vec<&Corrupting>) =
        corrupting.iter().partition(|one| is_free(one.place));
    let mut left = pod.clone();
    free.iter().for_each(|one| left.set(one.place, false));
    let mut candidates: Vec<&Corrupting> =
        rest.into_iter().filter(|one| left.can_spare(one.place, need)).collect();
    candidates.sort_by(|a, b| b.loss.cmp(&a.loss).then(a.link.cmp(&b.link)));
    let mut links: Vec<u32> = free.iter().map(|one| one.link).collect();
    links.extend(best(left, &candidates, need));
    links.sort_unstable();
    links
}

/// Returns the feasible subset of `candidates`, which descend in loss, that loses the most.
fn best(pod: Pod, candidates: &[&Corrupting], need: u32) -> Vec<u32> {
    let mut remaining = vec![Sum::default(); candidates.len() + 1];
    for place in (0..candidates.len()).rev() {
        remaining[place] = remaining[place + 1];
        remaining[place] += candidates[place].loss;
    }
    let mut search =
        Search { candidates, remaining, need, pod, taken: Vec::new(), best: (Sum::default(), Vec::new()) };
    search.descend(0, Sum::default());
    search.best.1
}

/// A search by branch and bound for the feasible subset of links that loses the most.
struct Search<'a> {
    candidates: &'a [&'a Corrupting],
    /// The loss of all candidates from each candidate on.
    remaining: Vec<Sum>,
    need: u32,
    pod: Pod,
    taken: Vec<u32>,
    best: (Sum, Vec<u32>),
}

impl Search<'_> {
    fn descend(&mut self, place: usize, loss: Sum) {
        if loss > self.best.0 {
            self.best = (loss, self.taken.clone());
        }
        let mut most = loss;
        most += self.remaining[place];
        if place == self.candidates.len() || most <= self.best.0 {
            return;
        }
        let one = self.candidates[place];
        if self.pod.can_spare(one.place, self.need) {
            self.pod.set(one.place, false);
            self.taken.push(one.link);
            let mut with = loss;
            with += one.loss;
            self.descend(place + 1, with);
            self.taken.pop();
            self.pod.set(one.place, true);
        }
        self.descend(place + 1, loss);
    }
}

#[cfg(test)]
mod tests {
    use super::super::topology::Topology;
    use super::*;
    use proptest::prelude::*;

    /// Returns the greatest sum of losses of any feasible subset, by trying all subsets.
    fn brute_force(pod: &Pod, corrupting: &[Corrupting], need: u32) -> Sum {
        let mut most = Sum::default();
        for subset in 0_u32..1 << corrupting.len() {
            let (mut left, mut loss) = (pod.clone(), Sum::default());
            for (_, one) in corrupting.iter().enumerate().filter(|(place, _)| subset >> place & 1 == 1) {
                left.set(one.place, false);
                loss += one.loss;
            }
            if left.is_feasible(need) {
                most = most.max(loss);
            }
        }
        most
    }

    proptest! {
        #[test]
        fn no_subset_is_better(
            out in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
            bad in prop::collection::vec((any::<prop::sample::Index>(), 1e-8..1e-2_f64), 0..9),
            need in 1u32..6,
        ) {
            let topology = Topology::fb_fabric(2, 4, 2).unwrap();
            let links: Vec<u32> = (0..topology.links()).filter(|&link| topology.place(link).pod() == 0).collect();
            let mut pod = Pod::new(&topology);
            let mut used = Vec::new();
            for index in out {
                let link = links[index.index(links.len())];
                if !used.contains(&link) && pod.can_spare(topology.place(link), need) {
                    pod.set(topology.place(link), false);
                    used.push(link);
                }
            }
            let mut corrupting = Vec::new();
            for (index, loss) in bad {
                let link = links[index.index(links.len())];
                if !used.contains(&link) {
                    used.push(link);
                    corrupting.push(Corrupting { link, place: topology.place(link), loss: Sum::of(loss) });
                }
            }
            let chosen = to_disable(&pod, &corrupting, need);
            let (mut left, mut loss) = (pod.clone(), Sum::default());
            for one in corrupting.iter().filter(|one| chosen.contains(&one.link)) {
                left.set(one.place, false);
                loss += one.loss;
            }
            prop_assert!(left.is_feasible(need));
            prop_assert_eq!(loss, brute_force(&pod, &corrupting, need));
        }
    }
}
