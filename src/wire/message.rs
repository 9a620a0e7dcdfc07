//! What minion and master say inside a session, and what a local program says to its daemon.
//!
//! Each [`Ask`] of a minion may be sent again after a broken connection: its [`Repeat`] says why that is safe. Who asks
//! is the session's to say, never a field's.
//!
//! Names on the wire stay what they were in the first version (`stand`, `patience_s`), so that minions of an older one
//! understand a newer master and the other way round; the code has the field's names.

use super::cbor::{ByteString, Bytes};
use halite_value::{Map, Value};
use serde::{Deserialize, Serialize};

// ---- minion to master ----

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// "I am here": answered when there is something to do, or after half a minute.
    #[serde(rename = "stand")]
    LongPoll(LongPoll),
    /// The result of a job.
    Return(Box<Return>),
    /// A part of something that is too long for one message; see [`Ask::ReturnInPieces`].
    Piece { digest: Bytes<32>, offset: u64, bytes: ByteString },
    /// The result of a job whose CBOR was sent in pieces before.
    ReturnInPieces { digest: Bytes<32> },
    /// Events for the master's bus, numbered by the instance.
    Fire { first: u64, events: Vec<Event> },
    /// What the master needs to know for targeting.
    Grains(Map),
    /// Something of the file server, on a connection of its own.
    File(FileAsk),
    /// The pillar of whoever asks.
    Pillar(Box<PillarAsk>),
    /// More of a pillar that was too long for one message.
    PillarPart { digest: Bytes<32>, offset: u64 },
    /// Something that others are to do.
    Peer(PeerAsk),
    /// "Forget my key": the session ends with it.
    Revoke { remains: Remains },
}

/// What a minion has other minions or the master do, where the options `peer` and `peer_run` let it. A number is the
/// minion's own for one question: when it comes again, nothing is begun a second time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeerAsk {
    /// Start a job. Its arguments are read as words of a command line are.
    Publish { number: u64, fun: String, arg: Vec<Value>, tgt: Value, tgt_type: String, ret: String },
    /// What has become of such a job, from the step with number `seen` on.
    Wait { jid: String, seen: usize },
    /// Call a runner; asked again until it has ended.
    Run { number: u64, fun: String, arg: Vec<Value> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeerAnswer {
    Published {
        jid: String,
        minions: Vec<String>,
    },
    Steps(Box<Steps>),
    /// The runner has not ended, or not begun while too many run.
    Running,
    Returned(Value),
    /// The master does not let this minion, or it cannot be done.
    Denied,
}

/// What bears on a pillar besides the minion's key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PillarAsk {
    pub grains: Map,
    pub saltenv: Option<String>,
    pub pillarenv: Option<String>,
    /// Data from the command line, on top of all.
    #[serde(default)]
    pub over: Map,
    /// One more external pillar, for this once.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub ext: Map,
    /// What the minion's configuration tells external pillars.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub told: Map,
    pub lasting: Lasting,
}

/// What becomes of a pillar that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    /// It is for one job.
    #[default]
    Once,
    /// The minion keeps it: targets by pillar mean this one.
    Kept,
}

/// Something that may be too long for one message: its CBOR from some place on, as much as fits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Of the whole.
    pub digest: Bytes<32>,
    pub size: u64,
    pub bytes: ByteString,
}

impl Part {
    /// The longest part.
    const LIMIT: usize = 256 * 1024;

    /// A part of the whole; nothing behind its end.
    pub fn of(whole: &[u8], digest: [u8; 32], offset: u64) -> Part {
        let rest = usize::try_from(offset).ok().and_then(|offset| whole.get(offset..)).unwrap_or_default();
        let bytes = rest.get(..Part::LIMIT).unwrap_or(rest).to_vec();
        Part { digest: Bytes(digest), size: whole.len() as u64, bytes: ByteString(bytes) }
    }
}

/// What a minion asks of the file server. Paths are below the roots of an environment; no path leads out of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAsk {
    Environments,
    /// Names of one kind (`files`, `dirs`, `empty_dirs`, `links`) that begin with `prefix` and come behind `after`.
    List {
        listing: String,
        saltenv: String,
        prefix: String,
        #[serde(default)]
        after: Option<String>,
    },
    Find {
        path: String,
        saltenv: String,
    },
    Hash {
        path: String,
        saltenv: String,
    },
    /// A part of a file, as it was when it had this version.
    Read {
        path: String,
        saltenv: String,
        version: Bytes<40>,
        offset: u64,
        length: u32,
    },
    /// A part of a file for the master, named by the SHA-256 of the whole.
    Put {
        digest: Bytes<32>,
        offset: u64,
        bytes: ByteString,
    },
    /// All parts are there: the steps of the path below the minion's own directory.
    PutWhole {
        digest: Bytes<32>,
        size: u64,
        names: Vec<String>,
    },
}

