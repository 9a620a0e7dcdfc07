//! From libyaml's events to a graph of nodes: anchors resolved, tags known, nothing built yet.

use super::resolve::{Tag, resolve};
use super::{DEPTH_LIMIT, Position, Stage, YamlError};
use libyaml_safer::{Encoding, Error, ErrorKind, Event, EventData, Mark, Parser, ScalarStyle};
use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{self, UnwindSafe};
use std::sync::Once;

/// Where a node stands in the [`Graph`].
pub type NodeId = usize;

#[derive(Debug)]
pub struct Node {
    pub tag: Tag,
    pub content: Content,
    pub at: Position,
    /// Written without quotes and without a tag: the resolver chose its type, so a user may be surprised.
    pub plain: bool,
}

#[derive(Debug)]
pub enum Content {
    Scalar(String),
    Sequence(Vec<NodeId>),
    Mapping(Vec<(NodeId, NodeId)>),
}

impl Content {
    /// What messages call it.
    pub fn name(&self) -> &'static str {
        match self {
            Content::Scalar(_) => "scalar",
            Content::Sequence(_) => "sequence",
            Content::Mapping(_) => "mapping",
        }
    }
}

/// One document. An alias is the id of the node it names, so a graph may share nodes and even hold cycles.
#[derive(Debug, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub root: Option<NodeId>,
    /// Whether any node is shared: if not, what is built may take its texts.
    pub aliased: bool,
}

/// Reads the one document of a text; none for a text without content.
///
/// The crate panics in three places where libyaml reads past the end of its input: a block scalar whose last line has
/// no line end, a backslash as the last character, and a tag with a comma right behind it. So the text always gets a
/// line end, one that tells itself apart, and what remains is caught.
pub fn compose(text: &str) -> Result<Graph, YamlError> {
    // libyaml keeps these two as they are in block scalars, where every other line end becomes a line feed.
    let marker = ['\u{2028}', '\u{2029}'].into_iter().find(|marker| !text.contains(*marker));
    let Some(marker) = marker.filter(|_| !text.is_empty() && !text.ends_with(['\n', '\r', '\u{85}'])) else {
        return guarded(text, None);
    };
    let longer = format!("{text}{marker}");
    match guarded(&longer, Some(marker)) {
        // Errors at the end are told from the text as it is; their place would be that of the added line end.
        Err(error) if error.at() >= end_of(text) && !text.ends_with('\\') => guarded(text, None),
        result => result,
    }
}

fn guarded(text: &str, added: Option<char>) -> Result<Graph, YamlError> {
    quietly(|| parse(text, added)).unwrap_or_else(|| {
        let problem = "a tag must be followed by a space, not by a comma";
        Err(YamlError::new(Stage::Scanner, problem, tag_before_comma(text)))
    })
}

/// Runs what may panic; nothing when it did. The report of such a panic is left out: a user's text is no bug of ours.
fn quietly<T>(work: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
    thread_local! {
        static QUIET: Cell<bool> = const { Cell::new(false) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                report(info);
            }
        }));
    });
    QUIET.set(true);
    let result = panic::catch_unwind(work);
    QUIET.set(false);
    result.ok()
}

/// The first place that looks like a tag with a comma behind it.
fn tag_before_comma(text: &str) -> Position {
    let tags = text.match_indices('!').map(|(at, _)| at);
    let mut commas = tags.filter(|at| {
        let tag = text[*at..].find(|c: char| c.is_whitespace() || ",[]{}".contains(c));
        tag.is_some_and(|length| text[at + length..].starts_with(','))
    });
    commas.next().map_or_else(|| end_of(text), |at| end_of(&text[..at]))
}

/// How much text there is to a node, at least in most documents.
const BYTES_A_NODE: usize = 12;

fn parse(text: &str, added: Option<char>) -> Result<Graph, YamlError> {
    let mut input = text.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut input);
    // Any character that begins as a byte order mark does is taken for a broken one when the encoding has to be guessed.
    if text.as_bytes().first() == Some(&0xef) && !text.starts_with('\u{feff}') {
        parser.set_encoding(Encoding::Utf8);
    }
    let mut composer = Composer::default();
    composer.graph.nodes.reserve(text.len() / BYTES_A_NODE);
    loop {
        let mut event = parser.parse().map_err(|error| from_libyaml(&error, text))?;
        match &mut event.data {
            EventData::StreamEnd => return Ok(composer.graph),
            EventData::Scalar { value, style: ScalarStyle::Literal | ScalarStyle::Folded, .. }
                if added.is_some_and(|marker| value.ends_with(marker)) =>
            {
                value.pop();
            }
            _ => {}
        }
        composer.take(event)?;
    }
}

/// The place behind the last character, lines counted as libyaml counts them.
fn end_of(text: &str) -> Position {
    let mut at = Position { line: 1, column: 1 };
    let mut after_return = false;
    for c in text.chars() {
        match c {
            '\n' if after_return => {}
            '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => at = Position { line: at.line + 1, column: 1 },
            _ => at.column += 1,
        }
        after_return = c == '\r';
    }
    at
}

#[derive(Default)]
struct Composer {
    graph: Graph,
    open: Vec<Open>,
    anchors: HashMap<String, NodeId>,
    documents: usize,
}

