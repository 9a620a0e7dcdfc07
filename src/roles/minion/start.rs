//! The program `salt-minion`: from its configuration to a minion that serves.

use super::Minion;
use super::channel::spread;
use super::settings::{Keeper, Place, Settings};
use super::supervisor::supervise;
use crate::cli::Exit;
use crate::cli::salt_daemon::MINION;
use crate::config::{Config, MinionOptions, Role};
use crate::daemon;
use crate::daemon::launch::{Stage, ToParent};
use crate::daemon::pages::let_go_of_code;
use crate::daemon::{End, Failure, Life, Start};
use halite_core::host::Machine;
use halite_node::grains;
use halite_value::{Map, Value};
use halite_wire::handshake::Purpose;
use halite_wire::nng::{Family, Keepalive, Tcp};
use halite_wire::seal;
use smol::Timer;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// How long a connection may take: a name is resolved anew for the next one.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// How long after its first session a minion has told what it has to tell.
const SETTLED: Duration = Duration::from_secs(3);

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
        let longest = options.random_reauth_delay;
        drop((config, options));
        return supervise(start, life, longest);
    }
    check_master_type(&config, &options)?;
    let mut settings = prepare(&config, &options, grains::known(&Machine, &config.opts));
    let keeper = life.parent();
    if keeper.is_some() {
        settings.keeper = Keeper::Supervisor;
    }
    let transport = Rc::new(transport(&options));
    let end = daemon::serve(life, |executor| {
        let running = Minion::start(executor, settings, transport)?;
        executor.spawn(settle(running.minion.clone(), keeper)).detach();
        let restart = running.minion.restart_asked();
        Ok((running, restart))
    });
    log::info!("the minion stops");
    end
}

/// Once the start is over: the supervisor hears that there is a session, and memory is spared. A minion that waits is in
/// little of the program, and a start runs through much of it.
async fn settle(minion: Rc<Minion>, keeper: Option<ToParent>) {
    minion.connected().await;
    if let Some(mut keeper) = keeper {
        keeper.connected();
    }
    Timer::after(SETTLED).await;
    drop(minion);
    let_go_of_code();
}

/// What the parts of a minion need of its configuration.
pub fn prepare(config: &Config, options: &MinionOptions, grains: Map) -> Settings {
    let common = &options.common;
    let set = |option: &str| config.origins.contains_key(option);
    // Salt waits up to `recon_max` more where this is on, which is the default. Here every pause has a random part
    // anyway, and the master says when it is too busy: only who asks for it gets the longer one.
    let more = match options.recon_randomize && set("recon_randomize") {
        true => Duration::from_millis(spread(options.recon_max.as_millis() as u64)),
        false => Duration::ZERO,
    };
    let finger = Some(options.master_finger.clone()).filter(|finger| !finger.is_empty());
    let number = |name: &str, default: u64| {
        config.opts.at(name).and_then(Value::as_float).map_or(default, |number| number.clamp(1.0, 1e5) as u64)
    };
    Settings {
        id: common.id.clone(),
        masters: masters(config, options),
        jobs_at_once: options.process_count_max,
        pki_dir: common.pki_dir.clone(),
        cachedir: common.cachedir.clone(),
        sock_dir: Some(common.sock_dir.clone()),
        finger,
        acceptance_wait: options.acceptance_wait_time,
        acceptance_wait_max: options.acceptance_wait_time_max.max(options.acceptance_wait_time),
        reconnect: options.recon_default + more,
        reconnect_max: options.recon_max.max(options.recon_default + more),
        startup_delay: options.random_startup_delay,
        ping_interval: options.ping_interval,
        max_event_size: common.max_event_size,
        auth_timeout: options.auth_timeout.max(Duration::from_secs(1)),
        reauth_delay: set("random_reauth_delay").then_some(options.random_reauth_delay),
        purpose: Purpose::Jobs,
        keeper: Keeper::Nobody,
        file_timeout: Duration::from_secs(number("request_channel_timeout", 60))
            * u32::try_from(number("request_channel_tries", 3)).unwrap_or(1),
        opts: Arc::new(config.opts.clone()),
        grains: Arc::new(grains),
    }
}

/// The masters, in the order in which they are tried.
fn masters(config: &Config, options: &MinionOptions) -> Vec<Place> {
    let mut masters: Vec<Place> = options.masters.iter().map(|text| Place::read(text, options.master_port)).collect();
    if config.truth("random_master") || config.truth("master_shuffle") {
        masters.sort_by_cached_key(|_| spread(u64::MAX));
    }
    masters
}

