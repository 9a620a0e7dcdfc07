//! One run of states at a time: who runs has a ticket, and who waits stands in a line behind it.
//!
//! A ticket is a file in `<cachedir>/state_runs`, numbered, which tells of its run and is locked (flock) for as long as
//! the process of the run lives. Whatever ends a run, a crash too, gives the lock back: nobody waits for the dead. The
//! numbers are given in the order of asking, for workers of the daemon and `salt-call` alike.

use halite_core::host::own::{self, File};
use halite_core::jid::Jid;
use halite_value::fault::Fault;
use halite_value::{Map, Value, parse_json};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What a run does when others are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// It gives up.
    Alone,
    /// It waits for all of them.
    Queued,
    /// It waits, unless so many wait or run already.
    QueuedBehind(usize),
    /// It runs beside them (`concurrent`).
    Beside,
}

/// The right to run; over when it is dropped, or when the process ends.
#[derive(Debug)]
pub struct Ticket {
    path: PathBuf,
    _lock: File,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let _ = own::remove(&self.path);
    }
}

/// A run that is there, as it tells of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub fun: String,
    pub jid: String,
    pub pid: u32,
}

impl Run {
    /// What is said to whoever must not run beside it.
    pub fn described(&self) -> String {
        let Run { fun, jid, pid } = self;
        let started = Jid::parse(jid).map(|jid| jid.start_time()).unwrap_or_default();
        format!("The function \"{fun}\" is running as PID {pid} and was started at {started} with jid {jid}")
    }

    fn to_json(&self) -> String {
        let map = Map::from_iter([
            ("fun", Value::from(&self.fun)),
            ("jid", Value::from(&self.jid)),
            ("pid", self.pid.into()),
        ]);
        Value::Map(map).to_json()
    }

    fn from_json(text: &str) -> Run {
        let map = parse_json(text).unwrap_or_default();
        let text = |name: &str| map.at(name).map(Value::to_text).unwrap_or_default();
        let pid = map.at("pid").and_then(Value::as_int).and_then(|pid| u32::try_from(pid).ok());
        Run { fun: text("fun"), jid: text("jid"), pid: pid.unwrap_or(0) }
    }
}

/// The line of a minion.
pub struct Line {
    directory: PathBuf,
}

impl Line {
    /// Nothing where the minion has no directory: then nobody else can be there either.
    pub fn of(opts: &Map) -> Option<Line> {
        let cachedir = opts.str_at("cachedir").filter(|cachedir| !cachedir.is_empty())?;
        Some(Line { directory: Path::new(cachedir).join("state_runs") })
    }

    /// Takes a ticket, and waits with it where that is wished. The runs that are in the way are the other answer.
    pub fn stand(&self, run: &Run, wish: Wish) -> Result<Result<Ticket, Vec<Run>>, Fault> {
        let failed = |error: io::Error| Fault::execution(format!("{}: {error}", self.directory.display()));
        let taken = self.take(run, wish).map_err(failed)?;
        let (ticket, before) = match taken {
            Ok(taken) => taken,
            Err(others) => return Ok(Err(others)),
        };
        if wish != Wish::Beside {
            for file in before {
                // Granted when the run that has it ends.
                own::lock_shared(&file).map_err(failed)?;
            }
        }
        Ok(Ok(ticket))
    }

    /// The runs that are there, first come first.
    pub fn runs(&self) -> Result<Vec<Run>, Fault> {
        let living = self.guarded(|line| line.living());
        let living = living.map_err(|error| Fault::execution(format!("{}: {error}", self.directory.display())))?;
        Ok(living.into_iter().map(|(run, _)| run).collect())
    }

    /// Looks and takes in one: nobody comes between.
    #[allow(clippy::type_complexity)]
    fn take(&self, run: &Run, wish: Wish) -> io::Result<Result<(Ticket, Vec<File>), Vec<Run>>> {
        self.guarded(|line| {
            let living = line.living()?;
            let is_in_the_way = match wish {
                Wish::Alone => !living.is_empty(),
                Wish::QueuedBehind(most) => living.len() >= most.max(1),
                Wish::Queued | Wish::Beside => false,
            };
            if is_in_the_way {
                return Ok(Err(living.into_iter().map(|(run, _)| run).collect()));
            }
            let path = line.directory.join(format!("{:020}", line.numbers()?.last().map_or(1, |last| last + 1)));
            let mut file = own::create_new(&path)?;
            own::lock(&file)?;
            file.write_all(run.to_json().as_bytes())?;
            Ok(Ok((Ticket { path, _lock: file }, living.into_iter().map(|(_, file)| file).collect())))
        })
    }

