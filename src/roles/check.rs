//! `halite check FILE ...`: what is wrong with SLS files and templates, as far as it can be told without rendering them.
//!
//! A fault is a line on standard output, `FILE:LINE:COLUMN: MESSAGE`, as compilers write it, so that editors and continuous
//! integration find the place.

use super::cli::{Exit, exit};
use halite_lang::jinja;
use halite_lang::jinja::Markup;
use halite_lang::{pipe, toml, yaml, yamlex};
use halite_value::parse_json;
use std::io::Write;

/// A fault and where it is; 0 where there is no place.
struct Found {
    line: usize,
    column: usize,
    message: String,
}

/// Checks files; the exit code says whether all of them are good.
pub fn run(files: &[String]) -> u8 {
    if files.is_empty() {
        exit::complain("halite: error: check takes the names of files");
        return Exit::Usage.code();
    }
    let mut exit = Exit::Ok;
    for file in files {
        let found = match std::fs::read(file).map(String::from_utf8) {
            Ok(Ok(text)) => check(file, &text),
            Ok(Err(_)) => Err(Found::somewhere("this is not text in UTF-8")),
            Err(error) => Err(Found::somewhere(error)),
        };
        if let Err(found) = found {
            exit = Exit::Failed;
            // Who closes the pipe has seen enough; the exit code still tells the truth.
            let _ = writeln!(std::io::stdout(), "{}", found.told(file));
        }
    }
    exit.code()
}

/// Goes through the pipe of a file, up to the first step whose input cannot be known: behind a template, unless there is
/// nothing in it to render, or behind a renderer that reads no text of this kind.
fn check(name: &str, text: &str) -> Result<(), Found> {
    let default = if name.ends_with(".sls") { "jinja|yaml" } else { "jinja" };
    for step in pipe::wanted(text).unwrap_or(default).split('|') {
        let known = match step.split_whitespace().next().unwrap_or_default() {
            "jinja" => {
                let checked = jinja::check(name, text).map_err(|error| Found {
                    line: error.line as usize,
                    column: error.column as usize,
                    message: error.message,
                })?;
                checked == Markup::None
            }
            "yaml" => yaml::load(text).map(drop).map_err(Found::of_yaml).map(|()| false)?,
            "yamlex" => yamlex::load(text).map(drop).map_err(Found::of_yaml).map(|()| false)?,
            "json" => parse_json(body(text)).map(drop).map_err(Found::somewhere).map(|()| false)?,
            "toml" => toml::load(text).map(drop).map_err(Found::somewhere).map(|()| false)?,
            _ => false,
        };
        if !known {
            break;
        }
    }
    Ok(())
}

/// What stands below the line that names the pipe.
fn body(text: &str) -> &str {
    if text.starts_with("#!") { text.split_once('\n').map_or("", |(_, rest)| rest) } else { text }
}

impl Found {
    fn somewhere(message: impl ToString) -> Found {
        Found { line: 0, column: 0, message: message.to_string() }
    }

    fn of_yaml(error: yaml::YamlError) -> Found {
        Found { line: error.line, column: error.column, message: error.message }
    }

    fn told(&self, file: &str) -> String {
        match self.line {
            0 => format!("{file}: {}", self.message),
            line => format!("{file}:{line}:{}: {}", self.column, self.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, text: &str) -> Option<String> {
        check(name, text).err().map(|found| found.told(name))
    }

    #[test]
    fn each_step_that_can_be_known_is_checked() {
        assert_eq!(told("a.sls", "a:\n  test.nop: []\n"), None);
        assert_eq!(told("a.sls", "{% if x %}\na: b: c\n{% endif %}\n"), None, "what YAML sees is not known");
        assert_eq!(told("a.jinja", "a: b: c\n"), None, "no YAML");
        let yaml = told("a.sls", "x: 1\na: b: c\n");
        assert_eq!(yaml.as_deref(), Some("a.sls:2:5: mapping values are not allowed in this context"));
        let filter = told("a.jinja", "x\n{{ y | nofilter }}\n");
        assert_eq!(filter.as_deref(), Some("a.jinja:2:8: No filter named 'nofilter'."));
        assert_eq!(told("a.sls", "#!yaml\na: {{ x }}\n").map(|told| told.starts_with("a.sls:2:")), Some(true));
        assert_eq!(told("a.sls", "#!toml\na = 1\n"), None);
        assert_eq!(told("a.sls", "#!toml\na = \n").map(|told| told.contains("line 2")), Some(true));
        assert_eq!(told("a.sls", "#!json\n{\"a\": 1}\n"), None);
        assert_eq!(told("a.sls", "#!py\nnot {% ours\n"), None);
    }

    #[test]
    fn the_exit_code_tells() {
        assert_eq!(run(&[]), Exit::Usage.code());
        assert_eq!(run(&["/nonexistent/file.sls".to_owned()]), Exit::Failed.code());
    }
}
