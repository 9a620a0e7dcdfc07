use super::*;
use halite_core::host::fake::Directory;
use halite_lang::yaml;
use std::fs;
use std::os::unix::fs::symlink;

/// A root with a file, and a secret beside the root.
struct Served {
    directory: Directory,
}

impl Served {
    fn new() -> Served {
        let directory = Directory::new();
        fs::create_dir_all(directory.path().join("root/sub")).unwrap();
        fs::create_dir_all(directory.path().join("envs/qa")).unwrap();
        fs::write(directory.path().join("secret"), "secret").unwrap();
        fs::write(directory.path().join("root/a"), "a").unwrap();
        fs::write(directory.path().join("root/sub/b"), "b").unwrap();
        fs::write(directory.path().join("root/q?x"), "q").unwrap();
        fs::write(directory.path().join("envs/qa/only"), "qa").unwrap();
        Served { directory }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.directory.path().join(below)
    }

    fn server(&self, more: &str) -> FileServer {
        let here = self.directory.path().display();
        let text = format!("{{file_roots: {{base: ['{here}/root'], __env__: ['{here}/envs/__env__']}}, {more}}}");
        FileServer::new(yaml::load(&text).unwrap().as_map().unwrap(), Freshness::Always).unwrap()
    }
}

fn text(server: &FileServer, path: &str, saltenv: &str) -> Option<String> {
    let opened = server.open(path, saltenv).unwrap()?;
    Some(io::read_to_string(&opened.file).unwrap())
}

#[test]
fn files_are_found_by_path_and_environment() {
    let served = Served::new();
    let server = served.server("");
    for (path, saltenv, found) in [
        ("a", "base", Some("a")),
        ("sub/b", "base", Some("b")),
        ("./sub//b", "base", Some("b")),
        ("sub", "base", None),
        ("nope", "base", None),
        ("a", "qa", None),
        ("only", "qa", Some("qa")),
        ("only?saltenv=qa", "base", Some("qa")),
        ("q?x", "base", None),
        ("|q?x", "base", Some("q")),
        ("||q?x", "base", Some("q")),
    ] {
        assert_eq!(text(&server, path, saltenv).as_deref(), found, "{path} {saltenv}");
    }
    assert_eq!(server.environments(), ["__env__", "base"]);
}

#[test]
fn no_path_and_no_environment_leads_out_of_its_root() {
    let served = Served::new();
    symlink(served.path("secret"), served.path("root/absolute")).unwrap();
    symlink("../secret", served.path("root/relative")).unwrap();
    symlink("..", served.path("root/up")).unwrap();
    symlink("a", served.path("root/inner")).unwrap();
    let server = served.server("fileserver_followsymlinks: False");
    let secret = served.path("secret").display().to_string();
    for path in [
        "../secret",
        "sub/../../secret",
        "./../secret",
        "|../secret",
        "..",
        secret.as_str(),
        "a\0",
        "absolute",
        "relative",
        "up/secret",
        "|/etc/passwd",
        "//etc/passwd",
        "",
    ] {
        assert_eq!(text(&server, path, "base"), None, "{path:?}");
    }
    for saltenv in ["..", "../root", "qa/../..", "/", "", ".", "qa\0", "qa/.."] {
        for path in ["secret", "a", "only", "root/a"] {
            assert_eq!(text(&server, path, saltenv), None, "{saltenv:?} {path}");
            assert_eq!(text(&server, &format!("{path}?saltenv={saltenv}"), "base").filter(|_| path != "a"), None);
        }
        assert!(server.list(Listing::Files, saltenv, "").is_empty(), "{saltenv:?}");
    }
    assert_eq!(text(&server, "inner", "base").as_deref(), Some("a"), "a link inside of the root is no way out");
    // What the admin has linked is served, unless they say otherwise, as in Salt.
    assert_eq!(text(&served.server(""), "relative", "base").as_deref(), Some("secret"));
}

#[test]
fn only_regular_files_are_served() {
    let served = Served::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, served.path("root/pipe"), rustix::fs::Mode::RWXU).unwrap();
    symlink("/dev/zero", served.path("root/zero")).unwrap();
    let server = served.server("");
    assert_eq!(text(&server, "pipe", "base"), None);
    assert_eq!(text(&server, "zero", "base"), None);
}

#[test]
fn what_is_ignored_is_not_served() {
    let served = Served::new();
    let server = served.server("file_ignore_glob: ['sub/*'], file_ignore_regex: ['^a$']");
    assert_eq!((text(&server, "sub/b", "base"), text(&server, "a", "base")), (None, None));
    let names: Vec<String> = server.list(Listing::Files, "base", "").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["q?x"]);
    let none = served.server("fileserver_backend: [git]");
    assert!(text(&none, "a", "base").is_none() && none.environments().is_empty());
}

#[test]
fn a_chunk_is_of_the_version_that_was_asked_for() {
    let served = Served::new();
    let server = served.server("hash_type: md5");
    let opened = server.open("sub/b", "base").unwrap().unwrap();
    let version = opened.version();
    assert_eq!(server.hash(&opened).unwrap().unwrap().digest, "92eb5ffee6ae2fec3ad71c777531578f");
    let read = |offset, length| server.read("sub/b", "base", version, offset, length).unwrap();
    assert_eq!(read(0, 10), Chunk::Bytes(b"b".to_vec()));
    assert_eq!((read(1, 10), read(u64::MAX, 10)), (Chunk::Bytes(Vec::new()), Chunk::Bytes(Vec::new())));
    fs::write(served.path("root/sub/b"), "bb").unwrap();
    assert_eq!(read(0, 10), Chunk::Changed);
    let opened = server.open("sub/b", "base").unwrap().unwrap();
    assert_eq!(
        server.hash(&opened).unwrap().unwrap().digest,
        "21ad0bd836b90d08f4cf640b4c298e7c",
        "an old hash is not kept"
    );
    fs::remove_file(served.path("root/sub/b")).unwrap();
    assert_eq!(read(0, 10), Chunk::Gone);
}

#[test]
fn the_first_root_that_has_a_file_gives_it() {
    let served = Served::new();
    fs::write(served.path("envs/qa/a"), "second").unwrap();
    let here = served.directory.path().display();
    let text_of = format!("{{file_roots: {{base: ['{here}/none', '{here}/root', '{here}/envs/qa']}}}}");
    let server = FileServer::new(yaml::load(&text_of).unwrap().as_map().unwrap(), Freshness::Always).unwrap();
    assert_eq!(text(&server, "a", "base").as_deref(), Some("a"));
    assert_eq!(text(&server, "only", "base").as_deref(), Some("qa"));
}

#[test]
fn a_hash_that_there_is_not_is_said() {
    let opts = Map::from_iter([("hash_type", "crc32")]);
    let fault = FileServer::new(&opts, Freshness::Always).unwrap_err();
    assert!(fault.to_string().contains("'crc32'"), "{fault}");
}
