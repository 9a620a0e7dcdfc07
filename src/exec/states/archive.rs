//! `archive.*`: archives that are unpacked.

mod contents;
mod extract;

use super::file::cached::Cached;
use super::file::owner::owned;
use super::file::source::Source;
use extract::Work;
use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, commented, failed, state};
use halite_core::{Ctx, Fault, paths};
use halite_file::arguments::SignersOfBoth;
use halite_file::owner::Owner;
use halite_node::fileserver::address::{Url, redacted, scheme};
use halite_node::signature::Given;
use halite_value::record;
use halite_value::record::{Arguments, Keywords, Record};
use halite_value::{Map, Value};

pub const MODULE: Module = Module { name: "archive", doc: "Archives that are unpacked.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Extracted>("extracted")];

record! {
    /// Makes sure that what is in an archive is in a directory.
    ///
    ///   /opt/app:
    ///     archive.extracted:
    ///       - source: https://example.com/app.tar.gz
    ///       - source_hash: https://example.com/app.tar.gz.sha256
    ///       - user: app
    pub struct Extracted {
        /// The directory.
        name: String,
        /// The archive's address; of a list the first that is there.
        source: Value,
        /// Its hash, where it comes from elsewhere.
        source_hash: Value = (),
        /// The name that it has in a list of digests.
        source_hash_name: Option<String> = (),
        /// Unpack again when the hash is another one than that of the last time.
        source_hash_update: bool = false,
        /// Do not look whether all is there while the hash is the one of the last time.
        skip_files_list_verify: bool = false,
        /// Take it without a hash.
        skip_verify: bool = false,
        /// The password of a zip archive.
        password: Option<String> = (),
        /// Options of tar or unzip.
        options: Value = (),
        /// Options of tar for the list of what is in it.
        list_options: Option<String> = (),
        /// Remove what is in the way: a directory in place of a file, and the other way round.
        force: bool = false,
        /// Unpack each time.
        overwrite: bool = false,
        /// Remove first what stands in place of the archive's top level.
        clean: bool = false,
        /// Remove the directory first.
        clean_parent: bool = false,
        /// The owner of what was unpacked.
        user: Value = (),
        /// The group.
        group: Value = (),
        /// A path that says, if it is there, that nothing is to be done.
        if_missing: Option<String> = (),
        /// How many names are shown at most; True: a hundred.
        trim_output: Value = false,
        /// Whether unzip(1) unpacks; nothing: where there are options.
        use_cmd_unzip: Option<bool> = (),
        /// Whether files of a zip archive get its modes.
        extract_perms: bool = true,
        /// Whether an archive must have one directory on its top level.
        enforce_toplevel: bool = true,
        /// The path whose owner is set, in place of the archive's top level.
        enforce_ownership_on: Option<String> = (),
        /// tar, zip or rar; by the name of the archive, if not given.
        archive_format: Option<String> = (),
        /// Whether a web server is asked with the ETag of the copy that is there.
        use_etag: bool = false,
        /// The signature of the archive: True where it stands within, else its address, or a list of addresses.
        signature: Value = (),
        /// The signature of the list of digests: True where it stands within, else its address.
        source_hash_sig: Value = (),
        ..signers: SignersOfBoth,
        /// The module that checks signatures.
        sig_backend: Value = "gpg",
        /// `keep_source`: whether the copy in the cache stays.
        kwargs: Keywords,
    }
}

/// The kinds of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Tar,
    Zip,
    Rar,
}

impl Format {
    const NAMES: [(&'static str, Format); 3] = [("tar", Format::Tar), ("rar", Format::Rar), ("zip", Format::Zip)];

    pub fn name(self) -> &'static str {
        match self {
            Format::Tar => "tar",
            Format::Zip => "zip",
            Format::Rar => "rar",
        }
    }

    /// By the end of a name.
    fn guessed(path: &str) -> Option<Format> {
        let lower = path.to_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| lower.ends_with(ending));
        match () {
            () if ends(&[".zip"]) => Some(Format::Zip),
            () if ends(&[".rar"]) => Some(Format::Rar),
            () if ends(&[
                ".tar",
                ".tar.gz",
                ".tgz",
                ".tar.bz2",
                ".tbz2",
                ".tbz",
                ".tar.xz",
                ".txz",
                ".tar.lzma",
                ".tlz",
                ".tar.lz",
                ".tar.z",
                ".tar.zst",
                ".tzst",
            ]) =>
            {
                Some(Format::Tar)
            }
            () => None,
        }
    }
}

impl State for Extracted {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        if let Some(plan) = self.settled(context.ctx) {
            return Ok(plan);
        }
        let unknown = Owner::new(context.ctx, &self.user, &self.group, None).unknown().into_iter().next();
        Ok(owned(unknown, commented(self.examined(context))?))
    }
}

