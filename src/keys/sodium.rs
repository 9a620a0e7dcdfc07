//! libsodium as a whole: made ready before its first use, and the end of the program where it does not do its work.
//!
//! The calls of sodiumoxide that make keys tell nobody when they fail: what they give is zeros then. No caller can go on
//! with such a key, and none can mend it, so the program ends.

use std::sync::OnceLock;

/// The exit code of a fault in Halite itself (`docs/exit-codes.md`).
const FAULT: i32 = 70;

/// Makes libsodium ready; whoever calls it first pays for it. Safe to call from any thread, as often as one likes.
pub fn start() -> Result<(), &'static str> {
    static STARTED: OnceLock<Result<(), &'static str>> = OnceLock::new();
    let start = || sodiumoxide::init().map_err(|()| "libsodium could not start: the system gives no random numbers");
    *STARTED.get_or_init(start)
}

/// To be called before anything that makes a key or a random number.
pub fn ready() {
    if let Err(why) = start() {
        end(why);
    }
}

/// Passes on the public half of a key pair that was just made. Zeros are what is left of one that was not made; as a key
/// of small order they are none anyway.
pub fn made(public: [u8; 32]) -> [u8; 32] {
    if public == [0; 32] {
        end("libsodium has made no key pair");
    }
    public
}

/// Ends the program: it would go on with a key that everybody knows.
pub fn end(why: &str) -> ! {
    log::error!("{why}");
    // The log may go to a file, or be off: whoever started the program reads this.
    eprintln!("error: {why}");
    std::process::exit(FAULT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Names the test that is run again, in a process that must end.
    const CHILD: &str = "HALITE_TEST_ZERO_KEY";

    #[test]
    fn a_failed_libsodium_gave_an_all_zero_key_instead_of_an_end() {
        if std::env::var_os(CHILD).is_some() {
            made([0; 32]);
            println!("went on with a zero key");
            return;
        }
        let itself = std::env::current_exe().unwrap();
        let (_, place) = module_path!().split_once("::").unwrap();
        let name = format!("{place}::a_failed_libsodium_gave_an_all_zero_key_instead_of_an_end");
        let output = Command::new(itself).args(["--exact", &name, "--nocapture"]).env(CHILD, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(FAULT), "{said}");
        assert!(said.contains("error: libsodium has made no key pair"), "{said}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("went on"));
    }

    #[test]
    fn it_starts_once_from_every_thread() {
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(start)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Ok(()));
        }
    }
}
