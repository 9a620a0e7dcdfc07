//! What is run on hosts with each of the managers.

use crate::testing::World;
use halite_core::context::NoMaster;
use halite_core::host::Finished;
use halite_core::host::fake::Fake;
use halite_core::module::call;
use halite_value::Value;
use halite_value::record::Arguments;

const CTL: &str = "/usr/bin/systemctl";

fn run(world: &World, fun: &str, words: &[&str]) -> Result<Value, String> {
    let arguments = Arguments::positional(words.iter().copied());
    call(&world.ctx(&NoMaster), fun, arguments).map(|told| told.value).map_err(|fault| fault.to_string())
}

fn failed(code: i32, stderr: &str) -> Finished {
    Finished { code, stderr: stderr.as_bytes().to_vec(), ..Finished::default() }
}

fn systemd() -> Fake {
    let host = Fake::new().program(CTL).directory("/run/systemd/system").file("/lib/systemd/system/ssh.service", "");
    host.file("/lib/systemd/system/a.socket", "").file("/lib/systemd/system/x.conf", "").program("/etc/init.d/old")
}

#[test]
fn systemd_starts_what_it_knows() {
    let host = systemd()
        .answers([CTL, "status", "ssh.service", "-n", "0"], "ok")
        .answers([CTL, "start", "ssh.service"], "")
        .command([CTL, "restart", "ssh.service"], failed(1, "Job failed\nRunning as unit: run-1.scope"))
        .command([CTL, "is-active", "ssh.service"], failed(3, ""))
        .answers([CTL, "is-enabled", "ssh.service"], "enabled");
    let world = World::on(host);
    assert_eq!(run(&world, "service.start", &["ssh"]), Ok(true.into()));
    assert_eq!(run(&world, "service.restart", &["ssh"]), Err("Job failed".to_owned()));
    assert_eq!(run(&world, "service.status", &["ssh"]), Ok(false.into()));
    assert_eq!(run(&world, "service.enabled", &["ssh"]), Ok(true.into()));
    assert_eq!(run(&world, "service.available", &["ssh"]), Ok(true.into()));
    assert_eq!(run(&world, "service.get_all", &[]), Ok(Value::list(["a.socket", "old", "ssh"])));
}

#[test]
fn a_unit_that_was_changed_is_read_first() {
    let host = systemd()
        .answers([CTL, "status", "ssh.service", "-n", "0"], "Warning: run 'systemctl daemon-reload'")
        .answers([CTL, "--system", "daemon-reload"], "")
        .answers([CTL, "stop", "ssh.service"], "");
    let world = World::on(host);
    assert_eq!(run(&world, "service.stop", &["ssh"]), Ok(true.into()));
    let ran: Vec<String> = world.host.ran().iter().map(|command| command.argv[1..].join(" ")).collect();
    assert_eq!(ran, ["status ssh.service -n 0", "--system daemon-reload", "stop ssh.service"]);
}

#[test]
fn openrc_knows_levels() {
    let host = Fake::new()
        .program("/sbin/rc-service")
        .env("PATH", "/sbin")
        .answers(["rc-service", "--list"], "sshd\n crond \n")
        .answers(["rc-update", "show", "--all"], "  sshd | default\n  crond |\n")
        .answers(["rc-update", "add", "crond", "boot"], "")
        .command(["rc-service", "sshd", "status"], failed(3, ""));
    let world = World::on(host);
    assert_eq!(run(&world, "service.get_all", &[]), Ok(Value::list(["crond", "sshd"])));
    assert_eq!(run(&world, "service.get_enabled", &[]), Ok(Value::list(["sshd"])));
    assert_eq!(run(&world, "service.get_disabled", &[]), Ok(Value::list(["crond"])));
    assert_eq!(run(&world, "service.status", &["s*"]).unwrap().to_json(), r#"{"sshd": false}"#);
    let arguments = Arguments::positional(["crond"]).with("runlevel", "boot");
    assert_eq!(call(&world.ctx(&NoMaster), "service.enable", arguments).unwrap().value, true.into());
    assert!(run(&world, "service.mask", &["sshd"]).unwrap_err().contains("no systemd"));
}

#[test]
fn init_scripts_are_run_by_service() {
    let host = Fake::new()
        .program("/etc/init.d/cron")
        .file("/etc/init.d/README", "")
        .file("/etc/rc2.d/S01cron", "")
        .program("/usr/bin/service")
        .answers(["runlevel"], "N 2")
        .answers(["/usr/bin/service", "cron", "start"], "")
        .answers(["update-rc.d", "cron", "disable"], "");
    let world = World::on(host);
    assert_eq!(run(&world, "service.start", &["cron"]), Ok(true.into()));
    assert_eq!(run(&world, "service.get_all", &[]), Ok(Value::list(["cron"])));
    assert_eq!(run(&world, "service.enabled", &["cron"]), Ok(true.into()));
    assert_eq!(run(&world, "service.disable", &["cron"]), Ok(true.into()));
    assert!(run(&world, "service.start", &["../x"]).is_err());
}
