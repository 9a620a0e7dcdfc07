//! What is run on hosts of each kind.

use crate::exec::context::NoMaster;
use crate::exec::host::fake::Fake;
use crate::exec::modules::call;
use crate::exec::modules::tests::World;
use crate::wire::record::Arguments;
use crate::wire::value::Value;

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

#[test]
fn fedora_asks_rpm_and_dnf() {
    let format = "%{NAME}\t%{EPOCHNUM}\t%{VERSION}\t%{RELEASE}\t%{ARCH}\n";
    let host = Fake::new()
        .program("/usr/bin/dnf")
        .answers(
            ["rpm", "-qa", "--queryformat", format],
            "bash\t0\t5.1.8\t6.el9\tx86_64\nvim\t2\t8.2\t1\tx86_64\ngpg-pubkey\t0\t1\t1\t(none)\n",
        )
        .answers(["dnf", "--quiet", "list", "updates"], "Upgrades\nbash.x86_64  5.1.8-9.el9  baseos\n")
        .answers(["dnf", "--quiet", "--assumeyes", "--disablerepo=*", "--enablerepo=epel", "install", "htop-3.2"], "");
    let world = world("RedHat", host);
    let listed = run(&world, "pkg.list_pkgs", Arguments::default()).unwrap();
    assert_eq!(listed.to_json(), r#"{"bash": "5.1.8-6.el9", "vim": "2:8.2-1"}"#);
    let upgrades = run(&world, "pkg.list_upgrades", Arguments::default().with("refresh", false)).unwrap();
    assert_eq!(upgrades.to_json(), r#"{"bash": "5.1.8-9.el9"}"#);
    let arguments = Arguments::positional(["htop"]).with("version", "3.2").with("fromrepo", "epel");
    assert_eq!(run(&world, "pkg.install", arguments).unwrap().to_json(), "{}");
    assert!(run(&world, "pkg.get_selections", Arguments::default()).unwrap_err().contains("apt alone"));
}

#[test]
fn suse_and_alpine_have_their_own_tools() {
    let table = "S | Repository | Name | Current Version | Available Version | Arch\n--+--\nv | Main | zsh | 5.6-1 | 5.6-2 | x86_64\n";
    let suse =
        world("Suse", Fake::new().answers(["zypper", "--non-interactive", "--no-refresh", "list-updates"], table));
    let upgrades = run(&suse, "pkg.list_upgrades", Arguments::default().with("refresh", false)).unwrap();
    assert_eq!(upgrades.to_json(), r#"{"zsh": "5.6-2"}"#);
    let host = Fake::new()
        .answers(["apk", "info", "-v"], "busybox-1.36.1-r4\nlibc-utils-0.7.2-r5\n")
        .answers(
            ["apk", "policy", "busybox"],
            "busybox policy:\n  1.36.1-r4:\n    lib/apk/db/installed\n  1.36.1-r5:\n    https://a\n",
        )
        .answers(["apk", "version", "-t", "1.36.1-r4", "1.36.1-r5"], "<\n");
    let alpine = world("Alpine", host);
    let arguments = Arguments::positional(["busybox"]).with("refresh", false);
    assert_eq!(run(&alpine, "pkg.latest_version", arguments), Ok("1.36.1-r5".into()));
    assert_eq!(run(&alpine, "pkg.version", Arguments::positional(["libc-utils"])), Ok("0.7.2-r5".into()));
}
