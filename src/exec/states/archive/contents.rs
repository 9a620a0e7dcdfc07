//! What is in an archive, compared with what is in the directory.

use super::extract::Work;
use super::{Format, texts};
use halite_core::host::FileKind;
use halite_core::{Ctx, Fault, paths};
use halite_lang::regex::Regex;
use halite_value::Value;
use halite_value::record::Arguments;
use std::path::Path;

/// Names in an archive.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    dirs: Vec<String>,
    files: Vec<String>,
    links: Vec<String>,
    pub top_dirs: Vec<String>,
    pub top_files: Vec<String>,
    pub top_links: Vec<String>,
}

/// What the directory has of it.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    pub is_missing: bool,
    /// Names of what is there and is of another kind.
    pub of_other_kind: Vec<String>,
}

impl Work {
    /// The names in the archive. The error is for whoever wrote the SLS.
    pub fn contents(&self, ctx: &Ctx, path: &str) -> Result<Contents, Fault> {
        let arguments = Arguments::positional([path])
            .with("archive_format", self.format.name())
            .with("options", self.state.list_options.clone())
            .with("strip_components", self.strip_components().map(Value::from))
            .with("clean", false)
            .with("verbose", true);
        let listed = match ctx.run("archive.list", arguments) {
            Ok(listed) => listed.as_map().cloned().unwrap_or_default(),
            Err(fault) => return Err(Fault::comment(self.unlisted(&fault))),
        };
        Ok(Contents {
            dirs: texts(&listed, "dirs"),
            files: texts(&listed, "files"),
            links: texts(&listed, "links"),
            top_dirs: texts(&listed, "top_level_dirs"),
            top_files: texts(&listed, "top_level_files"),
            top_links: texts(&listed, "top_level_links"),
        })
    }

    fn unlisted(&self, fault: &Fault) -> String {
        let mut errors = Vec::new();
        if self.state.if_missing.is_none() {
            errors.push("'if_missing' must be set");
        }
        if self.state.enforce_ownership_on.is_none() && (self.state.user.truthy() || self.state.group.truthy()) {
            errors.push("Ownership cannot be managed without setting 'enforce_ownership_on'.");
        }
        if errors.is_empty() {
            return fault.to_string();
        }
        let advice = match self.format {
            Format::Tar => {
                "If the source archive is a tar archive compressed using a compression type not natively supported by the \
                 tar command, then setting the 'list_options' argument may allow the contents to be listed. Otherwise, if \
                 Salt is unable to determine the files/directories in the archive, the following workaround(s) would need \
                 to be used for this state to proceed"
            }
            _ => "The following workarounds must be used for this state to proceed",
        };
        let list: String = errors.iter().map(|error| format!("\n- {error}")).collect();
        format!("{fault}\n\n{advice} (assuming the source file is a valid {} archive):\n{list}", self.format.name())
    }

    /// How many directories tar takes from the front of names.
    fn strip_components(&self) -> Option<i64> {
        let options = self.options().filter(|_| self.format == Format::Tar)?;
        let regex = Regex::new(r#"--strip(?:-components)?(?:\s+|=)["']?(\d+)["']?"#).ok()?;
        regex.search(&options).ok()??.group(1)?.parse().ok()
    }

    pub fn options(&self) -> Option<String> {
        (!self.state.options.is_null()).then(|| self.state.options.to_text())
    }

    pub fn compare(&self, ctx: &Ctx, contents: &Contents) -> Compared {
        let mut compared = Compared::default();
        let all = [
            (&contents.dirs, Some(FileKind::Directory)),
            (&contents.files, None),
            (&contents.links, Some(FileKind::Link)),
        ];
        for (names, wanted) in all {
            // What is neither a directory nor a link is a file of some kind.
            let fits = |kind: FileKind| match wanted {
                Some(wanted) => kind == wanted,
                None => kind != FileKind::Directory && kind != FileKind::Link,
            };
            for name in names {
                let path = paths::join(&[self.name.clone(), name.clone()]);
                match ctx.host.stat(Path::new(path.trim_end_matches('/'))) {
                    Ok(stat) if fits(stat.kind) => {}
                    Ok(_) => compared.of_other_kind.push(name.clone()),
                    Err(_) => compared.is_missing = true,
                }
            }
        }
        compared
    }
}
