//! Functions by name: what execution modules and runners have in common.
//!
//! A function is a record of its arguments ([`record!`](halite_value::record)) and something to do with them. What it is given
//! to do it in differs from kind to kind, and so the kind says how one is run: `F` is that function pointer.

use super::Fault;
use halite_value::record::{ArgumentError, Arguments, Info, Record};
use strsim::osa_distance;

/// The functions under one name.
#[derive(Debug)]
pub struct Module<F: 'static> {
    pub name: &'static str,
    pub doc: &'static str,
    pub functions: &'static [Function<F>],
}

/// One function as the tables know it.
#[derive(Clone, Copy, Debug)]
pub struct Function<F> {
    pub name: &'static str,
    pub info: &'static Info,
    pub place: Place,
    /// Binds the arguments and runs.
    pub run: F,
    /// Whether a call changes its first argument to what it answers. A template shares its maps, and sees that.
    pub changes_first: fn(&Arguments) -> bool,
    bind: fn(Arguments) -> Result<(), ArgumentError>,
}

/// Where a daemon may run a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the daemon itself: bounded in time, pure, touches no host state and cannot block.
    Inline,
    /// In a process of its own, which can be killed and gives its memory back.
    Worker,
}

impl<F> Function<F> {
    /// The entry for a record of arguments.
    pub const fn of<R: Record>(name: &'static str, run: F) -> Function<F> {
        Function {
            name,
            info: R::INFO,
            place: Place::Worker,
            run,
            changes_first: |_| false,
            bind: |arguments| R::bind(arguments).map(drop),
        }
    }

    /// Whether arguments fit, without a call.
    pub fn check(&self, arguments: Arguments) -> Result<(), ArgumentError> {
        (self.bind)(arguments)
    }

    /// The documentation, as `sys.doc` shows it: the text, the arguments.
    pub fn doc(&self) -> String {
        self.info.text()
    }
}

impl<F: Copy> Function<F> {
    /// For functions that may run on a thread of the daemon; see [`Place::Inline`].
    pub const fn inline(self) -> Function<F> {
        Function { place: Place::Inline, ..self }
    }

    /// For functions that change their first argument; see [`Function::changes_first`].
    pub const fn changing_first(self, when: fn(&Arguments) -> bool) -> Function<F> {
        Function { changes_first: when, ..self }
    }
}

/// Where functions are found by name: lists of modules, each sorted by name. A name is in one of them alone.
pub struct Table<F: 'static>(pub &'static [&'static [&'static Module<F>]]);

impl<F> Table<F> {
    /// All modules, sorted by name.
    pub fn modules(&self) -> Vec<&'static Module<F>> {
        let mut all: Vec<_> = self.0.iter().copied().flatten().copied().collect();
        all.sort_by_key(|module| module.name);
        all
    }

    /// The function called `mod.fun`.
    pub fn find(&self, fun: &str) -> Option<&'static Function<F>> {
        let (module, name) = fun.split_once('.')?;
        let module = self.0.iter().copied().flatten().find(|candidate| candidate.name == module)?;
        module.functions.iter().find(|candidate| candidate.name == name)
    }

    /// The names of all functions, `mod.fun`, sorted as their modules are.
    pub fn names(&self) -> impl Iterator<Item = String> + use<F> {
        self.modules().into_iter().flat_map(|module| {
            module.functions.iter().map(move |function| format!("{}.{}", module.name, function.name))
        })
    }

    /// The fault of a name that is not there, with the names that are near.
    pub fn unknown(&self, fun: &str) -> Fault {
        unknown(fun, self.nearest(fun))
    }

    /// What the user may have meant by a name that is not there.
    pub fn nearest(&self, fun: &str) -> Vec<String> {
        nearest(self.names(), fun)
    }
}

/// The fault of a name that no function has.
pub fn unknown(fun: &str, nearest: Vec<String>) -> Fault {
    Fault::Unknown { fun: fun.to_owned(), reason: format!("'{fun}' is not available."), nearest }
}

/// At most three of the names that are a slip of the finger away.
fn nearest(names: impl Iterator<Item = String>, fun: &str) -> Vec<String> {
    if fun.len() > 64 {
        return Vec::new();
    }
    let mut close: Vec<(usize, String)> =
        names.map(|name| (osa_distance(fun, &name), name)).filter(|(distance, _)| *distance <= 2).collect();
    close.sort();
    let best = close.first().map_or(0, |(distance, _)| *distance);
    close.into_iter().filter(|(distance, _)| *distance == best).take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_one_step() {
        assert_eq!(osa_distance("test.ping", "test.pnig"), 1);
        assert_eq!(osa_distance("", "abc"), 3);
        assert_eq!(osa_distance("kitten", "sitting"), 3);
    }
}
