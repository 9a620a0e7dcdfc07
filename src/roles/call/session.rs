//! The way to the master where the minion's daemon does not run: a short session with the minion's own key.
//!
//! Each question has a session of its own. The master does not take it for a connected minion, since it says what it has
//! come for.

use crate::config::{Config, MinionOptions};
use crate::minion::boot_bytes;
use crate::minion::channel::Channel;
use crate::minion::files::FileChannel;
use crate::minion::local::files::{Asked, MasterFiles, serve};
use crate::minion::local::{MinionAnswer, MinionAsk};
use crate::minion::peer;
use crate::minion::pillar::{from_master, pillar_ask};
use crate::minion::settings::Settings;
use crate::minion::start::{prepare, transport};
use async_io::Timer;
use halite_core::Fault;
use halite_core::context::{Master, PeerJob, PeerReturns};
use halite_core::files::Files;
use halite_core::jobs::boot_id;
use halite_keys::Identity;
use halite_node::pillar;
use halite_value::{Map, Value};
use halite_wire::handshake::Purpose;
use halite_wire::message::{Answer, Ask, Event, Lasting, Return};
use halite_wire::nng::Tcp;
use halite_wire::seal;
use smol::LocalExecutor;
use smol::future::FutureExt;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::rc::Rc;
use std::time::Duration;

/// What a session takes.
pub struct OwnSession {
    settings: Settings,
    transport: Tcp,
    /// How long one question may take in all.
    timeout: Duration,
}

impl OwnSession {
    pub fn new(config: &Config, options: &MinionOptions, grains: &Map, timeout: Duration) -> OwnSession {
        let settings = Settings { purpose: Purpose::Errand, ..prepare(config, options, grains.clone()) };
        OwnSession { settings, transport: transport(options), timeout }
    }

    /// Gives the master an answer that nobody asked it for.
    pub fn deliver(&self, ret: &Return) -> Result<(), String> {
        self.ask(&Ask::Return(Box::new(ret.clone())))
    }

    fn ask(&self, ask: &Ask) -> Result<(), String> {
        let answer = self.with_session(|channel, _| async move {
            let late = async {
                Timer::after(self.timeout).await;
                let (seconds, why) = (self.timeout.as_secs(), channel.last_said());
                Err(format!("the master has not answered in {seconds} s: {why}"))
            };
            let asked = async { channel.ask_until_answered(ask).await.map_err(|error| error.to_string()) };
            asked.or(late).await
        });
        match answer? {
            Answer::Refused(why) => Err(format!("the master refuses it: {why}")),
            _ => Ok(()),
        }
    }

    /// Does something with a session, for as long as there is a connection.
    fn with_session<T, W>(&self, work: impl FnOnce(Rc<Channel>, Rc<LocalExecutor<'static>>) -> W) -> Result<T, String>
    where
        W: Future<Output = Result<T, String>>,
    {
        seal::start()?;
        let pki_dir = &self.settings.pki_dir;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(pki_dir);
        made.map_err(|error| format!("{}: {error}", pki_dir.display()))?;
        let identity = Identity::load_or_make(pki_dir, "minion").map_err(|error| error.to_string())?;
        let transport = Rc::new(self.transport.clone());
        let channel = Channel::new(self.settings.clone(), identity, transport, boot_bytes(&boot_id()));
        let executor = Rc::new(LocalExecutor::new());
        let alive = async { Err(channel.keep_once().await) };
        smol::block_on(executor.run(work(channel.clone(), executor.clone()).or(alive)))
    }
}

impl Asked for &OwnSession {
    fn answer(&self, ask: &MinionAsk) -> Result<MinionAnswer, Fault> {
        let (cachedir, timeout) = (&self.settings.cachedir, self.timeout);
        let answer = self.with_session(|channel, executor| async move {
            if let MinionAsk::Peer(ask) = ask {
                return Ok(peer::from_master(&channel, ask.clone(), timeout).await);
            }
            let transport = Rc::new(self.transport.clone());
            let files = FileChannel::new(&executor, channel, transport, cachedir, timeout);
            Ok(serve(&files, ask.clone()).await)
        });
        match answer {
            Ok(MinionAnswer::Refused(why)) | Err(why) => Err(Fault::Execution(why)),
            Ok(answer) => Ok(answer),
        }
    }
}

impl Master for OwnSession {
    fn fire_event(&self, tag: &str, data: Map) -> Result<(), Fault> {
        let event = Event { tag: tag.to_owned(), data };
        self.ask(&Ask::Fire { first: 1, events: vec![event] }).map_err(Fault::Execution)
    }

    fn tell_minion(&self, _tag: &str, _data: Map) -> Result<(), Fault> {
        Err(Fault::execution("this asks the minion's daemon, which does not run here: start salt-minion"))
    }

    fn pillar(&self, grains: &Map, asked: &pillar::Asked) -> Result<Map, Fault> {
        let ask = pillar_ask(grains, asked, Lasting::Once);
        let answer = self.with_session(|channel, _| async move {
            let late = async {
                Timer::after(self.timeout).await;
                let (seconds, why) = (self.timeout.as_secs(), channel.last_said());
                Err(format!("the master has not answered in {seconds} s: {why}"))
            };
            from_master(&channel, ask).or(late).await
        });
        answer.map_err(Fault::Execution)
    }

    fn publish(&self, job: &PeerJob) -> Result<Option<String>, Fault> {
        peer::publish(&self, job)
    }

    fn peer_returns(&self, jid: &str, seen: usize) -> Result<PeerReturns, Fault> {
        peer::returns(&self, jid, seen)
    }

    fn call_runner(&self, fun: &str, arg: &[Value], time: Duration) -> Result<Option<Value>, Fault> {
        peer::call_runner(&self, fun, arg, time)
    }

    fn files(&self) -> Result<Box<dyn Files + '_>, Fault> {
        Ok(Box::new(MasterFiles(self)))
    }
}
