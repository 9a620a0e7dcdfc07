//! The functions of `file` on a fake host.

use crate::testing::World;
use halite_core::context::NoMaster;
use halite_core::host::fake::{Directory, Fake};
use halite_core::host::{FileKind, HostFiles, ReadOnly, User};
use halite_core::module::call;
use halite_core::{Fault, Reply};
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::path::Path;

fn run(world: &World, fun: &str, arguments: Arguments) -> Result<Value, Fault> {
    call(&world.ctx(&NoMaster), fun, arguments).map(|returned| returned.value)
}

fn words(words: &[&str]) -> Arguments {
    Arguments::positional(words.iter().copied())
}

#[test]
fn a_replacement_keeps_a_copy_and_shows_the_difference() {
    let world = World::on(Fake::new().file("/c", "a=1\nb=2\n"));
    let diff = run(&world, "file.replace", words(&["/c", "^b=.*$", r"b=\g<0>9"]).with("backup", ".old")).unwrap();
    assert_eq!(diff.to_text(), "--- \n+++ \n@@ -1,2 +1,2 @@\n a=1\n-b=2\n+b=b=29\n");
    assert_eq!(
        (world.host.text("/c").unwrap(), world.host.text("/c.old").unwrap()),
        ("a=1\nb=b=29\n".into(), "a=1\nb=2\n".into())
    );
    let again = words(&["/c", "^none$", "x"]).with("append_if_not_found", true).with("backup", false);
    run(&world, "file.replace", again.clone()).unwrap();
    assert_eq!(run(&world, "file.replace", again.with("show_changes", false)).unwrap(), false.into());
    assert_eq!(world.host.text("/c").unwrap(), "a=1\nb=b=29\nx\n");
    assert!(run(&world, "file.replace", words(&["/none", "a", "b"])).is_err());
    assert!(run(&world, "file.replace", words(&["/c", "(", "b"])).unwrap_err().to_string().contains("missing )"));
}

#[test]
fn lines_are_put_where_they_belong() {
    let edited = |mode: &str, more: &[(&str, &str)]| {
        let world = World::on(Fake::new().file("/f", "one\n  two\nthree\n"));
        let arguments =
            more.iter().fold(words(&["/f"]).with("mode", mode), |all, (name, value)| all.with(name, *value));
        run(&world, "file.line", arguments).map(|_| world.host.text("/f").unwrap()).map_err(|fault| fault.to_string())
    };
    assert_eq!(edited("insert", &[("content", "x"), ("after", "two")]).unwrap(), "one\n  two\n  x\nthree\n");
    assert_eq!(edited("insert", &[("content", "x"), ("location", "start")]).unwrap(), "x\none\n  two\nthree\n");
    assert_eq!(edited("insert", &[("content", "x"), ("location", "end")]).unwrap(), "one\n  two\nthree\n\nx");
    assert_eq!(edited("ensure", &[("content", "x"), ("before", "three")]).unwrap(), "one\n  two\n  x\nthree\n");
    assert_eq!(edited("replace", &[("content", "x"), ("match", "two")]).unwrap(), "one\n  x\nthree\n");
    assert_eq!(edited("delete", &[("match", "^one")]).unwrap(), "  two\nthree\n");
    assert_eq!(edited("nothing", &[("content", "x")]).unwrap_err(), "Unknown mode: \"nothing\"");
    assert!(edited("insert", &[("content", "x"), ("after", "o")]).unwrap_err().contains("more than expected"));
}

#[test]
fn blocks_are_replaced_between_their_marks() {
    let world = World::on(Fake::new().file("/f", "a\n# S\nold\n# E tail\nz\n"));
    let arguments = words(&["/f", "# S", "# E", "new\n"]).with("backup", false);
    run(&world, "file.blockreplace", arguments.clone()).unwrap();
    assert_eq!(world.host.text("/f").unwrap(), "a\n# S\nnew\n# E tail\nz\n");
    assert_eq!(run(&world, "file.blockreplace", arguments).unwrap(), "".into());
    let missing = words(&["/f", "# X", "# Y", "c"]).with("backup", false);
    assert!(run(&world, "file.blockreplace", missing.clone()).is_err());
    run(&world, "file.blockreplace", missing.with("insert_before_match", "^z")).unwrap();
    assert_eq!(world.host.text("/f").unwrap(), "a\n# S\nnew\n# E tail\n# X\nc# Y\nz\n");
}

