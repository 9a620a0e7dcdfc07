//! How two contents differ, as it is shown.

use super::content::Part;
use super::reason;
use halite_core::{Ctx, Fault};
use halite_lang::diff::unified;
use halite_value::Value;
use std::io;

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

/// What there is to tell of a change from one content to another. Neither is read whole unless both are texts that are
/// short enough.
pub fn between(ctx: &Ctx, old: Part, new: Part, shown: Shown, ignored: Option<&Ignored>) -> Result<Difference, Fault> {
    let start = |part: Part| part.start(ctx.host, SHORT).map_err(|error| unread(part, &error));
    let (first, second) = (start(old)?, start(new)?);
    if first.len() < SHORT && second.len() < SHORT {
        return Ok(between_bytes(ctx, &first, &second, shown, ignored));
    }
    if first == second && old.is_same(new, ctx.host).map_err(|error| unread(old, &error))? {
        return Ok(Difference::default());
    }
    if let Some(hidden) = hidden(ctx, shown) {
        return Ok(hidden);
    }
    if !is_text(&first) || !is_text(&second) {
        return Ok(Difference::of(replaced(&first, &second)));
    }
    let whole = |part: Part| part.whole(ctx.host, SHOWN).map_err(|error| unread(part, &error));
    Ok(match (whole(old)?, whole(new)?) {
        (Some(old), Some(new)) => between_texts(&old, &new, ignored),
        _ => Difference::of(TOO_LONG),
    })
}

fn unread(part: Part, error: &io::Error) -> Fault {
    let path = match part {
        Part::At(path) => path,
        Part::Bytes(_) => "what was given",
    };
    Fault::execution(format!("Failed to read {path}: {}", reason(error)))
}

/// The same of contents that are here.
pub fn between_bytes(ctx: &Ctx, old: &[u8], new: &[u8], shown: Shown, ignored: Option<&Ignored>) -> Difference {
    if old == new {
        return Difference::default();
    }
    if let Some(hidden) = hidden(ctx, shown) {
        return hidden;
    }
    if !is_text(old) || !is_text(new) {
        return Difference::of(replaced(old, new));
    }
    between_texts(old, new, ignored)
}

fn between_texts(old: &[u8], new: &[u8], ignored: Option<&Ignored>) -> Difference {
    let text = unified(&String::from_utf8_lossy(old), &String::from_utf8_lossy(new));
    // Bytes that are no letters may be all that differs.
    if text.is_empty() {
        return Difference::of(replaced(old, new));
    }
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

/// Whether the differences of templates are kept from the return.
pub fn obfuscates(ctx: &Ctx) -> bool {
    ctx.opt("obfuscate_templates").is_some_and(Value::truthy)
}

/// So much of a file says whether it is text.
const BLOCK: usize = 512;
/// What is shorter is read at once.
const SHORT: usize = 16 * 1024;
/// The longest text whose difference is shown, line by line.
const SHOWN: u64 = 4 << 20;
/// What is told of longer ones.
const TOO_LONG: &str = "Replace text file, too long to show how it differs";

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
    use crate::tests::on;
    use halite_core::host::fake::Fake;

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

    #[test]
    fn a_text_that_is_too_long_is_told_to_be_replaced_and_not_shown() {
        let line = "line\n";
        let (short, long) = (line.repeat(1000), line.repeat(SHOWN as usize / line.len() + 1));
        let host = Fake::new().file("/old", &long).file("/new", &format!("{long}more\n"));
        let ignored = Ignored::new(true, false, &Value::Null);
        let told = |old, new, shown| on(&host, |ctx| between(ctx, old, new, shown, ignored.as_ref()).unwrap());
        let replaced = told(Part::At("/old"), Part::At("/new"), Shown::ALL);
        assert_eq!((replaced.text.as_str(), replaced.counts), (TOO_LONG, true));
        assert_eq!(told(Part::At("/old"), Part::Bytes(short.as_bytes()), Shown::ALL).text, TOO_LONG);
        assert_eq!(told(Part::At("/old"), Part::At("/new"), Shown::when(false)).text, "<show_changes=False>");
        assert_eq!(told(Part::At("/old"), Part::Bytes(long.as_bytes()), Shown::ALL), Difference::default());
        assert_eq!(told(Part::At("/old"), Part::Bytes(b"a\0b"), Shown::ALL).text, "Replace text file with binary file");
    }

    #[test]
    fn bytes_that_are_no_letters_are_a_difference() {
        let (old, new) = ([b'a'; 600].as_slice(), [[b'a'; 600].as_slice(), b"\xff"].concat());
        let old = [old, b"\xfe"].concat();
        let told = on(&Fake::new(), |ctx| between_bytes(ctx, &old, &new, Shown::ALL, None));
        assert_eq!(told.text, "Replace binary file");
    }
}
