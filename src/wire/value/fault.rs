//! What a function answers: a value with its exit code, or a fault that says whose it is.

use crate::Value;
use crate::record::{ArgumentError, Info, Record};

pub type Reply = Result<Returned, Fault>;

/// The answer of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Returned {
    pub value: Value,
    /// The exit code of the job: 0 is success.
    pub retcode: i32,
    /// The outputter that shows this best.
    pub out: Option<&'static str>,
}

impl Returned {
    pub fn with_retcode(mut self, retcode: i32) -> Returned {
        self.retcode = retcode;
        self
    }

    pub fn with_out(mut self, out: &'static str) -> Returned {
        self.out = Some(out);
        self
    }
}

impl<T: Into<Value>> From<T> for Returned {
    fn from(value: T) -> Returned {
        Returned { value: value.into(), retcode: 0, out: None }
    }
}

/// Why a function did not do what it was asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// No such function here. `nearest` are names that the user may have meant.
    Unknown { fun: String, reason: String, nearest: Vec<String> },
    /// The arguments do not fit: the caller's fault.
    Arguments { fun: String, error: ArgumentError, info: &'static Info },
    /// An argument fits but makes no sense: the caller's fault (Salt's SaltInvocationError).
    Invocation(String),
    /// It was tried and did not work: the host's fault (Salt's CommandExecutionError).
    Execution(String),
    /// Salt answers this as a text, not as an error: what a function returns ([`answered`](Fault::answered)), or the comment
    /// of a state that has failed.
    Comment(String),
    /// An exception that a function raised on purpose: `test.exception`, a Python module.
    Raised { kind: String, message: String },
    /// The job was killed.
    Cancelled,
    /// A fault in Halite itself, such as a panic of a function.
    Internal(String),
}

impl Fault {
    /// The arguments do not fit a function or state that is declared by this record.
    pub fn arguments<R: Record>(fun: impl Into<String>, error: ArgumentError) -> Fault {
        Fault::Arguments { fun: fun.into(), error, info: R::INFO }
    }

    pub fn execution(message: impl Into<String>) -> Fault {
        Fault::Execution(message.into())
    }

    pub fn invocation(message: impl Into<String>) -> Fault {
        Fault::Invocation(message.into())
    }

    pub fn comment(text: impl Into<String>) -> Fault {
        Fault::Comment(text.into())
    }

    /// What a function that ended with this answers: its text where Salt has it so, else the fault.
    pub fn answered(self) -> Reply {
        match self {
            Fault::Comment(text) => Ok(text.into()),
            fault => Err(fault),
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Unknown { reason, .. } => f.write_str(reason),
            Fault::Arguments { error, .. } => write!(f, "{error}"),
            Fault::Invocation(message)
            | Fault::Execution(message)
            | Fault::Comment(message)
            | Fault::Internal(message) => f.write_str(message),
            Fault::Raised { kind, message } => write!(f, "{kind}: {message}"),
            Fault::Cancelled => f.write_str("the job was killed"),
        }
    }
}

impl std::error::Error for Fault {}

/// The exit code of whatever failed without a better one.
const FAILED: i32 = 1;
/// `salt-call` ends with this when there is no such function (Salt's -1, as a shell sees it).
const NO_FUNCTION: i32 = 255;

/// What a program that ran a function itself tells its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub stdout: String,
    pub stderr: String,
    pub exit_code: i32,
}

impl Fault {
    /// The return of a job that failed with this: the value in it and the exit code. `fun` is what was called.
    pub fn shown(&self, fun: &str) -> (Value, i32) {
        let text = match self {
            // Programs compare this text: what was meant is for the program that shows it to say.
            Fault::Unknown { reason, .. } => reason.clone(),
            Fault::Arguments { error: error @ ArgumentError::Unknown(_), fun, .. } => {
                format!("ERROR executing '{fun}': {error}")
            }
            Fault::Arguments { error, fun, info } => {
                format!("Passed invalid arguments to {fun}: {}\n{}", in_python_words(fun, info, error), info.text())
            }
            Fault::Invocation(message) => format!("ERROR executing '{fun}': {message}"),
            Fault::Execution(message) => format!("ERROR: {message}"),
            Fault::Comment(text) => text.clone(),
            Fault::Raised { kind, message } => {
                // Where Salt shows a trace of its own code, there is nothing that a user could do with.
                format!(
                    "The minion function caused an exception: Traceback (most recent call last):\n{kind}: {message}"
                )
            }
            Fault::Cancelled => format!("ERROR: '{fun}' was killed"),
            Fault::Internal(message) => format!("ERROR: a fault in Halite itself, please report it: {message}"),
        };
        (text.into(), FAILED)
    }

    /// What `salt-call` and its like print when the function failed with this.
    pub fn told(&self, fun: &str) -> Told {
        let told = |stderr: String, exit_code| Told { stdout: String::new(), stderr, exit_code };
        match self {
            Fault::Unknown { .. } => told(format!("{}\n", self.with_nearest()), NO_FUNCTION),
            Fault::Arguments { error: error @ ArgumentError::Unknown(_), .. } => {
                told(format!("Error running '{fun}': {error}\n"), FAILED)
            }
            Fault::Arguments { error, fun, info } => Told {
                stdout: format!("{}\n", info.text()),
                stderr: format!("\nPassed invalid arguments: {}.\n\nUsage:\n", in_python_words(fun, info, error)),
                exit_code: FAILED,
            },
            _ => told(format!("Error running '{fun}': {self}\n"), FAILED),
        }
    }

    fn with_nearest(&self) -> String {
        match self {
            Fault::Unknown { reason, nearest, .. } if !nearest.is_empty() => {
                format!("{reason} Did you mean {}?", nearest.join(" or "))
            }
            _ => self.to_string(),
        }
    }
}

/// The words of Python's TypeError, which users of Salt know and programs look for.
fn in_python_words(fun: &str, info: &Info, error: &ArgumentError) -> String {
    let name = fun.rsplit('.').next().unwrap_or(fun);
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    match error {
        ArgumentError::Missing { names, .. } => {
            let count = names.len();
            let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
            let names = match names.as_slice() {
                [one, two] => format!("{one} and {two}"),
                [first @ .., last] if first.len() > 1 => format!("{}, and {last}", first.join(", ")),
                _ => names.concat(),
            };
            format!("{name}() missing {count} required positional argument{}: {names}", plural(count))
        }
        ArgumentError::TooMany { takes, given } => {
            let were = if *given == 1 { "was" } else { "were" };
            let least = info.fields.iter().filter(|field| field.is_required()).count();
            let takes = match least == *takes {
                true => format!("{takes} positional argument{}", plural(*takes)),
                false => format!("from {least} to {takes} positional arguments"),
            };
            format!("{name}() takes {takes} but {given} {were} given")
        }
        ArgumentError::Twice(argument) => format!("{name}() got multiple values for argument '{argument}'"),
        other => format!("{name}(): {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_arguments_are_listed_as_python_lists_them() {
        let missing = |names: &[&'static str]| {
            in_python_words(
                "m.f",
                &Info { doc: &[], fields: &[] },
                &ArgumentError::Missing { names: names.to_vec(), required: 3, given: 0 },
            )
        };
        assert_eq!(missing(&["a"]), "f() missing 1 required positional argument: 'a'");
        assert_eq!(missing(&["a", "b"]), "f() missing 2 required positional arguments: 'a' and 'b'");
        assert_eq!(missing(&["a", "b", "c"]), "f() missing 3 required positional arguments: 'a', 'b', and 'c'");
    }
}
