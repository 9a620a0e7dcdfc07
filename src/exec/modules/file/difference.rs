//! How two files differ: `file.get_diff`, and what the functions and states that manage a file show.

use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::diff::unified;
use halite_node::fileserver::client::{FileClient, Wanted, saltenv};
use halite_value::Value;
use halite_value::record;
use std::io::{self, Read};
use std::path::Path;

record! {
    /// Shows how two files differ; they may be on the file server. With one of the `ignore_` arguments: whether a difference
    /// is left that counts, and all of it.
    ///
    ///   salt '*' file.get_diff /home/fred/.vimrc salt://users/fred/.vimrc
    ///   salt '*' file.get_diff /tmp/foo.txt /tmp/bar.txt show_filenames=False
    pub struct GetDiff {
        /// A file.
        file1: String,
        /// The other.
        file2: String,
        /// The environment of the file server.
        saltenv: Option<String> = "base",
        /// Show the names of both.
        show_filenames: bool = true,
        /// Show how they differ, and not only that they do.
        show_changes: bool = true,
        /// They come of a template: not shown where `obfuscate_templates` is on.
        template: bool = false,
        /// For an http address: a hash with which a copy in the cache is good enough.
        source_hash_file1: Option<String> = (),
        /// The same for the other.
        source_hash_file2: Option<String> = (),
        /// Lines in another order do not count.
        ignore_ordering: bool = false,
        /// Blanks at the ends of lines do not count, nor does their order.
        ignore_whitespace: bool = false,
        /// What stands behind this text, or one of these, does not count, nor does the order of lines.
        ignore_comment_characters: Value = (),
    }
}

impl Run for GetDiff {
    fn run(self, ctx: &Ctx) -> Reply {
        let environment = saltenv(ctx, self.saltenv.as_deref());
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (file, source_hash) in [(&self.file1, self.source_hash_file1), (&self.file2, self.source_hash_file2)] {
            let wanted = Wanted { source_hash, ..Wanted::default() };
            match FileClient::new(ctx).cache_file(file, &environment, &wanted)? {
                Some(path) => found.push(path),
                None => missing.push(format!("File {file} not found")),
            }
        }
        let [one, other] = found.as_slice() else {
            return Err(Fault::execution(format!("Failed to cache one or more files: {}", missing.join("; "))));
        };
        let ignored = Ignored::new(self.ignore_ordering, self.ignore_whitespace, &self.ignore_comment_characters);
        let shown = Shown { changes: self.show_changes, of_template: self.template };
        let mut difference = between_files(ctx, one, other, shown, ignored.as_ref())?;
        if self.show_filenames
            && let Some(rest) = difference.text.strip_prefix("--- \n+++ \n")
        {
            difference.text = format!("--- {one}\n+++ {other}\n{rest}");
        }
        Ok(match ignored {
            Some(_) => Value::List(vec![difference.counts.into(), difference.text.into()]).into(),
            None => difference.text.into(),
        })
    }
}

/// What is told of a difference.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// How the files differ; else only that they do.
    pub changes: bool,
    /// The content comes of a template, whose secrets `obfuscate_templates` keeps.
    pub of_template: bool,
}

impl Shown {
    /// How files differ that come of no template.
    pub const ALL: Shown = Shown { changes: true, of_template: false };

    pub fn when(changes: bool) -> Shown {
        Shown { changes, ..Shown::ALL }
    }
}

impl Default for Shown {
    fn default() -> Shown {
        Shown::ALL
    }
}

/// Differences that do not count: a change of nothing else fires no `watch` and no `onchanges`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    whitespace: bool,
    comments: Vec<String>,
}

impl Ignored {
    /// Nothing: all differences count.
    pub fn new(ordering: bool, whitespace: bool, comments: &Value) -> Option<Ignored> {
        let comments = match comments {
            Value::Null => Vec::new(),
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            Value::Str(text) => Some(text.to_string()).into_iter().filter(|text| !text.is_empty()).collect(),
            _ => {
                log::warn!("ignore_comment_characters must be set to a string or list");
                Vec::new()
            }
        };
        (ordering || whitespace || !comments.is_empty()).then_some(Ignored { whitespace, comments })
    }

    /// Whether a unified diff has more in it than lines that moved, blanks and comments.
    fn leaves_something(&self, diff: &str) -> bool {
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for line in diff.split_inclusive('\n').filter(|line| !line.starts_with("+++") && !line.starts_with("---")) {
            let (side, mut line) = match (line.strip_prefix('+'), line.strip_prefix('-')) {
                (Some(line), _) => (&mut added, line),
                (_, Some(line)) => (&mut removed, line),
                _ => continue,
            };
            for comment in &self.comments {
                line = line.split_once(comment.as_str()).map_or(line, |(before, _)| before);
            }
            let line = if self.whitespace { line.trim() } else { line };
            if !line.is_empty() {
                side.push(line);
            }
        }
        added.sort_unstable();
        removed.sort_unstable();
        added != removed
    }
}

/// How two contents differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// For people; empty where they are the same.
    pub text: String,
    /// Whether there is more than what is ignored.
    pub counts: bool,
}

impl Difference {
    fn of(text: &str) -> Difference {
        Difference { text: text.to_owned(), counts: true }
    }
}

