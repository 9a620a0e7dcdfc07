//! Options: logging.

use crate::config::option::{Default, Opt, Section};

// The default differs between master and minion.
const LOG_FILE: Opt = Opt::log(
    "log_file",
    "/var/log/salt/minion",
    "Log of the daemon: a path, or `file://`, `udp://`, `tcp://` for a log daemon.",
);

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Logging",
    options: &[
        Opt::log("key_logfile", "/var/log/salt/key", "Log of salt-key."),
        Opt::text("log_dir", "", "Directory that a relative `log_file` is in."),
        Opt::text("log_level", "warning", "Least important kind of message on the console."),
        Opt::text(
            "log_level_logfile",
            "",
            "Least important kind of message in the log file; where unset, as `log_level`.",
        )
        .or(Default::Null),
        Opt::text("log_datefmt", "%H:%M:%S", "Date on the console, as strftime writes it."),
        Opt::text("log_datefmt_logfile", "%Y-%m-%d %H:%M:%S", "Date in the log file."),
        Opt::text("log_fmt_console", "[%(levelname)-8s] %(message)s", "Form of a line on the console."),
        Opt::text(
            "log_fmt_logfile",
            "%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d] %(message)s",
            "Form of a line in the log file.",
        ),
        Opt::text(
            "log_fmt_jid",
            "[JID: %(jid)s]",
            "What `%(jid)s` in the form of a line is, in the lines of a job; in others nothing.",
        ),
        Opt::text(
            "log_fmt_minion_id",
            "[%(minion_id)s]",
            "What `%(minion_id)s` in the form of a line is, in the lines of a job; in others nothing.",
        ),
        Opt::map("log_granular_levels", "Levels for parts of the program, by name."),
        Opt::integer("log_rotate_max_bytes", 0, "Size at which the log begins anew; 0 never."),
        Opt::integer("log_rotate_backup_count", 0, "Old logs that are kept."),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Logging",
    options: &[
        LOG_FILE.or(Default::Text("/var/log/salt/master")),
        Opt::log("ssh_log_file", "/var/log/salt/ssh", "Log of salt-ssh.").awaits("salt-ssh"),
    ],
};

/// Of the minion.
pub const MINION: Section = Section { title: "Logging", options: &[LOG_FILE] };
