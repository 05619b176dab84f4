//! A column of a table: numbers as they are, or whole numbers that are packed.

use crate::measure::NEVER_PS;
use crate::numbers::{Packed, RUN, Runs};
use std::fmt;
use std::{io, slice};

/// The numbers of a column. A copy of packed numbers shares them.
#[derive(Clone)]
pub struct Column(Held);

#[derive(Clone)]
enum Held {
    Plain(Vec<f64>),
    /// Pieces of whole numbers that follow each other, and the divisor of their numbers.
    Packed(Vec<Packed>, f64),
}

impl Column {
    /// Builds a column of packed whole numbers, each divided by `each`. [`NEVER_PS`] becomes infinite.
    pub(crate) fn packed(pieces: impl IntoIterator<Item = Packed>, each: u64) -> Self {
        Self(Held::Packed(pieces.into_iter().collect(), each as f64))
    }

    /// Returns how many numbers the column has.
    pub fn len(&self) -> usize {
        match &self.0 {
            Held::Plain(numbers) => numbers.len(),
            Held::Packed(pieces, _) => pieces.iter().map(Packed::len).sum(),
        }
    }

    /// Whether the column has no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Hands each number to `visit`, in order.
    ///
    /// # Errors
    /// The system's error if numbers that were laid aside cannot be read back.
    pub fn for_each(&self, mut visit: impl FnMut(f64)) -> io::Result<()> {
        let mut reader = self.reader();
        while let Some(numbers) = reader.next()? {
            numbers.iter().copied().for_each(&mut visit);
        }
        Ok(())
    }

    /// Returns the numbers, in order.
    ///
    /// # Errors
    /// The errors of [`Column::for_each`].
    pub fn values(&self) -> io::Result<Vec<f64>> {
        let mut values = Vec::with_capacity(self.len());
        self.for_each(|value| values.push(value))?;
        Ok(values)
    }

    /// Begins to read the numbers.
    pub(super) fn reader(&self) -> Reader<'_> {
        match &self.0 {
            Held::Plain(numbers) => Reader::Plain(numbers.chunks(RUN)),
            Held::Packed(pieces, each) => {
                Reader::Packed { pieces: pieces.iter(), runs: None, each: *each, numbers: Vec::new() }
            }
        }
    }
}

/// A reader of the numbers of a column, a few at a time.
pub(super) enum Reader<'a> {
    Plain(slice::Chunks<'a, f64>),
    Packed { pieces: slice::Iter<'a, Packed>, runs: Option<Runs<'a>>, each: f64, numbers: Vec<f64> },
}

impl Reader<'_> {
    /// Returns the next numbers, at most [`RUN`] of them; `None` after the last.
    pub(super) fn next(&mut self) -> io::Result<Option<&[f64]>> {
        match self {
            Self::Plain(chunks) => Ok(chunks.next()),
            Self::Packed { pieces, runs, each, numbers } => {
                numbers.clear();
                while numbers.is_empty() {
                    let Some(some) = runs else {
                        let Some(piece) = pieces.next() else { return Ok(None) };
                        *runs = Some(piece.runs());
                        continue;
                    };
                    match some.next()? {
                        Some(run) => numbers.extend(run.iter().map(|&number| value(number, *each))),
                        None => *runs = None,
                    }
                }
                Ok(Some(numbers))
            }
        }
    }
}

fn value(number: u64, each: f64) -> f64 {
    if number == NEVER_PS { f64::INFINITY } else { number as f64 / each }
}

impl FromIterator<f64> for Column {
    fn from_iter<T: IntoIterator<Item = f64>>(numbers: T) -> Self {
        Self(Held::Plain(numbers.into_iter().collect()))
    }
}

/// Columns are compared by their numbers, packed or not. A column that cannot be read equals no column.
impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        matches!((self.values(), other.values()), (Ok(own), Ok(others)) if own == others)
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.values() {
            Ok(values) => formatter.debug_list().entries(values).finish(),
            Err(error) => write!(formatter, "{error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_are_those_of_a_plain_column() {
        let pieces: [Packed; 3] = [vec![1_500_000, 2].into(), vec![].into(), vec![7, NEVER_PS].into()];
        let packed = Column::packed(pieces, 1_000_000);
        let plain: Column = [1.5, 2e-6, 7e-6, f64::INFINITY].into_iter().collect();
        assert_eq!((packed.len(), &packed), (4, &plain));
        assert_eq!(format!("{packed:?}"), "[1.5, 2e-6, 7e-6, inf]");
        assert_ne!(packed, [1.5, 2e-6].into_iter().collect());
    }
}
