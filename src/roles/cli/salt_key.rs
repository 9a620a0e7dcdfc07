//! The command line of `salt-key`.

use super::options::{Auth, Choice, Common, Logging, Output, whole};
use super::{Line, Program, Stop, group};
use argh::{ArgsInfo, FromArgs};
use std::path::PathBuf;

pub const PROGRAM: Program = Program {
    name: "salt-key",
    about: "Shows, accepts, rejects and deletes the keys of minions. Without an option it lists them all.",
    usage: "[options]",
    examples: &[
        ("salt-key", "Lists all keys."),
        ("salt-key -f web1", "Shows the fingerprint of a key, to be compared with the minion's."),
        ("salt-key -a 'web*'", "Accepts keys that wait, after a question."),
        ("salt-key -y -d web1", "Deletes a key and ends its session, without a question."),
    ],
    groups: &[
        group::<Actions>(),
        group::<Making>(),
        group::<Output>(),
        group::<Logging>(),
        group::<Auth>(),
        group::<Common>(),
    ],
};

/// What is done with keys; MATCH is an id, a glob, or several with commas
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Actions {
    /// list keys in one standing: acc (accepted), pre or un (not decided), rej (rejected), den (denied) or all
    #[argh(option, short = 'l', arg_name = "standing")]
    pub list: Option<String>,
    /// list all keys
    #[argh(switch, short = 'L')]
    pub list_all: bool,
    /// accept keys that wait
    #[argh(option, short = 'a', arg_name = "match")]
    pub accept: Option<String>,
    /// accept all keys that wait
    #[argh(switch, short = 'A')]
    pub accept_all: bool,
    /// reject keys that wait
    #[argh(option, short = 'r', arg_name = "match")]
    pub reject: Option<String>,
    /// reject all keys that wait
    #[argh(switch, short = 'R')]
    pub reject_all: bool,
    /// as --include-rejected with accept, as --include-accepted with reject
    #[argh(switch)]
    pub include_all: bool,
    /// with reject: accepted keys too
    #[argh(switch)]
    pub include_accepted: bool,
    /// with accept: rejected keys too
    #[argh(switch)]
    pub include_rejected: bool,
    /// with accept or reject: denied keys too
    #[argh(switch)]
    pub include_denied: bool,
    /// print keys
    #[argh(option, short = 'p', arg_name = "match")]
    pub print: Option<String>,
    /// print all keys
    #[argh(switch, short = 'P')]
    pub print_all: bool,
    /// delete keys
    #[argh(option, short = 'd', arg_name = "match")]
    pub delete: Option<String>,
    /// delete all keys
    #[argh(switch, short = 'D')]
    pub delete_all: bool,
    /// print fingerprints
    #[argh(option, short = 'f', arg_name = "match")]
    pub finger: Option<String>,
    /// print all fingerprints, the master's own too
    #[argh(switch, short = 'F')]
    pub finger_all: bool,
    /// do not say what fails on the way
    #[argh(switch, short = 'q')]
    pub quiet: bool,
    /// do not ask, go on
    #[argh(switch, short = 'y')]
    pub yes: bool,
    /// whether a deleted or rejected key ends the epoch; accepted, it always does: who is out must not read on
    #[argh(option, arg_name = "choice")]
    pub rotate_aes_key: Option<Choice>,
    /// whether what is cached of a minion stays when its key is deleted: True or False
    #[argh(option, arg_name = "choice")]
    pub preserve_minions: Option<Choice>,
    /// the user to run as
    #[argh(option, short = 'u', arg_name = "user")]
    pub user: Option<String>,
}

/// Making keys
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Making {
    /// make a key pair of this name
    #[argh(option, arg_name = "name")]
    pub gen_keys: Option<String>,
    /// the directory for the pair; where the command runs
    #[argh(option, arg_name = "directory")]
    pub gen_keys_dir: Option<PathBuf>,
    /// accepted for scripts; an Ed25519 key has one size
    #[argh(option, from_str_fn(whole), arg_name = "bits")]
    pub keysize: Option<u32>,
    /// sign the master's public key with the signing key
    #[argh(switch)]
    pub gen_signature: bool,
    /// the private key to sign with; master_sign.pem in pki_dir
    #[argh(option, long = "priv", arg_name = "file")]
    pub private: Option<PathBuf>,
    /// the directory for the signature; pki_dir
    #[argh(option, arg_name = "directory")]
    pub signature_path: Option<PathBuf>,
    /// the public key to sign; master.pub in pki_dir
    #[argh(option, long = "pub", arg_name = "file")]
    pub public: Option<PathBuf>,
    /// make the signing key where it is missing
    #[argh(switch)]
    pub auto_create: bool,
}

/// The command line, read.
#[derive(Clone, Debug, Default)]
pub struct KeyLine {
    pub actions: Actions,
    pub making: Making,
    pub output: Output,
    pub logging: Logging,
    pub common: Common,
}

impl KeyLine {
    pub fn read(args: &[String]) -> Result<KeyLine, Stop> {
        let mut line = Line::sort(&PROGRAM, args, std::io::empty())?;
        if let Some(word) = line.words.first() {
            let hint = "several ids go into one, with commas: -a web1,web2";
            return Err(Stop::Usage(format!("takes options only, not '{word}' ({hint})")));
        }
        let read = KeyLine {
            actions: line.take()?,
            making: line.take()?,
            output: line.take()?,
            logging: line.take()?,
            common: line.take()?,
        };
        read.one_verb()?;
        Ok(read)
    }

    /// Two verbs are a slip, and one of them may delete.
    fn one_verb(&self) -> Result<(), Stop> {
        let (actions, making) = (&self.actions, &self.making);
        let given: Vec<&str> = [
            (making.gen_keys.is_some(), "--gen-keys"),
            (making.gen_signature, "--gen-signature"),
            (actions.list.is_some(), "--list"),
            (actions.list_all, "--list-all"),
            (actions.print.is_some(), "--print"),
            (actions.print_all, "--print-all"),
            (actions.accept.is_some(), "--accept"),
            (actions.accept_all, "--accept-all"),
            (actions.reject.is_some(), "--reject"),
            (actions.reject_all, "--reject-all"),
            (actions.delete.is_some(), "--delete"),
            (actions.delete_all, "--delete-all"),
            (actions.finger.is_some(), "--finger"),
            (actions.finger_all, "--finger-all"),
        ]
        .into_iter()
        .filter_map(|(given, option)| given.then_some(option))
        .collect();
        match given[..] {
            [] | [_] => Ok(()),
            _ => Err(Stop::Usage(format!("the options {} exclude each other", given.join(", ")))),
        }
    }
}
