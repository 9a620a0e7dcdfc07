//! The state compiler: from the top file and SLS files to the low chunks that are run, in order.
//!
//! Each step is a file: the top file says which SLS the minion has ([`top`]), they become high data ([`render`]), which is
//! checked ([`verify`]), extended ([`extend`], [`requisite_in`]) and cut into low chunks ([`low`]), whose requisites make
//! a graph ([`graph`]) that gives them their order. [`run`] runs them.
//!
//! Errors are texts, several at a time, as Salt returns them: what is wrong with somebody's SLS files.

pub mod exclude;
pub mod extend;
pub mod find;
pub mod graph;
pub mod low;
pub mod pauses;
mod places;
pub mod render;
pub mod requisite_in;
pub mod run;
mod sheet;
#[cfg(test)]
mod tests;
pub mod top;
pub mod turn;
pub mod verify;

use halite_core::{Ctx, Fault};
use halite_node::sls::Tree;
use halite_value::{Map, Value};
use indexmap::IndexMap;
use std::cell::Cell;

/// SLS by environment, in order.
pub type Matches = IndexMap<String, Vec<String>>;

/// The number of the first state; each one that has no `order` of its own gets the next.
const FIRST_ORDER: i64 = 10_000;

/// Compiles the states of one run.
pub struct Compiler<'a> {
    pub ctx: &'a Ctx<'a>,
    pub tree: Tree<'a>,
    /// In the order in which their top files count.
    pub environments: Vec<String>,
    /// The order of the next state.
    order: Cell<i64>,
}

impl<'a> Compiler<'a> {
    pub fn new(ctx: &'a Ctx<'a>) -> Result<Compiler<'a>, Fault> {
        let tree = Tree::of_states(ctx);
        let environments = environments(ctx.opts, &tree.environments()?);
        Ok(Compiler { ctx, tree, environments, order: Cell::new(FIRST_ORDER) })
    }

    /// The high data of the top file, or what is wrong with it.
    pub fn highstate(&self) -> Result<Map, Vec<String>> {
        let top = self.top();
        let mut errors = top::verify(&top);
        let (high, more) = self.render(&self.matches(&top));
        errors.extend(more);
        if errors.is_empty() { Ok(high) } else { Err(errors) }
    }

    /// The option `saltenv`, if one is set.
    pub fn saltenv(&self) -> Option<&str> {
        self.ctx.opts.str_at("saltenv").filter(|saltenv| !saltenv.is_empty())
    }

    fn has_environment(&self, saltenv: &str) -> bool {
        self.environments.iter().any(|name| name == saltenv)
    }
}

/// High data with all that extends it, as it is cut into chunks.
pub fn complete(high: Map, opts: &Map) -> Result<Map, Vec<String>> {
    let (high, mut errors) = extend::reconcile(high, find::By::Name);
    errors.extend(verify::high(&high));
    if !errors.is_empty() {
        return Err(errors);
    }
    let (high, errors) = requisite_in::apply(high, opts);
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(exclude::apply(high))
}

fn environments(opts: &Map, served: &[String]) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    for name in opts.at("env_order").and_then(Value::as_list).unwrap_or_default() {
        let name = name.to_text();
        if !order.contains(&name) {
            order.push(name);
        }
    }
    if !order.is_empty() {
        order.retain(|name| served.is_empty() || served.contains(name));
        return order;
    }
    let mut names = vec!["base".to_owned()];
    let roots = opts.at("file_roots").and_then(Value::as_map).filter(|_| opts.str_at("file_client") == Some("local"));
    let configured = roots.into_iter().flat_map(|roots| roots.keys().map(Value::to_text));
    for name in configured.chain(served.iter().cloned()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
