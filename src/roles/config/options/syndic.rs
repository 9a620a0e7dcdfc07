//! Options: syndic and cluster.

use crate::config::option::{Default, Opt, Section};

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Syndic and cluster",
    options: &[Opt::integer("syndic_retries", 3, "How often a syndic tries each master.").awaits("the syndic")],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Syndic and cluster",
    options: &[
        Opt::any("syndic_master", Default::Text("masterofmasters"), "Master above the syndic.").awaits("the syndic"),
        Opt::port("syndic_master_port", 4506, "Port of the master above.").awaits("the syndic"),
        Opt::text("syndic_pidfile", "/var/run/salt-syndic.pid", "File with the syndic's process number.")
            .awaits("the syndic"),
        Opt::text("syndic_log_file", "/var/log/salt/syndic", "Log of the syndic.").awaits("the syndic"),
        Opt::text("syndic_failover", "random", "How a list of masters above is used: `random` or `ordered`.")
            .awaits("the syndic"),
        Opt::seconds("syndic_wait", 5, "Seconds that jobs wait for syndics' minions.").awaits("the syndic"),
        Opt::truth("syndic_forward_all_events", false, "Send all events up, not only returns.").awaits("the syndic"),
        Opt::number("syndic_event_forward_timeout", 0.5, "Seconds that events are collected before they are sent up.")
            .awaits("the syndic"),
        Opt::integer("syndic_jid_forward_cache_hwm", 100, "Job numbers whose forwarding is remembered.")
            .without_effect("a job number is a file, kept for a day"),
        Opt::text("cluster_id", "", "Name of the cluster of masters.")
            .or(Default::Null)
            .without_effect("masters form no cluster"),
        Opt::list("cluster_peers", &[], "The other masters of the cluster.").without_effect("masters form no cluster"),
        Opt::text("cluster_pki_dir", "", "Directory of the keys that the cluster shares.")
            .or(Default::Null)
            .without_effect("masters form no cluster"),
        Opt::port("cluster_pool_port", 4520, "Port between the masters of the cluster.")
            .without_effect("masters form no cluster"),
        Opt::text("cluster_secret", "", "Secret that the masters of the cluster share.")
            .or(Default::Null)
            .without_effect("masters form no cluster"),
        Opt::text("cluster_key_pass", "", "Pass phrase of the cluster's key.")
            .or(Default::Null)
            .without_effect("masters form no cluster"),
        Opt::text("cluster_pub_fingerprint", "", "Fingerprint of the cluster's key.")
            .or(Default::Null)
            .without_effect("masters form no cluster"),
        Opt::text("cluster_encryption_algorithm", "OAEP-SHA1", "Padding of encryption between masters.")
            .without_effect("masters form no cluster"),
        Opt::truth("cluster_isolated_filesystem", false, "The masters share no disk.")
            .without_effect("masters form no cluster"),
        Opt::integer("cluster_max_log_size", 0, "Entries of the cluster's log.")
            .or(Default::Null)
            .without_effect("masters form no cluster"),
        Opt::integer("cluster_max_voters", 0, "Most masters that vote.")
            .or(Default::Null)
            .without_effect("masters form no cluster"),
        Opt::integer("cluster_min_voters", 3, "Fewest masters that vote.").without_effect("masters form no cluster"),
        Opt::number("cluster_voter_timeout", 10.0, "Seconds after which a silent voter is gone.")
            .without_effect("masters form no cluster"),
        Opt::number("cluster_voter_health_check_interval", 1.0, "Seconds between looks at the voters.")
            .without_effect("masters form no cluster"),
        Opt::number("cluster_demote_cooldown", 60.0, "Seconds between two demotions.")
            .without_effect("masters form no cluster"),
        Opt::truth("cluster_auto_replace_voters", false, "Replace a voter that is gone.")
            .without_effect("masters form no cluster"),
    ],
};
