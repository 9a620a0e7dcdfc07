//! What states cost: `cargo bench --bench states`.
//!
//! SLS files of states with requisites are read, rendered and compiled to low chunks, at three sizes, so that the growth
//! shows: a chain (each state requires the one before it), a fan (all require one), and an SLS that all states of another
//! require (`sls:`). Then states that run `/bin/true` are set against the bare fork and exec of the same shell, and a loop
//! that makes files with nothing around it is timed, for what `file.managed` costs to be set against.

use halite_core::context::{Call, Ctx, NoMaster};
use halite_core::host::Machine;
use halite_run::modules;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [2_500, 5_000, 10_000];
const COMMANDS: usize = 300;
const FILES: usize = 1_000;

fn main() {
    let directory = std::env::temp_dir().join(format!("halite-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    for (shape, sls) in [("chain", chain as fn(usize) -> String), ("fan", fan), ("sls", two_sls)] {
        for size in SIZES {
            let took = fastest(3, || compile(&directory, &sls(size)));
            println!("compile_{shape}_{size}_ms {:.1}", took.as_secs_f64() * 1e3);
        }
    }
    let run = fastest(5, || run_commands(&directory));
    let bare = fastest(5, bare_commands);
    println!("run_{COMMANDS}_ms {:.1}", run.as_secs_f64() * 1e3);
    println!("bare_{COMMANDS}_ms {:.1}", bare.as_secs_f64() * 1e3);
    println!("run_in_bare {:.2}", run.as_secs_f64() / bare.as_secs_f64());
    let files = fastest(5, || bare_files(&directory.join("bare")));
    println!("bare_files_{FILES}_ms {:.1}", files.as_secs_f64() * 1e3);
    let _ = std::fs::remove_dir_all(&directory);
}

fn fastest(count: usize, mut work: impl FnMut() -> Duration) -> Duration {
    (0..count).map(|_| work()).min().unwrap_or_default()
}

/// A number of states, each of which requires the one before it.
fn chain(size: usize) -> String {
    let mut sls = "s0:\n  test.nop\n".to_owned();
    for at in 1..size {
        let _ = write!(sls, "s{at}:\n  test.nop:\n    - require:\n      - test: s{}\n", at - 1);
    }
    sls
}

/// A number of states, of which all require the first.
fn fan(size: usize) -> String {
    let mut sls = "s0:\n  test.nop\n".to_owned();
    for at in 1..size {
        let _ = write!(sls, "s{at}:\n  test.nop:\n    - require:\n      - test: s0\n");
    }
    sls
}

/// A number of states, one half in an SLS that is required by each of the other half.
fn two_sls(size: usize) -> String {
    let mut sls = "include:\n- wanted\n".to_owned();
    for at in 0..size / 2 {
        let _ = write!(sls, "w{at}:\n  test.nop:\n    - require:\n      - sls: wanted\n");
    }
    sls
}

fn compile(directory: &Path, sls: &str) -> Duration {
    let wanted: String = (0..sls.matches("- sls: wanted").count()).map(|at| format!("m{at}: test.nop\n")).collect();
    put(directory, "wanted.sls", &wanted);
    put(directory, "main.sls", sls);
    let started = Instant::now();
    let chunks = call(directory, "state.show_low_sls");
    let took = started.elapsed();
    let count = chunks.as_list().map_or(0, <[Value]>::len);
    assert!(count >= SIZES[0], "{count} chunks: {}", chunks.to_text());
    took
}

fn run_commands(directory: &Path) -> Duration {
    let mut sls = String::new();
    for at in 0..COMMANDS {
        let _ = write!(sls, "c{at}:\n  cmd.run:\n    - name: /bin/true\n    - shell: /bin/sh\n");
    }
    put(directory, "main.sls", &sls);
    let started = Instant::now();
    let results = call(directory, "state.sls");
    let took = started.elapsed();
    let succeeded = |result: &&Value| result.at("result") == Some(&true.into());
    assert_eq!(results.as_map().map_or(0, |results| results.values().filter(succeeded).count()), COMMANDS);
    took
}

fn bare_commands() -> Duration {
    let started = Instant::now();
    for _ in 0..COMMANDS {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "/bin/true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().expect("a shell").success());
    }
    started.elapsed()
}

fn put(directory: &Path, name: &str, text: &str) {
    std::fs::write(directory.join(name), text).expect("a file");
}

/// What a function answers for the SLS `main` of a minion without a master.
fn call(directory: &Path, fun: &str) -> Value {
    let at = directory.to_string_lossy().into_owned();
    let roots = Map::from_iter([("base", Value::list([at.as_str()]))]);
    let opts = Map::from_iter([
        ("id", Value::from("bench")),
        ("file_client", "local".into()),
        ("local", true.into()),
        ("renderer", "jinja|yaml".into()),
        ("cachedir", format!("{at}/cache").into()),
        ("file_roots", roots.into()),
    ]);
    let (nothing, call) = (Map::new(), Call { fun: fun.to_owned(), ..Call::default() });
    let ctx = Ctx {
        host: &Machine,
        master: &NoMaster,
        functions: &modules::FUNCTIONS,
        grains: &nothing,
        pillar: &nothing,
        opts: &opts,
        call: &call,
        cancelled: &AtomicBool::new(false),
        scratch: Default::default(),
        audience: Default::default(),
    };
    let arguments = Arguments::positional(["main"]);
    modules::call(&ctx, fun, arguments).map_or_else(|fault| fault.to_string().into(), |returned| returned.value)
}

/// Files made as `file.managed` makes them: each written beside its place, given its owner and mode, and renamed.
fn bare_files(directory: &Path) -> Duration {
    let _ = std::fs::remove_dir_all(directory);
    std::fs::create_dir_all(directory).expect("a directory");
    let started = Instant::now();
    for at in 0..FILES {
        // One name for all drafts: a directory that has had a thousand more names is larger, and each file costs more in it.
        let (draft, place) = (directory.join(".draft"), directory.join(at.to_string()));
        std::fs::write(&draft, format!("the content of {at}\n")).expect("a file");
        std::os::unix::fs::chown(&draft, Some(0), Some(0)).expect("an owner");
        std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o640)).expect("a mode");
        std::fs::rename(&draft, &place).expect("a name");
    }
    started.elapsed()
}
