//! Options: daemon.

use crate::config::option::{Default, Opt, Section};

// The default differs between master and minion.
const CONF_FILE: Opt = Opt::text("conf_file", "/etc/salt/minion", "The configuration file itself.")
    .without_effect("it is always the file that was read");
const DEFAULT_INCLUDE: Opt = Opt::any(
    "default_include",
    Default::Text("minion.d/*.conf"),
    "Files read after this one, relative to its directory, as a pattern.",
);
const PKI_DIR: Opt = Opt::path("pki_dir", "/etc/salt/pki/minion", "Directory of the keys.");
const CACHEDIR: Opt = Opt::path("cachedir", "/var/cache/salt/minion", "Directory of what is kept between runs.");
const SOCK_DIR: Opt = Opt::path("sock_dir", "/var/run/salt/minion", "Directory of the local sockets.");
const PIDFILE: Opt = Opt::path("pidfile", "/var/run/salt-minion.pid", "File that holds the daemon's process number.");
const LOOP_INTERVAL: Opt = Opt::seconds("loop_interval", 1, "Seconds between two rounds of the daemon's own work.");

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Daemon",
    options: &[
        Opt::text("user", "", "Account that the daemon runs as; where unset, the one that starts it."),
        Opt::text("root_dir", "/", "Directory that the daemon's own directories are put below."),
        Opt::any("include", Default::Texts(&[]), "More files to read, a path, a pattern or a list of them."),
        Opt::truth("verify_env", true, "Make the directories at start and set right their owners and modes."),
        Opt::truth("cluster_mode", false, "The master is one of several that share their work.")
            .without_effect("masters form no cluster"),
        Opt::integer("reactor_niceness", 0, "Priority of the reactor.")
            .or(Default::Null)
            .without_effect("the master is one process"),
        Opt::truth("fips_mode", false, "Use approved algorithms alone.").without_effect("the algorithms are fixed"),
        Opt::map("features", "Switches for what is to become or no longer is the default."),
        Opt::text("range_server", "range:80", "Server that answers range expressions.").awaits("range targets"),
        Opt::any("discovery", Default::Truth(false), "Find masters by broadcast, or answer minions that look for one.")
            .without_effect("masters are not looked for by broadcast"),
        Opt::map("tracing", "Export of traces.")
            .or(Default::Yaml("{\"enabled\": false}"))
            .without_effect("nothing is exported"),
        Opt::map("metrics", "Export of measurements.")
            .or(Default::Yaml("{\"enabled\": false}"))
            .without_effect("nothing is exported"),
        Opt::list("engines", &[], "Engines: parts that run beside the daemon, with their settings."),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Daemon",
    options: &[
        CONF_FILE.or(Default::Text("/etc/salt/master")),
        DEFAULT_INCLUDE.or(Default::Text("master.d/*.conf")),
        PKI_DIR.or(Default::Text("/etc/salt/pki/master")),
        CACHEDIR.or(Default::Text("/var/cache/salt/master")),
        SOCK_DIR.or(Default::Text("/var/run/salt/master")),
        PIDFILE.or(Default::Text("/var/run/salt-master.pid")),
        Opt::integer("max_open_files", 100_000, "Open files that the master wants to be allowed.")
            .without_effect("set the limit where the daemon is started"),
        Opt::integer("worker_threads", 5, "Processes that answer minions.").without_effect("the master is one process"),
        Opt::map("worker_pools", "Groups of workers and the commands each of them answers.")
            .without_effect("the master is one process"),
        Opt::truth("worker_pools_enabled", true, "Use groups of workers.").without_effect("the master is one process"),
        Opt::truth("master_async_mworker", false, "Let a worker answer several requests at once.")
            .without_effect("the master is one process"),
        Opt::integer("master_mworker_max_inflight", 0, "Requests that one worker answers at once.")
            .without_effect("the master is one process"),
        LOOP_INTERVAL.or(Default::Integer(60)),
        Opt::seconds("maintenance_interval", 3600, "Seconds after which the process that cleans up is started anew.")
            .without_effect("the master is one process"),
        Opt::seconds(
            "fileserver_interval",
            3600,
            "Seconds after which the process that fetches files is started anew.",
        )
        .without_effect("the master is one process"),
        Opt::integer("maintenance_niceness", 0, "Priority of the cleaning process.")
            .or(Default::Null)
            .without_effect("the master is one process"),
        Opt::integer("mworker_niceness", 0, "Priority of the workers.")
            .or(Default::Null)
            .without_effect("the master is one process"),
        Opt::integer("mworker_queue_niceness", 0, "Priority of the process that spreads requests.")
            .or(Default::Null)
            .without_effect("the master is one process"),
        Opt::integer("req_server_niceness", 0, "Priority of the process that takes requests.")
            .or(Default::Null)
            .without_effect("the master is one process"),
        Opt::integer("pub_server_niceness", 0, "Priority of the publisher.")
            .or(Default::Null)
            .without_effect("the master is one process"),
        Opt::integer("event_publisher_niceness", 0, "Priority of the event bus.")
            .or(Default::Null)
            .without_effect("the master is one process"),
        Opt::integer("event_return_niceness", 0, "Priority of the process that stores events.")
            .or(Default::Null)
            .without_effect("the master is one process"),
        Opt::integer("fileserver_update_niceness", 0, "Priority of the process that fetches files.")
            .or(Default::Null)
            .without_effect("the master is one process"),
        Opt::truth("con_cache", false, "Keep a list of the connected minions.")
            .without_effect("who is connected is known"),
        Opt::text("serial", "msgpack", "How values are written for the wire.")
            .without_effect("there is one transport, and it authenticates both ends"),
        Opt::truth(
            "master_stats",
            false,
            "Fire `salt/stats/ID` with how many requests took how long, in seconds on average.",
        ),
        Opt::seconds("master_stats_event_iter", 60, "Seconds between two events of `master_stats`."),
        Opt::truth("detect_remote_minions", false, "Look in the system's table of connections for minions.")
            .without_effect("who is connected is known"),
        Opt::port("remote_minions_port", 22, "Port that `detect_remote_minions` looks for.")
            .without_effect("who is connected is known"),
        Opt::text("search", "", "Index of the minions' data.").without_effect("nothing used it in Salt either"),
        Opt::path("sqlite_queue_dir", "/var/cache/salt/master/queues", "Directory of the queues kept in SQLite.")
            .awaits("queues"),
        Opt::list("queue_dirs", &[], "Directories with more kinds of queues.").awaits("queues"),
    ],
};

