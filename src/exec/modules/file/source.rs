//! Where the content of files comes from: `file.source_list`, `file.get_diff`, `file.apply_template_on_contents`.

use crate::exec::diff::unified;
use crate::exec::fileserver::address::{scheme, split_saltenv};
use crate::exec::fileserver::client::{FileClient, Wanted, saltenv};
use crate::exec::modules::Run;
use crate::exec::{Ctx, Fault, Reply, paths, templates};
use crate::record;
use crate::wire::value::{Map, Value};

record! {
    /// Shows how two files differ; they may be on the file server.
    ///
    ///   salt '*' file.get_diff /home/fred/.vimrc salt://users/fred/.vimrc
    ///   salt '*' file.get_diff /tmp/foo.txt /tmp/bar.txt show_filenames=False
    pub struct GetDiff {
        /// A file.
        file1: String,
        /// The other.
        file2: String,
        /// The environment of the file server.
        saltenv: Option<String> = "base",
        /// Show the names of both.
        show_filenames: bool = true,
        /// Show how they differ, and not only that they do.
        show_changes: bool = true,
        /// They come of a template: not shown where `obfuscate_templates` is on.
        template: bool = false,
        /// For an http address: a hash with which a copy in the cache is good enough.
        source_hash_file1: Option<String> = (),
        /// The same for the other.
        source_hash_file2: Option<String> = (),
    }
}

impl Run for GetDiff {
    fn run(self, ctx: &Ctx) -> Reply {
        let environment = saltenv(ctx, self.saltenv.as_deref());
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (file, source_hash) in [(&self.file1, self.source_hash_file1), (&self.file2, self.source_hash_file2)] {
            let wanted = Wanted { source_hash, ..Wanted::default() };
            match FileClient::new(ctx).cache_file(file, &environment, &wanted)? {
                Some(path) => found.push(path),
                None => missing.push(format!("File {file} not found")),
            }
        }
        let [one, other] = found.as_slice() else {
            return Err(Fault::execution(format!("Failed to cache one or more files: {}", missing.join("; "))));
        };
        let read = |path: &str| {
            ctx.host.read(path.as_ref()).map_err(|error| Fault::execution(format!("Failed to read {path}: {error}")))
        };
        let (old, new) = (read(one)?, read(other)?);
        let is_hidden = self.template && ctx.opt("obfuscate_templates").is_some_and(Value::truthy);
        if old == new {
            return Ok("".into());
        }
        if is_hidden {
            return Ok("<Obfuscated Template>".into());
        }
        if !self.show_changes {
            return Ok("<show_changes=False>".into());
        }
        let is_binary = |bytes: &[u8]| bytes.contains(&0) || std::str::from_utf8(bytes).is_err();
        let shown = match (is_binary(&old), is_binary(&new)) {
            (true, true) => "Replace binary file".to_owned(),
            (true, false) => "Replace binary file with text file".to_owned(),
            (false, true) => "Replace text file with binary file".to_owned(),
            (false, false) => {
                let shown = unified(&String::from_utf8_lossy(&old), &String::from_utf8_lossy(&new));
                match shown.strip_prefix("--- \n+++ \n").filter(|_| self.show_filenames) {
                    Some(rest) => format!("--- {one}\n+++ {other}\n{rest}"),
                    None => shown,
                }
            }
        };
        Ok(shown.into())
    }
}

record! {
    /// Shows which of several sources is the first that there is, with its hash.
    ///
    ///   salt '*' file.source_list salt://http/httpd.conf '{hash_type: md5, hsum: 79eef25f9b0b2c642c62b7f7d4f53f68}' base
    pub struct SourceList {
        /// A source, or a list of them; each may be a map of the source and its hash.
        source: Value,
        /// The hash of those without one.
        source_hash: Value,
        /// The environment of the file server.
        saltenv: String,
    }
}

impl Run for SourceList {
    fn run(self, ctx: &Ctx) -> Reply {
        let Value::List(sources) = &self.source else {
            return Ok(Value::List(vec![self.source, self.source_hash]).into());
        };
        for item in sources {
            let (source, hash) = match item {
                Value::Map(map) => match map.first() {
                    Some((source, hash)) if map.len() == 1 => {
                        (source.to_text(), if hash.truthy() { hash } else { &self.source_hash })
                    }
                    _ => continue,
                },
                other => (other.to_text(), &self.source_hash),
            };
            if is_there(ctx, &source, &self.saltenv)? {
                return Ok(Value::List(vec![source.into(), hash.clone()]).into());
            }
        }
        Err(Fault::execution("none of the specified sources were found"))
    }
}

fn is_there(ctx: &Ctx, source: &str, environment: &str) -> Result<bool, Fault> {
    let client = FileClient::new(ctx);
    Ok(match scheme(source).as_str() {
        "salt" => {
            let (address, own) = split_saltenv(source);
            let wanted = Wanted::default();
            client.cache_file(&address, own.as_deref().unwrap_or(environment), &wanted)?.is_some()
        }
        "http" | "https" => client.cache_file(source, environment, &Wanted::default()).is_ok_and(|path| path.is_some()),
        "file" => paths::exists(ctx.host, source.trim_start_matches("file://")),
        _ => source.starts_with('/') && paths::exists(ctx.host, source),
    })
}

record! {
    /// Shows what a template says.
    ///
    ///   salt '*' file.apply_template_on_contents 'This is a {{ template }}' jinja '{template: cool}' '{}' base
    pub struct ApplyTemplateOnContents {
        /// The template.
        contents: String,
        /// The engine: jinja.
        template: String,
        /// Values for the template.
        context: Map,
        /// Values where the context has none.
        defaults: Map,
        /// The environment of the file server.
        saltenv: String,
    }
}

impl Run for ApplyTemplateOnContents {
    fn run(self, ctx: &Ctx) -> Reply {
        if !templates::ENGINES.contains(&self.template.as_str()) {
            let comment = format!("Specified template format {} is not supported", self.template);
            return Ok(Map::from_iter([("result", Value::Bool(false)), ("comment", comment.into())]).into());
        }
        let mut context = self.defaults;
        context.extend(self.context);
        Ok(templates::render(ctx, "contents", &self.contents, &self.saltenv, context)?.into())
    }
}
