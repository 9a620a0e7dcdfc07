//! Where apt gets its packages: `sources.list` and its kin, in one line each or in stanzas (deb822).

use halite_core::host::{Attributes, Host};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};
use std::path::{Path, PathBuf};

const LIST: &str = "/etc/apt/sources.list";
const DIRECTORY: &str = "/etc/apt/sources.list.d";

/// A source of packages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub file: PathBuf,
    pub types: Vec<String>,
    pub uris: Vec<String>,
    pub suites: Vec<String>,
    pub comps: Vec<String>,
    pub architectures: Vec<String>,
    pub signedby: String,
    pub trusted: Option<bool>,
    pub disabled: bool,
    pub comment: String,
    /// As it stands in its file; empty for a new or changed one.
    pub raw: String,
}

/// What stands in a file: sources, and what is none.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Source(Source),
}

/// All files of sources.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<(PathBuf, Vec<Piece>)>,
}

impl Source {
    /// One line: `deb [arch=amd64 signed-by=/x] uri suite comps # comment`. Nothing where it is no source.
    pub fn parse(line: &str) -> Option<Source> {
        let trimmed = line.trim();
        let (disabled, text) = match trimmed.strip_prefix('#') {
            Some(rest) => (true, rest.trim_start_matches(['#', ' '])),
            None => (false, trimmed),
        };
        let (text, comment) = text.split_once('#').unwrap_or((text, ""));
        let mut source =
            Source { disabled, comment: comment.trim().to_owned(), raw: line.to_owned(), ..Source::default() };
        let (kind, rest) = text.split_once(char::is_whitespace)?;
        if !["deb", "deb-src", "rpm", "rpm-src"].contains(&kind) {
            return None;
        }
        source.types.push(kind.to_owned());
        let mut rest = rest.trim_start();
        if let Some(options) = rest.strip_prefix('[') {
            let (options, behind) = options.split_once(']')?;
            rest = behind.trim_start();
            for option in options.split_whitespace() {
                let (name, value) = option.split_once('=')?;
                match name.trim_end_matches(['+', '-']) {
                    "arch" => source.architectures = value.split(',').map(str::to_owned).collect(),
                    "signed-by" => source.signedby = value.to_owned(),
                    "trusted" => source.trusted = Some(is_yes(value)),
                    _ => {}
                }
            }
        }
        let mut words = rest.split_whitespace().map(str::to_owned);
        source.uris.push(words.next()?);
        source.suites.push(words.next()?);
        source.comps = words.collect();
        Some(source)
    }

