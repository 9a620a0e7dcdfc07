//! What callers of functions are told when a call does not fit.

use crate::testing::World;
use halite_core::context::NoMaster;
use halite_value::fault::Fault;
use halite_value::record::Arguments;

fn fault(fun: &str, arguments: Arguments) -> Fault {
    halite_core::module::call(&World::new().ctx(&NoMaster), fun, arguments).unwrap_err()
}

fn shown(fun: &str, arguments: Arguments) -> String {
    let (value, retcode) = fault(fun, arguments).shown(fun);
    assert_eq!(retcode, 1);
    value.to_text()
}

#[test]
fn a_return_says_whose_fault_it_is() {
    let text = shown("test.ping", Arguments::positional(["bogus"]));
    assert!(
        text.starts_with(
            "Passed invalid arguments to test.ping: ping() takes 0 positional arguments but 1 was given\n"
        )
    );
    assert!(text.contains("salt '*' test.ping"));
    let text = shown("cmd.run", Arguments::default());
    assert!(
        text.starts_with("Passed invalid arguments to cmd.run: run() missing 1 required positional argument: 'cmd'\n")
    );
    let text = shown("test.retcode", Arguments::positional([1, 2]));
    assert!(text.contains("retcode() takes from 0 to 1 positional arguments but 2 were given"), "{text}");
    let text = shown("test.fib", Arguments::default().with("num", 3).with("other", 4));
    assert_eq!(text, "ERROR executing 'test.fib': The following keyword arguments are not valid: other=4");
    assert_eq!(shown("test.nosuch", Arguments::default()), "'test.nosuch' is not available.");
    assert!(shown("test.exception", Arguments::positional(["Oh noes!"])).ends_with("\nException: Oh noes!"));
}

#[test]
fn an_unknown_function_names_its_neighbours() {
    assert_eq!(shown("test.pnig", Arguments::default()), "'test.pnig' is not available.");
    let told = fault("tst.ping", Arguments::default()).told("tst.ping");
    assert_eq!(told.stderr, "'tst.ping' is not available. Did you mean test.ping?\n");
    assert_eq!(shown("nosuchmod.fn", Arguments::default()), "'nosuchmod.fn' is not available.");
}

#[test]
fn a_program_tells_its_user_on_standard_error() {
    let told = fault("test.ping", Arguments::positional(["bogus"])).told("test.ping");
    assert!(
        told.stderr.starts_with("\nPassed invalid arguments: ping() takes 0 positional arguments but 1 was given.\n")
    );
    assert!(told.stdout.contains("salt '*' test.ping"));
    assert_eq!(told.exit_code, 1);
    let told = fault("test.nosuch", Arguments::default()).told("test.nosuch");
    assert_eq!((told.stderr.as_str(), told.exit_code), ("'test.nosuch' is not available.\n", 255));
}
