//! The functions of `selinux` against what the programs of policycoreutils 3.6 print.

use crate::testing::World;
use halite_core::Fault;
use halite_core::context::NoMaster;
use halite_core::host::fake::Fake;
use halite_core::module::call;
use halite_value::Value;
use halite_value::record::Arguments;

fn run(world: &World, fun: &str, arguments: Arguments) -> Result<Value, Fault> {
    call(&world.ctx(&NoMaster), fun, arguments).map(|returned| returned.value)
}

fn words(words: &[&str]) -> Arguments {
    Arguments::positional(words.iter().copied())
}

#[test]
fn the_mode_is_read_and_set_for_now_and_later() {
    let world = World::on(Fake::new());
    assert_eq!(run(&world, "selinux.getenforce", words(&[])).unwrap(), "Disabled".into());
    assert_eq!(run(&world, "selinux.getconfig", words(&[])).unwrap(), Value::Null);
    let host = Fake::new()
        .file("/sys/fs/selinux/enforce", "")
        .file("/etc/selinux/config", "# SELINUX=x\nSELINUX=permissive\nSELINUXTYPE=targeted\n");
    let world = World::on(host);
    assert_eq!(run(&world, "selinux.getconfig", words(&[])).unwrap(), "Permissive".into());
    assert_eq!(run(&world, "selinux.setenforce", words(&["Enforcing"])).unwrap(), "Enforcing".into());
    assert_eq!(world.host.text("/sys/fs/selinux/enforce").as_deref(), Some("1"));
    let config = world.host.text("/etc/selinux/config").unwrap();
    assert_eq!(config, "# SELINUX=x\nSELINUX=enforcing\nSELINUXTYPE=targeted\n");
    assert!(run(&world, "selinux.setenforce", words(&["maybe"])).is_err());
}

#[test]
fn booleans_and_modules_are_listed_and_set() {
    let list = "SELinux boolean                State  Default Description\n\n\
                ftp_home_dir                   (off  ,  off)  Allow ftp to home dir\n\
                xend_run_blktap                (on   ,   on)  Allow xend to run blktap\n";
    let host = Fake::new()
        .answers(["semanage", "boolean", "--list"], list)
        .answers(["setsebool", "-P", "ftp_home_dir", "on"], "")
        .answers(["semodule", "--list-modules=full"], "400 extra  pp\n100 ada    pp disabled\n")
        .answers(["semodule", "--disable", "ada; id"], "");
    let world = World::on(host);
    assert_eq!(
        run(&world, "selinux.getsebool", words(&["xend_run_blktap"])).unwrap().to_json(),
        r#"{"State": "on", "Default": "on", "Description": "Allow xend to run blktap"}"#
    );
    assert_eq!(run(&world, "selinux.getsebool", words(&["none"])).unwrap().to_json(), "{}");
    let set = words(&["ftp_home_dir"]).with("value", true).with("persist", true);
    assert_eq!(run(&world, "selinux.setsebool", set).unwrap(), true.into());
    assert_eq!(
        run(&world, "selinux.list_semod", words(&[])).unwrap().to_json(),
        r#"{"extra": {"Enabled": true, "Version": null}, "ada": {"Enabled": false, "Version": null}}"#
    );
    assert_eq!(run(&world, "selinux.setsemod", words(&["ada; id", "Disabled"])).unwrap(), true.into());
    assert!(run(&world, "selinux.setsemod", words(&["ada", "gone"])).is_err());
}

