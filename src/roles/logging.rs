//! Where the log goes and how much of it there is.
//!
//! `env_logger` decides what is logged and builds each line, once for the console and once for the file; the lines of a
//! daemon go through a [`queue`] to a thread that writes them ([`sink`]). So a full disk, a stopped terminal or a syslog
//! that is away costs lines, which are counted, and never holds the daemon up. Programs that end soon write to the
//! console directly.

mod format;
mod queue;
mod sink;

use super::cli::Exit;
use super::cli::options::{LogLevel, Logging};
use super::config::{Config, LogOptions};
use super::daemon::Failure;
use super::daemon::launch::Origin;
use env_logger::{Builder, Logger, Target};
use format::Format;
use halite_value::{Map, Value};
use log::{Log, Metadata, Record};
use queue::Queue;
use sink::{Console as Terminal, LogFile, Rotation, Sink, Syslog};
use std::path::Path;
use std::sync::OnceLock;

/// How a daemon uses its console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Console {
    /// It has none.
    None,
    /// It has one, and does not wait for it.
    Queued,
}

/// Begins to log to standard error in Salt's form, at the level of the command line, else of the configuration.
pub fn start(config: &Config, line: &Logging) {
    let (mut console, _) = console(config, line);
    begin(Both { console: Some(console.target(Target::Stderr).build()), file: None, queues: Vec::new() }, config);
}

/// As [`start`], and to `key_logfile` too, where it can be written: for salt-key.
pub fn start_with_file(config: &Config, line: &Logging, options: &LogOptions) {
    let (mut console, _) = console(config, line);
    let console = Some(console.target(Target::Stderr).build());
    let format =
        Format::parse(&options.format_file, &options.date_format_file).unwrap_or_else(|_| Format::of_console());
    let level = line.log_file_level.or(LogLevel::named(&options.level_file)).unwrap_or(LogLevel::Warning);
    let file = line.log_file.as_deref().unwrap_or(&options.key_file);
    let opened = (!file.is_empty() && !file.contains("://")).then(|| sink::open(Path::new(file)));
    let file = opened.and_then(Result::ok).map(|opened| {
        let mut builder = builder(level, options);
        builder.format(move |out, record| format.write(out, record)).target(Target::Pipe(Box::new(opened))).build()
    });
    begin(Both { console, file, queues: Vec::new() }, config);
}

/// Begins the log of a daemon. Starts threads: nothing that one thread alone may do can come after this.
///
/// What is odd and no obstacle comes back, to be logged; an option that makes no sense is an error.
pub fn start_daemon(
    program: &'static str,
    config: &Config,
    options: &LogOptions,
    line: &Logging,
    console_use: Console,
) -> Result<Vec<String>, Failure> {
    let mut queues = Vec::new();
    let console = match console_use {
        Console::None => None,
        Console::Queued => {
            let (mut builder, wrong) = console(config, line);
            if let Some(wrong) = wrong {
                return Err(wrong);
            }
            let queue = start_queue(Box::new(Terminal))?;
            queues.push(queue.clone());
            Some(builder.target(Target::Pipe(Box::new(queue))).build())
        }
    };
    let level = LogLevel::named(&options.level_file).unwrap_or(LogLevel::Warning);
    let mut file = None;
    if !options.file.is_empty() && level != LogLevel::Quiet {
        let (sink, own): (Box<dyn Sink>, &str) = match sink::Address::parse(&options.file) {
            Ok(Some(address)) => (Box::new(Syslog::new(address, program)), "[%(levelname)-8s] %(message)s"),
            Ok(None) => {
                let file = LogFile::new(Path::new(&options.file), Rotation::of(config));
                (Box::new(file), options.format_file.as_str())
            }
            Err(wrong) => return Err(config.fault("log_file", wrong).into()),
        };
        // A syslog adds time and process itself; who has set a form gets it.
        let set = config.origins.contains_key("log_fmt_logfile");
        let text = if set { options.format_file.as_str() } else { own };
        let format = Format::parse(text, &options.date_format_file)
            .map_err(|wrong| Failure::from(config.fault("log_fmt_logfile", wrong)))?;
        let queue = start_queue(sink)?;
        queues.push(queue.clone());
        let mut builder = builder(level, options);
        builder.format(move |out, record| format.write(out, record)).target(Target::Pipe(Box::new(queue)));
        file = Some(builder.build());
    }
    if let Some((name, _)) =
        options.granular.iter().find(|(_, level)| level.as_str().and_then(LogLevel::named).is_none())
    {
        return Err(config.fault("log_granular_levels", format_args!("has no level for '{}'", name.to_text())).into());
    }
    begin(Both { console, file, queues }, config);
    Ok(Vec::new())
}

