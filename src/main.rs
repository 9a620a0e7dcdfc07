//! Halite: one binary that is every program of Salt, by the name it is called with (`salt-key`) or by its first argument
//! (`halite salt-key`).

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = Vec::new();
    for (at, arg) in std::env::args_os().enumerate() {
        match arg.into_string() {
            Ok(arg) => args.push(arg),
            Err(arg) => {
                eprintln!("halite: error: argument {at} ({}) is not UTF-8", arg.display());
                return ExitCode::from(halite_roles::cli::Exit::Usage.code());
            }
        }
    }
    let called = args.first().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    ExitCode::from(halite_roles::run(called, args.get(1..).unwrap_or_default()))
}
