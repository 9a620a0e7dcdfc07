//! What every daemon needs: signals that end it, folders that must exist.

use async_signal::{Signal, Signals};
use smol::stream::StreamExt;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// What a daemon is told from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Stop,
    Reload,
}

/// Signals for this process. Must exist before the first of them may come.
pub struct Ear(Signals);

impl Ear {
    pub fn open() -> Result<Ear, String> {
        Signals::new([Signal::Term, Signal::Int, Signal::Hup])
            .map(Ear)
            .map_err(|error| format!("signals cannot be received: {error}"))
    }

    pub async fn next(&mut self) -> Told {
        match self.0.next().await {
            Some(Ok(Signal::Hup)) => Told::Reload,
            _ => Told::Stop,
        }
    }
}

/// Makes a folder and those above it, for its owner alone.
pub fn make_folder(path: &Path) -> Result<(), String> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o750)
        .create(path)
        .map_err(|error| format!("the folder {} cannot be made: {error}", path.display()))
}
