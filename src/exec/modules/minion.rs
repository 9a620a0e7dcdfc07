//! `minion.*`: the minion's daemon as a program that is ended and started anew.

use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::path::Path;
use std::time::Duration;

pub const MODULE: Module = Module {
    name: "minion",
    doc: "End the minion's daemon, or start it anew.",
    functions: &[function::<Kill>("kill"), function::<List>("list"), function::<Restart>("restart")],
};

const SIGTERM: i32 = 15;
/// How often a daemon that is to end is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// Salt's exit codes for what cannot be done, and for what takes too long.
const SOFTWARE: i64 = 70;
const TEMPFAIL: i64 = 75;

record! {
    /// Lists the keys that the master beside this minion knows, as `salt-key -L` does: file names by directory.
    ///
    ///   salt '*' minion.list
    pub struct List {}
}

impl Run for List {
    fn run(self, ctx: &Ctx) -> Reply {
        let pki_dir = ctx.opts.str_at("pki_dir").unwrap_or_default().replace("minion", "master");
        let names = |directory: &str| {
            let found = ctx.host.list(&Path::new(&pki_dir).join(directory)).unwrap_or_default();
            Value::list(found.into_iter().filter(|name| !name.starts_with('.')))
        };
        let directories = ["minions", "minions_pre", "minions_rejected", "minions_denied"];
        Ok(Map::from_iter(directories.map(|directory| (directory, names(directory)))).into())
    }
}

record! {
    /// Ends the minion's daemon, with its supervisor: nobody starts it again but whoever watches over services on the host.
    ///
    ///   salt '*' minion.kill
    pub struct Kill {
        /// Seconds in which it has to end.
        timeout: i64 = 15,
    }
}

impl Run for Kill {
    fn run(self, ctx: &Ctx) -> Reply {
        let (mut ret, comment) = killed(ctx, Duration::from_secs(self.timeout.max(0) as u64));
        if !comment.is_empty() {
            ret.insert("comment", Value::list(comment));
        }
        Ok(ret.into())
    }
}

record! {
    /// Starts the minion's daemon anew: by the command of `minion_restart_command`, after it has ended; else by systemd
    /// where that runs; else its supervisor does it.
    ///
    ///   salt '*' minion.restart
    pub struct Restart {
        /// Whether systemd may be used.
        systemd: bool = true,
        /// Taken, not used: there is no Windows below.
        win_service: bool = true,
        /// With systemd, have it look after a while whether the minion runs, and start it if not.
        schedule_retry: bool = false,
        /// Seconds until then.
        retry_delay: i64 = 180,
    }
}

impl Run for Restart {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut ret = Map::from_iter([
            ("killed", Value::Null),
            ("restart", Map::new().into()),
            ("service_restart", Map::new().into()),
            ("retcode", 0.into()),
        ]);
        let mut comment: Vec<String> = Vec::new();
        let command = restart_command(ctx)?;
        let has_systemd = self.systemd && ctx.host.stat(Path::new("/run/systemd/system")).is_ok();
        if !command.is_empty() {
            comment.push("Using configuration minion_restart_command:".to_owned());
            comment.extend(command.iter().map(|word| format!("    {word}")));
            by_command(ctx, command, &mut ret, &mut comment)?;
        } else if has_systemd {
            comment.push("Using systemctl to restart salt-minion".to_owned());
            self.by_systemd(ctx, &mut ret, &mut comment);
        } else {
            comment.push("The supervisor of the minion starts it anew".to_owned());
            if let Err(fault) = ctx.master.tell_minion("restart", Map::new()) {
                comment.push(fault.to_string());
                ret.insert("retcode", SOFTWARE);
            }
        }
        ret.insert("comment", Value::list(comment));
        Ok(ret.into())
    }
}

impl Restart {
    fn by_systemd(&self, ctx: &Ctx, ret: &mut Map, comment: &mut Vec<String>) {
        let mut service = Map::new();
        let scheduled = match self.schedule_retry {
            true => self.scheduled(ctx).map(|detail| {
                comment.push(format!("Scheduled retry for minion restart in {} seconds", self.retry_delay));
                service.insert(
                    "schedule_retry",
                    Map::from_iter([("detail", Value::from(detail)), ("delay", self.retry_delay.into())]),
                );
            }),
            false => Ok(()),
        };
        let restarted = scheduled.and_then(|()| {
            let keywords = Map::from_iter([("no_block", true)]);
            ctx.run("service.restart", Arguments { positional: vec!["salt-minion".into()], keywords })
        });
        match restarted {
            Ok(result) if result.truthy() => {
                comment.push("Service restart successful".to_owned());
                service.insert("result", result);
            }
            other => {
                comment.push("Service restart failed".to_owned());
                service.insert("result", false);
                service.insert("stderr", other.err().map(|fault| fault.to_string()).unwrap_or_default());
                ret.insert("retcode", SOFTWARE);
            }
        }
        ret.insert("service_restart", service);
    }

    /// What systemd-run says.
    fn scheduled(&self, ctx: &Ctx) -> Result<String, Fault> {
        let delay = format!("--on-active={}", self.retry_delay.max(0));
        let look = "systemctl is-active salt-minion || systemctl start salt-minion";
        let answer = Program::new(["systemd-run", &delay, "/bin/sh", "-c", look]).run(ctx)?;
        match answer.is_success() {
            true => Ok(answer.stderr),
            false => Err(Fault::execution(answer.complaint())),
        }
    }
}

/// The command of the configuration, as an argument list; one that is written as a text is split into words.
fn restart_command(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    let words = ctx.opts.at("minion_restart_command").and_then(Value::as_list).unwrap_or_default();
    match words {
        [Value::Str(line)] => halite_lang::words::split(line)
            .map_err(|problem| Fault::execution(format!("minion_restart_command: {problem}"))),
        words => Ok(words.iter().map(Value::to_text).collect()),
    }
}

