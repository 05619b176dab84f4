//! Repairs ahead: how much sooner a lost frame comes, the octets that repairs take, and the cases without repairs.

use super::*;

/// Returns the delays of the frames that the path lost at first, in parts of a round trip, the latest first. Returns
/// also the octets of repairs and repetitions over those of data.
fn lateness(loss: &LossModel, delay: Duration, gap: Duration) -> (Vec<f64>, f64) {
    let mut path = Path::agreed(8, delay);
    path.lose([loss, &LossModel::None]);
    let (frames, mut sent) = (60_000, Vec::new());
    for step in 0..frames {
        sent.push(path.now);
        path.send(0, &frame(UDP, 1, step, 600));
        path.run_for(gap);
    }
    path.run_for(MS(3000));
    assert_eq!(path.delivered[1].len(), frames as usize);
    let over =
        |at: Instant, id: u32| (at - sent[id as usize] - delay).as_secs_f64() / (delay * 2).as_secs_f64();
    let mut late: Vec<_> = path.delivered[1].iter().map(|(at, frame)| over(*at, id(frame))).collect();
    late.sort_by(|a, b| b.total_cmp(a));
    late.truncate(path.count(1, "recovered") as usize);
    let [first, again, ahead] =
        ["data_bytes", "repeated_bytes", "repair_bytes"].map(|name| path.count(0, name));
    (late, (again + ahead) as f64 / first as f64)
}

// RT-14, RT-15: a stream of many frames in a round trip gets repairs ahead, other streams get repetitions after a
// round trip.
#[test]
fn what_is_lost_comes_by_the_quicker_of_two_ways() {
    for (delay, gap, most, least) in
        [(50, 100, 0.3, 0.0), (10, 100, 0.6, 0.0), (2, 100, 1.2, 0.9), (50, 10_000, 1.2, 0.9)]
    {
        let (late, share) = lateness(&ratio(0.01), MS(delay), Duration::from_us(gap));
        let [median, tenth] = [2, 10].map(|part| late[late.len() / part]);
        println!(
            "{delay} ms, a frame in {gap} us: {} late, median {median:.3}, a tenth beyond {tenth:.3}, {share:.4}",
            late.len()
        );
        assert!((least..most).contains(&tenth), "{delay} ms, {gap} us: {tenth} round trips");
        assert!((0.005..0.05).contains(&share), "{delay} ms, {gap} us: {share}");
    }
}

// RT-10, RT-14: repairs and repetitions together, over a long run, independent losses and bursts of ten.
#[test]
fn repairs_and_repetitions_together_keep_to_the_bound() {
    for (seed, loss, bound) in [(1, 0.001, 0.05), (2, 0.01, 0.05), (3, 0.05, 0.125)] {
        let burst = GilbertElliott::new(loss / 10.0 / (1.0 - loss), 0.1, 0.0, 1.0).unwrap();
        for (name, model) in [("single", ratio(loss)), ("bursts", LossModel::GilbertElliott(burst))] {
            let mut path = Path::agreed(seed, MS(50));
            path.lose([&model, &LossModel::None]);
            let mut octets = path.ways[0].octets;
            stream(&mut path, UDP, 0..200_000, 600);
            octets = path.ways[0].octets - octets;
            let [first, again, ahead] =
                ["data_bytes", "repeated_bytes", "repair_bytes"].map(|name| path.count(0, name));
            let share = (again + ahead) as f64 / first as f64;
            let missing = 200_000 - path.delivered[1].len();
            assert_eq!(ahead, path.ways[0].repair_bytes);
            println!("{loss} {name}: {share:.4} ({ahead} ahead of {first}), {missing} missing");
            // The octets that are counted are the octets that leave, but for those of messages.
            let counted =
                first + again + ahead + 14 * (200_000 + path.count(0, "repeated") + path.count(0, "repairs"));
            assert!(counted <= octets && octets < counted + counted / 500, "{counted} of {octets}");
            assert!(share < bound * 1.03 + 131_072.0 / first as f64, "{loss} {name}: {share}");
            assert!(share > loss * 0.9, "{loss} {name}: {share}");
            assert!(missing as f64 <= 200_000.0 * loss / 20.0, "{loss} {name}: {missing} are missing");
        }
    }
}

/// Returns a packet of a TUN, of zeros behind its headers.
fn packet(id: u32, length: usize) -> Vec<u8> {
    let mut packet = frame(UDP, 1, id, 60);
    packet[42..].fill(0);
    packet[..12].fill(0);
    packet.resize(14 + length, 0);
    packet
}

// RT-2, RT-14: a packet shorter than the shortest datagram travels padded, and the code must cover it so.
#[test]
fn short_packets_do_not_alter_what_is_rebuilt() {
    let mut path = Path::agreed(6, MS(50));
    path.lose([&ratio(0.01), &LossModel::None]);
    let length = |id: u32| if id.is_multiple_of(3) { 28 } else { 600 + id as usize % 100 };
    for id in 0..30_000 {
        path.send(0, &packet(id, length(id)));
        path.run_for(Duration::from_us(100));
    }
    path.run_for(MS(3000));
    for (_, came) in &path.delivered[1] {
        let sent = packet(id(came), length(id(came)).max(30));
        assert!(*came == sent, "{} of {} octets came with {}", id(came), sent.len(), came.len());
    }
    assert_eq!((path.delivered[1].len(), path.count(1, "malformed")), (30_000, 0));
    assert!(path.count(1, "rebuilt") > 100, "{}", path.count(1, "rebuilt"));
}

// RT-7, RT-14, RT-15: late frames are no losses, even if they were rebuilt before they came.
#[test]
fn a_path_that_reorders_and_loses_nothing_gets_no_repairs_for_long() {
    let mut path = Path::agreed(11, MS(30));
    (path.ways[0].late, path.ways[0].jitter) = (50, MS(20));
    path.lose([&ratio(0.01), &LossModel::None]);
    let mut repairs = Vec::new();
    for batch in 0..20 {
        if batch == 2 {
            path.lose([&LossModel::None, &LossModel::None]);
        }
        for id in batch * 10_000..(batch + 1) * 10_000 {
            path.send(0, &frame(UDP, 1, id, 600));
            path.run_for(Duration::from_us(100));
        }
        repairs.push(path.count(0, "repairs"));
    }
    println!("repairs {repairs:?}, lost {} reordered {}", path.count(1, "lost"), path.count(1, "reordered"));
    assert!(repairs[19] - repairs[15] < 40, "{repairs:?}");
}

// RT-4, RT-15: a frame that is dropped for its mark is known to the code.
#[test]
fn what_is_dropped_for_its_mark_lets_others_be_rebuilt() {
    let mut path = Path::agreed(3, MS(50));
    path.lose([&ratio(0.01), &LossModel::None]);
    path.ways[0].marks = true;
    for id in 0..30_000 {
        let mut sent = frame(UDP, 1, id, 600);
        sent[15] = if id.is_multiple_of(4) { 0 } else { 2 };
        path.send(0, &sent);
        path.run_for(Duration::from_us(100));
    }
    path.run_for(MS(2000));
    let [rebuilt, dropped] = ["rebuilt", "mismarked"].map(|name| path.count(1, name));
    assert!(dropped > 7000 && rebuilt > 100, "{dropped} dropped, {rebuilt} rebuilt");
    // A frame that the code rebuilds has lost its mark with the datagram.
    let plain = path.delivered[1].iter().filter(|(_, frame)| frame[15] & 3 == 0).count() as u64;
    assert!(plain <= rebuilt, "{plain}");
}
