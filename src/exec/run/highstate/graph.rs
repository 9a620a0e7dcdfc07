//! The graph of requisites, and the order that it gives: first by requisites, then by `order`, then by name.
//!
//! All is linear in the number of states and requisites: `sls: x` is one node that stands for the states of an SLS, not
//! an edge from each of them to each that wants it.
//!
//! One file, though a long one: adding chunks, joining them and sorting them share the nodes and edges, which nobody else
//! sees.

use super::requisite_in::disabled;
use halite_core::requisite::{Kinds, Requisite};
use halite_lang::target::fnmatch::Pattern;
use halite_node::sls::is_pattern;
use halite_value::{Map, Value};
use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexMap;
use indexmap::map::Entry;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    /// The edges to nodes that depend on this one, and from those that it depends on.
    out: Vec<usize>,
    into: Vec<usize>,
    /// Of a group: the least order of those that want it.
    least: Option<f64>,
}

impl Node {
    fn new(kind: Kind, chunk: usize) -> Node {
        Node { kind, chunk, out: Vec::new(), into: Vec::new(), least: None }
    }
}

/// `to` depends on `from`.
#[derive(Debug)]
struct Edge {
    from: usize,
    to: usize,
    kinds: Kinds,
}

/// A place in the order: a low chunk, or a check of one before others run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub node: usize,
    pub chunk: usize,
}

/// What a node depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    One(Step),
    /// All members of a group, which stands for an SLS.
    All(usize),
}

/// Low chunks and what they depend on.
#[derive(Debug, Default)]
pub struct Graph {
    /// By tag.
    nodes: IndexMap<String, Node, DefaultHashBuilder>,
    /// The node of each chunk.
    of_chunks: Vec<usize>,
    edges: Vec<Edge>,
    by_ends: HashMap<(usize, usize), usize>,
    groups: HashMap<(String, Requisite), usize>,
}

/// What requisites call states, noted when the first one asks.
#[derive(Default)]
struct Names {
    /// States by module, or `id`, and then by ID or name.
    by_module: HashMap<String, HashMap<String, Vec<usize>>>,
    by_sls: Option<HashMap<String, Vec<usize>>>,
}

/// What names a chunk among the results: module, ID, name, function.
pub fn tag(chunk: &Map) -> String {
    let parts = ["state", "__id__", "name", "fun"].map(|name| text(chunk, name));
    let mut tag = String::with_capacity(parts.iter().map(|part| part.len() + 3).sum());
    for (at, part) in parts.iter().enumerate() {
        tag.push_str(if at > 0 { "_|-" } else { "" });
        tag.push_str(part);
    }
    tag
}

/// An entry of a chunk as text; nothing where there is none.
fn text<'c>(chunk: &'c Map, name: &str) -> Cow<'c, str> {
    chunk.at(name).map_or(Cow::Borrowed(""), Value::as_text)
}

impl Graph {
    pub fn with_capacity(chunks: usize) -> Graph {
        let nodes = IndexMap::with_capacity_and_hasher(chunks, DefaultHashBuilder::default());
        Graph { nodes, of_chunks: Vec::with_capacity(chunks), ..Graph::default() }
    }

    /// Adds the next chunk; one with the tag of another takes its place.
    pub fn add(&mut self, chunk: usize, data: &Map) {
        let entry = self.nodes.entry(tag(data));
        self.of_chunks.push(entry.index());
        match entry {
            Entry::Occupied(mut there) => there.get_mut().chunk = chunk,
            Entry::Vacant(free) => drop(free.insert(Node::new(Kind::State, chunk))),
        }
    }

    /// Adds a node whose tag no other one has.
    fn node(&mut self, kind: Kind, chunk: usize, tag: String) -> usize {
        self.nodes.insert_full(tag, Node::new(kind, chunk)).0
    }

    fn tag_of(&self, node: usize) -> &str {
        self.nodes.get_index(node).map_or("", |(tag, _)| tag)
    }

