//! The running master as runners reach it. A runner is synchronous: each call blocks until the master has answered.

use super::gather::{FIRST_MS, Gather, Gathered};
use super::{Client, ClientError, sudo_user};
use crate::cli::Exit;
use crate::master::bus;
use async_io::Timer;
use halite_core::Fault;
use halite_run::runners::fleet;
use halite_run::runners::fleet::{Answer, Bus, Change, Fleet, Heard, Order, Presence};
use halite_value::{Map, Value};
use halite_wire::cbor;
use halite_wire::link::Subscription;
use halite_wire::message::{Event, Keep, LocalAnswer, LocalAsk, LocalFault, Numbered, Outcome, Publish};
use halite_wire::nng::Subscriber;
use smol::future::FutureExt;
use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;
use std::time::Duration;

/// How long an event may take that nothing depends on.
const MENTION_TIME: Duration = Duration::from_secs(2);

/// The master behind a `sock_dir`. Nothing is connected before it is needed: many runners need no master.
pub struct Running {
    sock_dir: PathBuf,
    timeout: Duration,
    client: OnceCell<Client>,
    /// The last fault that came from here, and how a program ends that ends with it.
    last: RefCell<Option<(Fault, Exit)>>,
}

impl Running {
    /// `timeout`: for how long a minion may say nothing of a job where its runner does not say.
    pub fn new(sock_dir: PathBuf, timeout: Duration) -> Running {
        Running { sock_dir, timeout, client: OnceCell::new(), last: RefCell::default() }
    }

    /// The exit code that fits a fault: a better one than failure where it came from here.
    pub fn exit_of(&self, fault: &Fault) -> Exit {
        match &*self.last.borrow() {
            Some((last, exit)) if last == fault => *exit,
            _ => Exit::Failed,
        }
    }

    async fn client(&self) -> Result<&Client, ClientError> {
        if self.client.get().is_none() {
            let _ = self.client.set(Client::connect(&self.sock_dir).await?);
        }
        self.client.get().ok_or_else(|| ClientError::Malformed("no connection".to_owned()))
    }

    fn ask(&self, ask: LocalAsk) -> Result<LocalAnswer, Fault> {
        smol::block_on(async { self.client().await?.ask(&ask).await }).map_err(|error| self.fault(error))
    }

    /// Puts an event on the bus that nothing depends on: a master that does not answer holds nobody up. Whether it
    /// was taken.
    pub fn mention(&self, tag: &str, data: Map) -> bool {
        let ask = LocalAsk::Fire(Event { tag: tag.to_owned(), data });
        let asked =
            async { Ok::<bool, ClientError>(matches!(self.client().await?.ask(&ask).await?, LocalAnswer::Done)) };
        let in_time = asked.or(async {
            Timer::after(MENTION_TIME).await;
            Ok(false)
        });
        smol::block_on(in_time).unwrap_or(false)
    }

    fn fault(&self, error: ClientError) -> Fault {
        self.noted(Fault::Execution(error.to_string()), error.exit())
    }

    fn noted(&self, fault: Fault, exit: Exit) -> Fault {
        *self.last.borrow_mut() = Some((fault.clone(), exit));
        fault
    }

    fn misunderstood(&self) -> Fault {
        self.fault(ClientError::Malformed("an answer to another question".to_owned()))
    }

    async fn run(&self, order: Order) -> Result<fleet::Gathered, ClientError> {
        let client = self.client().await?;
        let timeout = order.timeout.unwrap_or(self.timeout);
        let publish = Publish {
            fun: order.fun.into(),
            arg: order.arg,
            tgt: order.tgt,
            tgt_type: order.tgt_type,
            ret: order.ret,
            jid: order.jid,
            wait_ms: FIRST_MS,
            sudo_user: sudo_user(),
            ..Publish::default()
        };
        let LocalAnswer::Published { jid, minions, absent, steps } =
            client.ask(&LocalAsk::Publish(Box::new(publish))).await?
        else {
            return Err(ClientError::Malformed("no job".to_owned()));
        };
        let mut answers = Vec::new();
        let mut gather = Gather::new(client, &jid, &minions, &absent, *steps, timeout);
        loop {
            match gather.next().await? {
                Gathered::Outcome(outcome) => {
                    let Outcome { id, ret, .. } = *outcome;
                    answers.extend(ret.map(|ret| Answer { id, value: ret.value, retcode: ret.retcode }));
                }
                Gathered::Started(_) | Gathered::Silent(_) => {}
                Gathered::All => break,
            }
        }
        let mut minions: Vec<String> = minions.into_iter().chain(absent).collect();
        minions.sort();
        Ok(fleet::Gathered { jid, minions, answers })
    }
}

