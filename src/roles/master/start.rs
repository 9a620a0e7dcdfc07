//! The program `salt-master`: from its configuration to a master that serves.

use super::Master;
use super::acl::Acl;
use super::autosign::Autosign;
use super::settings::{Events, Settings};
use super::trust::{Automatic, ListRule, Rules};
use crate::exec::host::{Host, Machine};
use crate::keys::store::PENDING_MAX;
use crate::roles::cli::Exit;
use crate::roles::cli::salt_daemon::{DaemonLine, MASTER};
use crate::roles::config::id::Names;
use crate::roles::config::{Config, KeepId, MasterOptions, Role, Surroundings};
use crate::roles::daemon::{Ear, Told, make_folder};
use crate::wire::seal;
use crate::wire::value::Value;
use smol::LocalExecutor;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

/// How long a minion may stay away before a job that it has taken is lost.
const LOST_AFTER: Duration = Duration::from_secs(600);

pub fn run(args: &[String]) -> u8 {
    match DaemonLine::read(&MASTER, args) {
        Ok(line) => serve(&line).code(),
        Err(stop) => stop.report("salt-master").code(),
    }
}

fn serve(line: &DaemonLine) -> Exit {
    let around = Surroundings::of_process(line.common.config_dir.clone());
    let loaded = Config::load(Role::Master, &around).and_then(|mut config| {
        config.resolve_id(&Names::of_this_host(), KeepId::No)?;
        Ok(config)
    });
    let config = match loaded {
        Ok(config) => config,
        Err(error) => return fail(Exit::Configuration, error),
    };
    crate::roles::logging::start(&config, &line.logging);
    match config.master().map_err(|error| error.to_string()).and_then(|options| prepare(&config, &options)) {
        Ok(settings) => serve_with(settings),
        Err(message) => fail(Exit::Configuration, message),
    }
}

fn serve_with(settings: Settings) -> Exit {
    let served = smol::block_on(async {
        let mut ear = Ear::open()?;
        let executor = Rc::new(LocalExecutor::new());
        executor
            .run(async {
                let _running = Master::start(&executor, settings)?;
                while ear.next().await == Told::Reload {
                    log::logger().flush();
                }
                log::info!("the master stops");
                Ok::<(), String>(())
            })
            .await
    });
    match served {
        Ok(()) => Exit::Ok,
        Err(message) => fail(Exit::Failed, message),
    }
}

fn prepare(config: &Config, options: &MasterOptions) -> Result<Settings, String> {
    seal::start()?;
    let common = &options.common;
    for folder in [&common.pki_dir, &common.cachedir, &common.sock_dir] {
        make_folder(folder)?;
    }
    let interface = options.interface.trim_matches(['[', ']']);
    let on = |on: bool| if on { Events::On } else { Events::Off };
    let automatic = |on: bool| if on { Automatic::Yes } else { Automatic::No };
    let name_of = |uid| Machine.user_by_uid(uid).ok().flatten().map(|user| user.name);
    let groups = Machine.user(&common.user).ok().flatten().map(|user| user.groups).unwrap_or_default();
    let autosign = Autosign::new(&config.opts, &common.pki_dir, groups);
    let lists: ListRule = Box::new(move |id, grains| autosign.judge(id, grains, SystemTime::now()));
    Ok(Settings {
        id: config.opts.str_at("id").filter(|id| !id.is_empty()).unwrap_or("master").to_owned(),
        interface: interface.parse().map_err(|_| format!("interface: '{interface}' is not an address"))?,
        publish_port: options.publish_port,
        ret_port: options.ret_port,
        sock_dir: common.sock_dir.clone(),
        cachedir: common.cachedir.clone(),
        pki_dir: common.pki_dir.clone(),
        rules: Rules {
            auto_accept: automatic(options.auto_accept),
            open_mode: automatic(options.open_mode),
            lists: Some(lists),
        },
        acl: Acl::new(rustix::process::geteuid().as_raw(), &config.opts, Box::new(name_of)),
        presence_events: on(options.presence_events),
        keep_events: on(config.opts.at("event_return").is_some_and(Value::truthy)),
        keep_jobs: options.keep_jobs,
        loop_interval: common.loop_interval.max(Duration::from_secs(1)),
        lost_after: LOST_AFTER,
        pending_max: PENDING_MAX,
        max_event_size: common.max_event_size,
        opts: config.opts.clone(),
    })
}

fn fail(exit: Exit, message: impl std::fmt::Display) -> Exit {
    eprintln!("salt-master: error: {message}");
    exit
}
