//! Tags of events: which ones a listener wants, and how an event is shown to one.

use super::regex::Regex;
use super::target::fnmatch::Pattern;
use halite_value::{JsonStyle, Map, Value};

/// Which tags are wanted.
pub struct Tags {
    glob: Pattern,
    /// Nothing where it is no regular expression: most globs are none.
    regex: Option<Regex>,
}

impl Tags {
    pub fn new(text: &str) -> Tags {
        Tags { glob: Pattern::new(text), regex: Regex::new(text).ok() }
    }

    pub fn match_tag(&self, tag: &str) -> bool {
        let whole = |regex: &Regex| matches!(regex.full_match(tag), Ok(Some(_)));
        self.glob.matches(tag) || self.regex.as_ref().is_some_and(whole)
    }
}

/// An event as `state.event` shows it: the tag, a tab, the data as JSON, a line end. Pretty is in several lines, keys sorted.
pub fn shown(tag: &str, data: &Map, pretty: bool) -> String {
    let style = JsonStyle { indent: pretty.then_some(4), sort_keys: pretty, ..JsonStyle::default() };
    format!("{tag}\t{}\n", Value::Map(data.clone()).to_json_with(style))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_match_as_globs_and_as_regular_expressions() {
        assert!(Tags::new("salt/job/*").match_tag("salt/job/1/ret/web1"));
        assert!(Tags::new("salt/(job|run)/.*").match_tag("salt/run/1/new"));
        assert!(!Tags::new("job").match_tag("salt/job/1"));
        assert!(!Tags::new("salt/jo").match_tag("salt/job"));
        assert!(Tags::new("a[b").match_tag("a[b"));
    }

    #[test]
    fn an_event_is_its_tag_and_json() {
        let data = Map::from_iter([("b", Value::from(1)), ("a", "é".into())]);
        assert_eq!(shown("my/tag", &data, false), "my/tag\t{\"b\": 1, \"a\": \"é\"}\n");
        assert_eq!(shown("my/tag", &data, true), "my/tag\t{\n    \"a\": \"é\",\n    \"b\": 1\n}\n");
    }
}