impl Extracted {
    fn examined(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = format!("{}/", self.name.trim_end_matches('/'));
        let source = Source { address: self.source.clone(), hash: self.source_hash.clone(), ..Source::default() };
        let address = match source.choice(context) {
            Ok(Some((address, _))) => address,
            Ok(None) => return Ok(failed(format!("Invalid source \"{}\"", self.source.to_text()))),
            Err(fault) => return Ok(failed(fault.to_string())),
        };
        let is_own = matches!(scheme(&address).as_str(), "" | "file");
        let path = match is_own {
            true => {
                let url = Url::parse(&address);
                let own = if url.scheme.is_empty() { address.clone() } else { url.path };
                paths::real(ctx.host, &paths::expand_user(ctx.host, &own))
            }
            false => address.clone(),
        };
        if is_own && !paths::is_file(ctx.host, &path) {
            return Ok(failed(format!("Source file '{path}' does not exist")));
        }
        let format = match self.format(&path) {
            Ok(format) => format,
            Err(wrong) => return Ok(failed(wrong)),
        };
        if let Some(wrong) = self.wrong(format) {
            return Ok(failed(wrong));
        }
        let saltenv = context.saltenv.to_owned();
        let mut work = Work { state: self, name, address: path.clone(), format, saltenv, source_sum: None };
        if work.state.source_hash.truthy() {
            work.source_sum = match work.sum(ctx) {
                Ok(sum) => Some(sum),
                Err(fault) => return Ok(failed(fault.to_string())),
            };
        }
        if is_own {
            return work.plan_at(ctx, &path);
        }
        let shown = redacted(&work.address);
        let would = Outcome::new(
            None,
            format!("Archive {shown} would be cached (if necessary) and checked to discover if extraction is needed"),
        );
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| work.fetch(ctx)) })
    }

    /// What can be said before anything of the archive is known.
    fn settled(&self, ctx: &Ctx) -> Option<Plan> {
        let is_absolute = |path: &Option<String>| path.as_ref().is_none_or(|path| path.starts_with('/'));
        let name = &self.name;
        if self.skip_files_list_verify && self.skip_verify {
            return Some(failed("Only one of \"skip_files_list_verify\" and \"skip_verify\" can be set to True"));
        }
        if !name.starts_with('/') {
            return Some(failed(format!("{name} is not an absolute path")));
        }
        if paths::is_file(ctx.host, name.trim_end_matches('/')) {
            return Some(failed(format!("{} exists and is not a directory", name.trim_end_matches('/'))));
        }
        if !is_absolute(&self.if_missing) {
            return Some(failed("Value for 'if_missing' is not an absolute path"));
        }
        if !is_absolute(&self.enforce_ownership_on) {
            return Some(failed("Value for 'enforce_ownership_on' is not an absolute path"));
        }
        let directory = format!("{}/", paths::normal(name).trim_end_matches('/'));
        let is_inside = |path: &String| format!("{}/", paths::normal(path)).starts_with(&directory);
        if self.enforce_ownership_on.as_ref().is_some_and(|path| !is_inside(path)) {
            return Some(failed(format!("Value for 'enforce_ownership_on' must be within {directory}")));
        }
        if let Some(path) = self.if_missing.as_ref().filter(|path| paths::exists(ctx.host, path)) {
            return Some(already(format!("Path {path} exists")));
        }
        let given = [&self.signature, &self.source_hash_sig].map(|signature| self.signed(signature).read(ctx));
        if given.iter().any(Result::is_err) {
            return Some(failed("Cannot verify signatures because the gpg module was not loaded"));
        }
        None
    }

    fn signed(&self, signature: &Value) -> Given {
        self.signers.given(signature, &self.sig_backend)
    }

    fn format(&self, path: &str) -> Result<Format, String> {
        let names = "tar, rar, zip";
        match self.archive_format.as_deref().filter(|format| !format.is_empty()) {
            None => Format::guessed(path).ok_or_else(|| {
                format!(
                    "Could not guess archive_format from the value of the 'source' argument. Please set this archive_format \
                     to one of the following: {names}"
                )
            }),
            Some(given) => {
                let known = Format::NAMES.iter().find(|(name, _)| given.eq_ignore_ascii_case(name));
                known.map(|(_, format)| *format).ok_or_else(|| {
                    format!(
                        "Invalid archive_format '{}'. Either set it to a supported value ({names}) or remove this argument \
                         and the archive format will be guessed based on file extension.",
                        given.to_lowercase()
                    )
                })
            }
        }
    }

    /// What does not go together.
    fn wrong(&self, format: Format) -> Option<String> {
        let has_options = self.options.truthy();
        if format == Format::Zip && has_options && self.use_cmd_unzip == Some(false) {
            return Some(
                "'use_cmd_unzip' cannot be set to False if CLI options are being specified (via the 'options' argument). \
                 Either remove 'use_cmd_unzip', or set it to True."
                    .to_owned(),
            );
        }
        if format != Format::Zip && self.password.as_ref().is_some_and(|password| !password.is_empty()) {
            return Some("The 'password' argument is only supported for zip archives".to_owned());
        }
        if format == Format::Rar && has_options {
            return Some(
                "The 'options' argument is only compatible with the following archive formats: tar, zip".to_owned(),
            );
        }
        if self.clean && self.clean_parent {
            return Some("Only one of 'clean' and 'clean_parent' can be set to True".to_owned());
        }
        None
    }

    fn keeps_source(&self) -> bool {
        let kept = self.kwargs.0.at("keep_source").or_else(|| self.kwargs.0.at("keep"));
        kept.is_none_or(Value::truthy)
    }

    /// The state that brings the archive into the cache.
    fn cached(&self, address: &str, saltenv: &str) -> Result<Cached, Fault> {
        let arguments = Arguments::default().with("name", address).with("saltenv", saltenv);
        let hash = if self.source_hash.is_null() { Value::from("") } else { self.source_hash.clone() };
        let arguments = arguments.with("source_hash", hash).with("source_hash_name", self.source_hash_name.clone());
        let arguments = arguments.with("skip_verify", self.skip_verify).with("use_etag", self.use_etag);
        Cached::bind(arguments).map_err(|error| Fault::arguments::<Cached>("file.cached", error))
    }
}

/// A map's list of texts.
fn texts(map: &Map, key: &str) -> Vec<String> {
    map.at(key).and_then(Value::as_list).unwrap_or_default().iter().map(Value::to_text).collect()
}
