//! The kinds of requisites and the words that are no arguments of a state function.

/// How a state depends on another. The order is Salt's precedence, by which the order of states is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Requisite {
    Onfail,
    OnfailAny,
    OnfailAll,
    Require,
    RequireAny,
    Onchanges,
    OnchangesAny,
    Watch,
    WatchAny,
    Prereq,
}

impl Requisite {
    /// In the order in which the requisites of a state are looked at.
    pub const ALL: [Requisite; 10] = [
        Requisite::Require,
        Requisite::RequireAny,
        Requisite::Watch,
        Requisite::WatchAny,
        Requisite::Prereq,
        Requisite::Onfail,
        Requisite::OnfailAny,
        Requisite::OnfailAll,
        Requisite::Onchanges,
        Requisite::OnchangesAny,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Requisite::Onfail => "onfail",
            Requisite::OnfailAny => "onfail_any",
            Requisite::OnfailAll => "onfail_all",
            Requisite::Require => "require",
            Requisite::RequireAny => "require_any",
            Requisite::Onchanges => "onchanges",
            Requisite::OnchangesAny => "onchanges_any",
            Requisite::Watch => "watch",
            Requisite::WatchAny => "watch_any",
            Requisite::Prereq => "prereq",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Requisite> {
        Some(match name {
            "onfail" => Requisite::Onfail,
            "onfail_any" => Requisite::OnfailAny,
            "onfail_all" => Requisite::OnfailAll,
            "require" => Requisite::Require,
            "require_any" => Requisite::RequireAny,
            "onchanges" => Requisite::Onchanges,
            "onchanges_any" => Requisite::OnchangesAny,
            "watch" => Requisite::Watch,
            "watch_any" => Requisite::WatchAny,
            "prereq" => Requisite::Prereq,
            _ => return None,
        })
    }

    /// The kind without `_any` and `_all`.
    pub fn base(self) -> Requisite {
        match self {
            Requisite::OnfailAny | Requisite::OnfailAll => Requisite::Onfail,
            Requisite::RequireAny => Requisite::Require,
            Requisite::OnchangesAny => Requisite::Onchanges,
            Requisite::WatchAny => Requisite::Watch,
            other => other,
        }
    }

    /// One that is met is enough.
    pub fn is_any(self) -> bool {
        matches!(
            self,
            Requisite::Onfail
                | Requisite::OnfailAny
                | Requisite::RequireAny
                | Requisite::OnchangesAny
                | Requisite::WatchAny
        )
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    pub fn add(&mut self, kind: Requisite) {
        self.0 |= 1 << kind as u16;
    }

    pub fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// In the order of [`Requisite::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Requisite> {
        // Most often it is one kind.
        let left = self.0.count_ones() as usize;
        Requisite::ALL.into_iter().filter(move |kind| self.0 & (1 << *kind as u16) != 0).take(left)
    }
}

impl FromIterator<Requisite> for Kinds {
    fn from_iter<I: IntoIterator<Item = Requisite>>(kinds: I) -> Kinds {
        let mut set = Kinds::default();
        kinds.into_iter().for_each(|kind| set.add(kind));
        set
    }
}

/// Arguments that name other states: their value must be a list.
pub const KEYWORDS: [&str; 13] = [
    "listen",
    "onchanges",
    "onchanges_any",
    "onfail",
    "onfail_all",
    "onfail_any",
    "onfail_stop",
    "prereq",
    "prerequired",
    "require",
    "require_any",
    "watch",
    "watch_any",
];

/// Arguments that make this state a requisite of others.
const IN_KEYWORDS: [&str; 6] = ["listen_in", "onchanges_in", "onfail_in", "prereq_in", "require_in", "watch_in"];

/// Arguments for whoever runs the states.
const RUNTIME: [&str; 24] = [
    "aggregate",
    "check_cmd",
    "cmd_opts_exclude",
    "creates",
    "failhard",
    "fire_event",
    "fun",
    "no_log",
    "onlyif",
    "order",
    "parallel",
    "provider",
    "reload_grains",
    "reload_modules",
    "reload_pillar",
    "retry",
    "runas",
    "runas_password",
    "saltenv",
    "state",
    "umask",
    "unless",
    "use",
    "use_in",
];

/// Whether an argument is not for the state function, unless that declares it.
pub fn is_internal(name: &str) -> bool {
    name.starts_with("__") || KEYWORDS.contains(&name) || IN_KEYWORDS.contains(&name) || RUNTIME.contains(&name)
}

pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_by_its_name_and_a_set_gives_back_what_was_put_in() {
        assert!(Requisite::ALL.iter().all(|kind| Requisite::named(kind.name()) == Some(*kind)));
        assert_eq!(Requisite::named("requires"), None);
        let all: Kinds = Requisite::ALL.into_iter().rev().collect();
        assert!(all.iter().eq(Requisite::ALL) && all.count() == Requisite::ALL.len());
        let some: Kinds = [Requisite::Watch, Requisite::Require, Requisite::Watch].into_iter().collect();
        assert!(some.iter().eq([Requisite::Require, Requisite::Watch]) && some.count() == 2);
    }
}
