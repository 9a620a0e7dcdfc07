//! Why a command could not be carried out.

use super::display::DisplayError;
use super::exit::complain;
use super::{Exit, Stop};
use crate::config::ConfigError;
use std::fmt::Display;

/// The sentence for whoever typed the command, and the exit code.
#[derive(Debug)]
pub struct Trouble {
    message: String,
    exit: Exit,
}

impl Trouble {
    pub fn new(exit: Exit, message: impl Display) -> Trouble {
        Trouble { message: message.to_string(), exit }
    }

    /// An answer that could not be printed.
    pub fn unprintable(error: std::io::Error) -> Trouble {
        Trouble::new(Exit::CannotCreate, format!("standard output: {error}"))
    }

    /// Says it, and gives the exit code.
    pub fn report(&self, program: &str) -> Exit {
        complain(&format!("{program}: error: {}", self.message));
        self.exit
    }
}

impl From<Stop> for Trouble {
    fn from(stop: Stop) -> Trouble {
        Trouble::new(stop.exit(), stop)
    }
}

impl From<ConfigError> for Trouble {
    fn from(error: ConfigError) -> Trouble {
        Trouble::new(Exit::Configuration, error)
    }
}

impl From<DisplayError> for Trouble {
    fn from(error: DisplayError) -> Trouble {
        Trouble::new(Exit::CannotCreate, error)
    }
}
