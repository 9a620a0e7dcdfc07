//! What minions have others do: jobs where the option `peer` lets them, runners where `peer_run` does.
//!
//! A question may come again after a broken connection, so it has a number of the minion's: the second one finds what the
//! first has begun.

use super::Master;
use super::acl::{entry_allows, full_match};
use super::jobs::Id;
use super::local::functions_of;
use crate::cli::arguments::arguments;
use halite_value::{Map, Value, parse_json};
use halite_wire::cbor;
use halite_wire::deadline::within;
use halite_wire::frame::FRAME_LIMIT;
use halite_wire::message::{Answer, LocalAnswer, PeerAnswer, PeerAsk, Publish};
use halite_wire::session::SessionId;
use smol::channel::{Receiver, bounded};
use std::collections::VecDeque;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// So many beginnings are remembered, for questions that come again.
const REMEMBERED: usize = 1024;
/// So many runners run at once for minions.
const RUNNERS: usize = 8;
/// One that takes longer counts no more: it must not keep others out for ever.
const RUN_TIME: Duration = Duration::from_secs(3600);
/// How long a question waits for news: well below the timeout of a minion's connection.
const WAIT: Duration = Duration::from_secs(2);
/// A runner's answer must fit into one of the master's.
const LONGEST: usize = FRAME_LIMIT - 8192;

/// What was begun for minions.
#[derive(Default)]
pub(super) struct PeerDesk {
    jobs: VecDeque<(Key, Begun)>,
    runs: VecDeque<(Key, Run)>,
}

/// Who asked, and the number of the question.
type Key = (Id, u64);

#[derive(Clone)]
struct Begun {
    jid: String,
    minions: Vec<String>,
}

#[derive(Clone)]
struct Run {
    value: Option<Value>,
    began: Instant,
    /// Closed when the runner has ended.
    ended: Receiver<()>,
}

impl Run {
    fn is_under_way(&self) -> bool {
        self.value.is_none() && self.began.elapsed() < RUN_TIME
    }
}

/// The user that a job of a minion is known by: no name of an account has a colon in it.
fn user_of(id: &Id) -> String {
    format!("peer:{id}")
}

impl Master {
    /// Nothing: the session has ended meanwhile.
    pub(super) async fn serve_peer(self: &Rc<Self>, sid: SessionId, ask: PeerAsk) -> Option<Answer> {
        let id = self.sessions.borrow().at(sid)?.id.clone();
        let answer = match ask {
            PeerAsk::Publish { number, fun, arg, tgt, tgt_type, ret } => {
                let functions = match fun.contains(',') {
                    true => Value::list(fun.split(',').map(str::trim)),
                    false => fun.into(),
                };
                let (tgt, tgt_type) = match tgt_type.as_str() {
                    "" => (tgt, "glob".to_owned()),
                    kind if kind.starts_with("node") => (tgt, "nodegroup".to_owned()),
                    _ => (tgt, tgt_type),
                };
                let several = matches!(functions, Value::List(_));
                let arg = if several { arg.iter().map(apart).collect() } else { read(&arg) };
                self.publish_for(&id, number, Publish { fun: functions, arg, tgt, tgt_type, ret, ..Publish::default() })
                    .await
            }
            PeerAsk::Wait { jid, seen } if self.jobs.borrow().user_of(&jid) == Some(user_of(&id).as_str()) => {
                match self.steps(&jid, seen, WAIT).await {
                    Some(steps) => PeerAnswer::Steps(Box::new(steps)),
                    None => PeerAnswer::Denied,
                }
            }
            PeerAsk::Wait { .. } => PeerAnswer::Denied,
            PeerAsk::Run { number, fun, arg } => self.run_for(&id, number, &fun, &arg).await,
        };
        self.sessions.borrow().at(sid)?;
        Some(Answer::Peer(answer))
    }

