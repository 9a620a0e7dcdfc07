//! Options: salt-ssh.

use crate::config::option::{Default, Opt, Section};

/// Of the master.
pub const MASTER: Section = Section {
    title: "salt-ssh",
    options: &[
        Opt::any("roster", Default::Null, "Where salt-ssh finds its hosts.").awaits("salt-ssh"),
        Opt::any("roster_file", Default::Null, "File with the hosts.").awaits("salt-ssh"),
        Opt::any("rosters", Default::Null, "Directories with files of hosts.").awaits("salt-ssh"),
        Opt::any("roster_defaults", Default::Null, "Settings of hosts that name none.").awaits("salt-ssh"),
        Opt::text("ssh_user", "root", "User to log in as.").awaits("salt-ssh"),
        Opt::text("ssh_passwd", "", "Password to log in with.").awaits("salt-ssh"),
        Opt::text("ssh_priv_passwd", "", "Pass phrase of the private key.").awaits("salt-ssh"),
        Opt::any("ssh_port", Default::Text("22"), "Port to log in at.").awaits("salt-ssh"),
        Opt::truth("ssh_sudo", false, "Become root with sudo.").awaits("salt-ssh"),
        Opt::text("ssh_sudo_user", "", "Account to become with sudo.").awaits("salt-ssh"),
        Opt::seconds("ssh_timeout", 60, "Seconds until a host must have been reached.").awaits("salt-ssh"),
        Opt::truth("ssh_keepalive", true, "Ask idle connections whether they live.").awaits("salt-ssh"),
        Opt::seconds("ssh_keepalive_interval", 60, "Seconds between two questions of `ssh_keepalive`.")
            .awaits("salt-ssh"),
        Opt::integer(
            "ssh_keepalive_count_max",
            3,
            "How many questions of `ssh_keepalive` go unanswered before a connection is dead.",
        )
        .awaits("salt-ssh"),
        Opt::text("ssh_scan_ports", "22", "Ports that are looked at for hosts.").awaits("salt-ssh"),
        Opt::number("ssh_scan_timeout", 0.01, "Seconds that a host has to answer on `ssh_scan_ports`.")
            .awaits("salt-ssh"),
        Opt::truth("ssh_use_home_key", false, "Use the key in the user's directory.").awaits("salt-ssh"),
        Opt::truth("ssh_identities_only", false, "Offer no key but the configured one.").awaits("salt-ssh"),
        Opt::map("ssh_list_nodegroups", "Groups of hosts for salt-ssh.").awaits("salt-ssh"),
        Opt::any("ssh_minion_opts", Default::Null, "Minion options on the hosts.").awaits("salt-ssh"),
        Opt::truth("ssh_run_pre_flight", false, "Run the host's script before every job.")
            .or(Default::Null)
            .awaits("salt-ssh"),
        Opt::any("ssh_update_roster", Default::Null, "Keep hosts that were found in the roster.").awaits("salt-ssh"),
        Opt::text("ssh_config_file", "/root/.ssh/config", "Configuration of the ssh program.").awaits("salt-ssh"),
        Opt::truth("enable_ssh_minions", false, "Let `salt` reach hosts of the roster too.").awaits("salt-ssh"),
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
