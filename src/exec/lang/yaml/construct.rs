//! From the graph of nodes to values: Salt's constructor, with its refusal of double keys.

use super::compose::{Content, Graph, NodeId, too_deep};
use super::resolve::Tag;
use super::{DEPTH_LIMIT, EXPANSION_LIMIT, Marks, Position, Stage, Warning, YamlError, scalar};
use halite_value::{Map, Value, str_repr};
use num_bigint::BigInt;
use std::collections::HashSet;

/// Builds the value of a document, null for an empty one.
pub fn construct(graph: Graph, places: Places) -> Result<(Value, Marks, Vec<Warning>), YamlError> {
    let Some(root) = graph.root else { return Ok(Default::default()) };
    let mut constructor = Constructor { places, ..Constructor::of(graph) };
    let (value, marks) = constructor.object(root, 0)?;
    Ok((value, marks.map(|marks| *marks).unwrap_or_default(), constructor.warnings))
}

#[derive(Clone, Copy, PartialEq)]
pub enum State {
    New,
    Open,
    Done,
}

pub struct Constructor {
    pub graph: Graph,
    pub states: Vec<State>,
    /// Bytes, roughly, that aliases and merges have added to the document.
    expansion: usize,
    warnings: Vec<Warning>,
    places: Places,
}

/// Whether the place of each value is wanted: it costs a fifth of the time.
#[derive(Clone, Copy, PartialEq)]
pub enum Places {
    Kept,
    Dropped,
}

/// A value, and its places where those are kept.
type Built = Result<(Value, Option<Box<Marks>>), YamlError>;

impl Constructor {
    pub fn of(graph: Graph) -> Constructor {
        let states = vec![State::New; graph.nodes.len()];
        Constructor { graph, states, expansion: 0, warnings: Vec::new(), places: Places::Dropped }
    }

    /// Notes that a node is being built, and answers what it was before: one inside itself is refused.
    pub fn enter(&mut self, id: NodeId) -> Result<State, YamlError> {
        let at = self.at(id);
        let before = self.states[id];
        match before {
            State::Open => return Err(fail("found unconstructable recursive node", at)),
            State::Done => self.expand(size_of::<Value>() + self.length(id), at)?,
            State::New => {}
        }
        self.states[id] = State::Open;
        Ok(before)
    }

    pub fn object(&mut self, id: NodeId, depth: usize) -> Built {
        let at = self.at(id);
        if depth > DEPTH_LIMIT {
            return Err(too_deep(at));
        }
        let before = self.enter(id)?;
        let built = match &self.graph.nodes[id].tag {
            Tag::Seq => self.sequence(id, depth),
            Tag::Map => self.mapping(id, depth),
            Tag::Set => self.set(id, depth),
            Tag::Omap => self.pairs(id, depth, "while constructing an ordered map"),
            Tag::Pairs => self.pairs(id, depth, "while constructing pairs"),
            Tag::Merge | Tag::Value | Tag::Other(_) => Err(self.no_constructor(id)),
            _ => self.scalar(id, before).map(|value| (value, self.leaf(at))),
        };
        self.states[id] = State::Done;
        built
    }

    fn scalar(&mut self, id: NodeId, before: State) -> Result<Value, YamlError> {
        if matches!(self.tag(id), Tag::Str | Tag::Unicode | Tag::Timestamp)
            && !self.graph.aliased
            && let Content::Scalar(text) = &mut self.graph.nodes[id].content
        {
            return Ok(Value::from(std::mem::take(text)));
        }
        let text = self.scalar_text(id)?;
        let node = &self.graph.nodes[id];
        let value = match node.tag {
            Tag::Null => Ok(Value::Null),
            Tag::Bool => scalar::truth(text).map(Value::Bool),
            Tag::Int => scalar::int(text),
            Tag::Float => scalar::float(text).map(Value::Float),
            Tag::Binary => scalar::binary(text).map(Value::Bytes),
            _ => Ok(Value::from(text)),
        };
        let warning = match before {
            State::New if node.plain && node.tag == Tag::Int => Warning::about_integer(text, node.at),
            _ => None,
        };
        self.warnings.extend(warning);
        value.map_err(|problem| fail(problem, self.at(id)))
    }

