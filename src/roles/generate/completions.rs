//! Completions of a shell: options, what their values may be, ids of minions, names of functions.
//!
//! What a value may be follows from what the declaration calls it (`DIRECTORY`, `LEVEL`). Ids are asked of `salt-key` when
//! they are wanted; whoever may not ask gets none.

mod bash;
mod fish;
mod zsh;

use super::Made;
use crate::cli::line::{ALIASES, Declared};
use crate::cli::options::LogLevel;
use crate::cli::{PROGRAMS, Program};
use crate::{APPLETS, generate};
use halite_node::outputters;
use halite_run::{modules, runners};

pub(super) fn all() -> Vec<Made> {
    let made = |path: String, text: String| Made { path, text };
    let mut all = vec![
        made("bash/halite".to_owned(), bash::own()),
        made("zsh/_halite".to_owned(), zsh::own()),
        made("fish/halite.fish".to_owned(), fish::own()),
    ];
    for program in PROGRAMS {
        all.push(made(format!("bash/{}", program.name), bash::script(program)));
        all.push(made(format!("zsh/_{}", program.name), zsh::script(program)));
        all.push(made(format!("fish/{}.fish", program.name), fish::script(program)));
    }
    all
}

const MADE: &str = "# Made by: halite generate completions";

/// What the value of an option, or a word, may be.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Takes {
    Words(Vec<String>),
    /// Ids whose keys stand so, as `salt-key --list` names it.
    Ids(&'static str),
    User,
    File,
    Directory,
    /// What nobody can guess.
    Free,
}

impl Takes {
    /// Nothing: the option is a switch.
    fn of(option: &Declared) -> Option<Takes> {
        let words = |words: &[&str]| Takes::Words(words.iter().map(|word| (*word).to_owned()).collect());
        Some(match option.value? {
            "directory" => Takes::Directory,
            "file" => Takes::File,
            "user" => Takes::User,
            "level" => Takes::Words(LogLevel::ALL.iter().map(|level| level.name().to_owned()).collect()),
            "outputter" => Takes::Words(outputters::OUTPUTTERS.iter().map(|one| one.name.to_owned()).collect()),
            "choice" => words(&["True", "False"]),
            "form" => words(&["full", "terse", "mixed", "changes", "filter"]),
            "standing" => words(&["acc", "pre", "rej", "den", "all"]),
            "match" if option.long == "--accept" => Takes::Ids("pre"),
            "match" => Takes::Ids("all"),
            _ => Takes::Free,
        })
    }

    /// The words of a program, one after the other; the last counts for all that follow.
    fn of_words(program: &Program) -> Vec<Takes> {
        match program.name {
            "salt" => vec![Takes::Ids("acc"), Takes::Words(modules::names().collect())],
            "salt-call" => vec![Takes::Words(modules::names().collect())],
            "salt-run" => vec![Takes::Words(runners::names().collect())],
            _ => Vec::new(),
        }
    }
}

/// The shell's command that prints ids, one a line.
fn ids_command(standing: &str) -> String {
    format!("salt-key --no-color --list={standing} 2>/dev/null | grep -v ' Keys:$'")
}

/// All names of an option, short ones first.
fn names(option: &Declared) -> Vec<String> {
    let short = option.short.map(|letter| format!("-{letter}"));
    let aliases = ALIASES.iter().filter(|(_, of)| *of == option.long).map(|(alias, _)| (*alias).to_owned());
    short.into_iter().chain([option.long.clone()]).chain(aliases).collect()
}

/// The first words of `halite`.
fn own_words() -> Vec<&'static str> {
    let verbs = ["generate", "install", "--help", "--list", "--version"];
    APPLETS.iter().map(|applet| applet.name).chain(verbs).collect()
}

fn kinds() -> String {
    generate::KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_completed_in_every_shell() {
        for program in PROGRAMS {
            let (bash, zsh, fish) = (bash::script(program), zsh::script(program), fish::script(program));
            for option in program.declared() {
                for name in names(&option) {
                    let bare = name.trim_start_matches('-');
                    assert!(bash.contains(&name), "bash, {}: {name}", program.name);
                    assert!(zsh.contains(&name), "zsh, {}: {name}", program.name);
                    assert!(fish.contains(&format!(" {bare} ")), "fish, {}: {name}", program.name);
                }
            }
        }
    }

    #[test]
    fn what_an_option_takes_follows_from_its_declaration() {
        let declared = crate::cli::salt_key::PROGRAM.declared();
        let takes = |long: &str| Takes::of(declared.iter().find(|option| option.long == long).unwrap());
        assert_eq!(takes("--accept"), Some(Takes::Ids("pre")));
        assert_eq!(takes("--delete"), Some(Takes::Ids("all")));
        assert_eq!(takes("--config-dir"), Some(Takes::Directory));
        assert_eq!(takes("--yes"), None);
        assert_eq!(takes("--keysize"), Some(Takes::Free));
    }
}
