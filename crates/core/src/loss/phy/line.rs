//! Line symbols in a row: which of them the decoder finds wrong.
//!
//! A line symbol has one bit (NRZ) or two (PAM4). An equaliser with decision feedback takes a wrong line symbol into the next one:
//! behind a wrong line symbol the next is wrong with the chance of the burst, besides errors of its own. Line symbols then are a
//! chain of two states, right and wrong.
//!
//! Precoding 1 / (1 + D) makes the decoder see the differences of neighbours. A run of wrong line symbols then leaves one error
//! at its first symbol, and one behind its last. Errors without precoding come with the state; errors with precoding come with
//! its changes.

use super::matrix::Matrix;
use crate::loss::LossError;

/// The highest chance of an error that repeats: without errors of its own, such a line has runs of a hundred symbols.
const REPEAT_MAX: f64 = 0.99;

/// The errors of a line before its code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    /// From state to state over a line symbol that the decoder finds right.
    pub(super) right: Matrix,
    /// From state to state over a line symbol that the decoder finds wrong.
    pub(super) wrong: Matrix,
    /// The chances of the states, in the long run.
    pub(super) start: [f64; 2],
    /// Bits of a line symbol.
    pub(super) bits: u32,
    /// Of a wrong line symbol with two bits, the chances that the first alone, the second alone, and both are wrong.
    pub(super) bits_wrong: [f64; 3],
    /// Whether each line symbol is right or wrong on its own.
    pub(super) is_memoryless: bool,
}

impl Line {
    /// Returns the line of which the decoder finds a share `bit_error_ratio` of the bits wrong.
    ///
    /// # Errors
    /// If no such line exists.
    pub(super) fn new(
        bit_error_ratio: f64,
        repeat: f64,
        is_precoded: bool,
        bits: u32,
    ) -> Result<Self, LossError> {
        if !(0.0..=0.5).contains(&bit_error_ratio) {
            return Err(LossError::NoBitErrorRatio(bit_error_ratio));
        }
        if !(0.0..=REPEAT_MAX).contains(&repeat) {
            return Err(LossError::NoRepeat { repeat, most: REPEAT_MAX });
        }
        if !(1..=2).contains(&bits) {
            return Err(LossError::NoLineSymbol(bits));
        }
        let found = if bits == 1 { bit_error_ratio } else { bit_error_ratio * (2.0 - bit_error_ratio) };
        let fresh = if is_precoded {
            fresh_behind_precoding(found, repeat).ok_or(LossError::TooManyForPrecoding(bit_error_ratio))?
        } else {
            found * (1.0 - repeat) / (1.0 - repeat * found)
        };
        let again = repeat + (1.0 - repeat) * fresh;
        let share = if fresh == 0.0 { 0.0 } else { fresh / (fresh + 1.0 - again) };
        let ([stays, breaks], [heals, goes_on]) = ([1.0 - fresh, fresh], [1.0 - again, again]);
        let (right, wrong) = if is_precoded {
            ([[stays, 0.0], [0.0, goes_on]], [[0.0, breaks], [heals, 0.0]])
        } else {
            ([[stays, 0.0], [heals, 0.0]], [[0.0, breaks], [0.0, goes_on]])
        };
        let single = bit_error_ratio * (1.0 - bit_error_ratio);
        let both = bit_error_ratio * bit_error_ratio;
        let bits_wrong = if found == 0.0 { [0.0; 3] } else { [single, single, both].map(|of| of / found) };
        Ok(Self {
            right: Matrix(right),
            wrong: Matrix(wrong),
            start: [1.0 - share, share],
            bits,
            bits_wrong,
            is_memoryless: repeat == 0.0 && !is_precoded,
        })
    }

    /// Returns from state to state over `symbols` line symbols: without an error, and with one at least.
    pub(super) fn with_and_without_error(&self, symbols: u32) -> (Matrix, Matrix) {
        let (mut without, mut with) = (Matrix::IDENTITY, Matrix::default());
        for _ in 0..symbols {
            with = with * (self.right + self.wrong) + without * self.wrong;
            without = without * self.right;
        }
        (without, with)
    }

    /// Returns how a state is forgotten over `symbols` line symbols: 1 at once, 0 in the limit.
    pub(super) fn memory(&self, symbols: f64) -> f64 {
        let all = (self.right + self.wrong).0;
        libm::pow(all[1][1] - all[0][1], symbols)
    }
}

/// Returns how likely a line symbol is wrong behind a right one, if the share `found` of line symbols differs from the symbol
/// before, and behind an error the next symbol is wrong with chance `repeat`, besides errors of its own. Returns `None` if no line
/// changes so often.
///
/// The share of changes is 2 A f (1 - f) / (f + A (1 - f)) with A = 1 - `repeat`, which is a quadratic equation for f.
fn fresh_behind_precoding(found: f64, repeat: f64) -> Option<f64> {
    let ends = 1.0 - repeat;
    let (square, linear, constant) = (2.0 * ends, 2.0 * ends - found * repeat, found * ends);
    let discriminant = linear * linear - 4.0 * square * constant;
    (linear > 0.0 && discriminant >= 0.0).then(|| 2.0 * constant / (linear + libm::sqrt(discriminant)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The decoder's share of wrong bits is the one that was asked for, and the states are stationary.
    #[test]
    fn bits_are_wrong_as_often_as_asked_for() {
        for bits in [1, 2] {
            for repeat in [0.0, 0.5, 0.75, 0.99] {
                for is_precoded in [false, true] {
                    for ratio in [1e-12, 1e-4, 0.01, 0.1] {
                        let Ok(line) = Line::new(ratio, repeat, is_precoded, bits) else {
                            assert!(is_precoded && ratio > 0.005, "{ratio} {repeat}");
                            continue;
                        };
                        let found: f64 = line.wrong.behind(line.start).iter().sum();
                        let [first, _, both] = if bits == 1 { [0.0, 0.0, 1.0] } else { line.bits_wrong };
                        let wrong_bits = found * (first + both);
                        assert!((wrong_bits / ratio - 1.0).abs() < 1e-10, "{ratio} {repeat} {is_precoded}");
                        let after = (line.right + line.wrong).behind(line.start);
                        assert!((after[1] / line.start[1] - 1.0).abs() < 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn lines_without_errors_have_none() {
        let line = Line::new(0.0, 0.5, true, 2).unwrap();
        assert_eq!(line.with_and_without_error(5).1.row_sums()[0], 0.0);
    }

    #[test]
    fn impossible_lines_are_refused() {
        assert_eq!(Line::new(0.6, 0.0, false, 2), Err(LossError::NoBitErrorRatio(0.6)));
        assert!(matches!(Line::new(f64::NAN, 0.0, false, 2), Err(LossError::NoBitErrorRatio(_))));
        assert_eq!(Line::new(0.1, 1.0, false, 2), Err(LossError::NoRepeat { repeat: 1.0, most: 0.99 }));
        assert_eq!(Line::new(0.1, 0.0, false, 3), Err(LossError::NoLineSymbol(3)));
        assert_eq!(Line::new(0.5, 0.9, true, 1), Err(LossError::TooManyForPrecoding(0.5)));
    }
}