    fn edge(&mut self, from: usize, to: usize, requisite: Requisite) {
        let next = self.edges.len();
        let edge = *self.by_ends.entry((from, to)).or_insert(next);
        if edge == next {
            self.edges.push(Edge { from, to, kinds: Kinds::default() });
            self.nodes[from].out.push(edge);
            self.nodes[to].into.push(edge);
        }
        self.edges[edge].kinds.add(requisite);
    }

    /// Adds the requisites of all chunks; what is wrong with them is returned.
    pub fn connect(&mut self, chunks: &mut [Map], opts: &Map) -> Vec<String> {
        let disabled = disabled(opts);
        let mut names = Names::default();
        let mut errors = Vec::new();
        for at in 0..chunks.len() {
            let named = chunks[at].iter().filter(|(_, items)| matches!(items, Value::List(_)));
            let kinds: Kinds = named.filter_map(|(key, _)| Requisite::named(key.as_str()?)).collect();
            for kind in kinds.iter() {
                if disabled.iter().any(|name| name == kind.name()) {
                    log::warn!("The {} requisite has been disabled, Ignoring.", kind.name());
                    continue;
                }
                let Some(Value::List(place)) = chunks[at].at_mut(kind.name()) else { continue };
                let items = std::mem::take(place);
                let connected = self.connect_to(&items, kind, at, &mut names, chunks);
                if let Some(Value::List(place)) = chunks[at].at_mut(kind.name()) {
                    *place = items;
                }
                if let Err(error) = connected {
                    errors.push(error);
                    break;
                }
            }
        }
        errors
    }

    /// Adds the requisites of one kind of a chunk.
    fn connect_to(
        &mut self,
        items: &[Value],
        kind: Requisite,
        at: usize,
        names: &mut Names,
        chunks: &mut [Map],
    ) -> Result<(), String> {
        let Some(node) = self.of_chunks.get(at).copied() else {
            return Ok(());
        };
        let place = |chunk: &Map| {
            let text = |name: &str| chunk.at(name).map_or("None".to_owned(), Value::to_text);
            format!("state [{}] in SLS [{}]", text("name"), text("__sls__"))
        };
        for item in items {
            let (module, name) = match item {
                Value::Map(map) => match map.first() {
                    Some((module, name)) => (module.as_text(), name),
                    None => continue,
                },
                name => (Cow::Borrowed("id"), name),
            };
            let module = module.split('.').next().unwrap_or_default();
            let name = match name {
                Value::Null => continue,
                Value::Str(name) => name,
                _ => {
                    let (kind, place) = (kind.name(), place(&chunks[at]));
                    return Err(format!("Requisite [{kind}: {module}] in {place} must have a string as the value"));
                }
            };
            if !self.depend(node, kind, module, name, names, chunks) {
                let (kind, place) = (kind.name(), place(&chunks[at]));
                return Err(format!(
                    "Referenced state does not exist for requisite [{kind}: ({module}: {name})] in {place}"
                ));
            }
        }
        Ok(())
    }

    /// Makes a state depend on all that a module and name mean; false: there is none.
    fn depend(
        &mut self,
        node: usize,
        kind: Requisite,
        module: &str,
        name: &str,
        names: &mut Names,
        chunks: &mut [Map],
    ) -> bool {
        if module == "sls" {
            let by_sls = names.by_sls(self, chunks);
            if is_pattern(name) {
                let members = matching(by_sls, name);
                self.depend_on(node, kind, &members, chunks);
                return true;
            }
            let Some(members) = by_sls.get(name) else {
                return false;
            };
            if members.len() < 2 || kind == Requisite::Prereq {
                self.depend_on(node, kind, members, chunks);
            } else {
                let group = self.group(name, kind, members);
                self.depend_on(node, kind, &[group], chunks);
            }
            return true;
        }
        let names = names.of(module, self, chunks);
        if is_pattern(name) || name.contains(']') {
            let members = matching(names, name);
            self.depend_on(node, kind, &members, chunks);
            return !members.is_empty();
        }
        let members = names.get(name).map(Vec::as_slice).unwrap_or_default();
        self.depend_on(node, kind, members, chunks);
        !members.is_empty()
    }

