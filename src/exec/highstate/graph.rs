//! The graph of requisites, and the order that it gives: first by requisites, then by `order`, then by name.
//!
//! All is linear in the number of states and requisites: `sls: x` is one node that stands for the states of an SLS, not
//! an edge from each of them to each that wants it.

use super::requisite::Requisite;
use super::requisite_in::disabled;
use crate::exec::sls::is_pattern;
use crate::exec::target::fnmatch::Pattern;
use crate::wire::value::{Map, Value};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Nodes are states, checks of states whose changes others want to know before (`prereq`), and groups.
#[derive(Debug)]
enum Kind {
    State,
    Check,
    /// Stands between the states of an SLS and those that want it.
    Group,
}

#[derive(Debug)]
struct Node {
    kind: Kind,
    /// The low chunk; 0 for a group.
    chunk: usize,
    tag: String,
    /// The nodes that depend on this one, and how.
    out: Vec<(usize, Vec<Requisite>)>,
    into: Vec<(usize, Vec<Requisite>)>,
    /// Of a group: the least order of those that want it.
    least: Option<f64>,
}

/// A place in the order: a low chunk, or a check of one before others run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub node: usize,
    pub chunk: usize,
}

/// Low chunks and what they depend on.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    by_tag: HashMap<String, usize>,
    edges: HashMap<(usize, usize), (usize, usize)>,
    /// States by module, or `id`, and then by ID or name.
    by_name: HashMap<String, HashMap<String, Vec<usize>>>,
    by_sls: HashMap<String, Vec<usize>>,
    groups: HashMap<(String, Requisite), usize>,
}

/// What names a chunk among the results: module, ID, name, function.
pub fn tag(chunk: &Map) -> String {
    let text = |name: &str| chunk.at(name).map(Value::to_text).unwrap_or_default();
    format!("{}_|-{}_|-{}_|-{}", text("state"), text("__id__"), text("name"), text("fun"))
}

impl Graph {
    /// Adds a chunk; one with the tag of another takes its place.
    pub fn add(&mut self, chunk: usize, data: &Map) {
        let tag = tag(data);
        let node = match self.by_tag.get(&tag) {
            Some(node) => {
                self.nodes[*node].chunk = chunk;
                *node
            }
            None => self.node(Kind::State, chunk, tag),
        };
        let text = |name: &str| data.at(name).map(Value::to_text).unwrap_or_default();
        let (module, id, name) = (text("state"), text("__id__"), text("name"));
        for (module, called) in [(&module, &name), (&module, &id), (&"id".to_owned(), &id), (&"id".to_owned(), &name)] {
            let names = self.by_name.entry(module.clone()).or_default();
            push_once(names.entry(called.clone()).or_default(), node);
        }
        let included_from = data.at("__sls_included_from__").and_then(Value::as_list).unwrap_or_default();
        for sls in data.at("__sls__").into_iter().chain(included_from) {
            push_once(self.by_sls.entry(sls.to_text()).or_default(), node);
        }
    }

    fn node(&mut self, kind: Kind, chunk: usize, tag: String) -> usize {
        let node = self.nodes.len();
        self.by_tag.insert(tag.clone(), node);
        self.nodes.push(Node { kind, chunk, tag, out: Vec::new(), into: Vec::new(), least: None });
        node
    }

    fn edge(&mut self, from: usize, to: usize, requisite: Requisite) {
        match self.edges.get(&(from, to)) {
            Some((out, into)) => {
                let kinds = &mut self.nodes[from].out[*out].1;
                if !kinds.contains(&requisite) {
                    kinds.push(requisite);
                    self.nodes[to].into[*into].1.push(requisite);
                }
            }
            None => {
                self.edges.insert((from, to), (self.nodes[from].out.len(), self.nodes[to].into.len()));
                self.nodes[from].out.push((to, vec![requisite]));
                self.nodes[to].into.push((from, vec![requisite]));
            }
        }
    }

    /// Adds the requisites of all chunks; what is wrong with them is returned.
    pub fn connect(&mut self, chunks: &mut [Map], opts: &Map) -> Vec<String> {
        let disabled = disabled(opts);
        let mut errors = Vec::new();
        for at in 0..chunks.len() {
            if let Err(error) = self.connect_one(chunks, at, &disabled) {
                errors.push(error);
            }
        }
        errors
    }

