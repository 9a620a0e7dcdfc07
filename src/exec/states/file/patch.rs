//! `file.patch`.

use super::source::Source;
use super::{is_directory, own_name};
use halite_core::host::own;
use halite_core::program::{Answer, Program};
use halite_core::state::{Outcome, Plan, PlanContext, State, commented, failed};
use halite_core::{Ctx, Fault, paths};
use halite_file::source::{Mismatch, Verify};
use halite_file::template::Template;
use halite_lang::random;
use halite_lang::words;
use halite_node::outputters::{Colors, Style, nested};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::path::{Path, PathBuf};

record! {
    /// Makes sure that a patch is applied to a file or a directory, by patch(1).
    ///
    ///   /opt/myfile.txt:
    ///     file.patch:
    ///       - source: salt://myfile.patch
    pub struct Patch {
        /// The path of the file or the directory.
        name: String,
        /// The address of the patch; of a list the first that is there.
        source: Value = (),
        /// Its hash, where it comes from elsewhere.
        source_hash: Value = (),
        /// The name that it has in a list of digests.
        source_hash_name: Option<String> = (),
        /// Take it without a hash.
        skip_verify: bool = false,
        /// A template engine for the patch.
        template: Option<String> = (),
        /// Variables of the template.
        context: Map = Value::Map(Map::new()),
        /// Variables of the template that are not in `context`.
        defaults: Map = Value::Map(Map::new()),
        /// More options of patch(1).
        options: String = "",
        /// Where what could not be applied is written.
        reject_file: Option<String> = (),
        /// How many directories are taken from the front of names, where a directory is patched.
        strip: Option<i64> = (),
        /// The environment of the source.
        saltenv: Option<String> = (),
        kwargs: Keywords,
    }
}

impl State for Patch {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let warned: Vec<String> = ["hash", "dry_run_first"]
            .iter()
            .filter(|name| self.kwargs.0.contains(name))
            .map(|name| format!("The '{name}' argument is no longer used and has been ignored."))
            .collect();
        let mark = move |outcome: Outcome| match warned.is_empty() {
            true => outcome,
            false => outcome.with("warnings", Value::list(warned.iter().map(String::as_str))),
        };
        Ok(match commented(self.examined(context))? {
            Plan::Stands(outcome) => Plan::Stands(mark(outcome)),
            Plan::Changes { would, apply } => {
                let would = mark(would);
                Plan::Changes { would, apply: Box::new(move |ctx| apply(ctx).map(mark)) }
            }
        })
    }
}

impl Patch {
    fn examined(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let Some(program) = ctx.host.which("patch") else {
            return Ok(failed("patch executable not found on minion"));
        };
        let name = own_name(ctx, &self.name);
        let wrong = match name.as_str() {
            "" => Some("A file/directory to be patched is required".to_owned()),
            name if !name.starts_with('/') => Some(format!("{name} is not an absolute path")),
            name if !paths::exists(ctx.host, name) => Some(format!("{name} does not exist")),
            _ => self.wrong_reject_file(ctx),
        };
        if let Some(wrong) = wrong {
            return Ok(failed(wrong));
        }
        let (options, strip) = match sanitized(&self.options, self.strip) {
            Ok(found) => found,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let verify = if self.skip_verify { Verify::Skip } else { Verify::Hash };
        let source = Source {
            address: self.source.clone(),
            hash: self.source_hash.clone(),
            hash_name: self.source_hash_name.clone(),
            verify,
            ..Source::default()
        };
        let saltenv = self.saltenv.clone().unwrap_or_else(|| context.saltenv.to_owned());
        let inner = PlanContext { saltenv: &saltenv, ..*context };
        let template = Template::new(&self.template, &self.defaults, &self.context);
        let found = match source.load(&inner, "") {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(failed("file.patch: give the patch as 'source'")),
            Err(Fault::Comment(complaint)) => return Ok(failed(format!("Unable to manage file: {complaint}"))),
            Err(fault) => return Ok(failed(fault.to_string())),
        };
        if let Some(Mismatch { kind, wanted, own }) = found.mismatch {
            let address = found.address;
            return Ok(failed(format!(
                "Specified {kind} checksum for {address} ({wanted}) does not match actual checksum ({own})"
            )));
        }
        let bytes = match template.text(ctx, &found.address, inner.saltenv, found.body) {
            Ok(bytes) => bytes,
            Err(Fault::Comment(complaint)) => return Ok(failed(format!("Unable to manage file: {complaint}"))),
            Err(fault) => return Err(fault),
        };
        let mut argv = vec![program.to_string_lossy().into_owned()];
        argv.extend(options);
        if let Some(strip) = strip.filter(|_| is_directory(ctx, Path::new(&name))) {
            argv.push(format!("-p{strip}"));
        }
        let work = Work { argv, name, patch: bytes, rejects: self.reject_file };
        work.plan(ctx)
    }

    fn wrong_reject_file(&self, ctx: &Ctx) -> Option<String> {
        let path = self.reject_file.as_deref()?;
        if !path.starts_with('/') {
            return Some(format!("'{path}' is not an absolute path"));
        }
        let has_directory = paths::is_directory(ctx.host, &paths::directory_of(path));
        (!has_directory)
            .then(|| format!("Parent directory for reject_file '{path}' either does not exist, or is not a directory"))
    }
}

/// The options without those that the state sets itself, and how many directories are taken away.
fn sanitized(options: &str, strip: Option<i64>) -> Result<(Vec<String>, Option<i64>), String> {
    const REFUSED: [&str; 6] = ["-N", "--forward", "-r", "--reject-file", "-o", "--output"];
    let words = words::split(options)?;
    let (mut kept, mut strip, mut refused) = (Vec::new(), strip, Vec::new());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if REFUSED.iter().any(|option| word.starts_with(option)) {
            refused.push(word.clone());
        }
        let wrong = |option: &str| {
            format!("Invalid format for '{option}' CLI option. Consider using the 'strip' option for this state.")
        };
        if let Some(number) = word.strip_prefix("-p") {
            strip = Some(number.parse().map_err(|_| wrong("-p"))?);
        } else if word.starts_with("--strip") {
            let number = word.rsplit_once('=').map(|(_, number)| number.to_owned()).or_else(|| words.next());
            strip = Some(number.and_then(|number| number.parse().ok()).ok_or_else(|| wrong("-strip"))?);
        } else {
            kept.push(word);
        }
    }
    match refused.is_empty() {
        true => Ok((kept, strip)),
        false => Err(format!("The following CLI options are not allowed: {}", refused.join(", "))),
    }
}

