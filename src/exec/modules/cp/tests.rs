//! What `cp.*` answers for files of the minion's own `file_roots`, and for pages of a web server that is not there.

use crate::testing::World;
use halite_core::context::NoMaster;
use halite_core::host::fake::{Directory, Fake};
use halite_core::host::{Host, HostFiles, Machine, ReadOnly};
use halite_core::module::call;
use halite_core::{Fault, Reply};
use halite_value::record::Arguments;
use halite_value::{Map, Value, parse_json};
use std::fs;
use std::path::PathBuf;

/// A minion with files of its own.
struct Minion {
    directory: Directory,
    world: World,
}

impl Minion {
    fn new() -> Minion {
        Minion::on(Fake::new())
    }

    fn on(host: Fake) -> Minion {
        let directory = Directory::new();
        let root = directory.path().join("root");
        fs::create_dir_all(root.join("sub/deep")).unwrap();
        fs::create_dir_all(root.join("sub/empty")).unwrap();
        for (path, text) in [
            ("a", "a"),
            ("q?x", "q"),
            ("sub/init.sls", "i"),
            ("sub/web.sls", "w"),
            ("sub/deep/d", "d"),
            ("page.jinja", "{% include 'part.jinja' %} {{ grains.os }} {{ saltenv }} {{ salt['test.echo'](more) }}\n"),
            ("part.jinja", "part"),
        ] {
            fs::write(root.join(path), text).unwrap();
        }
        let text = |path: PathBuf| Value::from(path.display().to_string());
        let opts = Map::from_iter([
            ("file_client", Value::from("local")),
            ("cachedir", text(directory.path().join("cache"))),
            ("file_roots", Map::from_iter([("base", Value::List(vec![text(root)]))]).into()),
        ]);
        Minion { directory, world: World { opts, grains: Map::from_iter([("os", "Linux")]), ..World::on(host) } }
    }

    fn path(&self, below: &str) -> String {
        self.directory.path().join(below).display().to_string()
    }

    /// Calls on the real machine; words with `=` are keywords.
    fn call(&self, fun: &str, words: &[&str]) -> Reply {
        self.call_on(&Machine, fun, words)
    }

    fn call_on(&self, host: &dyn Host, fun: &str, words: &[&str]) -> Reply {
        let mut arguments = Arguments::default();
        for word in words {
            match word.split_once('=').filter(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || c == '_')) {
                Some((name, value)) => {
                    let value = parse_json(value).unwrap_or_else(|_| value.into());
                    drop(arguments.keywords.insert(name, value));
                }
                None => arguments.positional.push((*word).into()),
            }
        }
        call(&self.world.ctx_on(host, &NoMaster), fun, arguments)
    }

    fn value(&self, fun: &str, words: &[&str]) -> Value {
        self.call(fun, words).unwrap().value
    }
}

#[test]
fn a_file_is_put_where_it_is_wanted_and_keeps_what_its_place_had() {
    let minion = Minion::new();
    let dest = minion.path("out/file");
    assert_eq!(minion.value("cp.get_file", &["salt://a", &dest]), false.into(), "there is no directory for it");
    assert_eq!(minion.value("cp.get_file", &["salt://a", &dest, "makedirs=true"]), dest.as_str().into());
    let mode = |path: &str| Machine.stat(path.as_ref()).unwrap().mode;
    fs::write(minion.path("root/a"), "changed").unwrap();
    fs::set_permissions(&dest, std::os::unix::fs::PermissionsExt::from_mode(0o751)).unwrap();
    minion.value("cp.get_file", &["salt://a", &dest]);
    assert_eq!((fs::read_to_string(&dest).unwrap(), mode(&dest)), ("changed".to_owned(), 0o751));
    assert_eq!(minion.value("cp.get_file", &["salt://none", &dest]), "".into());
    let directory = minion.path("out/");
    assert_eq!(minion.value("cp.get_file", &["salt://a", &directory]), minion.path("out/a").into());
    let rendered = ["salt://{{ 'a' }}", &minion.path("out/{{ grains.os }}"), "template=jinja"];
    assert_eq!(minion.value("cp.get_file", &rendered), minion.path("out/Linux").into());
    let fault = minion.call("cp.get_file", &["/etc/passwd", &dest]).unwrap_err();
    assert_eq!(fault.to_string(), "salt.exceptions.MinionError: Unsupported path: /etc/passwd");
    let fault = minion.call("cp.get_file", &["salt://a", &dest, "template=mako"]).unwrap_err();
    assert_eq!(fault, Fault::execution("Attempted to render file paths with unavailable engine mako"));
}

#[test]
fn a_directory_comes_with_all_below_it() {
    let minion = Minion::new();
    let out = minion.path("out");
    let wanted = ["sub/deep/d", "sub/empty", "sub/init.sls", "sub/web.sls"].map(|name| format!("{out}/{name}"));
    assert_eq!(minion.value("cp.get_dir", &["salt://sub", &out]), wanted.to_vec().into());
    assert_eq!(fs::read_to_string(minion.path("out/sub/deep/d")).unwrap(), "d");
    assert_eq!(minion.value("cp.get_dir", &["salt://su", &out]), Value::List(vec![]));
    assert_eq!(minion.value("cp.get_dir", &["salt://sub/deep", &out]), vec![format!("{out}/deep/d")].into());
}

