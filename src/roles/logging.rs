//! Where the log goes and how much of it there is.

use super::cli::options::Logging;
use super::config::Config;

/// Begins to log to standard error, at the level of the command line, else of the configuration.
pub fn start(config: &Config, line: &Logging) {
    let level = line.log_level.map_or_else(
        || super::cli::options::LogLevel::named(config.opts.str_at("log_level").unwrap_or("warning")),
        Some,
    );
    let level = level.map_or(log::LevelFilter::Warn, |level| level.filter());
    let started = env_logger::Builder::new().filter_level(level).try_init();
    if started.is_ok() {
        for warning in &config.warnings {
            log::warn!("{warning}");
        }
    }
}
