//! Where the log goes and how much of it there is.

use super::cli::options::{LogLevel, Logging};
use super::config::Config;
use std::io::Write;

/// Begins to log to standard error in Salt's form, at the level of the command line, else of the configuration.
pub fn start(config: &Config, line: &Logging) {
    let configured = config.opts.str_at("log_level").and_then(LogLevel::named);
    let level = line.log_level.or(configured).unwrap_or(LogLevel::Warning);
    let started = env_logger::Builder::new()
        .filter_level(level.filter())
        .format(|out, record| writeln!(out, "[{:<8}] {}", name(record.level()), record.args()))
        .try_init();
    if started.is_ok() {
        for warning in &config.warnings {
            log::warn!("{warning}");
        }
    }
}

/// As Salt calls the level.
fn name(level: log::Level) -> &'static str {
    match level {
        log::Level::Error => "ERROR",
        log::Level::Warn => "WARNING",
        log::Level::Info => "INFO",
        log::Level::Debug => "DEBUG",
        log::Level::Trace => "TRACE",
    }
}
