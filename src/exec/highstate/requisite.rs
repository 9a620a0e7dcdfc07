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