    /// The text of a scalar; of a mapping, that of its `=` key.
    fn scalar_text(&self, id: NodeId) -> Result<&str, YamlError> {
        let content = &self.graph.nodes[id].content;
        match content {
            Content::Scalar(text) => return Ok(text),
            Content::Mapping(pairs) => {
                for (key, value) in pairs {
                    if let (Tag::Value, Content::Scalar(text)) = (self.tag(*key), &self.graph.nodes[*value].content) {
                        return Ok(text);
                    }
                }
            }
            Content::Sequence(_) => {}
        }
        Err(fail(format!("expected a scalar node, but found {}", content.name()), self.at(id)))
    }

    fn sequence(&mut self, id: NodeId, depth: usize) -> Built {
        let Content::Sequence(items) = &self.graph.nodes[id].content else {
            return Err(self.unexpected("sequence", id));
        };
        let mut list = Vec::with_capacity(items.len());
        let mut marks = self.leaf(self.at(id));
        while let Content::Sequence(items) = &self.graph.nodes[id].content
            && let Some(&item) = items.get(list.len())
        {
            let (value, below) = self.object(item, depth + 1)?;
            list.push(value);
            keep(&mut marks, below);
        }
        Ok((Value::List(list), marks))
    }

    /// Keys and plain values come before collections, as Salt builds them: an error above is told before one below.
    fn mapping(&mut self, id: NodeId, depth: usize) -> Built {
        if !matches!(self.graph.nodes[id].content, Content::Mapping(_)) {
            return Err(self.unexpected("mapping", id));
        }
        self.flatten(id, depth)?;
        let mut marks = self.leaf(self.at(id));
        let mut map = Map::with_capacity(self.entries(id).len());
        let mut numbers = HashSet::new();
        let mut later = Vec::new();
        while let Some(&(key_id, value_id)) = self.entries(id).get(map.len()) {
            let key = self.key(id, key_id, depth)?;
            let scalar = matches!(self.graph.nodes[value_id].content, Content::Scalar(_));
            let (value, below) = if scalar { self.object(value_id, depth + 1)? } else { Default::default() };
            let twice = numeric(&key).is_some_and(|number| !numbers.insert(number));
            let added = if twice { Err(key) } else { map.add(key, value) };
            if let Err(key) = added {
                let problem = format!("found conflicting ID '{key}'");
                return Err(fail(problem, self.at(key_id)).within(MAPPING, self.at(id)));
            }
            if !scalar {
                later.push((map.len() - 1, value_id));
            }
            if let Some(marks) = &mut marks {
                marks.keys.push(self.at(key_id));
            }
            keep(&mut marks, below);
        }
        let mut slots = map.iter_mut().map(|(_, slot)| slot).enumerate();
        for (place, value_id) in later {
            let (value, below) = self.object(value_id, depth + 1)?;
            if let Some((_, slot)) = slots.find(|(index, _)| *index == place) {
                *slot = value;
            }
            if let Some(mark) = marks.as_mut().and_then(|marks| marks.items.get_mut(place)) {
                *mark = below.map(|below| *below).unwrap_or_default();
            }
        }
        drop(slots);
        Ok((Value::Map(map), marks))
    }

    pub fn key(&mut self, mapping: NodeId, id: NodeId, depth: usize) -> Result<Value, YamlError> {
        let node = &self.graph.nodes[id];
        if !matches!(node.content, Content::Scalar(_)) {
            let problem = format!("found unacceptable key {}", self.shown(id));
            return Err(fail(problem, self.at(id)).within(MAPPING, self.at(mapping)));
        }
        if let (Content::Scalar(text), Tag::Bool, true, State::New) =
            (&node.content, &node.tag, node.plain, self.states[id])
        {
            self.warnings.extend(Warning::about_key(text, node.at));
        }
        Ok(self.object(id, depth + 1)?.0)
    }

    /// Salt's sets travel as lists.
    fn set(&mut self, id: NodeId, depth: usize) -> Built {
        let (value, marks) = self.mapping(id, depth)?;
        let members = value.as_map().map(|map| map.keys().cloned().collect()).unwrap_or_default();
        let marks = marks.map(|mut marks| {
            marks.items = std::mem::take(&mut marks.keys).into_iter().map(Marks::leaf).collect();
            marks
        });
        Ok((Value::List(members), marks))
    }

