//! The options that the programs themselves use, as types. Everything else stays in the map.

use super::{Config, ConfigError};
use halite_value::{Map, Value};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Where logs go and how they look.
#[derive(Clone, Debug, PartialEq)]
pub struct LogOptions {
    /// A path, or `file://`, `udp://` or `tcp://` for syslog; empty: no file.
    pub file: String,
    pub key_file: String,
    pub level: String,
    /// The console's where none is set.
    pub level_file: String,
    pub format_console: String,
    pub format_file: String,
    pub date_format: String,
    pub date_format_file: String,
    /// Levels by part of the program.
    pub granular: Map,
}

/// TCP's own keepalive; nothing: as the system has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpKeepalive {
    pub on: bool,
    pub idle: Option<Duration>,
    pub count: Option<u32>,
    pub interval: Option<Duration>,
}

/// What master and minion have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct CommonOptions {
    /// Empty until [`Config::resolve_id`] has run.
    pub id: String,
    pub user: String,
    pub root_dir: PathBuf,
    pub pki_dir: PathBuf,
    pub cachedir: PathBuf,
    pub sock_dir: PathBuf,
    pub pidfile: PathBuf,
    pub verify_env: bool,
    pub permissive_pki_access: bool,
    /// Nothing: whichever the addresses are.
    pub ipv6: Option<bool>,
    /// Bytes.
    pub max_event_size: usize,
    pub loop_interval: Duration,
    pub keepalive: TcpKeepalive,
    pub log: LogOptions,
}

/// What salt-master and the clients beside it use.
#[derive(Clone, Debug, PartialEq)]
pub struct MasterOptions {
    pub common: CommonOptions,
    pub interface: String,
    pub publish_port: u16,
    pub ret_port: u16,
    /// How long a client waits for returns before it asks who still works.
    pub timeout: Duration,
    /// How long jobs are kept; nothing: for ever.
    pub keep_jobs: Option<Duration>,
    pub auto_accept: bool,
    pub open_mode: bool,
    pub autosign_file: PathBuf,
    pub autoreject_file: PathBuf,
    pub publisher_acl: Map,
    pub publisher_acl_blacklist: Map,
    pub sudo_acl: bool,
    pub presence_events: bool,
    /// How many minions may be connected at the same time; zero: any number.
    pub max_minions: u64,
    pub max_open_files: u64,
    pub nodegroups: Map,
}

/// What salt-minion and salt-call use.
#[derive(Clone, Debug, PartialEq)]
pub struct MinionOptions {
    pub common: CommonOptions,
    /// Names or addresses, each perhaps with `:port`.
    pub masters: Vec<String>,
    pub master_type: String,
    pub master_port: u16,
    pub publish_port: u16,
    /// Fingerprint of the master's key, or empty.
    pub master_finger: String,
    pub acceptance_wait_time: Duration,
    /// The wait grows up to here; zero: it does not grow.
    pub acceptance_wait_time_max: Duration,
    pub random_reauth_delay: Duration,
    pub random_startup_delay: Duration,
    pub recon_default: Duration,
    pub recon_max: Duration,
    pub recon_randomize: bool,
    pub auth_timeout: Duration,
    /// Minutes in the file; zero: off.
    pub ping_interval: Duration,
    pub process_count_max: Option<u32>,
    pub local: bool,
    pub grains: Map,
}

impl MasterOptions {
    pub(super) fn from_config(config: &Config) -> Result<MasterOptions, ConfigError> {
        Ok(MasterOptions {
            common: CommonOptions::from_config(config)?,
            interface: config.text("interface").to_owned(),
            publish_port: port(config, "publish_port")?,
            ret_port: port(config, "ret_port")?,
            timeout: seconds(config, "timeout")?,
            keep_jobs: keep_jobs(config)?,
            auto_accept: config.truth("auto_accept"),
            open_mode: config.truth("open_mode"),
            autosign_file: path(config, "autosign_file"),
            autoreject_file: path(config, "autoreject_file"),
            publisher_acl: map(config, "publisher_acl"),
            publisher_acl_blacklist: map(config, "publisher_acl_blacklist"),
            sudo_acl: config.truth("sudo_acl"),
            presence_events: config.truth("presence_events"),
            max_minions: count(config, "max_minions")?,
            max_open_files: count(config, "max_open_files")?,
            nodegroups: map(config, "nodegroups"),
        })
    }
}

impl MinionOptions {
    pub(super) fn from_config(config: &Config) -> Result<MinionOptions, ConfigError> {
        Ok(MinionOptions {
            common: CommonOptions::from_config(config)?,
            masters: masters(config)?,
            master_type: config.text("master_type").to_owned(),
            master_port: port(config, "master_port")?,
            publish_port: port(config, "publish_port")?,
            master_finger: config.text("master_finger").to_owned(),
            acceptance_wait_time: seconds(config, "acceptance_wait_time")?,
            acceptance_wait_time_max: seconds(config, "acceptance_wait_time_max")?,
            random_reauth_delay: seconds(config, "random_reauth_delay")?,
            random_startup_delay: seconds(config, "random_startup_delay")?,
            recon_default: Duration::from_millis(count(config, "recon_default")?),
            recon_max: Duration::from_millis(count(config, "recon_max")?),
            recon_randomize: config.truth("recon_randomize"),
            auth_timeout: seconds(config, "auth_timeout")?,
            ping_interval: seconds(config, "ping_interval")? * 60,
            process_count_max: at_least_one(config, "process_count_max"),
            local: config.text("file_client") == "local" || config.truth("local"),
            grains: map(config, "grains"),
        })
    }
}