    fn of_stanza(text: &str) -> Option<Source> {
        let mut source = Source { raw: text.to_owned(), ..Source::default() };
        let mut name = String::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let value = match line.split_once(':') {
                Some((key, value)) if !line.starts_with([' ', '\t']) => {
                    name = key.trim().to_lowercase();
                    value.trim()
                }
                _ => line.trim(),
            };
            let words = || value.split_whitespace().map(str::to_owned);
            match name.as_str() {
                "types" => source.types.extend(words()),
                "uris" => source.uris.extend(words()),
                "suites" => source.suites.extend(words()),
                "components" => source.comps.extend(words()),
                "architectures" => source.architectures.extend(words()),
                "enabled" => source.disabled = !is_yes(value),
                "trusted" => source.trusted = Some(is_yes(value)),
                "signed-by" if source.signedby.is_empty() => source.signedby = value.to_owned(),
                "signed-by" => source.signedby.push_str(&format!("\n {value}")),
                _ => {}
            }
        }
        let is_source = !source.types.is_empty() && !source.uris.is_empty() && !source.suites.is_empty();
        is_source.then_some(source)
    }

    /// As a line, for one type, address and suite.
    pub fn line_of(&self, kind: &str, uri: &str, suite: &str) -> String {
        let mut options = Vec::new();
        if !self.architectures.is_empty() {
            options.push(format!("arch={}", self.architectures.join(",")));
        }
        if !self.signedby.is_empty() && !self.signedby.contains('\n') {
            options.push(format!("signed-by={}", self.signedby));
        }
        if let Some(trusted) = self.trusted {
            options.push(format!("trusted={}", if trusted { "yes" } else { "no" }));
        }
        let mut words = vec![kind.to_owned()];
        if !options.is_empty() {
            words.push(format!("[{}]", options.join(" ")));
        }
        words.extend([uri.to_owned(), suite.to_owned()]);
        words.extend(self.comps.iter().cloned());
        let off = if self.disabled { "# " } else { "" };
        let comment = if self.comment.is_empty() { String::new() } else { format!(" #{}", self.comment) };
        format!("{off}{}{comment}", words.join(" "))
    }

    fn line(&self) -> String {
        let first = |list: &[String]| list.first().cloned().unwrap_or_default();
        self.line_of(&first(&self.types), &first(&self.uris), &first(&self.suites))
    }

    fn stanza(&self) -> String {
        let mut text = String::new();
        let mut field = |name: &str, value: &str| text.push_str(&format!("{name}: {value}\n"));
        if self.disabled {
            field("Enabled", "no");
        }
        field("Types", &self.types.join(" "));
        field("URIs", &self.uris.join(" "));
        field("Suites", &self.suites.join(" "));
        if !self.comps.is_empty() {
            field("Components", &self.comps.join(" "));
        }
        if !self.architectures.is_empty() {
            field("Architectures", &self.architectures.join(" "));
        }
        if !self.signedby.is_empty() {
            field("Signed-By", &self.signedby);
        }
        if let Some(trusted) = self.trusted {
            field("Trusted", if trusted { "yes" } else { "no" });
        }
        text
    }

    /// What `pkg.list_repos` shows, for one type, address and suite of it.
    pub fn shown(&self, kind: &str, uri: &str, suite: &str) -> Map {
        let list = |items: &[String]| Value::list(items.iter().map(String::as_str));
        let line = match is_stanzas(&self.file) || self.raw.is_empty() {
            true => self.line_of(kind, uri, suite),
            false => self.raw.trim().to_owned(),
        };
        Map::from_iter([
            ("file", Value::from(self.file.to_string_lossy().into_owned())),
            ("comps", list(&self.comps)),
            ("disabled", self.disabled.into()),
            ("enabled", (!self.disabled).into()),
            ("dist", suite.into()),
            ("suites", list(&self.suites)),
            ("type", kind.into()),
            ("types", list(&self.types)),
            ("uri", uri.into()),
            ("uris", list(&self.uris)),
            ("line", line.into()),
            ("architectures", list(&self.architectures)),
            ("signedby", self.signedby.as_str().into()),
        ])
    }

    /// Whether it is the same place: type, address and suite.
    pub fn is_at(&self, other: &Source) -> bool {
        let same = |a: &[String], b: &[String]| b.first().is_some_and(|wanted| a.contains(wanted));
        let plain = |uris: &[String]| uris.iter().map(|uri| uri.trim_end_matches('/').to_owned()).collect::<Vec<_>>();
        same(&self.types, &other.types)
            && same(&plain(&self.uris), &plain(&other.uris))
            && same(&self.suites, &other.suites)
    }
}

fn is_yes(value: &str) -> bool {
    ["yes", "true", "with", "on", "enable", "1"].contains(&value.to_lowercase().as_str())
}

fn is_stanzas(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "sources")
}

impl Sources {
    pub fn read(ctx: &Ctx) -> Sources {
        let listed = ctx.host.list(Path::new(DIRECTORY)).unwrap_or_default();
        let ends = |name: &&String, ending: &str| name.ends_with(ending);
        let lists = listed.iter().filter(|name| ends(name, ".list"));
        let stanzas = listed.iter().filter(|name| ends(name, ".sources"));
        let paths = lists.chain(stanzas).map(|name| Path::new(DIRECTORY).join(name));
        let paths = [PathBuf::from(LIST)].into_iter().chain(paths);
        let files = paths.filter_map(|path| Some((path.clone(), pieces(ctx.host, &path)?)));
        Sources { files: files.collect() }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().flat_map(|(_, pieces)| pieces).filter_map(|piece| match piece {
            Piece::Source(source) => Some(source),
            Piece::Text(_) => None,
        })
    }

