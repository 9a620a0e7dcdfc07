//! Options: access.

use crate::config::option::{Default, Opt, Section};

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Access",
    options: &[
        Opt::map("publisher_acl", "Accounts, and the functions each may run through the local client."),
        Opt::map(
            "publisher_acl_blacklist",
            "Accounts (`users`) and functions (`modules`) that are refused, whatever else allows them.",
        ),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Access",
    options: &[
        Opt::truth("client_acl_verify", true, "Take the access rules from the master, not from the client.")
            .without_effect("the master applies its own rules, always"),
        Opt::truth("sudo_acl", false, "Apply `publisher_acl` to users of sudo too."),
        Opt::truth("permissive_acl", false, "Allow what no rule names.")
            .without_effect("what no rule names is refused"),
        Opt::map("external_auth", "Who may do what after logging in, by way of logging in.")
            .awaits("external authentication"),
        Opt::seconds("token_expire", 43_200, "Seconds that a token is good for.").awaits("external authentication"),
        Opt::any(
            "token_expire_user_override",
            Default::Truth(false),
            "Let a user choose how long a token is good for.",
        )
        .awaits("external authentication"),
        Opt::truth("keep_acl_in_token", false, "Store the rules in the token rather than ask for them each time.")
            .awaits("external authentication"),
        Opt::text("eauth_acl_module", "", "Module that answers what a user may do.").awaits("external authentication"),
        Opt::text("eauth_tokens", "localfs", "Where tokens of logins are kept.").awaits("external authentication"),
        Opt::text("eauth_tokens.cache_driver", "", "Cache that tokens of logins are kept in.")
            .or(Default::Null)
            .awaits("external authentication"),
        Opt::text("eauth_tokens.cluster_id", "", "Name of the masters that share tokens.")
            .or(Default::Null)
            .awaits("external authentication"),
        Opt::text("django_auth_path", "", "Directory of the Django project that knows the users.")
            .without_effect("there is no Django"),
        Opt::text("django_auth_settings", "", "Settings of the Django project that knows the users.")
            .without_effect("there is no Django"),
        Opt::map("peer", "Functions that minions may run on each other."),
        Opt::any("peer_run", Default::Null, "Runners that minions may call."),
        Opt::list("netapi_enable_clients", &[], "Kinds of clients that the API serves.").awaits("salt-api"),
        Opt::any("netapi_disable_clients", Default::Null, "Kinds of clients that the API refuses.").awaits("salt-api"),
        Opt::truth("netapi_allow_raw_shell", false, "Let the API run plain commands over SSH.").awaits("salt-api"),
        Opt::any("api_logfile", Default::Null, "Log of the API.").awaits("salt-api"),
        Opt::any("api_pidfile", Default::Null, "File with the API's process number.").awaits("salt-api"),
        Opt::seconds("rest_timeout", 0, "Seconds that a request to the API waits for its job.")
            .or(Default::Null)
            .awaits("salt-api"),
    ],
};

/// Of the minion.
pub const MINION: Section = Section {
    title: "Access",
    options: &[
        Opt::truth("cmd_safe", true, "Refuse command lines in functions that want lists.")
            .without_effect("no function gives a list to a shell"),
        Opt::any("cmd_blacklist_glob", Default::Null, "Commands that cmd.run refuses, as patterns."),
        Opt::any("cmd_whitelist_glob", Default::Null, "Commands that cmd.run allows, as patterns, and no others."),
        Opt::list("disable_modules", &[], "Execution modules that the minion does not have."),
        Opt::list("disable_returners", &[], "Returners that the minion does not have."),
        Opt::list("whitelist_modules", &[], "Execution modules that the minion has, and no others."),
        Opt::list("whitelist_state_modules", &[], "State modules that the minion has, and no others."),
        Opt::any("enable_whitelist_modules", Default::Null, "Heed `whitelist_modules`.")
            .without_effect("nothing used it in Salt either"),
        Opt::text("username", "", "User for a master that wants a login.").or(Default::Null),
        Opt::text("password", "", "Password for a master that wants a login.").or(Default::Null),
    ],
};
