//! `state.event`: shows what happens on the event bus.

use super::{Ctx, Module, Run, function};
use halite_core::{Fault, Reply};
use halite_lang::tags::{Tags, shown};
use halite_value::record;

pub const MODULE: Module =
    Module { name: "state", doc: "Watches the event bus.", functions: &[function::<Event>("event")] };

record! {
    /// Shows events of the master's bus as they come: the tag, a tab, the data as JSON. Events that were lost because
    /// this program was too slow are counted and told on standard error.
    ///
    ///   salt-run state.event
    ///   salt-run state.event 'salt/job/*' pretty=True
    ///   salt-run state.event 'salt/minion/*/start' count=3 quiet=True
    pub struct Event {
        /// Which tags: a glob, or a regular expression for the whole tag.
        tagmatch: String = "*",
        /// After so many events it ends; -1: never.
        count: i64 = -1,
        /// Show nothing, only wait.
        quiet: bool = false,
        /// Taken, not used: the socket is the one of the configuration.
        sock_dir: Option<String> = (),
        /// JSON in several lines, keys sorted.
        pretty: bool = false,
        /// Whose bus: the master's.
        node: String = "master",
    }
}

impl Run for Event {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.node != "master" {
            return Err(Fault::invocation(format!("node={}: only the bus of the master can be watched", self.node)));
        }
        let tags = Tags::new(&self.tagmatch);
        let mut bus = ctx.fleet.listen()?;
        let (mut left, mut gaps) = (self.count, Gaps::default());
        while left != 0 {
            let heard = bus.next()?;
            if let Some(lost) = gaps.before(heard.number) {
                log::warn!("{lost} events were lost: this listener was too slow ({} in all)", gaps.lost);
            }
            if !tags.match_tag(&heard.tag) {
                log::debug!("event {} passed over", heard.tag);
                continue;
            }
            if !self.quiet {
                (ctx.say)(&shown(&heard.tag, &heard.data, self.pretty))?;
            }
            left -= i64::from(left > 0);
        }
        Ok(().into())
    }
}

/// Counts what is missing between the numbers of events.
#[derive(Default)]
struct Gaps {
    last: Option<u64>,
    lost: u64,
}

impl Gaps {
    /// How many are missing before this one.
    fn before(&mut self, number: u64) -> Option<u64> {
        let last = self.last.replace(number)?;
        // A lower number: the master has started again and counts anew.
        let lost = number.checked_sub(last)?.checked_sub(1).filter(|lost| *lost > 0)?;
        self.lost += lost;
        Some(lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_counted_and_a_new_count_is_none() {
        let mut gaps = Gaps::default();
        let before: Vec<Option<u64>> = [5, 6, 9, 10, 1, 2, 4].map(|number| gaps.before(number)).to_vec();
        assert_eq!(before, [None, None, Some(2), None, None, None, Some(1)]);
        assert_eq!(gaps.lost, 3);
    }
}