    fn connect_one(&mut self, chunks: &mut [Map], at: usize, disabled: &[String]) -> Result<(), String> {
        let Some(node) = self.by_tag.get(&tag(&chunks[at])).copied() else {
            return Ok(());
        };
        for requisite in Requisite::ALL {
            let Some(Value::List(items)) = chunks[at].at(requisite.name()) else { continue };
            if disabled.iter().any(|name| name == requisite.name()) {
                log::warn!("The {} requisite has been disabled, Ignoring.", requisite.name());
                continue;
            }
            let items = items.clone();
            for item in &items {
                let (module, name) = match item {
                    Value::Map(map) => match map.first() {
                        Some((module, name)) => (module.to_text(), name.clone()),
                        None => continue,
                    },
                    name => ("id".to_owned(), name.clone()),
                };
                let module = module.split('.').next().unwrap_or_default().to_owned();
                let chunk = &chunks[at];
                let place = || {
                    let text = |name: &str| chunk.at(name).map_or("None".to_owned(), Value::to_text);
                    format!("state [{}] in SLS [{}]", text("name"), text("__sls__"))
                };
                let name = match name {
                    Value::Null => continue,
                    Value::Str(name) => name,
                    _ => {
                        let requisite = requisite.name();
                        return Err(format!(
                            "Requisite [{requisite}: {module}] in {} must have a string as the value",
                            place()
                        ));
                    }
                };
                if !self.depend(node, requisite, &module, &name, chunks) {
                    let chunk = &chunks[at];
                    let text = |name: &str| chunk.at(name).map_or("None".to_owned(), Value::to_text);
                    return Err(format!(
                        "Referenced state does not exist for requisite [{}: ({module}: {name})] in state [{}] in SLS [{}]",
                        requisite.name(),
                        text("name"),
                        text("__sls__")
                    ));
                }
            }
        }
        Ok(())
    }

    /// Makes a state depend on all that a module and name mean; false: there is none.
    fn depend(&mut self, node: usize, requisite: Requisite, module: &str, name: &str, chunks: &mut [Map]) -> bool {
        if module == "sls" {
            if !is_pattern(name) {
                return match self.by_sls.get(name) {
                    None => false,
                    Some(members) if members.len() < 2 || requisite == Requisite::Prereq => {
                        self.depend_on(node, requisite, members.clone(), chunks);
                        true
                    }
                    Some(_) => {
                        let group = self.group(name, requisite);
                        self.depend_on(node, requisite, vec![group], chunks);
                        true
                    }
                };
            }
            let pattern = Pattern::new(name);
            let matching = self.by_sls.iter().filter(|(sls, _)| pattern.matches(sls));
            let mut members: Vec<usize> = matching.flat_map(|(_, nodes)| nodes.iter().copied()).collect();
            members.sort_unstable();
            members.dedup();
            self.depend_on(node, requisite, members, chunks);
            return true;
        }
        let Some(names) = self.by_name.get(module) else {
            return false;
        };
        let members = match is_pattern(name) || name.contains(']') {
            false => names.get(name).cloned().unwrap_or_default(),
            true => {
                let pattern = Pattern::new(name);
                let matching = names.iter().filter(|(called, _)| pattern.matches(called));
                let mut members: Vec<usize> = matching.flat_map(|(_, nodes)| nodes.iter().copied()).collect();
                members.sort_unstable();
                members.dedup();
                members
            }
        };
        let found = !members.is_empty();
        self.depend_on(node, requisite, members, chunks);
        found
    }

    fn group(&mut self, sls: &str, requisite: Requisite) -> usize {
        let key = (sls.to_owned(), requisite);
        if let Some(group) = self.groups.get(&key) {
            return *group;
        }
        let group = self.nodes.len();
        self.nodes.push(Node {
            kind: Kind::Group,
            chunk: 0,
            tag: String::new(),
            out: Vec::new(),
            into: Vec::new(),
            least: None,
        });
        for member in self.by_sls.get(sls).cloned().unwrap_or_default() {
            self.edge(member, group, requisite);
        }
        self.groups.insert(key, group);
        group
    }