#[test]
fn the_cache_holds_what_was_asked_for_and_nothing_outside_of_it_is_written() {
    let minion = Minion::new();
    let cached = |name: &str| Value::from(minion.path(&format!("cache/files/base/{name}")));
    assert_eq!(minion.value("cp.is_cached", &["salt://a"]), "".into());
    assert_eq!(minion.value("cp.cache_file", &["salt://a"]), cached("a"));
    assert_eq!(minion.value("cp.cache_file", &["salt://|q?x"]), cached("q?x"));
    assert_eq!(minion.value("cp.is_cached", &["salt://a"]), cached("a"));
    assert_eq!(minion.value("cp.cache_files", &["salt://a,salt://none"]), vec![cached("a"), false.into()].into());
    let both = vec![cached("sub/init.sls"), cached("sub/web.sls")];
    assert_eq!(minion.value("cp.cache_dir", &["salt://sub", "include_pat=*.sls"]), both.into());
    let some = minion.value("cp.cache_dir", &["salt://sub", "exclude_pat=E@\\.sls$", "include_empty=true"]);
    assert_eq!(some, vec![cached("sub/deep/d"), cached("sub/empty")].into());
    assert_eq!(minion.value("cp.cache_master", &[]).as_list().unwrap().len(), 7);
    assert_eq!(minion.value("cp.cache_file", &["salt://a", "saltenv=../../.."]), false.into());
    assert_eq!(minion.value("cp.cache_dest", &["salt://../x"]), "Invalid path".into());
    let own = minion.path("own");
    fs::write(&own, "own").unwrap();
    let copy = format!("{}{own}", minion.path("cache/localfiles"));
    assert_eq!(minion.value("cp.cache_local_file", &[&own]), copy.as_str().into());
    assert_eq!(minion.value("cp.is_cached", &[&own]), copy.into());
    assert!(minion.call("cp.cache_local_file", &["/etc/../etc/hosts"]).is_err());
    assert_eq!(minion.value("cp.list_minion", &[]).as_list().unwrap().len(), 8);
    assert_eq!(minion.value("cp.list_minion", &["saltenv=dev"]).as_list().unwrap().len(), 1);
}

#[test]
fn a_state_in_test_mode_may_look_at_a_file_but_put_none() {
    let minion = Minion::new();
    let view = ReadOnly(&Machine);
    let dest = minion.path("dest");
    assert!(minion.call_on(&view, "cp.cache_file", &["salt://a"]).unwrap().value.as_str().is_some());
    assert!(minion.call_on(&view, "cp.get_file", &["salt://a", &dest]).is_err());
    assert!(minion.call_on(&view, "cp.recv_chunked", &[&dest, "YQ==", "compressed=false"]).is_err());
    assert!(!fs::exists(&dest).unwrap());
}

#[test]
fn a_page_is_kept_or_shown_and_its_password_is_in_no_name() {
    let minion = Minion::on(Fake::new().page("https://h:1/p?q", "page").file("/there", "own"));
    let call = |words: &[&str]| minion.call_on(&minion.world.host, "cp.get_url", words);
    let kept = call(&["https://me:word@h:1/p?q"]).unwrap().value;
    assert_eq!(kept, minion.path("cache/extrn_files/base/h1/p-q").into());
    assert_eq!(fs::read_to_string(kept.as_str().unwrap()).unwrap(), "page");
    assert_eq!(call(&["https://h:1/p?q", "dest=null"]).unwrap().value, "page".into());
    let dest = minion.path("page");
    minion.world.host.make_directory(minion.directory.path(), 0o700).unwrap();
    assert_eq!(call(&["https://h:1/p?q", &dest]).unwrap().value, dest.as_str().into());
    assert_eq!(minion.world.host.text(&dest).as_deref(), Some("page"));
    assert_eq!(call(&["https://h:1/p?q", "/no/directory/x"]).unwrap().value, "".into());
    assert_eq!(call(&["file:///there"]).unwrap().value, "/there".into());
    assert_eq!(call(&["/there", "dest=null"]).unwrap().value, "own".into());
    for (address, told) in [
        ("ftp://me:word@h/x", "this version fetches nothing by ftp: ftp://<redacted>@h/x"),
        ("odd://x", "ValueError: Unsupported url scheme: odd://x"),
        ("there", "Path 'there' is not absolute"),
    ] {
        assert_eq!(call(&[address]).unwrap_err().to_string(), told);
    }
    let sum = "source_hash=sha256=0b1ef5bcd6ea09ab46f9d84d6e8c6f0a0a2f51e5b1c0cdf0a9b3c6e8a1e3f7d2";
    assert!(call(&["https://h:1/p?q", sum]).is_ok(), "another hash: it is fetched again");
    let digest = halite_lang::digest::HashType::Sha256.of(&b"page"[..]).unwrap();
    let known = Minion::on(Fake::new());
    let place = known.path("cache/extrn_files/base/h/p");
    fs::create_dir_all(known.path("cache/extrn_files/base/h")).unwrap();
    fs::write(&place, "page").unwrap();
    // Nobody scripted a page there: a request would end the test.
    let words = ["https://h/p", &format!("source_hash=sha256={digest}")];
    assert_eq!(known.call_on(&known.world.host, "cp.cache_file", &words).unwrap().value, place.into());
}

