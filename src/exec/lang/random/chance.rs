//! What users draw: numbers, samples, orders. Without a seed the kernel's numbers; with one those of Python's `random`, so
//! that a seed gives what it gives in Salt, on each host.

use super::bits;
use halite_value::Value;
use num_bigint::{BigInt, BigUint};
use rand_mt::Mt;
use sha2::{Digest, Sha512};

/// Where numbers come from.
#[derive(Clone, Debug, Default)]
pub enum Chance {
    #[default]
    Kernel,
    Seeded(Box<Mt>),
}

/// The value is no seed: it is neither number nor text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedError;

impl Chance {
    /// The numbers that belong to a number or a text.
    pub fn seeded(seed: &Value) -> Result<Chance, SeedError> {
        let key = match seed {
            Value::Bool(truth) => BigUint::from(u8::from(*truth)),
            Value::Int(number) => BigUint::from(number.unsigned_abs()),
            Value::Big(number) => number.magnitude().clone(),
            Value::Float(number) => BigUint::from(hash_of_float(*number) as u64),
            Value::Str(text) => key_of_bytes(text.as_bytes()),
            Value::Bytes(bytes) => key_of_bytes(bytes),
            Value::Null | Value::List(_) | Value::Map(_) => return Err(SeedError),
        };
        let mut words = key.to_u32_digits();
        if words.is_empty() {
            words.push(0);
        }
        Ok(Chance::Seeded(Box::new(Mt::new_with_key(words))))
    }

    /// A number below `end`; 0 where there is none below it.
    pub fn below(&mut self, end: &BigUint) -> BigUint {
        if *end == BigUint::ZERO {
            return BigUint::ZERO;
        }
        loop {
            let number = self.of_bits(end.bits());
            if number < *end {
                return number;
            }
        }
    }

    /// A number from `first` to `last`, which is not smaller.
    pub fn between(&mut self, first: &BigInt, last: &BigInt) -> BigInt {
        let count = (last - first + 1u8).to_biguint().unwrap_or_default();
        first + BigInt::from(self.below(&count))
    }

    /// The places of `size` items out of `length`, none twice, in an order of chance.
    pub fn sample(&mut self, length: usize, size: usize) -> Vec<usize> {
        let size = size.min(length);
        if length <= longest_pool(size) {
            let mut pool: Vec<usize> = (0..length).collect();
            return (0..size)
                .map(|taken| {
                    let at = self.index(length - taken);
                    let picked = pool[at];
                    pool[at] = pool[length - taken - 1];
                    picked
                })
                .collect();
        }
        let mut picked = indexmap::IndexSet::with_capacity(size);
        while picked.len() < size {
            picked.insert(self.index(length));
        }
        picked.into_iter().collect()
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(&BigUint::from(length))).unwrap_or_default()
    }

    /// A number of at most so many bits.
    fn of_bits(&mut self, count: u64) -> BigUint {
        let mut left = count;
        let mut words = Vec::new();
        while left > 0 {
            let word = self.word();
            words.push(if left < 32 { word >> (32 - left) } else { word });
            left = left.saturating_sub(32);
        }
        BigUint::new(words)
    }

    fn word(&mut self) -> u32 {
        match self {
            Chance::Kernel => {
                crate::outside::looked();
                bits() as u32
            }
            Chance::Seeded(generator) => generator.next_u32(),
        }
    }
}

/// Up to this length Python draws from a list of all places; beyond it notes those that are taken.
fn longest_pool(size: usize) -> usize {
    let mut longest = 21_usize;
    if size > 5 {
        let mut power = 1_usize;
        while power < size.saturating_mul(3) {
            power = power.saturating_mul(4);
        }
        longest = longest.saturating_add(power);
    }
    longest
}

/// The bytes and their digest, as one number.
fn key_of_bytes(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_be(&[bytes, &Sha512::digest(bytes)[..]].concat())
}

/// Python's `hash` of a float: its value modulo a prime, 2^61 - 1.
fn hash_of_float(number: f64) -> i64 {
    const BITS: u64 = 61;
    const PRIME: u64 = (1 << BITS) - 1;
    if !number.is_finite() {
        return if number.is_nan() { 0 } else { 314_159 * number.signum() as i64 };
    }
    let raw = number.abs().to_bits();
    let (exponent, fraction) = ((raw >> 52) as i64, raw & ((1 << 52) - 1));
    let (mantissa, exponent) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    // Multiplying by two modulo that prime turns the bits around.
    let turn = exponent.rem_euclid(BITS as i64) as u32;
    let turned = u128::from(mantissa) << turn;
    let hash = (turned % u128::from(PRIME)) as i64;
    match if number < 0.0 { -hash } else { hash } {
        -1 => -2,
        hash => hash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `hash` of Python 3.11 gives.
    #[test]
    fn a_float_hashes_as_in_python() {
        for (number, hash) in [
            (1.5, 1_152_921_504_606_846_977),
            (0.1, 230_584_300_921_369_408),
            (-1.0, -2),
            (0.0, 0),
            (1e300, 1_224_995_262_755_759_164),
            (5e-324, 16_777_216),
            (f64::INFINITY, 314_159),
        ] {
            assert_eq!(hash_of_float(number), hash, "{number}");
        }
    }

    #[test]
    fn numbers_of_the_kernel_keep_to_their_range() {
        let (first, last) = (BigInt::from(-1), BigInt::from(1));
        let drawn: Vec<BigInt> = (0..200).map(|_| Chance::Kernel.between(&first, &last)).collect();
        assert!([-1, 0, 1].iter().all(|number| drawn.contains(&BigInt::from(*number))));
        assert!(drawn.iter().all(|number| first <= *number && *number <= last));
    }

    #[test]
    fn a_sample_has_no_item_twice() {
        for (length, size) in [(0, 0), (5, 5), (300, 7), (20, 30)] {
            let mut places = Chance::Kernel.sample(length, size);
            places.sort_unstable();
            places.dedup();
            assert!(places.len() == size.min(length) && places.iter().all(|place| *place < length));
        }
    }
}
