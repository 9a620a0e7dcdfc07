//! What a function answers: a value with its exit code, or a fault that says whose it is.

use crate::wire::record::ArgumentError;
use crate::wire::value::Value;

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
    Arguments { fun: String, error: ArgumentError },
    /// An argument fits but makes no sense: the caller's fault (Salt's SaltInvocationError).
    Invocation(String),
    /// It was tried and did not work: the host's fault (Salt's CommandExecutionError).
    Execution(String),
    /// The job was killed.
    Cancelled,
    /// A fault in Halite itself, such as a panic of a function.
    Internal(String),
}

impl Fault {
    pub fn execution(message: impl Into<String>) -> Fault {
        Fault::Execution(message.into())
    }

    pub fn invocation(message: impl Into<String>) -> Fault {
        Fault::Invocation(message.into())
    }
}

impl Fault {
    /// What the user is shown in the place of an answer, and the exit code of the job.
    pub fn shown(&self) -> (Value, i32) {
        (Value::from(format!("ERROR: {self}")), 1)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Unknown { reason, .. } => f.write_str(reason),
            Fault::Arguments { error, .. } => write!(f, "{error}"),
            Fault::Invocation(message) | Fault::Execution(message) | Fault::Internal(message) => f.write_str(message),
            Fault::Cancelled => f.write_str("the job was killed"),
        }
    }
}

impl std::error::Error for Fault {}
