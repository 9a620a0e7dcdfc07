//! How a minion and a master come to share keys: four messages, as states without a socket.
//!
//! ```text
//! M1 m>M  01 01, r_m[32], e_m[32]
//! M2 M>m  01 02, r_M[32], e_M[32], S_M[32], chain[0|64], sig_M[64]
//! M3 m>M  01 03, seal(hs_up, fields, sig_m[64])
//! M4 M>m  01 04, seal(hs_down, accepted | wait)
//! ```
//!
//! Each state is consumed by its only step, so that none can be used twice. Both signatures cover both fresh keys and
//! the master's key: what was recorded cannot be replayed, relayed to another master or bound to another key. What is
//! signed and hashed is bytes as they were sent. `docs/protocol.md` says what follows for an attacker.

use super::cbor::{self, Bytes, Unfit};
use super::frame::{HANDSHAKE_LIMIT, Notice, VERSION, kind};
use super::seal::{EXCHANGE_BYTES, Exchange, Hash, Key, Shared, hash, keyed_hash, random};
use super::session::{Session, SessionId};
use halite_keys::identity::{Identity, PUBLIC_KEY_BYTES, PublicKey, SIGNATURE_BYTES};
use halite_value::Map;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const NONCE: usize = 32;
const M1_BYTES: usize = 2 + NONCE + EXCHANGE_BYTES;
const M2_FIXED: usize = 2 + NONCE + EXCHANGE_BYTES + PUBLIC_KEY_BYTES;

/// Why a handshake stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum HandshakeError {
    /// The bytes are not the message that was due.
    Malformed(&'static str),
    /// A signature or seal does not hold: damage, or somebody in between.
    Forged(&'static str),
    /// The master's key is not the one that this minion trusts.
    Untrusted { found: PublicKey, wanted: String },
    /// The master says so in clear: try again.
    Told(Notice),
    /// What this minion says of itself is longer than a master takes from an unauthenticated connection.
    TooLong { bytes: usize },
}

impl std::fmt::Display for HandshakeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HandshakeError::Malformed(what) => write!(f, "the peer sent no valid {what}"),
            HandshakeError::Forged(what) => write!(f, "{what} does not hold: damaged, or somebody is in between"),
            HandshakeError::Untrusted { found, wanted } => {
                write!(f, "the master's key {} is not the trusted one ({wanted})", found.fingerprint())
            }
            HandshakeError::TooLong { bytes } => write!(
                f,
                "what this minion says of itself takes {bytes} bytes, more than {HANDSHAKE_LIMIT}: its autosign_grains are too long"
            ),
            HandshakeError::Told(Notice::Busy { wait_ms }) => write!(f, "the master is busy, again in {wait_ms} ms"),
            HandshakeError::Told(Notice::NoSession) => f.write_str("the master has forgotten the handshake"),
            HandshakeError::Told(Notice::NotUnderstood) => f.write_str("the master speaks another version"),
        }
    }
}

impl std::error::Error for HandshakeError {}

/// What a minion knows of its master before they meet.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// The key of an earlier session (`minion_master.pub`).
    pub pin: Option<PublicKey>,
    /// `master_finger`: the fingerprint that the admin wrote down.
    pub finger: Option<String>,
    /// `master_sign.pub`: a key whose signature vouches for the master's.
    pub signing: Option<PublicKey>,
}

/// What a minion says of itself, once it knows whom it talks to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub id: String,
    /// New at each start of the daemon: two with one key are told apart by it.
    pub instance: Bytes<16>,
    /// The kernel's boot id: what was under way before a reboot is gone.
    pub boot: Bytes<16>,
    /// The grains that `autosign_grains` asks for.
    pub autosign: Map,
    #[serde(default)]
    pub purpose: Purpose,
}

/// What a session is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A minion that takes jobs.
    #[default]
    Jobs,
    /// A program of the minion's host that has something to say and takes no jobs (`salt-call`).
    Errand,
}