    /// The node that stands for the states of an SLS.
    fn group(&mut self, sls: &str, kind: Requisite, members: &[usize]) -> usize {
        let key = (sls.to_owned(), kind);
        if let Some(group) = self.groups.get(&key) {
            return *group;
        }
        // No state has such a tag: theirs have separators.
        let group = self.node(Kind::Group, 0, format!("{} of {sls}", kind.name()));
        for member in members {
            self.edge(*member, group, kind);
        }
        self.groups.insert(key, group);
        group
    }

    fn depend_on(&mut self, node: usize, kind: Requisite, members: &[usize], chunks: &mut [Map]) {
        for member in members {
            if kind == Requisite::Prereq {
                self.prereq(node, *member, chunks);
                continue;
            }
            // What is checked before others run waits for its requisites then already.
            if is_marked(&chunks[self.nodes[node].chunk])
                && let Some(check) = self.check_of(node)
            {
                self.edge(*member, check, kind);
            }
            self.edge(*member, node, kind);
        }
    }

    /// `node` runs before `wanted`, if a check of `wanted` says that it will change something.
    fn prereq(&mut self, node: usize, wanted: usize, chunks: &mut [Map]) {
        let (own, other) = (self.nodes[node].chunk, self.nodes[wanted].chunk);
        chunks[own].insert("__prerequiring__", true);
        chunks[other].insert("__prereq__", true);
        let name = check_tag(self.tag_of(wanted));
        let check = match self.nodes.get_index_of(&name) {
            Some(check) => check,
            None => {
                let check = self.node(Kind::Check, other, name);
                for edge in self.nodes[wanted].into.clone() {
                    let Edge { from, kinds, .. } = self.edges[edge];
                    for kind in kinds.iter().filter(|kind| *kind != Requisite::Prereq) {
                        self.edge(from, check, kind);
                    }
                }
                check
            }
        };
        self.edge(check, node, Requisite::Prereq);
        self.edge(node, wanted, Requisite::Require);
        if let Some(own_check) = self.check_of(node) {
            self.edge(check, own_check, Requisite::Prereq);
        }
    }

    /// The order in which to go through the chunks. A chunk that is checked before others run stands there twice. The
    /// error is the circle that makes it impossible.
    pub fn sorted(&mut self, chunks: &mut [Map], cap: i64) -> Result<Vec<Step>, String> {
        let mut waiting = vec![0; self.nodes.len()];
        for edge in &self.edges {
            waiting[edge.to] += edge.kinds.count();
        }
        let mut heap = BinaryHeap::with_capacity(self.nodes.len());
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
                    let Edge { to: next, kinds, .. } = self.edges[self.nodes[node].out[at]];
                    waiting[next] -= kinds.count();
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
        let states = self.nodes.values().filter(|node| !matches!(node.kind, Kind::Group)).count();
        if order.len() == states { Ok(order) } else { Err(self.circle(chunks)) }
    }

    /// What a node is sorted by: an order that is the least of its own and those that depend on it, then its name.
    fn key(&mut self, node: usize, chunks: &mut [Map], cap: i64) -> Key {
        let chunk = self.nodes[node].chunk;
        let own = settle(&mut chunks[chunk], cap);
        let mut least = f64::INFINITY;
        let mut heaviest = None;
        for at in 0..self.nodes[node].out.len() {
            let Edge { to: next, kinds, .. } = self.edges[self.nodes[node].out[at]];
            for kind in kinds.iter() {
                if heaviest.is_none_or(|heaviest| heaviest <= kind) {
                    heaviest = Some(kind);
                    least = least.min(self.order_of(next, chunks, cap));
                }
            }
        }
        let (data, tag) = (&chunks[chunk], self.tag_of(node));
        let mut label = String::with_capacity(2 * tag.len());
        ["state", "name", "fun"].iter().for_each(|name| label.push_str(&text(data, name)));
        label.push('\0');
        label.push_str(tag);
        Key { order: own.min(least), own, label, node }
    }

