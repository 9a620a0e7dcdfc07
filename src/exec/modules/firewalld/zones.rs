//! Zones of firewalld, and what belongs to them.

use super::{change, firewall, managed, parsed, with, words, zoned};
use halite_core::module::Run;
use halite_core::{Ctx, Reply};
use halite_value::record;

record! {
    /// Shows the default zone.
    ///
    ///   salt '*' firewalld.default_zone
    pub struct DefaultZone {}
}

impl Run for DefaultZone {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(firewall(ctx, ["--get-default-zone"])?.into())
    }
}

record! {
    /// Removes a zone.
    ///
    ///   salt '*' firewalld.delete_zone my_zone
    pub struct DeleteZone {
        /// The zone.
        zone: String,
        /// Load the rules again then, so that it is in force.
        restart: bool = true,
    }
}

impl Run for DeleteZone {
    fn run(self, ctx: &Ctx) -> Reply {
        managed(ctx, &format!("--delete-zone={}", self.zone), self.restart)
    }
}

record! {
    /// Lists the names of the zones.
    ///
    ///   salt '*' firewalld.get_zones permanent=False
    pub struct GetZones {
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for GetZones {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(words(&firewall(ctx, with("--get-zones", self.permanent))?).into())
    }
}

record! {
    /// Shows all of a zone.
    ///
    ///   salt '*' firewalld.list_all my_zone
    pub struct ListAll {
        /// The zone; without it the default zone.
        zone: Option<String> = (),
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for ListAll {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(parsed(&firewall(ctx, zoned(self.zone.as_deref(), "--list-all", self.permanent))?).into())
    }
}

record! {
    /// Shows all of every zone.
    ///
    ///   salt '*' firewalld.list_zones
    pub struct ListZones {
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for ListZones {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(parsed(&firewall(ctx, with("--list-all-zones", self.permanent))?).into())
    }
}

record! {
    /// Makes a zone.
    ///
    ///   salt '*' firewalld.new_zone my_zone
    pub struct NewZone {
        /// The zone.
        zone: String,
        /// Load the rules again then, so that it is in force.
        restart: bool = true,
    }
}

impl Run for NewZone {
    fn run(self, ctx: &Ctx) -> Reply {
        managed(ctx, &format!("--new-zone={}", self.zone), self.restart)
    }
}

record! {
    /// Sets the default zone.
    ///
    ///   salt '*' firewalld.set_default_zone damian
    pub struct SetDefaultZone {
        /// The zone.
        zone: String,
    }
}

impl Run for SetDefaultZone {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, [format!("--set-default-zone={}", self.zone)])?.into())
    }
}

record! {
    /// Shows the version of firewalld.
    ///
    ///   salt '*' firewalld.version
    pub struct Version {}
}

impl Run for Version {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(firewall(ctx, ["--version"])?.into())
    }
}

record! {
    /// Loads the rules again; connections stay.
    ///
    ///   salt '*' firewalld.reload_rules
    pub struct ReloadRules {}
}

impl Run for ReloadRules {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, ["--reload"])?.into())
    }
}

record! {
    /// Makes the rules that are in force those that stay.
    ///
    ///   salt '*' firewalld.make_permanent
    pub struct MakePermanent {}
}

impl Run for MakePermanent {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, ["--runtime-to-permanent"])?.into())
    }
}

record! {
    /// Lists the interfaces of a zone.
    ///
    ///   salt '*' firewalld.get_interfaces my_zone
    pub struct GetInterfaces {
        /// The zone.
        zone: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for GetInterfaces {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(words(&firewall(ctx, zoned(Some(&self.zone), "--list-interfaces", self.permanent))?).into())
    }
}

record! {
    /// Puts an interface into a zone.
    ///
    ///   salt '*' firewalld.add_interface my_zone eth0
    pub struct AddInterface {
        /// The zone.
        zone: String,
        /// The interface.
        interface: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for AddInterface {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, zoned(Some(&self.zone), &format!("--add-interface={}", self.interface), self.permanent))?.into())
    }
}

record! {
    /// Takes an interface out of a zone.
    ///
    ///   salt '*' firewalld.remove_interface my_zone eth0
    pub struct RemoveInterface {
        /// The zone.
        zone: String,
        /// The interface.
        interface: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for RemoveInterface {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, zoned(Some(&self.zone), &format!("--remove-interface={}", self.interface), self.permanent))?
            .into())
    }
}

record! {
    /// Lists the sources of a zone.
    ///
    ///   salt '*' firewalld.get_sources my_zone
    pub struct GetSources {
        /// The zone.
        zone: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for GetSources {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(words(&firewall(ctx, zoned(Some(&self.zone), "--list-sources", self.permanent))?).into())
    }
}

record! {
    /// Puts a source into a zone.
    ///
    ///   salt '*' firewalld.add_source my_zone 192.168.1.0/24
    pub struct AddSource {
        /// The zone.
        zone: String,
        /// Addresses, as a network.
        source: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for AddSource {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, zoned(Some(&self.zone), &format!("--add-source={}", self.source), self.permanent))?.into())
    }
}

record! {
    /// Takes a source out of a zone.
    ///
    ///   salt '*' firewalld.remove_source my_zone 192.168.1.0/24
    pub struct RemoveSource {
        /// The zone.
        zone: String,
        /// Addresses, as a network.
        source: String,
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for RemoveSource {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, zoned(Some(&self.zone), &format!("--remove-source={}", self.source), self.permanent))?.into())
    }
}
