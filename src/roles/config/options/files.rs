//! Options: files for minions.

use crate::config::option::{Default, Opt, Section};

// The default differs between master and minion.
const FILE_CLIENT: Opt =
    Opt::text("file_client", "remote", "`remote` takes files and pillar from the master, `local` from this host.");
const FILE_BUFFER_SIZE: Opt = Opt::integer("file_buffer_size", 262_144, "Bytes of a piece of a file.")
    .without_effect("files come in parts of a size of their own, several at once");

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Files for minions",
    options: &[
        Opt::map("file_roots", "Directories of the files, by environment.")
            .or(Default::Yaml("{\"base\": [\"/srv/salt\", \"/srv/spm/salt\"]}")),
        Opt::list("fileserver_backend", &["roots"], "Where files come from, in this order."),
        Opt::truth("fileserver_followsymlinks", true, "Follow links to directories."),
        Opt::truth("fileserver_ignoresymlinks", false, "Leave links out."),
        Opt::list("file_ignore_glob", &[], "Files that are left out, as patterns."),
        Opt::list("file_ignore_regex", &[], "Files that are left out, as expressions."),
        Opt::truth("file_recv", false, "Let minions send files to the master."),
        Opt::integer("file_recv_max_size", 100, "Largest file that a minion may send, in megabytes."),
        Opt::text("hash_type", "sha256", "Hash that files are compared by."),
        Opt::seconds("roots_update_interval", 60, "Seconds between looks at the directories of `file_roots`."),
        Opt::seconds("s3fs_update_interval", 60, "Seconds between looks at S3.").awaits("s3fs"),
        Opt::seconds("minionfs_update_interval", 60, "Seconds between looks for files that minions have sent.")
            .awaits("minionfs"),
        Opt::truth("cache_sreqs", true, "Keep the connection for files open.")
            .without_effect("there is no ZeroMQ below"),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Files for minions",
    options: &[
        FILE_CLIENT.or(Default::Text("local")),
        Opt::seconds("fileserver_list_cache_time", 0, "Seconds that lists of files are kept.").or(Default::Null),
        Opt::truth(
            "fileserver_verify_config",
            true,
            "Refuse to start where no source of files that `fileserver_backend` names is there.",
        ),
        FILE_BUFFER_SIZE.or(Default::Integer(1_048_576)),
        Opt::map("master_roots", "Directories of files for the master's own use, by environment.")
            .or(Default::Yaml("{\"base\": [\"/srv/salt-master\"]}")),
        Opt::text("minionfs_env", "base", "Environment of files that minions have sent.").awaits("minionfs"),
        Opt::text("minionfs_mountpoint", "", "Directory under which files that minions have sent are shown.")
            .awaits("minionfs"),
        Opt::list("minionfs_whitelist", &[], "Minions whose files are shown, as patterns.").awaits("minionfs"),
        Opt::list("minionfs_blacklist", &[], "Minions whose files are not shown, as patterns.").awaits("minionfs"),
    ],
};

/// Of the minion.
pub const MINION: Section = Section {
    title: "Files for minions",
    options: &[
        FILE_CLIENT,
        FILE_BUFFER_SIZE,
        Opt::text("backup_mode", "", "`minion` keeps a copy of each file that a state changes."),
    ],
};
