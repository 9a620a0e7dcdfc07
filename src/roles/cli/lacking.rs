//! Options and programs of Salt that this version knows by name only. They say so instead of doing nothing.

const EXTERNAL_AUTH: &str = "external authentication is not part of this version; run it as root or by publisher_acl";
const PROFILE: &str = "it profiles Salt's Python code, of which there is none here; use perf";
const EXECUTORS: &str = "executors are not part of this version";
const RESOURCES: &str = "resources are not part of this version";

/// The options, whatever program has them, with their sentence.
const OPTIONS: [(&str, &str); 15] = [
    ("--auth", EXTERNAL_AUTH),
    ("--make-token", EXTERNAL_AUTH),
    ("--username", EXTERNAL_AUTH),
    ("--password", EXTERNAL_AUTH),
    ("--range", "targets from a range server are not part of this version"),
    ("--hosts", "it lists the hosts of a roster, which is for salt-ssh; this version has none"),
    ("--enable-profiling", PROFILE),
    ("--profiling-path", PROFILE),
    ("--proxyid", "proxy minions are not part of this version"),
    ("--module-executors", EXECUTORS),
    ("--executor-opts", EXECUTORS),
    ("--resources", RESOURCES),
    ("--tgt", RESOURCES),
    ("--tgt-type", RESOURCES),
    ("--module-dirs", "modules in Python are not part of this version"),
];

/// The sentence of an option that is not there yet.
pub fn option(long: &str) -> Option<&'static str> {
    OPTIONS.iter().find(|(name, _)| *name == long).map(|(_, sentence)| *sentence)
}
