//! Matrices of two rows and two columns: chances to go from one of two states to the other.

use core::ops::{Add, AddAssign, Mul};

/// Chances from the state of the row to the state of the column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Matrix(pub(super) [[f64; 2]; 2]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([[1.0, 0.0], [0.0, 1.0]]);

    /// Returns the matrix of which both rows are `row`.
    pub(super) const fn of_rows(row: [f64; 2]) -> Self {
        Self([row, row])
    }

    /// Returns this matrix times `factor`.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self(self.0.map(|row| row.map(|entry| entry * factor)))
    }

    /// Returns the chances of the states behind `row`, those before.
    pub(super) fn behind(&self, row: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|column| row[0] * self.0[0][column] + row[1] * self.0[1][column])
    }

    /// Returns the sum of each row.
    pub(super) fn row_sums(&self) -> [f64; 2] {
        self.0.map(|row| row[0] + row[1])
    }

    /// Returns the largest entry.
    pub(super) fn largest(&self) -> f64 {
        self.0.iter().flatten().copied().fold(0.0, f64::max)
    }
}

impl Mul for Matrix {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(self.0.map(|row| other.behind(row)))
    }
}

impl Add for Matrix {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let [[a, b], [c, d]] = other.0;
        let [[e, f], [g, h]] = self.0;
        Self([[a + e, b + f], [c + g, d + h]])
    }
}

impl AddAssign for Matrix {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
