//! Options: modules.

use crate::config::option::{Default, Opt, Section};

// The default differs between master and minion.
const EXTENSION_MODULES: Opt = Opt::path(
    "extension_modules",
    "/var/cache/salt/minion/extmods",
    "Directory that modules from the master are kept in.",
);

/// Of master and minion alike.
pub const COMMON: Section = Section {
    title: "Modules",
    options: &[
        Opt::list("module_dirs", &[], "Directories with more modules, of every kind.").awaits("modules in Python"),
        Opt::list("utils_dirs", &[], "Directories with code that modules share."),
        Opt::truth("clean_dynamic_modules", true, "Delete fetched modules that the master no longer has.")
            .awaits("modules in Python"),
        Opt::map("extmod_whitelist", "Kinds and names of modules that are fetched, and no others.")
            .awaits("modules in Python"),
        Opt::map("extmod_blacklist", "Kinds and names of modules that are not fetched.").awaits("modules in Python"),
        Opt::truth("cython_enable", false, "Compile modules written in Cython.")
            .without_effect("modules are compiled in; Python runs in a process of its own"),
        Opt::text("cache", "localfs", "Where the master keeps minions' data."),
    ],
};

/// Of the master.
pub const MASTER: Section = Section {
    title: "Modules",
    options: &[
        EXTENSION_MODULES.or(Default::Text("/var/cache/salt/master/extmods")),
        Opt::list("runner_dirs", &[], "Directories with more runners.").awaits("modules in Python"),
        Opt::seconds("memcache_expire_seconds", 0, "Seconds that data read from the cache stays in memory; 0 is off.")
            .without_effect("What is known of minions is in memory anyway."),
        Opt::integer("memcache_max_items", 1024, "Entries of the cache that stay in memory.")
            .without_effect("What is known of minions is in memory anyway."),
        Opt::truth("memcache_full_cleanup", false, "Look for old entries in memory at every use.")
            .without_effect("What is known of minions is in memory anyway."),
        Opt::truth("memcache_debug", false, "Log how often memory had what was asked for.")
            .without_effect("What is known of minions is in memory anyway."),
    ],
};

/// Of the minion.
pub const MINION: Section = Section {
    title: "Modules",
    options: &[
        EXTENSION_MODULES,
        Opt::list("returner_dirs", &[], "Directories with more returners.").awaits("modules in Python"),
        Opt::list("states_dirs", &[], "Directories with more states."),
        Opt::list("render_dirs", &[], "Directories with more renderers.").awaits("modules in Python"),
        Opt::map("providers", "Modules for `pkg`, `service` and the like, where the found one is not wanted."),
        Opt::truth("autoload_dynamic_modules", true, "Fetch modules from the master when states run.")
            .awaits("modules in Python"),
        Opt::truth("enable_zip_modules", false, "Load modules from zip files.")
            .without_effect("modules are compiled in; Python runs in a process of its own"),
        Opt::any("lazy_loader_strict_matching", Default::Null, "Compare file names of modules exactly.")
            .without_effect("modules are compiled in; Python runs in a process of its own"),
        Opt::any(
            "docker.compare_container_networks",
            Default::Null,
            "Settings of containers' networks that states leave alone.",
        )
        .awaits("docker"),
        Opt::any("docker.update_mine", Default::Null, "Refresh the mine when containers change.").awaits("docker"),
        Opt::truth("saltpip_use_pythonpath", false, "Let Salt's pip see PYTHONPATH.")
            .without_effect("modules are compiled in; Python runs in a process of its own"),
        Opt::truth("saltpip_no_deps", false, "Let Salt's pip install no dependencies.")
            .without_effect("modules are compiled in; Python runs in a process of its own"),
        Opt::truth("saltpip_no_index", false, "Let Salt's pip ask no index.")
            .without_effect("modules are compiled in; Python runs in a process of its own"),
        Opt::truth("saltpip_disable_pip_version_check", false, "Let Salt's pip not look for a newer one.")
            .without_effect("modules are compiled in; Python runs in a process of its own"),
        Opt::truth("saltpip_allow_find_links", true, "Let Salt's pip look at other links.")
            .without_effect("modules are compiled in; Python runs in a process of its own"),
        Opt::any("update_url", Default::Truth(false), "Address of new versions.")
            .without_effect("the package manager updates the program"),
        Opt::list("update_restart_services", &[], "Services that are restarted after an update.")
            .without_effect("the package manager updates the program"),
    ],
};
