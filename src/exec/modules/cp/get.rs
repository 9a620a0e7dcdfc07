//! `cp.get_*`: files and directories to where the caller wants them.

use super::{Run, environment, rendered};
use halite_core::files::Listing;
use halite_core::host::{Attributes, own};
use halite_core::{Ctx, Fault, Reply, paths};
use halite_node::fileserver::address::{redacted, scheme};
use halite_node::fileserver::client::{Directories, FileClient, Wanted, address_of, path_of};
use halite_node::templates;
use halite_value::Value;
use halite_value::record;
use halite_value::record::Keywords;
use std::path::Path;

record! {
    /// Puts one file of the master where it is wanted; answers where it is then.
    ///
    /// An empty text: there is no such file. False: the directory of `dest` is missing. What is there already with the same
    /// hash is left alone; else it is replaced in one step, with the owner and the mode that it had.
    ///
    ///   salt '*' cp.get_file salt://path/to/file /minion/dest
    ///   salt '*' cp.get_file 'salt://{{grains.os}}/vimrc' /etc/vimrc template=jinja
    ///   salt '*' cp.get_file 'salt://foo/bar.conf?saltenv=config' /etc/foo/bar.conf makedirs=True
    pub struct GetFile {
        /// The address, salt://PATH.
        path: String,
        /// A path, or a directory in which the file keeps its name; empty: the cache.
        dest: String,
        /// The environment.
        saltenv: Value = (),
        /// Make the directories that are missing.
        makedirs: bool = false,
        /// An engine that resolves markup in `path` and `dest`: jinja.
        template: Value = (),
        /// Taken, not used: nothing is compressed on its way.
        gzip: Value = (),
        /// `pillar`: values over the minion's own, for the template.
        kwargs: Keywords,
    }
}

impl Run for GetFile {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let [path, dest] = rendered(ctx, [self.path, self.dest], &saltenv, &self.template, &self.kwargs.0)?;
        let client = FileClient::new(ctx);
        let (path, own) = halite_node::fileserver::address::split_saltenv(&path);
        let saltenv = own.unwrap_or(saltenv);
        if client.files()?.find(&path_of(&path)?, &saltenv)?.is_none() {
            return Ok("".into());
        }
        let directories = if self.makedirs { Directories::Make } else { Directories::Expect };
        let got = client.file(&path, Some(&dest), directories, &saltenv)?;
        Ok(got.map_or(Value::Bool(false), Value::from).into())
    }
}

record! {
    /// Puts a directory of the master, with all below it, into a directory; answers the files and the empty directories that are
    /// there then.
    ///
    ///   salt '*' cp.get_dir salt://path/to/dir /minion/dest
    pub struct GetDir {
        /// The address, salt://PATH.
        path: String,
        /// The directory that gets the directory.
        dest: String,
        /// The environment.
        saltenv: Value = (),
        /// An engine that resolves markup in `path` and `dest`: jinja.
        template: Value = (),
        /// Taken, not used: nothing is compressed on its way.
        gzip: Value = (),
        /// `pillar`: values over the minion's own, for the template.
        kwargs: Keywords,
    }
}

impl Run for GetDir {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let [path, dest] = rendered(ctx, [self.path, self.dest], &saltenv, &self.template, &self.kwargs.0)?;
        let path = path_of(&path)?;
        let path = path.trim_end_matches('/');
        let client = FileClient::new(ctx);
        // The directory itself goes along, what is above it does not.
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        let below = |listing| -> Result<Vec<(String, String)>, Fault> {
            let names = client.files()?.list(listing, &saltenv, path)?.into_iter().map(|(name, _)| name);
            let inside = names.filter(|name| !path.is_empty() && name[path.len()..].starts_with('/'));
            Ok(inside
                .map(|name| {
                    let place = format!("{dest}/{}", name[above.len()..].trim_start_matches('/'));
                    (name, place)
                })
                .collect())
        };
        let mut got = Vec::new();
        for (name, place) in below(Listing::Files)? {
            let put = client.file(&address_of(&name), Some(&place), Directories::Make, &saltenv)?;
            got.push(put.map_or(Value::Bool(false), Value::from));
            if ctx.is_cancelled() {
                return Err(Fault::Cancelled);
            }
        }
        for (_, place) in below(Listing::EmptyDirectories)? {
            paths::make_directories(ctx.host, Path::new(&place))
                .map_err(|error| Fault::execution(format!("{place}: {error}")))?;
            got.push(place.into());
        }
        got.sort_by_key(Value::to_text);
        Ok(got.into())
    }
}