/// What the master answers in M4.
#[derive(Clone, Debug)]
pub enum Verdict<S> {
    Accepted(Box<S>),
    Wait(Wait),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    pub seconds: u32,
    /// `pending`, `rejected` (told to the holder of the rejected key alone), `busy`.
    pub reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Pending,
    Rejected,
    /// Another instance with this key is alive.
    Duplicate,
    /// The master has as many minions as it may.
    Full,
}

/// What comes with a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// Seconds until the session ends; a new handshake is due before.
    pub life: u32,
    /// The epoch of publications, its key and the last number used in it.
    pub epoch: Bytes<8>,
    pub group_key: Bytes<32>,
    pub seq: u64,
    pub publish_port: u16,
    /// Milliseconds over which minions spread their handshakes when the master has forgotten its sessions: the time that
    /// it takes to shake hands with all of them.
    #[serde(default)]
    #[serde(rename = "crowd_ms")]
    pub reconnect_jitter_ms: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sealed {
    Accepted { sid: SessionId, welcome: Welcome },
    Wait(Wait),
}

// ---- the minion's side ----

/// M1 is sent, M2 is due.
pub struct AwaitingM2 {
    exchange: Exchange,
    t1: Hash,
}

/// M2 was good: the master has proved its key, and nothing was said of the minion yet.
pub struct MasterKnown {
    pub master: PublicKey,
    shared: Shared,
    t2: Hash,
    signature: [u8; SIGNATURE_BYTES],
}

/// M3 is sent, M4 is due.
pub struct AwaitingM4 {
    pub master: PublicKey,
    shared: Shared,
    handshake_down: Key,
    t3: Hash,
}

/// Begins a handshake: M1.
pub fn greet() -> (AwaitingM2, Vec<u8>) {
    let exchange = Exchange::fresh();
    let mut m1 = Vec::with_capacity(M1_BYTES);
    m1.extend_from_slice(&[VERSION, kind::M1]);
    m1.extend_from_slice(&random::<NONCE>());
    m1.extend_from_slice(exchange.public());
    let t1 = hash(&[b"halite/1", &m1]);
    (AwaitingM2 { exchange, t1 }, m1)
}

impl AwaitingM2 {
    /// Checks that the peer is the trusted master.
    pub fn receive(self, m2: &[u8], trust: &Trust) -> Result<MasterKnown, HandshakeError> {
        if let Some(notice) = Notice::decode(m2) {
            return Err(HandshakeError::Told(notice));
        }
        let chain_bytes = match m2.len().checked_sub(M2_FIXED + SIGNATURE_BYTES) {
            Some(0) => 0,
            Some(SIGNATURE_BYTES) => SIGNATURE_BYTES,
            _ => return Err(HandshakeError::Malformed("M2")),
        };
        let ([VERSION, kind::M2], rest) = split::<2>(m2, "M2")? else {
            return Err(HandshakeError::Malformed("M2"));
        };
        let (_nonce, rest) = split::<NONCE>(rest, "M2")?;
        let (exchange, rest) = split::<EXCHANGE_BYTES>(rest, "M2")?;
        let (master, rest) = split::<PUBLIC_KEY_BYTES>(rest, "M2")?;
        let (chain, rest) = rest.split_at(chain_bytes);
        let (signature, _) = split::<SIGNATURE_BYTES>(rest, "M2")?;

        let master = PublicKey::from_bytes(*master);
        let t2 = hash(&[&self.t1, &m2[..m2.len() - SIGNATURE_BYTES]]);
        if !master.verifies(&signed_by_master(&t2), signature) {
            return Err(HandshakeError::Forged("the master's signature"));
        }
        trust.check(master, chain)?;
        let shared = self.exchange.as_minion(exchange).ok_or(HandshakeError::Forged("the master's fresh key"))?;
        Ok(MasterKnown { master, shared, t2, signature: *signature })
    }
}

