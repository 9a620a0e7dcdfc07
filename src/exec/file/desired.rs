//! A file as it should be, how the one that is there differs from it, and how they become the same.

use super::access::Access;
use super::backup;
use super::content::{Body, Part, put};
use super::difference::{self, Difference, Ignored, Shown};
use super::directories;
use super::owner::Owner;
use super::sum::Sum;
use halite_core::host::{Attributes, FileKind, Stat};
use halite_core::{Ctx, Fault, paths};
use halite_node::fileserver::client::{FileClient, Wanted};
use halite_value::{Map, Value};
use std::io;
use std::path::Path;

/// A file as it should be.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// The path as it was given.
    pub name: String,
    pub links: Links,
    /// The content comes from elsewhere: a new file begins private.
    pub is_from_source: bool,
    /// Nothing is given: what is there stays, and what is not is empty.
    pub body: Option<Body>,
    /// The digest that the content has. It is compared in place of the content, which need not be here then.
    pub known: Option<Sum>,
    /// The digest that the content had when it was verified: it is compared again while the content is copied.
    pub verified: Option<Sum>,
    /// Where a content comes from that is away.
    pub fetch: Option<Fetch>,
    /// Owner and mode, which are set with the content.
    pub owner: Owner,
    /// Who else may use it, which is set afterwards.
    pub access: Access,
    /// Directories that are made above it.
    pub above: Option<Above>,
    /// A copy of what is replaced is kept.
    pub keeps_backup: bool,
    /// What is told of a content that changes.
    pub shows_changes: bool,
    /// What is told of a new one; nothing: that it is new.
    pub shows_new: Option<Shown>,
    /// Differences that do not count for those that require a change.
    pub ignored: Option<Ignored>,
}

/// What a link at the file's path stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// What it leads to.
    #[default]
    Follow,
    /// Itself: a file takes its place.
    Replace,
    /// Itself where owner and mode are compared; the content is what it leads to.
    Look,
}

/// What fetches a content when it is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetch {
    pub address: String,
    pub saltenv: String,
    /// The certificate of a web server is not checked.
    pub unchecked: bool,
}

/// Directories that are made above a file: whose they are, and their mode.
#[derive(Clone, Debug, Default)]
pub struct Above {
    pub user: Value,
    pub group: Value,
    pub mode: Value,
}

/// How a file differs from what it should be.
#[derive(Clone, Debug, Default)]
pub struct Delta {
    /// Where it stands, with links followed if they are to be.
    pub real: String,
    /// What is there.
    pub stat: Option<Stat>,
    /// A link is there whose place a file takes.
    pub replaces_link: bool,
    /// The content is to be written.
    pub writes: bool,
    /// How the contents differ, where that is known and to be told.
    pub difference: Option<Difference>,
    /// What else is not as it should be, with what it should be.
    pub others: Map,
}

/// Why a file is not made what it should be.
#[derive(Debug)]
pub enum Refusal {
    /// The directory that it would be in is missing.
    NoDirectory,
    /// The content cannot be put at this path.
    Uncommitted { path: String, error: io::Error },
    /// `user` or `group` cannot be set.
    Owner { kind: &'static str, wanted: String },
    /// The mode cannot be set.
    Mode(u32),
}

/// What was done beside the content.
#[derive(Debug, Default)]
pub struct Applied {
    /// What has changed of what the file was, or of what a new one began with.
    pub changes: Map,
    /// What could not be done, as one sentence.
    pub failures: String,
}

impl Desired {
    /// Compares the file with what it should be.
    pub fn compare(&self, ctx: &Ctx) -> Result<Delta, Fault> {
        let own = ctx.host.stat(Path::new(&self.name)).ok();
        let is_link = own.as_ref().is_some_and(|stat| stat.kind == FileKind::Link);
        let (real, stat) = match is_link && self.links == Links::Follow {
            true => {
                let real = paths::real(ctx.host, &self.name);
                let stat = ctx.host.stat(Path::new(&real)).ok();
                (real, stat)
            }
            false => (self.name.clone(), own),
        };
        let replaces_link = is_link && self.links == Links::Replace;
        let mut delta = Delta { real, stat, replaces_link, ..Delta::default() };
        delta.writes = delta.stat.is_none() || (replaces_link && self.body.is_some());
        self.compare_content(ctx, &mut delta)?;
        let Some(stat) = &delta.stat else { return Ok(delta) };
        delta.others.extend(self.owner.differences(stat));
        delta.others.extend(self.access.differences(ctx, &delta.real, stat)?);
        if replaces_link {
            // Those of a link are nobody's business.
            delta.others.remove("attrs");
        }
        Ok(delta)
    }

