//! A publication: a job for everybody, sealed for the fleet and signed by the master.
//!
//! ```text
//! 01 20, epoch[8], seq[8], r[24], sealed(group key, CBOR padded to 256), Ed25519(S_M, "halite/1 publication" all before)
//! ```
//!
//! The signature is verified first: a minion that holds the group key cannot publish. What 4505 shows to an unauthenticated connection is
//! when something was published and its padded size.

use super::cbor;
use super::frame::{FRAME_LIMIT, VERSION, kind};
use super::link::LinkError;
use super::seal::{Key, NONCE_BYTES, TAG_BYTES, random};
use halite_keys::epoch::Epoch;
use halite_keys::identity::{Identity, PublicKey, SIGNATURE_BYTES};
use serde::{Serialize, de::DeserializeOwned};

const HEADER: usize = 2 + 8 + 8;
const PADDING: usize = 256;
const CONTEXT: &[u8] = b"halite/1 publication";

/// Seals and signs the next publication of an epoch.
pub fn publish<T: Serialize>(epoch: &mut Epoch, master: &Identity, content: &T) -> Result<Vec<u8>, LinkError> {
    let mut plain = cbor::encode(content)?;
    plain.resize(plain.len().next_multiple_of(PADDING), 0);
    let bytes = HEADER + NONCE_BYTES + plain.len() + TAG_BYTES + SIGNATURE_BYTES;
    if bytes > FRAME_LIMIT {
        return Err(LinkError::TooLong { bytes, limit: FRAME_LIMIT });
    }
    // Not before it is sure to go out: a number that is left out looks like a publication that was missed.
    let seq = epoch.advance();
    let mut frame = Vec::with_capacity(bytes);
    frame.extend_from_slice(&[VERSION, kind::PUBLICATION]);
    frame.extend_from_slice(&epoch.id);
    frame.extend_from_slice(&seq.to_be_bytes());
    let nonce = random::<NONCE_BYTES>();
    let sealed = Key::from_bytes(epoch.key).seal(&nonce, &frame, &plain);
    frame.extend_from_slice(&nonce);
    frame.extend_from_slice(&sealed);
    let signature = master.sign(&[CONTEXT, &frame].concat());
    frame.extend_from_slice(&signature);
    Ok(frame)
}

/// A publication whose signature was good; it is not opened yet.
#[derive(Debug)]
pub struct Signed<'a> {
    pub epoch: [u8; 8],
    pub seq: u64,
    header: &'a [u8],
    sealed: &'a [u8],
}

/// Checks that the master made these bytes. Nothing for everything else.
pub fn verify(frame: &[u8], master: PublicKey) -> Option<Signed<'_>> {
    let (signed, signature) = frame.split_last_chunk::<SIGNATURE_BYTES>()?;
    let (header, sealed) = signed.split_first_chunk::<HEADER>()?;
    let [VERSION, kind::PUBLICATION, numbers @ ..] = header else {
        return None;
    };
    if !master.verifies(&[CONTEXT, signed].concat(), signature) {
        return None;
    }
    let (epoch, seq) = numbers.split_first_chunk::<8>()?;
    Some(Signed { epoch: *epoch, seq: u64::from_be_bytes(seq.try_into().ok()?), header, sealed })
}

impl Signed<'_> {
    /// Opens it with the key of its epoch.
    pub fn open<T: DeserializeOwned>(&self, key: &[u8; 32]) -> Option<T> {
        let plain = Key::from_bytes(*key).open_random(self.header, self.sealed)?;
        let (content, padding) = cbor::decode_prefix(&plain).ok()?;
        (padding.len() < PADDING && padding.iter().all(|byte| *byte == 0)).then_some(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_value::Value;

    #[test]
    fn only_the_master_publishes_and_only_the_fleet_reads() {
        crate::seal::start().unwrap();
        let (master, other) = (Identity::generate(), Identity::generate());
        let mut epoch = Epoch::begin();
        let job = Value::from("test.ping");
        let frame = publish(&mut epoch, &master, &job).unwrap();
        let signed = verify(&frame, master.public()).unwrap();
        assert_eq!((signed.epoch, signed.seq), (epoch.id, 1));
        assert_eq!(signed.open::<Value>(&epoch.key), Some(job.clone()));
        assert_eq!(signed.open::<Value>(&Epoch::begin().key), None);
        assert!(verify(&frame, other.public()).is_none());
        assert_eq!(verify(&publish(&mut epoch, &master, &job).unwrap(), master.public()).unwrap().seq, 2);
        for bit in 0..frame.len() * 8 {
            let mut bad = frame.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(verify(&bad, master.public()).is_none(), "bit {bit}");
        }
        for cut in 0..frame.len() {
            assert!(verify(&frame[..cut], master.public()).is_none());
        }
    }

    #[test]
    fn the_size_on_the_wire_is_padded() {
        let (master, mut epoch) = (Identity::generate(), Epoch::begin());
        let short = publish(&mut epoch, &master, &Value::from("a")).unwrap();
        let longer = publish(&mut epoch, &master, &Value::from("a".repeat(200))).unwrap();
        assert_eq!(short.len(), longer.len());
    }

    #[test]
    fn what_is_too_long_for_the_wire_is_an_error_and_takes_no_number() {
        let (master, mut epoch) = (Identity::generate(), Epoch::begin());
        let long = publish(&mut epoch, &master, &Value::from("a".repeat(FRAME_LIMIT)));
        assert!(matches!(long, Err(LinkError::TooLong { bytes, .. }) if bytes > FRAME_LIMIT), "{long:?}");
        assert_eq!(epoch.seq, 0);
    }
}