fn by_command(ctx: &Ctx, command: Vec<String>, ret: &mut Map, comment: &mut Vec<String>) -> Result<(), Fault> {
    let (killed, why) = killed(ctx, Duration::from_secs(15));
    comment.extend(why);
    let has_ended = killed.at("retcode") == Some(&0.into());
    ret.extend(killed);
    if !has_ended {
        comment.push("Kill failed - not restarting".to_owned());
        return Ok(());
    }
    let answer = Program::new(command).run(ctx)?;
    if !answer.is_success() {
        comment.push("Restart failed".to_owned());
        ret.insert("retcode", i64::from(answer.retcode));
    }
    ret.insert("restart", Map::from_iter([("stdout", Value::from(answer.stdout)), ("stderr", answer.stderr.into())]));
    Ok(())
}

/// Ends the daemon and waits for that: what Salt answers, and what went wrong.
fn killed(ctx: &Ctx, time: Duration) -> (Map, Vec<String>) {
    let answer = |killed: Value, retcode: i64| Map::from_iter([("killed", killed), ("retcode", retcode.into())]);
    let Some(pid) = daemon(ctx) else {
        return (answer(Value::Null, SOFTWARE), vec!["The pid file names no running minion".to_owned()]);
    };
    if let Err(error) = ctx.host.kill(pid, SIGTERM) {
        return (answer(Value::Null, 1), vec![format!("process {pid}: {error}")]);
    }
    let mut waited = Duration::ZERO;
    while is_minion(ctx, pid) {
        if waited >= time {
            return (answer(Value::Null, TEMPFAIL), vec!["Timed out waiting for minion to exit".to_owned()]);
        }
        ctx.host.sleep(LOOK);
        waited += LOOK;
    }
    (answer(pid.into(), 0), Vec::new())
}

/// The process that ends the daemon when it ends. A pid file may be left over, and its number another process's.
fn daemon(ctx: &Ctx) -> Option<i32> {
    let text = ctx.host.read(Path::new(ctx.opts.str_at("pidfile")?)).ok()?;
    let pid = String::from_utf8_lossy(&text).trim().parse::<i32>().ok()?;
    Some(pid).filter(|pid| *pid > 1 && is_minion(ctx, *pid))
}

fn is_minion(ctx: &Ctx, pid: i32) -> bool {
    let line = ctx.host.read(Path::new(&format!("/proc/{pid}/cmdline"))).unwrap_or_default();
    String::from_utf8_lossy(&line).split('\0').any(|word| word.ends_with("salt-minion"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;

    /// A host whose minion is process 7; `opts` are more of its options.
    fn world(host: Fake, opts: &[(&str, Value)]) -> World {
        let mut world = World::on(host.file("/run/minion.pid", "7\n"));
        world.opts = Map::from_iter([("pidfile", "/run/minion.pid"), ("pki_dir", "/etc/salt/pki/minion")]);
        world.opts.extend(opts.iter().cloned().collect::<Map>());
        world
    }

    fn answer(world: &World, fun: &str) -> Value {
        call(&world.ctx(&NoMaster), fun, Arguments::default()).unwrap().value
    }

    #[test]
    fn another_process_than_the_minion_is_never_killed() {
        for line in ["sshd\0-D\0", ""] {
            let world = world(Fake::new().file("/proc/7/cmdline", line), &[]);
            assert_eq!(answer(&world, "minion.kill").at("retcode"), Some(&SOFTWARE.into()));
            assert!(world.host.killed().is_empty());
        }
    }

    #[test]
    fn a_minion_that_does_not_end_is_told_and_not_started_anew() {
        let host = || Fake::new().file("/proc/7/cmdline", "salt-minion\0-d\0");
        let world = world(host(), &[("minion_restart_command", Value::list(["/bin/start"]))]);
        let ret = answer(&world, "minion.restart");
        assert_eq!((ret.at("retcode"), ret.at("killed")), (Some(&TEMPFAIL.into()), Some(&Value::Null)));
        assert!(ret.at("comment").unwrap().to_text().contains("Kill failed - not restarting"));
        assert_eq!((world.host.killed(), world.host.ran().len()), (vec![(7, SIGTERM)], 0));
    }

    #[test]
    fn a_command_of_the_configuration_is_an_argument_list_or_a_line() {
        let words = |value: Value| {
            let world = world(Fake::new(), &[("minion_restart_command", value)]);
            restart_command(&world.ctx(&NoMaster)).unwrap()
        };
        assert_eq!(words(Value::list(["salt-minion", "-d"])), ["salt-minion", "-d"]);
        assert_eq!(words(Value::list(["salt-minion -c '/my conf'"])), ["salt-minion", "-c", "/my conf"]);
        assert!(words(Value::List(Vec::new())).is_empty());
    }

    #[test]
    fn without_a_command_or_systemd_it_is_the_supervisors_to_do() {
        let ret = answer(&world(Fake::new(), &[]), "minion.restart");
        assert!(ret.at("comment").unwrap().to_text().contains("The supervisor of the minion"), "{ret}");
        assert_eq!(ret.at("retcode"), Some(&SOFTWARE.into()), "there is no daemon to tell");
    }

    #[test]
    fn keys_of_the_master_beside_it_are_listed() {
        let host =
            Fake::new().file("/etc/salt/pki/master/minions/web1", "x").file("/etc/salt/pki/master/minions/.x", "");
        assert_eq!(
            answer(&world(host, &[]), "minion.list").to_json(),
            r#"{"minions": ["web1"], "minions_pre": [], "minions_rejected": [], "minions_denied": []}"#
        );
    }
}
