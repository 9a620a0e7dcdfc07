//! `jobs.*`: the jobs that were started, what came back, what still runs.

mod show;
mod times;

use super::fleet::Order;
use super::{Ctx, Module, Run, function};
use halite_core::jid::Jid;
use halite_core::jobs::Jobs;
use halite_core::{Fault, Reply, Returned};
use halite_lang::target::fnmatch::Pattern;
use halite_node::outputters;
use halite_value::record;
use halite_value::{Map, Value};
use show::{Detail, described};
use std::path::Path;

pub const MODULE: Module = Module {
    name: "jobs",
    doc: "Shows the jobs that were started, what came back, and what still runs.",
    functions: &[
        function::<Active>("active"),
        function::<ExitSuccess>("exit_success"),
        function::<LastRun>("last_run"),
        function::<ListJob>("list_job"),
        function::<ListJobs>("list_jobs"),
        function::<ListJobsFilter>("list_jobs_filter"),
        function::<LookupJid>("lookup_jid"),
        function::<Master>("master"),
        function::<PrintJob>("print_job"),
    ],
};

record! {
    /// Shows the jobs that minions work on at this moment: by jid, with the minions that run it and those that have
    /// returned.
    ///
    ///   salt-run jobs.active
    pub struct Active {
        /// Tell how far it is.
        display_progress: bool = false,
    }
}

impl Run for Active {
    fn run(self, ctx: &Ctx) -> Reply {
        let gathered = ctx.fleet.publish(Order::for_all("saltutil.running"))?;
        if self.display_progress {
            ctx.progress(&format!("Attempting to contact minions: {}", gathered.minions.join(", ")));
        }
        let mut active = Map::new();
        for answer in &gathered.answers {
            for job in answer.value.as_list().unwrap_or_default().iter().filter_map(Value::as_map) {
                let Some(jid) = job.str_at("jid").filter(|jid| *jid != gathered.jid) else {
                    continue;
                };
                let shown = active.entry_or(jid, || described(jid, job, Detail::WithoutMinions).into());
                let runs =
                    Value::from(Map::from_iter([(answer.id.as_str(), job.at("pid").cloned().unwrap_or_default())]));
                if let Value::Map(shown) = shown
                    && let Value::List(running) = shown.entry_or("Running", || Value::List(Vec::new()))
                {
                    running.push(runs);
                }
            }
        }
        for (jid, shown) in active.iter_mut() {
            let returned = ctx.archive.returns(&jid.to_text())?;
            if let Value::Map(shown) = shown {
                shown.insert("Returned", Value::list(returned.into_iter().map(|(id, _)| id)));
            }
        }
        active.sort_keys();
        Ok(active.into())
    }
}

record! {
    /// Shows the runners that run on this host at this moment, this one among them.
    ///
    ///   salt-run jobs.master
    pub struct Master {}
}

impl Run for Master {
    fn run(self, ctx: &Ctx) -> Reply {
        let cachedir = Path::new(ctx.opts.str_at("cachedir").unwrap_or_default());
        let running = Jobs::new(cachedir).running();
        let running = running.map_err(|error| Fault::execution(format!("{}: {error}", cachedir.display())))?;
        let shown = running.into_iter().map(|run| {
            Map::from_iter([
                ("jid", Value::from(run.jid.as_str())),
                ("fun", run.fun.into()),
                ("fun_args", Value::List(run.fun_args)),
                ("pid", run.pid.into()),
                ("user", run.user.into()),
            ])
        });
        Ok(Value::List(shown.map(Value::Map).collect()).into())
    }
}

