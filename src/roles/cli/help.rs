//! What `--help` prints, from the declarations of the options.

use super::Program;
use super::line::{ALIASES, Declared};

const WIDTH: usize = 100;
const COLUMN: usize = 30;

/// The help of a program, on lines of at most 100 characters.
pub fn text(program: &Program) -> String {
    let mut out = format!("Usage: {} {}\n\n", program.name, program.usage);
    wrap(program.about, 0, &mut out);
    let declared = program.declared();
    for (at, title) in program.titles().enumerate() {
        out.push_str(&format!("\n{title}:\n"));
        for option in declared.iter().filter(|option| option.group == at) {
            line(option, &mut out);
        }
    }
    out.push_str("  -h, --help                  print this help and exit\n");
    out
}

fn line(option: &Declared, out: &mut String) {
    let mut names = match option.short {
        Some(short) => format!("  -{short}, {}", option.long),
        None => format!("      {}", option.long),
    };
    for (alias, _) in ALIASES.iter().filter(|(_, of)| *of == option.long) {
        names.push_str(", ");
        names.push_str(alias);
    }
    if option.value.is_some() {
        names.push(' ');
        names.push_str(&value_name(option));
    }
    out.push_str(&names);
    let width = names.chars().count();
    if width + 2 > COLUMN {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', COLUMN));
    } else {
        out.extend(std::iter::repeat_n(' ', COLUMN - width));
    }
    wrap(option.about, COLUMN, out);
}

/// Without a name of its own, a value is called after the last word of its option.
pub(crate) fn value_name(option: &Declared) -> String {
    let bare = option.long.trim_start_matches('-');
    match option.value {
        Some(name) if name != bare => name.to_uppercase(),
        _ => bare.rsplit('-').next().unwrap_or(bare).to_uppercase(),
    }
}

/// Sets words on lines that begin in `column`; the first line has begun already.
fn wrap(text: &str, column: usize, out: &mut String) {
    let mut at = column;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if at > column && at + 1 + length > WIDTH {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', column));
            at = column;
        } else if at > column {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::PROGRAMS;

    #[test]
    fn help_names_every_option_and_stays_within_the_width() {
        for program in PROGRAMS {
            let help = text(program);
            assert!(help.starts_with(&format!("Usage: {} [options]", program.name)), "{help}");
            for option in program.declared() {
                assert!(help.contains(&option.long), "{} does not say {}", program.name, option.long);
                assert!(!option.about.is_empty());
            }
            for line in help.lines() {
                assert!(line.chars().count() <= WIDTH && !line.ends_with(' '), "{line:?}");
            }
        }
    }
}
