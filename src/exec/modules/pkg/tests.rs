//! What is run on hosts of each kind.

use crate::testing::World;
use halite_core::context::NoMaster;
use halite_core::host::Finished;
use halite_core::host::fake::Fake;
use halite_core::module::call;
use halite_value::record::Arguments;
use halite_value::{Map, Value, parse_json};

fn run(world: &World, fun: &str, arguments: Arguments) -> Result<Value, String> {
    call(&world.ctx(&NoMaster), fun, arguments).map(|told| told.value).map_err(|fault| fault.to_string())
}

fn world(os_family: &str, host: Fake) -> World {
    let mut world = World::on(host);
    world.grains.insert("os_family", os_family);
    world.grains.insert("osarch", if os_family == "Debian" { "amd64" } else { "x86_64" });
    world
}

const DPKG: &str = "install ok installed bash 5.2 amd64\ninstall ok installed libc6 2.36 i386\n\
                    deinstall ok config-files old 1 all\nhold ok installed kept 3 all\n";

fn debian() -> Fake {
    let format = "${Status} ${Package} ${Version} ${Architecture}\n";
    Fake::new().answers(["dpkg-query", "--showformat", format, "-W"], DPKG)
}

#[test]
fn debian_lists_its_packages() {
    let world = world("Debian", debian());
    let listed = run(&world, "pkg.list_pkgs", Arguments::default()).unwrap();
    assert_eq!(listed.to_json(), r#"{"bash": "5.2", "kept": "3", "libc6:i386": "2.36"}"#);
    let removed = run(&world, "pkg.list_pkgs", Arguments::default().with("removed", true)).unwrap();
    assert_eq!(removed.to_json(), r#"{"old": "1"}"#);
    assert_eq!(run(&world, "pkg.version", Arguments::positional(["bash"])), Ok("5.2".into()));
    assert_eq!(run(&world, "pkg.version", Arguments::positional(["ba*"])).unwrap().to_json(), r#"{"bash": "5.2"}"#);
    assert_eq!(run(&world, "pkg.normalize_name", Arguments::positional(["zsh:amd64"])), Ok("zsh".into()));
}

#[test]
fn debian_holds_and_lets_go_what_it_installs() {
    let host = debian()
        .answers(["dpkg", "--get-selections", "*"], "bash install\nkept hold\n")
        .answers(["dpkg", "--set-selections"], "")
        .answers(
            [
                "apt-get",
                "-q",
                "-y",
                "-o",
                "DPkg::Options::=--force-confold",
                "-o",
                "DPkg::Options::=--force-confdef",
                "--no-install-recommends",
                "-t",
                "backports",
                "install",
                "kept",
            ],
            "",
        );
    let world = world("Debian", host);
    let arguments =
        Arguments::positional(["kept:amd64"]).with("fromrepo", "backports").with("install_recommends", false);
    assert_eq!(run(&world, "pkg.install", arguments).unwrap().to_json(), "{}");
    let told: Vec<String> = world
        .host
        .ran()
        .iter()
        .filter_map(|command| command.stdin.as_ref().map(|text| String::from_utf8_lossy(text).into_owned()))
        .collect();
    assert_eq!(told, ["kept install", "kept hold"]);
}

#[test]
fn an_option_is_no_package() {
    let world = world("Debian", debian());
    let error = run(&world, "pkg.install", Arguments::positional(["--force"])).unwrap_err();
    assert!(error.contains("not the name of a package"), "{error}");
    let both = Arguments::default().with("pkgs", Value::list(["a"])).with("sources", Value::list(["b"]));
    assert!(run(&world, "pkg.install", both).is_err());
    assert_eq!(run(&world, "pkg.remove", Arguments::positional(["none"])).unwrap().to_json(), "{}");
}

#[test]
fn sources_of_debian_are_made_and_removed() {
    let host = Fake::new().file("/etc/apt/sources.list", "# mine\ndeb http://a/debian stable main\n");
    let world = world("Debian", host.answers(["apt-get", "-q", "update"], ""));
    let repo = "deb [arch=amd64] http://b/ stable main";
    let arguments = Arguments::positional([repo]).with("file", "/etc/apt/sources.list.d/b.list").with("refresh", false);
    let made = run(&world, "pkg.mod_repo", arguments.clone()).unwrap();
    assert_eq!(made.at(repo).and_then(|entry| entry.at("architectures")), Some(&Value::list(["amd64"])));
    assert_eq!(world.host.text("/etc/apt/sources.list.d/b.list").unwrap(), format!("{repo}\n"));
    run(&world, "pkg.mod_repo", arguments.with("comps", "main,contrib").with("disabled", true)).unwrap();
    let text = world.host.text("/etc/apt/sources.list.d/b.list").unwrap();
    assert_eq!(text, "# deb [arch=amd64] http://b/ stable main contrib\n");
    let told = run(&world, "pkg.del_repo", Arguments::positional(["deb http://a/debian stable main"])).unwrap();
    assert_eq!(told.to_text(), "Repo 'deb http://a/debian stable main' has been removed from /etc/apt/sources.list.\n");
    assert_eq!(world.host.text("/etc/apt/sources.list").unwrap(), "# mine\n");
    assert!(run(&world, "pkg.del_repo", Arguments::positional(["deb http://none x main"])).is_err());
    assert!(run(&world, "pkg.mod_repo", Arguments::positional(["nonsense"])).is_err());
}

/// A host on which programs answer what real ones have answered: `tests/data/packages/`.
fn recorded(os_family: &str, file: &str) -> World {
    let entries = parse_json(file).unwrap();
    let mut host = Fake::new();
    for entry in entries.as_list().unwrap() {
        let text = |key: &str| entry.at(key).map(Value::to_text).unwrap_or_default();
        let finished = Finished {
            code: entry.at("code").and_then(Value::as_int).unwrap() as i32,
            stdout: text("stdout").into_bytes(),
            stderr: text("stderr").into_bytes(),
            ..Finished::default()
        };
        let argv = entry.at("argv").and_then(Value::as_list).unwrap();
        host = host.scripted(argv.iter().map(Value::to_text).collect(), finished);
    }
    let mut world = world(os_family, host);
    world.grains.insert("osmajorrelease", 9);
    world
}

fn fedora() -> World {
    let mut world = recorded("RedHat", include_str!("../../../../tests/data/packages/rpm.json"));
    world.host = world.host.program("/usr/bin/dnf");
    world
}

fn suse() -> World {
    recorded("Suse", include_str!("../../../../tests/data/packages/rpm.json"))
}

fn alpine() -> World {
    recorded("Alpine", include_str!("../../../../tests/data/packages/apk.json"))
}

/// What a function answers, as JSON.
fn shown(world: &World, fun: &str, arguments: Arguments) -> String {
    run(world, fun, arguments).map_or_else(|error| format!("error: {error}"), |value| value.to_json())
}

fn of<const N: usize>(words: [&str; N]) -> Arguments {
    Arguments::positional(words)
}

fn unrefreshed() -> Arguments {
    Arguments::default().with("refresh", false)
}

/// The last command that has changed the host, or would have.
fn last(world: &World) -> String {
    world
        .host
        .ran()
        .iter()
        .rev()
        .map(|command| command.argv.join(" "))
        .find(|line| !line.starts_with("rpm -q"))
        .unwrap()
}

#[test]
fn rpm_lists_packages_with_what_is_asked_of_them() {
    let world = fedora();
    let versions = r#"{"extra-h": "1:1.0-1", "hello-h": "1.0-1", "python3-dnf-plugin-versionlock": "4.3.1-1", "release-h": "9-1"}"#;
    assert_eq!(shown(&world, "pkg.list_pkgs", of([])), versions);
    let asked = run(&world, "pkg.list_pkgs", of([]).with("attr", "epoch,install_date")).unwrap();
    let expected =
        r#"[{"epoch": "1", "version": "1.0", "arch": "x86_64", "install_date": "2023-11-14T22:13:22+00:00Z"}]"#;
    assert_eq!(asked.at("extra-h").unwrap().to_json(), expected);
    assert_eq!(shown(&world, "pkg.normalize_name", of(["zsh.i686"])), r#""zsh.i686""#);
    assert_eq!(shown(&world, "pkg.normalize_name", of(["zsh.x86_64"])), r#""zsh""#);
    assert_eq!(shown(&world, "pkg.parse_arch", of(["plus.h"])), r#"{"name": "plus.h", "arch": null}"#);
    let changed = r#"{"/etc/hello-h.conf": ["size", "checksum", "time", "config"], "/usr/share/hello-h/v": ["mode"]}"#;
    assert_eq!(shown(&world, "pkg.modified", of(["hello-h"])), changed);
    let only = of(["hello-h"]).with("config", false);
    assert_eq!(shown(&world, "pkg.modified", only), r#"{"/usr/share/hello-h/v": ["mode"]}"#);
    let verified = r#"{"/usr/share/hello-h/v": {"mismatch": ["mode"]}}"#;
    assert_eq!(shown(&world, "pkg.verify", of(["hello-h"]).with("ignore_types", "config")), verified);
}

#[test]
fn dnf_tells_of_groups_advisories_and_upgrades() {
    let world = fedora();
    let groups = run(&world, "pkg.group_list", of([])).unwrap();
    assert_eq!(groups.at("available"), Some(&Value::list(["Greeting Tools", "More Words"])));
    assert_eq!(groups.at("available environments"), Some(&Value::list(["All Of It"])));
    let diff = run(&world, "pkg.group_diff", of(["all-h"])).unwrap();
    assert_eq!(diff.traverse("mandatory:not installed", ":"), Some(&Value::list(["plus.h"])));
    assert_eq!(diff.traverse("default:installed", ":"), Some(&Value::list(["extra-h"])));
    let patches = run(&world, "pkg.list_patches", of([])).unwrap();
    assert_eq!(
        patches.at("HS-2024:001").unwrap().to_json(),
        r#"{"installed": false, "summary": ["hello-h-2.0-1.noarch"]}"#
    );
    let installed = run(&world, "pkg.list_installed_patches", of([])).unwrap();
    assert_eq!(installed.as_map().unwrap().len(), 1);
    let upgrades = r#"{"extra-h": "1:1.2-1", "hello-h": "2.0-1"}"#;
    assert_eq!(shown(&world, "pkg.list_upgrades", unrefreshed()), upgrades);
    let newest = r#"{"hello-h": "2.0-1", "dep-h": "1.0-1"}"#;
    assert_eq!(shown(&world, "pkg.latest_version", of(["hello-h", "dep-h"]).with("refresh", false)), newest);
    assert!(shown(&world, "pkg.group_info", of(["--help"])).contains("not the name of a group"));
}

#[test]
fn dnf_holds_packages_with_its_plugin() {
    let world = fedora();
    assert_eq!(shown(&world, "pkg.list_holds", of([])), r#"["hello-h-0:1.0-1.*"]"#);
    assert_eq!(shown(&world, "pkg.list_holds", of([]).with("full", false)), r#"["hello-h"]"#);
    let held = run(&world, "pkg.hold", of(["hello-h"])).unwrap();
    assert_eq!(held.traverse("hello-h:comment", ":").unwrap().to_text(), "Package hello-h is already set to be held.");
    let gone = run(&world, "pkg.unhold", of(["hello-h"])).unwrap();
    assert_eq!(gone.traverse("hello-h:changes", ":").unwrap().to_json(), r#"{"old": "hold", "new": ""}"#);
    assert_eq!(last(&world), "dnf versionlock delete hello-h");
    let refused = shown(&world, "pkg.install", of(["hello-h"]).with("version", "2.0-1"));
    assert!(refused.contains("because they are being held: hello-h."), "{refused}");
    let locks = "[[packages]]\nname = \"bash\"\n[[packages.conditions]]\nkey = \"evr\"\ncomparator = \"=\"\nvalue = \"5.2-1\"\n";
    let mut newer = fedora();
    newer.host = newer.host.program("/usr/bin/dnf5").file("/etc/dnf/versionlock.toml", locks);
    assert_eq!(shown(&newer, "pkg.list_holds", of([])), r#"["bash-0:5.2-1.*"]"#);
}

#[test]
fn dnf_installs_what_fits_and_says_what_does_not() {
    let world = fedora();
    let none = shown(&world, "pkg.install", of([]).with("pkgs", Value::list([Map::from_iter([("nosuch", ">9")])])));
    assert!(none.starts_with("error: "), "{none}");
    let advisory = of([]).with("advisory_ids", Value::list(["HX-1"]));
    assert_eq!(shown(&world, "pkg.install", advisory), "error: Advisory id \"HX-1\" not found");
    let both = of([]).with("advisory_ids", Value::list(["a"])).with("pkgs", Value::list(["b"]));
    assert!(shown(&world, "pkg.install", both).contains("at the same time"));
}

#[test]
fn repositories_of_dnf_are_made_changed_and_removed() {
    let mut world = fedora();
    world.host = world.host.file("/etc/dnf/dnf.conf", "[main]\ngpgcheck=1\n").directory("/etc/yum.repos.d");
    let made = of(["new"]).with("name", "New one").with("baseurl", "http://x/").with("enabled", false);
    run(&world, "pkg.mod_repo", made).unwrap();
    let text = || world.host.text("/etc/yum.repos.d/new.repo");
    assert_eq!(text().unwrap(), "[new]\nname=New one\nbaseurl=http://x/\nenabled=0\n\n");
    let changed = of(["new"]).with("mirrorlist", "http://y/").with("comments", Value::list(["why"]));
    run(&world, "pkg.mod_repo", changed).unwrap();
    assert_eq!(text().unwrap(), "[new]\nname=New one\nenabled=0\nmirrorlist=http://y/\n# why\n\n");
    let shown_repo = r#"{"name": "New one", "enabled": "0", "mirrorlist": "http://y/", "comments": ["why"]}"#;
    assert_eq!(shown(&world, "pkg.get_repo", of(["new"])), shown_repo);
    for (arguments, problem) in [
        (of(["../new"]).with("name", "n").with("baseurl", "http://x/"), "cannot be the name of a file"),
        (of(["new"]).with("mirrorlist", ""), "Cannot delete mirrorlist without specifying baseurl or metalink"),
        (of(["new"]).with("name", ""), "The repo name cannot be deleted"),
        (of(["other"]).with("name", "n"), "none of baseurl, mirrorlist, metalink was given"),
    ] {
        let told = shown(&world, "pkg.mod_repo", arguments);
        assert!(told.contains(problem), "{told}");
    }
    run(&world, "pkg.del_repo", of(["new"])).unwrap();
    assert_eq!(text(), None);
}

#[test]
fn zypper_tells_of_patches_products_and_versions() {
    let world = suse();
    let patches = run(&world, "pkg.list_patches", of([])).unwrap();
    assert_eq!(patches.at("HB-2023:009").unwrap().to_json(), r#"{"installed": true, "summary": "HB-2023:009 title"}"#);
    assert_eq!(run(&world, "pkg.list_installed_patches", of([])).unwrap().as_map().unwrap().len(), 1);
    assert_eq!(shown(&world, "pkg.list_patterns", of([])), "{}");
    let products = run(&world, "pkg.list_products", of([])).unwrap();
    let product = &products.as_list().unwrap()[0];
    assert_eq!(product.at("description").unwrap().to_text(), "A product of words.");
    assert_eq!((product.at("isbase"), product.at("eol_t")), (Some(&true.into()), Some(&1_893_456_000.into())));
    assert_eq!(shown(&world, "pkg.refresh_db", of([])), r#"{"Local words": true}"#);
    let upgrades = r#"{"extra-h": "1:1.2-1", "hello-h": "2.0-1"}"#;
    assert_eq!(shown(&world, "pkg.list_upgrades", unrefreshed()), upgrades);
    let newest = r#"{"hello-h": "2.0-1", "dep-h": "1.0-1"}"#;
    assert_eq!(shown(&world, "pkg.latest_version", of(["hello-h", "dep-h"]).with("refresh", false)), newest);
    assert_eq!(shown(&world, "pkg.list_repo_pkgs", of(["hello-h"])), r#"{"hello-h": ["2.0-1", "1.5-1", "1.0-1"]}"#);
    let found = run(&world, "pkg.search", of(["greeting"]).with("provides", true).with("match", "exact")).unwrap();
    assert_eq!(found.traverse("hello-h:kind", ":").unwrap().to_text(), "package");
    assert_eq!(shown(&world, "pkg.search", of(["nosuch"])), "error: No packages found matching 'nosuch'");
    let failed = shown(&world, "pkg.install", of(["nosuch"]));
    assert!(failed.starts_with("error: Zypper command failure: Package 'nosuch' not found."), "{failed}");
}

#[test]
fn zypper_locks_packages_in_versions() {
    let world = suse();
    let pkgs = Value::list([Value::from("hello-h"), Map::from_iter([("extra-h", "1.0")]).into()]);
    let held = run(&world, "pkg.hold", of([]).with("pkgs", pkgs)).unwrap();
    assert_eq!(held.traverse("extra-h:changes", ":").unwrap().to_json(), r#"{"old": "", "new": "hold"}"#);
    assert_eq!(last(&world), "zypper --non-interactive --no-refresh al hello-h extra-h=1.0");
    let locks = "\ntype: package\nversion: == 1.0\nmatch_type: glob\ncase_sensitive: on\nsolvable_name: extra-h\n";
    let mut locked = suse();
    locked.host = locked.host.file("/etc/zypp/locks", locks);
    let lock = r#"{"extra-h": {"type": "package", "version": "== 1.0", "match_type": "glob", "case_sensitive": "on"}}"#;
    assert_eq!(shown(&locked, "pkg.list_locks", of([])), lock);
    assert_eq!(shown(&locked, "pkg.clean_locks", of([])), r#"{"removed": "0"}"#);
    let other =
        run(&locked, "pkg.unhold", of([]).with("pkgs", Value::list([Map::from_iter([("extra-h", "2")])]))).unwrap();
    assert_eq!(other.traverse("extra-h:result", ":"), Some(&false.into()));
    let again = run(&locked, "pkg.hold", of(["extra-h"])).unwrap();
    assert_eq!(again.traverse("extra-h:comment", ":").unwrap().to_text(), "Package extra-h is already set to be held.");
}

#[test]
fn repositories_of_zypper_are_read_with_their_switches() {
    let mut world = suse();
    world.host =
        world.host.file("/etc/zypp/repos.d/a.repo", "[a]\nname=A\nenabled=1\ngpgcheck=0\nbaseurl=http://x/%20y\n");
    let repo = r#"{"name": "A", "enabled": true, "gpgcheck": false, "baseurl": "http://x/%20y", "alias": "a"}"#;
    assert_eq!(shown(&world, "pkg.get_repo", of(["a"])), repo);
    assert_eq!(shown(&world, "pkg.get_repo", of(["b"])), "{}");
    let same = shown(&world, "pkg.mod_repo", of(["b"]).with("baseurl", "http://x/%20y"));
    assert_eq!(same, "error: Repository 'b' already exists as 'a'.");
    assert!(shown(&world, "pkg.mod_repo", of(["b"]).with("baseurl", "words")).contains("malformed"));
    assert!(shown(&world, "pkg.mod_repo", of(["-x"]).with("baseurl", "http://z/")).contains("not the name"));
}

#[test]
fn apk_answers_each_function_of_its_own() {
    let world = alpine();
    let versions = run(&world, "pkg.list_pkgs", of([])).unwrap();
    assert_eq!(versions.at("ca-certificates-bundle"), Some(&"20241121-r1".into()));
    assert_eq!(versions.at("libncursesw"), Some(&"6.5_p20241006-r3".into()));
    let listed = run(&world, "pkg.list_pkgs", of([]).with("versions_as_list", true)).unwrap();
    assert_eq!(listed.at("musl"), Some(&Value::list(["1.2.5-r9"])));
    assert_eq!(shown(&world, "pkg.version", of(["musl"])), r#""1.2.5-r9""#);
    assert_eq!(shown(&world, "pkg.version", of(["musl", "nosuch"])), r#"{"musl": "1.2.5-r9", "nosuch": ""}"#);
    assert_eq!(shown(&world, "pkg.version", of(["alpine-*"])).matches("-r").count(), 2);
    assert_eq!(shown(&world, "pkg.refresh_db", of([])), "true");
    let upgrades = r#"{"busybox": "1.37.0-r19", "busybox-binsh": "1.37.0-r19", "ssl_client": "1.37.0-r19"}"#;
    assert_eq!(shown(&world, "pkg.list_upgrades", of([])), upgrades);
    let newest = r#"{"busybox": "1.37.0-r19", "musl": "", "alpine-keys": "2.5-r0", "nosuch": ""}"#;
    assert_eq!(shown(&world, "pkg.latest_version", of(["busybox", "musl", "alpine-keys", "nosuch"])), newest);
    assert_eq!(shown(&world, "pkg.upgrade_available", of(["busybox"])), "true");
    assert_eq!(shown(&world, "pkg.upgrade_available", of(["musl"])), "false");
    assert_eq!(shown(&world, "pkg.owner", of(["sbin/apk"])), r#""apk-tools""#);
    assert_eq!(
        shown(&world, "pkg.owner", of(["/usr/bin/realpath", "bin/not-found"])),
        r#"{"/usr/bin/realpath": "busybox", "bin/not-found": ""}"#
    );
    assert_eq!(shown(&world, "pkg.owner", of([])), r#""You must provide a path""#);
    for fun in ["pkg.file_list", "pkg.file_dict"] {
        let files = r#"{"errors": [], "packages": {"scanelf": ["usr/bin/scanelf"]}}"#;
        assert_eq!(shown(&world, fun, of(["scanelf", "nosuch"])), files);
        assert_eq!(shown(&world, fun, of([])), r#""Package name should be provided""#);
    }
    assert_eq!(shown(&world, "pkg.version_cmp", of(["0.1.0_alpha", "0.1.3_alpha"])), "-1");
    assert_eq!(shown(&world, "pkg.version_cmp", of(["2.34", "0.1.0_alpha"])), "1");
}

#[test]
fn apk_changes_the_host_by_its_own_commands() {
    let world = alpine();
    let ran = |fun: &str, arguments: Arguments| {
        let told = shown(&world, fun, arguments);
        let lines = world.host.ran().iter().map(|command| command.argv.join(" ")).collect::<Vec<String>>();
        let changed = lines.into_iter().rev().find(|line| !line.starts_with("apk info"));
        (told, changed.unwrap())
    };
    let pkgs = Value::list([Map::from_iter([("tzdata", ">=2020")])]);
    assert_eq!(ran("pkg.install", of([]).with("pkgs", pkgs)), ("{}".to_owned(), "apk add tzdata>=2020".to_owned()));
    assert_eq!(ran("pkg.install", of(["busybox"])).1, "apk add --upgrade busybox");
    let failed = ran("pkg.install", of(["nosuch"])).0;
    assert!(failed.contains("nosuch (no such package)"), "{failed}");
    assert_eq!(ran("pkg.remove", of(["scanelf"])).1, "apk del scanelf");
    assert_eq!(ran("pkg.purge", of(["scanelf"])).1, "apk del --purge scanelf");
    let upgraded = r#"{"changes": {}, "result": true, "comment": ""}"#;
    assert_eq!(ran("pkg.upgrade", unrefreshed()), (upgraded.to_owned(), "apk upgrade".to_owned()));
    assert_eq!(ran("pkg.upgrade", unrefreshed().with("name", "busybox")).1, "apk add --upgrade busybox");
    assert_eq!(shown(&world, "pkg.remove", of(["nosuch"])), "{}");
    assert!(shown(&world, "pkg.hold", of(["musl"])).contains("is not available with apk"));
    assert!(shown(&world, "pkg.list_repos", of([])).contains("is not available with apk"));
}

#[test]
fn what_a_tool_does_not_have_is_said_with_its_name() {
    let told = shown(&suse(), "pkg.group_list", of([]));
    assert_eq!(told, "error: 'pkg.group_list' is not available with zypper: it is for dnf");
    let told = shown(&fedora(), "pkg.get_selections", of([]));
    assert_eq!(told, "error: 'pkg.get_selections' is not available with dnf: it is for apt");
}
