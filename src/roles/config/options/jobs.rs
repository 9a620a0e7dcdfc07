//! Options: jobs and events.

use crate::config::option::{Default, Opt, Section};

// The default differs between master and minion.
const SALT_CP_CHUNK_SIZE: Opt =
    Opt::integer("salt_cp_chunk_size", 65_536, "Bytes of a piece of a file that salt-cp sends.");
const LOCAL: Opt = Opt::truth("local", false, "Run without a master.");

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Jobs and events",
    options: &[
        Opt::text("ext_job_cache", "", "Returner that minions send returns to themselves.").awaits("returners"),
        Opt::truth("unique_jid", false, "Put the process number into job numbers.")
            .without_effect("jids are unique: the master makes one after the other"),
        Opt::any("return", Default::Null, "Returner that gets every return, beside the master."),
        Opt::text(
            "event_match_type",
            "startswith",
            "How tags are compared: startswith, endswith, find, regex or fnmatch.",
        )
        .without_effect("whoever listens for events says how tags are compared"),
        Opt::truth("state_events", false, "Fire an event for every state of a job."),
        Opt::map("schedule", "What the minion or master does by itself, and when.").awaits("the schedule"),
        Opt::list("reactor", &[], "What is to happen at which events.").awaits("the reactor"),
        Opt::seconds("reactor_refresh_interval", 60, "Seconds that the reactor keeps its clients.")
            .awaits("the reactor"),
        Opt::integer("reactor_worker_threads", 10, "Reactions at the same time.").awaits("the reactor"),
        Opt::integer("reactor_worker_hwm", 10_000, "Reactions that may wait.").awaits("the reactor"),
        Opt::number("thorium_interval", 0.5, "Seconds between two rounds of thorium.").awaits("Thorium"),
        Opt::map("thorium_roots", "Directories of thorium's files, by environment.")
            .or(Default::Yaml("{\"base\": [\"/srv/thorium\"]}")),
        Opt::text("thorium_top", "top.sls", "Top file of thorium.").awaits("Thorium"),
        Opt::text("thoriumenv", "", "Environment of thorium.").or(Default::Null).awaits("Thorium"),
        Opt::truth("test", false, "Only show what states would change."),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Jobs and events",
    options: &[
        Opt::seconds("timeout", 5, "Seconds that a client waits for returns before it asks who still works."),
        Opt::seconds("gather_job_timeout", 10, "Seconds that minions have to say whether they still work on a job.")
            .without_effect("the master knows who is connected, and who works on a job"),
        Opt::seconds("publish_timeout", 30, "Seconds that publishing a job may take.")
            .without_effect("the master answers at once, or says why not"),
        Opt::seconds("keep_jobs", 24, "Hours that jobs are kept. Use `keep_jobs_seconds`."),
        Opt::seconds("keep_jobs_seconds", 86_400, "Seconds that jobs are kept; 0 is for ever."),
        Opt::truth("archive_jobs", false, "Move old jobs away instead of deleting them.")
            .without_effect("old jobs are deleted from the database"),
        Opt::truth("job_cache", true, "Keep jobs and their returns on the master.")
            .without_effect("the job database is also how a master that starts again knows what it has begun"),
        Opt::text("master_job_cache", "local_cache", "Returner that the master keeps jobs in.").awaits("returners"),
        Opt::truth("job_cache_store_endtime", false, "Keep when each job ended.")
            .without_effect("each return stands in the database with its time"),
        Opt::truth("show_timeout", true, "Show which minions did not answer."),
        Opt::truth("show_jid", false, "Show the job's number."),
        Opt::truth("cli_summary", false, "Show how many minions were asked and answered."),
        Opt::any("batch_safe_limit", Default::Null, "Targets from which on a job is run in batches."),
        Opt::any("batch_safe_size", Default::Null, "Minions of a batch that `batch_safe_limit` makes."),
        Opt::truth("order_masters", false, "A syndic may have several masters above it.").awaits("the syndic"),
        Opt::truth("presence_events", false, "Fire events about which minions are connected."),
        Opt::any("event_return", Default::Text(""), "Returners that get the master's events."),
        Opt::integer("event_return_queue", 0, "Events that are collected before `event_return` stores them.")
            .awaits("returners"),
        Opt::seconds(
            "event_return_queue_max_seconds",
            0,
            "Seconds after which collected events are stored however few they are.",
        )
        .or(Default::Null)
        .awaits("returners"),
        Opt::list("event_return_whitelist", &[], "Tags of events that are stored, as patterns."),
        Opt::list("event_return_blacklist", &[], "Tags of events that are not stored, as patterns."),
        Opt::truth("runner_returns", true, "Store what runners return as jobs."),
        Opt::any("fileserver_events", Default::Null, "Fire events when files have changed."),
        Opt::truth(
            "minion_data_cache",
            true,
            "Keep minions' grains on the master's disk, so that targets are by them as soon as it starts; pillar is in memory alone.",
        ),
        Opt::truth("minion_data_cache_events", true, "Fire `minion/refresh/ID` when a minion tells its grains."),
        Opt::truth("preserve_minion_cache", false, "Keep a minion's data when its key is deleted."),
        Opt::truth("enforce_mine_cache", false, "Keep the mine where minions' data is not kept.").awaits("the mine"),
        SALT_CP_CHUNK_SIZE.or(Default::Integer(98_304)),
        Opt::map("nodegroups", "Names for targets."),
        Opt::truth("dummy_pub", false, "Publish nothing.")
            .without_effect("there is one transport, and it authenticates both ends"),
        LOCAL.or(Default::Truth(true)),
    ],
};

/// Of the minion.
pub const MINION: Section = Section {
    title: "Jobs and events",
    options: &[
        Opt::truth("cache_jobs", false, "Keep what the minion returned on the minion too."),
        Opt::truth("pub_ret", true, "Send returns to the master.")
            .without_effect("the master knows how a job ends for each of its targets"),
        Opt::truth("enable_legacy_startup_events", true, "Fire `minion_start` beside `salt/minion/ID/start`."),
        Opt::list("start_event_grains", &[], "Grains that the start event carries."),
        Opt::truth("mine_enabled", true, "Send data to the mine.").awaits("the mine"),
        Opt::any("mine_functions", Default::EmptyMap, "Functions whose answers are sent to the mine.")
            .awaits("the mine"),
        Opt::seconds("mine_interval", 60, "Minutes between two sends to the mine.").awaits("the mine"),
        Opt::truth("mine_return_job", false, "Keep the sends to the mine as jobs.").awaits("the mine"),
        Opt::truth("scheduler_before_connect", false, "Start the schedule before there is a master.")
            .awaits("the schedule"),
        Opt::any("beacons", Default::EmptyMap, "What the minion watches, with settings."),
        Opt::truth("beacons_before_connect", false, "Start the beacons before there is a master.").awaits("beacons"),
        SALT_CP_CHUNK_SIZE,
        Opt::truth("multifunc_ordered", false, "Run the functions of a compound call one after another."),
        LOCAL,
    ],
};
