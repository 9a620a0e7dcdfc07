//! `file.managed`.

use super::super::{Look, Outcome, Plan, State, already, change, failed};
use super::owner::Owner;
use super::{absolute, followed, is_folder, mode, refused, single};
use crate::exec::diff::unified;
use crate::exec::fileserver::client::{FileClient, Wanted, make_folders};
use crate::exec::host::{Attributes, FileKind};
use crate::exec::{Ctx, Fault, templates};
use crate::record;
use crate::wire::record::Keywords;
use crate::wire::value::{Map, Value};
use std::path::PathBuf;

record! {
    /// Makes sure that a file has a content, an owner and a mode. The content comes from the file server, from elsewhere,
    /// from the SLS or from the pillar, and may be a template.
    ///
    ///   /etc/http/conf/http.conf:
    ///     file.managed:
    ///       - source: salt://apache/http.conf
    ///       - user: root
    ///       - mode: '0644'
    ///       - template: jinja
    ///       - context:
    ///           port: 80
    pub struct Managed {
        /// The path.
        name: String,
        /// The content's address; of a list the first that is there.
        source: Value = (),
        /// The content itself: text, or a list of lines.
        contents: Value = (),
        /// The path in the pillar where the content is.
        contents_pillar: Option<String> = (),
        /// Whether a line end is put behind the content.
        contents_newline: bool = true,
        /// A template engine for the content.
        template: Option<String> = (),
        /// Variables of the template.
        context: Map = Value::Map(Map::new()),
        /// Variables of the template that are not in `context`.
        defaults: Map = Value::Map(Map::new()),
        /// The owner.
        user: Value = (),
        /// The group.
        group: Value = (),
        /// The mode, octal and quoted.
        mode: Value = (),
        /// Make the folders above that are missing.
        makedirs: bool = false,
        /// The mode of folders that are made.
        dir_mode: Value = (),
        /// Whether the content of a file that is there is replaced.
        replace: bool = true,
        /// Whether a file that is missing is made.
        create: bool = true,
        /// Whether the difference is shown.
        show_changes: bool = true,
        /// Taken, not used: content from elsewhere is never verified in this version.
        skip_verify: bool = false,
        kwargs: Keywords,
    }
}

/// Settings that this version does not have: who uses one should know.
const NOT_YET: [&str; 5] = ["check_cmd", "contents_grains", "signature", "source_hash", "backup"];

impl State for Managed {
    fn plan(self, look: &Look) -> Result<Plan, Fault> {
        let ctx = look.ctx;
        if let Some(name) = NOT_YET.iter().find(|name| self.kwargs.0.at(name).is_some_and(Value::truthy)) {
            return Ok(failed(format!("file.managed: this version does not have '{name}' yet")));
        }
        let wanted = absolute(&self.name, "managed").and_then(|path| Ok((path, mode(&self.mode)?)));
        let (path, mode) = match wanted {
            Ok(wanted) => wanted,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let owner = match Owner::new(ctx, &self.user, &self.group, mode) {
            Ok(owner) => owner,
            Err(missing) => {
                let changes = single("newfile", self.name.as_str());
                return Ok(change(changes, to_change(&self.name), move |_| Ok(Outcome::new(Some(false), missing))));
            }
        };
        let name = self.name.as_str();
        let stat = followed(ctx, &path);
        match &stat {
            Some(stat) if stat.kind == FileKind::Folder => {
                return Ok(failed(format!("Specified target {name} is a directory")));
            }
            None if !self.create => {
                return Ok(already(format!("File {name} is not present and is not set for creation")));
            }
            _ => {}
        }
        let content = match self.content(look)? {
            Ok(content) => content,
            Err(comment) => {
                let done = Outcome::new(Some(false), format!("Unable to manage file: {comment}"));
                let would = Outcome::new(Some(false), comment);
                return Ok(Plan::Changes { would, apply: Box::new(move |_| Ok(done)) });
            }
        };
        let has_folder = path.parent().is_none_or(|folder| is_folder(ctx, folder));
        let old = match &stat {
            Some(_) => Some(ctx.host.read(&path).map_err(|error| Fault::execution(format!("{name}: {error}")))?),
            None => None,
        };
        let content = content.filter(|_| self.replace || old.is_none());
        let mut changes = stat.as_ref().map(|stat| owner.differences(stat)).unwrap_or_default();
        if let (Some(old), Some(new)) = (&old, &content)
            && old != new
        {
            changes.extend(single("diff", self.difference(old, new)));
        }
        let shows_mode = owner.mode.is_some() || self.source.truthy();
        let file = File {
            name: self.name.clone(),
            path,
            owner,
            is_empty: content.is_none(),
            content: content.unwrap_or_default(),
            writes: old.is_none() || changes.contains("diff"),
            is_new: old.is_none(),
            makedirs: self.makedirs,
            has_folder,
            shows_mode,
            changes: changes.clone(),
        };
        if !file.is_new && changes.is_empty() {
            let would = Outcome::new(Some(true), format!("The file {} is in the correct state", file.name));
            let done = Outcome::new(Some(true), format!("File {} is in the correct state", file.name));
            return Ok(Plan::Changes { would, apply: Box::new(move |_| Ok(done)) });
        }
        let comment = to_change(&file.name);
        let changes = if file.is_new { single("newfile", file.name.as_str()) } else { changes };
        let would = Outcome::new(None, comment).with_changes(changes);
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| Ok(file.make(ctx))) })
    }
}

