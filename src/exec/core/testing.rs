//! What tests of functions and states live in.

mod needs;

pub use needs::{Need, host_has, left_out};

use super::context::{Call, Ctx, Master};
use super::host::Host;
use super::host::fake::Fake;
use crate::function::{Module, Table};
use crate::module::{Functions, RunFn};
use halite_value::Map;
use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;

/// Which functions a test can call.
pub trait Known {
    fn functions() -> &'static dyn Functions;
}

/// All that a call in a test lives in: a fake host and nothing else, to be filled in.
pub struct WorldOf<K> {
    pub host: Fake,
    pub grains: Map,
    pub pillar: Map,
    pub opts: Map,
    pub call: Call,
    pub cancelled: AtomicBool,
    /// The functions that there are.
    pub known: PhantomData<K>,
}

impl<K> Default for WorldOf<K> {
    fn default() -> WorldOf<K> {
        WorldOf {
            host: Fake::default(),
            grains: Map::new(),
            pillar: Map::new(),
            opts: Map::new(),
            call: Call::default(),
            cancelled: AtomicBool::default(),
            known: PhantomData,
        }
    }
}

impl<K: Known> WorldOf<K> {
    pub fn new() -> WorldOf<K> {
        WorldOf::default()
    }

    pub fn on(host: Fake) -> WorldOf<K> {
        WorldOf { host, ..WorldOf::default() }
    }

    pub fn ctx<'a>(&'a self, master: &'a dyn Master) -> Ctx<'a> {
        self.ctx_on(&self.host, master)
    }

    pub fn ctx_on<'a>(&'a self, host: &'a dyn Host, master: &'a dyn Master) -> Ctx<'a> {
        Ctx {
            host,
            master,
            functions: K::functions(),
            grains: &self.grains,
            pillar: &self.pillar,
            opts: &self.opts,
            call: &self.call,
            cancelled: &self.cancelled,
            scratch: Default::default(),
            audience: Default::default(),
        }
    }
}

/// None.
pub struct Nothing;

impl Known for Nothing {
    fn functions() -> &'static dyn Functions {
        static NOTHING: Table<RunFn> = Table(&[]);
        &NOTHING
    }
}

pub type World = WorldOf<Nothing>;

/// The law of every list of modules. Sorted, so that lists of them are, and without doubles; each is documented.
pub fn assert_sorted_and_documented<F>(modules: &[&'static Module<F>]) {
    assert!(modules.is_sorted_by(|a, b| a.name < b.name));
    for module in modules {
        assert!(!module.doc.is_empty(), "{} has no doc", module.name);
        assert!(module.functions.is_sorted_by(|a, b| a.name < b.name), "{} is not sorted", module.name);
        for function in module.functions {
            assert!(!function.info.doc.is_empty(), "{}.{} has no doc", module.name, function.name);
        }
    }
}
