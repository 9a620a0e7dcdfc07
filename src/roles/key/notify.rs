//! Telling a running master what was done to its keys.

use super::{Change, Notify};
use crate::client::{Client, ClientError};
use halite_wire::message::{LocalAsk, Remains};
use std::path::PathBuf;

/// Changes told at once: a message has its limit, and ids may be long.
const AT_ONCE: usize = 1000;

/// The master of this host, if it runs.
pub struct RunningMaster {
    pub sock_dir: PathBuf,
    pub remains: Remains,
}

impl Notify for RunningMaster {
    fn changed(&self, changes: &[Change]) -> Result<(), String> {
        if changes.is_empty() {
            return Ok(());
        }
        match smol::block_on(self.tell(changes)) {
            // It reads the files when it starts.
            Ok(()) | Err(ClientError::NoMaster { .. }) => Ok(()),
            Err(error) => Err(format!("the master was not told, and will see the change later: {error}")),
        }
    }
}

impl RunningMaster {
    async fn tell(&self, changes: &[Change]) -> Result<(), ClientError> {
        let master = Client::connect(&self.sock_dir).await?;
        for changes in changes.chunks(AT_ONCE) {
            let changes = changes.iter().map(|change| (change.act.event().to_owned(), change.id.clone())).collect();
            master.ask(&LocalAsk::KeysChanged { changes, remains: self.remains }).await?;
        }
        Ok(())
    }
}