    /// `!!omap` and `!!pairs`: a list of pairs.
    fn pairs(&mut self, id: NodeId, depth: usize, context: &str) -> Built {
        let within = |error: YamlError, at| error.within(context, at);
        let at = self.at(id);
        let content = &self.graph.nodes[id].content;
        let Content::Sequence(items) = content else {
            let problem = format!("expected a sequence, but found {}", content.name());
            return Err(within(fail(problem, at), at));
        };
        let mut marks = self.leaf(at);
        let mut list = Vec::with_capacity(items.len());
        for item in items.clone() {
            let at_item = self.at(item);
            let content = &self.graph.nodes[item].content;
            let Content::Mapping(entries) = content else {
                let problem = format!("expected a mapping of length 1, but found {}", content.name());
                return Err(within(fail(problem, at_item), at));
            };
            let &[(key, value)] = entries.as_slice() else {
                let problem = format!("expected a single mapping item, but found {} items", entries.len());
                return Err(within(fail(problem, at_item), at));
            };
            let (key, key_marks) = self.object(key, depth + 2)?;
            let (value, value_marks) = self.object(value, depth + 2)?;
            list.push(Value::List(vec![key, value]));
            let mut pair = self.leaf(at_item);
            keep(&mut pair, key_marks);
            keep(&mut pair, value_marks);
            keep(&mut marks, pair);
        }
        Ok((Value::List(list), marks))
    }

    /// Replaces `<<` entries by what they name. A key of the mapping itself wins; merged entries stand first.
    pub fn flatten(&mut self, id: NodeId, depth: usize) -> Result<(), YamlError> {
        let at = self.at(id);
        if depth > DEPTH_LIMIT {
            return Err(too_deep(at));
        }
        let mut merged: Vec<(NodeId, NodeId)> = Vec::new();
        let mut index = 0;
        while let Some(&(key, value)) = self.entries(id).get(index) {
            match self.tag(key) {
                Tag::Merge => {
                    if let Content::Mapping(pairs) = &mut self.graph.nodes[id].content {
                        pairs.remove(index);
                    }
                    for source in self.merge_sources(id, value)? {
                        self.flatten(source, depth + 1)?;
                        let more = self.entries(source).to_vec();
                        self.expand(more.len() * size_of::<(NodeId, NodeId)>(), at)?;
                        merged.extend(more);
                    }
                }
                Tag::Value => {
                    self.graph.nodes[key].tag = Tag::Str;
                    index += 1;
                }
                _ => index += 1,
            }
        }
        if merged.is_empty() {
            return Ok(());
        }
        let own = self.entries(id);
        let named: HashSet<&str> = own.iter().filter_map(|(key, _)| self.text(*key)).collect();
        merged.retain(|(key, _)| self.text(*key).is_none_or(|text| !named.contains(text)));
        merged.extend(own);
        self.graph.nodes[id].content = Content::Mapping(merged);
        Ok(())
    }

    /// The mappings a `<<` names, in the order in which they are merged: the last of a list first.
    fn merge_sources(&self, mapping: NodeId, value: NodeId) -> Result<Vec<NodeId>, YamlError> {
        let refuse = |wants: &str, id: NodeId| {
            let found = self.graph.nodes[id].content.name();
            let problem = format!("expected {wants} for merging, but found {found}");
            fail(problem, self.at(id)).within(MAPPING, self.at(mapping))
        };
        match &self.graph.nodes[value].content {
            Content::Mapping(_) => Ok(vec![value]),
            Content::Sequence(items) => items
                .iter()
                .rev()
                .map(|&item| match self.graph.nodes[item].content {
                    Content::Mapping(_) => Ok(item),
                    _ => Err(refuse("a mapping", item)),
                })
                .collect(),
            Content::Scalar(_) => Err(refuse("a mapping or list of mappings", value)),
        }
    }