impl MasterKnown {
    /// Says who the minion is: M3.
    pub fn claim(self, identity: &Identity, claim: &Claim) -> Result<(AwaitingM4, Vec<u8>), HandshakeError> {
        let key = Bytes(*identity.public().as_bytes());
        let fields = cbor::encode(&(claim, key)).map_err(|_| HandshakeError::Malformed("claim"))?;
        let proof = identity.sign(&signed_by_minion(&self.t2, &fields));
        let plain = [&fields[..], &proof].concat();
        let up = handshake_key(&self.shared.up, &self.t2);
        let mut m3 = vec![VERSION, kind::M3];
        m3.extend_from_slice(&up.seal_random(&self.t2, &plain));
        if m3.len() > HANDSHAKE_LIMIT {
            return Err(HandshakeError::TooLong { bytes: m3.len() });
        }
        let t3 = hash(&[&self.t2, &self.signature, &m3]);
        let handshake_down = handshake_key(&self.shared.down, &self.t2);
        Ok((AwaitingM4 { master: self.master, shared: self.shared, handshake_down, t3 }, m3))
    }
}

impl AwaitingM4 {
    /// Opens the master's answer. That it opens proves that the master holds the key it showed.
    pub fn receive(self, m4: &[u8]) -> Result<Verdict<(Session, Welcome)>, HandshakeError> {
        if let Some(notice) = Notice::decode(m4) {
            return Err(HandshakeError::Told(notice));
        }
        let ([VERSION, kind::M4], sealed) = split::<2>(m4, "M4")? else {
            return Err(HandshakeError::Malformed("M4"));
        };
        let plain = self.handshake_down.open_random(&self.t3, sealed).ok_or(HandshakeError::Forged("M4"))?;
        match cbor::decode(&plain).map_err(|_| HandshakeError::Malformed("M4"))? {
            Sealed::Wait(wait) => Ok(Verdict::Wait(wait)),
            Sealed::Accepted { sid, welcome } => {
                let session = Session::new(sid, session_keys(&self.shared, &self.t3));
                Ok(Verdict::Accepted(Box::new((session, welcome))))
            }
        }
    }
}

impl Trust {
    fn check(&self, master: PublicKey, chain: &[u8]) -> Result<(), HandshakeError> {
        if let Some(signing) = self.signing {
            let vouched =
                <&[u8; SIGNATURE_BYTES]>::try_from(chain).is_ok_and(|signature| vouches(signing, master, signature));
            return if vouched { Ok(()) } else { Err(untrusted(master, "signed by master_sign.pub")) };
        }
        match self.pin {
            Some(pin) if pin == master => Ok(()),
            Some(pin) => Err(untrusted(master, &pin.fingerprint())),
            None => match &self.finger {
                Some(finger) if !finger.eq_ignore_ascii_case(&master.fingerprint()) => Err(untrusted(master, finger)),
                _ => Ok(()),
            },
        }
    }
}

fn untrusted(found: PublicKey, wanted: &str) -> HandshakeError {
    HandshakeError::Untrusted { found, wanted: wanted.to_owned() }
}

// ---- the master's side ----

/// M2 is sent, M3 is due.
pub struct AwaitingM3 {
    shared: Shared,
    t2: Hash,
    signature: [u8; SIGNATURE_BYTES],
}

/// M3 was good: the peer holds `key` and says that it is `claim.id`. Whether it may be is for the key store to say.
pub struct Claimed {
    pub key: PublicKey,
    pub claim: Claim,
    shared: Shared,
    handshake_down: Key,
    t3: Hash,
}

