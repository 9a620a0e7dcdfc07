//! The group key of publications.
//!
//! An epoch is random and new at each start of a master, at each revocation and daily. Its key reaches a minion through
//! its session alone, and nothing of it is on disk: who has no session (any more) reads no publication of a later one.

use super::sodium;
use sodiumoxide::randombytes::randombytes_into;

/// A group key, its name on the wire and the number of the last publication under it.
#[derive(Clone)]
pub struct Epoch {
    pub id: [u8; 8],
    pub key: [u8; 32],
    /// Counts from 1; 0 before the first publication.
    pub seq: u64,
}

impl Epoch {
    pub fn begin() -> Epoch {
        sodium::ready();
        let mut epoch = Epoch { id: [0; 8], key: [0; 32], seq: 0 };
        randombytes_into(&mut epoch.id);
        randombytes_into(&mut epoch.key);
        epoch
    }

    /// The number of the next publication.
    pub fn advance(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }
}

impl std::fmt::Debug for Epoch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Epoch({}, seq {})", u64::from_be_bytes(self.id), self.seq)
    }
}
