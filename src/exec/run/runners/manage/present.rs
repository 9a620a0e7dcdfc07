//! Which minions are connected, as the master knows at every moment. Nobody is asked. Salt has many names for it.

use crate::runners::{Ctx, Run};
use halite_core::Reply;
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Lists the minions that are connected, without asking them.
    ///
    ///   salt-run manage.present
    ///   salt-run manage.alived show_ip=True
    ///   salt-run manage.joined
    ///   salt-run manage.allowed
    ///   salt-run manage.reaped
    ///   salt-run manage.list_state subset='[web1, web2]'
    pub struct Connected {
        /// Only these ids.
        subset: Option<Vec<String>> = (),
        /// Show the address of each.
        show_ip: bool = false,
    }
}

impl Run for Connected {
    fn run(self, ctx: &Ctx) -> Reply {
        let presence = ctx.fleet.presence()?;
        let connected = presence.connected.into_iter().filter(|id| is_in(self.subset.as_deref(), id));
        if !self.show_ip {
            return Ok(Value::list(connected).into());
        }
        let address = |id: &str| presence.addresses.at(id).cloned().unwrap_or_default();
        Ok(connected.map(|id| (id.clone(), address(&id))).collect::<Map>().into())
    }
}

record! {
    /// Lists the accepted minions that are not connected, without asking anybody.
    ///
    ///   salt-run manage.not_present
    ///   salt-run manage.not_alived
    ///   salt-run manage.not_joined
    ///   salt-run manage.not_allowed
    ///   salt-run manage.not_reaped
    ///   salt-run manage.list_not_state subset='[web1, web2]'
    pub struct NotConnected {
        /// Only these ids.
        subset: Option<Vec<String>> = (),
        /// Taken, not used: who is not connected has no address.
        show_ip: bool = false,
    }
}

impl Run for NotConnected {
    fn run(self, ctx: &Ctx) -> Reply {
        let presence = ctx.fleet.presence()?;
        let is_missing = |id: &String| !presence.connected.contains(id) && is_in(self.subset.as_deref(), id);
        Ok(Value::list(presence.accepted.into_iter().filter(is_missing)).into())
    }
}

fn is_in(subset: Option<&[String]>, id: &str) -> bool {
    subset.is_none_or(|subset| subset.iter().any(|wanted| wanted == id))
}