    fn depend_on(&mut self, node: usize, requisite: Requisite, members: Vec<usize>, chunks: &mut [Map]) {
        for member in members {
            if requisite == Requisite::Prereq {
                self.prereq(node, member, chunks);
                continue;
            }
            // What is checked before others run waits for its requisites then already.
            if is_marked(&chunks[self.nodes[node].chunk])
                && let Some(check) = self.by_tag.get(&check_tag(&self.nodes[node].tag)).copied()
            {
                self.edge(member, check, requisite);
            }
            self.edge(member, node, requisite);
        }
    }

    /// `node` runs before `wanted`, if a check of `wanted` says that it will change something.
    fn prereq(&mut self, node: usize, wanted: usize, chunks: &mut [Map]) {
        let (own, other) = (self.nodes[node].chunk, self.nodes[wanted].chunk);
        chunks[own].insert("__prerequiring__", true);
        chunks[other].insert("__prereq__", true);
        let name = check_tag(&self.nodes[wanted].tag);
        let check = match self.by_tag.get(&name) {
            Some(check) => *check,
            None => {
                let check = self.node(Kind::Check, other, name);
                for (from, kinds) in self.nodes[wanted].into.clone() {
                    for kind in kinds.into_iter().filter(|kind| *kind != Requisite::Prereq) {
                        self.edge(from, check, kind);
                    }
                }
                check
            }
        };
        self.edge(check, node, Requisite::Prereq);
        self.edge(node, wanted, Requisite::Require);
        if let Some(own_check) = self.by_tag.get(&check_tag(&self.nodes[node].tag)).copied() {
            self.edge(check, own_check, Requisite::Prereq);
        }
    }

    /// The order in which to go through the chunks. A chunk that is checked before others run stands there twice. The
    /// error is the circle that makes it impossible.
    pub fn sorted(&mut self, chunks: &mut [Map], cap: i64) -> Result<Vec<Step>, String> {
        let mut waiting: Vec<usize> =
            self.nodes.iter().map(|node| node.into.iter().map(|(_, kinds)| kinds.len()).sum()).collect();
        let mut heap = BinaryHeap::new();
        let free: Vec<usize> = (0..waiting.len()).filter(|node| waiting[*node] == 0).collect();
        for node in free {
            heap.push(Reverse(self.key(node, chunks, cap)));
        }
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(Reverse(Key { node, .. })) = heap.pop() {
            order.push(Step { node, chunk: self.nodes[node].chunk });
            let mut done = vec![node];
            while let Some(node) = done.pop() {
                for at in 0..self.nodes[node].out.len() {
                    let (next, kinds) = &self.nodes[node].out[at];
                    let next = *next;
                    waiting[next] -= kinds.len();
                    if waiting[next] > 0 {
                        continue;
                    }
                    match self.nodes[next].kind {
                        Kind::Group => done.push(next),
                        _ => heap.push(Reverse(self.key(next, chunks, cap))),
                    }
                }
            }
        }
        let states = self.nodes.iter().filter(|node| !matches!(node.kind, Kind::Group)).count();
        if order.len() == states { Ok(order) } else { Err(self.circle(chunks)) }
    }

    /// What a node is sorted by: an order that is the least of its own and those that depend on it, then its name.
    fn key(&mut self, node: usize, chunks: &mut [Map], cap: i64) -> Key {
        let chunk = self.nodes[node].chunk;
        let own = settle(&mut chunks[chunk], cap);
        let mut least = f64::INFINITY;
        let mut heaviest = None;
        for at in 0..self.nodes[node].out.len() {
            let (next, kinds) = self.nodes[node].out[at].clone();
            for kind in kinds {
                if heaviest.is_none_or(|heaviest| heaviest <= kind) {
                    heaviest = Some(kind);
                    least = least.min(self.order_of(next, chunks, cap));
                }
            }
        }
        let data = &chunks[chunk];
        let text = |name: &str| data.at(name).map(Value::to_text).unwrap_or_default();
        let label = format!("{}{}{}", text("state"), text("name"), text("fun"));
        Key { order: own.min(least), own, label, tag: self.nodes[node].tag.clone(), node }
    }

