//! Options: salt-ssh.

use crate::roles::config::option::{Default, Opt, Section};

/// Of the master.
pub const MASTER: Section = Section {
    title: "salt-ssh",
    options: &[
        Opt::any("roster", Default::Null, "Where salt-ssh finds its hosts."),
        Opt::any("roster_file", Default::Null, "File with the hosts."),
        Opt::any("rosters", Default::Null, "Folders with files of hosts."),
        Opt::any("roster_defaults", Default::Null, "Settings of hosts that name none."),
        Opt::text("ssh_user", "root", "User to log in as."),
        Opt::text("ssh_passwd", "", "Password to log in with."),
        Opt::text("ssh_priv_passwd", "", "Pass phrase of the private key."),
        Opt::any("ssh_port", Default::Text("22"), "Port to log in at."),
        Opt::truth("ssh_sudo", false, "Become root with sudo."),
        Opt::text("ssh_sudo_user", "", "Account to become with sudo."),
        Opt::seconds("ssh_timeout", 60, "Seconds until a host must have been reached."),
        Opt::truth("ssh_keepalive", true, "Ask idle connections whether they live."),
        Opt::seconds("ssh_keepalive_interval", 60, "Seconds between two questions of `ssh_keepalive`."),
        Opt::integer(
            "ssh_keepalive_count_max",
            3,
            "How many questions of `ssh_keepalive` go unanswered before a connection is dead.",
        ),
        Opt::text("ssh_scan_ports", "22", "Ports that are looked at for hosts."),
        Opt::number("ssh_scan_timeout", 0.01, "Seconds that a host has to answer on `ssh_scan_ports`."),
        Opt::truth("ssh_use_home_key", false, "Use the key in the user's folder."),
        Opt::truth("ssh_identities_only", false, "Offer no key but the configured one."),
        Opt::map("ssh_list_nodegroups", "Groups of hosts for salt-ssh."),
        Opt::any("ssh_minion_opts", Default::Null, "Minion options on the hosts."),
        Opt::truth("ssh_run_pre_flight", false, "Run the host's script before every job.").or(Default::Null),
        Opt::any("ssh_update_roster", Default::Null, "Keep hosts that were found in the roster."),
        Opt::text("ssh_config_file", "/root/.ssh/config", "Configuration of the ssh program."),
        Opt::truth("enable_ssh_minions", false, "Let `salt` reach hosts of the roster too."),
        Opt::truth("regen_thin", false, "Pack what is sent to hosts anew each time.")
            .without_effect("the program itself is sent"),
        Opt::text("thin_extra_mods", "", "Python modules that are sent along.")
            .without_effect("the program itself is sent"),
        Opt::truth("thin_exclude_saltexts", false, "Extensions that are not sent along.")
            .without_effect("the program itself is sent"),
        Opt::list("thin_saltext_allowlist", &[], "Extensions that are sent along, and no others.")
            .or(Default::Null)
            .without_effect("the program itself is sent"),
        Opt::list("thin_saltext_blocklist", &[], "Extensions that are never sent along.")
            .without_effect("the program itself is sent"),
        Opt::text("min_extra_mods", "", "Python modules that are sent along in the small form.")
            .without_effect("the program itself is sent"),
        Opt::any("userdata_template", Default::Null, "Renderer of user data.").without_effect("there is no salt-cloud"),
    ],
};
