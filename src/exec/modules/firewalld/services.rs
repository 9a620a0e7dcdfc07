//! Services of firewalld: what they are, and which zones let them in.

use super::{change, firewall, managed, with, words, zoned};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;

record! {
    /// Lists the services that there are.
    ///
    ///   salt '*' firewalld.get_services permanent=False
    pub struct GetServices {
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for GetServices {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(services(ctx, self.permanent)?.into())
    }
}

record! {
    /// Lists the types of ICMP that there are.
    ///
    ///   salt '*' firewalld.get_icmp_types permanent=False
    pub struct GetIcmpTypes {
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for GetIcmpTypes {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(icmp_types(ctx, self.permanent)?.into())
    }
}

record! {
    /// Makes a service.
    ///
    ///   salt '*' firewalld.new_service my_service
    pub struct NewService {
        /// The service.
        name: String,
        /// Load the rules again then, so that it is in force.
        restart: bool = true,
    }
}

impl Run for NewService {
    fn run(self, ctx: &Ctx) -> Reply {
        managed(ctx, &format!("--new-service={}", self.name), self.restart)
    }
}

record! {
    /// Removes a service.
    ///
    ///   salt '*' firewalld.delete_service my_service
    pub struct DeleteService {
        /// The service.
        name: String,
        /// Load the rules again then, so that it is in force.
        restart: bool = true,
    }
}

impl Run for DeleteService {
    fn run(self, ctx: &Ctx) -> Reply {
        managed(ctx, &format!("--delete-service={}", self.name), self.restart)
    }
}

record! {
    /// Lists the services that a zone lets in.
    ///
    ///   salt '*' firewalld.list_services my_zone
    pub struct ListServices {
        /// The zone; without it the default zone.
        zone: Option<String> = (),
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for ListServices {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(words(&firewall(ctx, zoned(self.zone.as_deref(), "--list-services", self.permanent))?).into())
    }
}

record! {
    /// Lets a service into a zone.
    ///
    ///   salt '*' firewalld.add_service ssh my_zone
    pub struct AddService {
        /// The service.
        service: String,
        /// The zone; without it the default zone.
        zone: Option<String> = (),
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for AddService {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, zoned(self.zone.as_deref(), &format!("--add-service={}", self.service), self.permanent))?.into())
    }
}

record! {
    /// Lets a service into a zone no more.
    ///
    ///   salt '*' firewalld.remove_service ssh my_zone
    pub struct RemoveService {
        /// The service.
        service: String,
        /// The zone; without it the default zone.
        zone: Option<String> = (),
        /// In the configuration that stays; else in the one that is in force.
        permanent: bool = true,
    }
}

impl Run for RemoveService {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, zoned(self.zone.as_deref(), &format!("--remove-service={}", self.service), self.permanent))?
            .into())
    }
}

record! {
    /// Lists the ports of a service.
    ///
    ///   salt '*' firewalld.get_service_ports zone
    pub struct GetServicePorts {
        /// The service.
        service: String,
    }
}

impl Run for GetServicePorts {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(words(&firewall(ctx, of_service(&self.service, "--get-ports"))?).into())
    }
}

record! {
    /// Lists the protocols of a service.
    ///
    ///   salt '*' firewalld.get_service_protocols zone
    pub struct GetServiceProtocols {
        /// The service.
        service: String,
    }
}

impl Run for GetServiceProtocols {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(words(&firewall(ctx, of_service(&self.service, "--get-protocols"))?).into())
    }
}

record! {
    /// Adds a port to a service.
    ///
    ///   salt '*' firewalld.add_service_port zone 80
    pub struct AddServicePort {
        /// The service.
        service: String,
        /// The port, with its protocol: 80/tcp.
        port: String,
    }
}

impl Run for AddServicePort {
    fn run(self, ctx: &Ctx) -> Reply {
        if !services(ctx, true)?.contains(&self.service) {
            return Err(Fault::execution("The service does not exist."));
        }
        Ok(change(ctx, of_service(&self.service, &format!("--add-port={}", self.port)))?.into())
    }
}

record! {
    /// Takes a port from a service.
    ///
    ///   salt '*' firewalld.remove_service_port zone 80
    pub struct RemoveServicePort {
        /// The service.
        service: String,
        /// The port, with its protocol: 80/tcp.
        port: String,
    }
}

impl Run for RemoveServicePort {
    fn run(self, ctx: &Ctx) -> Reply {
        if !services(ctx, true)?.contains(&self.service) {
            return Err(Fault::execution("The service does not exist."));
        }
        Ok(change(ctx, of_service(&self.service, &format!("--remove-port={}", self.port)))?.into())
    }
}

record! {
    /// Adds a protocol to a service.
    ///
    ///   salt '*' firewalld.add_service_protocol zone ssh
    pub struct AddServiceProtocol {
        /// The service.
        service: String,
        /// The protocol.
        protocol: String,
    }
}

impl Run for AddServiceProtocol {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, of_service(&self.service, &format!("--add-protocol={}", self.protocol)))?.into())
    }
}

record! {
    /// Takes a protocol from a service.
    ///
    ///   salt '*' firewalld.remove_service_protocol zone ssh
    pub struct RemoveServiceProtocol {
        /// The service.
        service: String,
        /// The protocol.
        protocol: String,
    }
}

impl Run for RemoveServiceProtocol {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(change(ctx, of_service(&self.service, &format!("--remove-protocol={}", self.protocol)))?.into())
    }
}

pub(super) fn services(ctx: &Ctx, permanent: bool) -> Result<Vec<String>, Fault> {
    Ok(words(&firewall(ctx, with("--get-services", permanent))?))
}

pub(super) fn icmp_types(ctx: &Ctx, permanent: bool) -> Result<Vec<String>, Fault> {
    Ok(words(&firewall(ctx, with("--get-icmptypes", permanent))?))
}

fn of_service(service: &str, option: &str) -> Vec<String> {
    vec!["--permanent".to_owned(), format!("--service={service}"), option.to_owned()]
}
