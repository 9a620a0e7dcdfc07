//! The seals: what is hidden and what is proved, with libsodium, in one place.
//!
//! Everything else in the wire speaks of keys, hashes and sealed bytes; only this file and `keys` name the library.

use halite_keys::sodium;
use sodiumoxide::crypto::aead::xchacha20poly1305_ietf as aead;
use sodiumoxide::crypto::{generichash, kx};

pub const NONCE_BYTES: usize = 24;
pub const TAG_BYTES: usize = 16;
pub const HASH_BYTES: usize = 32;
pub const EXCHANGE_BYTES: usize = 32;

pub type Hash = [u8; HASH_BYTES];

/// A key for sealing. Its bytes are wiped when it is dropped.
#[derive(Clone)]
pub struct Key(aead::Key);

impl Key {
    pub fn random() -> Key {
        Key::from_bytes(random())
    }

    pub fn from_bytes(bytes: [u8; 32]) -> Key {
        Key(aead::Key(bytes))
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0.0
    }

    /// Seals under a nonce that must never be used twice with this key; `beside` is proved but not hidden.
    pub fn seal(&self, nonce: &[u8; NONCE_BYTES], beside: &[u8], plain: &[u8]) -> Vec<u8> {
        aead::seal(plain, Some(beside), &aead::Nonce(*nonce), &self.0)
    }

    /// The same where the plain bytes are: they become what is sealed, but for the tag that goes behind them.
    pub fn seal_in_place(&self, nonce: &[u8; NONCE_BYTES], beside: &[u8], plain: &mut [u8]) -> [u8; TAG_BYTES] {
        aead::seal_detached(plain, Some(beside), &aead::Nonce(*nonce), &self.0).0
    }

    /// Opens what was sealed where it is: the plain bytes, without the tag. What does not open is wiped.
    pub fn open_in_place<'s>(
        &self,
        nonce: &[u8; NONCE_BYTES],
        beside: &[u8],
        sealed: &'s mut [u8],
    ) -> Option<&'s [u8]> {
        let (plain, tag) = sealed.split_last_chunk_mut::<TAG_BYTES>()?;
        let tag = aead::Tag(*tag);
        aead::open_detached(plain, Some(beside), &tag, &aead::Nonce(*nonce), &self.0).ok()?;
        Some(plain)
    }

    /// Opens what [`Key::seal`] sealed; nothing where key, nonce, `beside` or a single bit differs.
    pub fn open(&self, nonce: &[u8; NONCE_BYTES], beside: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        aead::open(sealed, Some(beside), &aead::Nonce(*nonce), &self.0).ok()
    }

    /// A random nonce and what it sealed, in one piece.
    pub fn seal_random(&self, beside: &[u8], plain: &[u8]) -> Vec<u8> {
        let nonce = random::<NONCE_BYTES>();
        let sealed = self.seal(&nonce, beside, plain);
        [&nonce[..], &sealed].concat()
    }

    /// Opens what [`Key::seal_random`] sealed.
    pub fn open_random(&self, beside: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
        self.open(nonce, beside, sealed)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Says whether libsodium is there, so that a program that needs it can refuse to start in its own words. What makes a key
/// or a random number asks again, and ends the program where it is not.
pub fn start() -> Result<(), &'static str> {
    sodium::start()
}

pub fn random<const N: usize>() -> [u8; N] {
    sodium::ready();
    let mut bytes = [0; N];
    sodiumoxide::randombytes::randombytes_into(&mut bytes);
    bytes
}

/// BLAKE2b-256 of the parts, one after the other.
pub fn hash(parts: &[&[u8]]) -> Hash {
    digest(None, parts)
}

/// BLAKE2b-256 under a key.
pub fn keyed_hash(key: &[u8; 32], parts: &[&[u8]]) -> Hash {
    digest(Some(key), parts)
}

/// Keys are derived with it, so a hash that was not made must not be taken for one.
fn digest(key: Option<&[u8; 32]>, parts: &[&[u8]]) -> Hash {
    match digest_of(HASH_BYTES, key.map(|key| &key[..]), parts) {
        Some(hash) => hash,
        None => sodium::end("libsodium has made no hash"),
    }
}

