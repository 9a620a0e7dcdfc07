//! Manual pages in the macros of man(7): one for each program, one for `halite`.

use super::Made;
use crate::cli::exit::Exit;
use crate::cli::help::value_name;
use crate::cli::line::{ALIASES, Declared};
use crate::cli::{PROGRAMS, Program, lacking};
use crate::{APPLETS, VERBS, find};

/// What the programs look at beside their command line.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("SALT_CONFIG_DIR", "The directory of the configuration, where --config-dir is not given."),
    ("SALT_MASTER_CONFIG", "The master's configuration file itself; it goes before SALT_CONFIG_DIR."),
    ("SALT_MINION_CONFIG", "The minion's configuration file itself."),
    ("SALT_SALTFILE", "A file with options by program, where --saltfile is not given."),
];

const FILES: [(&str, &str); 5] = [
    (
        "/etc/salt/master",
        "Configuration of the master and of the programs beside it; master.d/*.conf is read after it.",
    ),
    ("/etc/salt/minion", "Configuration of the minion and of salt-call; minion.d/*.conf is read after it."),
    ("/etc/salt/pki", "Keys."),
    ("/var/cache/salt", "What is kept between runs: the job database of the master, results of a minion."),
    ("/var/log/salt", "Logs."),
];

pub(super) fn pages() -> Vec<Made> {
    let programs = PROGRAMS.iter().map(|program| Made { path: format!("{}.1", program.name), text: page(program) });
    programs.chain([Made { path: "halite.1".to_owned(), text: own_page() }]).collect()
}

fn page(program: &Program) -> String {
    let about = find(program.name).map_or("", |applet| applet.about);
    let mut out = head(program.name, about);
    out.push_str(&format!(".SH SYNOPSIS\n.B {}\n{}\n", escaped(program.name), text(program.usage)));
    out.push_str(&format!(".SH DESCRIPTION\n{}\n", text(program.about)));
    let manner = "Options may stand before, among and after the words; \u{2212}\u{2212} ends them. Long names may be cut \
                  short as far as they stay unique, and take their value after a blank or an equals sign.";
    out.push_str(&format!(".PP\n{}\n.SH OPTIONS\n", text(manner).replace('\u{2212}', "\\-")));
    let declared = program.declared();
    for (at, title) in program.titles().enumerate() {
        out.push_str(&format!(".SS {}\n", text(title)));
        declared.iter().filter(|option| option.group == at).for_each(|option| out.push_str(&entry(option)));
    }
    out.push_str(&tagged("\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "print a short help and exit"));
    out.push_str(".SH EXAMPLES\n");
    for (example, what) in program.examples {
        out.push_str(&format!(".TP\n.B {}\n{}\n", escaped(example), text(what)));
    }
    out.push_str(".SH EXIT STATUS\n");
    for exit in Exit::ALL {
        out.push_str(&tagged(&exit.code().to_string(), exit.meaning()));
    }
    out.push_str(".SH ENVIRONMENT\n");
    ENVIRONMENT.iter().for_each(|(name, what)| out.push_str(&tagged(&bold(name), what)));
    out.push_str(".SH FILES\n");
    FILES.iter().for_each(|(path, what)| out.push_str(&tagged(&bold(path), what)));
    out + &see_also(program.name)
}

/// `halite` itself: the programs and what else it can do.
fn own_page() -> String {
    let mut out = head("halite", "Salt as one static file");
    out.push_str(".SH SYNOPSIS\n");
    for (at, verb) in VERBS.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ".br\n" });
        out.push_str(&format!(".B {}\n", escaped(&format!("halite {}", verb.usage))));
    }
    out.push_str(".SH DESCRIPTION\n");
    out.push_str(&text(
        "One file is every program: the one that the name says by which it is called, else the one that its first \
         argument says. It needs nothing else on the host.",
    ));
    out.push('\n');
    VERBS.iter().for_each(|verb| out.push_str(&tagged(&bold(verb.usage), verb.about)));
    out.push_str(".SH PROGRAMS\n");
    APPLETS.iter().for_each(|applet| out.push_str(&tagged(&bold(applet.name), applet.about)));
    out + &see_also("halite")
}

/// The title line has no date: the page is the same whenever it is made.
fn head(name: &str, about: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        ".\\\" Made by: halite generate man\n.TH {} 1 \"\" \"Halite {version}\" \"Halite\"\n.SH NAME\n{} \\- {}\n",
        name.to_uppercase(),
        escaped(name),
        text(about)
    )
}

fn entry(option: &Declared) -> String {
    let mut names: Vec<String> = option.short.map(|short| bold(&format!("-{short}"))).into_iter().collect();
    names.push(bold(&option.long));
    names.extend(ALIASES.iter().filter(|(_, of)| *of == option.long).map(|(alias, _)| bold(alias)));
    let mut names = names.join(", ");
    if option.value.is_some() {
        names.push_str(&format!(" \\fI{}\\fR", escaped(&value_name(option))));
    }
    match lacking::option(&option.long) {
        Some(why) => tagged(&names, &format!("{}. This version refuses it: {why}", option.about)),
        None => tagged(&names, option.about),
    }
}

fn see_also(name: &str) -> String {
    let others = PROGRAMS.iter().map(|program| program.name).chain(["halite"]).filter(|other| *other != name);
    let others: Vec<String> = others.map(|other| format!(".BR {} (1)", escaped(other))).collect();
    format!(".SH SEE ALSO\n{}\n", others.join(" ,\n"))
}

fn tagged(tag: &str, what: &str) -> String {
    format!(".TP\n{tag}\n{}\n", text(what))
}

fn bold(name: &str) -> String {
    format!("\\fB{}\\fR", escaped(name))
}

/// Running text, on lines of its own.
fn text(words: &str) -> String {
    let lines = super::wrapped(words, "", 78);
    lines.lines().map(|line| guarded(&line.replace('\\', "\\e"))).collect::<Vec<_>>().join("\n")
}

/// What is typed as it stands: a dash is a minus, so that it can be copied.
fn escaped(typed: &str) -> String {
    guarded(&typed.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq"))
}

/// A line must not begin with what roff takes for a request.
fn guarded(line: &str) -> String {
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_in_the_page_of_its_program() {
        for program in PROGRAMS {
            let page = page(program);
            for option in program.declared() {
                assert!(page.contains(&bold(&option.long)), "{} lacks {}", program.name, option.long);
            }
            assert!(page.lines().all(|line| !line.is_empty() && line.is_ascii()), "{}", program.name);
        }
    }

    #[test]
    fn what_roff_would_read_is_escaped() {
        assert_eq!(escaped(".x -a 'b\\n'"), "\\&.x \\-a \\(aqb\\en\\(aq");
        assert_eq!(text("'tis a\\b"), "\\&'tis a\\eb");
    }
}
