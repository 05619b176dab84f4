//! Rebuilds frames from repairs: Gauss and Jordan's elimination, one repair at a time (RT-15).

use super::{Field, MOST_COVERED, body, weight};
use crate::guard::Frame;
use crate::wire::routed::Whole;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

/// The number of frames whose contents are kept: those that a repair covers, and some more, for repairs that are
/// overtaken.
const KEPT: u64 = MOST_COVERED + 64;
/// The most repairs that may wait for more, and the most frames that may be missing in one. Beyond, requests are
/// left to do the work.
const MOST_ROWS: usize = 64;

/// A repair, from which the frames that have arrived were taken out.
#[derive(Debug, Default)]
struct Row {
    /// The missing frames and their weights. The first one is the pivot: its weight is one, and no other row has
    /// it.
    missing: Vec<(u64, u8)>,
    sum: Frame,
}

/// The receiving end of the code in one session.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The number of the oldest frame that the decoder keeps a place for.
    first: u64,
    /// The bodies of the frames from `first` on, as far as they have arrived or were rebuilt.
    bodies: VecDeque<Option<Frame>>,
    rows: Vec<Row>,
    /// Buffers that are free, and rows that are free.
    free: Vec<Frame>,
    free_rows: Vec<Row>,
    /// Whether a repair has come in this session. Before the first repair no frame is kept.
    is_on: bool,
}

impl Decoder {
    /// Begins a new session: numbers from zero, and no frame kept.
    pub fn start_over(&mut self) {
        self.free.extend(self.bodies.drain(..).flatten());
        self.free_rows.append(&mut self.rows);
        (self.first, self.is_on) = (0, false);
    }

    /// Takes in a frame. `rebuilt` is called with each frame that can be rebuilt with it, as a number and a body.
    pub fn frame(
        &mut self,
        field: &dyn Field,
        number: u64,
        whole: Whole,
        contents: &[u8],
        rebuilt: &mut impl FnMut(u64, &[u8]),
    ) {
        if !self.is_on || !self.reach(number + 1) {
            return;
        }
        let place = (number - self.first) as usize;
        if self.bodies[place].is_some() {
            return;
        }
        let mut kept = self.free.pop().unwrap_or_default();
        body(whole, contents, &mut kept);
        self.take_out(field, number, &kept);
        self.bodies[place] = Some(kept);
        self.sweep(rebuilt);
    }

    /// Takes in a repair, which covers `count` frames before `end`. `rebuilt` is called as in [`Decoder::frame`].
    pub fn repair(
        &mut self,
        field: &dyn Field,
        end: u64,
        count: u8,
        sum: &[u8],
        rebuilt: &mut impl FnMut(u64, &[u8]),
    ) {
        let start = end.saturating_sub(u64::from(count));
        let was_on = mem::replace(&mut self.is_on, true);
        if !was_on {
            self.first = end;
        }
        if !self.reach(end) || start < self.first {
            return;
        }
        let mut row = self.free_rows.pop().unwrap_or_default();
        row.sum.clear();
        row.sum.extend_from_slice(sum);
        row.missing.clear();
        for number in start..end {
            let weight = weight(number, end);
            match &self.bodies[(number - self.first) as usize] {
                Some(body) => add(field, weight, body, &mut row.sum),
                None => row.missing.push((number, weight)),
            }
        }
        self.insert(field, row);
        self.sweep(rebuilt);
    }

    /// Makes room for the numbers before `end`. Returns `false` for numbers that are too old.
    fn reach(&mut self, end: u64) -> bool {
        if end > self.first + self.bodies.len() as u64 + KEPT {
            // A leap: no kept frame lies within reach.
            while self.forget_oldest() {}
            self.first = end - 1;
        }
        while self.first + (self.bodies.len() as u64) < end {
            self.bodies.push_back(None);
            if self.bodies.len() as u64 > KEPT {
                self.forget_oldest();
            }
        }
        let first = self.first;
        let Self { rows, free_rows, .. } = self;
        let is_old = |row: &Row| row.missing.iter().any(|(number, _)| *number < first);
        while let Some(place) = rows.iter().position(is_old) {
            free_rows.push(rows.swap_remove(place));
        }
        end > self.first
    }

