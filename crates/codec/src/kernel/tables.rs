//! GF(2^8) with the polynomial 0x11D (FEC-5), as tables that the compiler computes.

/// The value of x^8 in the field.
const POLYNOMIAL: u8 = 0x1d;
/// The order of the group of all elements but zero.
const ORDER: u32 = 255;

/// The products of each weight with the sixteen low halves of a byte, and with the sixteen high ones.
pub(super) static HALVES: [[[u8; 16]; 2]; 256] = halves();
/// Each weight as a matrix of bits, in the form that `vgf2p8affineqb` takes.
#[cfg(target_arch = "x86_64")]
pub(super) static MATRICES: [u64; 256] = matrices();
/// The inverse of each element; zero for zero.
static INVERSES: [u8; 256] = inverses();

/// Returns the product of two elements.
pub(crate) fn multiply(a: u8, b: u8) -> u8 {
    let [low, high] = &HALVES[usize::from(a)];
    low[usize::from(b & 15)] ^ high[usize::from(b >> 4)]
}

/// Returns the element which times `b` is `a`.
///
/// # Panics
/// If `b` is zero.
pub(crate) fn divide(a: u8, b: u8) -> u8 {
    assert_ne!(b, 0, "nothing is divided by zero");
    multiply(a, INVERSES[usize::from(b)])
}

/// Returns the product of two elements, computed bit by bit.
pub(super) const fn product(mut a: u8, mut b: u8) -> u8 {
    let mut sum = 0;
    while b != 0 {
        if b & 1 == 1 {
            sum ^= a;
        }
        a = double(a);
        b >>= 1;
    }
    sum
}

/// Returns twice an element.
#[inline(always)]
pub(super) const fn double(a: u8) -> u8 {
    a << 1 ^ ((a >> 7) * POLYNOMIAL)
}

const fn halves() -> [[[u8; 16]; 2]; 256] {
    let mut tables = [[[0; 16]; 2]; 256];
    let mut at = 0;
    while at < 256 * 16 {
        let (weight, half) = (at / 16, at % 16);
        tables[weight][0][half] = product(weight as u8, half as u8);
        tables[weight][1][half] = product(weight as u8, (half as u8) << 4);
        at += 1;
    }
    tables
}

/// Returns each weight as a matrix of bits. Bit i of a product is the parity of the byte that is multiplied and of byte
/// 7 - i of the matrix: the bits k for which the weight times 2^k has bit i.
#[cfg(target_arch = "x86_64")]
const fn matrices() -> [u64; 256] {
    let mut tables = [0; 256];
    let mut at = 0;
    while at < 256 * 8 {
        let (weight, k) = (at / 8, at % 8);
        let column = product(weight as u8, 1 << k);
        let mut i = 0;
        while i < 8 {
            tables[weight] |= ((column >> i & 1) as u64) << ((7 - i) * 8 + k);
            i += 1;
        }
        at += 1;
    }
    tables
}

const fn inverses() -> [u8; 256] {
    let mut tables = [0; 256];
    let mut element = 1;
    while element < 256 {
        let (mut power, mut square, mut exponent) = (1, element as u8, ORDER - 1);
        while exponent != 0 {
            if exponent & 1 == 1 {
                power = product(power, square);
            }
            square = product(square, square);
            exponent >>= 1;
        }
        tables[element] = power;
        element += 1;
    }
    tables
}
