//! The choices of jinja2's environment that `jinja_env`, `jinja_sls_env` and a file's `#jinja2:` line can make.

use halite_value::{Map, Value, parse_json};

/// Whose filters, tests and tags there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Salt's on top of jinja2's.
    #[default]
    Salt,
    /// jinja2's alone.
    Plain,
}

/// What an undefined variable does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UndefinedPolicy {
    /// Any use is an error.
    #[default]
    Strict,
    /// It prints as nothing (the option `allow_undefined`).
    Lenient,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub block_start: String,
    pub block_end: String,
    pub variable_start: String,
    pub variable_end: String,
    pub comment_start: String,
    pub comment_end: String,
    pub line_statement_prefix: Option<String>,
    pub line_comment_prefix: Option<String>,
    pub trim_blocks: bool,
    pub lstrip_blocks: bool,
    pub newline_sequence: String,
    pub keep_trailing_newline: bool,
    pub autoescape: bool,
    pub dialect: Dialect,
    pub undefined: UndefinedPolicy,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            block_start: "{%".to_owned(),
            block_end: "%}".to_owned(),
            variable_start: "{{".to_owned(),
            variable_end: "}}".to_owned(),
            comment_start: "{#".to_owned(),
            comment_end: "#}".to_owned(),
            line_statement_prefix: None,
            line_comment_prefix: None,
            trim_blocks: false,
            lstrip_blocks: false,
            newline_sequence: "\n".to_owned(),
            keep_trailing_newline: false,
            autoescape: false,
            dialect: Dialect::Salt,
            undefined: UndefinedPolicy::Strict,
        }
    }
}

impl Options {
    /// Sets what a map names, as `jinja_env` does; the names that jinja2 does not know are returned.
    pub fn apply(&mut self, settings: &Map) -> Vec<String> {
        let mut unknown = Vec::new();
        for (key, value) in settings {
            let name = key.to_text().to_lowercase();
            if !self.set(&name, value) {
                unknown.push(name);
            }
        }
        unknown
    }

    fn set(&mut self, name: &str, value: &Value) -> bool {
        let place = match name {
            "block_start_string" => &mut self.block_start,
            "block_end_string" => &mut self.block_end,
            "variable_start_string" => &mut self.variable_start,
            "variable_end_string" => &mut self.variable_end,
            "comment_start_string" => &mut self.comment_start,
            "comment_end_string" => &mut self.comment_end,
            "newline_sequence" => &mut self.newline_sequence,
            "line_statement_prefix" | "line_comment_prefix" => {
                let prefix = value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
                match name {
                    "line_statement_prefix" => self.line_statement_prefix = prefix,
                    _ => self.line_comment_prefix = prefix,
                }
                return true;
            }
            "trim_blocks" | "lstrip_blocks" | "keep_trailing_newline" | "autoescape" => {
                *match name {
                    "trim_blocks" => &mut self.trim_blocks,
                    "lstrip_blocks" => &mut self.lstrip_blocks,
                    "keep_trailing_newline" => &mut self.keep_trailing_newline,
                    _ => &mut self.autoescape,
                } = value.truthy();
                return true;
            }
            _ => return false,
        };
        if let Some(text) = value.as_str().filter(|text| !text.is_empty()) {
            *place = text.to_owned();
        }
        true
    }

    /// Obeys a `#jinja2: {...}` line, the first or the one behind `#!jinja|yaml`, and returns the text without it. A
    /// line that holds no JSON map is left in the text.
    pub fn take_header(&mut self, text: &str) -> Option<String> {
        let first = text.split_inclusive('\n').next()?;
        let skipped = if first.starts_with("#!") && !first.starts_with("#!/") { first.len() } else { 0 };
        let line = text[skipped..].split_inclusive('\n').next()?;
        let payload = line.strip_prefix("#jinja2:")?;
        let settings = parse_json(payload.trim()).ok()?;
        for name in self.apply(settings.as_map()?) {
            log::warn!("Jinja2 environment {name} is not recognized");
        }
        Some(format!("{}{}", &text[..skipped], &text[skipped + line.len()..]))
    }
}