    fn forget_oldest(&mut self) -> bool {
        let Some(body) = self.bodies.pop_front() else { return false };
        self.first += 1;
        self.free.extend(body);
        true
    }

    /// Takes a frame that has arrived out of all rows, which then do not miss it any more.
    fn take_out(&mut self, field: &dyn Field, number: u64, body: &[u8]) {
        let mut bereft = None;
        let mut place = 0;
        while place < self.rows.len() {
            let row = &mut self.rows[place];
            if let Some(position) = row.missing.iter().position(|(missing, _)| *missing == number) {
                let (_, weight) = row.missing.remove(position);
                add(field, weight, body, &mut row.sum);
                if position == 0 {
                    bereft = Some(self.rows.swap_remove(place));
                    continue;
                }
            }
            place += 1;
        }
        if let Some(row) = bereft {
            self.insert(field, row);
        }
    }

    /// Takes in a row, from which the frames that have arrived were taken out.
    fn insert(&mut self, field: &dyn Field, mut row: Row) {
        for other in &self.rows {
            let pivot = other.missing[0].0;
            if let Some(weight) = row.weight(pivot) {
                row.add(field, weight, other);
            }
        }
        let is_useful = (1..=MOST_ROWS).contains(&row.missing.len()) && self.rows.len() < MOST_ROWS;
        if !is_useful {
            return self.free_rows.push(row);
        }
        let (pivot, weight) = row.missing[0];
        if weight != 1 {
            let mut scaled = self.free.pop().unwrap_or_default();
            row.scale(field, field.divide(1, weight), &mut scaled);
            self.free.push(scaled);
        }
        for other in &mut self.rows {
            if let Some(weight) = other.weight(pivot) {
                other.add(field, weight, &row);
            }
        }
        self.rows.push(row);
    }

    /// Rebuilds the frames of the rows that miss only their pivot: their sum is the body of that frame.
    fn sweep(&mut self, rebuilt: &mut impl FnMut(u64, &[u8])) {
        while let Some(place) = self.rows.iter().position(|row| row.missing.len() == 1) {
            let mut row = self.rows.swap_remove(place);
            let (number, _) = row.missing[0];
            rebuilt(number, &row.sum);
            let free = self.free.pop().unwrap_or_default();
            self.bodies[(number - self.first) as usize] = Some(mem::replace(&mut row.sum, free));
            self.free_rows.push(row);
        }
    }
}

impl Row {
    fn weight(&self, number: u64) -> Option<u8> {
        self.missing.iter().find(|(missing, _)| *missing == number).map(|(_, weight)| *weight)
    }

    /// Adds `weight` times another row. A frame whose weights cancel out is not missed any more.
    fn add(&mut self, field: &dyn Field, weight: u8, other: &Self) {
        add(field, weight, &other.sum, &mut self.sum);
        for &(number, its) in &other.missing {
            let product = field.multiply(weight, its);
            match self.missing.iter_mut().find(|(missing, _)| *missing == number) {
                Some((_, ours)) => *ours ^= product,
                None => self.missing.push((number, product)),
            }
        }
        self.missing.retain(|(_, weight)| *weight != 0);
    }

    fn scale(&mut self, field: &dyn Field, factor: u8, scaled: &mut Frame) {
        scaled.clear();
        scaled.resize(self.sum.len(), 0);
        field.add(factor, &self.sum, scaled);
        mem::swap(&mut self.sum, scaled);
        self.missing.iter_mut().for_each(|(_, weight)| *weight = field.multiply(factor, *weight));
    }
}

/// Adds `weight` times `data` to a sum, which grows to the length of `data`.
fn add(field: &dyn Field, weight: u8, data: &[u8], sum: &mut Frame) {
    if sum.len() < data.len() {
        sum.resize(data.len(), 0);
    }
    field.add(weight, data, &mut sum[..data.len()]);
}
