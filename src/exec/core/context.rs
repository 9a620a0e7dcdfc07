//! Everything that a function may touch.

use super::Fault;
use super::files::Files;
use super::host::Host;
use super::module::Functions;
use super::pillar_request::Asked;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The world of one call. A function reaches host, master and configuration through this alone, so that a test can give
/// it another world.
pub struct Ctx<'a> {
    pub host: &'a dyn Host,
    pub master: &'a dyn Master,
    /// The execution functions that it can call.
    pub functions: &'a dyn Functions,
    /// The grains of this minion.
    pub grains: &'a Map,
    /// The pillar of this minion.
    pub pillar: &'a Map,
    /// The configuration, defaults filled in: what Salt calls `__opts__`.
    pub opts: &'a Map,
    pub call: &'a Call,
    /// Raised when the job was killed: a function that loops looks at it.
    pub cancelled: &'a AtomicBool,
    /// What the functions of a job leave for each other and for the return (Salt's `__context__`).
    pub scratch: RefCell<Map>,
    /// Who gets the answer of the function that runs.
    pub audience: Cell<Audience>,
}

/// Why `update_minion` is refused.
pub const NO_DAEMON_ENVIRONMENT: &str = "update_minion: the environment of the minion's daemon cannot be changed by \
     this version; set it where the service is started";

/// Who gets an answer: values of the pillar are hidden from people unless they ask for them, never from functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    /// Whoever started the job: the answer is shown, returned and kept.
    #[default]
    Person,
    /// A template, a state or another function, which works with the value.
    Function,
}

impl Ctx<'_> {
    /// Calls another execution function, as `__salt__['mod.fun'](...)` does.
    pub fn run(&self, fun: &str, arguments: Arguments) -> Result<Value, Fault> {
        self.run_for(Audience::Function, fun, arguments)
    }

    /// Calls an execution function whose answer these get.
    pub fn run_for(&self, audience: Audience, fun: &str, arguments: Arguments) -> Result<Value, Fault> {
        let audience = self.audience.replace(audience);
        let returned = super::module::call(self, fun, arguments);
        self.audience.set(audience);
        returned.map(|returned| returned.value)
    }

    /// The same world with another pillar and other options.
    pub fn with<'b>(&'b self, pillar: &'b Map, opts: &'b Map) -> Ctx<'b> {
        Ctx { pillar, opts, scratch: RefCell::default(), audience: self.audience.clone(), ..*self }
    }

    /// The same world on another host, such as a view that changes nothing.
    pub fn on<'b>(&'b self, host: &'b dyn Host) -> Ctx<'b> {
        Ctx { host, scratch: RefCell::default(), audience: self.audience.clone(), ..*self }
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// An option of the configuration.
    pub fn opt(&self, name: &str) -> Option<&Value> {
        self.opts.at(name)
    }
}

/// The job that a call belongs to: what Salt passes on as `__pub_*`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// The function as the user wrote it, `mod.fun`.
    pub fun: String,
    /// Twenty digits; empty for a call without a job.
    pub jid: String,
    pub tgt: Value,
    pub tgt_type: String,
    /// Where else the return goes (`--return`).
    pub ret: String,
    /// Who published it; empty where nobody did (`salt-call`).
    pub user: String,
    pub metadata: Option<Value>,
}

