//! What is run to make, change and remove accounts.

use crate::testing::World;
use halite_core::context::NoMaster;
use halite_core::host::Finished;
use halite_core::host::fake::Fake;
use halite_core::module::call;
use halite_value::Value;
use halite_value::record::Arguments;

const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nbob:x:1001:100:Bob,12,,,:/home/bob:/bin/sh\n";
const GROUP: &str = "root:x:0:\nusers:x:100:\nadm:x:4:bob\n";

fn world() -> World {
    let host = Fake::new().file("/etc/passwd", PASSWD).file("/etc/group", GROUP);
    World::on(
        ["useradd", "usermod", "userdel"].iter().fold(host, |host, name| host.program(&format!("/usr/bin/{name}"))),
    )
}

#[test]
fn an_account_is_shown_with_its_groups() {
    let world = world();
    let run = |fun: &str, words: &[&str]| {
        call(&world.ctx(&NoMaster), fun, Arguments::positional(words.iter().copied())).map(|told| told.value)
    };
    let info = run("user.info", &["bob"]).unwrap();
    assert_eq!((info.at("groups"), info.at("roomnumber")), (Some(&Value::list(["adm", "users"])), Some(&"12".into())));
    assert_eq!(run("user.info", &["eve"]).unwrap().to_json(), "{}");
    assert_eq!(run("user.list_users", &[]).unwrap(), Value::list(["bob", "root"]));
    assert_eq!(run("user.chshell", &["bob", "/bin/sh"]).unwrap(), true.into(), "it has it: nothing is run");
    assert!(run("user.chshell", &["eve", "/bin/sh"]).unwrap_err().to_string().contains("does not exist"));
    assert!(run("user.rename", &["bob", "root"]).is_err());
}

#[test]
fn words_of_the_caller_are_arguments_and_never_a_line() {
    let mut world = world();
    let failed = Finished { code: 9, ..Finished::default() };
    world.host = world.host.command(
        ["/usr/bin/useradd", "-s", "/bin/sh", "-u", "7", "-g", "users", "-M", "-d", "/x y", "-o", "-r", "a;b"],
        failed,
    );
    let arguments = Arguments::positional(["a;b"])
        .with("uid", 7)
        .with("gid", "users")
        .with("shell", "/bin/sh")
        .with("home", "/x y")
        .with("createhome", false)
        .with("unique", false)
        .with("system", true);
    assert_eq!(call(&world.ctx(&NoMaster), "user.add", arguments).unwrap().value, false.into());
    world.host = world.host.answers(["/usr/bin/userdel", "-r", "-f", "bob"], "");
    let arguments = Arguments::positional(["bob"]).with("remove", true).with("force", true);
    assert_eq!(call(&world.ctx(&NoMaster), "user.delete", arguments).unwrap().value, true.into());
}
