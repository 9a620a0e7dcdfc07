//! `salt-run`: runs a runner, a function of the master's own host, and shows what it answers.

use super::archive::Kept;
use super::fleet::Running;
use super::{Account, configured};
use crate::cli::arguments::Called;
use crate::cli::exit::{complain, print};
use crate::cli::salt_run::SaltRunLine;
use crate::cli::{Display, Exit, Trouble};
use halite_core::host::{Accounts, Machine};
use halite_core::jid::Jid;
use halite_core::jobs::{Jobs, Lock, Running as Run, boot_id};
use halite_core::{Fault, Returned};
use halite_run::runners;
use halite_run::runners::fleet::Fleet;
use halite_value::{Map, Value};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

pub fn run(args: &[String]) -> u8 {
    let line = match SaltRunLine::read(args, std::io::stdin()) {
        Ok(line) => line,
        Err(stop) => return stop.report("salt-run").code(),
    };
    match answer(&line) {
        Ok(exit) => exit.code(),
        Err(trouble) => trouble.report("salt-run").code(),
    }
}

fn answer(line: &SaltRunLine) -> Result<Exit, Trouble> {
    let call = line.call()?;
    let (config, options) = configured(&line.common, &line.logging, Account::Masters)?;
    let jid = match &line.run.jid {
        None => Jid::now(),
        Some(jid) => Jid::parse(jid).map_err(|error| Trouble::new(Exit::Usage, error))?,
    };
    let Some(call) = call.filter(|_| !line.run.doc) else {
        let docs = runners::docs(line.words.first().map(String::as_str));
        return documented(line, docs, &config.opts);
    };
    if line.run.r#async {
        return start_apart(line, &call, &jid);
    }
    let mut display = Display::new(&line.output, &config.opts)?;
    let timeout = line.run.timeout.map_or(options.timeout, |seconds| Duration::from_secs(seconds.0));
    let master = Running::new(options.common.sock_dir, timeout);
    let archive = Kept::new(&options.common.cachedir);
    let say = |text: &str| print(text).map_err(|error| Fault::execution(format!("standard output: {error}")));
    let ctx = runners::Ctx {
        host: &Machine,
        functions: &halite_run::modules::FUNCTIONS,
        fleet: &master,
        archive: &archive,
        opts: &config.opts,
        jid: jid.as_str(),
        say: &say,
    };
    let told = Told { master: &master, jid: &jid, call: &call };
    let is_told = told.begun();
    let noted = Noted::new(&options.common.cachedir, &jid, &call);
    let reply = runners::call(&ctx, &call.fun, call.arguments.clone());
    drop(noted);
    // As after --async: whoever gave this run its number looks for the answer under that, since nothing is shown.
    if line.run.quiet && line.run.jid.is_some() {
        told.answered(&reply);
    } else if is_told {
        told.ended(&reply);
    }
    match reply {
        Ok(returned) if line.run.quiet => Ok(exit_of(&returned)),
        Ok(returned) => {
            display.show(&returned.value, returned.out, returned.retcode)?;
            Ok(exit_of(&returned))
        }
        Err(fault) => Ok(failed(&call.fun, &fault, master.exit_of(&fault))),
    }
}

fn exit_of(returned: &Returned) -> Exit {
    if returned.retcode == 0 { Exit::Ok } else { Exit::Failed }
}

/// Says why a runner failed; `exit` is for what the master refused or could not do. An exception that a runner is made to raise stands where Salt prints it.
fn failed(fun: &str, fault: &Fault, exit: Exit) -> Exit {
    match fault {
        Fault::Raised { kind, message } => {
            // That it cannot be printed is the lesser trouble.
            let _ = print(&format!(
                "Exception occurred in runner {fun}: Traceback (most recent call last):\n{kind}: {message}\n"
            ));
            Exit::Failed
        }
        Fault::Execution(message) => {
            complain(&format!("salt-run: error: {fun}: {message}"));
            exit
        }
        Fault::Internal(_) => {
            complain(&format!("salt-run: error: {fun}: {fault}"));
            Exit::Internal
        }
        _ => {
            let told = fault.told(fun);
            complain(told.stderr.trim_end_matches('\n'));
            let _ = print(&told.stdout);
            Exit::Failed
        }
    }
}

fn documented(line: &SaltRunLine, docs: Map, opts: &Map) -> Result<Exit, Trouble> {
    if docs.is_empty() {
        let wanted = line.words.first().map_or("", String::as_str);
        return Err(Trouble::new(Exit::Failed, format!("there is no runner '{wanted}': salt-run --doc names all")));
    }
    if line.output.out.is_some() {
        Display::new(&line.output, opts)?.show(&docs.into(), None, 0)?;
        return Ok(Exit::Ok);
    }
    let text: String = docs.iter().map(|(name, text)| format!("{name}:\n\n{text}\n")).collect();
    print(&text).map_err(Trouble::unprintable)?;
    Ok(Exit::Ok)
}

