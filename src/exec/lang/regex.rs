//! Regular expressions as users of Salt write them: Python's `re`.
//!
//! They run on fancy-regex, which knows look-around and back references; a translator bridges what is written
//! differently (`\Z`, `$`, `[[]`, `(?a)`, `{,3}`) and refuses what Python refuses, in Python's words. Backtracking is
//! bounded, so that a pattern of a user cannot stop a daemon.
//!
//! ```
//! use halite_lang::regex::Regex;
//! let regex = Regex::new(r"web(\d+)$").unwrap();
//! assert_eq!(regex.search("my-web12").unwrap().unwrap().group(1), Some("12"));
//! assert!(!regex.is_match("my-web12").unwrap());
//! assert_eq!(Regex::new("web(").unwrap_err().to_string(), "missing ), unterminated subpattern at position 3");
//! ```

mod replace;
mod translate;

use fancy_regex::RegexBuilder;
pub use replace::{Template, TemplateError, control_character, escaped};
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use translate::Translation;

/// Steps that one search may go back before it is given up.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// Bytes that one compiled pattern may take, about.
const SIZE_LIMIT: usize = 10 << 20;

/// The flags of Python's `re`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    pub ignore_case: bool,
    /// `^` and `$` at each line.
    pub multi_line: bool,
    /// `.` is a line end too.
    pub dot_all: bool,
    /// Blanks and comments in the pattern do not count.
    pub verbose: bool,
    /// `\w`, `\d`, `\s` and `\b` know ASCII alone.
    pub ascii: bool,
}

impl Flags {
    /// The flags whose numbers in Python add up to this: 2 is IGNORECASE, 8 MULTILINE, 16 DOTALL, 64 VERBOSE, 256 ASCII.
    pub fn of_number(number: i64) -> Flags {
        let on = |bit: i64| number & bit != 0;
        Flags { ignore_case: on(2), multi_line: on(8), dot_all: on(16), verbose: on(64), ascii: on(256) }
    }

    /// The flag that Python calls so: `IGNORECASE` or `I`, and so on; nothing for another name.
    pub fn with(mut self, name: &str) -> Option<Flags> {
        match name {
            "IGNORECASE" | "I" => self.ignore_case = true,
            "MULTILINE" | "M" => self.multi_line = true,
            "DOTALL" | "S" => self.dot_all = true,
            "VERBOSE" | "X" => self.verbose = true,
            "ASCII" | "A" => self.ascii = true,
            "UNICODE" | "U" | "LOCALE" | "L" => {}
            _ => return None,
        }
        Some(self)
    }
}

/// A compiled pattern.
#[derive(Debug)]
pub struct Regex {
    pattern: String,
    translation: Translation,
    search: fancy_regex::Regex,
    start: OnceLock<Option<fancy_regex::Regex>>,
    whole: OnceLock<Option<fancy_regex::Regex>>,
}

/// Where a pattern was found, and its groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<'t> {
    text: &'t str,
    spans: Vec<Option<Range<usize>>>,
}

/// Why a pattern is none, or could not be tried. The fault of whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexError {
    pub message: String,
    /// Characters before the fault, where there is one place.
    pub position: Option<usize>,
}

impl Regex {
    pub fn new(pattern: &str) -> Result<Regex, RegexError> {
        Regex::with_flags(pattern, Flags::default())
    }

    pub fn with_flags(pattern: &str, flags: Flags) -> Result<Regex, RegexError> {
        let translation = translate::translate(pattern, flags)?;
        let search = build(&translation.text)?;
        Ok(Regex { pattern: pattern.to_owned(), translation, search, start: OnceLock::new(), whole: OnceLock::new() })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.pattern
    }

    /// How many groups the pattern has, the whole not counted.
    pub fn group_count(&self) -> usize {
        self.translation.groups
    }

    /// The number of a named group.
    pub fn group_index(&self, name: &str) -> Option<usize> {
        self.translation.names.iter().find(|(known, _)| known == name).map(|(_, index)| *index)
    }

    /// Names and numbers of the named groups, in the pattern's order.
    pub fn group_names(&self) -> impl Iterator<Item = (&str, usize)> {
        self.translation.names.iter().map(|(name, index)| (name.as_str(), *index))
    }

    /// Python's `re.search`: the first place anywhere in the text.
    pub fn search<'t>(&self, text: &'t str) -> Result<Option<Found<'t>>, RegexError> {
        self.search_from(text, 0)
    }

    /// The first place at or behind an offset in bytes, which must stand between two characters.
    pub fn search_from<'t>(&self, text: &'t str, offset: usize) -> Result<Option<Found<'t>>, RegexError> {
        found(&self.search, text, offset)
    }

    /// Python's `re.match`: at the beginning of the text.
    pub fn match_start<'t>(&self, text: &'t str) -> Result<Option<Found<'t>>, RegexError> {
        found(self.anchored(&self.start, "")?, text, 0)
    }

    /// Python's `re.fullmatch`: the whole text.
    pub fn full_match<'t>(&self, text: &'t str) -> Result<Option<Found<'t>>, RegexError> {
        found(self.anchored(&self.whole, r"\z")?, text, 0)
    }

    /// Whether the text begins with the pattern: how `pcre` targets are judged.
    pub fn is_match(&self, text: &str) -> Result<bool, RegexError> {
        self.match_start(text).map(|found| found.is_some())
    }

    fn anchored<'a>(
        &self,
        place: &'a OnceLock<Option<fancy_regex::Regex>>,
        end: &str,
    ) -> Result<&'a fancy_regex::Regex, RegexError> {
        let compiled = place.get_or_init(|| build(&format!(r"\A(?:{}){end}", self.translation.text)).ok());
        compiled.as_ref().ok_or_else(|| RegexError::new("the pattern is too large", None))
    }
}