    async fn publish_for(self: &Rc<Self>, id: &Id, number: u64, publish: Publish) -> PeerAnswer {
        let key = (id.clone(), number);
        let begun = self.peers.borrow().jobs.iter().find(|(known, _)| *known == key).map(|(_, begun)| begun.clone());
        if let Some(Begun { jid, minions }) = begun {
            return PeerAnswer::Published { jid, minions };
        }
        if !may_publish(&self.settings.opts, id, &publish) {
            log::warn!("'{id}' may not have others run {} (peer)", functions_of(&publish).join(", "));
            return PeerAnswer::Denied;
        }
        match self.publish(&user_of(id), publish).await {
            LocalAnswer::Published { jid, minions, .. } => {
                let jobs = &mut self.peers.borrow_mut().jobs;
                jobs.push_back((key, Begun { jid: jid.clone(), minions: minions.clone() }));
                while jobs.len() > REMEMBERED {
                    jobs.pop_front();
                }
                PeerAnswer::Published { jid, minions }
            }
            LocalAnswer::Refused { message, .. } => {
                log::warn!("'{id}' has others do what cannot be done: {message}");
                PeerAnswer::Denied
            }
            _ => PeerAnswer::Denied,
        }
    }

    async fn run_for(self: &Rc<Self>, id: &Id, number: u64, fun: &str, arg: &[Value]) -> PeerAnswer {
        let key = (id.clone(), number);
        let known = |master: &Master| {
            master.peers.borrow().runs.iter().find(|(known, _)| *known == key).map(|(_, run)| run.clone())
        };
        if known(self).is_none() {
            if !may_run(&self.settings.opts, id, fun) {
                log::warn!("'{id}' may not have the runner {} called (peer_run)", fun.escape_debug());
                return PeerAnswer::Denied;
            }
            let under_way = self.peers.borrow().runs.iter().filter(|(_, run)| run.is_under_way()).count();
            if under_way >= RUNNERS {
                return PeerAnswer::Running;
            }
            self.begin_run(key.clone(), fun, arg);
        }
        if let Some(run) = known(self) {
            // It is closed at the runner's end.
            let _ = within(WAIT, run.ended.recv()).await;
        }
        match known(self).and_then(|run| run.value) {
            Some(value) => PeerAnswer::Returned(value),
            None => PeerAnswer::Running,
        }
    }

    /// Starts salt-run(1) in a process of its own: what a runner does holds up nobody here.
    fn begin_run(self: &Rc<Self>, key: Key, fun: &str, arg: &[Value]) {
        let (sender, ended) = bounded::<()>(1);
        {
            let runs = &mut self.peers.borrow_mut().runs;
            runs.push_back((key.clone(), Run { value: None, began: Instant::now(), ended }));
            // Those that are still under way are the last ones.
            while runs.len() > REMEMBERED && runs.front().is_some_and(|(_, run)| !run.is_under_way()) {
                runs.pop_front();
            }
        }
        let mut command = Command::new("/proc/self/exe");
        command.arg0("salt-run").args(["--saltfile", "/dev/null", "--out", "json", "--log-level", "quiet"]);
        if let Some(directory) = self.settings.opts.str_at("conf_file").and_then(|file| Path::new(file).parent()) {
            command.arg("-c").arg(directory);
        }
        command.args(["--", fun]).args(arg.iter().map(word)).stdin(Stdio::null()).process_group(0);
        let master = self.clone();
        let run = async move {
            let value = answered(smol::unblock(move || command.output()).await);
            if let Some((_, run)) = master.peers.borrow_mut().runs.iter_mut().find(|(known, _)| *known == key) {
                run.value = Some(value);
            }
            drop(sender);
        };
        self.executor.spawn(run).detach();
    }
}