    /// Counts what an alias adds: a few lines must not become gigabytes.
    fn expand(&mut self, bytes: usize, at: Position) -> Result<(), YamlError> {
        self.expansion = self.expansion.saturating_add(bytes);
        if self.expansion > EXPANSION_LIMIT {
            let limit = EXPANSION_LIMIT >> 20;
            return Err(fail(
                format!("aliases expand to more than {limit} MiB; write out less, or alias less often"),
                at,
            ));
        }
        Ok(())
    }

    fn unexpected(&self, wants: &str, id: NodeId) -> YamlError {
        let found = self.graph.nodes[id].content.name();
        fail(format!("expected a {wants} node, but found {found}"), self.at(id))
    }

    fn no_constructor(&self, id: NodeId) -> YamlError {
        let tag = str_repr(&self.tag(id).text());
        fail(format!("could not determine a constructor for the tag {tag}"), self.at(id))
    }

    /// What a collection used as a key holds, as Salt prints it. Bounded, since aliases may repeat.
    fn shown(&self, id: NodeId) -> String {
        let mut out = String::new();
        self.show_content(id, &mut Vec::new(), &mut out);
        out
    }

    fn show_node(&self, id: NodeId, path: &mut Vec<NodeId>, out: &mut String) {
        let kind = match self.graph.nodes[id].content {
            Content::Scalar(_) => "ScalarNode",
            Content::Sequence(_) => "SequenceNode",
            Content::Mapping(_) => "MappingNode",
        };
        out.push_str(&format!("{kind}(tag={}, value=", str_repr(&self.tag(id).text())));
        self.show_content(id, path, out);
        out.push(')');
    }

    fn show_content(&self, id: NodeId, path: &mut Vec<NodeId>, out: &mut String) {
        if path.contains(&id) || path.len() > DEPTH_LIMIT || out.len() > SHOWN_LIMIT {
            out.push_str("[...]");
            return;
        }
        path.push(id);
        match &self.graph.nodes[id].content {
            Content::Scalar(text) => out.push_str(&str_repr(text)),
            Content::Sequence(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    self.show_node(*item, path, out);
                }
                out.push(']');
            }
            Content::Mapping(pairs) => {
                out.push('[');
                for (index, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(if index > 0 { ", (" } else { "(" });
                    self.show_node(*key, path, out);
                    out.push_str(", ");
                    self.show_node(*value, path, out);
                    out.push(')');
                }
                out.push(']');
            }
        }
        path.pop();
    }

    fn leaf(&self, at: Position) -> Option<Box<Marks>> {
        (self.places == Places::Kept).then(|| Box::new(Marks::leaf(at)))
    }

    fn at(&self, id: NodeId) -> Position {
        self.graph.nodes[id].at
    }

    fn tag(&self, id: NodeId) -> &Tag {
        &self.graph.nodes[id].tag
    }

    fn text(&self, id: NodeId) -> Option<&str> {
        match &self.graph.nodes[id].content {
            Content::Scalar(text) => Some(text),
            _ => None,
        }
    }

    fn length(&self, id: NodeId) -> usize {
        self.text(id).map_or(0, str::len)
    }

    pub fn entries(&self, id: NodeId) -> &[(NodeId, NodeId)] {
        match &self.graph.nodes[id].content {
            Content::Mapping(pairs) => pairs,
            _ => &[],
        }
    }
}

/// Puts the places of a value below those of the collection that it is in.
fn keep(marks: &mut Option<Box<Marks>>, below: Option<Box<Marks>>) {
    if let Some(marks) = marks {
        marks.items.push(below.map(|below| *below).unwrap_or_default());
    }
}

const MAPPING: &str = "while constructing a mapping";

/// How much of a refused key is shown.
const SHOWN_LIMIT: usize = 4096;

fn fail(problem: impl Into<String>, at: Position) -> YamlError {
    YamlError::new(Stage::Constructor, problem, at)
}

/// Python holds 1, 1.0 and True for the same key: what they have in common, for those alone.
fn numeric(key: &Value) -> Option<BigInt> {
    match key {
        Value::Bool(truth) => Some(BigInt::from(*truth as u8)),
        Value::Int(number) => Some(BigInt::from(*number)),
        Value::Big(number) => Some(number.as_ref().clone()),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e300 => format!("{number:.0}").parse().ok(),
        _ => None,
    }
}
