//! The program `salt-master`: from its configuration to a master that serves.

use super::Master;
use super::acl::Acl;
use super::autosign::Autosign;
use super::settings::{Events, Settings};
use super::trust::{Automatic, ListRule, Rules};
use crate::cli::Exit;
use crate::cli::salt_daemon::MASTER;
use crate::config::{Config, MasterOptions, Role};
use crate::daemon;
use crate::daemon::limits::allow_open_files;
use crate::daemon::{End, Failure, Life, Start};
use halite_core::host::{Accounts, Machine};
use halite_keys::store::PENDING_MAX;
use halite_value::Value;
use halite_wire::link::Local;
use halite_wire::nng::Keepalive;
use halite_wire::seal;
use std::future::pending;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How long a minion may stay away before a job that it has taken is lost.
const LOST_AFTER: Duration = Duration::from_secs(600);

pub fn run(args: &[String]) -> u8 {
    daemon::run(&MASTER, Role::Master, args, serve)
}

fn serve(start: &Start, life: &mut Life) -> Result<End, Failure> {
    let config = start.configure()?;
    let options = config.master()?;
    start.settle(&config, &options.common, life)?;
    let wanted = options.max_open_files;
    let allowed = allow_open_files(wanted);
    if allowed < wanted {
        log::warn!("max_open_files is {wanted}, but this process may have {allowed} open");
    }
    let settings = prepare(&config, &options)?;
    let end =
        daemon::serve(life, |executor| Ok((Master::start(executor, settings)?, Box::pin(pending()) as Local<()>)));
    log::info!("the master stops");
    end
}

fn prepare(config: &Config, options: &MasterOptions) -> Result<Settings, Failure> {
    seal::start().map_err(|message| Failure::new(Exit::Internal, message))?;
    let common = &options.common;
    let on = |on: bool| if on { Events::On } else { Events::Off };
    let automatic = |on: bool| if on { Automatic::Yes } else { Automatic::No };
    let name_of = |uid| Machine.user_by_uid(uid).ok().flatten().map(|user| user.name);
    let groups = Machine.user(&common.user).ok().flatten().map(|user| user.groups).unwrap_or_default();
    let autosign = Autosign::new(&config.opts, &common.pki_dir, groups);
    let lists: ListRule = Box::new(move |id, grains| autosign.judge(id, grains, SystemTime::now()));
    Ok(Settings {
        id: config.opts.str_at("id").filter(|id| !id.is_empty()).unwrap_or("master").to_owned(),
        interface: interface(config, options)?,
        publish_port: options.publish_port,
        ret_port: options.ret_port,
        keepalive: if common.keepalive.on { Keepalive::On } else { Keepalive::Off },
        sock_dir: common.sock_dir.clone(),
        cachedir: common.cachedir.clone(),
        pki_dir: common.pki_dir.clone(),
        rules: Rules {
            auto_accept: automatic(options.auto_accept),
            open_mode: automatic(options.open_mode),
            lists: Some(lists),
        },
        acl: Acl::new(rustix::process::geteuid().as_raw(), &config.opts, Arc::new(name_of)),
        presence_events: on(options.presence_events),
        keep_events: on(config.opts.at("event_return").is_some_and(Value::truthy)),
        keep_jobs: options.keep_jobs,
        loop_interval: common.loop_interval.max(Duration::from_secs(1)),
        lost_after: LOST_AFTER,
        max_minions: usize::try_from(options.max_minions).unwrap_or(usize::MAX),
        pending_max: PENDING_MAX,
        max_event_size: common.max_event_size,
        opts: config.opts.clone(),
    })
}

/// The address to listen on. With `ipv6: True`, "everywhere" is everywhere of IPv6.
fn interface(config: &Config, options: &MasterOptions) -> Result<IpAddr, Failure> {
    let text = options.interface.trim_matches(['[', ']']);
    let address =
        text.parse().map_err(|_| config.fault("interface", format_args!("wants an address, not '{text}'")))?;
    match address {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) if options.common.ipv6 == Some(true) => Ok(Ipv6Addr::UNSPECIFIED.into()),
        address => Ok(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn listens_on(lines: &str) -> Result<IpAddr, Failure> {
        let config = Config::from_text(Role::Master, lines, Path::new("/etc/salt/master")).unwrap();
        interface(&config, &config.master().unwrap())
    }

    #[test]
    fn the_family_decides_where_everywhere_is() {
        for (lines, address) in [
            ("", "0.0.0.0"),
            ("ipv6: False", "0.0.0.0"),
            ("ipv6: True", "::"),
            ("ipv6: True\ninterface: 10.0.0.1", "10.0.0.1"),
            ("interface: '[::1]'", "::1"),
        ] {
            assert_eq!(listens_on(lines), Ok(address.parse().unwrap()), "{lines}");
        }
        let wrong = listens_on("a: 1\ninterface: eth0").unwrap_err();
        assert_eq!(wrong.exit, Exit::Configuration);
        assert!(wrong.message.contains("line 2") && wrong.message.contains("'eth0'"), "{}", wrong.message);
    }
}