/// Answers M1 with M2. `chain` is the signing key's signature of the master's key ([`vouch`]), where there is one.
pub fn answer(
    m1: &[u8],
    identity: &Identity,
    chain: Option<&[u8; SIGNATURE_BYTES]>,
) -> Result<(AwaitingM3, Vec<u8>), HandshakeError> {
    let m1: &[u8; M1_BYTES] = m1.try_into().map_err(|_| HandshakeError::Malformed("M1"))?;
    let ([VERSION, kind::M1], rest) = split::<2>(m1, "M1")? else {
        return Err(HandshakeError::Malformed("M1"));
    };
    let (_nonce, rest) = split::<NONCE>(rest, "M1")?;
    let (minion, _) = split::<EXCHANGE_BYTES>(rest, "M1")?;
    let exchange = Exchange::fresh();
    let shared = exchange.as_master(minion).ok_or(HandshakeError::Malformed("M1"))?;

    let mut m2 = Vec::with_capacity(M2_FIXED + 2 * SIGNATURE_BYTES);
    m2.extend_from_slice(&[VERSION, kind::M2]);
    m2.extend_from_slice(&random::<NONCE>());
    m2.extend_from_slice(exchange.public());
    m2.extend_from_slice(identity.public().as_bytes());
    m2.extend_from_slice(chain.map_or(&[], |chain| &chain[..]));
    let t1 = hash(&[b"halite/1", m1]);
    let t2 = hash(&[&t1, &m2]);
    let signature = identity.sign(&signed_by_master(&t2));
    m2.extend_from_slice(&signature);
    Ok((AwaitingM3 { shared, t2, signature }, m2))
}

/// Whether this is a signing key's signature of a master's key.
pub fn vouches(signing: PublicKey, master: PublicKey, signature: &[u8; SIGNATURE_BYTES]) -> bool {
    signing.verifies(&vouched_for(master), signature)
}

/// The signature with which a signing key vouches for a master's key.
pub fn vouch(signing: &Identity, master: PublicKey) -> [u8; SIGNATURE_BYTES] {
    signing.sign(&vouched_for(master))
}

impl AwaitingM3 {
    /// Opens and checks the minion's claim.
    pub fn receive(self, m3: &[u8]) -> Result<Claimed, HandshakeError> {
        if m3.len() > HANDSHAKE_LIMIT {
            return Err(HandshakeError::Malformed("M3"));
        }
        let ([VERSION, kind::M3], sealed) = split::<2>(m3, "M3")? else {
            return Err(HandshakeError::Malformed("M3"));
        };
        let up = handshake_key(&self.shared.up, &self.t2);
        let plain = up.open_random(&self.t2, sealed).ok_or(HandshakeError::Forged("M3"))?;
        let (fields, proof) = plain.split_last_chunk::<SIGNATURE_BYTES>().ok_or(HandshakeError::Malformed("M3"))?;
        let (claim, Bytes(key)): (Claim, Bytes<PUBLIC_KEY_BYTES>) =
            cbor::decode(fields).map_err(|_| HandshakeError::Malformed("M3"))?;
        let key = PublicKey::from_bytes(key);
        if !key.verifies(&signed_by_minion(&self.t2, fields), proof) {
            return Err(HandshakeError::Forged("the minion's signature"));
        }
        let t3 = hash(&[&self.t2, &self.signature, m3]);
        let handshake_down = handshake_key(&self.shared.down, &self.t2);
        Ok(Claimed { key, claim, shared: self.shared, handshake_down, t3 })
    }
}

impl Claimed {
    /// Lets the minion in: the session and M4.
    pub fn accept(self, welcome: &Welcome) -> Result<(Session, Vec<u8>), Unfit> {
        let sid = SessionId::fresh();
        let m4 = self.m4(&Sealed::Accepted { sid, welcome: welcome.clone() })?;
        Ok((Session::new(sid, session_keys(&self.shared, &self.t3)), m4))
    }

    /// Sends the minion away for a while: M4.
    pub fn wait(self, wait: Wait) -> Result<Vec<u8>, Unfit> {
        self.m4(&Sealed::Wait(wait))
    }

    /// How long a session lives: around a day, spread so that a fleet does not come back at once.
    pub fn spread_life() -> Duration {
        let spread = u16::from_be_bytes(random()) as u64;
        Duration::from_secs(69_120 + spread * 34_560 / u64::from(u16::MAX))
    }

    fn m4(&self, sealed: &Sealed) -> Result<Vec<u8>, Unfit> {
        let mut m4 = vec![VERSION, kind::M4];
        m4.extend_from_slice(&self.handshake_down.seal_random(&self.t3, &cbor::encode(sealed)?));
        Ok(m4)
    }
}

// ---- what both sides compute ----