    fn order_of(&mut self, node: usize, chunks: &mut [Map], cap: i64) -> f64 {
        if !matches!(self.nodes[node].kind, Kind::Group) {
            return number(&mut chunks[self.nodes[node].chunk], cap, f64::INFINITY);
        }
        if let Some(least) = self.nodes[node].least {
            return least;
        }
        let wanting: Vec<usize> = self.nodes[node].out.iter().map(|edge| self.edges[*edge].to).collect();
        let least = wanting.into_iter().map(|next| self.order_of(next, chunks, cap)).fold(f64::INFINITY, f64::min);
        self.nodes[node].least = Some(least);
        least
    }

    /// The requisites of a node.
    pub fn needs(&self, node: usize) -> impl Iterator<Item = (Requisite, Need)> {
        let need = |edge: &Edge| match self.is_group(edge.from) {
            true => Need::All(edge.from),
            false => Need::One(self.step(edge.from)),
        };
        self.into(node).flat_map(move |edge| edge.kinds.iter().map(move |kind| (kind, need(edge))))
    }

    /// The states that a group stands for.
    pub fn members(&self, group: usize) -> impl Iterator<Item = Step> {
        self.into(group).map(|edge| self.step(edge.from))
    }

    /// The requisites of a node, one by one: an SLS is all its states.
    pub fn dependencies(&self, node: usize) -> impl Iterator<Item = (Requisite, Step)> {
        self.needs(node).flat_map(|(kind, need)| {
            let (one, group) = match need {
                Need::One(step) => (Some(step), None),
                Need::All(group) => (None, Some(group)),
            };
            let members = group.into_iter().flat_map(|group| self.members(group));
            one.into_iter().chain(members).map(move |step| (kind, step))
        })
    }

    /// Whether a node depends on a chunk.
    pub fn depends_on(&self, node: usize, chunk: usize) -> bool {
        let Some(wanted) = self.of_chunks.get(chunk) else {
            return false;
        };
        let is_in = |group: usize| self.by_ends.contains_key(&(*wanted, group));
        let is_it = |(_, need)| match need {
            Need::One(step) => step.chunk == chunk,
            Need::All(group) => is_in(group),
        };
        self.by_ends.contains_key(&(*wanted, node)) || self.needs(node).any(is_it)
    }

    fn into(&self, node: usize) -> impl Iterator<Item = &Edge> {
        let edges = self.nodes.get_index(node).map(|(_, node)| node.into.as_slice()).unwrap_or_default();
        edges.iter().map(|edge| &self.edges[*edge])
    }

    fn out(&self, node: usize) -> impl Iterator<Item = &Edge> {
        self.nodes[node].out.iter().map(|edge| &self.edges[*edge])
    }

    fn is_group(&self, node: usize) -> bool {
        matches!(self.nodes[node].kind, Kind::Group)
    }

    fn step(&self, node: usize) -> Step {
        Step { node, chunk: self.nodes[node].chunk }
    }

