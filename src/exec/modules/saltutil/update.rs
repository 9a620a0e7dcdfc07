//! `saltutil.update`: another version of the program itself.

use super::Run;
use halite_core::host::{Choice, Command};
use halite_core::update::{Outcome, Update as Place};
use halite_core::{Ctx, Fault, Reply, VERSION};
use halite_node::fileserver::address::{redacted, scheme};
use halite_node::fileserver::client::{FileClient, Wanted, saltenv};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::path::Path;
use std::time::Duration;

record! {
    /// Puts another version of Halite in the place of this minion's. The file is fetched, its hash is checked, and it is
    /// tried: the minion starts from it and must reach a master. Then it becomes the installed file, in one step; else
    /// the installed version goes on, and the error says why. Jobs that run live on. The file that was replaced stays
    /// beside it as `.halite-previous`.
    ///
    ///   salt '*' saltutil.update source=salt://halite
    ///   salt '*' saltutil.update 0.2.0 source=https://192.0.2.10/halite source_hash=sha256=0f3c timeout=120
    pub struct Update {
        /// The version that the file must say it is; any, if this is not given.
        version: Option<String> = (),
        /// Where the file is; the option `update_url`, if this is not given.
        source: Option<String> = (),
        /// Its hash. A file of the master's needs none: the file server's own is checked.
        source_hash: Option<String> = (),
        /// The environment of the file server.
        saltenv: Option<String> = (),
        /// How many seconds the new version has to reach a master.
        timeout: i64 = 60,
    }
}

/// How long a file may take to say its version.
const VERSION_TIME: Duration = Duration::from_secs(10);
/// How much longer than the trial the outcome is waited for: the installed version must come up again.
const GRACE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);

impl Run for Update {
    fn run(self, ctx: &Ctx) -> Reply {
        let place = Place::of_this_program().map_err(|error| Fault::execution(error.to_string()))?;
        let fetched = self.fetch(ctx)?;
        if hash(ctx, &fetched)? == hash(ctx, &place.program().to_string_lossy())? {
            return Ok(told(VERSION, VERSION).into());
        }
        place.lay(ctx.host, Path::new(&fetched)).map_err(|error| cannot(&place, error))?;
        let replaced = self.replace(ctx, &place);
        if replaced.is_err() {
            place.forget(ctx.host);
        }
        replaced.map(|version| told(VERSION, &version).into())
    }
}

impl Update {
    /// Where the file is on this host, its hash checked.
    fn fetch(&self, ctx: &Ctx) -> Result<String, Fault> {
        let configured = ctx.opt("update_url").and_then(Value::as_str);
        let source = self.source.as_deref().or(configured).filter(|source| !source.is_empty());
        let source = source.ok_or_else(|| {
            Fault::invocation("source is not given, and the option update_url names none: where is the new version?")
        })?;
        let is_the_masters = matches!(scheme(source).as_str(), "salt" | "");
        if self.source_hash.is_none() && !is_the_masters {
            let message = format!("source_hash must be given for {}: nothing else vouches for it", redacted(source));
            return Err(Fault::invocation(message));
        }
        let wanted = Wanted { source_hash: self.source_hash.clone(), ..Wanted::default() };
        let cached = FileClient::new(ctx).cache_file(source, &saltenv(ctx, self.saltenv.as_deref()), &wanted)?;
        let cached = cached.ok_or_else(|| Fault::execution(format!("there is no file {}", redacted(source))))?;
        if let Some(expected) = &self.source_hash {
            let words = Arguments::positional([cached.as_str(), expected.as_str()]);
            if !ctx.run("file.check_hash", words)?.truthy() {
                let message = format!("{} has another hash than {expected}: nothing was changed", redacted(source));
                return Err(Fault::execution(message));
            }
        }
        Ok(cached)
    }

    /// Has the candidate tried and waits for what comes of it; its version.
    fn replace(&self, ctx: &Ctx, place: &Place) -> Result<String, Fault> {
        let version = version_of(ctx, place)?;
        if let Some(expected) = self.version.as_deref().filter(|expected| version != *expected) {
            let same = version.strip_suffix("-halite") == Some(expected);
            if !same {
                let message = format!("the file is version {version}, not {expected}: nothing was changed");
                return Err(Fault::execution(message));
            }
        }
        let timeout = Duration::from_secs(self.timeout.clamp(1, 3600).unsigned_abs());
        place.order(ctx.host, timeout).map_err(|error| cannot(place, error))?;
        ctx.master.tell_minion("update", Map::new())?;
        let end = ctx.host.now() + timeout + GRACE;
        loop {
            match place.outcome(ctx.host) {
                Some(Outcome::Taken) => return Ok(version),
                Some(Outcome::PutBack(why)) => {
                    let message = format!("{version} was put back, {VERSION} goes on: {why}");
                    return Err(Fault::execution(message));
                }
                None if ctx.is_cancelled() => return Err(Fault::execution("the job was ended meanwhile")),
                None if ctx.host.now() > end => {
                    return Err(Fault::execution("the supervisor of the minion does not say what came of it"));
                }
                None => ctx.host.sleep(LOOK),
            }
        }
    }
}

fn told(from: &str, to: &str) -> Map {
    let mut told = Map::from_iter([("from", Value::from(from)), ("to", to.into())]);
    told.insert("updated", from != to);
    told
}

fn hash(ctx: &Ctx, path: &str) -> Result<Value, Fault> {
    ctx.run("file.get_hash", Arguments::positional([path]))
}

/// What the candidate says that it is: a file that cannot say it is no version of this program for this host.
fn version_of(ctx: &Ctx, place: &Place) -> Result<String, Fault> {
    let candidate = place.candidate().to_string_lossy().into_owned();
    let argv = vec![candidate, "--version".to_owned()];
    let command = Command { argv, timeout: Some(VERSION_TIME), ..Command::default() };
    let wrong = |why: String| Fault::execution(format!("the file does not run here: {why}; nothing was changed"));
    let finished = ctx.host.run(&command).map_err(|error| wrong(error.to_string()))?;
    if finished.timed_out == Choice::Yes || finished.code != 0 {
        return Err(wrong(format!("--version ended with exit code {}", finished.code)));
    }
    let said = String::from_utf8_lossy(&finished.stdout).into_owned();
    let version = said.split_whitespace().last().filter(|version| version.ends_with("-halite"));
    version.map(str::to_owned).ok_or_else(|| wrong("--version says no version of Halite".to_owned()))
}

fn cannot(place: &Place, error: std::io::Error) -> Fault {
    Fault::execution(format!("{} cannot be replaced: {error}", place.program().display()))
}