impl CommonOptions {
    fn from_config(config: &Config) -> Result<CommonOptions, ConfigError> {
        let own = !config.text("log_level_logfile").is_empty();
        let file_level = if own { "log_level_logfile" } else { "log_level" };
        Ok(CommonOptions {
            id: config.text("id").to_owned(),
            user: config.text("user").to_owned(),
            root_dir: path(config, "root_dir"),
            pki_dir: path(config, "pki_dir"),
            cachedir: path(config, "cachedir"),
            sock_dir: path(config, "sock_dir"),
            pidfile: path(config, "pidfile"),
            verify_env: config.truth("verify_env"),
            permissive_pki_access: config.truth("permissive_pki_access"),
            ipv6: config.opts.at("ipv6").and_then(Value::as_bool),
            max_event_size: usize::try_from(count(config, "max_event_size")?).unwrap_or(usize::MAX),
            loop_interval: seconds(config, "loop_interval")?,
            keepalive: TcpKeepalive {
                on: config.truth("tcp_keepalive"),
                idle: at_least_one(config, "tcp_keepalive_idle").map(|idle| Duration::from_secs(idle.into())),
                count: at_least_one(config, "tcp_keepalive_cnt"),
                interval: at_least_one(config, "tcp_keepalive_intvl").map(|time| Duration::from_secs(time.into())),
            },
            log: LogOptions {
                file: config.text("log_file").to_owned(),
                key_file: config.text("key_logfile").to_owned(),
                level: level(config, "log_level")?,
                level_file: level(config, file_level)?,
                format_console: config.text("log_fmt_console").to_owned(),
                format_file: config.text("log_fmt_logfile").to_owned(),
                date_format: config.text("log_datefmt").to_owned(),
                date_format_file: config.text("log_datefmt_logfile").to_owned(),
                granular: map(config, "log_granular_levels"),
            },
        })
    }
}

fn path(config: &Config, name: &str) -> PathBuf {
    PathBuf::from(config.text(name))
}

fn map(config: &Config, name: &str) -> Map {
    config.opts.at(name).and_then(Value::as_map).cloned().unwrap_or_default()
}

/// Salt's levels, the most talkative first.
const LEVELS: [&str; 10] =
    ["all", "garbage", "trace", "debug", "profile", "info", "warning", "error", "critical", "quiet"];

fn level(config: &Config, name: &str) -> Result<String, ConfigError> {
    let level = config.text(name).to_lowercase();
    if LEVELS.contains(&level.as_str()) {
        return Ok(level);
    }
    Err(config.fault(name, format_args!("wants one of {}", LEVELS.join(", "))))
}

fn port(config: &Config, name: &str) -> Result<u16, ConfigError> {
    let number = config.opts.at(name).and_then(Value::as_int).and_then(|number| u16::try_from(number).ok());
    number.filter(|number| *number > 0).ok_or_else(|| config.fault(name, "wants a port from 1 to 65535"))
}

fn seconds(config: &Config, name: &str) -> Result<Duration, ConfigError> {
    let number = config.opts.at(name).and_then(Value::as_float);
    let time = number.and_then(|number| Duration::try_from_secs_f64(number).ok());
    // A century is as good as for ever, and sums of it do not overflow.
    let ceiling = Duration::from_secs(100 * 365 * 86_400);
    time.map(|time| time.min(ceiling)).ok_or_else(|| config.fault(name, "wants seconds, not below zero"))
}

fn count(config: &Config, name: &str) -> Result<u64, ConfigError> {
    let number = config.opts.at(name).and_then(Value::as_int).and_then(|number| u64::try_from(number).ok());
    number.ok_or_else(|| config.fault(name, "wants a whole number, not below zero"))
}

/// Salt writes -1 for "as the system has it" or "no limit".
fn at_least_one(config: &Config, name: &str) -> Option<u32> {
    let number = config.opts.at(name).and_then(Value::as_int)?;
    u32::try_from(number).ok().filter(|number| *number > 0)
}

/// `keep_jobs`, in hours, counts where `keep_jobs_seconds` was left alone. Zero keeps jobs for ever.
fn keep_jobs(config: &Config) -> Result<Option<Duration>, ConfigError> {
    let by_hours = config.origins.contains_key("keep_jobs") && !config.origins.contains_key("keep_jobs_seconds");
    let time = if by_hours { seconds(config, "keep_jobs")? * 3600 } else { seconds(config, "keep_jobs_seconds")? };
    Ok((!time.is_zero()).then_some(time))
}

fn masters(config: &Config) -> Result<Vec<String>, ConfigError> {
    let wrong = || config.fault("master", "wants a name, an address, or a list of them");
    let names = match config.opts.at("master") {
        Some(Value::Str(names)) => names.split(',').map(|name| name.trim().to_owned()).collect(),
        Some(Value::List(names)) => {
            names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>().ok_or_else(wrong)?
        }
        _ => return Err(wrong()),
    };
    let only_addresses = config.text("master_uri_format") == "ip_only";
    if only_addresses && names.iter().any(|name| name.parse::<IpAddr>().is_err()) {
        return Err(config.fault("master", "wants addresses without a port: master_uri_format is ip_only"));
    }
    let all_named = !names.is_empty() && names.iter().all(|name| !name.is_empty());
    if all_named { Ok(names) } else { Err(wrong()) }
}
