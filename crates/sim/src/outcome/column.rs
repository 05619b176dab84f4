//! A column of a table: numbers as they are, or whole numbers that are packed.

use super::packed::Packed;
use std::fmt;

/// The numbers of a column. A copy of packed ones shares them.
#[derive(Clone)]
pub struct Column(Held);

#[derive(Clone)]
enum Held {
    Plain(Vec<f64>),
    /// Pieces that follow each other; so many of what they count make one.
    Packed(Vec<Packed>, f64),
}

impl Column {
    /// A column of whole numbers, of which `each` make one.
    pub(crate) fn packed(pieces: impl IntoIterator<Item = Packed>, each: u64) -> Self {
        Self(Held::Packed(pieces.into_iter().collect(), each as f64))
    }

    /// How many numbers it has.
    pub fn len(&self) -> usize {
        match &self.0 {
            Held::Plain(numbers) => numbers.len(),
            Held::Packed(pieces, _) => pieces.iter().map(Packed::len).sum(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers, in order.
    pub fn values(&self) -> Box<dyn Iterator<Item = f64> + '_> {
        match &self.0 {
            Held::Plain(numbers) => Box::new(numbers.iter().copied()),
            Held::Packed(pieces, each) => {
                Box::new(pieces.iter().flat_map(Packed::numbers).map(move |number| number as f64 / each))
            }
        }
    }
}

impl FromIterator<f64> for Column {
    fn from_iter<T: IntoIterator<Item = f64>>(numbers: T) -> Self {
        Self(Held::Plain(numbers.into_iter().collect()))
    }
}

/// However they are held.
impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        self.values().eq(other.values())
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.values()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_are_those_of_a_plain_column() {
        let pieces: [Packed; 3] = [vec![1_500_000, 2].into(), vec![].into(), vec![7].into()];
        let packed = Column::packed(pieces, 1_000_000);
        let plain: Column = [1.5, 2e-6, 7e-6].into_iter().collect();
        assert_eq!((packed.len(), &packed), (3, &plain));
        assert_eq!(format!("{packed:?}"), "[1.5, 2e-6, 7e-6]");
        assert_ne!(packed, [1.5, 2e-6].into_iter().collect());
    }
}
