//! `host.*`: the names in /etc/hosts.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, from_to, single, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

pub const MODULE: Module = Module { name: "host", doc: "The names in /etc/hosts.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Absent>("absent"), state::<Only>("only"), state::<Present>("present")];

record! {
    /// Makes sure that a name has addresses in /etc/hosts.
    ///
    ///   salt-master:
    ///     host.present:
    ///       - ip: 192.168.0.42
    pub struct Present {
        /// The name.
        name: String,
        /// Its address, or several.
        ip: Value,
        /// A comment behind each.
        comment: Option<String> = "",
        /// Whether other addresses that it has are removed.
        clean: bool = false,
    }
}

fn listed(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        one => vec![one.to_text()],
    }
}

/// What is done about one address.
enum Step {
    Add(String),
    Comment(String, String),
    Remove(String),
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let addresses = listed(&self.ip);
        let name = self.name;
        let comment = self.comment.unwrap_or_default();
        let all = context.ctx.run("hosts.list_hosts", Arguments::default())?;
        let all = all.as_map().cloned().unwrap_or_default();
        let (mut comments, mut warnings, mut steps, mut is_wrong) = (Vec::new(), Vec::new(), Vec::new(), false);
        let mut later = Vec::new();
        for address in addresses.iter().filter(|address| !all.contains(address)) {
            steps.push(Step::Add(address.clone()));
            if !comment.is_empty() {
                later.push(Step::Comment(address.clone(), comment.clone()));
            }
        }
        let mut removed = Vec::new();
        for (address, info) in all.iter().map(|(address, info)| (address.to_text(), info)) {
            let names = info.at("aliases").and_then(Value::as_list).unwrap_or_default();
            let is_named = names.iter().any(|alias| alias.as_str() == Some(name.as_str()));
            if !addresses.contains(&address) {
                if is_named && self.clean {
                    removed.push(Step::Remove(address));
                } else if is_named {
                    warnings.push(format!(
                        "Host {name} present for IP address {address}. To get rid of this warning, either run this state \
                         with 'clean' set to True to remove {name} from {address}, or add {address} to the 'ip' argument."
                    ));
                }
            } else if is_named {
                let own = info.at("comment").map(Value::to_text);
                match !comment.is_empty() && own.as_deref() != Some(comment.as_str()) {
                    true => later.push(Step::Comment(address, comment.clone())),
                    false => comments.push(format!("Host {name} ({address}) already present")),
                }
            } else if address.parse::<std::net::IpAddr>().is_ok() {
                steps.push(Step::Add(address.clone()));
                if !comment.is_empty() {
                    later.push(Step::Comment(address, comment.clone()));
                }
            } else {
                is_wrong = true;
                comments.push(format!("Invalid IP Address for {name} ({address})"));
            }
        }
        steps.extend(later);
        steps.extend(removed);
        let warned = move |outcome: Outcome| match warnings.is_empty() {
            true => outcome,
            false => outcome.with("warnings", Value::list(warnings.iter().map(String::as_str))),
        };
        let start = Outcome::new(Some(!is_wrong), "");
        if steps.is_empty() {
            return Ok(Plan::Stands(warned(Outcome { comment: comments.join("\n"), ..start })));
        }
        let mut would = Told { outcome: start.clone(), comments: comments.clone() };
        steps.iter().for_each(|step| would.announce(&name, step));
        let would = warned(would.end());
        let apply = move |ctx: &Ctx| {
            let mut told = Told { outcome: start, comments };
            for step in &steps {
                told.take(ctx, &name, step)?;
            }
            Ok(warned(told.end()))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

struct Told {
    outcome: Outcome,
    comments: Vec<String>,
}

impl Told {
    fn announce(&mut self, name: &str, step: &Step) {
        self.comments.push(match step {
            Step::Add(address) => format!("Host {name} ({address}) would be added"),
            Step::Comment(address, comment) => format!("Comment for {address} ({comment}) would be added"),
            Step::Remove(address) => format!("Host {name} ({address}) would be removed"),
        });
        if !matches!(step, Step::Comment(..)) {
            self.outcome.result = None;
        }
        self.note(name, step);
    }

    fn take(&mut self, ctx: &Ctx, name: &str, step: &Step) -> Result<(), Fault> {
        let (done, text, failure) = match step {
            Step::Add(address) => (
                ask(ctx, "hosts.add_host", [("ip", address.as_str().into()), ("alias", name.into())])?,
                format!("Added host {name} ({address})"),
                format!("Failed to add host {name} ({address})"),
            ),
            Step::Comment(address, comment) => (
                ask(ctx, "hosts.set_comment", [("ip", address.as_str().into()), ("comment", comment.as_str().into())])?,
                format!("Set comment for host {address} ({comment})"),
                format!("Failed to add comment for host {address} ({comment})"),
            ),
            Step::Remove(address) => (
                ask(ctx, "hosts.rm_host", [("ip", address.as_str().into()), ("alias", name.into())])?,
                format!("Removed host {name} ({address})"),
                format!("Failed to remove host {name} ({address})"),
            ),
        };
        match done.truthy() {
            true => {
                self.comments.push(text);
                self.note(name, step);
            }
            false => {
                self.comments.push(failure);
                self.outcome.result = Some(false);
            }
        }
        Ok(())
    }

    fn note(&mut self, name: &str, step: &Step) {
        let (kind, address, what) = match step {
            Step::Add(address) => ("added", address, name),
            Step::Comment(address, comment) => ("comment_added", address, comment.as_str()),
            Step::Remove(address) => ("removed", address, name),
        };
        if let Value::Map(of_kind) = self.outcome.changes.entry_or(kind, || Map::new().into())
            && let Value::List(items) = of_kind.entry_or(address.as_str(), || Value::List(Vec::new()))
        {
            items.push(what.into());
        }
    }

    fn end(self) -> Outcome {
        Outcome { comment: self.comments.join("\n"), ..self.outcome }
    }
}

record! {
    /// Makes sure that a name does not have an address in /etc/hosts.
    ///
    ///   salt-master:
    ///     host.absent:
    ///       - ip: 192.168.0.42
    pub struct Absent {
        /// The name.
        name: String,
        /// The address, or several.
        ip: Value,
    }
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        let mut found = Vec::new();
        let mut is_any_absent = false;
        let mut would = Vec::new();
        for address in listed(&self.ip) {
            let there =
                ask(context.ctx, "hosts.has_pair", [("ip", address.as_str().into()), ("alias", name.as_str().into())])?;
            match there.truthy() {
                true => would.push(format!("Host {name} ({address}) needs to be removed")),
                false => {
                    is_any_absent = true;
                    would.push(format!("Host {name} ({address}) already absent"));
                }
            }
            found.push((address, there.truthy()));
        }
        let is_all_absent = found.iter().all(|(_, there)| !there);
        if is_all_absent {
            return Ok(already(would.join("\n")));
        }
        // Salt says True where one of them is gone already.
        let would = Outcome::new(is_any_absent.then_some(true), would.join("\n"));
        let apply = move |ctx: &Ctx| {
            let mut outcome = Outcome::done("");
            let mut comments = Vec::new();
            for (address, there) in found {
                if !there {
                    comments.push(format!("Host {name} ({address}) already absent"));
                    continue;
                }
                let arguments = [("ip", address.as_str().into()), ("alias", name.as_str().into())];
                match ask(ctx, "hosts.rm_host", arguments)?.truthy() {
                    true => {
                        outcome.changes = single("host", name.as_str());
                        comments.push(format!("Removed host {name} ({address})"));
                    }
                    false => {
                        outcome.result = Some(false);
                        comments.push("Failed to remove host".to_owned());
                    }
                }
            }
            outcome.comment = comments.join("\n");
            Ok(outcome)
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

record! {
    /// Makes sure that an address in /etc/hosts has these names and no others.
    ///
    ///   127.0.0.1:
    ///     host.only:
    ///       - hostnames:
    ///         - localhost
    pub struct Only {
        /// The address.
        name: String,
        /// Its names.
        hostnames: Value,
    }
}

impl State for Only {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        let old = ask(context.ctx, "hosts.get_alias", [("ip", name.as_str().into())])?;
        let old = old.as_list().unwrap_or_default().iter().map(Value::to_text).collect::<Vec<String>>().join(" ");
        let new = listed(&self.hostnames).iter().map(|host| host.trim()).collect::<Vec<&str>>().join(" ");
        if old == new {
            return Ok(already(format!("IP address {name} already set to \"{new}\"")));
        }
        let would = Outcome::new(None, format!("Would change {name} from \"{old}\" to \"{new}\""));
        let apply = move |ctx: &Ctx| {
            let done = ask(ctx, "hosts.set_host", [("ip", name.as_str().into()), ("alias", new.as_str().into())])?;
            Ok(match done.truthy() {
                true => Outcome::done(format!("successfully changed {name} from \"{old}\" to \"{new}\""))
                    .with_changes(single(&name, from_to(old, new))),
                false => Outcome::failed(format!("hosts.set_host failed to change {name} from \"{old}\" to \"{new}\"")),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
