//! Paths as Python's `os.path` reads them, and where links lead to.

use super::host::{FileKind, Host, Stat};
use std::io;
use std::path::{Path, PathBuf};

/// Links that are followed one after the other before a path counts as a circle.
const LINKS: usize = 40;

/// Makes a directory and all above it that are missing; what is there already is no error where it is a directory.
pub fn make_directories(host: &dyn Host, directory: &Path) -> io::Result<()> {
    match host.stat(directory) {
        Ok(stat) if matches!(stat.kind, FileKind::Directory | FileKind::Link) => return Ok(()),
        Ok(_) => return Err(rustix::io::Errno::NOTDIR.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if let Some(above) = directory.parent() {
        make_directories(host, above)?;
    }
    match host.make_directory(directory, 0o755) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Removes a directory with all that is in it; links are removed and not followed.
pub fn remove_all(host: &dyn Host, path: &Path) -> io::Result<()> {
    if host.stat(path)?.kind == FileKind::Directory {
        for name in host.list(path)? {
            remove_all(host, &path.join(name))?;
        }
    }
    match host.remove(path) {
        // A directory that stands only in the names of what was in it is gone with that.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// `~` and `~name` at the beginning are the home of a user; a user that is not known is left as it stands.
pub fn expand_user(host: &dyn Host, path: &str) -> String {
    let Some(rest) = path.strip_prefix('~') else { return path.to_owned() };
    let (name, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let home = match name {
        "" => host.env("HOME").map(PathBuf::from).or_else(|| home_of(host, None)),
        name => home_of(host, Some(name)),
    };
    let Some(home) = home else { return path.to_owned() };
    let home = home.to_string_lossy().trim_end_matches('/').to_owned();
    match format!("{home}{rest}") {
        whole if whole.is_empty() => "/".to_owned(),
        whole => whole,
    }
}

fn home_of(host: &dyn Host, name: Option<&str>) -> Option<PathBuf> {
    let user = match name {
        Some(name) => host.user(name),
        None => host.user_by_uid(host.uid()),
    };
    Some(user.ok()??.home)
}

/// The same path without `.`, `..` and doubled slashes; links are not looked at.
pub fn normal(path: &str) -> String {
    if path.is_empty() {
        return ".".to_owned();
    }
    // Two slashes at the beginning, and no third, have a meaning of their own in POSIX.
    let root = match path {
        path if path.starts_with("//") && !path.starts_with("///") => "//",
        path if path.starts_with('/') => "/",
        _ => "",
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if !root.is_empty() => {}
            part => parts.push(part),
        }
    }
    match format!("{root}{}", parts.join("/")) {
        whole if whole.is_empty() => ".".to_owned(),
        whole => whole,
    }
}

/// What stands before the last slash, as `dirname` has it.
pub fn directory_of(path: &str) -> String {
    let head = &path[..path.rfind('/').map_or(0, |at| at + 1)];
    match head.trim_end_matches('/') {
        "" => head.to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

/// What stands behind the last slash.
pub fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Joined by slashes; an absolute part begins anew.
pub fn join(parts: &[String]) -> String {
    parts.iter().fold(String::new(), |whole, part| match part {
        part if part.starts_with('/') || whole.is_empty() => part.clone(),
        part if whole.ends_with('/') => format!("{whole}{part}"),
        part => format!("{whole}/{part}"),
    })
}

/// What stands at a path, links followed.
pub fn followed(host: &dyn Host, path: &Path) -> io::Result<Stat> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let stat = host.stat(&path)?;
        match (stat.kind, &stat.target) {
            (FileKind::Link, Some(target)) => {
                path = path.parent().map_or_else(|| target.clone(), |directory| directory.join(target));
            }
            _ => return Ok(stat),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

pub fn is_directory(host: &dyn Host, path: &str) -> bool {
    followed(host, Path::new(path)).is_ok_and(|stat| stat.kind == FileKind::Directory)
}

pub fn is_file(host: &dyn Host, path: &str) -> bool {
    followed(host, Path::new(path)).is_ok_and(|stat| stat.kind == FileKind::File)
}

/// Whether there is something, links followed.
pub fn exists(host: &dyn Host, path: &str) -> bool {
    followed(host, Path::new(path)).is_ok()
}

pub fn is_link(host: &dyn Host, path: &str) -> bool {
    host.stat(Path::new(path)).is_ok_and(|stat| stat.kind == FileKind::Link)
}

/// The path without a link in it; what is not there is taken as it stands.
pub fn real(host: &dyn Host, path: &str) -> String {
    let mut todo: Vec<String> = parts(path);
    let mut whole = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = todo.pop() {
        match part.as_str() {
            ".." => drop(whole.pop()),
            part => {
                let next = whole.join(part);
                let target = host.stat(&next).ok().and_then(|stat| stat.target);
                match target.filter(|_| links < LINKS) {
                    Some(target) => {
                        links += 1;
                        let target = target.to_string_lossy();
                        if target.starts_with('/') {
                            whole = PathBuf::from("/");
                        }
                        todo.extend(parts(&target));
                    }
                    None => whole = next,
                }
            }
        }
    }
    whole.to_string_lossy().into_owned()
}

/// The parts of a path, the last one first.
fn parts(path: &str) -> Vec<String> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").rev().map(str::to_owned).collect()
}

/// The paths that a pattern matches, sorted, as Python's `glob` finds them: names that begin with a dot only where the
/// pattern does.
pub fn glob(host: &dyn Host, pattern: &str) -> Vec<String> {
    let has_magic = |part: &str| part.contains(['*', '?', '[']);
    if !has_magic(pattern) {
        let there = host.stat(Path::new(pattern)).is_ok();
        return there.then(|| pattern.to_owned()).into_iter().collect();
    }
    let mut found: Vec<String> = vec![if pattern.starts_with('/') { "/" } else { "" }.to_owned()];
    let mut parts = pattern.split('/').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let mut next = Vec::new();
        for directory in found {
            if !has_magic(part) {
                let path = join(&[directory, part.to_owned()]);
                let fits = match is_last && pattern.ends_with('/') {
                    true => is_directory(host, &path),
                    false => host.stat(Path::new(&path)).is_ok(),
                };
                if fits {
                    next.push(path);
                }
                continue;
            }
            let listed = host.list(Path::new(if directory.is_empty() { "." } else { &directory })).unwrap_or_default();
            let fits = |name: &String| {
                (part.starts_with('.') || !name.starts_with('.')) && halite_lang::target::fnmatch::fnmatch(name, part)
            };
            for name in listed.into_iter().filter(fits) {
                let path = join(&[directory.clone(), name]);
                if is_last && !pattern.ends_with('/') || is_directory(host, &path) {
                    next.push(path);
                }
            }
        }
        found = next;
    }
    if pattern.ends_with('/') {
        found.iter_mut().for_each(|path| path.push('/'));
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::Fake;
    use crate::host::{HostFiles, User};

    #[test]
    fn paths_are_normal_as_in_python() {
        for (path, expected) in [
            ("", "."),
            ("/", "/"),
            ("//a", "//a"),
            ("///a", "/a"),
            ("/a/../../b/./c//d/", "/b/c/d"),
            ("a/../..", ".."),
            ("./", "."),
        ] {
            assert_eq!(normal(path), expected, "{path}");
        }
        assert_eq!(
            (directory_of("/a//b"), directory_of("/b"), directory_of("b"), directory_of("/a/")),
            ("/a".into(), "/".into(), String::new(), "/a".into())
        );
        assert_eq!(name_of("/a/b"), "b");
        let joined = |parts: &[&str]| join(&parts.iter().map(|part| part.to_string()).collect::<Vec<_>>());
        assert_eq!(
            (joined(&["/", "a", "b"]), joined(&["a", "/b"]), joined(&["a", ""])),
            ("/a/b".into(), "/b".into(), "a/".into())
        );
    }

    #[test]
    fn links_lead_to_real_paths_and_a_circle_ends() {
        let host = Fake::new().file("/d/f", "x");
        host.link(Path::new("d"), Path::new("/l")).unwrap();
        host.link(Path::new("/c"), Path::new("/c")).unwrap();
        assert_eq!(real(&host, "/l/../l/f"), "/d/f");
        assert_eq!(real(&host, "/none/x"), "/none/x");
        assert!(is_directory(&host, "/l") && !exists(&host, "/c"));
        real(&host, "/c");
    }

    #[test]
    fn homes_and_patterns_are_expanded() {
        let host = Fake::new().env("HOME", "/root").file("/a/x.c", "").file("/a/.y.c", "").file("/b/x.c/z", "");
        let host = host.user(User { name: "bob".into(), home: "/home/bob".into(), ..User::default() });
        let expand = |path: &str| expand_user(&host, path);
        assert_eq!(
            (expand("~/x"), expand("~bob"), expand("~eve/x")),
            ("/root/x".into(), "/home/bob".into(), "~eve/x".into())
        );
        assert_eq!(glob(&host, "/*/*.c"), ["/a/x.c", "/b/x.c"]);
        assert_eq!(glob(&host, "/*/x.c/"), ["/b/x.c/"]);
        assert_eq!(glob(&host, "/a/.*"), ["/a/.y.c"]);
        assert!(glob(&host, "/none").is_empty());
    }
}
