//! Completions for fish, one file for each program.

use super::{MADE, Takes, ids_command, kinds, own_words};
use crate::cli::Program;
use crate::cli::line::{ALIASES, Declared};

pub(super) fn script(program: &Program) -> String {
    let name = program.name;
    let mut out = format!("{MADE}\n\ncomplete -c {name} -f\n");
    out.push_str(&format!("complete -c {name} -s h -l help -d 'print this help and exit'\n"));
    program.declared().iter().for_each(|option| out.push_str(&line(name, option)));
    for (at, takes) in Takes::of_words(program).iter().enumerate() {
        // Words that are no options, the program's name among them.
        let here = format!("test (count (string match -v -- '-*' (commandline -opc))) -eq {}", at + 1);
        out.push_str(&format!("complete -c {name} -n \"{here}\"{}\n", offer(takes)));
    }
    out
}

/// `halite` itself.
pub(super) fn own() -> String {
    let first = "test (count (commandline -opc)) -eq 1";
    let generates = "__fish_seen_subcommand_from generate; and test (count (commandline -opc)) -eq 2";
    let installs = "__fish_seen_subcommand_from install; and test (count (commandline -opc)) -eq 2";
    let writes = "__fish_seen_subcommand_from generate; and test (count (commandline -opc)) -eq 3";
    format!(
        "{MADE}\n\ncomplete -c halite -f\ncomplete -c halite -n '{first}' -a '{}'\n\
         complete -c halite -n '{generates}' -a '{}'\n\
         complete -c halite -n '{installs}' -a '(__fish_complete_directories)'\n\
         complete -c halite -n '{writes}' -a '(__fish_complete_directories)'\n",
        own_words().join(" "),
        kinds()
    )
}

fn line(name: &str, option: &Declared) -> String {
    let mut out = format!("complete -c {name}");
    if let Some(short) = option.short {
        out.push_str(&format!(" -s {short}"));
    }
    let aliases = ALIASES.iter().filter(|(_, of)| *of == option.long).map(|(alias, _)| *alias);
    for long in [option.long.as_str()].into_iter().chain(aliases) {
        out.push_str(&format!(" -l {}", long.trim_start_matches('-')));
    }
    if let Some(takes) = Takes::of(option) {
        out.push_str(" -r");
        out.push_str(&offer(&takes));
    }
    out + &format!(" -d '{}'\n", option.about.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn offer(takes: &Takes) -> String {
    match takes {
        Takes::Words(words) => format!(" -f -a '{}'", words.join(" ")),
        Takes::Ids(standing) => format!(" -f -a '({})'", ids_command(standing).replace('\'', "\\'")),
        Takes::User => " -f -a '(__fish_complete_users)'".to_owned(),
        Takes::File => " -F".to_owned(),
        Takes::Directory => " -f -a '(__fish_complete_directories)'".to_owned(),
        Takes::Free => " -f".to_owned(),
    }
}
