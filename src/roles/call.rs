//! `salt-call`: runs a function on this minion, in this process, and shows what it answers.
//!
//! Where the minion's daemon runs, it is the way to the master: for events, and for the answer, which the master keeps
//! like that of a job. Without it the call has a session of its own.

mod session;

use super::cli::arguments::Called;
use super::cli::display::DisplayError;
use super::cli::exit::{complain, print};
use super::cli::salt_call::SaltCallLine;
use super::cli::{Display, Exit, Trouble, account};
use super::config::id::{self, Names};
use super::config::{Config, KeepId, Role, Surroundings};
use super::minion::execute::{World, reply, sees_pillar};
use super::minion::local::{MinionAsk, MinionSocket};
use super::minion::spool::Spool;
use halite_core::context::{Master, NoMaster};
use halite_core::host::Machine;
use halite_core::jid::Jid;
use halite_core::pillar_request::Asked;
use halite_core::returners;
use halite_core::{Call, Ctx, Fault, Returned};
use halite_node::grains;
use halite_node::pillar;
use halite_run::modules;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use halite_wire::message::{Job, Return};
use session::OwnSession;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long the master may take where `--timeout` does not say.
const TIMEOUT: Duration = Duration::from_secs(10);

pub fn run(args: &[String]) -> u8 {
    let line = match SaltCallLine::read(args, std::io::stdin()) {
        Ok(line) => line,
        Err(stop) => return stop.report("salt-call").code(),
    };
    match answer(&line) {
        Ok(exit) => exit.code(),
        Err(trouble) => trouble.report("salt-call").code(),
    }
}

fn answer(line: &SaltCallLine) -> Result<Exit, Trouble> {
    let called = line.call()?;
    if let Some(name) = &line.call.run_as {
        account::act_as(name, "--priv")?;
    }
    let config = configured(line)?;
    let Some(called) = called.filter(|_| !line.call.doc) else {
        return documented(line, &config.opts);
    };
    let mut display = Display::new(&line.output, &config.opts)?;
    let is_local = config.truth("local") || config.text("file_client") == "local";
    let options = config.minion()?;
    let common = &options.common;
    let grains = match line.call.skip_grains {
        true => Map::from_iter([("id", config.text("id"))]),
        false => grains::known(&Machine, &config.opts),
    };
    let way = match () {
        () if is_local => Way::None,
        () if MinionSocket::is_there(&common.sock_dir) => Way::Daemon(MinionSocket::new(&common.sock_dir)),
        () => {
            let timeout = line.call.timeout.map_or(TIMEOUT, |seconds| Duration::from_secs(seconds.0));
            Way::Own(Box::new(OwnSession::new(&config, &options, &grains, timeout)))
        }
    };
    let job = job(line, &called);
    let pillar = match sees_pillar(&called.fun) {
        true => pillar_of(&config.opts, &grains, &job, way.master()),
        false => Map::new(),
    };
    let world = World {
        host: &Machine,
        master: way.master(),
        grains: &grains,
        pillar: &pillar,
        opts: &config.opts,
        cancelled: &AtomicBool::new(false),
    };
    let returned = match reply(&world, &job, &called.fun, called.arguments) {
        Ok(returned) => returned,
        Err(fault) => return Ok(failed(&called.fun, &fault)),
    };
    let ret = full(&job, returned);
    let id = config.text("id");
    let returned = hand_on(line, &config.opts, &ret);
    show(line, id, &ret, &mut display)?;
    if !line.call.no_return_event {
        way.tell(&common.cachedir, &ret);
    }
    returned?;
    Ok(match ret.retcode {
        0 => Exit::Ok,
        retcode if line.call.retcode_passthrough => Exit::Passed(i32::try_from(retcode).unwrap_or(1)),
        _ => Exit::Failed,
    })
}

/// The pillar: compiled here with `--local`, else by the master. That there is none is told in it: a function that needs
/// none runs without, a state does not.
fn pillar_of(opts: &Map, grains: &Map, job: &Job, master: &dyn Master) -> Map {
    let nothing = Map::new();
    let call = Call { fun: job.fun.to_text(), jid: job.jid.clone(), ..Call::default() };
    let ctx = Ctx {
        host: &Machine,
        master,
        functions: &modules::FUNCTIONS,
        grains,
        pillar: &nothing,
        opts,
        call: &call,
        cancelled: &AtomicBool::new(false),
        scratch: Default::default(),
        audience: Default::default(),
    };
    let pillar = pillar::gather(&ctx, &Asked::of(opts)).unwrap_or_else(|fault| {
        log::error!("there is no pillar: {fault}");
        Map::from_iter([(pillar::ERRORS, Value::list([fault.to_string()]))])
    });
    pillar::cached::keep(&Machine, opts, &pillar);
    pillar
}

