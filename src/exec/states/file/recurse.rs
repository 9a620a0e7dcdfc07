//! `file.recurse`.

mod tree;

use super::clean::{Kept, remove};
use super::directory::Directory;
use super::managed::Managed;
use super::symlink::Symlink;
use super::{absolute, mode, own_name, single};
use halite_core::paths::remove_all;
use halite_core::state::given;
use halite_core::state::{Apply, Outcome, Plan, PlanContext, State, failed, stands};
use halite_core::{Ctx, Fault, paths};
use halite_file::owner::Owner;
use halite_value::record;
use halite_value::record::{Arguments, Keywords, Record};
use halite_value::{Map, Value};
use std::path::Path;
use tree::{Tree, Wanted};

record! {
    /// Brings a directory of the file server with all that is in it.
    ///
    ///   /etc/apache2:
    ///     file.recurse:
    ///       - source: salt://apache
    ///       - file_mode: '0644'
    ///       - dir_mode: '0755'
    ///       - include_empty: True
    pub struct Recurse {
        /// The path of the directory.
        name: String,
        /// Its address; of a list the first that is there, or all with `merge`.
        source: Value,
        /// Whether a copy of the source stays in the cache.
        keep_source: bool = true,
        /// Remove what is not in the source.
        clean: bool = false,
        /// What it requires.
        require: Value = (),
        /// The owner.
        user: Value = (),
        /// The group.
        group: Value = (),
        /// The mode of directories.
        dir_mode: Value = (),
        /// The mode of files; `keep`: that of the source.
        file_mode: Value = (),
        /// The mode of directories that are made for links.
        sym_mode: Value = (),
        /// A template engine for the files.
        template: Option<String> = (),
        /// Variables of the template.
        context: Value = (),
        /// Whether files that are there are replaced.
        replace: bool = true,
        /// Variables of the template that are not in `context`.
        defaults: Value = (),
        /// Make empty directories too.
        include_empty: bool = false,
        /// `minion`: a copy of what is replaced is kept in the cache.
        backup: Option<String> = "",
        /// Only files that match: a glob, or a regular expression behind E@.
        include_pat: Value = (),
        /// No files that match.
        exclude_pat: Value = (),
        /// How many levels of directories.
        maxdepth: Option<i64> = (),
        /// Make links of the source links here, too.
        keep_symlinks: bool = false,
        /// Replace what is in the way of such a link.
        force_symlinks: bool = false,
        /// All of the sources, not the first alone.
        merge: bool = false,
        kwargs: Keywords,
    }
}