/// Fails for lengths out of range.
fn digest_of(length: usize, key: Option<&[u8]>, parts: &[&[u8]]) -> Option<Hash> {
    let mut state = generichash::State::new(Some(length), key).ok()?;
    for part in parts {
        state.update(part).ok()?;
    }
    state.finalize().ok()?.as_ref().try_into().ok()
}

/// One side's fresh keys of a key exchange, used once.
pub struct Exchange {
    secret: kx::SecretKey,
    public: [u8; EXCHANGE_BYTES],
}

/// What both sides of a key exchange share: a key a direction. Wiped when dropped.
pub struct Shared {
    pub up: Key,
    pub down: Key,
}

impl Exchange {
    pub fn fresh() -> Exchange {
        sodium::ready();
        let (public, secret) = kx::gen_keypair();
        Exchange { secret, public: sodium::made(public.0) }
    }

    pub fn public(&self) -> &[u8; EXCHANGE_BYTES] {
        &self.public
    }

    /// The minion's side. Nothing for a key of small order.
    pub fn as_minion(&self, master: &[u8; EXCHANGE_BYTES]) -> Option<Shared> {
        let (down, up) =
            kx::client_session_keys(&kx::PublicKey(self.public), &self.secret, &kx::PublicKey(*master)).ok()?;
        Some(Shared { up: Key::from_bytes(up.0), down: Key::from_bytes(down.0) })
    }

    /// The master's side. Nothing for a key of small order.
    pub fn as_master(&self, minion: &[u8; EXCHANGE_BYTES]) -> Option<Shared> {
        let (up, down) =
            kx::server_session_keys(&kx::PublicKey(self.public), &self.secret, &kx::PublicKey(*minion)).ok()?;
        Some(Shared { up: Key::from_bytes(up.0), down: Key::from_bytes(down.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_share_the_keys_and_a_small_order_key_is_refused() {
        let (minion, master) = (Exchange::fresh(), Exchange::fresh());
        let (a, b) = (minion.as_minion(master.public()).unwrap(), master.as_master(minion.public()).unwrap());
        assert_eq!(a.up.as_bytes(), b.up.as_bytes());
        assert_eq!(a.down.as_bytes(), b.down.as_bytes());
        assert_ne!(a.up.as_bytes(), a.down.as_bytes());
        assert!(minion.as_minion(&[0; 32]).is_none());
        assert!(master.as_master(&[0; 32]).is_none());
    }

    #[test]
    fn a_flipped_bit_opens_nothing() {
        let key = Key::random();
        let sealed = key.seal_random(b"beside", b"secret");
        assert_eq!(key.open_random(b"beside", &sealed).as_deref(), Some(&b"secret"[..]));
        assert!(key.open_random(b"other", &sealed).is_none());
        for bit in 0..sealed.len() * 8 {
            let mut bad = sealed.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(key.open_random(b"beside", &bad).is_none());
        }
        for cut in 0..sealed.len() {
            assert!(key.open_random(b"beside", &sealed[..cut]).is_none());
        }
    }

    #[test]
    fn what_is_sealed_in_place_is_the_same() {
        let (key, nonce) = (Key::random(), [7; NONCE_BYTES]);
        let mut bytes = b"secret".to_vec();
        let tag = key.seal_in_place(&nonce, b"beside", &mut bytes);
        let mut sealed = [&bytes[..], &tag].concat();
        let mut again = sealed.clone();
        assert_eq!(sealed, key.seal(&nonce, b"beside", b"secret"));
        assert_eq!(key.open_in_place(&nonce, b"other", &mut sealed), None);
        assert_eq!(key.open_in_place(&nonce, b"beside", &mut again), Some(&b"secret"[..]));
        assert_eq!(key.open_in_place(&nonce, b"beside", &mut [0; TAG_BYTES - 1]), None);
    }

    #[test]
    fn a_hash_that_cannot_be_made_is_not_all_zero() {
        assert!(digest_of(HASH_BYTES, None, &[b"abc"]).is_some());
        assert_eq!(digest_of(1000, None, &[b"abc"]), None, "no hash is so long");
        assert_eq!(digest_of(HASH_BYTES, Some(&[7; 1000]), &[b"abc"]), None, "no key is so long");
        assert_eq!(digest_of(16, None, &[b"abc"]), None, "half a hash is none");
    }

    #[test]
    fn the_hash_is_blake2b_256() {
        // b2sum -l 256 of the three bytes.
        let hex: String = hash(&[b"a", b"bc"]).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    }
}
