//! `file.patch`.

use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::words;
use halite_value::record;

record! {
    /// Applies a patch with patch(1) to a file or a directory. Returns what `cmd.run_all` does.
    ///
    ///   salt '*' file.patch /opt/file.txt /tmp/file.txt.patch
    pub struct Patch {
        /// The file or the directory.
        originalfile: String,
        /// The patch.
        patchfile: String,
        /// Options for patch.
        options: String = "",
        /// Say what would be done.
        dry_run: bool = false,
    }
}

impl Run for Patch {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(patch) = ctx.host.which("patch") else {
            return Err(Fault::execution("patch executable not found. Is the distribution's patch package installed?"));
        };
        let mut argv = vec![patch.to_string_lossy().into_owned()];
        argv.extend(words::split(&self.options).map_err(Fault::invocation)?);
        if self.dry_run {
            argv.push("--dry-run".to_owned());
        }
        let has =
            |argv: &[String], names: [&str; 2]| argv.iter().any(|word| word == names[0] || word.starts_with(names[1]));
        if !has(&argv, ["-N", "--forward"]) {
            argv.push("--forward".to_owned());
        }
        if !has(&argv, ["-r", "--reject-file"]) {
            argv.push("--reject-file=-".to_owned());
        }
        argv.extend(["-i".to_owned(), self.patchfile]);
        if paths::is_directory(ctx.host, &self.originalfile) {
            argv.extend(["-d".to_owned(), self.originalfile]);
            if !argv.iter().any(|word| word.starts_with("-p") || word.starts_with("--strip=")) {
                argv.push("--strip=0".to_owned());
            }
        } else {
            argv.push(self.originalfile);
        }
        let program = Program::new(argv);
        let answer = if self.dry_run { program.query(ctx)? } else { program.run(ctx)? };
        Ok(answer.shown().into())
    }
}