/// What the file server answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAnswer {
    Environments(Vec<String>),
    /// Names, for links each with where it points; whether there are more.
    Names {
        entries: Vec<(String, Option<String>)>,
        more: bool,
    },
    /// The version of a file, the kind of hash that there is of it, and what `stat` says.
    Found {
        version: Bytes<40>,
        kind: String,
        stat: Vec<i64>,
    },
    /// The hash of a file when it had this version.
    Hash {
        kind: String,
        digest: String,
        version: Bytes<40>,
    },
    Bytes(ByteString),
    /// It is not done yet: ask again.
    Later,
    /// There is no such file.
    Missing,
    /// It has another version by now.
    Changed,
    Done,
    /// It will not help to ask again.
    Refused(String),
}

impl FileAsk {
    fn repeat(&self) -> Repeat {
        match self {
            FileAsk::Put { .. } | FileAsk::PutWhole { .. } => Repeat::Put,
            _ => Repeat::Read,
        }
    }
}

/// Why sending it again is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Changes nothing.
    Read,
    /// Has a natural key: the second overwrites the first.
    Put,
    /// Is numbered by its instance; the master remembers the last number.
    Once,
}

impl Ask {
    pub fn repeat(&self) -> Repeat {
        match self {
            Ask::LongPoll(_) | Ask::Return(_) | Ask::Grains(_) | Ask::Piece { .. } | Ask::ReturnInPieces { .. } => {
                Repeat::Put
            }
            // Without a key there is no session that could ask again.
            Ask::Revoke { .. } => Repeat::Put,
            Ask::Fire { .. } => Repeat::Once,
            Ask::File(ask) => ask.repeat(),
            Ask::Pillar(_) | Ask::PillarPart { .. } => Repeat::Read,
            Ask::Peer(PeerAsk::Wait { .. }) => Repeat::Read,
            Ask::Peer(PeerAsk::Publish { .. } | PeerAsk::Run { .. }) => Repeat::Put,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LongPoll {
    /// The epoch that the minion knows, all zero at first.
    pub epoch: Option<Bytes<8>>,
    /// The last publication it has seen in it.
    pub seq: u64,
    /// Jobs that it has taken and whose return was not acknowledged yet.
    pub taken: Vec<String>,
    /// The first one of a session: what is missing in `taken` is not known to the minion.
    pub first: bool,
    /// Whether it hears publications: else jobs for everybody are handed to it too.
    #[serde(default)]
    pub listens: bool,
    /// Results of short functions, so that they need no request of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns: Vec<Return>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Work(Box<Work>),
    /// Done, and on disk where that was asked for.
    Done,
    /// Not done, and it will not help to ask again.
    Refused(String),
    File(FileAnswer),
    /// A pillar, or a part of one.
    Pillar(Part),
    Peer(PeerAnswer),
}

/// What a long poll is answered with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    pub jobs: Vec<Job>,
    /// A new epoch of publications.
    pub epoch: Option<News>,
    /// The number of the last publication when this was answered: what comes above it is newer than the request.
    pub seq: u64,
    /// The jobs whose results came with long polls and are on the disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acknowledged: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct News {
    pub id: Bytes<8>,
    pub key: Bytes<32>,
}

/// A job, as a minion gets it and as the job database keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub jid: String,
    /// A function, or a list of them.
    pub fun: Value,
    /// Its arguments; keyword arguments are a map with `__kwarg__: True` at the end. For a list of functions a list a
    /// function.
    pub arg: Vec<Value>,
    pub tgt: Value,
    pub tgt_type: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ret: String,
    pub user: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// More that a return needs (`ret_config`, `ret_kwargs`, `module_executors`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map,
    /// How it is handed out, where not to all targets at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Batch>,
}

/// A job that is handed to so many targets at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    pub size: BatchSize,
    /// Seconds between the end of one target and the start of the next in its place.
    #[serde(default)]
    pub wait_s: u64,
    pub at_failure: AtFailure,
    /// Seconds for which a target may say nothing of the job before the next one takes its place.
    #[serde(rename = "patience_s")]
    pub timeout_s: u64,
}

/// How many targets at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchSize {
    Count(u64),
    /// Of the targets that are connected.
    Percent(f64),
}

impl BatchSize {
    /// As a number, of so many targets; at least one.
    pub fn of(self, targets: usize) -> usize {
        let size = match self {
            BatchSize::Count(count) => usize::try_from(count).unwrap_or(usize::MAX),
            BatchSize::Percent(percent) => (targets as f64 * percent / 100.0) as usize,
        };
        size.max(1)
    }
}