record! {
    /// Shows what came back of a job: the answers by minion. Each target without an answer is shown with its state:
    /// absent (not connected when the job was to be sent), waiting (for its turn in a batch), sent, taken (works on it),
    /// away (has taken it and is not connected now), killed, cancelled (its batch was stopped) or lost.
    ///
    ///   salt-run jobs.lookup_jid 20130916125524463507
    ///   salt-run jobs.lookup_jid 20130916125524463507 returned=False
    pub struct LookupJid {
        /// The job's id.
        jid: String,
        /// Taken, not used: there is one job cache.
        ext_source: Option<String> = (),
        /// Show the answers.
        returned: bool = true,
        /// Show the targets without an answer.
        missing: bool = true,
        /// Tell how far it is.
        display_progress: bool = false,
    }
}

impl Run for LookupJid {
    fn run(self, ctx: &Ctx) -> Reply {
        let load = kept(ctx, &self.jid)?;
        let returns = ctx.archive.returns(&self.jid)?;
        let mut shown = Map::new();
        let mut out = None;
        for (id, ret) in &returns {
            if self.display_progress {
                ctx.progress(id);
            }
            out = out.or_else(|| ret.str_at("out"));
            if self.returned {
                shown.insert(id.as_str(), ret.at("return").cloned().unwrap_or_default());
            }
        }
        if self.missing {
            for (id, state) in states(ctx, &self.jid, &load, &returns)? {
                shown.insert(id, format!("Minion did not return. [{state}]"));
            }
        }
        Ok(with_outputter(shown.into(), out))
    }
}

/// The targets of a job without a return, with their states.
fn states(ctx: &Ctx, jid: &str, load: &Map, returns: &[(String, Map)]) -> Result<Vec<(String, String)>, Fault> {
    let ends = ctx.archive.ends(jid)?;
    let targets = load.at("Minions").and_then(Value::as_list).unwrap_or_default().iter().map(Value::to_text);
    let open: Vec<String> = targets.filter(|id| !ends.iter().any(|(ended, _)| ended == id)).collect();
    let mut all: Vec<(String, String)> = ends;
    // Only the master knows whether a job without an end has been taken. Where it does not run, it is not known.
    let live = if open.is_empty() { Map::new() } else { ctx.fleet.states(jid).unwrap_or_default() };
    all.extend(open.into_iter().map(|id| {
        let state = live.str_at(&id).unwrap_or("open").to_owned();
        (id, state)
    }));
    all.retain(|(id, _)| !returns.iter().any(|(returned, _)| returned == id));
    all.sort();
    Ok(all)
}

/// A job that is kept; a fault that says which there is not.
fn kept(ctx: &Ctx, jid: &str) -> Result<Map, Fault> {
    Jid::parse(jid).map_err(|error| Fault::invocation(error.to_string()))?;
    ctx.archive
        .job(jid)?
        .ok_or_else(|| Fault::execution(format!("no job {jid} is kept: salt-run jobs.list_jobs shows which are")))
}

record! {
    /// Shows a job with its arguments, its targets and all that came back.
    ///
    ///   salt-run jobs.list_job 20130916125524463507
    pub struct ListJob {
        /// The job's id.
        jid: String,
        /// Taken, not used: there is one job cache.
        ext_source: Option<String> = (),
        /// Tell how far it is.
        display_progress: bool = false,
    }
}

impl Run for ListJob {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.display_progress {
            ctx.progress("Querying returner: local_cache");
        }
        let mut shown = Map::from_iter([("jid", self.jid.as_str())]);
        shown.extend(whole(ctx, &self.jid)?);
        Ok(shown.into())
    }
}

/// A job with all that came back.
fn whole(ctx: &Ctx, jid: &str) -> Result<Map, Fault> {
    let load = kept(ctx, jid)?;
    let mut shown = described(jid, &load, Detail::WithMinions);
    let results = ctx.archive.returns(jid)?.into_iter().map(|(id, ret)| (id, show::result(&ret)));
    shown.insert("Result", results.collect::<Map>());
    Ok(shown)
}

record! {
    /// Shows a job as jobs.list_job does, below its id.
    ///
    ///   salt-run jobs.print_job 20130916125524463507
    pub struct PrintJob {
        /// The job's id.
        jid: String,
        /// Taken, not used: there is one job cache.
        ext_source: Option<String> = (),
    }
}

