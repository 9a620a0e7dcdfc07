//! Sample files of master and minion: every option that acts, with what it does and its default.
//!
//! A comment is `# ` and text; an option that may be switched on is `#` and the option, so that taking the `#` away is
//! all there is to do.

use super::{Made, wrapped};
use crate::config::Role;
use crate::config::option::{Effect, Opt};
use halite_lang::yaml::dump;
use halite_value::{Map, Value};

const WIDTH: usize = 100;

pub(super) fn samples() -> Vec<Made> {
    [Role::Master, Role::Minion].map(|role| Made { path: role.name().to_owned(), text: sample(role) }).into()
}

fn sample(role: Role) -> String {
    let name = role.name();
    let mut out = wrapped(
        &format!(
            "Configuration of salt-{name}, in YAML. What follows is all that may be set, each with its default behind a #; \
             take the # away to set it. Files in {name}.d/ that end in .conf are read after this one. Options of Salt that \
             are accepted and change nothing are not here: docs/reference/options.md names them, with the reason. Options of \
             parts that this version lacks wait for them: docs/differences.md names those parts.",
        ),
        "# ",
        WIDTH,
    );
    for (title, options) in sections(role) {
        out.push_str(&format!("\n##### {title} #####\n"));
        for option in options {
            out.push('\n');
            out.push_str(&wrapped(option.doc, "# ", WIDTH));
            out.push_str(&setting(option));
        }
    }
    out
}

/// The options that act, by title: what both roles have and what one has stand together.
pub(super) fn sections(role: Role) -> Vec<(&'static str, Vec<&'static Opt>)> {
    let mut all: Vec<(&'static str, Vec<&'static Opt>)> = Vec::new();
    for section in role.sections() {
        let acting = section.options.iter().filter(|option| option.effect == Effect::Acts);
        match all.iter_mut().find(|(title, _)| *title == section.title) {
            Some((_, options)) => options.extend(acting),
            None => all.push((section.title, acting.collect())),
        }
    }
    all.retain(|(_, options)| !options.is_empty());
    all
}

/// An option with its default, as YAML behind `#`.
fn setting(option: &Opt) -> String {
    let text = match option.default_value() {
        Value::Map(map) if map.is_empty() => format!("{}: {{}}\n", option.name),
        value => dump(&Value::Map(Map::from_iter([(option.name, value)]))),
    };
    text.lines().map(|line| format!("#{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::path::Path;

    fn load(role: Role, text: &str) -> Config {
        Config::from_text(role, text, Path::new("sample")).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The file with every option switched on.
    fn switched_on(text: &str) -> String {
        let is_setting = |line: &&str| {
            line.strip_prefix('#').is_some_and(|rest| {
                let spaces = rest.chars().take_while(|c| *c == ' ').count();
                spaces != 1 && !rest.starts_with('#')
            })
        };
        text.lines().filter(is_setting).map(|line| format!("{}\n", &line[1..])).collect()
    }

    #[test]
    fn a_sample_loads_as_it_is_and_with_every_option_switched_on_and_means_the_defaults() {
        for role in [Role::Master, Role::Minion] {
            let (sample, defaults) = (sample(role), load(role, ""));
            let as_it_is = load(role, &sample);
            assert!(as_it_is.origins.is_empty() && as_it_is.warnings.is_empty());
            assert_eq!(as_it_is.opts, defaults.opts);
            let on = load(role, &switched_on(&sample));
            for (name, value) in &defaults.opts {
                assert_eq!(on.opts.at(&name.to_text()), Some(value), "{} of {role:?}", name.to_text());
            }
            for option in role.options() {
                let is_there = on.origins.contains_key(option.name);
                assert_eq!(is_there, option.effect == Effect::Acts, "{} of {role:?}", option.name);
            }
            assert!(sample.lines().all(|line| line.chars().count() <= WIDTH || line.starts_with('#')));
        }
    }
}
