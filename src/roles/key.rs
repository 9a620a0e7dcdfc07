//! `salt-key`.

use super::cli::salt_key::KeyLine;
use super::cli::{Exit, Stop};

pub fn run(args: &[String]) -> u8 {
    let answer = match KeyLine::read(args) {
        Ok(_) => Stop::Lacking("its verbs come with the next commit".to_owned()),
        Err(stop) => stop,
    };
    let exit: Exit = answer.report("salt-key");
    exit.code()
}
