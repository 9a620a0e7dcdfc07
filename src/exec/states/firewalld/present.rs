//! `firewalld.present`: a zone and what it has.

use super::kinds::{self, Zone};
use super::{Step, changes_of, done, in_place, told};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, failed, from_to};
use halite_core::{Ctx, Fault};
use halite_node::outputters::{Colors, Style, nested};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Makes sure that a zone is there and has what is listed. What it has besides is left to it, unless `prune_...`.
    ///
    ///   public:
    ///     firewalld.present:
    ///       - masquerade: True
    ///       - ports:
    ///         - 22/tcp
    ///       - port_fwd:
    ///         - 80:443:tcp:192.168.0.1
    ///       - rich_rules:
    ///         - rule service name="salt-master" accept
    pub struct Present {
        /// The zone.
        name: String,
        /// Types of ICMP that it blocks.
        block_icmp: Vec<String> = (),
        /// Whether it blocks no others.
        prune_block_icmp: bool = false,
        /// Whether it is the zone of all interfaces that have none.
        default: bool = false,
        /// Whether it masquerades; nothing: as it is.
        masquerade: Option<bool> = (),
        /// Its ports, `22/tcp`.
        ports: Vec<String> = (),
        /// Whether it has no others.
        prune_ports: bool = false,
        /// Ports that it forwards, `FROM:TO:PROTOCOL[:ADDRESS]`.
        port_fwd: Vec<String> = (),
        /// Whether it forwards no others.
        prune_port_fwd: bool = false,
        /// Its services.
        services: Vec<String> = (),
        /// Whether it has no others.
        prune_services: bool = false,
        /// Its interfaces.
        interfaces: Vec<String> = (),
        /// Whether it has no others.
        prune_interfaces: bool = false,
        /// Addresses and networks whose packets belong to it.
        sources: Vec<String> = (),
        /// Whether no others belong to it.
        prune_sources: bool = false,
        /// Its rich rules, as `firewall-cmd --list-rich-rules` shows them.
        rich_rules: Value = (),
        /// Whether it has no others.
        prune_rich_rules: bool = false,
    }
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name.clone();
        let steps = match self.steps(context.ctx) {
            Ok(steps) => steps,
            Err(fault @ Fault::Execution(_)) => return Ok(failed(told(&fault))),
            Err(fault) => return Err(fault),
        };
        if steps.is_empty() {
            return Ok(already(in_place(&name)));
        }
        // What would change is told in the comment.
        let style = Style { colors: Colors::Off, indent: None, retcode: 0, opts: context.ctx.opts };
        let listed = nested::text(&changes_of(&steps).into(), &style);
        let would = Outcome::new(None, format!("Configuration for '{name}' will change:\n{}", listed.trim_end()));
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| done(ctx, &name, steps)) })
    }
}

impl Present {
    fn steps(self, ctx: &Ctx) -> Result<Vec<Step>, Fault> {
        let name = self.name.as_str();
        let named = || ("zone", Value::from(name));
        let zones = ask(ctx, "firewalld.get_zones", [("permanent", true.into())])?;
        let is_new = !zones.as_list().unwrap_or_default().contains(&name.into());
        let zone = Zone { name, is_new };
        let mut steps = Vec::new();
        if is_new {
            steps.push(Step::one(name, from_to(zones, name), "firewalld.new_zone", [named()]));
        }
        let valid = if self.block_icmp.is_empty() { Vec::new() } else { valid_types(ctx, self.block_icmp)? };
        steps.extend(kinds::ICMP.step(ctx, &zone, valid, self.prune_block_icmp)?);
        if self.default {
            let default = ask(ctx, "firewalld.default_zone", [])?;
            if default.as_str() != Some(name) {
                steps.push(Step::one("default", from_to(default, name), "firewalld.set_default_zone", [named()]));
            }
        }
        let masks = !is_new && ask(ctx, "firewalld.get_masquerade", [named(), ("permanent", true.into())])?.truthy();
        let told = |text: &str| from_to(masks, text);
        let step = |change: Map, fun| Step::one("masquerade", change, fun, [named(), ("permanent", true.into())]);
        match self.masquerade {
            Some(true) if !masks => {
                steps.push(step(told("Masquerading successfully set."), "firewalld.add_masquerade"));
            }
            Some(false) if masks => {
                steps.push(step(told("Masquerading successfully disabled."), "firewalld.remove_masquerade"));
            }
            _ => {}
        }
        let forwards = self.port_fwd.iter().map(|text| kinds::forward(text)).collect::<Result<Vec<Value>, Fault>>()?;
        let lists = [
            (kinds::PORTS, values(self.ports), self.prune_ports),
            (kinds::FORWARDS, forwards, self.prune_port_fwd),
            (kinds::SERVICES, values(self.services), self.prune_services),
            (kinds::INTERFACES, values(self.interfaces), self.prune_interfaces),
            (kinds::SOURCES, values(self.sources), self.prune_sources),
            (kinds::RULES, rules(&self.rich_rules), self.prune_rich_rules),
        ];
        for (kind, wanted, prune) in lists {
            steps.extend(kind.step(ctx, &zone, wanted, prune)?);
        }
        Ok(steps)
    }
}

fn values(texts: Vec<String>) -> Vec<Value> {
    texts.into_iter().map(Value::from).collect()
}

/// Rules may have commas in them, so that a text is one of them.
fn rules(given: &Value) -> Vec<Value> {
    match given {
        Value::Null => Vec::new(),
        Value::List(rules) => rules.iter().map(|rule| kinds::normal(&rule.to_text()).into()).collect(),
        rule => vec![kinds::normal(&rule.to_text()).into()],
    }
}

/// Those that firewalld knows.
fn valid_types(ctx: &Ctx, wanted: Vec<String>) -> Result<Vec<Value>, Fault> {
    let known = ask(ctx, "firewalld.get_icmp_types", [("permanent", true.into())])?;
    let known = known.as_list().unwrap_or_default();
    let (valid, unknown): (Vec<Value>, Vec<Value>) = values(wanted).into_iter().partition(|kind| known.contains(kind));
    for kind in unknown {
        log::error!("{} is an invalid ICMP type", kind.to_text());
    }
    Ok(valid)
}