/// Whether the list of masters is used in a way that is here.
fn check_master_type(config: &Config, options: &MinionOptions) -> Result<(), Failure> {
    match options.master_type.as_str() {
        "str" | "standard" | "failover" | "distributed" => {}
        other @ ("disable" | "func") => {
            let message = format!("master_type: {other} is not part of this version");
            return Err(Failure::new(Exit::Unavailable, message));
        }
        _ => return Err(config.fault("master_type", "wants str, failover, distributed, disable or func").into()),
    }
    if options.masters.len() > 1 && options.master_type == "str" {
        log::warn!("of several masters this version is connected to one at a time, as with master_type: failover");
    }
    Ok(())
}

/// How a minion reaches its master.
pub fn transport(options: &MinionOptions) -> Tcp {
    let common = &options.common;
    Tcp {
        timeout: options.auth_timeout.clamp(Duration::from_secs(1), CONNECT_TIME),
        family: match common.ipv6 {
            Some(true) => Family::V6,
            Some(false) => Family::V4,
            None => Family::Any,
        },
        keepalive: if common.keepalive.on { Keepalive::On } else { Keepalive::Off },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn prepared(lines: &str) -> (Settings, Tcp) {
        let text = format!("id: web1\nmaster: 127.0.0.1\n{lines}");
        let config = Config::from_text(Role::Minion, &text, Path::new("/etc/salt/minion")).unwrap();
        let options = config.minion().unwrap();
        (prepare(&config, &options, Map::new()), transport(&options))
    }

    #[test]
    fn a_use_of_masters_that_is_not_there_is_refused() {
        let checked = |lines: &str| {
            let text = format!("id: web1\nmaster: [a, b]\n{lines}");
            let config = Config::from_text(Role::Minion, &text, Path::new("/etc/salt/minion")).unwrap();
            check_master_type(&config, &config.minion().unwrap()).map_err(|failure| failure.exit)
        };
        assert_eq!(checked("master_type: failover"), Ok(()));
        assert_eq!(checked("master_type: func"), Err(Exit::Unavailable));
        assert_eq!(checked("master_type: two"), Err(Exit::Configuration));
        let (settings, _) = prepared("random_master: True\nmaster_port: 7");
        assert_eq!(settings.masters, [Place { host: "127.0.0.1".to_owned(), port: 7 }]);
    }

    #[test]
    fn times_mean_what_they_mean_in_salt() {
        let seconds = Duration::from_secs;
        let (settings, transport) = prepared("");
        assert_eq!((settings.reconnect, settings.reconnect_max), (seconds(1), seconds(10)));
        assert_eq!((settings.acceptance_wait, settings.acceptance_wait_max), (seconds(10), seconds(10)));
        assert_eq!((settings.ping_interval, settings.startup_delay), (Duration::ZERO, Duration::ZERO));
        assert_eq!((settings.reauth_delay, settings.max_event_size), (None, 1_048_576));
        assert_eq!((transport.family, transport.keepalive), (Family::Any, Keepalive::On));
        let (settings, transport) = prepared(
            "recon_default: 200\nrecon_max: 900\nacceptance_wait_time: 3\nacceptance_wait_time_max: 60\n\
             ping_interval: 2\nrandom_reauth_delay: 90\nauth_timeout: 2\nipv6: False\ntcp_keepalive: False\n",
        );
        assert_eq!(settings.reconnect, Duration::from_millis(200));
        assert_eq!(settings.reconnect_max, Duration::from_millis(900));
        assert_eq!((settings.acceptance_wait, settings.acceptance_wait_max), (seconds(3), seconds(60)));
        assert_eq!((settings.ping_interval, settings.reauth_delay), (seconds(120), Some(seconds(90))));
        assert_eq!((settings.auth_timeout, transport.timeout), (seconds(2), seconds(2)));
        assert_eq!((transport.family, transport.keepalive), (Family::V4, Keepalive::Off));
        let (settings, transport) = prepared("recon_randomize: True\nipv6: True\nauth_timeout: 100\n");
        assert!(settings.reconnect >= seconds(1) && settings.reconnect < seconds(11));
        assert!(settings.reconnect_max >= settings.reconnect);
        assert_eq!((transport.family, transport.timeout), (Family::V6, CONNECT_TIME));
    }
}