/// A collection whose end has not come yet.
struct Open {
    node: NodeId,
    key: Option<NodeId>,
}

impl Composer {
    fn take(&mut self, event: Event) -> Result<(), YamlError> {
        let at = position(event.start_mark);
        match event.data {
            EventData::StreamStart { .. } | EventData::StreamEnd | EventData::DocumentEnd { .. } => Ok(()),
            EventData::DocumentStart { .. } => self.start_document(at),
            EventData::Alias { anchor } => match self.anchors.get(&anchor) {
                Some(&node) => {
                    self.graph.aliased = true;
                    self.attach(node);
                    Ok(())
                }
                None => Err(YamlError::new(Stage::Composer, "found undefined alias", at)),
            },
            EventData::Scalar { anchor, tag, value, plain_implicit, .. } => {
                let known = match &tag {
                    _ if plain_implicit => resolve(&value),
                    Some(tag) if tag != "!" => Tag::from_text(tag),
                    _ => Tag::Str,
                };
                let plain = plain_implicit && tag.is_none();
                let node = self.add(Node { tag: known, content: Content::Scalar(value), at, plain }, anchor)?;
                self.attach(node);
                Ok(())
            }
            EventData::SequenceStart { anchor, tag, .. } => self.start(Content::Sequence(Vec::new()), anchor, tag, at),
            EventData::MappingStart { anchor, tag, .. } => self.start(Content::Mapping(Vec::new()), anchor, tag, at),
            EventData::SequenceEnd | EventData::MappingEnd => {
                self.open.pop();
                Ok(())
            }
        }
    }

    fn start_document(&mut self, at: Position) -> Result<(), YamlError> {
        self.documents += 1;
        if self.documents == 1 {
            return Ok(());
        }
        let first = self.graph.root.map_or(at, |root| self.graph.nodes[root].at);
        let error = YamlError::new(Stage::Composer, "but found another document", at);
        Err(error.within("expected a single document in the stream", first))
    }

    fn start(
        &mut self,
        content: Content,
        anchor: Option<String>,
        tag: Option<String>,
        at: Position,
    ) -> Result<(), YamlError> {
        if self.open.len() >= DEPTH_LIMIT {
            return Err(too_deep(at));
        }
        let tag = match (tag, &content) {
            (Some(tag), _) if tag != "!" => Tag::from_text(&tag),
            (_, Content::Sequence(_)) => Tag::Seq,
            _ => Tag::Map,
        };
        let node = self.add(Node { tag, content, at, plain: false }, anchor)?;
        self.attach(node);
        self.open.push(Open { node, key: None });
        Ok(())
    }

    fn add(&mut self, node: Node, anchor: Option<String>) -> Result<NodeId, YamlError> {
        let id = self.graph.nodes.len();
        if let Some(anchor) = anchor
            && let Some(first) = self.anchors.insert(anchor, id)
        {
            let error = YamlError::new(Stage::Composer, "second occurrence", node.at);
            return Err(error.within("found duplicate anchor; first occurrence", self.graph.nodes[first].at));
        }
        self.graph.nodes.push(node);
        Ok(id)
    }

    fn attach(&mut self, node: NodeId) {
        let Some(open) = self.open.last_mut() else {
            self.graph.root = Some(node);
            return;
        };
        match &mut self.graph.nodes[open.node].content {
            Content::Sequence(items) => items.push(node),
            Content::Mapping(pairs) => match open.key.take() {
                Some(key) => pairs.push((key, node)),
                None => open.key = Some(node),
            },
            Content::Scalar(_) => {}
        }
    }
}

pub fn too_deep(at: Position) -> YamlError {
    YamlError::new(Stage::Composer, format!("nested more than {DEPTH_LIMIT} levels deep"), at)
}

fn position(mark: Mark) -> Position {
    Position { line: mark.line as usize + 1, column: mark.column as usize + 1 }
}

fn from_libyaml(error: &Error, text: &str) -> YamlError {
    let stage = match error.kind() {
        ErrorKind::Scanner => Stage::Scanner,
        ErrorKind::Parser => Stage::Parser,
        ErrorKind::Composer => Stage::Composer,
        ErrorKind::Reader | ErrorKind::Emitter | ErrorKind::Io => return unreadable(error.problem(), text),
    };
    let new = YamlError::new(stage, error.problem(), error.problem_mark().map(position).unwrap_or_default());
    match (error.context(), error.context_mark()) {
        (Some(context), Some(mark)) => new.within(context, position(mark)),
        _ => new,
    }
}

/// A character that YAML forbids. libyaml reads ahead, so it has no mark for it; the text is searched instead.
fn unreadable(problem: &str, text: &str) -> YamlError {
    let Some((offset, bad)) = text.char_indices().find(|(_, c)| is_forbidden(*c)) else {
        return YamlError::new(Stage::Reader, problem, Position::default());
    };
    let at = end_of(&text[..offset]);
    YamlError::new(Stage::Reader, format!("unacceptable character #x{:04x}: {problem}", bad as u32), at)
}

fn is_forbidden(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    control || matches!(c, '\u{fffe}' | '\u{ffff}')
}
