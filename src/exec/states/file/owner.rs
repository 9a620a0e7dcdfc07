//! Plans for owners that there may not be.

use halite_core::state::{Outcome, Plan, failed, stands};

/// A plan for an owner of whom something is missing: a state before this one may make it, so test mode goes on as if that
/// were done.
pub fn owned(missing: Option<String>, plan: Plan) -> Plan {
    match (missing, plan) {
        (Some(missing), Plan::Changes { would, .. }) => stands(would, Outcome::failed(missing)),
        (Some(missing), _) => failed(missing),
        (None, plan) => plan,
    }
}
