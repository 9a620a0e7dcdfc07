//! The program `salt-minion`: from its configuration to a minion that serves.

use super::Minion;
use super::settings::Settings;
use crate::exec::grains;
use crate::exec::host::Machine;
use crate::roles::cli::Exit;
use crate::roles::cli::salt_daemon::{DaemonLine, MINION};
use crate::roles::config::id::Names;
use crate::roles::config::{Config, KeepId, MinionOptions, Role, Surroundings};
use crate::roles::daemon::{Ear, Told, make_folder};
use crate::wire::nng::{Family, Tcp};
use crate::wire::seal;
use smol::LocalExecutor;
use std::rc::Rc;
use std::time::Duration;

pub fn run(args: &[String]) -> u8 {
    match DaemonLine::read(&MINION, args) {
        Ok(line) => serve(&line).code(),
        Err(stop) => stop.report("salt-minion").code(),
    }
}

fn serve(line: &DaemonLine) -> Exit {
    let around = Surroundings::of_process(line.common.config_dir.clone());
    let mut config = match Config::load(Role::Minion, &around) {
        Ok(config) => config,
        Err(error) => return fail(Exit::Configuration, error),
    };
    crate::roles::logging::start(&config, &line.logging);
    let prepared =
        config.resolve_id(&Names::of_this_host(), KeepId::Yes).map_err(|error| error.to_string()).and_then(|_| {
            let options = config.minion().map_err(|error| error.to_string())?;
            prepare(&config, &options)
        });
    match prepared {
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
                let transport = Rc::new(Tcp { patience: settings.auth_timeout, family: Family::V4First });
                let _running = Minion::start(&executor, settings, transport)?;
                while ear.next().await == Told::Reload {
                    log::logger().flush();
                }
                log::info!("the minion stops");
                Ok::<(), String>(())
            })
            .await
    });
    match served {
        Ok(()) => Exit::Ok,
        Err(message) => fail(Exit::Failed, message),
    }
}

fn prepare(config: &Config, options: &MinionOptions) -> Result<Settings, String> {
    seal::start()?;
    let common = &options.common;
    for folder in [&common.pki_dir, &common.cachedir, &common.sock_dir] {
        make_folder(folder)?;
    }
    let finger = Some(options.master_finger.clone()).filter(|finger| !finger.is_empty());
    Ok(Settings {
        id: common.id.clone(),
        masters: options.masters.clone(),
        master_port: options.master_port,
        pki_dir: common.pki_dir.clone(),
        cachedir: common.cachedir.clone(),
        sock_dir: Some(common.sock_dir.clone()),
        finger,
        acceptance_wait: options.acceptance_wait_time,
        acceptance_wait_max: options.acceptance_wait_time_max.max(options.acceptance_wait_time),
        reconnect: options.recon_default.min(Duration::from_secs(1)),
        reconnect_max: options.recon_max.max(Duration::from_secs(1)),
        auth_timeout: options.auth_timeout.max(Duration::from_secs(5)),
        reauth_delay: options.random_reauth_delay.min(Duration::from_secs(1)),
        opts: config.opts.clone(),
        grains: grains::collect(&Machine, &config.opts),
    })
}

fn fail(exit: Exit, message: impl std::fmt::Display) -> Exit {
    eprintln!("salt-minion: error: {message}");
    exit
}