impl Fleet for Running {
    fn presence(&self) -> Result<Presence, Fault> {
        match self.ask(LocalAsk::Presence)? {
            LocalAnswer::Presence { accepted, connected, addresses } => Ok(Presence { accepted, connected, addresses }),
            _ => Err(self.misunderstood()),
        }
    }

    fn expand(&self, tgt: &Value, tgt_type: &str) -> Result<Vec<String>, Fault> {
        match self.ask(LocalAsk::Expand { tgt: tgt.clone(), tgt_type: tgt_type.to_owned(), delimiter: None })? {
            LocalAnswer::Minions(minions) => Ok(minions),
            _ => Err(self.misunderstood()),
        }
    }

    fn publish(&self, order: Order) -> Result<fleet::Gathered, Fault> {
        smol::block_on(self.run(order)).map_err(|error| self.fault(error))
    }

    fn states(&self, jid: &str) -> Result<Map, Fault> {
        match self.ask(LocalAsk::States { jid: jid.to_owned() })? {
            LocalAnswer::States(states) => Ok(states),
            _ => Err(self.misunderstood()),
        }
    }

    fn batches(&self) -> Result<Vec<Map>, Fault> {
        match self.ask(LocalAsk::Batches)? {
            LocalAnswer::Batches(batches) => Ok(batches),
            _ => Err(self.misunderstood()),
        }
    }

    fn stop_batch(&self, jid: &str) -> Result<bool, Fault> {
        let stopped = smol::block_on(async {
            let ask = LocalAsk::StopBatch { jid: jid.to_owned() };
            self.client().await?.ask(&ask).await
        });
        match stopped {
            Ok(LocalAnswer::Done) => Ok(true),
            Ok(_) => Err(self.misunderstood()),
            Err(ClientError::Refused { fault: LocalFault::Invalid, .. }) => Ok(false),
            Err(error) => Err(self.fault(error)),
        }
    }

    fn keep(&self, change: Change) -> Result<(), Fault> {
        let keep = match change {
            Change::Store { bank, key, data } => Keep::Store { bank, key, data },
            Change::Flush { bank, key } => Keep::Flush { bank, key },
            Change::ForgetGrains(ids) => Keep::ForgetGrains(ids),
        };
        self.ask(LocalAsk::Keep(keep)).map(drop)
    }

    fn fire(&self, tag: &str, data: Map) -> Result<(), Fault> {
        self.ask(LocalAsk::Fire(Event { tag: tag.to_owned(), data })).map(drop)
    }

    fn listen(&self) -> Result<Box<dyn Bus + '_>, Fault> {
        let path = bus::path_in(&self.sock_dir);
        // NNG would try for ever; that nobody is there, or that the user may not, is known at once.
        if let Err(error) = std::os::unix::net::UnixStream::connect(&path) {
            let path = path.display();
            let fault = Fault::execution(format!("the event bus of the master cannot be reached ({path}: {error})"));
            return Err(self.noted(fault, Exit::Unavailable));
        }
        let subscriber = Subscriber::local(&path).map_err(|error| Fault::execution(error.to_string()))?;
        Ok(Box::new(Listening(subscriber)))
    }
}

struct Listening(Subscriber);

impl Bus for Listening {
    fn next(&mut self) -> Result<Heard, Fault> {
        let frame =
            smol::block_on(self.0.next()).map_err(|error| Fault::execution(format!("the event bus: {error}")))?;
        let Numbered { number, tag, data } = cbor::decode(&frame)
            .map_err(|malformed| Fault::Internal(format!("the event bus speaks another version: {malformed}")))?;
        Ok(Heard { number, tag, data })
    }
}