#[test]
fn the_policy_of_files_is_read_changed_and_applied() {
    let list = "SELinux fcontext                                   type               Context\n\n\
                /                                                  directory          system_u:object_r:root_t:s0 \n\
                /srv/web(/.*)?                                     all files          system_u:object_r:httpd_t:s0:c1 \n";
    let relabel = "Would relabel /srv/web from unconfined_u:object_r:var_t:s0 to system_u:object_r:httpd_t:s0\n";
    let host = Fake::new()
        .answers(["semanage", "fcontext", "--list"], list)
        .answers(["semanage", "fcontext", "--modify", "--type", "x_t", "--", "/srv/web(/.*)?"], "")
        .answers(["semanage", "fcontext", "--add", "--ftype", "f", "--type", "x_t", "--", "/new"], "")
        .answers(["restorecon", "-n", "-v", "-R", "--", "/srv/web"], relabel)
        .answers(["restorecon", "-v", "-F", "-R", "--", "/srv/web"], "Relabeled ..\n");
    let world = World::on(host);
    assert_eq!(
        run(&world, "selinux.fcontext_get_policy", words(&["/srv/web(/.*)?"])).unwrap().to_json(),
        r#"{"filespec": "/srv/web(/.*)?", "filetype": "all files", "sel_user": "system_u", "sel_role": "object_r", "sel_type": "httpd_t", "sel_level": "s0:c1"}"#
    );
    let other = words(&["/srv/web(/.*)?"]).with("sel_type", "other_t");
    assert_eq!(run(&world, "selinux.fcontext_get_policy", other).unwrap(), Value::Null);
    for (name, letter) in [("/srv/web(/.*)?", "a"), ("/new", "f")] {
        let added = words(&[name]).with("sel_type", "x_t").with("filetype", letter);
        assert_eq!(run(&world, "selinux.fcontext_add_policy", added).unwrap().at("retcode"), Some(&0.into()));
    }
    let applied = run(&world, "selinux.fcontext_apply_policy", words(&["/srv/web"]).with("recursive", true)).unwrap();
    assert_eq!(
        applied.at("changes").unwrap().to_json(),
        r#"{"/srv/web": {"old": {"sel_user": "unconfined_u", "sel_type": "var_t"}, "new": {"sel_user": "system_u", "sel_type": "httpd_t"}}}"#
    );
    assert_eq!(run(&world, "selinux.filetype_id_to_string", words(&["l"])).unwrap(), "symbolic link".into());
    assert!(run(&world, "selinux.filetype_id_to_string", words(&["x"])).unwrap_err().to_string().contains("a, f, d"));
}

#[test]
fn the_policy_of_ports_is_read_and_changed() {
    let list = "http_cache_port_t              tcp      8080, 8118, 10001-10010\nhttp_port_t                    tcp      80, 81, 443\n";
    let host = Fake::new()
        .answers(["semanage", "port", "--list"], list)
        .answers(["semanage", "port", "--add", "--proto", "tcp", "--type", "http_port_t", "8091"], "")
        .answers(["semanage", "port", "--delete", "--proto", "udp", "1-2"], "");
    let world = World::on(host);
    assert_eq!(
        run(&world, "selinux.port_get_policy", words(&["tcp/443"])).unwrap().to_json(),
        r#"{"sel_type": "http_port_t", "protocol": "tcp", "port": "80, 81, 443"}"#
    );
    assert_eq!(run(&world, "selinux.port_get_policy", words(&["tcp/8"])).unwrap(), Value::Null);
    assert_eq!(
        run(&world, "selinux.port_get_policy", words(&["tcp/10001-10010"])).unwrap().at("sel_type"),
        Some(&"http_cache_port_t".into())
    );
    let add = words(&["x", "http_port_t"]).with("protocol", "tcp").with("port", 8091);
    assert_eq!(run(&world, "selinux.port_add_policy", add).unwrap().at("retcode"), Some(&0.into()));
    assert_eq!(run(&world, "selinux.port_delete_policy", words(&["udp/1-2"])).unwrap().at("retcode"), Some(&0.into()));
    assert!(run(&world, "selinux.port_add_policy", words(&["tcp/80"])).unwrap_err().to_string().contains("required"));
    assert!(run(&world, "selinux.port_delete_policy", words(&["tcp/x"])).is_err());
}
