//! States with `parallel`: each runs in a thread of its own while the run goes on. Who needs one waits for it.

use super::caller::{self, Purpose};
use super::world::World;
use super::{Next, Runner};
use halite_core::Fault;
use halite_value::{Map, Value};
use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A chunk that has ended, and its result.
type Ended = (usize, Map);

/// What runs beside the run.
pub struct Beside {
    /// The chunks whose result is not final.
    open: HashSet<usize>,
    /// Those that wait until fewer run (`state_max_parallel`).
    waiting: VecDeque<usize>,
    running: usize,
    /// How many may run at once; zero: any number.
    most: usize,
    tells: Sender<Ended>,
    hears: Receiver<Ended>,
}

impl Beside {
    pub fn new(opts: &Map) -> Beside {
        let most = opts.at("state_max_parallel").and_then(Value::as_int).and_then(|most| usize::try_from(most).ok());
        let (tells, hears) = channel();
        Beside { open: HashSet::new(), waiting: VecDeque::new(), running: 0, most: most.unwrap_or(0), tells, hears }
    }

    pub fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    fn has_room(&self) -> bool {
        self.most == 0 || self.running < self.most
    }
}

const STARTED: &str = "Started in a separate process";
const WAITS: &str = "Waiting to be started in a separate process, max_parallel hit";

impl<'s, 'a> Runner<'s, 'a> {
    /// Whether a chunk is to run beside the others.
    pub(super) fn is_parallel(&self, chunk: usize) -> bool {
        self.chunks[chunk].at("parallel").is_some_and(Value::truthy)
    }

    /// Has a state run beside the others. Until it has ended, its result says that it was started.
    pub(super) fn begin_parallel(&mut self, chunk: usize) {
        let low = &self.chunks[chunk];
        let mut result = Map::from_iter([("name", low.at("name").cloned())]);
        result.insert("result", ());
        result.insert("changes", Map::new());
        result.insert("comment", if self.beside.has_room() { STARTED } else { WAITS });
        result.insert("__sls__", low.at("__sls__").cloned());
        result.insert("__run_num__", self.number);
        result.insert("__id__", low.at("__id__").cloned());
        self.number += 1;
        self.results[chunk] = Some(result);
        self.ended.push(chunk);
        self.beside.open.insert(chunk);
        match self.beside.has_room() {
            true => self.start(chunk),
            false => self.beside.waiting.push_back(chunk),
        }
    }

    fn start(&mut self, chunk: usize) {
        self.beside.running += 1;
        let (world, low, done) = (self.world.clone(), self.low(chunk), self.beside.tells.clone());
        self.scope.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| apart(&world, &low))).unwrap_or_else(|_| broken());
            // A run that has ended early waits for nobody.
            let _ = done.send((chunk, result));
        });
    }

    /// Takes up what has ended meanwhile.
    pub(super) fn reap(&mut self) -> Next {
        let mut next = Next::Go;
        while let Ok((chunk, result)) = self.beside.hears.try_recv() {
            next = next.and(self.take_up(chunk, result));
        }
        next
    }

    /// Waits until one has ended, where any runs.
    pub(super) fn wait_for_one(&mut self) -> Next {
        if self.beside.open.is_empty() {
            return Next::Go;
        }
        match self.beside.hears.recv() {
            Ok((chunk, result)) => self.take_up(chunk, result),
            Err(_) => Next::Stop,
        }
    }

    pub(super) fn wait_for_all(&mut self) -> Next {
        let mut next = Next::Go;
        while !self.beside.open.is_empty() {
            next = next.and(self.wait_for_one());
        }
        next
    }

    /// Waits for those that a step needs; a step that is itself parallel is put off in their place.
    pub(super) fn wait_for_needed(&mut self, node: usize, chunk: usize) -> Next {
        while !self.beside.open.is_empty() {
            if !self.beside.open.iter().any(|open| self.graph.depends_on(node, *open)) {
                return Next::Go;
            }
            if self.is_parallel(chunk) {
                return Next::Later;
            }
            if self.wait_for_one() == Next::Stop {
                return Next::Stop;
            }
        }
        Next::Go
    }

    fn take_up(&mut self, chunk: usize, result: Map) -> Next {
        self.beside.open.remove(&chunk);
        self.beside.running -= 1;
        if let Some(place) = &mut self.results[chunk] {
            place.extend(result);
        }
        let low = self.chunks[chunk].clone();
        self.after(&low, chunk);
        if let Some(result) = self.results[chunk].clone() {
            self.tell(chunk, &result);
        }
        while self.beside.has_room()
            && let Some(next) = self.beside.waiting.pop_front()
        {
            if let Some(place) = &mut self.results[next] {
                place.insert("comment", STARTED);
            }
            self.start(next);
        }
        if self.fails_hard(chunk) { Next::Stop } else { Next::Go }
    }
}

/// A state in a thread of its own.
fn apart(world: &World, low: &Map) -> Map {
    let mut result = caller::call(world, &mut Map::new(), low, &[], Purpose::Run).result;
    result.insert("__parallel__", true);
    result
}

fn broken() -> Map {
    let fault = Fault::Internal("the state has panicked".to_owned());
    let mut result = Map::from_iter([("result", false)]);
    result.insert("changes", Map::new());
    result.insert("comment", format!("a fault in Halite itself, please report it: {fault}"));
    result
}