impl Run for PrintJob {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Map::from_iter([(self.jid.as_str(), whole(ctx, &self.jid)?)]).into())
    }
}

record! {
    /// Says of each target whether it answered with anything but nothing.
    ///
    ///   salt-run jobs.exit_success 20160520145827701627
    pub struct ExitSuccess {
        /// The job's id.
        jid: String,
        /// Taken, not used: there is one job cache.
        ext_source: Option<String> = (),
    }
}

impl Run for ExitSuccess {
    fn run(self, ctx: &Ctx) -> Reply {
        let load = kept(ctx, &self.jid)?;
        let targets = load.at("Minions").and_then(Value::as_list).unwrap_or_default();
        let mut succeeded: Map = targets.iter().map(|id| (id.clone(), false)).collect();
        for (id, ret) in ctx.archive.returns(&self.jid)? {
            succeeded.insert(id, ret.at("return").is_some_and(Value::truthy));
        }
        Ok(succeeded.into())
    }
}

record! {
    /// Lists jobs, with their functions, targets and times. With several filters a job must pass each.
    ///
    ///   salt-run jobs.list_jobs
    ///   salt-run jobs.list_jobs search_function='test.*,pkg.install' search_target='db*'
    ///   salt-run jobs.list_jobs search_metadata='{"foo": "bar"}'
    ///   salt-run jobs.list_jobs start_time='2015, Mar 16 19:00' end_time='2015, Mar 18 22:00'
    pub struct ListJobs {
        /// Taken, not used: there is one job cache.
        ext_source: Option<String> = (),
        /// The outputter to show the list with.
        outputter: Option<String> = (),
        /// A map: jobs whose metadata have one of its entries.
        search_metadata: Option<Map> = (),
        /// Globs: jobs of such a function.
        search_function: Vec<String> = Value::List(Vec::new()),
        /// Globs: jobs with such a target.
        search_target: Vec<String> = Value::List(Vec::new()),
        /// Jobs that began then or later: a date, with a time or without, or a jid.
        start_time: Option<Value> = (),
        /// Jobs that began then or earlier.
        end_time: Option<Value> = (),
        /// Tell how far it is.
        display_progress: bool = false,
    }
}

impl Run for ListJobs {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.display_progress {
            ctx.progress("Querying returner local_cache for jobs.");
        }
        let filter = Filter {
            metadata: self.search_metadata,
            functions: patterns(&self.search_function),
            targets: patterns(&self.search_target),
            from: times::bound("start_time", self.start_time.as_ref())?,
            to: times::bound("end_time", self.end_time.as_ref())?,
        };
        let mut shown = Map::new();
        ctx.archive.each_job(&mut |jid, load| {
            if filter.lets_through(jid, load) {
                shown.insert(jid, described(jid, load, Detail::WithoutMinions));
            }
        })?;
        Ok(with_outputter(shown.into(), self.outputter.as_deref()))
    }
}

record! {
    /// Lists the latest jobs, each with its id as JID.
    ///
    ///   salt-run jobs.list_jobs_filter 50
    ///   salt-run jobs.list_jobs_filter 100 filter_find_job=False
    pub struct ListJobsFilter {
        /// How many.
        count: i64,
        /// Leave out the jobs by which clients ask how others go on.
        filter_find_job: bool = true,
        /// Taken, not used: there is one job cache.
        ext_source: Option<String> = (),
        /// The outputter to show the list with.
        outputter: Option<String> = (),
        /// Tell how far it is.
        display_progress: bool = false,
    }
}

