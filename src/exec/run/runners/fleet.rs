//! What runners ask of the running master and of what it has written down. The real ones are in `roles/client`; tests
//! have their own.

use halite_core::Fault;
use halite_value::{Map, Value};
use std::time::Duration;

/// The running master and its minions. A fault says that the master does not run, or what it refuses.
pub trait Fleet {
    fn presence(&self) -> Result<Presence, Fault>;
    /// The accepted minions that a target means, sorted.
    fn expand(&self, tgt: &Value, tgt_type: &str) -> Result<Vec<String>, Fault>;
    /// Starts a job and waits until each target has answered or will not.
    fn publish(&self, order: Order) -> Result<Gathered, Fault>;
    /// The states of the targets of a job that the master still holds (`sent`, `taken`, ...), by minion. Empty for others.
    fn states(&self, jid: &str) -> Result<Map, Fault>;
    /// The batches that are not over, and those that ended a moment ago, in numbers.
    fn batches(&self) -> Result<Vec<Map>, Fault>;
    /// Starts no more targets of a batch. False where there is no such batch under way.
    fn stop_batch(&self, jid: &str) -> Result<bool, Fault>;
    /// Changes what the master keeps for others; done when it is written.
    fn keep(&self, change: Change) -> Result<(), Fault>;
    /// Puts an event on the bus.
    fn fire(&self, tag: &str, data: Map) -> Result<(), Fault>;
    /// Listens to the bus from now on.
    fn listen(&self) -> Result<Box<dyn Bus + '_>, Fault>;
}

/// A change of what the master keeps.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Store {
        bank: String,
        key: String,
        data: Value,
    },
    /// Removes one key, or the whole bank.
    Flush {
        bank: String,
        key: Option<String>,
    },
    /// Forgets the grains of these minions until they send them again.
    ForgetGrains(Vec<String>),
}

/// The event bus, for one listener.
pub trait Bus {
    /// The next event; waits for it.
    fn next(&mut self) -> Result<Heard, Fault>;
}

/// An event, with its number on the bus: the numbers rise by one, so a gap is what was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    pub number: u64,
    pub tag: String,
    pub data: Map,
}

/// Who is accepted, and who of them is connected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presence {
    pub accepted: Vec<String>,
    pub connected: Vec<String>,
    /// Addresses of the connected ones, by minion.
    pub addresses: Map,
}

/// A job to start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    pub tgt: Value,
    pub tgt_type: String,
    pub fun: String,
    /// As they are published: keyword arguments in a map at the end.
    pub arg: Vec<Value>,
    pub ret: String,
    /// Empty: the master makes one.
    pub jid: String,
    /// How long a minion may say nothing; nothing: the `timeout` of the configuration.
    pub timeout: Option<Duration>,
}

impl Order {
    /// A function without arguments for every minion.
    pub fn for_all(fun: &str) -> Order {
        Order { tgt: "*".into(), tgt_type: "glob".to_owned(), fun: fun.to_owned(), ..Order::default() }
    }
}

/// What became of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gathered {
    pub jid: String,
    /// All targets, sorted.
    pub minions: Vec<String>,
    /// In the order in which they came.
    pub answers: Vec<Answer>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub id: String,
    pub value: Value,
    pub retcode: i64,
}

impl Gathered {
    /// The targets that have answered, and those that have not; sorted.
    pub fn up_and_down(&self) -> (Vec<String>, Vec<String>) {
        self.minions.iter().cloned().partition(|id| self.answers.iter().any(|answer| answer.id == *id))
    }

    /// The answers by minion.
    pub fn by_minion(self) -> Map {
        self.answers.into_iter().map(|answer| (answer.id, answer.value)).collect()
    }
}

/// What the master has written down: jobs, their returns, the grains of minions. Readable without a running master.
pub trait Archive {
    /// Every job that is kept, oldest first: its jid and its load.
    fn jobs(&self) -> Result<Vec<(String, Map)>, Fault>;
    /// Hands every job over as [`jobs`](Archive::jobs) lists them, one after the other: there may be very many.
    fn each_job(&self, take: &mut dyn FnMut(&str, &Map)) -> Result<(), Fault> {
        self.jobs()?.iter().for_each(|(jid, load)| take(jid, load));
        Ok(())
    }
    fn job(&self, jid: &str) -> Result<Option<Map>, Fault>;
    /// The full returns of a job, by minion.
    fn returns(&self, jid: &str) -> Result<Vec<(String, Map)>, Fault>;
    /// The targets that ended without a return, with the name of their state.
    fn ends(&self, jid: &str) -> Result<Vec<(String, String)>, Fault>;
    /// The grains that each minion sent last.
    fn grains(&self) -> Result<Vec<(String, Map)>, Fault>;
    /// What was stored in a bank of the cache, by key.
    fn kept(&self, bank: &str) -> Result<Vec<(String, Value)>, Fault>;
}