    /// Does something while nobody else looks or takes.
    fn guarded<T>(&self, does: impl FnOnce(&Line) -> io::Result<T>) -> io::Result<T> {
        own::make_directories(&self.directory)?;
        let guard = own::open_or_create(&self.directory.join("lock"))?;
        own::lock(&guard)?;
        does(self)
    }

    /// The tickets of those that live, in their order; the others are cleared away.
    fn living(&self) -> io::Result<Vec<(Run, File)>> {
        let mut living = Vec::new();
        for number in self.numbers()? {
            let path = self.directory.join(format!("{number:020}"));
            let mut file = match own::open_to_change(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if own::try_lock(&file) {
                own::remove(&path)?;
                continue;
            }
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            living.push((Run::from_json(&text), file));
        }
        Ok(living)
    }

    fn numbers(&self) -> io::Result<Vec<u64>> {
        let names = own::entries(&self.directory)?.flatten();
        let mut numbers: Vec<u64> = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;
    use std::fs;
    use std::sync::mpsc::channel;

    const JID: &str = "20261129205033700833";

    fn run(fun: &str) -> Run {
        Run { fun: fun.to_owned(), jid: JID.to_owned(), pid: 7 }
    }

    fn line(directory: &Directory) -> Line {
        Line::of(&Map::from_iter([("cachedir", directory.path().to_str().unwrap())])).unwrap()
    }

    #[test]
    fn a_second_run_is_told_who_is_there_and_a_third_may_run_beside() {
        let directory = Directory::new();
        let line = line(&directory);
        let first = line.stand(&run("state.apply"), Wish::Alone).unwrap().unwrap();
        let others = line.stand(&run("state.sls"), Wish::Alone).unwrap().unwrap_err();
        assert_eq!(
            others[0].described(),
            format!(
                "The function \"state.apply\" is running as PID 7 and was started at 2026, Nov 29 20:50:33.700833 with jid {JID}"
            )
        );
        assert_eq!(line.stand(&run("state.sls"), Wish::QueuedBehind(1)).unwrap().unwrap_err(), others);
        let beside = line.stand(&run("state.high"), Wish::Beside).unwrap().unwrap();
        assert_eq!(line.runs().unwrap(), [run("state.apply"), run("state.high")]);
        drop((first, beside));
        assert!(line.runs().unwrap().is_empty());
        assert!(line.stand(&run("state.sls"), Wish::Alone).unwrap().is_ok());
    }

    #[test]
    fn who_waits_runs_in_the_order_of_asking() {
        let directory = Directory::new();
        let first = line(&directory).stand(&run("0"), Wish::Alone).unwrap().unwrap();
        let (told, hears) = channel();
        std::thread::scope(|scope| {
            let mut stand = |number: usize| {
                let (told, directory) = (told.clone(), &directory);
                scope.spawn(move || {
                    let ticket = line(directory).stand(&run(&number.to_string()), Wish::Queued).unwrap().unwrap();
                    told.send(number).unwrap();
                    drop(ticket);
                });
                // In the line before the next one asks.
                while line(directory).runs().unwrap().len() < number + 1 {
                    std::thread::yield_now();
                }
            };
            (1..=3).for_each(&mut stand);
            assert!(hears.try_recv().is_err(), "the first one runs");
            drop(first);
        });
        assert_eq!(hears.try_iter().collect::<Vec<usize>>(), [1, 2, 3]);
    }

    #[test]
    fn a_run_that_died_is_in_nobodys_way() {
        let directory = Directory::new();
        let line = line(&directory);
        let dead = line.stand(&run("state.apply"), Wish::Alone).unwrap().unwrap();
        let path = dead.path.clone();
        drop(dead);
        fs::write(&path, run("state.apply").to_json()).unwrap();
        assert!(line.runs().unwrap().is_empty());
        assert!(!path.exists());
    }
}
