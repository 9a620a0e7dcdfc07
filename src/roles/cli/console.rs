//! The log of a program that a user runs: on standard error, in Salt's form.

use super::options::{LogLevel, Logging};
use crate::wire::value::Map;
use std::io::Write;

/// Sends what is logged to standard error, from the level that the command line, else the configuration, names.
pub fn start(logging: &Logging, config: &Map) {
    let configured = config.str_at("log_level").and_then(LogLevel::named);
    let level = logging.log_level.or(configured).unwrap_or(LogLevel::Warning);
    let mut builder = env_logger::Builder::new();
    builder.filter_level(level.filter());
    builder.format(|out, record| writeln!(out, "[{:<8}] {}", name(record.level()), record.args()));
    // Somebody else's logger is there already: a test's, which is as good.
    let _ = builder.try_init();
}

fn name(level: log::Level) -> &'static str {
    match level {
        log::Level::Error => "ERROR",
        log::Level::Warn => "WARNING",
        log::Level::Info => "INFO",
        log::Level::Debug => "DEBUG",
        log::Level::Trace => "TRACE",
    }
}
