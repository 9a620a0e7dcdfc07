//! What a function meets that asks for the master where the minion's daemon does not run.

use crate::exec::Fault;
use crate::exec::context::Master;
use crate::exec::fileserver::Files;
use crate::wire::value::Map;

/// No daemon, and so no way to the master.
pub struct NoDaemon;

impl Master for NoDaemon {
    fn fire_event(&self, _tag: &str, _data: Map) -> Result<(), Fault> {
        Err(missing())
    }

    fn tell_minion(&self, _tag: &str, _data: Map) -> Result<(), Fault> {
        Err(missing())
    }

    fn files(&self) -> Result<Box<dyn Files + '_>, Fault> {
        Err(missing())
    }
}

fn missing() -> Fault {
    Fault::execution("the way to the master is the minion's daemon, which does not run here: start salt-minion")
}
