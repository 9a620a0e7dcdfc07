//! Who on the master's host may do what: root and the master's own user everything, others what `publisher_acl` allows.

use super::local::functions_of;
use halite_lang::regex::Regex;
use halite_lang::target::fnmatch::Pattern;
use halite_value::{Map, Value};
use halite_wire::message::Publish;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Looks up the name of a uid.
pub type NameOf = Arc<dyn Fn(u32) -> Option<String> + Send + Sync>;

pub struct Acl {
    /// The user that the master runs as.
    own: u32,
    name_of: NameOf,
    names: Mutex<HashMap<u32, String>>,
    allow: Map,
    blocked_users: Vec<String>,
    blocked_modules: Vec<String>,
    sudo_acl: SudoAcl,
}

/// Whether who came by sudo is judged as themselves (`sudo_acl`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SudoAcl {
    Checked,
    AsRoot,
}

/// What a caller wants.
#[derive(Clone, Copy)]
pub enum Verb<'a> {
    Publish(&'a Publish),
    /// See jobs and presence.
    Look,
    /// What is for root and the master's user alone.
    Own,
}

/// Somebody on the master's host.
pub struct Caller<'a> {
    acl: &'a Acl,
    pub name: String,
    owner: bool,
}

impl Acl {
    pub fn new(own: u32, opts: &Map, name_of: NameOf) -> Acl {
        let list = |value: Option<&Value>| -> Vec<String> {
            value.and_then(Value::as_list).unwrap_or_default().iter().map(Value::to_text).collect()
        };
        let blacklist = opts.at("publisher_acl_blacklist");
        Acl {
            own,
            name_of,
            names: Mutex::default(),
            allow: opts.at("publisher_acl").and_then(Value::as_map).cloned().unwrap_or_default(),
            blocked_users: list(blacklist.and_then(|list| list.at("users"))),
            blocked_modules: list(blacklist.and_then(|list| list.at("modules"))),
            sudo_acl: if opts.at("sudo_acl").is_some_and(Value::truthy) { SudoAcl::Checked } else { SudoAcl::AsRoot },
        }
    }

    pub async fn caller(&self, uid: u32) -> Caller<'_> {
        Caller { acl: self, name: self.name(uid).await, owner: uid == 0 || uid == self.own }
    }

    /// Names change rarely, and asking for one reads files and may start a program: it is done once, and not on the thread
    /// of whoever asks.
    async fn name(&self, uid: u32) -> String {
        let names = || self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names().get(&uid).cloned();
        if let Some(name) = known {
            return name;
        }
        let name_of = self.name_of.clone();
        let name = smol::unblock(move || name_of(uid)).await.unwrap_or_else(|| format!("uid {uid}"));
        names().entry(uid).or_insert(name).clone()
    }

    /// What the list says for a user: the entries of every pattern that means them.
    fn entries(&self, user: &str) -> Vec<&Value> {
        let means = |pattern: &Value| pattern.as_str().is_some_and(|pattern| Pattern::new(pattern).matches(user));
        self.allow
            .iter()
            .filter(|(pattern, _)| means(pattern))
            .flat_map(|(_, entry)| entry.as_list().unwrap_or_default())
            .collect()
    }
}

impl Caller<'_> {
    /// The error is a sentence for the caller.
    pub fn allows(&self, verb: Verb) -> Result<(), String> {
        let denied = |what: &str| Err(format!("the user '{}' may not {what} (publisher_acl)", self.name));
        match verb {
            Verb::Own if self.owner => Ok(()),
            Verb::Own => Err(format!("the user '{}' is neither root nor the master's user", self.name)),
            Verb::Look if self.owner || !self.acl.entries(&self.name).is_empty() => Ok(()),
            Verb::Look => denied("ask this master"),
            Verb::Publish(publish) => {
                let user = match (&publish.sudo_user, self.acl.sudo_acl) {
                    (Some(user), SudoAcl::Checked) if self.owner => user.as_str(),
                    _ if self.owner => return Ok(()),
                    _ => self.name.as_str(),
                };
                self.may_publish(user, publish)
            }
        }
    }

    /// Whether a job of this user may be looked at: one's own; root and the master's user see all.
    pub fn may_see(&self, user: Option<&str>) -> bool {
        self.owner || user.is_none_or(|user| user == self.name)
    }

    /// The name that a job carries.
    pub fn job_user(&self, publish: &Publish) -> String {
        match &publish.sudo_user {
            Some(user) if self.owner => format!("sudo_{user}"),
            _ => self.name.clone(),
        }
    }

    /// Every function must be allowed, none may be blocked.
    fn may_publish(&self, user: &str, publish: &Publish) -> Result<(), String> {
        if self.acl.blocked_users.iter().any(|pattern| full_match(pattern, user)) {
            return Err(format!("the user '{user}' is blocked (publisher_acl_blacklist)"));
        }
        let entries = self.acl.entries(user);
        for function in functions_of(publish) {
            if self.acl.blocked_modules.iter().any(|pattern| full_match(pattern, &function)) {
                return Err(format!("the function '{function}' is blocked (publisher_acl_blacklist)"));
            }
            if !entries.iter().any(|entry| entry_allows(entry, &function, publish)) {
                return Err(format!("the user '{user}' may not run '{function}' here (publisher_acl)"));
            }
        }
        Ok(())
    }
}