/// In a worker: to the daemon's log file, in its form, each line at once. A worker is short, and has no console.
pub fn start_in_worker(jid: &str, opts: &Map) {
    let text = |name: &str| opts.str_at(name).unwrap_or_default();
    let level = LogLevel::named(text("log_level_logfile")).or(LogLevel::named(text("log_level")));
    let format = Format::parse(text("log_fmt_logfile"), text("log_datefmt_logfile"));
    let file = text("log_file");
    // A syslog would hold the job up when it is away.
    let (Ok(format), false) = (format, file.is_empty() || file.contains("://")) else {
        return;
    };
    let Ok(opened) = sink::open(Path::new(file)) else {
        return;
    };
    let format = format.of_job(jid, opts);
    let mut builder = Builder::new();
    builder.filter_level(level.unwrap_or(LogLevel::Warning).filter());
    refine(&mut builder, opts.at("log_granular_levels").and_then(Value::as_map).unwrap_or(&Map::new()));
    builder.format(move |out, record| format.write(out, record)).target(Target::Pipe(Box::new(opened)));
    let _ = builder.try_init();
}

/// Files are opened again under their names: after a rotation, under new ones.
pub fn reopen() {
    for queue in QUEUES.get().into_iter().flatten() {
        queue.reopen();
    }
}

/// A `--log-file` as the user meant it: a path is relative to where it was typed.
pub fn absolute(file: &str, origin: &Origin) -> String {
    match file.contains("://") {
        true => file.to_owned(),
        false => origin.path(Path::new(file)).to_string_lossy().into_owned(),
    }
}

static QUEUES: OnceLock<Vec<Queue>> = OnceLock::new();

fn start_queue(sink: Box<dyn Sink>) -> Result<Queue, Failure> {
    Queue::start(sink).map_err(|error| Failure::new(Exit::Failed, format!("the log cannot begin: {error}")))
}

/// The console's part, and what is wrong with its form.
fn console(config: &Config, line: &Logging) -> (Builder, Option<Failure>) {
    let text = |name: &str| config.text(name).to_owned();
    let parsed = Format::parse(&text("log_fmt_console"), &text("log_datefmt"));
    let (format, wrong) = match parsed {
        Ok(format) => (format, None),
        Err(wrong) => (Format::of_console(), Some(config.fault("log_fmt_console", wrong).into())),
    };
    let configured = config.opts.str_at("log_level").and_then(LogLevel::named);
    let level = line.log_level.or(configured).unwrap_or(LogLevel::Warning);
    let mut builder = Builder::new();
    builder.filter_level(level.filter()).format(move |out, record| format.write(out, record));
    // What the command line says of the console is for all of it.
    if line.log_level.is_none() {
        let granular = config.opts.at("log_granular_levels").and_then(Value::as_map).cloned();
        refine(&mut builder, &granular.unwrap_or_default());
    }
    (builder, wrong)
}

fn builder(level: LogLevel, options: &LogOptions) -> Builder {
    let mut builder = Builder::new();
    builder.filter_level(level.filter());
    refine(&mut builder, &options.granular);
    builder
}

/// Levels for parts of the program, by the names that the log shows.
fn refine(builder: &mut Builder, granular: &Map) {
    for (name, level) in granular.iter() {
        let (Some(name), Some(level)) = (name.as_str(), level.as_str().and_then(LogLevel::named)) else {
            continue;
        };
        for module in format::modules_of(name) {
            builder.filter_module(&module, level.filter());
        }
    }
}

fn begin(both: Both, config: &Config) {
    let most = [&both.console, &both.file].into_iter().flatten().map(Logger::filter).max();
    let _ = QUEUES.set(both.queues.clone());
    if log::set_boxed_logger(Box::new(both)).is_ok() {
        log::set_max_level(most.unwrap_or(log::LevelFilter::Off));
        // A daemon says them when it knows that it is the one to say them.
        if QUEUES.get().is_none_or(Vec::is_empty) {
            config.warnings.iter().for_each(|warning| log::warn!("{warning}"));
        }
    }
}

/// Console and file, each with its own level and form.
struct Both {
    console: Option<Logger>,
    file: Option<Logger>,
    queues: Vec<Queue>,
}

impl Both {
    fn all(&self) -> impl Iterator<Item = &Logger> {
        self.console.iter().chain(&self.file)
    }
}

impl Log for Both {
    fn enabled(&self, metadata: &Metadata) -> bool {
        self.all().any(|logger| logger.enabled(metadata))
    }

    fn log(&self, record: &Record) {
        self.all().for_each(|logger| logger.log(record));
    }

    fn flush(&self) {
        self.queues.iter().for_each(Queue::flush);
    }
}
