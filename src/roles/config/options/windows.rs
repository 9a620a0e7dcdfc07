//! Options: windows.

use crate::config::option::{Default, Opt, Section};

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Windows",
    options: &[
        Opt::text("winrepo_dir", "/srv/salt/win/repo", "Directory of the definitions, for old minions.")
            .without_effect("there is no minion for Windows"),
        Opt::text("winrepo_dir_ng", "/srv/salt/win/repo-ng", "Directory of the definitions.")
            .without_effect("there is no minion for Windows"),
        Opt::text("winrepo_cachefile", "winrepo.p", "File that definitions are collected in.")
            .without_effect("there is no minion for Windows"),
        Opt::list(
            "winrepo_remotes",
            &["https://github.com/saltstack/salt-winrepo.git"],
            "Repositories of definitions, for old minions.",
        )
        .without_effect("there is no minion for Windows"),
        Opt::list(
            "winrepo_remotes_ng",
            &["https://github.com/saltstack/salt-winrepo-ng.git"],
            "Repositories of definitions.",
        )
        .without_effect("there is no minion for Windows"),
        Opt::text("winrepo_branch", "master", "Branch of the definitions.")
            .without_effect("there is no minion for Windows"),
        Opt::text("winrepo_fallback", "", "Branch where there is none of that name.")
            .without_effect("there is no minion for Windows"),
        Opt::truth("winrepo_ssl_verify", true, "Check the server's certificate.")
            .without_effect("there is no minion for Windows"),
        Opt::text("winrepo_proxy", "", "HTTP proxy.").without_effect("there is no minion for Windows"),
        Opt::text("winrepo_user", "", "User for HTTPS.").without_effect("there is no minion for Windows"),
        Opt::text("winrepo_password", "", "Password for HTTPS.").without_effect("there is no minion for Windows"),
        Opt::truth("winrepo_insecure_auth", false, "Send the password over plain HTTP.")
            .without_effect("there is no minion for Windows"),
        Opt::text("winrepo_privkey", "", "Private key for SSH.").without_effect("there is no minion for Windows"),
        Opt::text("winrepo_pubkey", "", "Public key for SSH.").without_effect("there is no minion for Windows"),
        Opt::text("winrepo_passphrase", "", "Pass phrase of the private key.")
            .without_effect("there is no minion for Windows"),
        Opt::list(
            "winrepo_refspecs",
            &["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"],
            "What is fetched.",
        )
        .without_effect("there is no minion for Windows"),
        Opt::integer("winrepo_depth", 1, "Commits that are fetched.").without_effect("there is no minion for Windows"),
        Opt::any("win_repo", Default::Null, "Old name of `winrepo_dir`.")
            .without_effect("there is no minion for Windows"),
        Opt::any("win_gitrepos", Default::Null, "Old name of `winrepo_remotes`.")
            .without_effect("there is no minion for Windows"),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Windows",
    options: &[
        Opt::any("winrepo_provider", Default::Null, "Library that git is spoken with.")
            .without_effect("there is no minion for Windows"),
        Opt::any("winrepo_mastercachefile", Default::Null, "File that definitions are collected in on the master.")
            .without_effect("there is no minion for Windows"),
        Opt::any("win_repo_mastercachefile", Default::Null, "Old name of `winrepo_mastercachefile`.")
            .without_effect("there is no minion for Windows"),
    ],
};

/// Of the minion.
pub const MINION: Section = Section {
    title: "Windows",
    options: &[
        Opt::text("winrepo_source_dir", "salt://win/repo-ng/", "Where minions find the definitions of packages.")
            .without_effect("there is no minion for Windows"),
        Opt::seconds("winrepo_cache_expire_max", 604_800, "Seconds after which definitions are fetched again.")
            .without_effect("there is no minion for Windows"),
        Opt::seconds("winrepo_cache_expire_min", 1800, "Seconds in which they are not fetched again.")
            .without_effect("there is no minion for Windows"),
        Opt::seconds("winrepo_installer_cache_expire", 0, "Seconds that installers are kept.")
            .without_effect("there is no minion for Windows"),
        Opt::any("win_repo_cachefile", Default::Null, "Old name of `winrepo_cachefile`.")
            .without_effect("there is no minion for Windows"),
    ],
};