fn signed_by_master(t2: &Hash) -> Vec<u8> {
    [b"halite/1 master".as_slice(), t2].concat()
}

fn signed_by_minion(t2: &Hash, fields: &[u8]) -> Vec<u8> {
    [b"halite/1 minion".as_slice(), &hash(&[t2, fields])].concat()
}

fn vouched_for(master: PublicKey) -> Vec<u8> {
    [b"halite/1 vouched".as_slice(), master.as_bytes()].concat()
}

fn handshake_key(shared: &Key, t2: &Hash) -> Key {
    Key::from_bytes(keyed_hash(shared.as_bytes(), &[b"handshake", t2]))
}

fn session_keys(shared: &Shared, t3: &Hash) -> Shared {
    let derive = |key: &Key| Key::from_bytes(keyed_hash(key.as_bytes(), &[b"session", t3]));
    Shared { up: derive(&shared.up), down: derive(&shared.down) }
}

fn split<'a, const N: usize>(bytes: &'a [u8], what: &'static str) -> Result<(&'a [u8; N], &'a [u8]), HandshakeError> {
    bytes.split_first_chunk::<N>().ok_or(HandshakeError::Malformed(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim() -> Claim {
        Claim {
            id: "web1".to_owned(),
            instance: Bytes([1; 16]),
            boot: Bytes([2; 16]),
            autosign: Map::new(),
            purpose: Purpose::Jobs,
        }
    }

    fn welcome() -> Welcome {
        Welcome {
            life: 86_400,
            epoch: Bytes([3; 8]),
            group_key: Bytes([4; 32]),
            seq: 9,
            publish_port: 4505,
            reconnect_jitter_ms: 500,
        }
    }

    struct Pair {
        minion: Identity,
        master: Identity,
    }

    impl Pair {
        fn new() -> Pair {
            seal_start();
            Pair { minion: Identity::generate(), master: Identity::generate() }
        }

        /// Runs a handshake in which `bend` may change each message on its way. True when both have a session.
        fn run(&self, bend: &mut dyn FnMut(usize, Vec<u8>) -> Vec<u8>) -> Result<(Session, Session), HandshakeError> {
            let (minion, m1) = greet();
            let (master, m2) = answer(&bend(1, m1), &self.master, None)?;
            let known = minion.receive(&bend(2, m2), &Trust::default())?;
            let (minion, m3) = known.claim(&self.minion, &claim()).unwrap();
            let claimed = master.receive(&bend(3, m3))?;
            assert_eq!((claimed.key, &claimed.claim), (self.minion.public(), &claim()));
            let (master_session, m4) = claimed.accept(&welcome()).unwrap();
            match minion.receive(&bend(4, m4))? {
                Verdict::Accepted(both) => {
                    assert_eq!(both.1, welcome());
                    Ok((both.0, master_session))
                }
                Verdict::Wait(_) => unreachable!("the master accepted"),
            }
        }
    }

    fn seal_start() {
        crate::seal::start().unwrap();
    }

    #[test]
    fn both_sides_reach_one_session() {
        let (mut minion, mut master) = Pair::new().run(&mut |_, message| message).unwrap();
        let (frame, number) = minion.request(b"hello").unwrap();
        let (at_master, plain) = master.open_request(&frame).unwrap();
        assert_eq!((at_master, plain.as_slice()), (number, &b"hello"[..]));
        let reply = master.reply(number, b"there").unwrap();
        assert_eq!(minion.open_reply(number, &reply).as_deref(), Some(&b"there"[..]));
    }

    #[test]
    fn no_flipped_bit_and_no_truncation_reaches_a_session() {
        let pair = Pair::new();
        let mut lengths = [0; 5];
        pair.run(&mut |number, message| {
            lengths[number] = message.len();
            message
        })
        .unwrap();
        for (number, length) in lengths.into_iter().enumerate().skip(1) {
            for bit in 0..length * 8 {
                let outcome = pair.run(&mut |at, mut message| {
                    if at == number {
                        message[bit / 8] ^= 1 << (bit % 8);
                    }
                    message
                });
                assert!(outcome.is_err(), "bit {bit} of M{number} was flipped and nobody noticed");
            }
            for cut in 0..length {
                let outcome = pair.run(&mut |at, message| if at == number { message[..cut].to_vec() } else { message });
                assert!(outcome.is_err(), "M{number} was cut to {cut} bytes and nobody noticed");
            }
        }
    }

    #[test]
    fn messages_of_another_handshake_do_not_fit() {
        let pair = Pair::new();
        let mut first = Vec::new();
        pair.run(&mut |_, message| {
            first.push(message.clone());
            message
        })
        .unwrap();
        for number in 2..=4 {
            let replay = pair.run(&mut |at, message| if at == number { first[number - 1].clone() } else { message });
            assert!(replay.is_err(), "M{number} was replayed and nobody noticed");
        }
    }

    #[test]
    fn only_the_trusted_master_learns_who_the_minion_is() {
        let Pair { master, .. } = Pair::new();
        let (signing, other) = (Identity::generate(), Identity::generate());
        let chain = vouch(&signing, master.public());
        let meet = |trust: &Trust, chain| {
            let (minion, m1) = greet();
            let (_, m2) = answer(&m1, &master, chain).unwrap();
            minion.receive(&m2, trust).map(|known| known.master)
        };
        let pin = Trust { pin: Some(master.public()), ..Trust::default() };
        let wrong_pin = Trust { pin: Some(other.public()), ..Trust::default() };
        let finger = Trust { finger: Some(master.public().fingerprint()), ..Trust::default() };
        let wrong_finger = Trust { finger: Some(other.public().fingerprint()), ..Trust::default() };
        let signed = Trust { signing: Some(signing.public()), ..Trust::default() };
        assert_eq!(meet(&pin, None), Ok(master.public()));
        assert_eq!(meet(&finger, None), Ok(master.public()));
        assert_eq!(meet(&signed, Some(&chain)), Ok(master.public()));
        assert!(matches!(meet(&wrong_pin, None), Err(HandshakeError::Untrusted { .. })));
        assert!(matches!(meet(&wrong_finger, None), Err(HandshakeError::Untrusted { .. })));
        assert!(matches!(meet(&signed, None), Err(HandshakeError::Untrusted { .. })));
        assert!(matches!(meet(&signed, Some(&vouch(&other, master.public()))), Err(HandshakeError::Untrusted { .. })));
    }

    #[test]
    fn a_minion_in_waiting_is_told_why() {
        let pair = Pair::new();
        let (minion, m1) = greet();
        let (master, m2) = answer(&m1, &pair.master, None).unwrap();
        let (minion, m3) = minion.receive(&m2, &Trust::default()).unwrap().claim(&pair.minion, &claim()).unwrap();
        let wait = Wait { seconds: 30, reason: Reason::Pending };
        let m4 = master.receive(&m3).unwrap().wait(wait.clone()).unwrap();
        assert!(matches!(minion.receive(&m4), Ok(Verdict::Wait(told)) if told == wait));
    }

    #[test]
    fn a_claim_that_no_master_takes_says_so() {
        let pair = Pair::new();
        let (minion, m1) = greet();
        let (_, m2) = answer(&m1, &pair.master, None).unwrap();
        let long = Claim { autosign: Map::from_iter([("serial", "x".repeat(HANDSHAKE_LIMIT))]), ..claim() };
        let claimed = minion.receive(&m2, &Trust::default()).unwrap().claim(&pair.minion, &long);
        let error = claimed.err().unwrap();
        assert!(matches!(error, HandshakeError::TooLong { bytes } if bytes > HANDSHAKE_LIMIT), "{error}");
        assert!(error.to_string().contains("autosign_grains"), "{error}");
    }

    #[test]
    fn a_notice_ends_the_try_and_says_why() {
        let (minion, _) = greet();
        let busy = Notice::Busy { wait_ms: 50 };
        assert!(
            matches!(minion.receive(&busy.encode(), &Trust::default()), Err(HandshakeError::Told(told)) if told == busy)
        );
    }
}
