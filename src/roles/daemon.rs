//! What master and minion have in common as daemons: how they start, whom they tell, how they end.
//!
//! A start goes through these steps, in this order: the configuration ([`Start::configure`]); directories and their owners
//! ([`environment`]), the pid file ([`pidfile`]), the account ([`privileges`]), all before the first thread
//! ([`Start::settle`]); the log; then the role itself ([`serve`]). `-d` executes the program again in the background
//! ([`launch`]) and reports from there, so that the exit code of the command tells the truth.

pub mod environment;
pub mod launch;
pub mod limits;
pub mod notify;
pub mod pages;
pub mod pidfile;
pub mod privileges;
pub mod signals;

use super::cli::salt_daemon::DaemonLine;
use super::cli::{Exit, Program, exit};
use super::config::id::Names;
use super::config::{CommonOptions, Config, ConfigError, KeepId, Role, Surroundings};
use super::logging;
use halite_wire::link::Local;
use launch::{Origin, Report, Stage, ToParent};
use notify::Notify;
use pidfile::PidFile;
use rustix::fs::Mode;
use rustix::process::umask;
use signals::{Ear, Told};
use smol::LocalExecutor;
use smol::future::FutureExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::rc::Rc;

/// Why a daemon did not start, or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
}

impl Failure {
    pub fn new(exit: Exit, message: impl std::fmt::Display) -> Failure {
        Failure { exit, message: message.to_string() }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::new(Exit::Configuration, error)
    }
}

/// The exit code of a daemon that wants to be started again.
pub const RESTART: u8 = 99;

/// Runs a daemon's program: `role` serves until it ends. The exit code.
pub fn run(
    program: &'static Program,
    role: Role,
    args: &[String],
    serve: impl FnOnce(&Start, &mut Life) -> Result<End, Failure>,
) -> u8 {
    let (origin, args) = Origin::read(args);
    let line = match DaemonLine::read(program, args) {
        Ok(line) => line,
        Err(stop) => return stop.report(program.name).code(),
    };
    if line.daemon.daemon && origin.stage == Stage::First {
        return launch::into_background(&origin, program.name, args);
    }
    launch::name_process(program.name);
    if origin.stage == Stage::Background {
        launch::leave_session();
    }
    let mut life = match Life::begin(&origin, program.name) {
        Ok(life) => life,
        Err(error) => {
            exit::complain(&format!("{}: error: whoever started this cannot be reached: {error}", program.name));
            return Exit::Internal.code();
        }
    };
    let start = Start { program: program.name, role, line, origin, args: args.to_vec() };
    let ended = serve(&start, &mut life);
    let code = match ended {
        Ok(End::Stopped) => Exit::Ok.code(),
        Ok(End::Restart) => RESTART,
        Ok(End::Replaced(file)) => {
            // The pid file is free for the process that this one becomes.
            drop(life);
            log::logger().flush();
            let error = start.origin.replace(&file, start.program, &start.args);
            log::error!("{} cannot be executed: {error}", file.display());
            log::logger().flush();
            return RESTART;
        }
        Err(failure) => {
            life.failed(&failure);
            failure.exit.code()
        }
    };
    drop(life);
    log::logger().flush();
    code
}

/// One start of a daemon's program.
pub struct Start {
    /// As users call it: `salt-master`.
    pub program: &'static str,
    pub role: Role,
    pub line: DaemonLine,
    pub origin: Origin,
    /// The command line, for a process that is to do the same.
    pub args: Vec<String>,
}

impl Start {
    /// The configuration, with what the command line says on top.
    pub fn configure(&self) -> Result<Config, Failure> {
        let given = self.line.common.config_dir.as_ref();
        let mut config = Config::load(self.role, &Surroundings::of_process(given.map(|dir| self.origin.path(dir))))?;
        let line = &self.line;
        let path = |path: &std::path::PathBuf| self.origin.path(path).to_string_lossy().into_owned();
        let over = [
            ("user", line.daemon.user.clone()),
            ("pidfile", line.daemon.pid_file.as_ref().map(path)),
            ("log_file", line.logging.log_file.as_ref().map(|file| logging::absolute(file, &self.origin))),
            ("log_level_logfile", line.logging.log_file_level.map(|level| level.name().to_owned())),
        ];
        for (name, value) in over {
            if let Some(value) = value {
                config.opts.insert(name, value);
            }
        }
        let keep = if self.role == Role::Minion { KeepId::Yes } else { KeepId::No };
        config.resolve_id(&Names::of_this_host(), keep)?;
        Ok(config)
    }

