//! `state.event`: shows what happens on the minion's own bus.

use super::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::tags::{Tags, shown};
use halite_value::record;

record! {
    /// Shows events of this minion's bus as they come: the tag, a tab, the data as JSON. For `salt-call`, while the minion's
    /// daemon runs; as a job it only waits.
    ///
    ///   salt '*' state.event 'my/*' count=1
    ///   salt-call state.event pretty=True
    ///   salt-call state.event 'my/*' count=1
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
        /// Whose bus: the minion's.
        node: String = "minion",
    }
}

impl Run for Event {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.node != "minion" {
            let node = self.node;
            return Err(Fault::invocation(format!(
                "node={node}: this is the bus of the minion; salt-run state.event has the master's"
            )));
        }
        let tags = Tags::new(&self.tagmatch);
        let (mut since, mut left) = (ctx.master.hear(None)?.last, self.count);
        while left != 0 && !ctx.is_cancelled() {
            let heard = ctx.master.hear(Some(since))?;
            since = heard.last;
            for (tag, data) in heard.events.iter().filter(|(tag, _)| tags.match_tag(tag)) {
                if left == 0 {
                    break;
                }
                if !self.quiet {
                    let told = ctx.host.say(&shown(tag, data, self.pretty));
                    told.map_err(|error| Fault::execution(format!("the event could not be shown: {error}")))?;
                }
                left -= i64::from(left > 0);
            }
        }
        Ok(().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::context::{Heard, Master};
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::record::Arguments;
    use halite_value::{Map, Value};
    use std::sync::Mutex;

    /// A daemon on whose bus one event after the other happens.
    #[derive(Default)]
    struct Daemon {
        asked: Mutex<Vec<Option<u64>>>,
    }

    impl Master for Daemon {
        fn fire_event(&self, _: &str, _: Map) -> Result<(), Fault> {
            Ok(())
        }

        fn tell_minion(&self, _: &str, _: Map) -> Result<(), Fault> {
            Ok(())
        }

        fn hear(&self, since: Option<u64>) -> Result<Heard, Fault> {
            self.asked.lock().unwrap().push(since);
            let last = since.map_or(7, |since| since + 1);
            let tag = if last.is_multiple_of(2) { "my/tag" } else { "other" };
            let events = since.iter().map(|_| (tag.to_owned(), Map::new())).collect();
            Ok(Heard { last, events })
        }
    }

    #[test]
    fn it_ends_after_as_many_events_as_were_asked_for() {
        let (world, host, daemon) = (World::new(), Fake::new(), Daemon::default());
        let arguments = Arguments::positional(["my/*"]).with("count", 2);
        let returned = call(&world.ctx_on(&host, &daemon), "state.event", arguments).unwrap();
        assert_eq!(returned.value, Value::Null);
        assert_eq!(*daemon.asked.lock().unwrap(), [None, Some(7), Some(8), Some(9)], "8 and 10 are meant");
        let fault = call(&world.ctx_on(&host, &daemon), "state.event", Arguments::default().with("node", "master"));
        assert!(fault.unwrap_err().to_string().contains("salt-run state.event"));
    }
}
