//! What a minion does by itself: states at its start (`startup_states`), and a look at its grains now and then
//! (`grains_refresh_every`).

use super::Minion;
use super::work::Came;
use async_io::Timer;
use halite_core::jid::Jid;
use halite_value::{Map, Value};
use halite_wire::message::Job;
use std::rc::Rc;
use std::time::Duration;

impl Minion {
    /// Begins the states that the configuration wants at every start. They wait for the pillar, as all states do.
    pub(super) fn begin_startup_states(self: &Rc<Self>) {
        let opts = self.background.borrow().opts.clone();
        let Some((fun, arg)) = startup_states(&opts) else { return };
        let job = Job {
            jid: Jid::now().as_str().to_owned(),
            fun: fun.into(),
            arg,
            tgt: self.id.as_str().into(),
            tgt_type: "glob".to_owned(),
            ..Job::default()
        };
        log::info!("startup_states: {fun} begins as job {}", job.jid);
        self.take(job, Came::ByItself);
    }

    /// Looks at the grains every so often; where they have changed, the master and the pillar hear of it.
    pub(super) async fn watch_grains(self: Rc<Self>) {
        let opts = self.background.borrow().opts.clone();
        let Some(pause) = pause_between_looks(&opts) else { return };
        loop {
            Timer::after(pause).await;
            let before = self.background.borrow().grains.clone();
            self.look_at_grains().await;
            if *before != *self.background.borrow().grains {
                log::info!("the grains have changed: the master is told, and the pillar asked for anew");
                self.send_grains().await;
                self.refresh_pillar().await;
            }
        }
    }
}

/// Minutes; Salt takes a negative number for the same without its sign.
fn pause_between_looks(opts: &Map) -> Option<Duration> {
    let minutes = opts.at("grains_refresh_every").and_then(Value::as_float)?.abs();
    Duration::try_from_secs_f64(minutes * 60.0).ok().filter(|pause| !pause.is_zero())
}

/// The function and the arguments that stand for the option; nothing where there are no such states.
fn startup_states(opts: &Map) -> Option<(&'static str, Vec<Value>)> {
    let option = |name: &str| opts.at(name).cloned().unwrap_or_default();
    match opts.str_at("startup_states").unwrap_or_default() {
        "" => None,
        "sls" => Some(("state.sls", vec![option("sls_list")])),
        "top" => Some(("state.top", vec![option("top_file")])),
        _ => Some(("state.highstate", Vec::new())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_lang::yaml;

    fn opts(text: &str) -> Map {
        yaml::load(text).unwrap().as_map().unwrap().clone()
    }

    #[test]
    fn the_option_names_the_states_of_a_start() {
        let states = |text: &str| startup_states(&opts(text));
        assert_eq!(states("{startup_states: ''}"), None);
        assert_eq!(states("{startup_states: highstate}"), Some(("state.highstate", vec![])));
        let sls = states("{startup_states: sls, sls_list: [base, web]}");
        assert_eq!(sls, Some(("state.sls", vec![Value::list(["base", "web"])])));
        assert_eq!(states("{startup_states: top, top_file: t.sls}"), Some(("state.top", vec!["t.sls".into()])));
    }

    #[test]
    fn grains_are_looked_at_every_so_many_minutes_or_never() {
        let pause = |text: &str| pause_between_looks(&opts(text)).map(|pause| pause.as_secs());
        assert_eq!(pause("{grains_refresh_every: 0}"), None);
        assert_eq!(pause("{grains_refresh_every: 2}"), Some(120));
        assert_eq!(pause("{grains_refresh_every: -1}"), Some(60));
    }
}