/// Of the minion.
pub const MINION: Section = Section {
    title: "Daemon",
    options: &[
        Opt::text(
            "sudo_user",
            "",
            "Account as which each function of a job is called, by salt-call and with sudo, which must let the minion's account do so without a password.",
        ),
        CONF_FILE,
        DEFAULT_INCLUDE,
        Opt::list(
            "append_minionid_config_dirs",
            &[],
            "Paths that get the id appended, where hosts share a disk: `pki_dir`, `cachedir`, `pidfile` and others.",
        ),
        PKI_DIR,
        CACHEDIR,
        SOCK_DIR,
        PIDFILE,
        LOOP_INTERVAL,
        Opt::truth("multiprocessing", true, "Run each job in a process of its own rather than in a thread.")
            .without_effect("functions that may block or die always run in a process of their own"),
        Opt::integer("process_count_max", -1, "Jobs that run at the same time; -1 is no limit."),
        Opt::integer(
            "modules_max_memory",
            -1,
            "Bytes of memory that a job, and each program that it starts, may take beyond what its process has at its beginning; -1 is no limit.",
        ),
        Opt::integer("minion_jid_queue_hwm", 100, "Job numbers that a minion remembers, so as to run none twice.")
            .without_effect("a job number is a file, kept for a day"),
        Opt::list(
            "minion_restart_command",
            &[],
            "Command by which `minion.restart` starts the minion anew, after it has ended: a list of words.",
        ),
        Opt::truth("restart_on_error", false, "Start again after an error that ends the minion.")
            .without_effect("the minion always runs under a supervisor"),
        Opt::seconds("random_startup_delay", 0, "Up to so many seconds are waited before the minion starts."),
        Opt::seconds("ping_interval", 0, "Minutes between questions whether the master is still there; 0 never asks."),
    ],
};
