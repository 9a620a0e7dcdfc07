//! The first two bytes of everything on the wire, and the one frame that is in clear.
//!
//! There is one version. A frame of another version, or of a type that is not expected, is answered by a notice; a
//! notice is in clear, so all that it may ever cause is another try.

pub const VERSION: u8 = 1;

/// The second byte of a frame.
pub mod kind {
    pub const M1: u8 = 0x01;
    pub const M2: u8 = 0x02;
    pub const M3: u8 = 0x03;
    pub const M4: u8 = 0x04;
    pub const NOTICE: u8 = 0x0f;
    pub const REQUEST: u8 = 0x11;
    pub const REPLY: u8 = 0x12;
    pub const PUBLICATION: u8 = 0x20;
}

/// Nothing that an unauthenticated connection may send is longer.
pub const HANDSHAKE_LIMIT: usize = 4096;
/// Nothing at all is longer: NNG allocates what a length header says, for anyone.
pub const FRAME_LIMIT: usize = 1 << 20;

/// What a master tells in clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Too many handshakes at once: come back after so many milliseconds.
    Busy { wait_ms: u32 },
    /// The session is not known here (any more): shake hands again.
    NoSession,
    /// The frame was not understood: another version, or damage.
    NotUnderstood,
}

impl Notice {
    pub fn encode(self) -> Vec<u8> {
        let (code, number) = match self {
            Notice::Busy { wait_ms } => (1, wait_ms),
            Notice::NoSession => (2, 0),
            Notice::NotUnderstood => (3, 0),
        };
        let mut out = vec![VERSION, kind::NOTICE, code];
        out.extend_from_slice(&u32::to_be_bytes(number));
        out
    }

    pub fn decode(bytes: &[u8]) -> Option<Notice> {
        let [VERSION, kind::NOTICE, code, number @ ..] = bytes else {
            return None;
        };
        let number = u32::from_be_bytes(number.try_into().ok()?);
        match code {
            1 => Some(Notice::Busy { wait_ms: number }),
            2 => Some(Notice::NoSession),
            3 => Some(Notice::NotUnderstood),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_comes_back_and_nothing_else_is_one() {
        for notice in [Notice::Busy { wait_ms: 70_000 }, Notice::NoSession, Notice::NotUnderstood] {
            let bytes = notice.encode();
            assert_eq!(Notice::decode(&bytes), Some(notice));
            assert_eq!(Notice::decode(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(Notice::decode(&[1, 0x0f, 9, 0, 0, 0, 0]), None);
        assert_eq!(Notice::decode(&[]), None);
    }
}
