//! Salt's extension of YAML, `yamlex`: a key may stand twice in a map. The later value counts; where both are marked
//! `!aggregate`, maps are merged and lists joined; maps that are not marked keep only the keys of the later one.
//! `!reset` on a key forgets what was there. The document itself counts as marked.

use super::compose::{self, Content, NodeId};
use super::construct::{Constructor, State};
use super::resolve::{Tag, resolve};
use super::{DEPTH_LIMIT, YamlError};
use halite_value::{Map, Value};
use indexmap::IndexMap;

const AGGREGATE: &str = "!aggregate";
const RESET: &str = "!reset";

/// Reads a document in which keys may stand twice.
pub fn load_aggregated(text: &str) -> Result<Value, YamlError> {
    let graph = compose::compose(text)?;
    let Some(root) = graph.root else { return Ok(Value::Null) };
    let mut builder = Builder { constructor: Constructor::of(graph) };
    Ok(builder.marked(root, 0)?.into_value())
}

/// A value of which it is known whether it was marked `!aggregate`.
#[derive(Clone)]
enum Tree {
    Plain(Value),
    List { items: Vec<Tree>, marked: bool },
    Map { entries: IndexMap<Value, Tree>, marked: bool },
}

impl Tree {
    fn into_value(self) -> Value {
        match self {
            Tree::Plain(value) => value,
            Tree::List { items, .. } => items.into_iter().map(Tree::into_value).collect::<Vec<Value>>().into(),
            Tree::Map { entries, .. } => {
                let mut map = Map::with_capacity(entries.len());
                for (key, value) in entries {
                    map.insert(key, value.into_value());
                }
                map.into()
            }
        }
    }

    /// What becomes of a value when `later` stands under the same key.
    fn followed_by(self, later: Tree) -> Tree {
        match (self, later) {
            (Tree::Map { entries: mut before, marked: a }, Tree::Map { entries, marked: b }) => {
                let mut merged = IndexMap::with_capacity(entries.len());
                for (key, value) in entries {
                    let value = match before.get_mut(&key) {
                        Some(known) => std::mem::replace(known, Tree::Plain(Value::Null)).followed_by(value),
                        None => value,
                    };
                    merged.insert(key, value);
                }
                if !(a && b) {
                    return Tree::Map { entries: merged, marked: b };
                }
                before.extend(merged);
                Tree::Map { entries: before, marked: true }
            }
            (Tree::List { mut items, marked: true }, Tree::List { items: more, marked: true }) => {
                let known: Vec<Value> = items.iter().map(|item| item.clone().into_value()).collect();
                items.extend(more.into_iter().filter(|item| !known.contains(&item.clone().into_value())));
                Tree::List { items, marked: true }
            }
            (_, later) => later,
        }
    }
}

struct Builder {
    constructor: Constructor,
}

impl Builder {
    fn build(&mut self, id: NodeId, depth: usize) -> Result<Tree, YamlError> {
        match self.tag_text(id) {
            Some(AGGREGATE) => self.marked(id, depth),
            Some(RESET) => {
                self.untag(id);
                self.build(id, depth)
            }
            _ => self.plain(id, depth),
        }
    }

    /// Something marked `!aggregate`: a scalar becomes a list of it, null an empty one.
    fn marked(&mut self, id: NodeId, depth: usize) -> Result<Tree, YamlError> {
        self.untag(id);
        Ok(match self.plain(id, depth)? {
            Tree::Plain(Value::Null) => Tree::List { items: Vec::new(), marked: true },
            Tree::Plain(value) => Tree::List { items: vec![Tree::Plain(value)], marked: true },
            Tree::List { items, .. } => Tree::List { items, marked: true },
            Tree::Map { entries, .. } => Tree::Map { entries, marked: true },
        })
    }

