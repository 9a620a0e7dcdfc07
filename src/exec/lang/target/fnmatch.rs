//! Shell patterns as Python's `fnmatch` reads them: minion ids, file names, event tags.
//!
//! `*` is any text, `?` any character (both may be `/`, a dot or a line end), `[abc]`, `[a-z]` and `[!abc]` a character
//! of a set. A `[` that nothing closes is itself, and there is no way to escape but a set: `[*]`.

/// A pattern, taken apart once and then asked about many names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Char(char),
    AnyChar,
    AnyText,
    Set { negated: bool, ranges: Vec<(char, char)> },
}

impl Pattern {
    /// Every text is a pattern.
    pub fn new(text: &str) -> Pattern {
        let chars: Vec<char> = text.chars().collect();
        let mut steps = Vec::with_capacity(chars.len());
        let mut at = 0;
        while let Some(&c) = chars.get(at) {
            at += 1;
            match c {
                '*' if steps.last() == Some(&Step::AnyText) => {}
                '*' => steps.push(Step::AnyText),
                '?' => steps.push(Step::AnyChar),
                '[' => match set_end(&chars, at) {
                    Some(end) => {
                        steps.push(set(&chars[at..end]));
                        at = end + 1;
                    }
                    None => steps.push(Step::Char('[')),
                },
                c => steps.push(Step::Char(c)),
            }
        }
        Pattern { steps }
    }

    /// Whether the whole name fits. Takes at most the product of both lengths, whatever the pattern.
    pub fn matches(&self, name: &str) -> bool {
        let mut rest = name;
        let mut step = 0;
        // Where to go on when the text after the latest `*` does not fit: one character further.
        let mut retry: Option<(usize, &str)> = None;
        loop {
            if self.steps.get(step) == Some(&Step::AnyText) {
                step += 1;
                retry = Some((step, rest));
                continue;
            }
            let mut after = rest.chars();
            let fits = match (self.steps.get(step), after.next()) {
                (None, None) => return true,
                (Some(step), Some(c)) => step.fits(c),
                _ => false,
            };
            if fits {
                rest = after.as_str();
                step += 1;
                continue;
            }
            let Some((star, from)) = retry else { return false };
            let mut later = from.chars();
            if later.next().is_none() {
                return false;
            }
            (step, rest) = (star, later.as_str());
            retry = Some((star, rest));
        }
    }

    /// The one name that fits, where the pattern has no wildcard: a look-up then replaces a search.
    pub fn literal(&self) -> Option<String> {
        self.steps.iter().map(|step| if let Step::Char(c) = step { Some(*c) } else { None }).collect()
    }
}

/// Whether a name fits a pattern that is used once; see [`Pattern`] for many names.
pub fn fnmatch(name: &str, pattern: &str) -> bool {
    Pattern::new(pattern).matches(name)
}

impl Step {
    fn fits(&self, c: char) -> bool {
        match self {
            Step::Char(own) => *own == c,
            Step::AnyChar | Step::AnyText => true,
            Step::Set { negated, ranges } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated,
        }
    }
}

/// Where the `]` stands that closes a set; one at its very beginning is a member.
fn set_end(chars: &[char], start: usize) -> Option<usize> {
    let mut from = start;
    if chars.get(from) == Some(&'!') {
        from += 1;
    }
    if chars.get(from) == Some(&']') {
        from += 1;
    }
    (from..chars.len()).find(|at| chars[*at] == ']')
}

/// A range that runs backwards has no member, as in Python.
fn set(inner: &[char]) -> Step {
    let (negated, inner) = match inner {
        ['!', rest @ ..] => (true, rest),
        all => (false, all),
    };
    let mut ranges = Vec::new();
    let mut rest = inner;
    while let [first, more @ ..] = rest {
        match more {
            ['-', last, more @ ..] => {
                ranges.push((*first, *last));
                rest = more;
            }
            _ => {
                ranges.push((*first, *first));
                rest = more;
            }
        }
    }
    Step::Set { negated, ranges }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pattern, the names that fit, the names that do not; Python's answers.
    const CASES: &[(&str, &[&str], &[&str])] = &[
        ("*", &["", "web1", "a/b", "x\ny"], &[]),
        ("web*", &["web", "web1", "web.db/1"], &["xweb", "Web1", ""]),
        ("*b*c", &["abc", "bc", "bbbcc", "abcbc"], &["abcd", "cb"]),
        ("web?", &["web1", "webé", "web\n"], &["web", "web12"]),
        ("web[12]", &["web1", "web2"], &["web3", "web", "web12"]),
        ("web[!12]", &["web3", "web!"], &["web1", "web"]),
        ("[a-c-e]", &["a", "b", "-", "e"], &["d"]),
        ("[]x]", &["]", "x"], &["[", ""]),
        ("[!]x]", &["a"], &["]", "x"]),
        ("[", &["["], &["a"]),
        ("[ab", &["[ab"], &["a"]),
        ("[!]", &["[!]"], &["a", "!"]),
        ("[c-a]", &[], &["a", "b", "c", "-", ""]),
        ("[!c-a]", &["a", "b"], &["", "ab"]),
        ("[a-]", &["a", "-"], &["b"]),
        ("[--/]", &["-", ".", "/"], &["0"]),
        ("[\\w]", &["\\", "w"], &["a"]),
        ("a.b", &["a.b"], &["axb"]),
        ("a\\*", &["a\\", "a\\b"], &["a*"]),
        ("{a,b}", &["{a,b}"], &["a"]),
        ("**a**", &["a", "xax"], &["x"]),
        ("[^a]", &["^", "a"], &["b"]),
        ("", &[""], &["a"]),
        ("[*]x[?]", &["*x?"], &["ax?", "*xa"]),
    ];

    #[test]
    fn patterns_mean_what_they_mean_in_python() {
        for (pattern, fitting, others) in CASES {
            let compiled = Pattern::new(pattern);
            for name in *fitting {
                assert!(compiled.matches(name), "{pattern:?} should match {name:?}");
            }
            for name in *others {
                assert!(!compiled.matches(name), "{pattern:?} should not match {name:?}");
            }
        }
    }

    #[test]
    fn a_pattern_without_wildcards_is_a_name() {
        assert_eq!(Pattern::new("web1").literal().as_deref(), Some("web1"));
        assert_eq!(Pattern::new("web*").literal(), None);
        assert_eq!(Pattern::new("[").literal().as_deref(), Some("["));
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        assert!(!fnmatch(&"a".repeat(5000), &"*a".repeat(200).replace("*a", "*a*a*b")));
    }
}