    fn compare_content(&self, ctx: &Ctx, delta: &mut Delta) -> Result<(), Fault> {
        let Some(body) = &self.body else { return Ok(()) };
        if delta.stat.as_ref().is_some_and(|stat| stat.kind == FileKind::Directory) {
            // It is not written, and that is told by whoever tries.
            delta.writes = true;
            return Ok(());
        }
        let is_link = delta.stat.as_ref().is_some_and(|stat| stat.kind == FileKind::Link);
        let place = if is_link { paths::real(ctx.host, &delta.real) } else { delta.real.clone() };
        // A link that leads nowhere has nothing in it.
        let is_there = if is_link { paths::exists(ctx.host, &place) } else { delta.stat.is_some() };
        let shown = match (&delta.stat, self.shows_new) {
            (Some(_), _) => Shown { changes: self.shows_changes, of_template: true },
            (None, Some(shown)) => shown,
            (None, None) => return Ok(()),
        };
        let old = if is_there { Part::At(&place) } else { Part::EMPTY };
        if let Some(sum) = &self.known
            && is_there
            && Sum::of(ctx.host, &place, sum.kind)? == *sum
        {
            return Ok(());
        }
        let fetched = match (body, &self.fetch) {
            (Body::Away, Some(fetch)) => Some(fetch.body(ctx, self.known.as_ref())?),
            _ => None,
        };
        let Some(new) = fetched.as_ref().unwrap_or(body).part() else {
            delta.writes = true;
            return Ok(());
        };
        let difference = difference::between(ctx, old, new, shown, self.ignored.as_ref())?;
        if self.known.is_some() || !difference.text.is_empty() {
            delta.writes = true;
            delta.difference = Some(difference);
        }
        Ok(())
    }
}

impl Fetch {
    fn body(&self, ctx: &Ctx, sum: Option<&Sum>) -> Result<Body, Fault> {
        let source_hash = sum.map(|sum| sum.digest.clone());
        let wanted = Wanted { source_hash, unchecked: self.unchecked, ..Wanted::default() };
        let path = FileClient::new(ctx).cache_file(&self.address, &self.saltenv, &wanted)?;
        Ok(path.map_or(Body::Away, Body::At))
    }
}

impl Delta {
    /// Makes the file what it should be.
    pub fn apply(&self, ctx: &Ctx, desired: &Desired) -> Result<Result<Applied, Refusal>, Fault> {
        if let Err(refusal) = self.make_directories(ctx, desired)? {
            return Ok(Err(refusal));
        }
        let before = match &self.stat {
            Some(stat) => stat.clone(),
            None => self.begins_with(ctx, desired),
        };
        let settled = match self.writes {
            true => self.commit(ctx, desired, desired.owner.attributes())?,
            false => self.settle(ctx, desired, &before),
        };
        if let Err(refusal) = settled {
            return Ok(Err(refusal));
        }
        let changes = match &self.stat {
            Some(stat) => desired.owner.differences(stat),
            None => {
                let now = super::stat(ctx.host, &self.real, false)?;
                desired.owner.with_mode(Some(now.mode)).differences(&before)
            }
        };
        let mut applied = Applied { changes, failures: String::new() };
        // A file that is written anew has the context that its directory gives.
        let asks = match &self.stat {
            None => desired.access.has_attributes(),
            Some(_) => {
                self.others.contains("attrs")
                    || self.others.contains("selinux")
                    || (self.writes && !desired.access.context.is_empty())
            }
        };
        if asks {
            let (ret, _) = desired.access.check(ctx, &self.real, Map::new(), false)?;
            applied.changes.extend(ret.at("changes").and_then(Value::as_map).cloned().unwrap_or_default());
            if ret.at("result") == Some(&Value::Bool(false)) {
                applied.failures = ret.at("comment").map(Value::to_text).unwrap_or_default();
            }
        }
        Ok(Ok(applied))
    }