    fn order_of(&mut self, node: usize, chunks: &mut [Map], cap: i64) -> f64 {
        if !matches!(self.nodes[node].kind, Kind::Group) {
            return number(&mut chunks[self.nodes[node].chunk], cap, f64::INFINITY);
        }
        if let Some(least) = self.nodes[node].least {
            return least;
        }
        let wanting: Vec<usize> = self.nodes[node].out.iter().map(|(next, _)| *next).collect();
        let least = wanting.into_iter().map(|next| self.order_of(next, chunks, cap)).fold(f64::INFINITY, f64::min);
        self.nodes[node].least = Some(least);
        least
    }

    /// The requisites of a step, groups resolved.
    pub fn dependencies(&self, node: usize) -> Vec<(Requisite, Step)> {
        let mut all = Vec::new();
        for (from, kinds) in self.nodes.get(node).map(|node| node.into.as_slice()).unwrap_or_default() {
            for kind in kinds {
                match self.nodes[*from].kind {
                    Kind::Group => {
                        all.extend(self.nodes[*from].into.iter().map(|(member, _)| (*kind, self.step(*member))))
                    }
                    _ => all.push((*kind, self.step(*from))),
                }
            }
        }
        all
    }

    fn step(&self, node: usize) -> Step {
        Step { node, chunk: self.nodes[node].chunk }
    }

    /// The graph in the language of Graphviz.
    pub fn to_dot(&self, chunks: &[Map]) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let nodes = || self.nodes.iter().filter(|node| !matches!(node.kind, Kind::Group));
        let mut lines = vec!["digraph G {".to_owned()];
        for node in nodes() {
            let text = |name: &str| chunks[node.chunk].at(name).map(Value::to_text).unwrap_or_default();
            let mut label = format!("{}.{}\\n{}", text("state"), text("fun"), text("__id__").replace('"', "\\\""));
            if text("name") != text("__id__") {
                label.push_str(&format!("\\n({})", text("name").replace('"', "\\\"")));
            }
            lines.push(format!("  {} [label=\"{label}\"];", quoted(&node.tag)));
        }
        for node in nodes() {
            for (next, kinds) in &node.out {
                let group = matches!(self.nodes[*next].kind, Kind::Group);
                let beyond = self.nodes[*next].out.iter().map(|(beyond, _)| beyond).filter(|_| group);
                for target in beyond.chain(Some(next).filter(|_| !group)) {
                    for kind in kinds {
                        let (from, to) = (quoted(&node.tag), quoted(&self.nodes[*target].tag));
                        lines.push(format!("  {from} -> {to} [label=\"{}\"];", kind.name()));
                    }
                }
            }
        }
        lines.push("}".to_owned());
        lines.join("\n")
    }

    /// The node that is checked before others run, of a state.
    pub fn check_of(&self, node: usize) -> Option<usize> {
        self.by_tag.get(&check_tag(&self.nodes.get(node)?.tag)).copied()
    }

    /// The node of a state itself, of its check too.
    pub fn state_of(&self, tag: &str) -> Option<usize> {
        self.by_tag.get(tag).copied()
    }

    /// A circle of requisites, in words.
    fn circle(&self, chunks: &[Map]) -> String {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            No,
            OnWay,
            Done,
        }
        let mut seen = vec![Seen::No; self.nodes.len()];
        for start in 0..self.nodes.len() {
            if seen[start] != Seen::No {
                continue;
            }
            // The way from the start: each node, the next of its edges, and how it was reached.
            let mut way: Vec<(usize, usize, Option<Requisite>)> = vec![(start, 0, None)];
            seen[start] = Seen::OnWay;
            while let Some((node, at, _)) = way.last_mut() {
                let node = *node;
                let Some((next, kinds)) = self.nodes[node].out.get(*at) else {
                    seen[node] = Seen::Done;
                    way.pop();
                    continue;
                };
                *at += 1;
                let kind = kinds.first().copied().unwrap_or(Requisite::Require);
                match seen[*next] {
                    Seen::Done => {}
                    Seen::No => {
                        seen[*next] = Seen::OnWay;
                        way.push((*next, 0, Some(kind)));
                    }
                    Seen::OnWay => {
                        let from = way.iter().position(|(node, ..)| node == next).unwrap_or(0);
                        return self.circle_text(&way[from..], kind, chunks);
                    }
                }
            }
        }
        String::new()
    }

    fn circle_text(&self, way: &[(usize, usize, Option<Requisite>)], last: Requisite, chunks: &[Map]) -> String {
        let states: Vec<usize> =
            way.iter().map(|(node, ..)| *node).filter(|node| !matches!(self.nodes[*node].kind, Kind::Group)).collect();
        let mut kinds: Vec<Requisite> = way
            .iter()
            .skip(1)
            .filter(|(node, ..)| !matches!(self.nodes[*node].kind, Kind::Group))
            .filter_map(|(_, _, kind)| *kind)
            .collect();
        kinds.push(last);
        let shown: Vec<String> = (0..states.len())
            .map(|at| {
                let (from, to) = (states[at], states[(at + 1) % states.len()]);
                let (wanted, wanting) = (&chunks[self.nodes[from].chunk], &chunks[self.nodes[to].chunk]);
                let mut kind = kinds.get(at).copied().unwrap_or(last);
                if kind == Requisite::Require && !wanting.contains("require") {
                    kind = Requisite::Prereq;
                }
                format!("({}, '{}', {})", described(wanting), kind.name(), described(wanted))
            })
            .collect();
        format!("Recursive requisites were found: {}", shown.join(", "))
    }
}

