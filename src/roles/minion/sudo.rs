//! `sudo_user`: a minion that runs as an ordinary account has each function of a job called by `salt-call`, as the account
//! that sudo(8) lets it be.

use super::execute::World;
use halite_core::host::{Command, Host};
use halite_core::{Reply, Returned};
use halite_value::fault::Fault;
use halite_value::record::Arguments;
use halite_value::{Map, Value, parse_json};
use std::path::Path;

/// The account that jobs are done as; nothing: the minion's own.
pub fn user(opts: &Map) -> Option<&str> {
    opts.str_at("sudo_user").filter(|name| !name.is_empty())
}

/// Has a function called as this account.
pub fn call(world: &World, user: &str, fun: &str, arguments: &Arguments) -> Reply {
    if world.host.which("sudo").is_none() {
        return Err(Fault::execution(format!("sudo_user is '{user}', and there is no sudo on this host")));
    }
    let argv = command_line(world.host, world.opts, user, fun, arguments)?;
    let done = world.host.run(&Command { argv, ..Command::default() });
    let done = done.map_err(|error| Fault::execution(format!("sudo: {error}")))?;
    let text = String::from_utf8_lossy(&done.stdout);
    // What failed in the function has its answer too; what failed before it, at sudo or in the configuration, has none.
    let told = parse_json(text.trim()).ok();
    let Some(Value::Map(told)) = told.as_ref().and_then(|told| told.at("local")) else {
        let complaint = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        return Ok(Returned::from(Value::from(complaint)).with_retcode(if done.code == 0 { 1 } else { done.code }));
    };
    let retcode = told.at("retcode").and_then(Value::as_int).and_then(|code| i32::try_from(code).ok()).unwrap_or(0);
    Ok(Returned::from(told.at("return").cloned().unwrap_or_default()).with_retcode(retcode))
}

fn command_line(
    host: &dyn Host,
    opts: &Map,
    user: &str,
    fun: &str,
    arguments: &Arguments,
) -> Result<Vec<String>, Fault> {
    if user.starts_with('-') || fun.starts_with('-') {
        return Err(Fault::invocation("sudo_user: neither an account nor a function begins with a hyphen"));
    }
    // sudo's rules name programs: salt-call, where it is installed.
    let program = match host.which("salt-call") {
        Some(path) => vec![path.to_string_lossy().into_owned()],
        None => {
            let own = std::env::current_exe().map_err(|error| Fault::execution(format!("salt-call: {error}")))?;
            vec![own.to_string_lossy().into_owned(), "salt-call".to_owned()]
        }
    };
    let mut argv = vec!["sudo".to_owned(), "-n".to_owned(), "-u".to_owned(), user.to_owned(), "--".to_owned()];
    argv.extend(program);
    // The minion itself returns the answer.
    argv.extend(["--priv", user, "--out", "json", "--metadata", "--no-return-event"].map(str::to_owned));
    if let Some(directory) = opts.str_at("conf_file").and_then(|file| Path::new(file).parent()) {
        argv.extend(["-c".to_owned(), directory.to_string_lossy().into_owned()]);
    }
    argv.extend(["--".to_owned(), fun.to_owned()]);
    argv.extend(arguments.positional.iter().map(word));
    argv.extend(arguments.keywords.iter().map(|(name, value)| format!("{}={}", name.to_text(), word(value))));
    Ok(argv)
}

/// A value as a word of a command line that is read as this value. A text is quoted as YAML quotes it, so that it is
/// neither a number nor `name=value`.
fn word(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        // A number sign in a word keeps the quotation marks on it.
        text @ Value::Str(_) => text.to_json().replace('#', "\\u0023"),
        other => other.to_json(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::arguments;
    use crate::minion::execute::execute;
    use halite_core::NoMaster;
    use halite_core::host::Finished;
    use halite_core::host::fake::Fake;
    use halite_wire::message::{Job, Return};
    use std::sync::atomic::AtomicBool;

    const CALL: [&str; 18] = [
        "sudo",
        "-n",
        "-u",
        "root",
        "--",
        "/usr/bin/salt-call",
        "--priv",
        "root",
        "--out",
        "json",
        "--metadata",
        "--no-return-event",
        "-c",
        "/etc/salt",
        "--",
        "test.arg",
        "\"5\"",
        "a=[1, \"x\"]",
    ];

    fn done(host: Fake) -> Return {
        let opts = Map::from_iter([("sudo_user", "root"), ("conf_file", "/etc/salt/minion")]);
        let (nothing, cancelled) = (Map::new(), AtomicBool::new(false));
        let world = World {
            host: &host,
            master: &NoMaster,
            grains: &nothing,
            pillar: &nothing,
            opts: &opts,
            cancelled: &cancelled,
        };
        let keywords =
            Map::from_iter([("__kwarg__", Value::from(true)), ("a", Value::List(vec![1.into(), "x".into()]))]);
        execute(&world, &Job { fun: "test.arg".into(), arg: vec!["5".into(), keywords.into()], ..Job::default() })
    }

    #[test]
    fn a_function_is_called_as_the_account_and_its_answer_is_the_jobs() {
        let host = || Fake::new().program("/usr/bin/sudo").program("/usr/bin/salt-call");
        let answer = r#"{"local": {"return": {"x": 1}, "retcode": 3}}"#;
        let ret = done(host().answers(CALL, answer));
        assert_eq!((ret.value.to_json().as_str(), ret.retcode), (r#"{"x": 1}"#, 3));
        let refused = Finished { code: 1, stderr: b"sudo: a password is required\n".to_vec(), ..Finished::default() };
        let ret = done(host().command(CALL, refused));
        assert_eq!((ret.value, ret.retcode), ("sudo: a password is required".into(), 1));
        assert!(done(Fake::new()).value.to_text().contains("there is no sudo on this host"));
    }

    #[test]
    fn words_come_back_as_the_values_that_they_were() {
        for value in [
            Value::from("5"),
            "a=b".into(),
            "a # b".into(),
            "#".into(),
            "line\nnext \"x\" \\ ü €".into(),
            "".into(),
            "None".into(),
            "{a: 1}".into(),
            Value::Null,
            true.into(),
            1.5.into(),
            Value::list(["a#", "1"]),
            Map::from_iter([("k", "v # w")]).into(),
        ] {
            let read = arguments(&[word(&value), format!("k={}", word(&value))], &[]);
            assert_eq!(read.positional.first(), Some(&value), "{value}");
            assert_eq!(read.keywords.at("k"), Some(&value), "{value}");
        }
    }
}