/// The minion's configuration, with what the command line says above it.
fn configured(line: &SaltCallLine) -> Result<Config, Trouble> {
    let around = Surroundings::of_process(line.common.config_dir.clone());
    let mut config = Config::load(Role::Minion, &around)?;
    if line.call.run_as.is_none() {
        account::act_as_configured(config.text("user"))?;
    }
    super::logging::start(&config, &line.logging);
    let call = &line.call;
    let path =
        |path: &Path| Value::from(std::path::absolute(path).unwrap_or(path.to_owned()).to_string_lossy().as_ref());
    if call.local {
        config.opts.insert("file_client", "local");
        config.opts.insert("local", true);
    }
    // As Salt tells functions who has called them: a pillar that was compiled a moment ago is not compiled again.
    config.opts.insert("__cli", "salt-call");
    if let Some(id) = &call.id {
        id::check(id).map_err(|wrong| Trouble::new(Exit::Usage, format!("--id: {wrong}")))?;
        config.opts.insert("id", id.as_str());
    }
    if let Some(master) = &call.master {
        config.opts.insert("master", master.as_str());
    }
    if call.output_diff {
        config.opts.insert("state_output_diff", true);
    }
    if let Some(cachedir) = &call.cachedir {
        config.opts.insert("cachedir", path(cachedir));
    }
    for (option, directories) in [("file_roots", &call.file_root), ("pillar_roots", &call.pillar_root)] {
        if !directories.is_empty() {
            let directories = Value::List(directories.iter().map(|directory| path(directory)).collect());
            config.opts.insert(option, Map::from_iter([("base", directories)]));
        }
    }
    if !call.states_dir.is_empty() {
        config
            .opts
            .insert("states_dirs", Value::List(call.states_dir.iter().map(|directory| path(directory)).collect()));
    }
    // The names of the host are looked up, which takes a moment: only where they are needed.
    let names = if config.text("id").is_empty() { Names::of_this_host() } else { Names::default() };
    config.resolve_id(&names, KeepId::No)?;
    Ok(config)
}

/// The way of this call to the master.
enum Way {
    Daemon(MinionSocket),
    Own(Box<OwnSession>),
    /// `--local`: there is no master.
    None,
}

impl Way {
    fn master(&self) -> &dyn Master {
        match self {
            Way::Daemon(socket) => socket,
            Way::Own(session) => session.as_ref(),
            Way::None => &NoMaster,
        }
    }

    /// Tells the master of the answer. It lies in the minion's spool first: where the master is away for now, the
    /// daemon sends it.
    fn tell(&self, cachedir: &Path, ret: &Return) {
        let told = match self {
            Way::Daemon(socket) => spooled(cachedir, ret)
                .and_then(|_| socket.ask(&MinionAsk::Deliver(ret.jid.clone())).map_err(|fault| fault.to_string())),
            Way::Own(session) => {
                spooled(cachedir, ret).and_then(|(spool, jid)| session.deliver(ret).map(|()| spool.remove(&jid)))
            }
            Way::None => Ok(()),
        };
        if let Err(why) = told {
            log::warn!("the master is not told of this call now: {why}");
        }
    }
}

fn spooled(cachedir: &Path, ret: &Return) -> Result<(Spool, Jid), String> {
    let jid = Jid::parse(&ret.jid).map_err(|error| error.to_string())?;
    let opened = Spool::open(cachedir).and_then(|spool| spool.put(&jid, ret).map(|()| spool));
    opened.map(|spool| (spool, jid)).map_err(|error| format!("{}: {error}", cachedir.display()))
}

fn job(line: &SaltCallLine, called: &Called) -> Job {
    Job {
        jid: Jid::now().as_str().to_owned(),
        fun: called.fun.as_str().into(),
        arg: called.arguments.to_published(),
        tgt: "salt-call".into(),
        tgt_type: "glob".to_owned(),
        ret: line.call.returner.clone().unwrap_or_default(),
        metadata: line.call.set_metadata.as_deref().map(super::cli::arguments::value),
        ..Job::default()
    }
}