/// Puts a node to the others, which stand in their order. Nearly always it is the last one.
fn push_once(nodes: &mut Vec<usize>, node: usize) {
    match nodes.last() {
        Some(last) if *last >= node => {
            if let Err(at) = nodes.binary_search(&node) {
                nodes.insert(at, node);
            }
        }
        _ => nodes.push(node),
    }
}

fn check_tag(tag: &str) -> String {
    format!("{tag}_|-__prereq_test__")
}

fn is_marked(chunk: &Map) -> bool {
    chunk.at("__prereq__").is_some_and(Value::truthy)
}

/// A chunk as the message of a circle names it.
fn described(chunk: &Map) -> String {
    let field = |name: &str| chunk.at(name).cloned().unwrap_or_default();
    let mut shown = Map::from_iter([("SLS", field("__sls__")), ("ID", field("__id__"))]);
    if field("__id__") != field("name") {
        shown.insert("NAME", field("name"));
    }
    Value::Map(shown).repr()
}

/// The order of a chunk as a number, written into it where it was a word; `none` where it has none.
fn number(chunk: &mut Map, cap: i64, none: f64) -> f64 {
    let order = match chunk.at("order") {
        None => return none,
        Some(Value::Int(order)) => return *order as f64,
        Some(Value::Float(order)) => return *order,
        Some(Value::Str(word)) if word == "last" => cap.saturating_add(LATE),
        Some(Value::Str(word)) if word == "first" => 0,
        Some(_) => cap,
    };
    chunk.insert("order", order);
    order as f64
}

/// How far behind all others the last ones stand.
const LATE: i64 = 1_000_000;

/// Makes the order of a chunk final: words become numbers, negative ones count from the end, names of one state follow
/// each other.
fn settle(chunk: &mut Map, cap: i64) -> f64 {
    if !chunk.contains("order") {
        chunk.insert("order", cap);
    }
    let mut order = number(chunk, cap, cap as f64);
    if let Some(number) = chunk.remove("name_order").and_then(|number| number.as_int()).filter(|number| *number != 0) {
        order += number as f64 / 10_000.0;
        chunk.insert("order", order);
    }
    if order < 0.0 {
        let late = cap.saturating_add(LATE);
        let whole = chunk.at("order").and_then(Value::as_int);
        order += late as f64;
        match whole {
            Some(whole) => chunk.insert("order", whole.saturating_add(late)),
            None => chunk.insert("order", order),
        };
    }
    order
}

/// What nodes are sorted by.
struct Key {
    order: f64,
    own: f64,
    label: String,
    tag: String,
    node: usize,
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> std::cmp::Ordering {
        let by_order = self.order.total_cmp(&other.order).then(self.own.total_cmp(&other.own));
        by_order.then_with(|| self.label.cmp(&other.label)).then_with(|| self.tag.cmp(&other.tag))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}
