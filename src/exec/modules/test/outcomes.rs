//! Functions that end in a certain way: a truth, an exit code, a failure.

use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, Returned};
use halite_value::Value;
use halite_value::record;
use halite_value::record::{Arguments, Keywords, Rest};

record! {
    /// Answers True.
    ///
    ///   salt '*' test.true
    pub struct True {}
}

impl Run for True {
    fn run(self, _: &Ctx) -> Reply {
        Ok(true.into())
    }
}

record! {
    /// Answers False.
    ///
    ///   salt '*' test.false
    pub struct False {}
}

impl Run for False {
    fn run(self, _: &Ctx) -> Reply {
        Ok(false.into())
    }
}

record! {
    /// Answers True with an exit code of one's choice.
    ///
    ///   salt '*' test.retcode 42
    pub struct Retcode {
        /// The exit code.
        code: i64 = 42,
    }
}

impl Run for Retcode {
    fn run(self, _: &Ctx) -> Reply {
        let code = i32::try_from(self.code).map_err(|_| Fault::invocation("an exit code has 32 bits at most"))?;
        Ok(Returned::from(true).with_retcode(code))
    }
}

record! {
    /// Fails with an exception.
    ///
    ///   salt '*' test.exception 'Oh noes!'
    pub struct Exception {
        /// What the exception says.
        message: String = "Test Exception",
    }
}

impl Run for Exception {
    fn run(self, _: &Ctx) -> Reply {
        Err(Fault::Raised { kind: "Exception".to_owned(), message: self.message })
    }
}

record! {
    /// Fails with an exception of one's choice: one of Python's or of Salt's. Answers False for a name that is none.
    ///
    ///   salt '*' test.raise_exception TypeError 'An integer is required'
    ///   salt '*' test.raise_exception salt.exceptions.CommandExecutionError 'Something went wrong'
    pub struct RaiseException {
        /// The exception's name.
        name: String,
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for RaiseException {
    fn run(self, _: &Ctx) -> Reply {
        let message = match self.args.0.as_slice() {
            [] => String::new(),
            [one] => one.to_text(),
            many => format!("({})", many.iter().map(Value::repr).collect::<Vec<String>>().join(", ")),
        };
        match self.name.as_str() {
            "salt.exceptions.CommandExecutionError" => Err(Fault::Execution(message)),
            "salt.exceptions.SaltInvocationError" => Err(Fault::Invocation(message)),
            name if is_exception(name) => Err(Fault::Raised { kind: name.to_owned(), message }),
            _ => Ok(false.into()),
        }
    }
}

/// Python names its exceptions alike, Salt too.
fn is_exception(name: &str) -> bool {
    let (is_salt, bare) = match name.strip_prefix("salt.exceptions.") {
        Some(bare) => (true, bare),
        None => (false, name),
    };
    let begins_upper = bare.starts_with(|c: char| c.is_ascii_uppercase());
    let is_word = bare.chars().all(|c| c.is_ascii_alphanumeric());
    let known = ["Exception", "StopIteration", "StopAsyncIteration"];
    begins_upper && is_word && (bare.ends_with("Error") || (!is_salt && known.contains(&bare)))
}

record! {
    /// Fails unless what it is given is true.
    ///
    ///   salt '*' test.assertion True
    pub struct Assertion {
        /// What must be true.
        assertion: Value,
    }
}

impl Run for Assertion {
    fn run(self, _: &Ctx) -> Reply {
        match self.assertion.truthy() {
            true => Ok(().into()),
            false => Err(Fault::Raised { kind: "AssertionError".to_owned(), message: String::new() }),
        }
    }
}

record! {
    /// Calls a function and answers None when it fails.
    ///
    ///   salt '*' test.try module=test.fib num=5
    pub struct Try {
        /// The function.
        module: String,
        /// Answer with the fault's text instead.
        return_try_exception: bool = false,
        /// The function's keyword arguments.
        kwargs: Keywords,
    }
}

impl Run for Try {
    fn run(mut self, ctx: &Ctx) -> Reply {
        self.kwargs.0.retain(|name, _| !name.as_str().is_some_and(|name| name.starts_with("__pub_")));
        match ctx.run(&self.module, Arguments::keywords(self.kwargs.0)) {
            Ok(value) => Ok(value.into()),
            Err(fault) if self.return_try_exception => Ok(fault.to_string().into()),
            Err(_) => Ok(().into()),
        }
    }
}

record! {
    /// Says that this function has moved to cmd.tty.
    ///
    ///   salt '*' test.tty tty0 'This is a test'
    pub struct Tty {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for Tty {
    fn run(self, _: &Ctx) -> Reply {
        Ok("ERROR: This function has been moved to cmd.tty".into())
    }
}

record! {
    /// Answers True after it has warned in the log of something that will go away.
    ///
    ///   salt '*' test.deprecation_warning
    pub struct DeprecationWarning {}
}

impl Run for DeprecationWarning {
    fn run(self, _: &Ctx) -> Reply {
        log::warn!("test.deprecation_warning was called: this is how a warning of something deprecated looks");
        Ok(true.into())
    }
}
