//! The programs: what one binary is, by the name it is called with.

pub mod call;
pub mod check;
pub mod cli;
pub mod client;
pub mod config;
pub mod daemon;
pub mod fleet;
pub mod generate;
pub mod install;
pub mod key;
pub mod logging;
pub mod master;
pub mod minion;

use cli::Exit;

/// A program.
pub struct Applet {
    pub name: &'static str,
    pub about: &'static str,
    /// Runs it with its arguments, without its name; the exit code.
    pub run: fn(&[String]) -> u8,
}

/// Every program that there is, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet { name: "fleet", about: "many minions on this host, to try a master with", run: fleet::run },
    Applet { name: "salt", about: "run functions on minions and show what they answer", run: client::salt::run },
    Applet { name: "salt-call", about: "run a function on this minion and show its answer", run: call::run },
    Applet { name: "salt-cp", about: "copy files of this host to minions", run: client::cp::run },
    Applet { name: "salt-key", about: "show, accept, reject and delete the keys of minions", run: key::run },
    Applet {
        name: "salt-master",
        about: "accept minions, send them jobs, keep what they answer",
        run: master::start::run,
    },
    Applet { name: "salt-minion", about: "run the jobs of a master", run: minion::start::run },
    Applet {
        name: "salt-run",
        about: "run a function of the master itself and show its answer",
        run: client::run::run,
    },
];

/// What the file does under its own name.
pub struct Verb {
    pub usage: &'static str,
    pub about: &'static str,
}

pub const VERBS: &[Verb] = &[
    Verb { usage: "PROGRAM [ARGUMENT ...]", about: "run a program" },
    Verb { usage: "--list", about: "name the programs" },
    Verb { usage: "check FILE ...", about: "say what is wrong with SLS files and templates" },
    Verb {
        usage: "install DIRECTORY",
        about: "put the file and a link for each program into a directory; --master joins a minion",
    },
    Verb {
        usage: "generate KIND DIRECTORY",
        about: "write completions, config (samples), man, reference or services into a directory",
    },
];

/// Programs of Salt that this version lacks.
const LACKING: [&str; 6] = ["salt-api", "salt-cloud", "salt-proxy", "salt-ssh", "salt-syndic", "spm"];

/// The program of a name.
pub fn find(name: &str) -> Option<&'static Applet> {
    APPLETS.iter().find(|applet| applet.name == name)
}

/// Runs the binary: as the program that the name it is called with says, else as the one that its first argument says.
pub fn run(called: &str, args: &[String]) -> u8 {
    if called == minion::worker::NAME {
        return minion::worker::main(args);
    }
    if let Some(applet) = find(called) {
        return (applet.run)(args);
    }
    if let Some(name) = LACKING.iter().find(|name| **name == called) {
        return lacking(name);
    }
    match args {
        [] => fail(Exit::Usage, &usage()),
        [flag, ..] if flag == "--help" || flag == "-h" => show(&usage()),
        [flag, ..] if flag == "--version" => show(&cli::versions::line("halite")),
        [flag, ..] if flag == "--list" => show(&list()),
        [verb, rest @ ..] if verb == "install" => install::run(rest),
        [verb, files @ ..] if verb == "check" => check::run(files),
        [verb, rest @ ..] if verb == "generate" => generate::run(rest),
        [name, rest @ ..] => match find(name) {
            Some(applet) => (applet.run)(rest),
            None if LACKING.contains(&name.as_str()) => lacking(name),
            None => {
                fail(Exit::Usage, &format!("halite: error: there is no program '{name}'; halite --list names all\n"))
            }
        },
    }
}

fn usage() -> String {
    let mut out = String::new();
    for (at, verb) in VERBS.iter().enumerate() {
        let start = if at == 0 { "Usage:" } else { "" };
        out.push_str(&format!("{start:<7}halite {:<23} {}\n", verb.usage, verb.about));
    }
    out
}

fn list() -> String {
    APPLETS.iter().map(|applet| format!("{:<12} {}\n", applet.name, applet.about)).collect()
}

fn lacking(name: &str) -> u8 {
    fail(Exit::Unavailable, &format!("{name}: this version of Halite does not have this program yet\n"))
}

fn show(text: &str) -> u8 {
    cli::Stop::Shown(text.to_owned()).report("halite").code()
}

fn fail(exit: Exit, text: &str) -> u8 {
    cli::exit::complain(text.trim_end());
    exit.code()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn strings(args: &[&str]) -> Vec<String> {
        args.iter().map(|arg| (*arg).to_owned()).collect()
    }

    #[test]
    fn programs_are_found_by_either_name() {
        assert!(APPLETS.is_sorted_by_key(|applet| applet.name));
        assert!(APPLETS.iter().all(|applet| !LACKING.contains(&applet.name)));
        for applet in APPLETS {
            assert_eq!(run(applet.name, &strings(&["--version"])), 0, "{}", applet.name);
            assert_eq!(run("halite", &strings(&[applet.name, "--version"])), 0, "{}", applet.name);
        }
        for name in LACKING {
            assert_eq!(run(name, &[]), 69);
            assert_eq!(run("halite", &strings(&[name])), 69);
        }
        assert_eq!(run("halite", &strings(&["salt-keys"])), 64);
        assert_eq!(run("halite", &[]), 64);
    }

    #[test]
    fn install_makes_links_and_replaces_only_links() {
        let directory = std::env::temp_dir().join(format!("halite-install-{}", std::process::id()));
        let args = strings(&["install", &directory.to_string_lossy()]);
        assert_eq!(run("halite", &args), 0);
        assert_eq!(run("halite", &args), 0);
        let link = directory.join("salt-key");
        assert!(!directory.join("fleet").exists());
        assert_eq!(std::fs::read_link(&link).unwrap(), Path::new("halite"));
        assert_eq!(link.metadata().unwrap().len(), std::env::current_exe().unwrap().metadata().unwrap().len());
        std::fs::remove_file(&link).unwrap();
        std::fs::write(&link, "mine").unwrap();
        assert_eq!(run("halite", &args), 73);
        assert_eq!(std::fs::read(&link).unwrap(), b"mine");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
