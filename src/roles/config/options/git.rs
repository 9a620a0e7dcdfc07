//! Options: files from git, Mercurial and Subversion.

use crate::config::option::{Default, Opt, Section};

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Files from git, Mercurial and Subversion",
    options: &[
        Opt::list("gitfs_remotes", &[], "Repositories, each perhaps with settings of its own.").awaits("gitfs"),
        Opt::text("gitfs_mountpoint", "", "Directory under which files are shown.").awaits("gitfs"),
        Opt::text("gitfs_root", "", "Directory of the repository that is shown.").awaits("gitfs"),
        Opt::text("gitfs_base", "master", "Branch that is the environment `base`.").awaits("gitfs"),
        Opt::text("gitfs_fallback", "", "Branch for environments that no branch is named after.").awaits("gitfs"),
        Opt::text("gitfs_user", "", "User for HTTPS.").awaits("gitfs"),
        Opt::text("gitfs_password", "", "Password for HTTPS.").awaits("gitfs"),
        Opt::truth("gitfs_insecure_auth", false, "Send the password over plain HTTP.").awaits("gitfs"),
        Opt::text("gitfs_privkey", "", "Private key for SSH.").awaits("gitfs"),
        Opt::text("gitfs_pubkey", "", "Public key for SSH.").awaits("gitfs"),
        Opt::text("gitfs_passphrase", "", "Pass phrase of the private key.").awaits("gitfs"),
        Opt::list("gitfs_saltenv", &[], "Settings by environment.").awaits("gitfs"),
        Opt::list("gitfs_saltenv_whitelist", &[], "Environments that are shown, as patterns.").awaits("gitfs"),
        Opt::list("gitfs_saltenv_blacklist", &[], "Environments that are not shown, as patterns.").awaits("gitfs"),
        Opt::truth("gitfs_global_lock", true, "Take a lock that a crash left for one still held.").awaits("gitfs"),
        Opt::truth("gitfs_ssl_verify", true, "Check the server's certificate.").awaits("gitfs"),
        Opt::list("gitfs_ref_types", &["branch", "tag", "sha"], "What becomes an environment: branch, tag, sha.")
            .awaits("gitfs"),
        Opt::list(
            "gitfs_refspecs",
            &["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"],
            "What is fetched.",
        )
        .awaits("gitfs"),
        Opt::truth("gitfs_disable_saltenv_mapping", false, "Make environments from `gitfs_saltenv` alone.")
            .awaits("gitfs"),
        Opt::text("gitfs_proxy", "", "HTTP proxy.").awaits("gitfs"),
        Opt::integer("gitfs_depth", 1, "Commits that are fetched.").awaits("gitfs"),
        Opt::seconds("gitfs_update_interval", 60, "Seconds between two fetches.").awaits("gitfs"),
        Opt::text("git_pillar_base", "master", "Branch that is the environment `base`.").awaits("git_pillar"),
        Opt::text("git_pillar_branch", "master", "Branch of a repository that names none.").awaits("git_pillar"),
        Opt::text("git_pillar_env", "", "Environment of a repository that names none.").awaits("git_pillar"),
        Opt::text("git_pillar_fallback", "", "Branch for environments that no branch is named after.")
            .awaits("git_pillar"),
        Opt::text("git_pillar_root", "", "Directory of the repository that holds the pillar.").awaits("git_pillar"),
        Opt::truth("git_pillar_ssl_verify", true, "Check the server's certificate.").awaits("git_pillar"),
        Opt::truth("git_pillar_global_lock", true, "Take a lock that a crash left for one still held.")
            .awaits("git_pillar"),
        Opt::truth("git_pillar_includes", true, "Let a repository include what another holds.").awaits("git_pillar"),
        Opt::text("git_pillar_user", "", "User for HTTPS.").awaits("git_pillar"),
        Opt::text("git_pillar_password", "", "Password for HTTPS.").awaits("git_pillar"),
        Opt::truth("git_pillar_insecure_auth", false, "Send the password over plain HTTP.").awaits("git_pillar"),
        Opt::text("git_pillar_privkey", "", "Private key for SSH.").awaits("git_pillar"),
        Opt::text("git_pillar_pubkey", "", "Public key for SSH.").awaits("git_pillar"),
        Opt::text("git_pillar_passphrase", "", "Pass phrase of the private key.").awaits("git_pillar"),
        Opt::list(
            "git_pillar_refspecs",
            &["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"],
            "What is fetched.",
        )
        .awaits("git_pillar"),
        Opt::text("git_pillar_proxy", "", "HTTP proxy.").awaits("git_pillar"),
        Opt::integer("git_pillar_depth", 1, "Commits that are fetched.").awaits("git_pillar"),
        Opt::list("git_pillar_ref_types", &["branch", "tag", "sha"], "What becomes an environment: branch, tag, sha.")
            .awaits("git_pillar"),
        Opt::truth("git_pillar_disable_saltenv_mapping", false, "Make environments from the settings alone.")
            .awaits("git_pillar"),
        Opt::seconds("git_pillar_update_interval", 60, "Seconds between two fetches.").awaits("git_pillar"),
        Opt::seconds("hgfs_update_interval", 60, "Seconds between two fetches.").awaits("hgfs"),
        Opt::seconds("svnfs_update_interval", 60, "Seconds between two fetches.").awaits("svnfs"),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Files from git, Mercurial and Subversion",
    options: &[
        Opt::any("gitfs_provider", Default::Null, "Library that git is spoken with.")
            .without_effect("the git program is used"),
        Opt::any("git_pillar_provider", Default::Null, "Library that git is spoken with for pillar.")
            .without_effect("the git program is used"),
        Opt::truth("git_pillar_verify_config", true, "Check the settings of git pillar at start.").awaits("git_pillar"),
        Opt::any("pillar_gitfs_ssl_verify", Default::Null, "Old name of `git_pillar_ssl_verify`.").awaits("git_pillar"),
        Opt::list("hgfs_remotes", &[], "Mercurial repositories.").awaits("hgfs"),
        Opt::text("hgfs_mountpoint", "", "Directory under which files are shown.").awaits("hgfs"),
        Opt::text("hgfs_root", "", "Directory of the repository that is shown.").awaits("hgfs"),
        Opt::text("hgfs_base", "default", "Branch that is the environment `base`.").awaits("hgfs"),
        Opt::text("hgfs_branch_method", "branches", "What becomes an environment: branches, bookmarks or mixed.")
            .awaits("hgfs"),
        Opt::list("hgfs_saltenv_whitelist", &[], "Environments that are shown, as patterns.").awaits("hgfs"),
        Opt::list("hgfs_saltenv_blacklist", &[], "Environments that are not shown, as patterns.").awaits("hgfs"),
        Opt::list("svnfs_remotes", &[], "Subversion repositories.").awaits("svnfs"),
        Opt::text("svnfs_mountpoint", "", "Directory under which files are shown.").awaits("svnfs"),
        Opt::text("svnfs_root", "", "Directory of the repository that is shown.").awaits("svnfs"),
        Opt::text("svnfs_trunk", "trunk", "Directory that is the environment `base`.").awaits("svnfs"),
        Opt::text("svnfs_branches", "branches", "Directory of the branches.").awaits("svnfs"),
        Opt::text("svnfs_tags", "tags", "Directory of the tags.").awaits("svnfs"),
        Opt::list("svnfs_saltenv_whitelist", &[], "Environments that are shown, as patterns.").awaits("svnfs"),
        Opt::list("svnfs_saltenv_blacklist", &[], "Environments that are not shown, as patterns.").awaits("svnfs"),
    ],
};