/// What a runner's process has told.
fn answered(output: std::io::Result<std::process::Output>) -> Value {
    let output = match output {
        Ok(output) => output,
        Err(error) => return format!("the runner cannot be started: {error}").into(),
    };
    if output.stdout.len() > LONGEST {
        return format!("the runner's answer is longer than {LONGEST} bytes").into();
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let value = match parse_json(text.trim()) {
        Ok(value) => value,
        Err(_) if output.status.success() => text.trim().into(),
        Err(_) => String::from_utf8_lossy(&output.stderr).trim().to_owned().into(),
    };
    // What is shorter as JSON may be longer as CBOR.
    match cbor::size(&value) > LONGEST {
        true => format!("the runner's answer is longer than {LONGEST} bytes").into(),
        false => value,
    }
}

/// An argument as a word of a command line.
fn word(value: &Value) -> String {
    match value {
        Value::Str(text) => text.to_string(),
        Value::Null => "None".to_owned(),
        other => other.to_json(),
    }
}

/// Arguments as the command line reads them: `name=value` is a keyword.
fn read(arg: &[Value]) -> Vec<Value> {
    let mut positional = Vec::new();
    let mut keywords = Map::new();
    for value in arg {
        let Value::Str(text) = value else {
            positional.push(value.clone());
            continue;
        };
        let read = arguments(&[text.to_string()], &[]);
        positional.extend(read.positional);
        keywords.extend(read.keywords);
    }
    if !keywords.is_empty() {
        keywords.insert("__kwarg__", true);
        positional.push(keywords.into());
    }
    positional
}

/// The arguments of one of several functions: words.
fn apart(value: &Value) -> Value {
    let words: Vec<Value> = value.to_text().split_whitespace().map(Value::from).collect();
    Value::List(read(&words))
}

/// The entries of an option whose patterns mean this minion.
fn entries<'a>(opts: &'a Map, option: &str, id: &Id) -> Vec<&'a Value> {
    let patterns = opts.at(option).and_then(Value::as_map);
    let of = |(pattern, entries): (&Value, &'a Value)| {
        full_match(&pattern.to_text(), id).then(|| entries.as_list().unwrap_or_default().iter())
    };
    patterns.into_iter().flat_map(Map::iter).filter_map(of).flatten().collect()
}

fn may_publish(opts: &Map, id: &Id, publish: &Publish) -> bool {
    let entries = entries(opts, "peer", id);
    let functions = functions_of(publish);
    let allowed = |function: &String| {
        // Else a minion could have another one ask for more than it may itself.
        !function.starts_with("publish.") && entries.iter().any(|entry| entry_allows(entry, function, publish))
    };
    !functions.is_empty() && functions.iter().all(allowed)
}

fn may_run(opts: &Map, id: &Id, fun: &str) -> bool {
    let is_name = fun.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
    is_name && entries(opts, "peer_run", id).iter().any(|entry| full_match(&entry.to_text(), fun))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opts(json: &str) -> Map {
        match parse_json(json).unwrap() {
            Value::Map(opts) => opts,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_minion_may_what_the_options_say_and_nothing_else() {
        let opts = opts(
            r#"{"peer": {"web.*": ["test.*", {"db1": ["grains.items"]}], "all": "x"}, "peer_run": {"web1": ["manage.*"]}}"#,
        );
        let id = |name: &str| Id::from(name);
        let may = |name: &str, fun: Value, tgt: &str| {
            let publish = Publish { fun, tgt: tgt.into(), tgt_type: "glob".to_owned(), ..Publish::default() };
            may_publish(&opts, &id(name), &publish)
        };
        assert!(may("web1", "test.ping".into(), "*") && may("web1", "grains.items".into(), "db1"));
        assert!(!may("web1", "grains.items".into(), "*") && !may("web1", "cmd.run".into(), "*"));
        assert!(!may("db1", "test.ping".into(), "*") && !may("xweb1", "test.ping".into(), "*"));
        assert!(!may("web1", Value::list(["test.ping", "cmd.run"]), "*"));
        assert!(!may("web1", "publish.publish".into(), "*") && !may("all", "x".into(), "*"));
        assert!(may_run(&opts, &id("web1"), "manage.up") && !may_run(&opts, &id("web2"), "manage.up"));
        assert!(!may_run(&opts, &id("web1"), "jobs.list_jobs") && !may_run(&opts, &id("web1"), "manage.up; id"));
        assert!(!may_publish(&Map::new(), &id("web1"), &Publish { fun: "test.ping".into(), ..Publish::default() }));
    }

    #[test]
    fn arguments_are_read_as_on_a_command_line() {
        let read = |words: &[&str]| Value::List(read(Value::list(words.iter().copied()).as_list().unwrap())).to_json();
        assert_eq!(read(&["a", "5", "x=[1, 2]"]), r#"["a", 5, {"x": [1, 2], "__kwarg__": true}]"#);
        assert_eq!(apart(&"a 5".into()).to_json(), r#"["a", 5]"#);
        assert_eq!(word(&Value::list(["a"])), r#"["a"]"#);
    }
}