impl Call {
    /// The arguments with what was published beside them, as Salt passes it to functions that take any keyword.
    pub fn published(&self, mut arguments: Arguments) -> Arguments {
        if self.user.is_empty() {
            let keywords = &mut arguments.keywords;
            keywords.insert("__pub_fun", self.fun.as_str());
            keywords.insert("__pub_jid", self.jid.as_str());
            keywords.insert("__pub_pid", super::host::own::pid());
            keywords.insert("__pub_tgt", self.tgt.clone());
            return arguments;
        }
        let mut published = arguments.positional.clone();
        if !arguments.keywords.is_empty() {
            let mut marked = Map::from_iter([("__kwarg__", true)]);
            marked.extend(arguments.keywords.clone());
            published.push(marked.into());
        }
        let keywords = &mut arguments.keywords;
        keywords.insert("__pub_fun", self.fun.as_str());
        keywords.insert("__pub_arg", published);
        keywords.insert("__pub_tgt", self.tgt.clone());
        keywords.insert("__pub_jid", self.jid.as_str());
        keywords.insert("__pub_ret", self.ret.as_str());
        keywords.insert("__pub_tgt_type", self.tgt_type.as_str());
        keywords.insert("__pub_user", self.user.as_str());
        // The job is for the minion itself, not for a resource behind it, of which Halite has none.
        keywords.insert("__pub_resource_targets", Value::List(Vec::new()));
        keywords.insert("__pub_pure_resource_target", false);
        keywords.insert("__pub_minion_is_target", true);
        if let Some(metadata) = &self.metadata {
            keywords.insert("__pub_metadata", metadata.clone());
        }
        arguments
    }
}

/// The way to the master, for functions that need one. A node without a master answers each with a clear fault.
pub trait Master: Sync {
    /// Puts an event on the master's bus; true when the master has taken it.
    fn fire_event(&self, tag: &str, data: Map) -> Result<(), Fault>;
    /// Asks the daemon of this minion to do something that only it can (`refresh`, `reload`): the name of the local
    /// event and its data.
    fn tell_minion(&self, tag: &str, data: Map) -> Result<(), Fault>;
    /// What has happened on the bus of this minion since the event with this number; waits a while for something. Without
    /// a number it is now, and nothing has happened.
    fn hear(&self, _since: Option<u64>) -> Result<Heard, Fault> {
        Err(Fault::execution("no minion daemon: there is no bus to listen to"))
    }
    /// The pillar of this minion, which has these grains, compiled anew for these wishes.
    fn pillar(&self, _grains: &Map, _asked: &Asked) -> Result<Map, Fault> {
        Err(Fault::execution("no master: its pillar cannot be asked for from here"))
    }
    /// Starts a job on other minions, where the master lets this one (`peer`): its jid. Nothing where it does not.
    fn publish(&self, _job: &PeerJob) -> Result<Option<String>, Fault> {
        log::error!("Cannot run publish commands without a connection to a salt master. No command sent.");
        Ok(None)
    }
    /// What has come back of such a job, from number `seen` on: as soon as there is something, or after a moment.
    fn peer_returns(&self, _jid: &str, _seen: usize) -> Result<PeerReturns, Fault> {
        Err(Fault::execution("no master: nothing comes back of a job from here"))
    }
    /// Has a runner called, where the master lets this minion (`peer_run`). Nothing: it has not ended in time.
    fn call_runner(&self, _fun: &str, _arg: &[Value], _time: Duration) -> Result<Option<Value>, Fault> {
        Ok(Some("No access to master. If using salt-call with --local, please remove.".into()))
    }
    /// The master's file server.
    fn files(&self) -> Result<Box<dyn Files + '_>, Fault> {
        Err(Fault::execution("no master: its files cannot be reached from here"))
    }
}

/// A job that a minion has others do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerJob {
    pub fun: String,
    /// As the words of a command line, but values that are no text are taken as they are.
    pub arg: Vec<Value>,
    pub tgt: Value,
    pub tgt_type: String,
    pub ret: String,
}

/// What has come back of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerReturns {
    pub returns: Vec<PeerReturn>,
    /// Where the next question begins.
    pub seen: usize,
    /// How many targets have not come to an end.
    pub open: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerReturn {
    pub id: String,
    pub value: Value,
    pub out: Option<String>,
}

/// What a listener hears.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    /// The number of the last event; the next time is since this one.
    pub last: u64,
    /// Tags and data.
    pub events: Vec<(String, Map)>,
}

/// For `salt-call --local` and tests: there is no master.
pub struct NoMaster;

impl Master for NoMaster {
    fn fire_event(&self, _tag: &str, _data: Map) -> Result<(), Fault> {
        Err(Fault::execution("no master: this call runs locally"))
    }

    fn tell_minion(&self, _tag: &str, _data: Map) -> Result<(), Fault> {
        Err(Fault::execution("no minion daemon: this call runs locally"))
    }
}
