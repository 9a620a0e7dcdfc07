//! `slsutil.merge`, `slsutil.merge_all`, `slsutil.update`: maps on top of maps.

use super::Run;
use halite_core::{Ctx, Reply};
use halite_lang::merge::{Lists, Strategy, update};
use halite_value::Map;
use halite_value::record;

record! {
    /// Merges a map into another.
    ///
    ///   salt '*' slsutil.merge '{foo: Foo}' '{bar: Bar}'
    pub struct Merge {
        /// The map below.
        obj_a: Map,
        /// The map on top.
        obj_b: Map,
        /// How: smart, recurse, list, aggregate, overwrite.
        strategy: String = "smart",
        /// The renderer that the data comes from.
        renderer: String = "yaml",
        /// Join lists instead of replacing them.
        merge_lists: bool = false,
    }
}

impl Run for Merge {
    fn run(self, _: &Ctx) -> Reply {
        let strategy = Strategy::named(&self.strategy, &self.renderer);
        Ok(strategy.merge(self.obj_a, self.obj_b, Lists::joined(self.merge_lists)).into())
    }
}

record! {
    /// Merges maps, the later ones on top.
    ///
    ///   salt '*' slsutil.merge_all '[{foo: Foo}, {foo: Bar}]'
    pub struct MergeAll {
        /// The maps.
        lst: Vec<Map>,
        /// How: smart, recurse, list, aggregate, overwrite.
        strategy: String = "smart",
        /// The renderer that the data comes from.
        renderer: String = "yaml",
        /// Join lists instead of replacing them.
        merge_lists: bool = false,
    }
}

impl Run for MergeAll {
    fn run(self, _: &Ctx) -> Reply {
        let strategy = Strategy::named(&self.strategy, &self.renderer);
        let lists = Lists::joined(self.merge_lists);
        let merged = self.lst.into_iter().fold(Map::new(), |all, map| strategy.merge(all, map, lists));
        Ok(merged.into())
    }
}

record! {
    /// Puts the entries of a map into another, on every level. In a template the first map itself is changed.
    ///
    ///   salt '*' slsutil.update '{foo: Foo}' '{bar: Bar}'
    pub struct Update {
        /// The map that gets the entries.
        dest: Map,
        /// The entries.
        upd: Map,
        /// Merge maps that both have; else the new one takes the place.
        recursive_update: bool = true,
        /// Join lists that both have.
        merge_lists: bool = false,
    }
}

impl Run for Update {
    fn run(mut self, _: &Ctx) -> Reply {
        match self.recursive_update {
            true => update(&mut self.dest, self.upd, Lists::joined(self.merge_lists)),
            false => self.dest.extend(self.upd),
        }
        Ok(self.dest.into())
    }
}