    /// The graph in the language of Graphviz.
    pub fn to_dot(&self, chunks: &[Map]) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let nodes = || (0..self.nodes.len()).filter(|node| !self.is_group(*node));
        let mut lines = vec!["digraph G {".to_owned()];
        for node in nodes() {
            let data = &chunks[self.nodes[node].chunk];
            let text = |name: &str| text(data, name);
            let mut label = format!("{}.{}\\n{}", text("state"), text("fun"), text("__id__").replace('"', "\\\""));
            if text("name") != text("__id__") {
                label.push_str(&format!("\\n({})", text("name").replace('"', "\\\"")));
            }
            lines.push(format!("  {} [label=\"{label}\"];", quoted(self.tag_of(node))));
        }
        for node in nodes() {
            for edge in self.out(node) {
                let beyond: Vec<usize> = match self.is_group(edge.to) {
                    true => self.out(edge.to).map(|edge| edge.to).collect(),
                    false => vec![edge.to],
                };
                for target in beyond {
                    for kind in edge.kinds.iter() {
                        let (from, to) = (quoted(self.tag_of(node)), quoted(self.tag_of(target)));
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
        self.nodes.get_index_of(&check_tag(self.tag_of(node)))
    }

    /// The node of a state itself, of its check too.
    pub fn state_of(&self, tag: &str) -> Option<usize> {
        self.nodes.get_index_of(tag)
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
                let Some(edge) = self.nodes[node].out.get(*at) else {
                    seen[node] = Seen::Done;
                    way.pop();
                    continue;
                };
                *at += 1;
                let Edge { to: next, kinds, .. } = self.edges[*edge];
                let kind = kinds.iter().next().unwrap_or(Requisite::Require);
                match seen[next] {
                    Seen::Done => {}
                    Seen::No => {
                        seen[next] = Seen::OnWay;
                        way.push((next, 0, Some(kind)));
                    }
                    Seen::OnWay => {
                        let from = way.iter().position(|(node, ..)| *node == next).unwrap_or(0);
                        return self.circle_text(&way[from..], kind, chunks);
                    }
                }
            }
        }
        String::new()
    }

    fn circle_text(&self, way: &[(usize, usize, Option<Requisite>)], last: Requisite, chunks: &[Map]) -> String {
        let states: Vec<usize> = way.iter().map(|(node, ..)| *node).filter(|node| !self.is_group(*node)).collect();
        let mut kinds: Vec<Requisite> =
            way.iter().skip(1).filter(|(node, ..)| !self.is_group(*node)).filter_map(|(_, _, kind)| *kind).collect();
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

impl Names {
    /// The states of a module, or all of them for `id`, by what they are called.
    fn of(&mut self, module: &str, graph: &Graph, chunks: &[Map]) -> &HashMap<String, Vec<usize>> {
        if !self.by_module.contains_key(module) {
            let mut names = HashMap::new();
            for (node, data) in graph.of_chunks.iter().zip(chunks) {
                if module == "id" || text(data, "state") == module {
                    put(&mut names, &text(data, "name"), *node);
                    put(&mut names, &text(data, "__id__"), *node);
                }
            }
            self.by_module.insert(module.to_owned(), names);
        }
        &self.by_module[module]
    }

    /// The states of each SLS and of those that include it.
    fn by_sls(&mut self, graph: &Graph, chunks: &[Map]) -> &HashMap<String, Vec<usize>> {
        self.by_sls.get_or_insert_with(|| {
            let mut all = HashMap::new();
            for (node, data) in graph.of_chunks.iter().zip(chunks) {
                let included_from = data.at("__sls_included_from__").and_then(Value::as_list).unwrap_or_default();
                for sls in data.at("__sls__").into_iter().chain(included_from) {
                    put(&mut all, &sls.as_text(), *node);
                }
            }
            all
        })
    }
}

/// The nodes of all that a pattern matches, in their order.
fn matching(all: &HashMap<String, Vec<usize>>, pattern: &str) -> Vec<usize> {
    let pattern = Pattern::new(pattern);
    let matching = all.iter().filter(|(name, _)| pattern.matches(name));
    let mut members: Vec<usize> = matching.flat_map(|(_, nodes)| nodes.iter().copied()).collect();
    members.sort_unstable();
    members.dedup();
    members
}

fn put(names: &mut HashMap<String, Vec<usize>>, name: &str, node: usize) {
    push_once(names.entry_ref(name).or_default(), node);
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
    /// Module, name and function, then the tag.
    label: String,
    node: usize,
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> std::cmp::Ordering {
        let by_order = self.order.total_cmp(&other.order).then(self.own.total_cmp(&other.own));
        by_order.then_with(|| self.label.cmp(&other.label))
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
