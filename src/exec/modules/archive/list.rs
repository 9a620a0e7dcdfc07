//! `archive.list` and `archive.is_encrypted`.

use super::{cached, tarred, zipped};
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_node::fileserver::client::Wanted;
use halite_value::record;
use halite_value::{Map, Value};

/// What an archive holds.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub dirs: Vec<String>,
    pub files: Vec<String>,
    pub links: Vec<String>,
}

fn zip(ctx: &Ctx, name: &str, path: &str) -> Result<Listing, Fault> {
    let archive = zipped::open(ctx.host, path).map_err(|_| Fault::execution(format!("{name} is not a ZIP file")))?;
    let mut listing = Listing::default();
    for member in zipped::members(&archive) {
        let list = match member.mode & 0o170_000 {
            0o120_000 => &mut listing.links,
            0o040_000 => &mut listing.dirs,
            _ => &mut listing.files,
        };
        list.push(member.name);
    }
    for path in listing.files.clone() {
        if let Some(slash) = path.rfind('/') {
            let directory = path[..=slash].to_owned();
            listing.files.retain(|file| *file != directory);
            listing.dirs.push(directory);
        }
    }
    listing.dirs.sort();
    listing.dirs.dedup();
    Ok(listing)
}

fn tar(ctx: &Ctx, name: &str, path: &str, decompress: Option<&str>) -> Result<Listing, Fault> {
    match tarred::list(ctx.host, path) {
        Ok(listing) => Ok(listing),
        // Packed by something that is not known here, or damaged.
        Err(why) => {
            log::debug!("{path} is given to the host's tar: {why}");
            tar_of_host(ctx, name, path, decompress)
        }
    }
}

fn tar_of_host(ctx: &Ctx, name: &str, path: &str, decompress: Option<&str>) -> Result<Listing, Fault> {
    let mut program = Program::new(["tar", "--list", "--verbose", "--numeric-owner", "--quoting-style=literal"]);
    program = program.args(["--absolute-names", "--full-time"]);
    if let Some(decompress) = decompress.filter(|words| !words.is_empty()) {
        program = program.arg(format!("--use-compress-program={decompress}"));
    }
    let answer = program.args(["--file", path, "--force-local"]).query(ctx)?;
    if !answer.is_success() {
        return Err(Fault::execution(format!(
            "Unable to list contents of {name}. If this is an XZ-compressed tar archive, install XZ Utils to enable \
             listing its contents. If it is compressed using something other than XZ, it may be necessary to specify \
             CLI options to decompress the archive. See the documentation for details."
        )));
    }
    let mut listing = Listing::default();
    for line in answer.stdout.lines() {
        // `drwxr-xr-x 0/0 0 2024-01-01 10:00:00 name`
        let mut rest = line;
        for _ in 0..5 {
            rest = rest.trim_start().split_once(' ').map_or("", |(_, rest)| rest);
        }
        match line.chars().next() {
            Some('d') => listing.dirs.push(format!("{}/", rest.trim_end_matches('/'))),
            Some('l') => listing.links.push(rest.split(" -> ").next().unwrap_or(rest).to_owned()),
            Some('h') => listing.files.push(rest.split(" link to ").next().unwrap_or(rest).to_owned()),
            _ => listing.files.push(rest.to_owned()),
        }
    }
    Ok(listing)
}

fn rar(ctx: &Ctx, name: &str, path: &str) -> Result<Listing, Fault> {
    let told = Program::new(["rar", "lt", path]).mixed().query(ctx)?.stdout;
    let mut listing = Listing::default();
    let mut last = None;
    for line in told.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("Name:") {
            last = Some(name.trim());
        } else if let (Some(kind), Some(name)) = (line.strip_prefix("Type:"), last) {
            match kind.trim() {
                "Directory" => listing.dirs.push(format!("{name}/")),
                _ => listing.files.push(name.to_owned()),
            }
            last = None;
        }
    }
    if listing.dirs.is_empty() && listing.files.is_empty() {
        return Err(Fault::execution(format!("Failed to list {name}, is it a rar file?")));
    }
    Ok(listing)
}

/// The kind of an archive by its name.
fn guessed(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    match () {
        () if ends(&["tar", "tar.gz", "tgz", "tar.bz2", "tbz2", "tbz", "tar.xz", "txz", "tar.lzma", "tlz"]) => {
            Some("tar")
        }
        () if ends(&["zip"]) => Some("zip"),
        () if ends(&["rar"]) => Some("rar"),
        () => None,
    }
}

record! {
    /// Lists what an archive holds.
    ///
    ///   salt '*' archive.list /path/to/myfile.tar.gz
    ///   salt '*' archive.list salt://foo.tar.gz verbose=True
    ///   salt '*' archive.list https://domain.tld/myfile.zip source_hash=f1d2d2f924e986ac86fdf7b36c94bcdf32beec15
    pub struct List {
        /// The archive: a path, or an address.
        name: String,
        /// The kind: tar, zip or rar. Default: by the name.
        archive_format: Option<String> = (),
        /// For tar: the command line that unpacks it to its output.
        options: Option<String> = (),
        /// Leave this many directories out of the names.
        strip_components: Value = (),
        /// Remove the archive from where it was found.
        clean: bool = false,
        /// Show directories, files and links apart, and what is at the top.
        verbose: bool = false,
        /// The environment of the file server.
        saltenv: Option<String> = "base",
        /// For http addresses: a hash with which a copy in the cache is good enough.
        source_hash: Option<String> = (),
        /// For http addresses: ask the server whether the copy in the cache is still the same.
        use_etag: bool = false,
    }
}

