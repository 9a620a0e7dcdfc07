//! The program `salt-minion`: from its configuration to a minion that serves.

use super::Minion;
use super::settings::Settings;
use super::supervisor::supervise;
use crate::exec::grains;
use crate::exec::host::Machine;
use crate::roles::cli::Exit;
use crate::roles::cli::salt_daemon::MINION;
use crate::roles::config::{Config, MinionOptions, Role};
use crate::roles::daemon::launch::Stage;
use crate::roles::daemon::{self, End, Failure, Life, Start};
use crate::wire::nng::{Family, Tcp};
use crate::wire::seal;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

pub fn run(args: &[String]) -> u8 {
    daemon::run(&MINION, Role::Minion, args, serve)
}

/// Under a supervisor, unless that is unwanted. Process 1 has one already: whoever started the container.
fn serve(start: &Start, life: &mut Life) -> Result<End, Failure> {
    let config = start.configure()?;
    let options = config.minion()?;
    start.settle(&config, &options.common, life)?;
    seal::start().map_err(|message| Failure::new(Exit::Internal, message))?;
    let alone = start.line.daemon.disable_keepalive || std::process::id() == 1;
    if start.origin.stage != Stage::Supervised && !alone {
        return supervise(start, life, options.random_reauth_delay);
    }
    let settings = prepare(&config, &options);
    let transport = Rc::new(Tcp { patience: settings.auth_timeout, family: Family::V4First });
    let end = daemon::serve(life, |executor| {
        let running = Minion::start(executor, settings, transport)?;
        let restart = running.minion.restart_asked();
        Ok((running, restart))
    });
    log::info!("the minion stops");
    end
}

fn prepare(config: &Config, options: &MinionOptions) -> Settings {
    let common = &options.common;
    let finger = Some(options.master_finger.clone()).filter(|finger| !finger.is_empty());
    Settings {
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
        opts: Arc::new(config.opts.clone()),
        grains: Arc::new(grains::collect(&Machine, &config.opts)),
    }
}