    /// The first source that fits, to be changed.
    pub fn find_mut(&mut self, fits: impl Fn(&Source) -> bool) -> Option<&mut Source> {
        self.files.iter_mut().flat_map(|(_, pieces)| pieces).find_map(|piece| match piece {
            Piece::Source(source) if fits(source) => Some(source),
            _ => None,
        })
    }

    /// Changes each source, or takes it away where the closure says so; the files that were touched.
    pub fn change(&mut self, mut keep: impl FnMut(&mut Source) -> Keep) -> Vec<PathBuf> {
        let mut touched = Vec::new();
        for (path, pieces) in &mut self.files {
            pieces.retain_mut(|piece| {
                let Piece::Source(source) = piece else { return true };
                let what = keep(source);
                if what != Keep::AsItIs {
                    source.raw.clear();
                    if !touched.contains(path) {
                        touched.push(path.clone());
                    }
                }
                what != Keep::Not
            });
        }
        touched
    }

    pub fn add(&mut self, mut source: Source) {
        source.raw.clear();
        let path = source.file.clone();
        match self.files.iter_mut().find(|(known, _)| *known == path) {
            Some((_, pieces)) => pieces.push(Piece::Source(source)),
            None => self.files.push((path, vec![Piece::Source(source)])),
        }
    }

    /// What `pkg.list_repos` shows: sources by address.
    pub fn shown(&self) -> Map {
        let mut shown = Map::new();
        for source in self.iter() {
            for uri in &source.uris {
                for suite in &source.suites {
                    for kind in &source.types {
                        let entry = shown.entry_or(uri.as_str(), || Value::List(Vec::new()));
                        if let Value::List(entries) = entry {
                            entries.push(source.shown(kind, uri, suite).into());
                        }
                    }
                }
            }
        }
        shown
    }

    pub fn has_sources(&self, path: &Path) -> bool {
        self.iter().any(|source| source.file == path)
    }

    /// Writes the files that have changed; those that are empty in the directory are removed.
    pub fn save(&self, host: &dyn Host) -> Result<(), Fault> {
        for (path, pieces) in &self.files {
            let text = text(path, pieces);
            let refused = |error: std::io::Error| Fault::execution(format!("{}: {error}", path.display()));
            if host.read(path).is_ok_and(|old| old == text.as_bytes()) {
                continue;
            }
            if let Some(directory) = path.parent() {
                halite_core::paths::make_directories(host, directory).map_err(refused)?;
            }
            let attributes = Attributes { mode: host.stat(path).is_err().then_some(0o644), ..Attributes::default() };
            host.write(path, text.as_bytes(), attributes).map_err(refused)?;
        }
        Ok(())
    }
}

/// What becomes of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    AsItIs,
    Changed,
    Not,
}

fn pieces(host: &dyn Host, path: &Path) -> Option<Vec<Piece>> {
    let text = String::from_utf8_lossy(&host.read(path).ok()?).into_owned();
    let whole = |source: Source| Piece::Source(Source { file: path.to_owned(), ..source });
    if !is_stanzas(path) {
        let piece = |line: &str| Source::parse(line).map_or_else(|| Piece::Text(line.to_owned()), whole);
        return Some(text.lines().map(piece).collect());
    }
    let stanzas = text.split("\n\n").filter(|stanza| !stanza.trim().is_empty());
    let piece = |stanza: &str| Source::of_stanza(stanza).map_or_else(|| Piece::Text(stanza.to_owned()), whole);
    Some(stanzas.map(piece).collect())
}

fn text(path: &Path, pieces: &[Piece]) -> String {
    let stanzas = is_stanzas(path);
    let shown = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.trim_end_matches('\n').to_owned(),
        Piece::Source(source) if !source.raw.is_empty() => source.raw.trim_end_matches('\n').to_owned(),
        Piece::Source(source) if stanzas => source.stanza().trim_end_matches('\n').to_owned(),
        Piece::Source(source) => source.line(),
    });
    let gap = if stanzas { "\n\n" } else { "\n" };
    let whole = shown.collect::<Vec<String>>().join(gap);
    if whole.is_empty() { whole } else { whole + "\n" }
}

