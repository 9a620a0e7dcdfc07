//! `firewalld.*`: the firewall daemon, asked and told by firewall-cmd(1).

mod rules;
mod services;
#[cfg(test)]
mod tests;
mod zones;

use halite_core::module::{Module, function};
use halite_core::program::{Answer, Program};
use halite_core::{Ctx, Fault, Reply};
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "firewalld",
    doc: "Zones, services and rules of firewalld.",
    functions: &[
        function::<zones::AddInterface>("add_interface"),
        function::<rules::AddMasquerade>("add_masquerade"),
        function::<rules::AddPort>("add_port"),
        function::<rules::AddPortFwd>("add_port_fwd"),
        function::<rules::AddRichRule>("add_rich_rule"),
        function::<services::AddService>("add_service"),
        function::<services::AddServicePort>("add_service_port"),
        function::<services::AddServiceProtocol>("add_service_protocol"),
        function::<zones::AddSource>("add_source"),
        function::<rules::AllowIcmp>("allow_icmp"),
        function::<rules::BlockIcmp>("block_icmp"),
        function::<zones::DefaultZone>("default_zone"),
        function::<services::DeleteService>("delete_service"),
        function::<zones::DeleteZone>("delete_zone"),
        function::<services::GetIcmpTypes>("get_icmp_types"),
        function::<zones::GetInterfaces>("get_interfaces"),
        function::<rules::GetMasquerade>("get_masquerade"),
        function::<rules::GetRichRules>("get_rich_rules"),
        function::<services::GetServicePorts>("get_service_ports"),
        function::<services::GetServiceProtocols>("get_service_protocols"),
        function::<services::GetServices>("get_services"),
        function::<zones::GetSources>("get_sources"),
        function::<zones::GetZones>("get_zones"),
        function::<zones::ListAll>("list_all"),
        function::<rules::ListIcmpBlock>("list_icmp_block"),
        function::<rules::ListPortFwd>("list_port_fwd"),
        function::<rules::ListPorts>("list_ports"),
        function::<services::ListServices>("list_services"),
        function::<zones::ListZones>("list_zones"),
        function::<zones::MakePermanent>("make_permanent"),
        function::<services::NewService>("new_service"),
        function::<zones::NewZone>("new_zone"),
        function::<zones::ReloadRules>("reload_rules"),
        function::<zones::RemoveInterface>("remove_interface"),
        function::<rules::RemoveMasquerade>("remove_masquerade"),
        function::<rules::RemovePort>("remove_port"),
        function::<rules::RemovePortFwd>("remove_port_fwd"),
        function::<rules::RemoveRichRule>("remove_rich_rule"),
        function::<services::RemoveService>("remove_service"),
        function::<services::RemoveServicePort>("remove_service_port"),
        function::<services::RemoveServiceProtocol>("remove_service_protocol"),
        function::<zones::RemoveSource>("remove_source"),
        function::<zones::SetDefaultZone>("set_default_zone"),
        function::<zones::Version>("version"),
    ],
};

/// Asks firewall-cmd(1); what it prints.
fn firewall<T: Into<String>>(ctx: &Ctx, words: impl IntoIterator<Item = T>) -> Result<String, Fault> {
    printed(Program::new(["firewall-cmd"]).args(words).query(ctx)?)
}

/// Has firewall-cmd(1) change something.
fn change<T: Into<String>>(ctx: &Ctx, words: impl IntoIterator<Item = T>) -> Result<String, Fault> {
    printed(Program::new(["firewall-cmd"]).args(words).run(ctx)?)
}

fn printed(answer: Answer) -> Result<String, Fault> {
    Ok(answer.expect_success("firewall-cmd failed")?.stdout)
}

/// An option, of the configuration that stays or of the one in force.
fn with(option: &str, permanent: bool) -> Vec<String> {
    zoned(None, option, permanent)
}

/// The same of a zone.
fn zoned(zone: Option<&str>, option: &str, permanent: bool) -> Vec<String> {
    let zone = zone.filter(|zone| !zone.is_empty()).map(|zone| format!("--zone={zone}"));
    zone.into_iter().chain([option.to_owned()]).chain(permanent.then(|| "--permanent".to_owned())).collect()
}

/// Makes or removes a zone or a service, and loads the rules again where that is asked for.
fn managed(ctx: &Ctx, option: &str, reloads: bool) -> Reply {
    let done = change(ctx, [option, "--permanent"])?;
    match reloads && done == "success" {
        true => Ok(change(ctx, ["--reload"])?.into()),
        false => Ok(done.into()),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Zones as firewall-cmd(1) lists them: a name, then what belongs to it, each with its lines.
fn parsed(text: &str) -> Map {
    let mut zones = Map::new();
    let (mut zone, mut key) = (String::new(), String::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            zone = line.trim_end().to_owned();
            continue;
        }
        let Some(Value::Map(fields)) = (match zones.at(&zone) {
            Some(_) => zones.at_mut(&zone),
            None => {
                zones.insert(zone.as_str(), Map::new());
                zones.at_mut(&zone)
            }
        }) else {
            continue;
        };
        match (line.starts_with('\t'), line.split_once(':')) {
            (false, Some((name, value))) => {
                key = name.trim().to_owned();
                fields.insert(key.as_str(), Value::List(vec![value.trim().into()]));
            }
            _ => {
                if let Some(Value::List(lines)) = fields.at_mut(&key) {
                    lines.push(line.trim().into());
                }
            }
        }
    }
    zones
}
