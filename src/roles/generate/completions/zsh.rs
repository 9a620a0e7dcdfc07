//! Completions for zsh, one file for each program, `_NAME`, for a directory in `fpath`.

use super::{MADE, Takes, ids_command, kinds, names, own_words};
use crate::cli::Program;
use crate::cli::line::Declared;

pub(super) fn script(program: &Program) -> String {
    let mut out = format!("#compdef {}\n{MADE}\n\n", program.name);
    out.push_str(&format!(
        "_halite_ids() {{\n    local -a ids\n    ids=(${{(f)\"$({})\"}})\n    compadd -a ids\n}}\n\n",
        ids_command("\"$1\"")
    ));
    out.push_str("_arguments -s -S \\\n    '(- *)'{-h,--help}'[print this help and exit]'");
    for option in program.declared() {
        out.push_str(" \\\n    ");
        out.push_str(&specification(&option));
    }
    let words = Takes::of_words(program);
    for (at, takes) in words.iter().enumerate() {
        out.push_str(&format!(" \\\n    '{}:word:{}'", at + 1, action(takes)));
    }
    if !words.is_empty() {
        out.push_str(" \\\n    '*:argument:_default'");
    }
    out.push('\n');
    out
}

/// `halite` itself.
pub(super) fn own() -> String {
    format!(
        "#compdef halite\n{MADE}\n\nif (( CURRENT == 2 )); then\n    compadd -- {}\n\
         elif [[ $words[2] == generate && CURRENT -eq 3 ]]; then\n    compadd {}\n\
         elif [[ $words[2] == (generate|install) ]]; then\n    _files -/\n\
         else\n    shift words\n    (( CURRENT-- ))\n    _normal\nfi\n",
        own_words().join(" "),
        kinds()
    )
}

/// `'(-l --log-level)'{-l+,--log-level=}'[what it is]:LEVEL:(all debug)'`
fn specification(option: &Declared) -> String {
    let takes = Takes::of(option);
    let names = names(option);
    let with_value: Vec<String> = names
        .iter()
        .map(|name| match (&takes, name.starts_with("--")) {
            (None, _) => name.clone(),
            (Some(_), true) => format!("{name}="),
            (Some(_), false) => format!("{name}+"),
        })
        .collect();
    let start = match (option.repeats, names.len()) {
        (true, _) => "'*'".to_owned(),
        (false, 1) => String::new(),
        (false, _) => format!("'({})'", names.join(" ")),
    };
    let alternatives = match &with_value[..] {
        [one] => one.clone(),
        several => format!("{{{}}}", several.join(",")),
    };
    let value =
        takes.map_or(String::new(), |takes| format!(":{}:{}", option.value.unwrap_or_default(), action(&takes)));
    format!("{start}{alternatives}'[{}]{value}'", quoted(option.about))
}

fn action(takes: &Takes) -> String {
    match takes {
        Takes::Words(words) => format!("({})", words.join(" ")),
        // The space keeps _arguments from putting its own arguments before ours.
        Takes::Ids(standing) => format!(" _halite_ids {standing}"),
        Takes::User => "_users".to_owned(),
        Takes::File => "_files".to_owned(),
        Takes::Directory => "_files -/".to_owned(),
        Takes::Free => " ".to_owned(),
    }
}

/// Within single quotes and square brackets.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]").replace('\'', "'\\''")
}