/// A source as a caller writes it, `ppa:` resolved on Ubuntu.
pub fn wanted(ctx: &Ctx, repo: &str) -> Result<Source, Fault> {
    let is_ubuntu = ctx.grains.str_at("os").is_some_and(|os| ["Ubuntu", "Mint", "neon"].contains(&os));
    let line = match repo.strip_prefix("ppa:") {
        Some(ppa) if is_ubuntu => {
            let (owner, name) = ppa.split_once('/').unwrap_or((ppa, "ppa"));
            let codename = ctx.grains.str_at("oscodename").unwrap_or_default();
            format!("deb http://ppa.launchpad.net/{owner}/{name}/ubuntu {codename} main")
        }
        Some(_) => return Err(Fault::execution(format!("cannot parse \"ppa:\" style repo definitions: {repo}"))),
        None => repo.to_owned(),
    };
    Source::parse(&line).ok_or_else(|| {
        Fault::invocation(format!(
            "Name {repo} is not valid. This must be the complete repo entry as seen in the sources file"
        ))
    })
}

/// A source with the further settings that functions take.
pub fn asked(ctx: &Ctx, repo: &str, more: &Map) -> Result<Source, Fault> {
    let mut source = wanted(ctx, repo)?;
    if let Some(comps) = listed(more, "comps") {
        source.comps = comps;
    }
    if let Some(architectures) = listed(more, "architectures") {
        source.architectures = architectures;
    }
    match (more.at("disabled"), more.at("enabled")) {
        (Some(disabled), _) => source.disabled = is_true(disabled),
        (None, Some(enabled)) => source.disabled = !is_true(enabled),
        (None, None) => {}
    }
    if more.at("trusted").is_some_and(is_true) {
        source.trusted = Some(true);
    }
    source.raw.clear();
    Ok(source)
}

/// What `pkg.get_repo` shows of a source once `pkg.mod_repo` has made it so.
pub fn described(ctx: &Ctx, repo: &str, more: &Map) -> Result<Map, Fault> {
    let source = asked(ctx, repo, more)?;
    let first = |items: &[String]| items.first().cloned().unwrap_or_default();
    Ok(source.shown(&first(&source.types), &first(&source.uris), &first(&source.suites)))
}

/// A list, or a text with commas.
pub fn listed(more: &Map, name: &str) -> Option<Vec<String>> {
    let value = more.at(name).filter(|value| !value.is_null())?;
    Some(match value {
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        text => text.to_text().split(',').map(|part| part.trim().to_owned()).collect(),
    })
}

/// As Salt reads a yes: `false`, `no` and the like as text are none.
pub fn is_true(value: &Value) -> bool {
    match value {
        Value::Str(text) => ["true", "yes", "on", "1"].contains(&text.to_lowercase().as_str()),
        other => other.truthy(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_back_as_it_was() {
        let line = "deb [arch=amd64,i386 signed-by=/k.gpg] http://x/debian stable main contrib";
        let source = Source::parse(line).unwrap();
        assert_eq!((source.architectures.len(), source.signedby.as_str(), source.comps.len()), (2, "/k.gpg", 2));
        assert_eq!(source.line(), line);
        let off = Source::parse("# deb-src http://x stable main").unwrap();
        assert!(off.disabled && off.types == ["deb-src"]);
        assert!(Source::parse("# a comment about deb files").is_none());
        assert!(Source::parse("deb http://x").is_none());
    }

    #[test]
    fn stanzas_are_read() {
        let text =
            "Types: deb deb-src\nURIs: http://x\nSuites: a\n b\nComponents: main\nSigned-By: /k.gpg\nEnabled: no";
        let source = Source::of_stanza(text).unwrap();
        assert_eq!((source.types.len(), source.suites.len(), source.disabled), (2, 2, true));
        assert!(Source::of_stanza("# nothing").is_none());
    }
}
