//! A session: numbered, sealed requests and their replies.
//!
//! ```text
//! request  01 11, sid[16], n[8], r[16], sealed(k_up,   nonce n r, beside: all before)
//! reply    01 12, r[24],                sealed(k_down, nonce r,   beside: 01 12, sid, n of the request)
//! ```
//!
//! `n` rises by one with each request. Requests overtake each other on their way, so the master accepts each number of
//! a window once; the window moves only when the seal was good. The random part of the nonce keeps a cloned machine
//! from using one twice. What stands beside a reply ties it to its request.

use super::cbor::{Bytes, Unfit};
use super::frame::{FRAME_LIMIT, VERSION, kind};
use super::link::LinkError;
use super::seal::{Key, NONCE_BYTES, Shared, TAG_BYTES, random};
use serde::{Deserialize, Serialize};

const RANDOM: usize = 16;
const REQUEST_HEADER: usize = 2 + 16 + 8 + RANDOM;
const REPLY_HEADER: usize = 2 + NONCE_BYTES;

/// Names a session on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SessionId(pub Bytes<16>);

impl SessionId {
    pub fn fresh() -> SessionId {
        SessionId(Bytes(random()))
    }

    /// The session that a frame belongs to, when it is a request.
    pub fn of_request(frame: &[u8]) -> Option<SessionId> {
        let [VERSION, kind::REQUEST, rest @ ..] = frame else {
            return None;
        };
        rest.first_chunk().copied().map(Bytes).map(SessionId)
    }
}

/// Keys and counters of one session, on either side.
pub struct Session {
    pub id: SessionId,
    keys: Shared,
    /// The number of the last request made.
    sent: u64,
    seen: Window,
}

impl Session {
    pub fn new(id: SessionId, keys: Shared) -> Session {
        Session { id, keys, sent: 0, seen: Window::default() }
    }

    /// Seals a request; the number opens its reply.
    pub fn request(&mut self, plain: &[u8]) -> Result<(Vec<u8>, u64), LinkError> {
        let bytes = REQUEST_HEADER + plain.len() + TAG_BYTES;
        if bytes > FRAME_LIMIT {
            return Err(LinkError::TooLong { bytes, limit: FRAME_LIMIT });
        }
        self.sent += 1;
        let number = self.sent;
        let mut frame = Vec::with_capacity(bytes);
        frame.extend_from_slice(&[VERSION, kind::REQUEST]);
        frame.extend_from_slice(&self.id.0.0);
        frame.extend_from_slice(&number.to_be_bytes());
        frame.extend_from_slice(&random::<RANDOM>());
        let nonce = nonce_of(&frame);
        frame.extend_from_slice(plain);
        let (header, plain) = frame.split_at_mut(REQUEST_HEADER);
        let tag = self.keys.up.seal_in_place(&nonce, header, plain);
        frame.extend_from_slice(&tag);
        Ok((frame, number))
    }

    /// Opens a request, once. Nothing for what is forged, damaged, replayed or too old.
    pub fn open_request(&mut self, frame: &[u8]) -> Option<(u64, Vec<u8>)> {
        let (header, sealed) = frame.split_first_chunk::<REQUEST_HEADER>()?;
        if SessionId::of_request(header) != Some(self.id) {
            return None;
        }
        let number = u64::from_be_bytes(header[18..26].try_into().ok()?);
        if !self.seen.is_new(number) {
            return None;
        }
        let plain = self.keys.up.open(&nonce_of(header), header, sealed)?;
        self.seen.mark(number);
        Some((number, plain))
    }

    /// Seals the reply to a request.
    pub fn reply(&self, number: u64, plain: &[u8]) -> Result<Vec<u8>, LinkError> {
        self.replying(number).seal(plain)
    }

    /// Opens the reply to the request with this number.
    pub fn open_reply(&self, number: u64, frame: &[u8]) -> Option<Vec<u8>> {
        self.replying(number).open(frame)
    }

    /// The reply to one request, to be sealed or opened on another thread.
    pub fn replying(&self, number: u64) -> Replying {
        let beside = [&[VERSION, kind::REPLY][..], &self.id.0.0, &number.to_be_bytes()].concat();
        Replying { key: self.keys.down.clone(), beside }
    }
}

/// Seals or opens the reply to one request.
pub struct Replying {
    key: Key,
    /// What ties the reply to its request.
    beside: Vec<u8>,
}

impl Replying {
    pub fn seal(&self, plain: &[u8]) -> Result<Vec<u8>, LinkError> {
        self.seal_written(plain.len(), |frame| {
            frame.extend_from_slice(plain);
            Ok(())
        })
    }

    /// Seals what `write` appends, where it is written: some `length` bytes. Nothing is sealed when it fails, nor when the
    /// reply becomes longer than the wire takes.
    pub fn seal_written(
        &self,
        length: usize,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), Unfit>,
    ) -> Result<Vec<u8>, LinkError> {
        let nonce = random::<NONCE_BYTES>();
        let mut frame = Vec::with_capacity(REPLY_HEADER + length + TAG_BYTES);
        frame.extend_from_slice(&[VERSION, kind::REPLY]);
        frame.extend_from_slice(&nonce);
        write(&mut frame)?;
        let bytes = frame.len() + TAG_BYTES;
        if bytes > FRAME_LIMIT {
            return Err(LinkError::TooLong { bytes, limit: FRAME_LIMIT });
        }
        let tag = self.key.seal_in_place(&nonce, &self.beside, &mut frame[REPLY_HEADER..]);
        frame.extend_from_slice(&tag);
        Ok(frame)
    }

    pub fn open(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let [VERSION, kind::REPLY, sealed @ ..] = frame else {
            return None;
        };
        self.key.open_random(&self.beside, sealed)
    }

    /// Opens the reply where it is; one that does not open is wiped.
    pub fn open_in_place<'f>(&self, frame: &'f mut [u8]) -> Option<&'f [u8]> {
        let ([VERSION, kind::REPLY, nonce @ ..], sealed) = frame.split_first_chunk_mut::<REPLY_HEADER>()? else {
            return None;
        };
        let nonce = nonce.first_chunk::<NONCE_BYTES>().copied()?;
        self.key.open_in_place(&nonce, &self.beside, sealed)
    }
}