impl State for Recurse {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = own_name(ctx, &self.name);
        if self.kwargs.0.contains("mode") {
            const REFUSED: &str = "'mode' is not allowed in 'file.recurse'. Please use 'file_mode' and 'dir_mode'.";
            return Ok(failed(REFUSED));
        }
        let dir_mode = match mode(&self.dir_mode) {
            Ok(mode) => mode,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let owner = Owner::new(ctx, &self.user, &self.group, dir_mode);
        if let Err(wrong) = absolute(&name, "recurse") {
            return Ok(failed(owner.missing().unwrap_or(wrong)));
        }
        let wanted = Wanted {
            include: self.include_pat.clone(),
            exclude: self.exclude_pat.clone(),
            depth: self.maxdepth,
            empty: self.include_empty,
            links: self.keep_symlinks,
            merge: self.merge,
        };
        let tree = match Tree::read(context, &name, &self.source, &wanted) {
            Ok(tree) => tree,
            Err(Fault::Execution(complaint)) => return Ok(failed(format!("Recurse failed: {complaint}"))),
            Err(fault) => return Err(fault),
        };
        let is_new = !paths::is_directory(ctx.host, &name);
        if is_new && paths::exists(ctx.host, &name) {
            return Ok(failed(format!("The path {name} exists and is not a directory")));
        }
        let missing = owner.missing();
        let parts = self.parts(context, &tree)?;
        let removed = match self.clean && !is_new {
            true => {
                let mut kept = Kept::required(context, &name)?;
                tree.paths().for_each(|path| kept.add(path));
                kept.others(ctx, &name, &self.exclude_pat)?
            }
            false => Vec::new(),
        };
        let mut would = Told::default();
        let mut applies: Vec<(String, Step)> = Vec::new();
        for (path, plan) in parts {
            match plan {
                Plan::Stands(outcome) => {
                    would.add(&path, &outcome);
                    applies.push((path, Step::Stands(outcome)));
                }
                Plan::Changes { would: outcome, apply } => {
                    would.add(&path, &outcome);
                    applies.push((path, Step::Apply(apply)));
                }
            }
        }
        would.removed(&removed);
        let would = would.outcome(&name);
        if let Some(missing) = missing {
            return Ok(stands(would, Outcome::failed(missing)));
        }
        let apply = move |ctx: &Ctx| apply_all(ctx, &name, &owner, applies, &removed);
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

/// What is to be done about one path.
enum Step {
    Stands(Outcome),
    Apply(Apply),
}

fn apply_all(
    ctx: &Ctx,
    name: &str,
    owner: &Owner,
    steps: Vec<(String, Step)>,
    removed: &[String],
) -> Result<Outcome, Fault> {
    let mut told = Told::default();
    let mut made = false;
    if !paths::is_directory(ctx.host, name) {
        let arguments = Map::from_iter(owner.values());
        ctx.run("file.mkdir", Arguments::keywords(arguments).with("dir_path", name))?;
        made = true;
    }
    for (path, step) in steps {
        if ctx.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        // The directory itself was just made, which is no change by itself, as Salt has it.
        if made && path == name {
            continue;
        }
        let outcome = match step {
            Step::Stands(outcome) => outcome,
            Step::Apply(apply) => apply(ctx).unwrap_or_else(|fault| Outcome::failed(fault.to_string())),
        };
        told.add(&path, &outcome);
    }
    if !removed.is_empty() {
        told.changes.insert("removed", Value::list(remove(ctx, removed)?));
    }
    Ok(told.outcome(name))
}

impl Recurse {
    /// What each directory, file and link needs, in the order in which it is done.
    fn parts(&self, context: &PlanContext, tree: &Tree) -> Result<Vec<(String, Plan)>, Fault> {
        let mut parts = Vec::new();
        for path in &tree.directories {
            let arguments = given([
                ("name", path.as_str().into()),
                ("user", self.user.clone()),
                ("group", self.group.clone()),
                ("dir_mode", self.dir_mode.clone()),
                ("makedirs", true.into()),
            ]);
            parts.push((
                path.clone(),
                self.in_the_way(context, path, planned::<Directory>(context, "directory", arguments)?),
            ));
        }
        for (path, address) in &tree.files {
            let mut arguments = self.kwargs.0.clone();
            arguments.remove("makedirs");
            arguments.extend(given([
                ("name", path.as_str().into()),
                ("source", address.as_str().into()),
                ("keep_source", self.keep_source.into()),
                ("user", self.user.clone()),
                ("group", self.group.clone()),
                ("mode", self.file_mode.clone()),
                ("template", self.template.clone().into()),
                ("makedirs", true.into()),
                ("replace", self.replace.into()),
                ("context", self.context.clone()),
                ("defaults", self.defaults.clone()),
                ("backup", self.backup.clone().into()),
            ]));
            if self.clean && self.replace && paths::is_directory(context.ctx.host, path) {
                parts.push((path.clone(), replaced_directory(path, arguments, context.saltenv)));
                continue;
            }
            parts.push((path.clone(), planned::<Managed>(context, "managed", arguments)?));
        }
        for (path, target) in &tree.links {
            let arguments = given([
                ("name", path.as_str().into()),
                ("target", target.as_str().into()),
                ("makedirs", true.into()),
                ("force", self.force_symlinks.into()),
                ("user", self.user.clone()),
                ("group", self.group.clone()),
                ("mode", self.sym_mode.clone()),
            ]);
            parts.push((path.clone(), planned::<Symlink>(context, "symlink", arguments)?));
        }
        Ok(parts)
    }

    /// With `clean`, what is in the way of a directory makes way.
    fn in_the_way(&self, context: &PlanContext, path: &str, plan: Plan) -> Plan {
        if !self.clean || paths::is_directory(context.ctx.host, path) || !paths::exists(context.ctx.host, path) {
            return plan;
        }
        let (path, owner) =
            (path.to_owned(), Owner::new(context.ctx, &self.user, &self.group, mode(&self.dir_mode).ok().flatten()));
        let would = Outcome::new(None, format!("Replacing {path} with a directory"));
        let apply = move |ctx: &Ctx| {
            remove_all(ctx.host, Path::new(&path)).map_err(|error| super::fault(&path, &error))?;
            ctx.run("file.mkdir", Arguments::keywords(Map::from_iter(owner.values())).with("dir_path", path.as_str()))?;
            let mut changes = single("diff", "Replaced file with a directory");
            changes.insert(path.as_str(), single("directory", "new"));
            Ok(Outcome::done("").with_changes(changes))
        };
        Plan::Changes { would, apply: Box::new(apply) }
    }
}

/// A file in whose place a directory is.
fn replaced_directory(path: &str, arguments: Map, saltenv: &str) -> Plan {
    let would = Outcome::new(None, format!("Replacing directory {path} with a file"));
    let (path, saltenv) = (path.to_owned(), saltenv.to_owned());
    let apply = move |ctx: &Ctx| {
        remove_all(ctx.host, Path::new(&path)).map_err(|error| super::fault(&path, &error))?;
        let context = PlanContext { ctx, low: &Map::new(), saltenv: &saltenv, changed: &[], rehearsal: None };
        let outcome = match planned::<Managed>(&context, "managed", arguments)? {
            Plan::Stands(outcome) => outcome,
            Plan::Changes { apply, .. } => apply(ctx)?,
        };
        let mut changes = single("diff", "Replaced directory with a new file");
        changes.extend(outcome.changes.clone());
        Ok(outcome.with_changes(changes))
    };
    Plan::Changes { would, apply: Box::new(apply) }
}

fn planned<S: State + Record>(context: &PlanContext, function: &str, arguments: Map) -> Result<Plan, Fault> {
    let wrong = |error| Fault::arguments::<S>(format!("file.{function}"), error);
    S::bind(Arguments::keywords(arguments)).map_err(wrong)?.planned(context)
}

/// What is told of all paths together.
struct Told {
    result: Option<bool>,
    comments: Vec<(String, String)>,
    changes: Map,
}

impl Default for Told {
    fn default() -> Told {
        Told { result: Some(true), comments: Vec::new(), changes: Map::new() }
    }
}

impl Told {
    fn add(&mut self, path: &str, outcome: &Outcome) {
        if outcome.result == Some(false) || self.result == Some(true) {
            self.result = outcome.result;
        }
        if outcome.result != Some(true) && !outcome.comment.is_empty() {
            self.comments.push((path.to_owned(), outcome.comment.clone()));
        }
        if !outcome.changes.is_empty() {
            self.changes.insert(path, outcome.changes.clone());
        }
    }

    /// In test mode.
    fn removed(&mut self, paths: &[String]) {
        if !paths.is_empty() {
            self.result = self.result.filter(|result| !result);
            self.comments.push(("removed".to_owned(), paths.join("\n")));
        }
    }

    fn outcome(self, name: &str) -> Outcome {
        let parts: Vec<String> =
            self.comments.iter().map(|(path, comment)| format!("\n#### {path} ####\n{comment}")).collect();
        let mut comment = parts.join("\n").trim().to_owned();
        if comment.is_empty() {
            comment = format!("Recursively updated {name}");
        }
        if self.changes.is_empty() && self.result == Some(true) {
            comment = format!("The directory {name} is in the correct state");
        }
        Outcome::new(self.result, comment).with_changes(self.changes)
    }
}

/// The paths that a low chunk of `file.recurse` puts into its directory.
pub fn paths_of(context: &PlanContext, name: &str, low: &Map) -> Result<Vec<String>, Fault> {
    let value = |key: &str| low.at(key).cloned().unwrap_or_default();
    let wanted = Wanted {
        include: value("include_pat"),
        exclude: value("exclude_pat"),
        depth: value("maxdepth").as_int(),
        empty: value("include_empty").truthy(),
        links: value("keep_symlinks").truthy(),
        merge: value("merge").truthy(),
    };
    let tree = Tree::read(context, name, &value("source"), &wanted)?;
    Ok(tree.paths().map(str::to_owned).collect())
}