fn full(job: &Job, returned: Returned) -> Return {
    let retcode = i64::from(modules::exit_code(&returned));
    Return {
        jid: job.jid.clone(),
        fun: job.fun.clone(),
        fun_args: job.arg.clone(),
        value: returned.value,
        retcode,
        success: retcode == 0,
        out: returned.out.map(str::to_owned),
        metadata: job.metadata.clone(),
        ..Return::default()
    }
}

/// Gives the answer to the returners that were asked for.
fn hand_on(line: &SaltCallLine, opts: &Map, ret: &Return) -> Result<(), Trouble> {
    let disabled = opts.at("disable_returners").and_then(Value::as_list).unwrap_or_default();
    for name in line.call.returner.iter().flat_map(|names| names.split(',')).filter(|name| !name.is_empty()) {
        // Every answer goes to the master's job cache.
        if name == returners::JOB_CACHE {
            continue;
        }
        if name != returners::LOCAL {
            let message = format!("--return {name}: this version has no such returner; the answer was shown only");
            return Err(Trouble::new(Exit::Unavailable, message));
        }
        if disabled.iter().any(|other| other.as_str() == Some(name)) {
            let message = format!("--return {name}: disable_returners takes it away; the answer was shown only");
            return Err(Trouble::new(Exit::Unavailable, message));
        }
        let id = opts.str_at("id").unwrap_or_default();
        let text = Value::Map(described(id, ret, true)).repr();
        print(&(text + "\n")).map_err(Trouble::unprintable)?;
    }
    Ok(())
}

fn show(line: &SaltCallLine, id: &str, ret: &Return, display: &mut Display) -> Result<(), DisplayError> {
    let retcode = i32::try_from(ret.retcode).unwrap_or(1);
    if line.call.metadata {
        let all = described(id, ret, false);
        return display.show(&Map::from_iter([("local", all)]).into(), Some("nested"), retcode);
    }
    let answer = Map::from_iter([("local", ret.value.clone())]);
    display.show(&answer.into(), ret.out.as_deref(), retcode)
}

/// A return as returners get it, and as `--metadata` shows it.
fn described(id: &str, ret: &Return, with_success: bool) -> Map {
    let mut all = Map::from_iter([
        ("jid", Value::from(&ret.jid)),
        ("return", ret.value.clone()),
        ("retcode", ret.retcode.into()),
        ("id", id.into()),
        ("fun", ret.fun.clone()),
        ("fun_args", Value::List(ret.fun_args.clone())),
    ]);
    if let Some(out) = &ret.out {
        all.insert("out", out.as_str());
    }
    if let Some(metadata) = &ret.metadata {
        all.insert("metadata", metadata.clone());
    }
    if with_success {
        all.insert("success", ret.success);
    }
    all
}

/// Says why a function failed.
fn failed(fun: &str, fault: &Fault) -> Exit {
    let told = fault.told(fun);
    complain(told.stderr.trim_end_matches('\n'));
    // That it cannot be printed is the lesser trouble.
    let _ = print(&told.stdout);
    match told.exit_code {
        code if code == i32::from(Exit::UnknownFunction.code()) => Exit::UnknownFunction,
        _ if matches!(fault, Fault::Internal(_)) => Exit::Internal,
        _ => Exit::Failed,
    }
}

/// `--doc`: what `sys.doc` says.
fn documented(line: &SaltCallLine, opts: &Map) -> Result<Exit, Trouble> {
    let (nothing, call) = (Map::new(), Default::default());
    let ctx = halite_core::Ctx {
        host: &Machine,
        master: &NoMaster,
        functions: &modules::FUNCTIONS,
        grains: &nothing,
        pillar: &nothing,
        opts,
        call: &call,
        cancelled: &AtomicBool::new(false),
        scratch: Default::default(),
        audience: Default::default(),
    };
    let wanted = line.words.first().cloned();
    let docs = ctx
        .run("sys.doc", Arguments::positional(wanted.clone()))
        .map_err(|fault| Trouble::new(Exit::Internal, fault))?;
    let Some(docs) = docs.as_map().filter(|docs| !docs.is_empty()) else {
        let message = format!("there is no function '{}': salt-call --doc names all", wanted.unwrap_or_default());
        return Err(Trouble::new(Exit::UnknownFunction, message));
    };
    if line.output.out.is_some() {
        Display::new(&line.output, opts)?.show(&docs.clone().into(), None, 0)?;
        return Ok(Exit::Ok);
    }
    let text: String = docs.iter().map(|(name, text)| format!("{}:\n\n{}\n", name.to_text(), text.to_text())).collect();
    print(&text).map_err(Trouble::unprintable)?;
    Ok(Exit::Ok)
}