/// What becomes of a batch when a target fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtFailure {
    GoOn,
    /// What has not been started never is.
    Stop,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Return {
    pub jid: String,
    pub fun: Value,
    pub fun_args: Vec<Value>,
    #[serde(rename = "return")]
    pub value: Value,
    pub retcode: i64,
    pub success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// Ended by a signal from `saltutil.kill_job` and the like, or by hand.
    #[serde(default)]
    pub killed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// An event for a bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub tag: String,
    pub data: Map,
}

/// An event as it stands on the bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Numbered {
    /// Rises by one with each event of a bus: a listener counts its gaps.
    pub number: u64,
    pub tag: String,
    pub data: Map,
}

// ---- a local program to the master ----

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalAsk {
    /// Start a job.
    Publish(Box<Publish>),
    /// What has become of a job, from the step with number `seen` on; waits until there is more.
    Wait {
        jid: String,
        seen: usize,
    },
    /// Which minions are accepted, and which of them are connected.
    Presence,
    /// Which accepted minions a target means.
    Expand {
        tgt: Value,
        tgt_type: String,
        /// Between the steps of a grain's path; nothing: a colon.
        #[serde(default)]
        delimiter: Option<String>,
    },
    /// The states of the targets of a job that is still open, by minion.
    States {
        jid: String,
    },
    /// The batches that are not over, and those that ended a moment ago.
    Batches,
    /// Start no more targets of a batch.
    StopBatch {
        jid: String,
    },
    /// The key directories were changed by the key tool: `(act, id)` each.
    KeysChanged {
        changes: Vec<(String, String)>,
        /// What becomes of what is kept of a minion whose key is not accepted any more.
        #[serde(default)]
        remains: Remains,
    },
    Fire(Event),
    /// Change what the master keeps for others.
    Keep(Keep),
}

/// Whether what is kept of a minion outlives its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remains {
    #[default]
    Forgotten,
    Kept,
}

/// A change of what the master keeps, under a bank and a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
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

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Publish {
    pub fun: Value,
    pub arg: Vec<Value>,
    pub tgt: Value,
    pub tgt_type: String,
    #[serde(default)]
    pub ret: String,
    /// Asked for by the caller; empty: the master makes one.
    #[serde(default)]
    pub jid: String,
    /// How long the answer may wait for the first outcomes, in milliseconds: most jobs then need no other request.
    #[serde(default)]
    pub wait_ms: u32,
    /// Who called sudo, for root alone.
    #[serde(default)]
    pub sudo_user: Option<String>,
    #[serde(default)]
    pub metadata: Option<Value>,
    #[serde(default)]
    pub extra: Map,
    #[serde(default)]
    pub batch: Option<Batch>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalAnswer {
    /// The job runs. `minions` are those that were sent it, or will be in a batch, `absent` those of the target that are not connected.
    Published {
        jid: String,
        minions: Vec<String>,
        absent: Vec<String>,
        /// What has happened at once, where the caller waits for it.
        steps: Box<Steps>,
    },
    Steps(Box<Steps>),
    Presence {
        accepted: Vec<String>,
        connected: Vec<String>,
        addresses: Map,
    },
    Minions(Vec<String>),
    States(Map),
    /// One map each, as Salt's runner `batch` shows it.
    Batches(Vec<Map>),
    Done,
    Refused {
        fault: LocalFault,
        message: String,
    },
}

/// Why the master refuses a local program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalFault {
    /// The user may not.
    Denied,
    /// The request makes no sense: a bad target, an unknown job.
    Invalid,
    /// The master cannot at the moment.
    Failed,
}

/// What has happened to a job, in its order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    pub steps: Vec<Step>,
    /// How many targets have no outcome yet.
    pub open: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// These targets of a batch were sent the job.
    Started(Vec<String>),
    /// This target of a batch has said nothing in time: the next one takes its place.
    Silent(String),
    Ended(Box<Outcome>),
}

/// The end of a job for one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub id: String,
    pub state: EndState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ret: Option<Return>,
}

/// How a job can end for a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndState {
    /// Not connected when the job was published; the job is never delivered later.
    Absent,
    Returned,
    Killed,
    /// It will not start any more, or its minion has forgotten it.
    Lost,
    /// Its batch was stopped before its turn came: it was never sent.
    Cancelled,
}

impl EndState {
    pub fn name(self) -> &'static str {
        match self {
            EndState::Absent => "absent",
            EndState::Returned => "returned",
            EndState::Killed => "killed",
            EndState::Lost => "lost",
            EndState::Cancelled => "cancelled",
        }
    }
}