impl<'t> Found<'t> {
    /// The text of a group, 0 being the whole; nothing for one that took no part.
    pub fn group(&self, index: usize) -> Option<&'t str> {
        let span = self.spans.get(index)?.clone()?;
        self.text.get(span)
    }

    /// All groups but the whole, as Python's `groups()`.
    pub fn groups(&self) -> impl Iterator<Item = Option<&'t str>> {
        (1..self.spans.len()).map(|index| self.group(index))
    }

    /// Where the whole stands, in bytes.
    pub fn range(&self) -> Range<usize> {
        self.spans.first().cloned().flatten().unwrap_or(0..0)
    }
}

impl RegexError {
    fn new(message: impl Into<String>, position: Option<usize>) -> RegexError {
        RegexError { message: message.into(), position }
    }
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.position.map_or(Ok(()), |position| write!(f, " at position {position}"))
    }
}

impl std::error::Error for RegexError {}

fn build(translated: &str) -> Result<fancy_regex::Regex, RegexError> {
    RegexBuilder::new(translated)
        .backtrack_limit(BACKTRACK_LIMIT)
        .delegate_size_limit(SIZE_LIMIT)
        .build()
        .map_err(|error| RegexError::new(error.to_string(), None))
}

fn found<'t>(regex: &fancy_regex::Regex, text: &'t str, offset: usize) -> Result<Option<Found<'t>>, RegexError> {
    let captures = regex
        .captures_from_pos(text, offset)
        .map_err(|error| RegexError::new(format!("the pattern was given up on this text: {error}"), None))?;
    Ok(captures.map(|captures| {
        let spans = (0..captures.len()).map(|index| captures.get(index).map(|group| group.start()..group.end()));
        Found { text, spans: spans.collect() }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pattern, text, what Python's `re.search` finds and its groups.
    const SEARCHES: &[(&str, &str, Option<&[&str]>)] = &[
        (r"a$", "a\n", Some(&["a"])),
        (r"a\Z", "a\n", None),
        (r"a\Z", "a", Some(&["a"])),
        (r"(?m)^b$", "a\nb\nc", Some(&["b"])),
        (r"^b", "a\nb", None),
        (r"[[]x", "[x", Some(&["[x"])),
        (r"[a&&b]+", "&", Some(&["&"])),
        (r"[-|~~&&]+", "|-~&", Some(&["|-~&"])),
        (r"[]x]", "]", Some(&["]"])),
        (r"[^]x]+", "]ab", Some(&["ab"])),
        (r"(?P<n>a)(?P=n)", "aa", Some(&["aa", "a"])),
        (r"(a)\1", "aa", Some(&["aa", "a"])),
        (r"(a)(?:\1)0", "aa0", Some(&["aa0", "a"])),
        (r"(?i)WEB", "web", Some(&["web"])),
        (r"a(?i:B)c", "abc", Some(&["abc"])),
        (r"a(?i:B)C", "abc", None),
        (r"\w+", "é_1", Some(&["é_1"])),
        (r"(?a)\w+", "é_1", Some(&["_1"])),
        (r"(?a)\W", "é", Some(&["é"])),
        (r"(?a:\bx)", "éx", Some(&["x"])),
        (r"\bx", "éx", None),
        (r"x{,2}y", "xxxy", Some(&["xxy"])),
        (r"x{y", "x{y", Some(&["x{y"])),
        (r"x{1,y", "x{1,y", Some(&["x{1,y"])),
        (r"a{}", "a{}", Some(&["a{}"])),
        (r"(?x) a b # c", "ab", Some(&["ab"])),
        (r"(?x)[ ]", " ", Some(&[" "])),
        (r"\<b\>", "<b>", Some(&["<b>"])),
        (r"\101\x41\u0041", "AAA", Some(&["AAA"])),
        (r"[\b]", "\u{8}", Some(&["\u{8}"])),
        (r"\s", "\u{1c}", Some(&["\u{1c}"])),
        (r"[\s]", "\u{1f}", Some(&["\u{1f}"])),
        (r"[^\S]", "\u{1f}", Some(&["\u{1f}"])),
        (r"a(?#comment)b", "ab", Some(&["ab"])),
        (r"(?>a*)a", "aaa", None),
        (r"a*+a", "aaa", None),
        (r"(?<=x)y", "xy", Some(&["y"])),
        (r"(a)?(?(1)b|c)", "c", Some(&["c", ""])),
        (r"(?s).", "\n", Some(&["\n"])),
        (r".", "\n", None),
        (r"a|b|", "", Some(&[""])),
        (r"\.\-\/\ \#", ".-/ #", Some(&[".-/ #"])),
        (r"[\w.-]+", "a-b.c", Some(&["a-b.c"])),
        (r"[a\]b]+", "]", Some(&["]"])),
        (r"é{2}", "éé", Some(&["éé"])),
        (r"\\d", "\\d", Some(&["\\d"])),
        (r"(?=a)*(?:){2}b", "b", Some(&["b"])),
        (r"\B", "", None),
    ];

    #[test]
    fn patterns_find_what_they_find_in_python() {
        for (pattern, text, wanted) in SEARCHES {
            let regex = Regex::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            let found = regex.search(text).unwrap();
            let groups = found.map(|found| {
                (0..=regex.group_count()).map(|index| found.group(index).unwrap_or_default()).collect::<Vec<_>>()
            });
            assert_eq!(groups.as_deref(), *wanted, "{pattern:?} on {text:?}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_told_in_pythons_words() {
        for (pattern, message) in [
            ("(", "missing ), unterminated subpattern at position 0"),
            ("a(b", "missing ), unterminated subpattern at position 1"),
            ("a)", "unbalanced parenthesis at position 1"),
            ("[a", "unterminated character set at position 0"),
            ("*a", "nothing to repeat at position 0"),
            ("^*", "nothing to repeat at position 1"),
            ("a**", "multiple repeat at position 2"),
            ("a{2}{3}", "multiple repeat at position 4"),
            ("a{3,2}", "min repeat greater than max repeat at position 2"),
            ("\\", "bad escape (end of pattern) at position 0"),
            ("\\z", "bad escape \\z at position 0"),
            ("[\\q]", "bad escape \\q at position 1"),
            ("[b-a]", "bad character range b-a at position 1"),
            ("[\\w-a]", "bad character range \\w-a at position 1"),
            ("(?P<n>a)(?P<n>b)", "redefinition of group name 'n' as group 2; was group 1 at position 12"),
            ("(?P=x)", "unknown group name 'x' at position 4"),
            ("\\1", "invalid group reference 1 at position 1"),
            ("(?<n>a)", "unknown extension ?<n at position 1"),
            ("(?q)", "unknown extension ?q at position 1"),
            ("a(?i)b", "global flags not at the start of the expression at position 1"),
            ("\\x4", "incomplete escape \\x4 at position 0"),
            ("(?P<1>a)", "bad character in group name '1' at position 4"),
            ("(?#x", "missing ), unterminated comment at position 0"),
        ] {
            assert_eq!(Regex::new(pattern).map(|_| ()).unwrap_err().to_string(), message, "{pattern:?}");
        }
    }

    #[test]
    fn match_begins_and_full_match_ends_with_the_text() {
        let regex = Regex::new("a|ab").unwrap();
        assert!(regex.is_match("abc").unwrap());
        assert!(!regex.is_match("xa").unwrap());
        assert_eq!(regex.full_match("ab").unwrap().unwrap().group(0), Some("ab"));
        assert!(regex.full_match("abc").unwrap().is_none());
        assert!(Regex::new("(?i)A").unwrap().is_match("a").unwrap());
    }

    #[test]
    fn backtracking_ends() {
        let regex = Regex::new(r"^(a|aa)+\1?$").unwrap();
        let error = regex.search(&format!("{}b", "a".repeat(60))).unwrap_err();
        assert!(error.to_string().starts_with("the pattern was given up on this text"), "{error}");
        assert!(Regex::new(&"(".repeat(100_000)).is_err());
        assert!(Regex::new(&format!("{}a{}", "(?:".repeat(10_000), ")".repeat(10_000))).is_err());
    }

    #[test]
    fn flags_have_the_names_of_python() {
        let flags = Flags::default().with("IGNORECASE").and_then(|flags| flags.with("M")).unwrap();
        assert!(Regex::with_flags("^b", flags).unwrap().search("a\nB").unwrap().is_some());
        assert_eq!(Flags::default().with("NOSUCH"), None);
    }

    /// Pieces of patterns put together at random, from a fixed seed: refused or tried, but never a panic.
    #[test]
    fn no_pattern_panics() {
        const PIECES: [&str; 30] = [
            "a", ".", "*", "+?", "|", "(", ")", "(?:", "[", "[^", "]", "-", "^", "$", "\\w", "\\b", "\\1", "{2}", "{,",
            "(?i:", "(?P<n>", "(?P=n)", "(?<=", "(?!", "\\", "é", "(?x)", "#", "(?(1)", "\\x4",
        ];
        let mut seed = 11_u64;
        for _ in 0..2000 {
            let mut pattern = String::new();
            for _ in 0..6 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                pattern.push_str(PIECES[(seed >> 33) as usize % PIECES.len()]);
            }
            if let Ok(regex) = Regex::new(&pattern) {
                let _ = (regex.search("aé-b"), regex.full_match("a"));
            }
        }
    }
}
