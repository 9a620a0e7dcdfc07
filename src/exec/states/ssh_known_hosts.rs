//! `ssh_known_hosts.*`: keys by which other hosts are known.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, failed, from_to, given, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

pub const MODULE: Module =
    Module { name: "ssh_known_hosts", doc: "Keys by which other hosts are known.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Absent>("absent"), state::<Present>("present")];

/// The file that is meant; the error is for whoever wrote the SLS.
fn file(user: &Option<String>, config: &Option<String>) -> Result<String, String> {
    let user = user.as_ref().filter(|user| !user.is_empty());
    let default = if user.is_some() { ".ssh/known_hosts" } else { "/etc/ssh/ssh_known_hosts" };
    let config = config.clone().filter(|config| !config.is_empty()).unwrap_or_else(|| default.to_owned());
    match user.is_none() && !config.starts_with('/') {
        true => Err("If not specifying a \"user\", specify an absolute \"config\".".to_owned()),
        false => Ok(config),
    }
}

record! {
    /// Makes sure that another host is known by its key.
    ///
    ///   github.com:
    ///     ssh_known_hosts.present:
    ///       - user: root
    ///       - fingerprint: 16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48
    ///       - fingerprint_hash_type: md5
    pub struct Present {
        /// The host.
        name: String,
        /// The account whose file it is; the one of all, if not given.
        user: Option<String> = (),
        /// The fingerprint that a key of the host must have.
        fingerprint: Option<String> = (),
        /// The key, which needs `enc` too: then nobody is asked.
        key: Option<String> = (),
        /// The port.
        port: Value = (),
        /// The kind of the key.
        enc: Option<String> = (),
        /// The file.
        config: Option<String> = (),
        /// Whether names are hidden in the file.
        hash_known_hosts: bool = true,
        /// Seconds to wait for the host.
        timeout: Value = 5,
        /// The kind of hash that fingerprints have.
        fingerprint_hash_type: Option<String> = (),
    }
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name.clone();
        let config = match file(&self.user, &self.config) {
            Ok(config) => config,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let has = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        if has(&self.key) && has(&self.fingerprint) {
            return Ok(failed("Specify either \"key\" or \"fingerprint\", not both."));
        }
        if has(&self.key) && !has(&self.enc) {
            return Ok(failed("Required argument \"enc\" if using \"key\" argument."));
        }
        let common = given([
            ("user", self.user.clone().into()),
            ("hostname", name.as_str().into()),
            ("key", self.key.clone().into()),
            ("fingerprint", self.fingerprint.clone().into()),
            ("config", config.as_str().into()),
            ("port", self.port.clone()),
            ("fingerprint_hash_type", self.fingerprint_hash_type.clone().into()),
        ]);
        let check = match context.ctx.run("ssh.check_known_host", Arguments::keywords(common.clone())) {
            Ok(check) => check,
            Err(fault) => return Ok(failed(format!("ssh.check_known_host error: {fault}"))),
        };
        if let Some(error) = check.at("error") {
            return Ok(failed(error.to_text()));
        }
        let would = match check.as_str() {
            Some("exists") => Outcome::done(format!("Host {name} is already in {config}")),
            Some("add") => Outcome::new(None, format!("Key for {name} is set to be added to {config}")),
            _ => Outcome::new(None, format!("Key for {name} is set to be updated in {config}")),
        };
        let apply = move |ctx: &Ctx| {
            let mut arguments = common;
            arguments.extend(given([
                ("enc", self.enc.clone().into()),
                ("hash_known_hosts", self.hash_known_hosts.into()),
                ("timeout", self.timeout.clone()),
            ]));
            let answer = ctx.run("ssh.set_known_host", Arguments::keywords(arguments))?;
            Ok(self.told(&answer, &config))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

impl Present {
    fn told(&self, answer: &Value, config: &str) -> Outcome {
        let name = &self.name;
        match answer.at("status").and_then(Value::as_str) {
            Some("exists") => return Outcome::done(format!("{name} already exists in {config}")),
            Some("error") => {
                return Outcome::failed(answer.at("error").map(Value::to_text).unwrap_or_default());
            }
            _ => {}
        }
        let new = answer.at("new").cloned().unwrap_or_default();
        let first = |key: &str| {
            let one = new.as_list().and_then(<[Value]>::first).and_then(|entry| entry.at(key));
            one.map(Value::to_text).unwrap_or_default()
        };
        let saved = match (&self.key, &self.fingerprint, &self.enc) {
            (Some(_), ..) => format!("{name}'s key saved to {config} (key: {})", first("key")),
            (_, Some(_), _) => format!("{name}'s key saved to {config} (fingerprint: {})", first("fingerprint")),
            (.., Some(enc)) => format!("{name}'s {enc} key saved to {config} (key: {})", first("key")),
            _ => format!("{name}'s key(s) saved to {config}"),
        };
        let old = answer.at("old").cloned().unwrap_or_default();
        Outcome::done(saved).with_changes(from_to(old, new))
    }
}

record! {
    /// Makes sure that another host is not known.
    ///
    ///   github.com:
    ///     ssh_known_hosts.absent:
    ///       - user: root
    pub struct Absent {
        /// The host.
        name: String,
        /// The account whose file it is; the one of all, if not given.
        user: Option<String> = (),
        /// The file.
        config: Option<String> = (),
    }
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        let config = match file(&self.user, &self.config) {
            Ok(config) => config,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let words =
            [("user", self.user.into()), ("hostname", name.as_str().into()), ("config", config.as_str().into())];
        let arguments: Map = Map::from_iter::<[(&str, Value); 3]>(words);
        let known = context.ctx.run("ssh.get_known_host_entries", Arguments::keywords(arguments.clone()))?;
        if !known.truthy() {
            return Ok(already("Host is already absent"));
        }
        let would = Outcome::new(None, format!("Key for {name} is set to be removed from {config}"));
        let apply = move |ctx: &Ctx| {
            let answer = ctx.run("ssh.rm_known_host", Arguments::keywords(arguments))?;
            let text = |key: &str| answer.at(key).map(Value::to_text).unwrap_or_default();
            Ok(match answer.at("status").and_then(Value::as_str) {
                Some("error") => Outcome::failed(text("error")),
                _ => Outcome::done(text("comment")).with_changes(from_to(known, ())),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