/// Starts the runner in a process of its own, which nobody waits for.
fn start_apart(line: &SaltRunLine, call: &Called, jid: &Jid) -> Result<Exit, Trouble> {
    if runners::find(&call.fun).is_none() {
        return Err(Trouble::new(Exit::Failed, format!("'{}' is not available.", call.fun)));
    }
    let mut command = Command::new("/proc/self/exe");
    command.arg0("salt-run").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A Saltfile was read; it might ask for --async again.
    command.args(["--jid", jid.as_str(), "--quiet", "--saltfile", "/dev/null"]);
    if let Some(directory) = &line.common.config_dir {
        command.arg("-c").arg(directory);
    }
    if let Some(names) = &line.reading.no_parse {
        command.args(["--no-parse", names]);
    }
    if let Some(seconds) = line.run.timeout {
        command.args(["-t", &seconds.0.to_string()]);
    }
    // An interrupt at the terminal is for those in front.
    command.arg("--").args(&line.words).process_group(0);
    command.spawn().map_err(|error| Trouble::new(Exit::Failed, format!("the runner cannot be started: {error}")))?;
    complain(&format!(
        "[WARNING ] Running in asynchronous mode. The answer comes as the event salt/run/{jid}/ret on the master's bus"
    ));
    Ok(Exit::Ok)
}

/// A run that `jobs.master` shows while it lasts.
struct Noted {
    runs: Jobs,
    jid: Jid,
    _lock: Lock,
}

impl Noted {
    /// Nothing where this user may not write there: no runner depends on it.
    fn new(cachedir: &Path, jid: &Jid, call: &Called) -> Option<Noted> {
        let runs = Jobs::new(cachedir);
        let run = Run {
            jid: jid.clone(),
            fun: format!("runner.{}", call.fun),
            fun_args: call.arguments.to_published(),
            tgt: Value::Null,
            tgt_type: String::new(),
            ret: String::new(),
            user: user(),
            pid: std::process::id(),
            boot: boot_id(),
        };
        // What was killed leaves its file.
        let _ = runs.prune(SystemTime::now(), Duration::from_secs(3600));
        match runs.take(&run) {
            Ok(Some(lock)) => Some(Noted { runs, jid: jid.clone(), _lock: lock }),
            Ok(None) => None,
            Err(error) => {
                log::debug!("jobs.master will not show this run: {}: {error}", cachedir.display());
                None
            }
        }
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        // It may have been pruned by another run.
        let _ = self.runs.forget(&self.jid);
    }
}

/// Tells the master's bus of this run, where there is a master. Nothing but the answer of a run that was started apart
/// depends on it.
struct Told<'a> {
    master: &'a Running,
    jid: &'a Jid,
    call: &'a Called,
}

impl Told<'_> {
    /// Whether there is a master to be told of the end too.
    fn begun(&self) -> bool {
        self.mention("new", self.described())
    }

    /// In passing: the answer has been shown.
    fn ended(&self, reply: &Result<Returned, Fault>) {
        self.mention("ret", self.outcome(reply));
    }

    /// With as much timeout as any question has: a master that was busy as this run began has it all the same.
    fn answered(&self, reply: &Result<Returned, Fault>) {
        if let Err(fault) = self.master.fire(&self.tag("ret"), self.outcome(reply)) {
            log::error!("the answer of the run {} has reached nobody: {fault}", self.jid);
        }
    }

    fn outcome(&self, reply: &Result<Returned, Fault>) -> Map {
        let mut data = self.described();
        match reply {
            Ok(returned) => {
                data.insert("return", returned.value.clone());
                data.insert("success", returned.retcode == 0);
            }
            Err(fault) => {
                data.insert("return", format!("Exception occurred in runner {}: {fault}", self.call.fun));
                data.insert("success", false);
            }
        }
        data
    }

    fn described(&self) -> Map {
        let args = Value::List(self.call.arguments.to_published());
        Map::from_iter([
            ("fun", Value::from(format!("runner.{}", self.call.fun))),
            ("fun_args", args),
            ("jid", self.jid.as_str().into()),
            ("user", user().into()),
        ])
    }

    fn mention(&self, what: &str, data: Map) -> bool {
        let taken = self.master.mention(&self.tag(what), data);
        if !taken {
            log::debug!("the master has taken no event of this run");
        }
        taken
    }

    fn tag(&self, what: &str) -> String {
        format!("salt/run/{}/{what}", self.jid)
    }
}

/// Who runs this, as a job names its user.
fn user() -> String {
    let uid = rustix::process::geteuid().as_raw();
    let name = Machine.user_by_uid(uid).ok().flatten().map_or_else(|| format!("uid {uid}"), |user| user.name);
    match super::sudo_user() {
        Some(caller) if uid == 0 => format!("sudo_{caller}"),
        _ => name,
    }
}