    fn plain(&mut self, id: NodeId, depth: usize) -> Result<Tree, YamlError> {
        let constructor = &mut self.constructor;
        if depth > DEPTH_LIMIT {
            return Err(compose::too_deep(constructor.graph.nodes[id].at));
        }
        let node = &constructor.graph.nodes[id];
        let inside =
            matches!((&node.content, &node.tag), (Content::Sequence(_), Tag::Seq) | (Content::Mapping(_), Tag::Map));
        if !inside {
            return constructor.object(id, depth).map(|(value, _)| Tree::Plain(value));
        }
        constructor.enter(id)?;
        let built = match &self.constructor.graph.nodes[id].content {
            Content::Sequence(items) => {
                let items = items.clone();
                let items = items.into_iter().map(|item| self.build(item, depth + 1)).collect::<Result<_, _>>();
                items.map(|items| Tree::List { items, marked: false })
            }
            _ => self.mapping(id, depth),
        };
        self.constructor.states[id] = State::Done;
        built
    }

    fn mapping(&mut self, id: NodeId, depth: usize) -> Result<Tree, YamlError> {
        self.constructor.flatten(id, depth)?;
        let pairs = self.constructor.entries(id).to_vec();
        let mut entries: IndexMap<Value, Tree> = IndexMap::with_capacity(pairs.len());
        for (key_id, value_id) in pairs {
            let reset = self.tag_text(key_id) == Some(RESET);
            // On a key the mark is meant for the value.
            let aggregate = self.tag_text(key_id) == Some(AGGREGATE);
            self.untag(key_id);
            let key = self.constructor.key(id, key_id, depth)?;
            let value = match aggregate {
                true => self.marked(value_id, depth + 1)?,
                false => self.build(value_id, depth + 1)?,
            };
            let value = match entries.get_mut(&key).filter(|_| !reset) {
                Some(known) => std::mem::replace(known, Tree::Plain(Value::Null)).followed_by(value),
                None => value,
            };
            entries.insert(key, value);
        }
        Ok(Tree::Map { entries, marked: false })
    }

    fn tag_text(&self, id: NodeId) -> Option<&str> {
        match &self.constructor.graph.nodes[id].tag {
            Tag::Other(text) => Some(text),
            _ => None,
        }
    }

    /// Gives a node marked with one of the two tags the tag that it would have without.
    fn untag(&mut self, id: NodeId) {
        let node = &mut self.constructor.graph.nodes[id];
        if matches!(&node.tag, Tag::Other(text) if matches!(&**text, AGGREGATE | RESET)) {
            node.tag = match &node.content {
                Content::Scalar(text) => resolve(text),
                Content::Sequence(_) => Tag::Seq,
                Content::Mapping(_) => Tag::Map,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::load;

    /// What Salt's yamlex makes of the same texts.
    #[test]
    fn keys_that_stand_twice_are_joined_or_replaced() {
        let cases = [
            ("p: !aggregate foo\np: !aggregate bar\np: !aggregate baz\n", "p: [foo, bar, baz]"),
            ("p: {!aggregate foo: {foo: 42}}\np: {!aggregate foo: {bar: null}}\n", "p: {foo: {foo: 42, bar: null}}"),
            (
                "p: {!aggregate foo: {foo: 42}}\np: {!aggregate foo: {bar: null}}\n!reset p: {!aggregate foo: {baz: inga}}\n",
                "p: {foo: {baz: inga}}",
            ),
            ("a: {x: 1, z: 1}\na: {y: 2, z: 3}\n", "a: {y: 2, z: 3}"),
            ("a: [1, 2]\na: [2, 3]\n", "a: [2, 3]"),
            ("a: !aggregate [1, 2]\na: !aggregate [2, 3]\n", "a: [1, 2, 3]"),
            ("a: !aggregate\n", "a: []"),
            ("a: !aggregate {x: 1}\na: !aggregate {y: 2}\nb: 0644\n", "{a: {x: 1, y: 2}, b: 644}"),
            ("base: &b {x: 1}\na:\n  <<: *b\n  y: 2\n", "{base: {x: 1}, a: {x: 1, y: 2}}"),
            ("plain\n", "[plain]"),
            ("", "null"),
        ];
        for (text, wanted) in cases {
            assert_eq!(load_aggregated(text), Ok(load(wanted).unwrap()), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let error = load_aggregated("a: 1\nb: !other x\n").unwrap_err();
        assert_eq!((error.line, error.column), (2, 4));
        assert!(load_aggregated("a: &a [*a]\n").is_err());
        assert!(load_aggregated(&"[".repeat(5000)).is_err());
    }
}