#[test]
fn a_page_is_asked_about_by_the_mark_that_came_with_it() {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/p", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let mut marks = Vec::new();
        for answer in ["200 OK\r\nETag: \"one\"\r\nContent-Length: 4", "304 Not Modified\r\nContent-Length: 0"] {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            marks.extend(head.into_iter().filter(|line| line.to_lowercase().starts_with("if-none-match")));
            let body = if answer.starts_with("200") { "page" } else { "" };
            write!(stream, "HTTP/1.1 {answer}\r\nConnection: close\r\n\r\n{body}").unwrap();
        }
        marks
    });
    let minion = Minion::new();
    for _ in 0..2 {
        let place = minion.value("cp.cache_file", &[&address, "use_etag=true"]);
        assert_eq!(fs::read_to_string(place.as_str().unwrap()).unwrap(), "page");
    }
    let marks = server.join().unwrap();
    assert_eq!(marks.len(), 1);
    assert!(marks[0].ends_with("\"one\""), "{marks:?}");
}

#[test]
fn a_template_sees_the_node_and_what_it_includes() {
    let minion = Minion::new();
    let dest = minion.path("page");
    assert_eq!(minion.value("cp.get_template", &["salt://page.jinja", &dest, "more=x"]), dest.as_str().into());
    assert_eq!(fs::read_to_string(&dest).unwrap(), "part Linux base x\n");
    assert_eq!(Machine.stat(dest.as_ref()).unwrap().mode, 0o600, "it may show secrets");
    assert_eq!(minion.value("cp.get_template", &["salt://none", &dest]), "".into());
    assert_eq!(minion.value("cp.get_template", &["salt://page.jinja", &dest, "template=py"]), "".into());
    assert!(minion.call("cp.get_template", &["salt://page.jinja", &dest]).is_err(), "`more` is undefined");
}

#[test]
fn parts_from_salt_cp_make_a_file() {
    let minion = Minion::new();
    let dest = minion.path("new/file");
    let part = |words: &[&str]| minion.call("cp.recv_chunked", &[&[dest.as_str()], words].concat()).unwrap();
    assert_eq!(part(&["aGVsbG8g", "compressed=false", "mode=416"]).value, true.into());
    assert_eq!(part(&["chunk=d29ybGQ=", "append=true", "compressed=false"]).value, true.into());
    // gzip of "!".
    let packed = {
        use base64::Engine as _;
        use std::io::Write;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(b"!").unwrap();
        base64::engine::general_purpose::STANDARD.encode(packed.finish().unwrap())
    };
    assert_eq!(part(&[&format!("chunk={packed}"), "append=true"]).value, true.into());
    assert_eq!(fs::read_to_string(&dest).unwrap(), "hello world!");
    assert_eq!(Machine.stat(dest.as_ref()).unwrap().mode, 0o640);
    let broken = part(&["aGVsbG8g"]);
    assert_eq!((broken.value, broken.retcode), ("Not a gzipped file (b'he')".into(), 1));
    assert!(minion.call("cp.recv_chunked", &[&dest, "abc", "compressed=false"]).is_err());
    let directory = minion.path("made/deep");
    let make = |path: &str| minion.call("cp.recv_chunked", &[path, "chunk=null"]).unwrap().value;
    assert_eq!((make(&directory), make(&directory)), (true.into(), true.into()));
    assert_eq!(make(&dest), "Path exists and is a file".into());
    let files = format!("files={{\"/x/{}\": \"text\"}}", "name");
    let to = format!("dest={}", minion.path("made"));
    let done = minion.value("cp.recv", &[&files, &to]);
    assert_eq!(done.at(&minion.path("made/name")), Some(&true.into()));
    let to = format!("dest={}", minion.path("none/there"));
    assert_eq!(minion.value("cp.recv", &[&files, &to]), "Destination unavailable".into());
}

#[test]
fn nothing_is_sent_without_a_master_and_no_path_leads_upwards() {
    let minion = Minion::new();
    fs::write(minion.path("own"), "own").unwrap();
    for words in [&["relative"][..], &["/none"], &["/etc/../etc/passwd"], &["/"]] {
        assert_eq!(minion.value("cp.push", words), false.into(), "{words:?}");
    }
    assert_eq!(minion.value("cp.push", &[&minion.path("own"), "upload_path=a/../../x"]), false.into());
    assert!(minion.call("cp.push", &[&minion.path("own")]).unwrap_err().to_string().contains("no master"));
    assert_eq!(minion.value("cp.push_dir", &[&minion.path("root"), "glob=*.nothing"]), false.into());
}
