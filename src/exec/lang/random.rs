//! Random numbers for names and waits, and those that users ask for.

mod chance;

pub use chance::{Chance, SeedError};

use rustix::rand::{GetRandomFlags, getrandom};
use std::hash::{BuildHasher, Hasher};

/// 64 bits from the kernel, for names that nobody else has; from the process's own seeds on kernels that have no `getrandom`.
pub fn bits() -> u64 {
    let mut bytes = [0; 8];
    match getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(filled) if filled == bytes.len() => u64::from_ne_bytes(bytes),
        _ => std::hash::RandomState::new().build_hasher().finish(),
    }
}

/// A number from 0 to `most`, all as likely as makes no difference.
pub fn up_to(most: u64) -> u64 {
    super::outside::looked();
    match most.checked_add(1) {
        Some(count) => ((u128::from(bits()) * u128::from(count)) >> 64) as u64,
        None => bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_to_their_range_and_reach_its_ends() {
        let numbers: Vec<u64> = (0..1000).map(|_| up_to(2)).collect();
        assert!((0..=2).all(|number| numbers.contains(&number)) && numbers.iter().all(|number| *number <= 2));
        assert_eq!(up_to(0), 0);
        assert_ne!(bits(), bits());
        up_to(u64::MAX);
    }
}
