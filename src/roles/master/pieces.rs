//! What is too long for one message comes in pieces, named by the hash of the whole.
//!
//! Pieces of one whole come in order; one that comes again changes nothing. What a minion has begun is bounded in size
//! and dropped when it is not finished in time.

use super::jobs::Id;
use halite_wire::seal::{Hash, hash};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The longest whole.
pub const LONGEST: usize = 64 << 20;
/// What all minions together may have under way.
const TOTAL: usize = 256 << 20;
const TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Default)]
pub struct Pieces {
    begun: HashMap<(Id, Hash), (Vec<u8>, Instant)>,
}

impl Pieces {
    /// Takes a piece. The error is a sentence for the minion.
    pub fn take(&mut self, id: &Id, digest: Hash, offset: u64, bytes: &[u8], now: Instant) -> Result<(), String> {
        self.begun.retain(|_, (_, last)| now - *last < TIMEOUT);
        let total: usize = self.begun.values().map(|(whole, _)| whole.len()).sum();
        if total + bytes.len() > TOTAL {
            return Err("too much is under way to this master".to_owned());
        }
        let own: usize = self.begun.iter().filter(|((of, _), _)| of == id).map(|(_, (whole, _))| whole.len()).sum();
        if own + bytes.len() > LONGEST {
            self.begun.retain(|(of, _), _| of != id);
            return Err(format!("more than {LONGEST} bytes under way"));
        }
        let others = self.begun.keys().filter(|(of, other)| of == id && *other != digest).count();
        if others >= 4 {
            return Err("too many unfinished messages".to_owned());
        }
        let (whole, last) = self.begun.entry((id.clone(), digest)).or_insert_with(|| (Vec::new(), now));
        *last = now;
        let at = whole.len() as u64;
        if offset + bytes.len() as u64 <= at {
            return Ok(());
        }
        if offset != at {
            return Err(format!("a piece at {offset} does not follow {at}"));
        }
        whole.extend_from_slice(bytes);
        Ok(())
    }

    /// Gives the whole, when it is all there.
    pub fn finish(&mut self, id: &Id, digest: Hash) -> Result<Vec<u8>, String> {
        let (whole, _) = self.begun.remove(&(id.clone(), digest)).ok_or("its pieces are not here (any more)")?;
        if hash(&[&whole]) != digest {
            return Err("its pieces do not fit together".to_owned());
        }
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_in_order_and_again_without_harm() {
        let (mut pieces, id, now) = (Pieces::default(), Id::from("web1"), Instant::now());
        let digest = hash(&[b"hello world"]);
        pieces.take(&id, digest, 0, b"hello ", now).unwrap();
        pieces.take(&id, digest, 0, b"hello ", now).unwrap();
        assert!(pieces.take(&id, digest, 7, b"orld", now).is_err());
        pieces.take(&id, digest, 6, b"world", now).unwrap();
        assert!(pieces.finish(&Id::from("web2"), digest).is_err(), "it is another minion's");
        assert_eq!(pieces.finish(&id, digest).unwrap(), b"hello world");
        assert!(pieces.finish(&id, digest).is_err());
    }

    #[test]
    fn what_does_not_fit_or_is_too_much_is_refused() {
        let (mut pieces, id, now) = (Pieces::default(), Id::from("web1"), Instant::now());
        pieces.take(&id, [1; 32], 0, b"x", now).unwrap();
        assert!(pieces.finish(&id, [1; 32]).is_err());
        for digest in 2..6 {
            pieces.take(&id, [digest; 32], 0, b"x", now).unwrap();
        }
        assert!(pieces.take(&id, [9; 32], 0, b"x", now).is_err());
        assert!(pieces.take(&id, [9; 32], 0, b"x", now + TIMEOUT).is_ok(), "what is not finished is forgotten");
    }
}
