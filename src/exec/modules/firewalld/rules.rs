//! What zones of firewalld let in, forward, block and masquerade.

use super::services::icmp_types;
use super::{change, firewall, parsed, words, zoned};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Shows whether a zone masquerades.
    ///
    ///   salt '*' firewalld.get_masquerade zone
    pub struct GetMasquerade {
        /// The zone; without it the default zone.
        zone: Option<String> = (),
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for GetMasquerade {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(masquerades(ctx, self.zone.as_deref(), self.permanent)?.into())
    }
}

record! {
    /// Has a zone masquerade.
    ///
    ///   salt '*' firewalld.add_masquerade dmz
    pub struct AddMasquerade {
        /// The zone; without it the default zone.
        zone: Option<String> = (),
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for AddMasquerade {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, zoned(self.zone.as_deref(), "--add-masquerade", self.permanent))?.into())
    }
}

record! {
    /// Has a zone masquerade no more.
    ///
    ///   salt '*' firewalld.remove_masquerade dmz
    pub struct RemoveMasquerade {
        /// The zone; without it the default zone.
        zone: Option<String> = (),
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for RemoveMasquerade {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, zoned(self.zone.as_deref(), "--remove-masquerade", self.permanent))?.into())
    }
}

record! {
    /// Lists the ports that a zone lets in.
    ///
    ///   salt '*' firewalld.list_ports my_zone
    pub struct ListPorts {
        /// The zone.
        zone: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for ListPorts {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(words(&firewall(ctx, zoned(Some(&self.zone), "--list-ports", self.permanent))?).into())
    }
}

record! {
    /// Lets a port into a zone.
    ///
    ///   salt '*' firewalld.add_port internal 443/tcp
    pub struct AddPort {
        /// The zone.
        zone: String,
        /// The port, with its protocol: 443/tcp.
        port: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
        /// Masquerade the zone too.
        force_masquerade: bool = false,
    }
}

impl Run for AddPort {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.force_masquerade {
            masquerade(ctx, &self.zone)?;
        }
        Ok(change(ctx, zoned(Some(&self.zone), &format!("--add-port={}", self.port), self.permanent))?.into())
    }
}

record! {
    /// Lets a port into a zone no more.
    ///
    ///   salt '*' firewalld.remove_port internal 443/tcp
    pub struct RemovePort {
        /// The zone.
        zone: String,
        /// The port, with its protocol: 443/tcp.
        port: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for RemovePort {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, zoned(Some(&self.zone), &format!("--remove-port={}", self.port), self.permanent))?.into())
    }
}

record! {
    /// Forwards a port.
    ///
    ///   salt '*' firewalld.add_port_fwd public 80 443 tcp
    pub struct AddPortFwd {
        /// The zone.
        zone: String,
        /// The port that is forwarded.
        src: String,
        /// The port that it goes to.
        dest: String,
        /// The protocol.
        proto: String = "tcp",
        /// The address that it goes to; empty: this host.
        dstaddr: String = "",
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
        /// Masquerade the zone too.
        force_masquerade: bool = false,
    }
}

impl Run for AddPortFwd {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.force_masquerade {
            masquerade(ctx, &self.zone)?;
        }
        Ok(change(
            ctx,
            zoned(
                Some(&self.zone),
                &forward("--add-forward-port", &self.src, &self.proto, &self.dest, &self.dstaddr),
                self.permanent,
            ),
        )?
        .into())
    }
}

record! {
    /// Forwards a port no more.
    ///
    ///   salt '*' firewalld.remove_port_fwd public 80 443 tcp
    pub struct RemovePortFwd {
        /// The zone.
        zone: String,
        /// The port that is forwarded.
        src: String,
        /// The port that it goes to.
        dest: String,
        /// The protocol.
        proto: String = "tcp",
        /// The address that it goes to; empty: this host.
        dstaddr: String = "",
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for RemovePortFwd {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(
            ctx,
            zoned(
                Some(&self.zone),
                &forward("--remove-forward-port", &self.src, &self.proto, &self.dest, &self.dstaddr),
                self.permanent,
            ),
        )?
        .into())
    }
}

