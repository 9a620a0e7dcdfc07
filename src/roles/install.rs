//! `halite install DIRECTORY`: the file and its links on this host; with `--master`, a minion that is joined to a master.
//!
//! It can be run again: what is right already is left alone, what has changed is put right and the minion started again.
//! It needs nothing of the host, not even a shell.

mod join;
mod service;

use super::APPLETS;
use super::cli::{Exit, exit, versions};
use argh::FromArgs;
use std::io;
use std::path::{Path, PathBuf};

/// Put the file, and a link for each program, into a directory of this host; join a minion to a master.
#[derive(FromArgs, Debug)]
struct Line {
    /// where the programs are put, such as /usr/local/bin
    #[argh(positional)]
    directory: PathBuf,
    /// the master that a minion of this host is to connect to; its service is set up and started
    #[argh(option)]
    master: Option<String>,
    /// the id of the minion (default: the name of the host)
    #[argh(option)]
    id: Option<String>,
    /// the fingerprint of the master's key, as salt-key -F shows it: another master is refused
    #[argh(option)]
    finger: Option<String>,
    /// set the service up, but start nothing
    #[argh(switch)]
    no_start: bool,
}

/// Why it did not work.
#[derive(Debug)]
struct Trouble {
    exit: Exit,
    message: String,
}

impl Trouble {
    fn new(exit: Exit, message: impl std::fmt::Display) -> Trouble {
        Trouble { exit, message: message.to_string() }
    }
}

pub fn run(args: &[String]) -> u8 {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let line = match Line::from_args(&["halite install"], &words) {
        Ok(line) => line,
        Err(early) if early.status.is_ok() => {
            return exit::print(&early.output).map_or(Exit::CannotCreate, |()| Exit::Ok).code();
        }
        Err(early) => {
            let words: Vec<&str> = early.output.split_whitespace().collect();
            exit::complain(&format!("halite install: error: {}", words.join(" ")));
            return Exit::Usage.code();
        }
    };
    match install(&line) {
        Ok(()) => Exit::Ok.code(),
        Err(trouble) => {
            exit::complain(&format!("halite install: error: {}", trouble.message));
            trouble.exit.code()
        }
    }
}

fn install(line: &Line) -> Result<(), Trouble> {
    let wanted = match &line.master {
        Some(master) => Some(join::Wanted::read(master, line.id.as_deref(), line.finger.as_deref())?),
        None if line.id.is_some() || line.finger.is_some() => {
            return Err(Trouble::new(
                Exit::Usage,
                "--id and --finger say how a minion joins a master: --master is missing",
            ));
        }
        None => None,
    };
    let replaced = programs(&line.directory).map_err(|error| {
        Trouble::new(
            Exit::CannotCreate,
            format!("the programs cannot be put into {}: {error}", line.directory.display()),
        )
    })?;
    let Some(wanted) = wanted else {
        return Ok(());
    };
    say(&format!("{} is in {}\n", versions::line("halite").trim_end(), line.directory.display()));
    let root = Path::new("/");
    let configured = wanted.write(root).map_err(|error| cannot("the configuration cannot be written", error))?;
    let directory = line.directory.canonicalize().map_err(|error| cannot("the directory of the programs", error))?;
    let (service, renewed) =
        service::set_up(root, &directory).map_err(|error| cannot("the service cannot be set up", error))?;
    if !line.no_start {
        let changed = [replaced, configured, renewed].contains(&Change::Made);
        service.start(&directory, if changed { Change::Made } else { Change::None })?;
    }
    say(&format!(
        "the minion shows its key to {}; there, salt-key -f {id} shows it and salt-key -a {id} accepts it\n",
        wanted.master,
        id = line.id.as_deref().unwrap_or("ID"),
    ));
    Ok(())
}

/// Whether something was put right, or was right already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Made,
    None,
}

/// Puts the file into a directory, unless it is there, and beside it a link for each program. The links are relative, so
/// that the directory may move. What is there under such a name is left alone unless it is a link.
fn programs(directory: &Path) -> io::Result<Change> {
    const FILE: &str = "halite";
    std::fs::create_dir_all(directory)?;
    let (running, installed) = (std::env::current_exe()?, directory.join(FILE));
    let mut change = Change::None;
    if installed.canonicalize().ok() != Some(running.canonicalize()?) && !is_same(&running, &installed) {
        // Beside it first: a copy that is cut short must not take the place of a program that runs.
        let beside = directory.join(format!(".{FILE}.{}", std::process::id()));
        std::fs::copy(&running, &beside)?;
        std::fs::rename(&beside, &installed)?;
        change = Change::Made;
    }
    // What is ours alone is run as `halite NAME`.
    for applet in APPLETS.iter().filter(|applet| applet.name.starts_with("salt")) {
        let link = directory.join(applet.name);
        if link.is_symlink() {
            std::fs::remove_file(&link)?;
        }
        std::os::unix::fs::symlink(FILE, &link)?;
    }
    Ok(change)
}

/// Whether a file holds what another does; one that is not there does not.
fn is_same(one: &Path, other: &Path) -> bool {
    let length = |path: &Path| std::fs::metadata(path).map(|data| data.len()).ok();
    length(one) == length(other) && std::fs::read(one).ok() == std::fs::read(other).ok()
}

/// Makes a file say this, in one step, unless it does already.
fn put(path: &Path, text: &str, mode: u32) -> io::Result<Change> {
    use std::os::unix::fs::PermissionsExt;
    if std::fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(Change::None);
    }
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let beside = path.with_extension(format!("halite-{}", std::process::id()));
    std::fs::write(&beside, text)?;
    std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(mode))?;
    std::fs::rename(&beside, path)?;
    Ok(Change::Made)
}

fn cannot(what: &str, error: io::Error) -> Trouble {
    Trouble::new(Exit::CannotCreate, format!("{what}: {error}"))
}

/// Whoever closed standard output does not want to hear it.
fn say(text: &str) {
    let _ = exit::print(text);
}