/// An entry is a pattern of functions, or a map from a target to such patterns. A target counts when it is written as
/// the caller's target is, or when the caller's is a list of ids that all match it.
pub(super) fn entry_allows(entry: &Value, function: &str, publish: &Publish) -> bool {
    match entry {
        Value::Str(pattern) => full_match(pattern, function),
        Value::Map(targets) => targets.iter().any(|(target, functions)| {
            let functions = match functions {
                Value::List(functions) => functions.as_slice(),
                one => std::slice::from_ref(one),
            };
            target_covers(&target.to_text(), publish)
                && functions.iter().any(|pattern| function_matches(pattern, function))
        }),
        _ => false,
    }
}

fn function_matches(pattern: &Value, function: &str) -> bool {
    match pattern {
        Value::Str(pattern) => full_match(pattern, function),
        // `- test.echo: {args: [...]}`: arguments are not judged here, so such an entry allows nothing.
        _ => false,
    }
}

fn target_covers(allowed: &str, publish: &Publish) -> bool {
    let glob = Pattern::new(allowed);
    match (&publish.tgt, publish.tgt_type.as_str()) {
        (Value::List(ids), "list") => {
            !ids.is_empty() && ids.iter().all(|id| id.as_str().is_some_and(|id| glob.matches(id)))
        }
        (Value::Str(ids), "list") => ids.split(',').all(|id| glob.matches(id.trim())),
        (Value::Str(tgt), "glob") if !tgt.contains(['*', '?', '[']) => glob.matches(tgt),
        (Value::Str(tgt), "glob") => tgt == allowed || allowed == "*",
        _ => allowed == "*",
    }
}

/// Patterns are Python's regular expressions that match all of the text.
pub(super) fn full_match(pattern: &str, text: &str) -> bool {
    pattern == text || Regex::new(pattern).is_ok_and(|pattern| matches!(pattern.full_match(text), Ok(Some(_))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_value::parse_json;

    fn acl(json: &str) -> Acl {
        let Value::Map(opts) = parse_json(json).unwrap() else {
            panic!("not a map");
        };
        let name_of = |uid| match uid {
            1000 => Some("fred".to_owned()),
            1001 => Some("eve".to_owned()),
            _ => None,
        };
        Acl::new(500, &opts, Arc::new(name_of))
    }

    fn publish(fun: Value, tgt: &str) -> Publish {
        Publish { fun, tgt: tgt.into(), tgt_type: "glob".to_owned(), ..Publish::default() }
    }

    #[test]
    fn root_and_the_masters_user_may_everything_and_a_stranger_nothing() {
        let acl = acl(r#"{"publisher_acl": {"fred": ["test.*"]}}"#);
        let job = publish("cmd.run".into(), "*");
        for uid in [0, 500] {
            assert!(smol::block_on(acl.caller(uid)).allows(Verb::Publish(&job)).is_ok());
            assert!(smol::block_on(acl.caller(uid)).allows(Verb::Own).is_ok());
        }
        for verb in [Verb::Publish(&job), Verb::Look, Verb::Own] {
            assert!(smol::block_on(acl.caller(1001)).allows(verb).is_err());
        }
        assert!(smol::block_on(acl.caller(1000)).allows(Verb::Look).is_ok());
        assert!(smol::block_on(acl.caller(1000)).allows(Verb::Own).is_err());
        assert!(
            smol::block_on(acl.caller(1000)).may_see(Some("fred"))
                && !smol::block_on(acl.caller(1000)).may_see(Some("root"))
        );
        assert!(smol::block_on(acl.caller(0)).may_see(Some("fred")));
    }

    #[test]
    fn every_function_of_a_job_must_be_allowed() {
        let acl = acl(r#"{"publisher_acl": {"fre*": ["test.*", {"web*": ["cmd.run"]}]}}"#);
        let fred = smol::block_on(acl.caller(1000));
        let may = |fun: Value, tgt: &str| fred.allows(Verb::Publish(&publish(fun, tgt))).is_ok();
        assert!(may("test.ping".into(), "*"));
        assert!(!may("cmd.run".into(), "*"));
        assert!(!may("atest.ping".into(), "*"));
        assert!(may("cmd.run".into(), "web1"));
        assert!(may("cmd.run".into(), "web*"));
        assert!(!may("cmd.run".into(), "w*"));
        assert!(!may(Value::list(["test.ping", "cmd.run"]), "*"));
        assert!(may(Value::list(["test.ping", "cmd.run"]), "web1"));
    }

    #[test]
    fn the_blacklist_comes_first_and_sudo_is_judged_where_it_is_asked_for() {
        let acl = acl(r#"{"publisher_acl": {"fred": [".*"]}, "sudo_acl": true,
                "publisher_acl_blacklist": {"users": ["ev."], "modules": ["cmd.*"]}}"#);
        let fred = smol::block_on(acl.caller(1000));
        assert!(fred.allows(Verb::Publish(&publish("test.ping".into(), "*"))).is_ok());
        assert!(fred.allows(Verb::Publish(&publish("cmd.run".into(), "*"))).is_err());
        let mut job = publish("test.ping".into(), "*");
        job.sudo_user = Some("eve".to_owned());
        assert!(smol::block_on(acl.caller(0)).allows(Verb::Publish(&job)).is_err());
        assert_eq!(smol::block_on(acl.caller(0)).job_user(&job), "sudo_eve");
        assert_eq!(fred.job_user(&job), "fred", "only root says who called sudo");
    }
}
