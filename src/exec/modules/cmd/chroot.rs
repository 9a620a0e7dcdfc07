//! `cmd.run_chroot`: a command inside another root.

use super::options::{Errors, Options};
use halite_core::host::Command;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, Returned};
use halite_value::Value;
use halite_value::record;
use halite_value::record::{Arguments, Keywords, Record};
use std::path::{Path, PathBuf};

record! {
    /// Run a command in a chroot that has /dev, /proc and /sys while it runs, and return what `cmd.run_all` does.
    ///
    ///   salt '*' cmd.run_chroot /var/lib/machines/web 'apt-get update'
    pub struct RunChroot {
        /// The directory that becomes the root.
        root: String,
        /// The command line.
        cmd: Value,
        /// Directories of the host to show at the same place inside.
        binds: Vec<String> = Value::List(Vec::new()),
        /// Options of cmd.run_all. User and group are looked up inside.
        kwargs: Keywords,
    }
}

impl Run for RunChroot {
    fn run(self, ctx: &Ctx) -> Reply {
        let root = PathBuf::from(&self.root);
        if !root.is_absolute() || ctx.host.list(&root).is_err() {
            return Err(Fault::invocation(format!(
                "the root '{}' is no directory, or its path is not absolute",
                self.root
            )));
        }
        let mut mounted = Vec::new();
        let reply = self.mount(ctx, &root, &mut mounted).and_then(|()| self.execute(ctx, &root));
        for place in mounted.iter().rev() {
            if let Err(fault) = quietly(ctx, &["umount", place]) {
                log::error!("{place} stays mounted: {fault}");
            }
        }
        reply
    }
}

impl RunChroot {
    /// Mounts what is not there yet; `mounted` holds what has to be undone, also after a failure.
    fn mount(&self, ctx: &Ctx, root: &Path, mounted: &mut Vec<String>) -> Result<(), Fault> {
        let table = ctx.host.read(Path::new("/proc/self/mounts")).unwrap_or_default();
        let table = String::from_utf8_lossy(&table).into_owned();
        let is_mounted = |place: &str| table.lines().any(|line| line.split(' ').nth(1) == Some(place));
        for (kind, name) in [("devtmpfs", "dev"), ("proc", "proc"), ("sysfs", "sys")] {
            let place = root.join(name).to_string_lossy().into_owned();
            if !is_mounted(&place) {
                quietly(ctx, &["mount", "-t", kind, kind, &place])?;
                mounted.push(place);
            }
        }
        for source in &self.binds {
            let place = root.join(source.trim_start_matches('/')).to_string_lossy().into_owned();
            if !is_mounted(&place) {
                quietly(ctx, &["mount", "--bind", source, &place])?;
                mounted.push(place);
            }
        }
        Ok(())
    }

    fn execute(&self, ctx: &Ctx, root: &Path) -> Reply {
        let mut keywords = self.kwargs.0.clone();
        let shell = match ctx.host.stat(&root.join("bin/bash")) {
            Ok(_) => "/bin/bash",
            Err(_) => "/bin/sh",
        };
        let line = match &self.cmd {
            Value::List(words) => words.iter().map(Value::to_text).collect::<Vec<String>>().join(" "),
            other => other.to_text(),
        };
        let user = [keywords.remove("runas"), keywords.remove("group")].map(|name| name.filter(|name| !name.is_null()));
        let mut argv = vec!["chroot".to_owned()];
        match user {
            [None, None] => {}
            [user, group] => {
                let name = |name: Option<Value>| name.map(|name| name.to_text()).unwrap_or_default();
                argv.push(format!("--userspec={}:{}", name(user), name(group)));
            }
        }
        argv.extend([root.to_string_lossy().into_owned(), shell.to_owned(), "-c".to_owned(), line]);
        keywords.insert("cmd", Value::list(argv));
        keywords.insert("python_shell", false);
        let options = Options::bind(Arguments::keywords(keywords))
            .map_err(|error| Fault::arguments::<Options>(&ctx.call.fun, error))?;
        let mut output = options.execute(ctx, options.errors_or(Errors::Apart))?;
        let retcode = options.retcode(&output);
        if options.hide_output {
            (output.stdout, output.stderr) = (String::new(), String::new());
        }
        Ok(Returned::from(output.shown()).with_retcode(retcode))
    }
}

fn quietly(ctx: &Ctx, argv: &[&str]) -> Result<(), Fault> {
    let command = Command { argv: argv.iter().map(|word| word.to_string()).collect(), ..Command::default() };
    let finished = ctx.host.run(&command).map_err(|error| Fault::execution(format!("{}: {error}", argv[0])))?;
    match finished.code {
        0 => Ok(()),
        _ => Err(Fault::execution(format!("{}: {}", argv.join(" "), String::from_utf8_lossy(&finished.stderr).trim()))),
    }
}
