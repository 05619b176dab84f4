//! Swarms of faults: whole worlds drawn from a seed, and the checks of each.

use super::pair::{Lines, NONE, Pair, frame, id, ratio};
use lossylink_core::protection::Protection;
use lossylink_core::rng::{RngCore, Streams, uniform};
use lossylink_core::time::Duration;

/// Returns the numbers that frames carry.
pub fn ids(frames: &[Vec<u8>]) -> Vec<u32> {
    frames.iter().map(|frame| id(frame)).collect()
}

/// Runs one world of faults drawn from `seed` and returns its pair. No frame is ever delivered twice or altered,
/// order is kept where promised, and memory is bounded. A second after the link heals, every frame arrives
/// again.
pub fn swarm(seed: u64, lines: Lines, protections: [Protection; 2]) -> Pair {
    let mut rng = Streams::new(seed).stream("faults");
    let mut pair = Pair::new(seed, lines, protections.clone(), [NONE, NONE]);
    let mut next_id = [0u32; 2];
    for _ in 0..12 {
        misbehave(&mut pair, &mut rng, lines, &protections);
        for _ in 0..rng.next_u32() % 300 {
            let end = (rng.next_u32() % 2) as usize;
            let length = 60 + (rng.next_u32() % 1455) as usize;
            pair.send(end, &frame(next_id[end], length));
            next_id[end] += 1;
            pair.run_for(Duration::from_us(u64::from(rng.next_u32() % 40)));
        }
    }
    pair.cut(false);
    pair.set_loss([NONE, NONE]);
    pair.run_for(Duration::from_ms(1000));
    let healed = pair.delivered.each_ref().map(Vec::len);
    for end in [0, 1] {
        for step in 0..100 {
            pair.send(end, &frame(next_id[end] + step, 700));
            pair.run_for(Duration::from_us(20));
        }
    }
    pair.run_for(Duration::from_ms(100));
    for end in [0, 1] {
        check(seed, &pair, end, next_id[1 - end], healed[end]);
    }
    pair
}

/// Draws a fault: losses on both directions, a cut, a guard that dies and comes back or protects anew,
/// garbage.
fn misbehave(pair: &mut Pair, rng: &mut impl RngCore, lines: Lines, protections: &[Protection; 2]) {
    let mut loss = || ratio(uniform(rng) * 0.5);
    let (forward, reverse) = (loss(), loss());
    pair.set_loss([forward, reverse]);
    pair.cut(rng.next_u32().is_multiple_of(5));
    if rng.next_u32().is_multiple_of(6) {
        let end = (rng.next_u32() % 2) as usize;
        pair.restart(end, protections[end].clone());
    }
    if rng.next_u32().is_multiple_of(6) {
        let end = (rng.next_u32() % 2) as usize;
        pair.protect(end, protections[end].clone());
    }
    pair.run_for(Duration::from_ms(u64::from(rng.next_u32() % 200)));
    let mut garbage = frame(0, 60 + (rng.next_u32() % 100) as usize);
    let ethertypes: Vec<_> = lines().iter().flat_map(|line| line.ethertypes().to_vec()).collect();
    let ethertype = ethertypes[rng.next_u32() as usize % ethertypes.len()];
    garbage[12..14].copy_from_slice(&ethertype.0.to_be_bytes());
    rng.fill_bytes(&mut garbage[14..]);
    pair.inject((rng.next_u32() % 2) as usize, &garbage);
}

fn check(seed: u64, pair: &Pair, end: usize, first_after: u32, healed: usize) {
    let seen = ids(&pair.delivered[end]);
    let mut unique = seen.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), seen.len(), "seed {seed}: delivered twice at end {end}");
    for bytes in &pair.delivered[end] {
        assert_eq!(*bytes, frame(id(bytes), bytes.len()), "seed {seed}: altered at end {end}");
    }
    let after: Vec<u32> = (first_after..first_after + 100).collect();
    assert_eq!(seen[healed..], after, "seed {seed}: not healed at end {end}");
    let held = pair.guards[end].frames_held();
    assert_eq!(held, 0, "seed {seed}: end {end} still holds frames");
}