/// What all start with.
fn common<'a>(names: &[&'a str]) -> &'a str {
    let Some(first) = names.first() else { return "" };
    let same = |name: &&str| first.char_indices().zip(name.chars()).take_while(|((_, a), b)| a == b).count();
    let count = names.iter().map(same).min().unwrap_or(0);
    let end = first.char_indices().nth(count).map_or(first.len(), |(at, _)| at);
    &first[..end]
}

impl Run for List {
    fn run(self, ctx: &Ctx) -> Reply {
        let wanted = Wanted { source_hash: self.source_hash, by_etag: self.use_etag, ..Wanted::default() };
        let path = cached(ctx, &self.name, self.saltenv.as_deref(), &wanted)?;
        let strip = match &self.strip_components {
            given if !given.truthy() => 0,
            given => match given.to_text().parse::<usize>() {
                Ok(count) if count > 0 => count,
                _ => return Err(Fault::execution("'strip_components' must be a positive integer")),
            },
        };
        let plain = self.name.split(['?', '#']).next().unwrap_or(&self.name);
        let given = self.archive_format.as_deref().filter(|format| !format.is_empty());
        let format = given.or_else(|| guessed(plain)).ok_or_else(|| {
            Fault::execution("Unable to guess archive format, please pass an 'archive_format' argument.")
        })?;
        let mut listing = match format {
            "tar" => tar(ctx, &self.name, &path, self.options.as_deref())?,
            "zip" => zip(ctx, &self.name, &path)?,
            "rar" => rar(ctx, &self.name, &path)?,
            other => return Err(Fault::execution(format!("Unsupported archive format '{other}'"))),
        };
        if self.clean {
            clean(ctx, &path);
        }
        for list in [&mut listing.dirs, &mut listing.files, &mut listing.links] {
            if strip > 0 {
                let rest = |name: &String| name.splitn(strip + 1, '/').nth(strip).unwrap_or_default().to_owned();
                *list = list.iter().map(rest).filter(|name| !name.is_empty()).collect();
            }
            list.sort();
        }
        let Listing { dirs, files, links } = listing;
        if !self.verbose {
            let mut all = [dirs, files, links].concat();
            all.sort();
            return Ok(Value::list(all).into());
        }
        let top = |list: &[String], slashes: usize| -> Vec<String> {
            list.iter().filter(|name| name.matches('/').count() == slashes).cloned().collect()
        };
        let mut top_dirs = top(&dirs, 1);
        let all: Vec<&str> = dirs.iter().chain(&files).chain(&links).map(String::as_str).collect();
        if let Some((directory, _)) = common(&all).split_once('/') {
            let directory = format!("{directory}/");
            if !top_dirs.contains(&directory) {
                top_dirs.push(directory);
            }
        }
        let shown = [
            ("top_level_files", top(&files, 0)),
            ("top_level_links", top(&links, 0)),
            ("top_level_dirs", top_dirs),
            ("dirs", dirs),
            ("files", files),
            ("links", links),
        ];
        Ok(shown.into_iter().map(|(name, list)| (name, Value::list(list))).collect::<Map>().into())
    }
}

fn clean(ctx: &Ctx, path: &str) {
    if let Err(error) = ctx.host.remove(path.as_ref()) {
        log::warn!("Failed to clean cached archive {path}: {error}");
    }
}

record! {
    /// Tells whether a zip archive has a password.
    ///
    ///   salt '*' archive.is_encrypted /path/to/myfile.zip
    ///   salt '*' archive.is_encrypted salt://foo.zip clean=True
    pub struct IsEncrypted {
        /// The archive: a path, or an address.
        name: String,
        /// Remove the archive from where it was found.
        clean: bool = false,
        /// The environment of the file server.
        saltenv: Option<String> = "base",
        /// For http addresses: a hash with which a copy in the cache is good enough.
        source_hash: Option<String> = (),
        /// For http addresses: ask the server whether the copy in the cache is still the same.
        use_etag: bool = false,
    }
}

impl Run for IsEncrypted {
    fn run(self, ctx: &Ctx) -> Reply {
        let wanted = Wanted { source_hash: self.source_hash, by_etag: self.use_etag, ..Wanted::default() };
        let path = cached(ctx, &self.name, self.saltenv.as_deref(), &wanted)?;
        let archive = zipped::open(ctx.host, &path);
        let archive = archive.map_err(|_| Fault::execution(format!("{} is not a ZIP file", self.name)))?;
        if self.clean {
            clean(ctx, &path);
        }
        Ok(zipped::members(&archive).iter().any(|member| member.is_encrypted).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_beginning_in_common() {
        assert_eq!(common(&["a/b", "a/c"]), "a/");
        assert_eq!(common(&["x"]), "x");
        assert_eq!(common(&[]), "");
        assert_eq!(common(&["äb", "äc"]), "ä");
    }
}
