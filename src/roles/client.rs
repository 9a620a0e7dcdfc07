//! Programs that ask the master on its own host: `salt`, `salt-cp`, `salt-run` and the key tool, over `master.ipc`.

mod archive;
pub mod cp;
mod fleet;
pub mod gather;
pub mod run;
pub mod salt;

use super::cli::options::{Common, Logging};
use super::cli::{Exit, Trouble};
use super::config::{Config, MasterOptions, Role, Surroundings};
use super::master::local;
use async_io::Timer;
use halite_wire::cbor;
use halite_wire::link::{Link, LinkError};
use halite_wire::message::{LocalAnswer, LocalAsk, LocalFault};
use halite_wire::nng::Connection;
use smol::future::FutureExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The master answers everything within this time, be it that there is nothing new.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A connection to the master.
pub struct Client {
    link: Connection,
    path: PathBuf,
}

/// Why the master did not do what it was asked.
#[derive(Debug)]
pub enum ClientError {
    /// It does not run, or may not be reached.
    NoMaster {
        path: PathBuf,
        error: LinkError,
    },
    Refused {
        fault: LocalFault,
        message: String,
    },
    /// Its answer makes no sense: it is another version.
    Malformed(String),
}

impl std::fmt::Display for ClientError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ClientError::NoMaster { path, .. } if !path.exists() => {
                let path = path.display();
                write!(f, "the salt-master is not running: {path} is missing (--config-dir names another master)")
            }
            ClientError::NoMaster { error, .. } => {
                write!(f, "the salt-master is not running, or you may not reach it: {error}")
            }
            ClientError::Refused { message, .. } => f.write_str(message),
            ClientError::Malformed(why) => write!(f, "the master answers in another version: {why}"),
        }
    }
}

impl ClientError {
    pub fn exit(&self) -> Exit {
        match self {
            ClientError::NoMaster { .. } => Exit::Unavailable,
            ClientError::Refused { fault: LocalFault::Denied, .. } => Exit::NotAllowed,
            ClientError::Refused { .. } => Exit::Failed,
            ClientError::Malformed(_) => Exit::Internal,
        }
    }
}

impl From<ClientError> for Trouble {
    fn from(error: ClientError) -> Trouble {
        Trouble::new(error.exit(), error)
    }
}

/// Who a program acts as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Account {
    /// Whoever called it.
    Callers,
    /// The account of the master, where root has called it.
    Masters,
}

/// The master's configuration, with the log begun as it and the command line say.
fn configured(common: &Common, logging: &Logging, account: Account) -> Result<(Config, MasterOptions), Trouble> {
    let around = Surroundings::of_process(common.config_dir.clone());
    let config = Config::load(Role::Master, &around)?;
    let options = config.master()?;
    if account == Account::Masters {
        super::cli::account::act_as_configured(&options.common.user)?;
    }
    super::logging::start(&config, logging);
    Ok((config, options))
}

/// Who called sudo: a job carries the name.
fn sudo_user() -> Option<String> {
    std::env::var("SUDO_USER").ok().filter(|user| !user.is_empty())
}

impl Client {
    pub async fn connect(sock_dir: &Path) -> Result<Client, ClientError> {
        let path = local::path_in(sock_dir);
        match Connection::local(&path, Duration::from_secs(5)).await {
            Ok(link) => Ok(Client { link, path }),
            Err(error) => Err(ClientError::NoMaster { path, error }),
        }
    }

    /// Asks and waits for the answer; what the master refuses is an error.
    pub async fn ask(&self, ask: &LocalAsk) -> Result<LocalAnswer, ClientError> {
        let asked = async { self.link.request(cbor::encode(ask)?).await };
        let answered = asked.or(async {
            Timer::after(TIMEOUT).await;
            Err(LinkError::Silent)
        });
        let reply = answered.await;
        let reply = reply.map_err(|error| ClientError::NoMaster { path: self.path.clone(), error })?;
        match cbor::decode(&reply).map_err(|malformed| ClientError::Malformed(malformed.to_string()))? {
            LocalAnswer::Refused { fault, message } => Err(ClientError::Refused { fault, message }),
            answer => Ok(answer),
        }
    }
}