    /// Everything that wants the rights of whoever started the program, then those rights are given up and the log
    /// begins. There must be no thread yet: a thread would keep the rights.
    pub fn settle(&self, config: &Config, common: &CommonOptions, life: &mut Life) -> Result<(), Failure> {
        umask(Mode::from_raw_mode(0o022));
        let account = privileges::account(&common.user, "the option 'user'")?;
        let mut warnings = environment::prepare(config, common, account.as_ref())?;
        let supervised = self.origin.stage == Stage::Supervised;
        if !supervised {
            life.pidfile = Some(PidFile::hold(&common.pidfile, self.program, account.as_ref())?);
            life.notify = Notify::from_environment();
        }
        umask(self.mask());
        if let Some(account) = &account {
            privileges::become_user(account)?;
        }
        if self.origin.stage == Stage::Background {
            std::env::set_current_dir("/").map_err(|error| Failure::new(Exit::Failed, error))?;
        }
        let console =
            if self.origin.stage == Stage::Background { logging::Console::None } else { logging::Console::Queued };
        warnings.extend(logging::start_daemon(self.program, config, &common.log, &self.line.logging, console)?);
        // The supervisor has said them already.
        if !supervised {
            warnings.iter().chain(&config.warnings).for_each(|warning| log::warn!("{warning}"));
            for (option, reason, level) in config.without_effect() {
                log::log!(level, "the option '{option}' has no effect: {reason}");
            }
        }
        Ok(())
    }

    /// The master's files are its own alone, whatever makes them; commands that a minion runs make files as in Salt.
    fn mask(&self) -> Mode {
        match self.role {
            Role::Master => Mode::from_raw_mode(0o077),
            Role::Minion => Mode::from_raw_mode(0o022),
        }
    }
}

/// Whom a daemon owes word: who waits for its start, who looks at its pid file, who supervises it.
pub struct Life {
    report: Report,
    pidfile: Option<PidFile>,
    notify: Notify,
    parent: Option<UnixStream>,
}

/// How a daemon ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Stopped,
    /// It wants to be started again.
    Restart,
    /// This file, another version of the program, is to go on in its place.
    Replaced(PathBuf),
}

impl Life {
    fn begin(origin: &Origin, program: &'static str) -> std::io::Result<Life> {
        let (report, parent) = origin.report(program)?;
        Ok(Life { report, parent, pidfile: None, notify: Notify::default() })
    }

    /// The way to the supervisor above, if there is one.
    pub fn parent(&self) -> Option<ToParent> {
        self.parent.as_ref()?.try_clone().ok().map(ToParent::new)
    }

    /// It serves now.
    pub fn begun(&mut self) -> Result<(), Failure> {
        if let Some(pidfile) = &mut self.pidfile {
            pidfile.write()?;
        }
        self.notify.ready();
        self.report.started();
        Ok(())
    }

    /// Its logs begin anew, as after a rotation.
    pub fn reload(&self) {
        self.notify.reloading();
        logging::reopen();
        self.notify.ready();
    }

    pub fn stopping(&self) {
        self.notify.stopping();
    }

    /// The start went wrong: whoever waits is told. After the start the log is what is left.
    pub fn failed(&mut self, failure: &Failure) {
        log::error!("{}", failure.message);
        // Whoever hears it may try again at once.
        self.pidfile = None;
        self.report.failed(failure);
    }
}

/// Runs a role until it is told to stop. `start` gives the role, which serves until it is dropped, and a future that is
/// ready when the role wants to be started again.
pub fn serve<R>(
    life: &mut Life,
    start: impl FnOnce(&Rc<LocalExecutor<'static>>) -> Result<(R, Local<()>), String>,
) -> Result<End, Failure> {
    let failed = |message: String| Failure::new(Exit::Failed, message);
    let end = smol::block_on(async {
        let mut ear = Ear::open(life.parent.take()).map_err(failed)?;
        let executor = Rc::new(LocalExecutor::new());
        executor
            .run(async {
                let (_running, mut restart) = start(&executor).map_err(failed)?;
                life.begun()?;
                loop {
                    let restart = async {
                        (&mut restart).await;
                        Told::Restart
                    };
                    match ear.next().or(restart).await {
                        Told::Reload => life.reload(),
                        Told::Stop => break Ok(End::Stopped),
                        Told::Restart => break Ok(End::Restart),
                        Told::Orphaned => {
                            log::error!("the supervisor is gone: this process ends too");
                            break Ok(End::Stopped);
                        }
                    }
                }
            })
            .await
    });
    life.stopping();
    end
}