/// What test mode says of a file.
fn to_change(name: &str) -> String {
    format!(
        "The file {name} is set to be changed\nNote: No changes made, actual changes may\nbe different due to other states."
    )
}

type Content = Result<Option<Vec<u8>>, String>;

impl Managed {
    /// The content that the file should have; nothing where none is given. The error is for whoever wrote the SLS.
    fn content(&self, look: &Look) -> Result<Content, Fault> {
        let text = match (&self.contents, &self.contents_pillar) {
            (Value::Null, None) => return self.of_source(look),
            (Value::Null, Some(key)) => match Value::Map(look.ctx.pillar.clone()).traverse(key, ":") {
                Some(value) => text_of(value),
                None => return Ok(Err(format!("Pillar {key} does not exist"))),
            },
            (contents, _) => text_of(contents),
        };
        let text = match self.contents_newline && !text.is_empty() && !text.ends_with('\n') {
            true => text + "\n",
            false => text,
        };
        Ok(self.rendered(look, &self.name, text.into_bytes()).map(Some))
    }

    fn of_source(&self, look: &Look) -> Result<Content, Fault> {
        let sources: Vec<String> = match &self.source {
            Value::List(items) => items
                .iter()
                .map(|item| {
                    item.as_map().and_then(Map::first).map_or_else(|| item.to_text(), |(address, _)| address.to_text())
                })
                .collect(),
            source if source.truthy() => vec![source.to_text()],
            _ => return Ok(Ok(None)),
        };
        let client = FileClient::new(look.ctx);
        for source in &sources {
            let found = match source.strip_prefix("salt://") {
                Some(path) if !path.contains('?') && !path.starts_with('|') => client.readable(path, look.saltenv)?,
                _ => client.cache_file(source, look.saltenv, &Wanted::default())?,
            };
            let Some(path) = found else { continue };
            let bytes = std::fs::read(&path).map_err(|error| Fault::execution(format!("{path}: {error}")))?;
            return Ok(self.rendered(look, source, bytes).map(Some));
        }
        Ok(Err(match sources.as_slice() {
            [one] => {
                let saltenv = look.saltenv;
                format!("Source file {one} not found in saltenv '{saltenv}'")
            }
            several => {
                format!("none of the specified sources were found: {}", several.join(", "))
            }
        }))
    }

    /// The content, run through the template engine where one is named.
    fn rendered(&self, look: &Look, source: &str, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        let Some(engine) = self.template.as_deref().filter(|engine| !engine.is_empty()) else {
            return Ok(bytes);
        };
        if !templates::ENGINES.contains(&engine) {
            return Err(format!("Specified template format {engine} is not supported"));
        }
        let text = String::from_utf8(bytes).map_err(|_| format!("{source} is not text in UTF-8"))?;
        let mut context = self.defaults.clone();
        context.extend(self.context.clone());
        context.insert("source", source);
        let rendered = templates::render(look.ctx, source, &text, look.saltenv, context);
        rendered.map(String::into_bytes).map_err(|fault| fault.to_string())
    }

    fn difference(&self, old: &[u8], new: &[u8]) -> String {
        match (self.show_changes, std::str::from_utf8(old), std::str::from_utf8(new)) {
            (false, ..) => "<show_changes=False>".to_owned(),
            (true, Ok(old), Ok(new)) => unified(old, new),
            _ => "Replace binary file with text file".to_owned(),
        }
    }
}

/// Content as an SLS gives it: a list is a list of lines.
fn text_of(value: &Value) -> String {
    match value {
        Value::List(lines) => {
            lines.iter().map(|line| line.to_text().trim_end_matches('\n').to_owned() + "\n").collect()
        }
        other => other.to_text(),
    }
}

/// A file that is to be made or changed.
struct File {
    name: String,
    path: PathBuf,
    owner: Owner,
    content: Vec<u8>,
    /// None is given: a new file has nothing in it.
    is_empty: bool,
    writes: bool,
    is_new: bool,
    makedirs: bool,
    has_folder: bool,
    shows_mode: bool,
    changes: Map,
}

impl File {
    fn make(self, ctx: &Ctx) -> Outcome {
        let what = format!("Unable to manage file {}", self.name);
        if !self.has_folder {
            if !self.makedirs {
                return Outcome::new(Some(false), "Parent directory not present");
            }
            if let Some(folder) = self.path.parent()
                && let Err(error) = make_folders(ctx.host, folder)
            {
                return refused(&what, &error);
            }
        }
        let attributes: Attributes = self.owner.attributes();
        let done = match self.writes {
            true => ctx.host.write(&self.path, &self.content, attributes),
            false => ctx.host.set(&self.path, attributes),
        };
        if let Err(error) = done {
            return refused(&what, &error);
        }
        let mut changes = self.changes;
        if self.is_new && self.is_empty {
            changes.insert("new", format!("file {} created", self.name));
            return Outcome::new(Some(true), "Empty file").with_changes(changes);
        }
        if self.is_new {
            changes.insert("diff", "New file");
            if let (true, Ok(stat)) = (self.shows_mode, ctx.host.stat(&self.path)) {
                changes.insert("mode", super::shown(stat.mode));
            }
        }
        let comment = match self.writes {
            true => format!("File {} updated", self.name),
            false => String::new(),
        };
        Outcome::new(Some(true), comment).with_changes(changes)
    }
}
