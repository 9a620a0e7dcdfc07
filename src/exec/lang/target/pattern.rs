//! One text pattern: a shell pattern, a regular expression or the text itself.

use super::fnmatch;
use crate::regex::Regex;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Exact(String),
    Glob(Arc<fnmatch::Pattern>),
    /// Matched at the beginning, as Python's `re.match` does.
    Pcre(Arc<Regex>),
}

impl Pattern {
    /// A shell pattern; one without wildcards is compared as it is.
    pub fn glob(text: &str) -> Pattern {
        let pattern = fnmatch::Pattern::new(text);
        match pattern.literal() {
            Some(exact) => Pattern::Exact(exact),
            None => Pattern::Glob(Arc::new(pattern)),
        }
    }

    pub fn pcre(text: &str) -> Result<Pattern, String> {
        match Regex::new(text) {
            Ok(regex) => Ok(Pattern::Pcre(Arc::new(regex))),
            Err(error) => Err(format!("'{text}' is not a regular expression: {error}")),
        }
    }

    /// A pattern that takes too long on a text (it backtracks without end) does not match it.
    pub fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Exact(exact) => exact == text,
            Pattern::Glob(pattern) => pattern.matches(text),
            Pattern::Pcre(regex) => regex.is_match(text).unwrap_or(false),
        }
    }
}