/// What there is to tell of a change from one file to another. Files that are not text may be long: they are not read whole.
pub fn between_files(
    ctx: &Ctx,
    old: &str,
    new: &str,
    shown: Shown,
    ignored: Option<&Ignored>,
) -> Result<Difference, Fault> {
    let failed =
        |path: &str, error: io::Error| Fault::execution(format!("Failed to read {path}: {}", super::reason(&error)));
    let open = |path: &str| ctx.host.open(Path::new(path)).map_err(|error| failed(path, error));
    let start = |path: &str| -> Result<Vec<u8>, Fault> {
        let mut block = Vec::new();
        open(path)?.take(BLOCK as u64).read_to_end(&mut block).map_err(|error| failed(path, error))?;
        Ok(block)
    };
    let (first, second) = (start(old)?, start(new)?);
    if is_text(&first) && is_text(&second) {
        let whole = |path: &str| ctx.host.read(Path::new(path)).map_err(|error| failed(path, error));
        return Ok(between(ctx, &whole(old)?, &whole(new)?, shown, ignored));
    }
    if first == second && are_same(open(old)?, open(new)?).map_err(|error| failed(old, error))? {
        return Ok(Difference::default());
    }
    Ok(hidden(ctx, shown).unwrap_or_else(|| Difference::of(replaced(&first, &second))))
}

/// What there is to tell of a change from one content to another.
pub fn between(ctx: &Ctx, old: &[u8], new: &[u8], shown: Shown, ignored: Option<&Ignored>) -> Difference {
    if old == new {
        return Difference::default();
    }
    if let Some(hidden) = hidden(ctx, shown) {
        return hidden;
    }
    if !is_text(old) || !is_text(new) {
        return Difference::of(replaced(old, new));
    }
    let text = unified(&String::from_utf8_lossy(old), &String::from_utf8_lossy(new));
    let counts = ignored.is_none_or(|ignored| ignored.leaves_something(&text));
    Difference { text, counts }
}

/// What stands in the place of a difference that is not shown.
fn hidden(ctx: &Ctx, shown: Shown) -> Option<Difference> {
    if shown.of_template && obfuscates(ctx) {
        return Some(Difference::of("<Obfuscated Template>"));
    }
    (!shown.changes).then(|| Difference::of("<show_changes=False>"))
}

fn replaced(old: &[u8], new: &[u8]) -> &'static str {
    match (is_text(old), is_text(new)) {
        (false, true) => "Replace binary file with text file",
        (true, false) => "Replace text file with binary file",
        _ => "Replace binary file",
    }
}

fn are_same(mut one: Box<dyn Read>, mut other: Box<dyn Read>) -> io::Result<bool> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    loop {
        first.clear();
        second.clear();
        one.as_mut().take(PART).read_to_end(&mut first)?;
        other.as_mut().take(PART).read_to_end(&mut second)?;
        if first != second || first.is_empty() {
            return Ok(first == second);
        }
    }
}

/// Whether the differences of templates are kept from the return.
pub fn obfuscates(ctx: &Ctx) -> bool {
    ctx.opt("obfuscate_templates").is_some_and(Value::truthy)
}

/// So much of a file says whether it is text.
const BLOCK: usize = 512;
/// So much of long files is compared at a time.
const PART: u64 = 1 << 16;

/// Text, as Salt tells it from the beginning: no zero byte, and few others that no text has.
fn is_text(bytes: &[u8]) -> bool {
    let block = &bytes[..bytes.len().min(BLOCK)];
    // A letter that the block's end cuts in two is still one.
    let is_utf8 = std::str::from_utf8(block).map_or_else(|error| error.error_len().is_none(), |_| true);
    let is_odd = |byte: &u8| match byte {
        b'\n' | b'\r' | b'\t' | 0x0c | 0x08 | 0x20..=0x7e => false,
        0x80..=0xfe => !is_utf8,
        _ => true,
    };
    !block.contains(&0) && block.iter().filter(|byte| is_odd(byte)).count() * 10 <= block.len() * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_does_not_count() {
        let diff = unified("a = 1\nb = 2 # two\nc\n", "c\na = 1\nb = 2\n");
        let left = |whitespace: bool, comments: &str| {
            Ignored::new(true, whitespace, &comments.into()).unwrap().leaves_something(&diff)
        };
        assert!(left(false, "") && left(true, ""));
        // The blank before the comment is left.
        assert!(left(false, "#"));
        assert!(!left(true, "#"));
        assert_eq!(Ignored::new(false, false, &Value::Null), None);
        assert_eq!(Ignored::new(false, false, &"".into()), None);
    }

    #[test]
    fn text_is_told_from_its_beginning() {
        assert!(is_text(b"") && is_text("größe\n".as_bytes()) && is_text(b"a\x01b\x02cccccc"));
        assert!(!is_text(b"a\0b") && !is_text(&[1, 2, 3]) && !is_text(&[0xe4, 0xe4, 0xe4, b'a']));
        let cut = "ä".repeat(300);
        assert!(is_text(cut.as_bytes()));
        let many = [b"x".repeat(600), vec![0]].concat();
        assert!(is_text(&many));
    }
}