record! {
    /// Gets a file by any address: salt://, http://, https://, file:// or a path of the minion, which is its own answer.
    ///
    ///   salt '*' cp.get_url salt://my/file /tmp/this_file_is_mine
    ///   salt '*' cp.get_url https://www.example.com/ /tmp/index.html
    ///   salt '*' cp.get_url https://www.example.com/ dest=None
    pub struct GetUrl {
        /// The address.
        path: String,
        /// A path, or a directory in which the file keeps its name; empty: the cache; None: answer what is in the file.
        dest: Value = "",
        /// The environment, for salt:// addresses.
        saltenv: Value = (),
        /// Make the directories that are missing.
        makedirs: bool = false,
        /// A hash with which a copy in the cache is good enough.
        source_hash: Option<String> = (),
    }
}

impl Run for GetUrl {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let wanted = Wanted { source_hash: self.source_hash, ..Wanted::default() };
        let directories = if self.makedirs { Directories::Make } else { Directories::Expect };
        let client = FileClient::new(ctx);
        let nothing = Value::Bool(false);
        let result = match (&self.dest, scheme(&self.path).as_str()) {
            (Value::Str(dest), "salt") => {
                client.file(&self.path, Some(dest), directories, &saltenv)?.map_or(nothing, Value::from)
            }
            (Value::Str(dest), "http" | "https") if !dest.is_empty() => {
                client.download(&self.path, dest, directories, &wanted)?.map_or("".into(), Value::from)
            }
            (Value::Str(_), _) => client.cache_file(&self.path, &saltenv, &wanted)?.map_or(nothing, Value::from),
            _ => client.content(&self.path, &saltenv, &wanted)?.unwrap_or(nothing),
        };
        if !result.truthy() {
            log::error!("Unable to fetch file {} from saltenv {saltenv}.", redacted(&self.path));
        }
        Ok(result.into())
    }
}

record! {
    /// Answers what is in a file; False where there is none.
    ///
    ///   salt '*' cp.get_file_str salt://my/file
    pub struct GetFileStr {
        /// The address.
        path: String,
        /// The environment.
        saltenv: Value = (),
    }
}

impl Run for GetFileStr {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let Some(path) = FileClient::new(ctx).cache_file(&self.path, &saltenv, &Wanted::default())? else {
            return Ok(false.into());
        };
        let Ok(bytes) = ctx.host.read(Path::new(&path)) else {
            return Ok(false.into());
        };
        let text = String::from_utf8(bytes);
        Ok(text.map_err(|_| Fault::execution(format!("{path} is not text in UTF-8")))?.into())
    }
}

record! {
    /// Renders a file of the master as a template and puts the outcome where it is wanted; answers where it is, or an
    /// empty text.
    ///
    ///   salt '*' cp.get_template salt://path/to/template /minion/dest
    pub struct GetTemplate {
        /// The address.
        path: String,
        /// A path; empty: the cache.
        dest: String,
        /// The engine: jinja.
        template: String = "jinja",
        /// The environment.
        saltenv: Value = (),
        /// Make the directories that are missing.
        makedirs: bool = false,
        /// More that the template sees.
        kwargs: Keywords,
    }
}

impl Run for GetTemplate {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenv = environment(ctx, &self.saltenv);
        let client = FileClient::new(ctx);
        let Some(source) = client.cache_file(&self.path, &saltenv, &Wanted::default())? else {
            return Ok("".into());
        };
        if !templates::ENGINES.contains(&self.template.as_str()) {
            log::error!("Attempted to render template with unavailable engine {}", self.template);
            return Ok("".into());
        }
        let text = client
            .read_text(&source)
            .map_err(|error| Fault::execution(format!("{source} cannot be rendered: {error}")))?;
        let mut more = self.kwargs.0;
        more.retain(|name, _| name.as_str().is_none_or(|name| !name.starts_with("__pub_")));
        let text = templates::render(ctx, &self.path, &text, &saltenv, more)?;
        if self.dest.is_empty() {
            let Some(place) = client.cache.external(&self.path, &saltenv) else {
                return Ok("".into());
            };
            let incoming = client.cache.incoming()?;
            own::write(&incoming, text.as_bytes())
                .map_err(|error| Fault::execution(format!("{}: {error}", incoming.display())))?;
            client.cache.keep(&incoming, &place)?;
            return Ok(place.to_string_lossy().into_owned().into());
        }
        let dest = match paths::is_directory(ctx.host, &self.dest) {
            true => Path::new(&self.dest).join(self.path.rsplit('/').next().unwrap_or("template")),
            false => Path::new(&self.dest).to_owned(),
        };
        if let Some(directory) = dest.parent().filter(|directory| !directory.as_os_str().is_empty())
            && !paths::is_directory(ctx.host, &directory.to_string_lossy())
        {
            if !self.makedirs {
                return Ok("".into());
            }
            paths::make_directories(ctx.host, directory)
                .map_err(|error| Fault::execution(format!("{}: {error}", directory.display())))?;
        }
        // It may show secrets of the pillar.
        let private = Attributes { mode: Some(0o600), ..Attributes::default() };
        ctx.host
            .write(&dest, text.as_bytes(), private)
            .map_err(|error| Fault::execution(format!("{}: {error}", dest.display())))?;
        Ok(self.dest.into())
    }
}
