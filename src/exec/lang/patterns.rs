//! Which names a user wants: globs, and regular expressions behind `E@`.

use super::regex::Regex;
use super::target::fnmatch::fnmatch;
use halite_value::Value;
use halite_value::fault::Fault;

/// Whether a name is wanted: by one of the patterns to include, where there are some, and by none of those to exclude.
pub fn passes(name: &str, include: &Value, exclude: &Value) -> Result<bool, Fault> {
    let any = |patterns: &Value| -> Result<bool, Fault> {
        let patterns = match patterns {
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            other => vec![other.to_text()],
        };
        for pattern in patterns {
            let matches = match pattern.strip_prefix("E@") {
                None => fnmatch(name, &pattern),
                Some(text) => {
                    let expression = Regex::new(text)
                        .map_err(|error| Fault::invocation(format!("the pattern '{pattern}': {error}")))?;
                    expression.search(name).map_err(|error| Fault::invocation(error.to_string()))?.is_some()
                }
            };
            if matches {
                return Ok(true);
            }
        }
        Ok(false)
    };
    Ok((!include.truthy() || any(include)?) && !(exclude.truthy() && any(exclude)?))
}