    /// Makes the directories above a new file.
    pub fn make_directories(&self, ctx: &Ctx, desired: &Desired) -> Result<Result<(), Refusal>, Fault> {
        if self.stat.is_some() || paths::is_directory(ctx.host, &paths::directory_of(&self.real)) {
            return Ok(Ok(()));
        }
        let Some(above) = &desired.above else { return Ok(Err(Refusal::NoDirectory)) };
        directories::make_above(ctx, &self.real, &above.user, &above.group, &above.mode)?;
        Ok(Ok(()))
    }

    /// Puts the content where it belongs, after a copy of what was there: in one step, and with these attributes.
    pub fn commit(&self, ctx: &Ctx, desired: &Desired, attributes: Attributes) -> Result<Result<(), Refusal>, Fault> {
        if desired.keeps_backup {
            backup::keep(ctx, &self.real)?;
        }
        let part = desired.body.as_ref().and_then(Body::part).unwrap_or(Part::EMPTY);
        let put = put(ctx.host, part, desired.verified.as_ref(), Path::new(&self.real), attributes);
        Ok(put.map_err(|error| Refusal::Uncommitted { path: self.real.clone(), error }))
    }

    /// Sets owner and mode of a file whose content stays.
    fn settle(&self, ctx: &Ctx, desired: &Desired, had: &Stat) -> Result<(), Refusal> {
        let path = Path::new(&self.real);
        let (all, others) = (desired.owner.attributes(), desired.owner.differences(had));
        for kind in ["user", "group"] {
            let Some(wanted) = others.at(kind) else { continue };
            let one = match kind {
                "user" => Attributes { uid: all.uid, ..Attributes::default() },
                _ => Attributes { gid: all.gid, ..Attributes::default() },
            };
            let refused = |_| Refusal::Owner { kind, wanted: wanted.to_text() };
            ctx.host.set(path, one).map_err(refused)?;
        }
        if others.is_empty() || had.kind == FileKind::Link {
            return Ok(());
        }
        // Again where the owner has changed: that clears setuid and setgid.
        let mode = all.mode.unwrap_or(had.mode);
        let one = Attributes { mode: Some(mode), ..Attributes::default() };
        ctx.host.set(path, one).map_err(|_| Refusal::Mode(mode))
    }

    /// What a new file of this process begins with, before it gets owner and mode: what Salt names as changes are the
    /// differences to that.
    fn begins_with(&self, ctx: &Ctx, desired: &Desired) -> Stat {
        let own = ctx.host.stat(Path::new("/proc/self"));
        let (uid, gid) = own.map_or((0, 0), |own| (own.uid, own.gid));
        let above = paths::followed(ctx.host, Path::new(&paths::directory_of(&self.real))).ok();
        let inherited = above.filter(|above| above.mode & 0o2000 != 0).map(|above| above.gid);
        let is_private = desired.is_from_source || desired.owner.mode.is_some();
        let now = ctx.host.now();
        Stat {
            kind: FileKind::File,
            mode: if is_private { 0o600 } else { 0o666 & !ctx.host.umask() },
            uid,
            gid: inherited.unwrap_or(gid),
            size: 0,
            modified: now,
            accessed: now,
            changed: now,
            inode: 0,
            device: 0,
            links: 1,
            node: (0, 0),
            target: None,
        }
    }
}
