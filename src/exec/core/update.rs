//! A new version of the program, and how it takes the place of the installed one.
//!
//! `saltutil.update` lays a candidate beside the installed file and asks the daemon to try it. The supervisor starts the
//! minion from the candidate; only when that minion has a session with a master does the candidate become the installed
//! file, by a rename. Until then the installed file is as it was: a candidate that does not come up, and a host that
//! loses its power meanwhile, leave the version that works.

use super::host::{Attributes, Host, Stat, own};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The place of the installed file, and of what lies beside it while there is an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    program: PathBuf,
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is the installed file now.
    Taken,
    /// It did not come up, for this reason; the installed file stays.
    PutBack(String),
}

impl Update {
    /// Of the program that runs, if its file is still the installed one.
    pub fn of_this_program() -> io::Result<Update> {
        let program = own::program()?;
        match own::is_file(&program) {
            true => Ok(Update { program }),
            false => Err(io::Error::other(format!(
                "the file of the program that runs, {}, is no longer there: start the minion again first",
                program.display()
            ))),
        }
    }

    pub fn of(program: &Path) -> Update {
        Update { program: program.to_owned() }
    }

    /// The installed file.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The file that may take its place.
    pub fn candidate(&self) -> PathBuf {
        self.beside("candidate")
    }

    /// The installed file that a candidate took the place of.
    pub fn previous(&self) -> PathBuf {
        self.beside("previous")
    }

    /// Puts a file there as the candidate, with owner and mode of the installed one.
    pub fn lay(&self, host: &dyn Host, from: &Path) -> io::Result<()> {
        let Stat { mode, uid, gid, .. } = host.stat(&self.program)?;
        let attributes = Attributes { mode: Some(mode), uid: Some(uid), gid: Some(gid) };
        host.write(&self.candidate(), &host.read(from)?, attributes)
    }

    /// Orders that the candidate is tried at the next start, for so long.
    pub fn order(&self, host: &dyn Host, timeout: Duration) -> io::Result<()> {
        let _ = host.remove(&self.beside("outcome"));
        host.write(&self.beside("order"), timeout.as_secs().to_string().as_bytes(), private())
    }

    /// Takes the order, if there is one: a candidate is tried once.
    pub fn ordered(&self, host: &dyn Host) -> Option<Duration> {
        let order = host.read(&self.beside("order")).ok()?;
        let _ = host.remove(&self.beside("order"));
        let seconds = String::from_utf8(order).ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }

    /// Makes the candidate the installed file.
    pub fn take(&self, host: &dyn Host) -> io::Result<()> {
        let previous = self.previous();
        let _ = host.remove(&previous);
        host.hard_link(&self.program, &previous)?;
        host.rename(&self.candidate(), &self.program)
    }

    /// Says what became of the candidate; one that was put back is gone.
    pub fn tell(&self, host: &dyn Host, outcome: &Outcome) -> io::Result<()> {
        if matches!(outcome, Outcome::PutBack(_)) {
            let _ = host.remove(&self.candidate());
        }
        host.write(&self.beside("outcome"), outcome.to_string().as_bytes(), private())
    }

    /// Takes what was said.
    pub fn outcome(&self, host: &dyn Host) -> Option<Outcome> {
        let told = host.read(&self.beside("outcome")).ok()?;
        let _ = host.remove(&self.beside("outcome"));
        let told = String::from_utf8_lossy(&told).into_owned();
        Some(if told == TAKEN { Outcome::Taken } else { Outcome::PutBack(told) })
    }

    /// Leaves nothing of an update that did not begin.
    pub fn forget(&self, host: &dyn Host) {
        for name in ["order", "candidate", "outcome"] {
            let _ = host.remove(&self.beside(name));
        }
    }

    /// Hidden, and named after the file: two programs in one directory do not meet.
    fn beside(&self, name: &str) -> PathBuf {
        let file = self.program.file_name().unwrap_or_default().to_string_lossy();
        self.program.with_file_name(format!(".{file}-{name}"))
    }
}

const TAKEN: &str = "taken";

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Outcome::Taken => out.write_str(TAKEN),
            Outcome::PutBack(why) => out.write_str(why),
        }
    }
}

fn private() -> Attributes {
    Attributes { mode: Some(0o600), ..Attributes::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HostFiles;
    use crate::host::fake::Fake;

    fn installed() -> (Fake, Update) {
        let host = Fake::new().file("/usr/bin/halite", "old").file("/tmp/new", "new");
        (host, Update::of(Path::new("/usr/bin/halite")))
    }

    fn content(host: &Fake, path: &Path) -> String {
        String::from_utf8(host.read(path).unwrap()).unwrap()
    }

    #[test]
    fn a_candidate_takes_the_place_of_the_installed_file_when_it_is_said_to() {
        let (host, update) = installed();
        update.lay(&host, Path::new("/tmp/new")).unwrap();
        update.order(&host, Duration::from_secs(7)).unwrap();
        assert_eq!(content(&host, update.program()), "old");
        assert_eq!(update.ordered(&host), Some(Duration::from_secs(7)));
        assert_eq!(update.ordered(&host), None, "a candidate is tried once");
        update.take(&host).unwrap();
        update.tell(&host, &Outcome::Taken).unwrap();
        assert_eq!(content(&host, update.program()), "new");
        assert_eq!(content(&host, &update.previous()), "old");
        assert_eq!(update.outcome(&host), Some(Outcome::Taken));
        assert_eq!(update.outcome(&host), None);
    }

    #[test]
    fn of_a_candidate_that_is_put_back_the_reason_is_left() {
        let (host, update) = installed();
        update.lay(&host, Path::new("/tmp/new")).unwrap();
        let outcome = Outcome::PutBack("it ended with exit code 1".to_owned());
        update.tell(&host, &outcome).unwrap();
        assert_eq!(update.outcome(&host), Some(outcome));
        assert_eq!(content(&host, update.program()), "old");
        assert!(host.stat(&update.candidate()).is_err());
    }
}