/// A patch that is to be applied.
struct Work {
    /// The program with its options.
    argv: Vec<String>,
    name: String,
    patch: Vec<u8>,
    rejects: Option<String>,
}

impl Work {
    /// Tries the patch into files of its own, which are gone when it is known how that went.
    fn plan(self, ctx: &Ctx) -> Result<Plan, Fault> {
        let directory = own::temporary_directory();
        let own = |kind: &str| directory.join(format!("halite-{kind}-{:016x}", random::bits()));
        let (output, rejects) = (own("out"), self.rejects.clone().map_or_else(|| own("rej"), PathBuf::from));
        let more = ["-N", "-r", &rejects.to_string_lossy(), "-o", &output.to_string_lossy()].map(str::to_owned);
        let check = self.run(ctx, &more, None).query(ctx);
        let rejected = match &self.rejects {
            Some(_) => ctx.host.read(&rejects),
            None => own::read(&rejects),
        };
        let rejected = rejected.unwrap_or_default();
        let _ = own::remove(&output);
        if self.rejects.is_none() {
            let _ = own::remove(&rejects);
        }
        let check = check?;
        if check.is_success() {
            let would = Outcome::new(None, "The patch would be applied").with_changes(check.shown());
            return Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.apply(ctx)) });
        }
        if rejected.is_empty() || check.retcode == 2 && !check.stderr.is_empty() {
            return Ok(failed(check.stderr));
        }
        let back = ["-R", "-f", "--dry-run"].map(str::to_owned);
        if self.run(ctx, &back, Some(rejected)).query(ctx)?.is_success() {
            return Ok(halite_core::state::already("Patch was already applied"));
        }
        let mut comment = "Patch would not apply cleanly, no changes made. Results of dry-run are below.".to_owned();
        if self.rejects.is_none() {
            comment.push_str(" Run state again using the reject_file option to save rejects to a persistent file.");
        }
        comment.push_str("\n\n");
        let style = Style { colors: Colors::Off, indent: None, retcode: 0, opts: ctx.opts };
        comment.push_str(&nested::indented(&check.shown().into(), &style, 14));
        Ok(failed(comment))
    }

    fn apply(self, ctx: &Ctx) -> Result<Outcome, Fault> {
        let more = ["--forward", "--reject-file=-"].map(str::to_owned);
        let answer: Answer = self.run(ctx, &more, None).run(ctx)?;
        let succeeded = answer.is_success();
        let outcome = match succeeded {
            true => Outcome::done("Patch successfully applied"),
            false => Outcome::failed("Failed to apply patch"),
        };
        Ok(outcome.with_changes(answer.shown()))
    }

    /// The program, which reads the patch from its standard input.
    fn run(&self, ctx: &Ctx, more: &[String], patch: Option<Vec<u8>>) -> Program {
        let program = Program::new(self.argv.iter().cloned()).args(more.iter().cloned());
        let patch = patch.unwrap_or_else(|| self.patch.clone());
        let program = program.stdin(patch);
        match is_directory(ctx, Path::new(&self.name)) {
            true => program.args(["-d".to_owned(), self.name.clone()]),
            false => program.arg(&self.name),
        }
    }
}
