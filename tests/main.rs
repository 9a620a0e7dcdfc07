//! Tests of the whole: each module says what it shows.

/// A job that is handed to so many at a time.
mod batch;
/// Files that are larger than the memory for them.
mod big_files;
/// A host that has booted anew.
mod boot;
/// Something is killed or cut at any moment, and no job is lost or run twice.
mod chaos;
/// Command lines, right and wrong, and what comes back.
mod commands;
/// How the daemons start, what they tell, how they end.
mod daemon;
/// Files between master and minion.
mod files;
/// A network whose packets can be dropped.
mod firewall;
/// Real masters and minions, for the others to use.
mod fleet;
/// Many minions at once.
mod fleet_size;
/// No decoder panics, whatever the bytes.
mod fuzz_seeds;
/// The guide, command by command.
mod guide;
/// The init.d scripts, on each family of systems.
mod init_d;
/// Minions that are accepted and mean no good.
mod insiders;
/// A bare host joins a master.
mod install;
/// From the command to every target's end.
mod jobs;
/// Who may import whom.
mod layers;
/// What daemons do by themselves.
mod options;
/// Packages, as package managers take them.
mod packages;
/// What packages ship beside the file.
mod packaging;
/// What minions have each other do.
mod peer;
/// The data that minions are given.
mod pillar;
/// The binary as users meet it.
mod programs;
/// A network that can be cut.
mod proxy;
/// Who may do what.
mod rights;
/// Runners, and calls on the minion itself.
mod run;
/// What somebody on the wire sees.
mod secrecy;
/// Long lives.
mod soak;
/// Runs of states: one at a time.
mod states;
/// What a user types and what comes back, as text.
mod transcript;
/// Peers that mean no good, or of which there are two.
mod unauthenticated;
/// Another version takes the place of a running one.
mod update;
