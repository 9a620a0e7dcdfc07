//! Completions for bash, one file for each program, under its name: bash-completion loads it when it is wanted.

use super::{MADE, Takes, ids_command, kinds, names, own_words};
use crate::cli::Program;

pub(super) fn script(program: &Program) -> String {
    let declared = program.declared();
    let function = format!("_halite_{}", program.name.replace('-', "_"));
    let mut out = format!("{MADE}\n\n");
    if declared.iter().filter_map(Takes::of).chain(Takes::of_words(program)).any(|takes| matches!(takes, Takes::Ids(_)))
    {
        out.push_str(&ids_function());
    }
    out.push_str(&format!(
        "{function}() {{\n    \
         local cur=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD-1]}} at words=0\n    \
         # bash makes a word of the = in --out=json.\n    \
         if [[ $cur == = ]]; then cur=; elif [[ $option == = ]]; then option=${{COMP_WORDS[COMP_CWORD-2]}}; fi\n    \
         case $option in\n"
    ));
    let mut valued = Vec::new();
    let mut all = vec!["-h".to_owned(), "--help".to_owned()];
    for option in &declared {
        let names = names(option);
        all.extend(names.clone());
        let Some(takes) = Takes::of(option) else { continue };
        out.push_str(&format!("    {})\n        {}\n        return ;;\n", names.join("|"), reply(&takes)));
        valued.extend(names);
    }
    out.push_str("    esac\n");
    out.push_str(&format!(
        "    if [[ $cur == -* ]]; then\n        {}\n        return\n    fi\n",
        reply(&Takes::Words(all))
    ));
    let words = Takes::of_words(program);
    if !words.is_empty() {
        out.push_str(&format!(
            "    for ((at = 1; at < COMP_CWORD; at++)); do\n        \
             case ${{COMP_WORDS[at]}} in\n        \
             {}) [[ ${{COMP_WORDS[at+1]}} == = ]] && ((at++)); ((at++)) ;;\n        \
             -*) ;;\n        \
             *) ((words++)) ;;\n        \
             esac\n    done\n    case $words in\n",
            valued.join("|")
        ));
        for (at, takes) in words.iter().enumerate() {
            out.push_str(&format!("    {at}) {} ;;\n", reply(takes)));
        }
        out.push_str("    esac\n");
    }
    out.push_str(&format!("}}\ncomplete -F {function} {}\n", program.name));
    out
}

/// `halite` itself.
pub(super) fn own() -> String {
    format!(
        "{MADE}\n\n_halite() {{\n    local cur=${{COMP_WORDS[COMP_CWORD]}}\n    \
         case $COMP_CWORD,${{COMP_WORDS[1]}} in\n    \
         1,*) {} ;;\n    \
         2,generate) {} ;;\n    \
         2,install|3,generate) {} ;;\n    \
         esac\n}}\ncomplete -F _halite halite\n",
        reply(&Takes::Words(own_words().into_iter().map(str::to_owned).collect())),
        reply(&Takes::Words(vec![kinds()])),
        reply(&Takes::Directory)
    )
}

/// An id is whatever an unauthenticated connection calls itself: it must not be read as a command, neither here (as `compgen -W` would do)
/// nor when it stands on the command line.
fn ids_function() -> String {
    format!(
        "_halite_ids() {{\n    local id\n    COMPREPLY=()\n    while IFS= read -r id; do\n        \
         [[ $id == \"$cur\"* ]] && COMPREPLY+=(\"$(printf %q \"$id\")\")\n    \
         done < <({})\n}}\n\n",
        ids_command("\"$1\"")
    )
}

/// The command that offers what a value may be.
fn reply(takes: &Takes) -> String {
    let from = |command: &str| format!("mapfile -t COMPREPLY < <({command} -- \"$cur\")");
    match takes {
        Takes::Words(words) => from(&format!("compgen -W '{}'", words.join(" "))),
        Takes::Ids(standing) => format!("_halite_ids {standing}"),
        Takes::User => from("compgen -u"),
        Takes::File => format!("compopt -o filenames; {}", from("compgen -f")),
        Takes::Directory => format!("compopt -o filenames; {}", from("compgen -d")),
        Takes::Free => "COMPREPLY=()".to_owned(),
    }
}