/// `n` and `r` of a request's header are its nonce.
fn nonce_of(header: &[u8]) -> [u8; NONCE_BYTES] {
    let mut nonce = [0; NONCE_BYTES];
    nonce.copy_from_slice(&header[REQUEST_HEADER - NONCE_BYTES..REQUEST_HEADER]);
    nonce
}

const WINDOW: u64 = 2048;

/// Which of the last numbers were seen. Grows to its full size only when numbers arrive out of order.
#[derive(Default)]
struct Window {
    highest: u64,
    /// Bit `number % WINDOW`, for the numbers `highest - WINDOW + 1 ..= highest`. Empty: all of them were seen in order.
    bits: Vec<u64>,
}

impl Window {
    fn is_new(&self, number: u64) -> bool {
        if number > self.highest {
            return true;
        }
        if number == 0 || self.highest - number >= WINDOW || self.bits.is_empty() {
            return false;
        }
        self.bits[Self::word(number)] & Self::bit(number) == 0
    }

    fn mark(&mut self, number: u64) {
        if number > self.highest {
            let gap = number - self.highest - 1;
            if self.bits.is_empty() && gap > 0 {
                self.bits = vec![u64::MAX; (WINDOW / 64) as usize];
            }
            if !self.bits.is_empty() {
                for skipped in (self.highest + 1..number).rev().take(WINDOW as usize) {
                    self.bits[Self::word(skipped)] &= !Self::bit(skipped);
                }
            }
            self.highest = number;
        }
        if !self.bits.is_empty() {
            self.bits[Self::word(number)] |= Self::bit(number);
        }
    }

    fn word(number: u64) -> usize {
        (number % WINDOW / 64) as usize
    }

    fn bit(number: u64) -> u64 {
        1 << (number % 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Session, Session) {
        let (up, down) = (Key::random(), Key::random());
        let id = SessionId(Bytes([7; 16]));
        let keys = || Shared { up: up.clone(), down: down.clone() };
        (Session::new(id, keys()), Session::new(id, keys()))
    }

    #[test]
    fn requests_may_overtake_each_other_and_are_taken_once() {
        let (mut minion, mut master) = pair();
        let frames: Vec<_> = (0..100).map(|at: u32| minion.request(&at.to_be_bytes()).unwrap().0).collect();
        for (at, frame) in frames.iter().enumerate().rev() {
            assert_eq!(master.open_request(frame).unwrap().1, (at as u32).to_be_bytes());
            assert!(master.open_request(frame).is_none(), "replayed");
        }
    }

    #[test]
    fn what_is_older_than_the_window_is_refused() {
        let (mut minion, mut master) = pair();
        let frames: Vec<_> = (0..WINDOW + 10).map(|_| minion.request(b"").unwrap().0).collect();
        assert!(master.open_request(frames.last().unwrap()).is_some());
        for (at, frame) in frames.iter().enumerate() {
            let expected = at as u64 >= 10 && at as u64 != WINDOW + 9;
            assert_eq!(master.open_request(frame).is_some(), expected, "number {}", at + 1);
        }
    }

    #[test]
    fn a_forged_number_does_not_move_the_window() {
        let (mut minion, mut master) = pair();
        let (good, _) = minion.request(b"x").unwrap();
        let mut forged = good.clone();
        forged[18] = 0xff;
        assert!(master.open_request(&forged).is_none());
        assert!(master.open_request(&good).is_some());
    }

    #[test]
    fn a_reply_fits_its_request_alone() {
        let (mut minion, mut master) = pair();
        let (first, one) = minion.request(b"1").unwrap();
        let (second, two) = minion.request(b"2").unwrap();
        assert_eq!(master.open_request(&first).unwrap().0, one);
        assert_eq!(master.open_request(&second).unwrap().0, two);
        let reply = master.reply(one, b"answer").unwrap();
        assert_eq!(minion.replying(two).open_in_place(&mut reply.clone()), None);
        assert_eq!(minion.replying(one).open_in_place(&mut reply.clone()), Some(&b"answer"[..]));
        assert!(minion.open_reply(two, &reply).is_none());
        assert!(minion.open_reply(one, &reply).is_some());
        for cut in 0..reply.len() {
            assert!(minion.open_reply(one, &reply[..cut]).is_none());
        }
        for cut in 0..first.len() {
            assert!(master.open_request(&first[..cut]).is_none());
        }
    }

    #[test]
    fn what_is_too_long_for_the_wire_is_not_sealed_and_takes_no_number() {
        let (mut minion, master) = pair();
        let long = vec![0; FRAME_LIMIT];
        assert!(matches!(minion.request(&long), Err(LinkError::TooLong { bytes, .. }) if bytes > FRAME_LIMIT));
        assert_eq!(minion.request(b"short").unwrap().1, 1);
        assert!(matches!(master.reply(1, &long), Err(LinkError::TooLong { bytes, .. }) if bytes > FRAME_LIMIT));
        let most = &long[REPLY_HEADER + TAG_BYTES..];
        assert_eq!(master.reply(1, most).unwrap().len(), FRAME_LIMIT);
        let unfit = master.replying(1).seal_written(8, |_| Err(Unfit));
        assert_eq!(unfit, Err(LinkError::Unfit(Unfit)));
    }
}