#[test]
fn comments_come_and_go() {
    let world = World::on(Fake::new().file("/f", "alpha\n#beta\n"));
    run(&world, "file.comment", words(&["/f", "^alpha$"])).unwrap();
    run(&world, "file.uncomment", words(&["/f", "beta"])).unwrap();
    assert_eq!(world.host.text("/f").unwrap(), "#alpha\nbeta\n");
    assert_eq!(run(&world, "file.comment", words(&["/f", "none"])).unwrap(), false.into());
}

#[test]
fn what_a_test_finds_is_what_is_deleted() {
    let world =
        World::on(Fake::new().file("/d/a.log", "x").file("/d/b.txt", "yy").file("/d/sub/c.log", "").directory("/d"));
    let found = run(&world, "file.find", words(&["/d"]).with("name", "*.log").with("print", "name,size")).unwrap();
    assert_eq!(found.to_json(), r#"[["a.log", 1], ["c.log", 0]]"#);
    let deleted = run(&world, "file.find", words(&["/d", "delete"]).with("size", "1").with("maxdepth", 1)).unwrap();
    assert_eq!(deleted.to_json(), r#"["/d/a.log"]"#);
    assert!(world.host.text("/d/a.log").is_none() && world.host.text("/d/b.txt").is_some());
    assert_eq!(
        run(&world, "file.find", words(&["/d"]).with("size", "x")).unwrap(),
        "error: invalid size: \"x\"".into()
    );
}

#[test]
fn owner_and_mode_become_what_they_should_be() {
    let host = Fake::new().file("/f", "").user(User { name: "bob".into(), uid: 7, gid: 7, ..User::default() });
    let world = World::on(host.group("bob", 7));
    let checked = run(
        &world,
        "file.check_perms",
        words(&["/f"]).with("ret", Map::new()).with("user", "bob").with("group", "bob").with("mode", "0600"),
    );
    assert_eq!(
        checked.unwrap().to_json(),
        r#"[{"name": "/f", "changes": {"user": "bob", "group": "bob", "mode": "0600"}, "comment": "", "result": true}, {"luser": 0, "lgroup": 0, "lmode": "0644", "cuser": "bob", "cgroup": "bob", "cmode": "0600"}]"#
    );
    let stat = world.host.stat(Path::new("/f")).unwrap();
    assert_eq!((stat.uid, stat.gid, stat.mode), (7, 7, 0o600));
    assert_eq!(run(&world, "file.chown", words(&["/f", "eve", "bob"])).unwrap(), "User does not exist\n".into());
    assert_eq!(run(&world, "file.set_mode", words(&["/f", "789"])).unwrap(), "Invalid Mode 789".into());
}

#[test]
fn nothing_is_changed_through_a_read_only_view() {
    let world = World::on(Fake::new().file("/f", "a\n").directory("/d"));
    let view = ReadOnly(&world.host);
    let calls: &[(&str, &[&str])] = &[
        ("file.write", &["/f", "x"]),
        ("file.append", &["/f", "x"]),
        ("file.remove", &["/f"]),
        ("file.copy", &["/f", "/g"]),
        ("file.move", &["/f", "/g"]),
        ("file.symlink", &["/f", "/g"]),
        ("file.mkdir", &["/e"]),
        ("file.replace", &["/f", "a", "b"]),
        ("file.mknod_fifo", &["/p"]),
    ];
    for (fun, arguments) in calls {
        let answer: Reply = call(&world.ctx_on(&view, &NoMaster), fun, words(arguments));
        assert!(answer.is_err(), "{fun}");
    }
    assert_eq!(world.host.text("/f").as_deref(), Some("a\n"));
    assert_eq!(world.host.list(Path::new("/")).unwrap(), ["d", "f"]);
}

#[test]
fn a_link_takes_the_place_of_a_file_only_if_it_is_told_to() {
    let world = World::on(Fake::new().file("/f", "a").file("/g", "b"));
    assert!(run(&world, "file.symlink", words(&["/f", "/g"])).is_err());
    run(&world, "file.symlink", words(&["/f", "/g"]).with("force", true)).unwrap();
    assert_eq!(world.host.stat(Path::new("/g")).unwrap().kind, FileKind::Link);
    assert_eq!(run(&world, "file.readlink", words(&["/g"])).unwrap(), "/f".into());
    assert!(run(&world, "file.readlink", words(&["/f"])).is_err());
}

#[test]
fn copies_are_listed_restored_and_removed() {
    let mut world = World::on(
        Fake::new().file("/etc/f", "new").file("/cache/file_backup/etc/f_Tue_Nov_14_22:13:20_000005_2023", "old"),
    );
    world.opts.insert("cachedir", "/cache");
    let listed = run(&world, "file.list_backups", words(&["/etc/f"])).unwrap();
    assert!(
        listed.to_json().contains(r#""Backup Time": "Tue Nov 14 2023 22:13:20.000005", "Size": 3"#),
        "{}",
        listed.to_json()
    );
    let restored = run(&world, "file.restore_backup", words(&["/etc/f", "0"])).unwrap();
    assert_eq!((restored.at("result"), world.host.text("/etc/f").as_deref()), (Some(&true.into()), Some("old")));
    assert_eq!(run(&world, "file.restore_backup", words(&["/etc/f", "x"])).unwrap().at("result"), Some(&false.into()));
    assert_eq!(run(&world, "file.list_backups", words(&["/etc/f"])).unwrap().as_map().map(Map::len), Some(2));
}

#[test]
fn of_a_name_in_several_directories_the_one_counts_that_the_address_ends_with() {
    let list = format!("{}  ./x/y/f\n{}  ./x/f\n", "a".repeat(40), "b".repeat(40));
    let world = World::on(Fake::new().file("/sums", &list));
    let asked = words(&["/sums", "sha1", "/tmp/g"]).with("source", "http://h/img/x/f");
    assert_eq!(run(&world, "file.extract_hash", asked).unwrap().at("hsum"), Some(&"b".repeat(40).into()));
}

#[test]
fn digests_are_found_in_lists() {
    let sum = "c8dd2b2ba4b0dd2b6ba29a0b8ba8c0f0d37e1ca0";
    let list = format!("{} *other.tgz\n{sum}  f.tgz\n", "a".repeat(40));
    let world = World::on(Fake::new().file("/sums", &list).file("/f", "x"));
    let found = |file: &str| run(&world, "file.extract_hash", words(&["/sums", "sha1", file])).unwrap();
    assert_eq!(found("/tmp/f.tgz").at("hsum"), Some(&sum.into()));
    assert_eq!(found("/tmp/none").at("hsum"), Some(&"a".repeat(40).into()));
    assert!(run(&world, "file.get_source_sum", words(&["/f"]).with("source_hash", "md5=abc")).is_err());
    assert_eq!(
        run(&world, "file.check_hash", words(&["/f", "md5=9dd4e461268c8034f5c8564e155c67a6"])).unwrap(),
        true.into()
    );
    assert!(run(&world, "file.check_hash", words(&["/f", "abc"])).is_err());
}

/// A world with a cache on the disk, as templates and copies need it.
fn with_cache(host: Fake) -> (World, Directory) {
    let directory = Directory::new();
    let mut world = World::on(host.user(User { name: "root".into(), ..User::default() }).group("root", 0));
    world.opts.insert("cachedir", directory.path().to_string_lossy().into_owned());
    (world, directory)
}

fn managed(contents: &str) -> Arguments {
    words(&["/d/f"])
        .with("sfn", Value::Null)
        .with("ret", Value::Null)
        .with("source", Value::Null)
        .with("source_sum", Value::Null)
        .with("user", Value::Null)
        .with("group", Value::Null)
        .with("mode", "0640")
        .with("attrs", Value::Null)
        .with("saltenv", "base")
        .with("backup", "")
        .with("contents", contents)
}

#[test]
fn a_managed_file_is_made_changed_and_then_left_alone() {
    let (world, _directory) = with_cache(Fake::new().directory("/d"));
    let made = run(&world, "file.manage_file", managed("a\n")).unwrap();
    assert_eq!(
        made.to_json(),
        r#"{"name": "/d/f", "changes": {"diff": "New file", "mode": "0640"}, "comment": "File /d/f updated", "result": true}"#
    );
    let changed = run(&world, "file.manage_file", managed("b\n").with("backup", "minion")).unwrap();
    assert_eq!(changed.at("changes").unwrap().to_json(), r#"{"diff": "--- \n+++ \n@@ -1 +1 @@\n-a\n+b\n"}"#);
    assert_eq!(run(&world, "file.list_backups", words(&["/d/f"])).unwrap().as_map().map(Map::len), Some(1));
    let again = run(&world, "file.manage_file", managed("b\n")).unwrap();
    assert_eq!(again.at("comment"), Some(&"File /d/f is in the correct state".into()));
    let moved = managed("b # x\n").with("ignore_comment_characters", "#").with("ignore_whitespace", true);
    assert_eq!(run(&world, "file.manage_file", moved).unwrap().at("skip_req"), Some(&true.into()));
    let missing = managed("b\n").with("ret", Map::from_iter([("name", "/e/f"), ("comment", "")]));
    let (mut missing, makes) = (missing.clone(), missing.with("makedirs", true));
    missing.positional = vec!["/e/f".into()];
    let refused = run(&world, "file.manage_file", missing).unwrap();
    assert_eq!(refused.at("comment"), Some(&"Parent directory not present".into()));
    assert_eq!(refused.at("result"), Some(&false.into()));
    let makes = Arguments { positional: vec!["/e/f".into()], ..makes };
    run(&world, "file.manage_file", makes).unwrap();
    assert_eq!(world.host.stat(Path::new("/e")).unwrap().mode, 0o750);
}

#[test]
fn a_source_is_verified_copied_and_does_not_pass_through_a_link_that_is_to_go() {
    let (world, _directory) = with_cache(Fake::new().file("/src", "new\n").file("/real", "old\n").directory("/d"));
    world.host.link(Path::new("/real"), Path::new("/d/f")).unwrap();
    let sum = |digest: &str| Map::from_iter([("hash_type", "md5"), ("hsum", digest)]);
    let arguments = managed("").with("contents", Value::Null).with("source", "/src").with("follow_symlinks", false);
    let wrong = arguments.clone().with("source_sum", sum(&"0".repeat(32)));
    let refused = run(&world, "file.manage_file", wrong).unwrap();
    assert!(refused.at("comment").unwrap().to_text().contains("does not match actual checksum"));
    let right = arguments.with("source_sum", sum("0aa28e8271c76f0de0c5b3a1a6d9d7ba")).with("skip_verify", true);
    let made = run(&world, "file.manage_file", right).unwrap();
    assert_eq!(made.at("changes").unwrap().at("diff"), Some(&"Replace symbolic link with regular file".into()));
    assert_eq!(
        (world.host.text("/d/f").as_deref(), world.host.text("/real").as_deref()),
        (Some("new\n"), Some("old\n"))
    );
    let signed = managed("").with("contents", Value::Null).with("source", "/src").with("signature", true);
    assert!(
        run(&world, "file.manage_file", signed.with("skip_verify", true))
            .unwrap()
            .at("comment")
            .unwrap()
            .to_text()
            .contains("gpg")
    );
}

#[test]
fn a_file_that_a_link_leads_to_and_that_is_not_there_is_made_and_that_is_told() {
    let (world, _directory) = with_cache(Fake::new().directory("/d").directory("/e"));
    world.host.link(Path::new("/e/real"), Path::new("/d/f")).unwrap();
    let made = run(&world, "file.manage_file", managed("new\n")).unwrap();
    assert_eq!(made.at("changes").unwrap().to_json(), r#"{"diff": "New file", "mode": "0640"}"#);
    assert_eq!(world.host.text("/e/real").as_deref(), Some("new\n"));
    assert_eq!(world.host.stat(Path::new("/d/f")).unwrap().kind, FileKind::Link);
}

#[test]
fn what_is_checked_is_told_and_left_as_it_is() {
    let (world, directory) = with_cache(Fake::new().file("/t", "x={{ x }}\n").file("/d/f", "x=1\n"));
    let context = |x: i64| Map::from_iter([("x", x)]);
    let checked = |fun: &str, x: i64| {
        let arguments = words(&["/d/f", "/t"])
            .with("source_hash", Value::Null)
            .with("source_hash_name", Value::Null)
            .with("user", "root")
            .with("group", 0)
            .with("mode", "0644")
            .with("attrs", Value::Null)
            .with("template", "jinja")
            .with("context", context(x))
            .with("defaults", Value::Null)
            .with("saltenv", "base");
        run(&world, fun, arguments).unwrap()
    };
    assert_eq!(checked("file.check_managed_changes", 1).to_json(), "{}");
    assert_eq!(checked("file.check_managed", 1).to_json(), r#"[true, "The file /d/f is in the correct state"]"#);
    assert!(
        checked("file.check_managed", 2)
            .to_json()
            .starts_with(r#"[null, "The following values are set to be changed:\ndiff: --- \n"#)
    );
    assert_eq!(
        checked("file.check_managed_changes", 2).at("diff").unwrap().to_text(),
        "--- \n+++ \n@@ -1 +1 @@\n-x=1\n+x=2\n"
    );
    assert!(!directory.path().join("incoming").exists(), "what a template made is nowhere");
    assert_eq!(world.host.text("/d/f").as_deref(), Some("x=1\n"));
    let mut missing = words(&["/d/f", "/none", "", "", "root", "root", "", "", ""]);
    missing.positional.extend([Value::Null, Value::Null, "base".into()]);
    assert_eq!(
        run(&world, "file.check_managed", missing).unwrap().to_json(),
        r#"[false, "Local file source /none does not exist"]"#
    );
}