record! {
    /// Lists the ports that are forwarded.
    ///
    ///   salt '*' firewalld.list_port_fwd public
    pub struct ListPortFwd {
        /// The zone.
        zone: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for ListPortFwd {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = firewall(ctx, zoned(Some(&self.zone), "--list-forward-ports", self.permanent))?;
        Ok(text.lines().map(forwarded).collect::<Vec<Value>>().into())
    }
}

record! {
    /// Lists the types of ICMP that a zone blocks.
    ///
    ///   salt '*' firewalld.list_icmp_block zone
    pub struct ListIcmpBlock {
        /// The zone.
        zone: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for ListIcmpBlock {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(blocked(ctx, &self.zone, self.permanent)?.into())
    }
}

record! {
    /// Blocks a type of ICMP. False: there is no such type.
    ///
    ///   salt '*' firewalld.block_icmp zone echo-reply
    pub struct BlockIcmp {
        /// The zone.
        zone: String,
        /// The type.
        icmp: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for BlockIcmp {
    fn run(self, ctx: &Ctx) -> Reply {
        if !icmp_types(ctx, self.permanent)?.contains(&self.icmp) {
            log::error!("Invalid ICMP type");
            return Ok(false.into());
        }
        if blocked(ctx, &self.zone, self.permanent)?.contains(&self.icmp) {
            return Ok("success".into());
        }
        Ok(change(ctx, zoned(Some(&self.zone), &format!("--add-icmp-block={}", self.icmp), self.permanent))?.into())
    }
}

record! {
    /// Blocks a type of ICMP no more. False: there is no such type.
    ///
    ///   salt '*' firewalld.allow_icmp zone echo-reply
    pub struct AllowIcmp {
        /// The zone.
        zone: String,
        /// The type.
        icmp: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for AllowIcmp {
    fn run(self, ctx: &Ctx) -> Reply {
        if !icmp_types(ctx, self.permanent)?.contains(&self.icmp) {
            log::error!("Invalid ICMP type");
            return Ok(false.into());
        }
        if !blocked(ctx, &self.zone, self.permanent)?.contains(&self.icmp) {
            return Ok("success".into());
        }
        Ok(change(ctx, zoned(Some(&self.zone), &format!("--remove-icmp-block={}", self.icmp), self.permanent))?.into())
    }
}

record! {
    /// Lists the rich rules of a zone.
    ///
    ///   salt '*' firewalld.get_rich_rules zone
    pub struct GetRichRules {
        /// The zone.
        zone: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for GetRichRules {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = firewall(ctx, zoned(Some(&self.zone), "--list-rich-rules", self.permanent))?;
        Ok(text.lines().map(Value::from).collect::<Vec<Value>>().into())
    }
}

record! {
    /// Adds a rich rule to a zone.
    ///
    ///   salt '*' firewalld.add_rich_rule zone 'rule protocol value="icmp" accept'
    pub struct AddRichRule {
        /// The zone.
        zone: String,
        /// The rule, as firewalld.richlanguage(5) has it.
        rule: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for AddRichRule {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, zoned(Some(&self.zone), &format!("--add-rich-rule={}", self.rule), self.permanent))?.into())
    }
}

record! {
    /// Takes a rich rule from a zone.
    ///
    ///   salt '*' firewalld.remove_rich_rule zone 'rule protocol value="icmp" accept'
    pub struct RemoveRichRule {
        /// The zone.
        zone: String,
        /// The rule, as firewalld.richlanguage(5) has it.
        rule: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for RemoveRichRule {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, zoned(Some(&self.zone), &format!("--remove-rich-rule={}", self.rule), self.permanent))?.into())
    }
}

fn masquerades(ctx: &Ctx, zone: Option<&str>, permanent: bool) -> Result<bool, Fault> {
    let zones = parsed(&firewall(ctx, zoned(zone, "--list-all", permanent))?);
    let says_no = |zone: &Value| {
        zone.at("masquerade").and_then(Value::as_list).and_then(<[Value]>::first).and_then(Value::as_str) == Some("no")
    };
    Ok(!zones.values().any(says_no))
}

fn masquerade(ctx: &Ctx, zone: &str) -> Result<(), Fault> {
    if !masquerades(ctx, Some(zone), true)? {
        change(ctx, zoned(Some(zone), "--add-masquerade", true))?;
    }
    Ok(())
}

fn forward(option: &str, port: &str, protocol: &str, to: &str, address: &str) -> String {
    format!("{option}=port={port}:proto={protocol}:toport={to}:toaddr={address}")
}

/// `port=80:proto=tcp:toport=443:toaddr=` as a map.
fn forwarded(line: &str) -> Value {
    let mut fields = line.splitn(4, ':').map(|field| field.split_once('=').map_or("", |(_, value)| value));
    let names = ["Source port", "Protocol", "Destination port", "Destination address"];
    Map::from_iter(names.map(|name| (name, fields.next().unwrap_or_default()))).into()
}

fn blocked(ctx: &Ctx, zone: &str, permanent: bool) -> Result<Vec<String>, Fault> {
    Ok(words(&firewall(ctx, zoned(Some(zone), "--list-icmp-blocks", permanent))?))
}