impl Run for ListJobsFilter {
    fn run(self, ctx: &Ctx) -> Reply {
        let count = usize::try_from(self.count)
            .map_err(|_| Fault::invocation(format!("count={}: a number of jobs is wanted", self.count)))?;
        if self.display_progress {
            ctx.progress("Querying returner local_cache for jobs.");
        }
        let jobs = ctx.archive.jobs()?;
        let is_wanted = |load: &Map| !self.filter_find_job || load.str_at("fun") != Some("saltutil.find_job");
        let mut latest: Vec<_> = jobs.iter().rev().filter(|(_, load)| is_wanted(load)).take(count).collect();
        latest.reverse();
        let shown = latest.into_iter().map(|(jid, load)| {
            let mut job = described(jid, load, Detail::WithoutMinions);
            let start = job.remove("StartTime");
            job.insert("JID", jid.as_str());
            job.insert("StartTime", start.unwrap_or_default());
            Value::Map(job)
        });
        Ok(with_outputter(Value::List(shown.collect()), self.outputter.as_deref()))
    }
}

record! {
    /// Shows the latest job that passes the filters, with all that came back; False where there is none.
    ///
    ///   salt-run jobs.last_run
    ///   salt-run jobs.last_run function=cmd.run target=web1
    pub struct LastRun {
        /// Taken, not used: there is one job cache.
        ext_source: Option<String> = (),
        /// The outputter to show it with.
        outputter: Option<String> = (),
        /// A map: jobs whose metadata have one of its entries.
        metadata: Option<Map> = (),
        /// Globs: jobs of such a function.
        function: Vec<String> = Value::List(Vec::new()),
        /// Globs: jobs with such a target.
        target: Vec<String> = Value::List(Vec::new()),
        /// Tell how far it is.
        display_progress: bool = false,
    }
}

impl Run for LastRun {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.display_progress {
            ctx.progress("Querying returner local_cache for jobs.");
        }
        let filter = Filter {
            metadata: self.metadata,
            functions: patterns(&self.function),
            targets: patterns(&self.target),
            from: None,
            to: None,
        };
        let jobs = ctx.archive.jobs()?;
        let last = jobs.iter().rev().find(|(jid, load)| filter.lets_through(jid, load));
        let Some((jid, _)) = last else {
            return Ok(false.into());
        };
        let shown = Map::from_iter([(jid.as_str(), whole(ctx, jid)?)]);
        Ok(with_outputter(shown.into(), self.outputter.as_deref()))
    }
}

/// Which jobs are wanted.
struct Filter {
    metadata: Option<Map>,
    functions: Vec<Pattern>,
    targets: Vec<Pattern>,
    /// Jids as bounds: they sort as the times they stand for.
    from: Option<String>,
    to: Option<String>,
}

impl Filter {
    fn lets_through(&self, jid: &str, load: &Map) -> bool {
        let some_match = |patterns: &[Pattern], texts: &[String]| {
            patterns.is_empty() || texts.iter().any(|text| patterns.iter().any(|pattern| pattern.matches(text)))
        };
        let texts = |key: &str| match load.at(key) {
            Some(Value::List(items)) => items.iter().map(Value::to_text).collect(),
            Some(one) => vec![one.to_text()],
            None => Vec::new(),
        };
        self.from.as_deref().is_none_or(|from| jid >= from)
            && self.to.as_deref().is_none_or(|to| jid <= to)
            && some_match(&self.functions, &texts("fun"))
            && some_match(&self.targets, &texts("tgt"))
            && self.metadata.as_ref().is_none_or(|wanted| shares_an_entry(wanted, load))
    }
}

fn shares_an_entry(wanted: &Map, load: &Map) -> bool {
    let metadata = show::metadata(load).and_then(Value::as_map);
    metadata.is_some_and(|metadata| wanted.iter().any(|(key, value)| metadata.at_value(key) == Some(value)))
}

fn patterns(texts: &[String]) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::new(text)).collect()
}

/// An answer with the outputter of a name; one that does not exist is no reason to show nothing.
fn with_outputter(value: Value, name: Option<&str>) -> Returned {
    let mut returned = Returned::from(value);
    returned.out = name.and_then(outputters::find).map(|outputter| outputter.name);
    returned
}

#[cfg(test)]
mod tests;
