//! What goes wrong in a template, in the words of jinja2, and how Salt prints it.

use super::ast::Pos;
use halite_value::fault::Fault;
use std::fmt;
use std::rc::Rc;

pub type Res<T> = Result<T, Box<Failure>>;

/// The class of an error, which decides how Salt introduces it.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The text is no template.
    Syntax,
    /// A filter or test that does not exist.
    Assertion,
    NotFound,
    Runtime,
    Security,
    Undefined,
    /// A bound of ours: depth, size, turns.
    Limit,
    /// An exception of Python's: `TypeError`, `ValueError`, ...
    Python(String),
    /// A function that was called did not work, and said so.
    Function,
}

impl Kind {
    /// The name of the exception class.
    pub fn class(&self) -> &str {
        match self {
            Kind::Syntax => "TemplateSyntaxError",
            Kind::Assertion => "TemplateAssertionError",
            Kind::NotFound => "TemplateNotFound",
            Kind::Runtime => "TemplateRuntimeError",
            Kind::Security => "SecurityError",
            Kind::Undefined => "UndefinedError",
            Kind::Limit => "RecursionError",
            Kind::Python(class) => class,
            Kind::Function => "CommandExecutionError",
        }
    }
}

/// An error on its way out of the evaluation.
#[derive(Debug)]
pub struct Failure {
    pub kind: Kind,
    pub message: String,
    /// Of the innermost expression.
    pub at: Option<Pos>,
    /// The template and place of each statement on the way, the innermost first; one entry a template.
    pub trail: Vec<Step>,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub source: Rc<Source>,
    pub pos: Pos,
}

/// A template's name and text.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    /// Where it was read from, for errors.
    pub path: String,
    pub text: String,
}

impl Failure {
    pub fn new(kind: Kind, message: impl Into<String>) -> Box<Failure> {
        Box::new(Failure { kind, message: message.into(), at: None, trail: Vec::new() })
    }

    pub fn python(class: &str, message: impl Into<String>) -> Box<Failure> {
        Failure::new(Kind::Python(class.to_owned()), message)
    }

    pub fn type_error(message: impl Into<String>) -> Box<Failure> {
        Failure::python("TypeError", message)
    }

    pub fn value_error(message: impl Into<String>) -> Box<Failure> {
        Failure::python("ValueError", message)
    }

    pub fn runtime(message: impl Into<String>) -> Box<Failure> {
        Failure::new(Kind::Runtime, message)
    }

    pub fn limit(message: impl Into<String>) -> Box<Failure> {
        Failure::new(Kind::Limit, message)
    }

    pub fn syntax(message: impl Into<String>, pos: Pos) -> Box<Failure> {
        let mut failure = Failure::new(Kind::Syntax, message);
        failure.at = Some(pos);
        failure
    }

    /// Notes that the error passed a statement.
    pub fn passed(mut self: Box<Self>, source: &Rc<Source>, pos: Pos) -> Box<Failure> {
        if self.trail.last().is_none_or(|last| !Rc::ptr_eq(&last.source, source)) {
            self.trail.push(Step { source: source.clone(), pos });
        }
        self
    }
}

impl From<Fault> for Box<Failure> {
    fn from(fault: Fault) -> Box<Failure> {
        match fault {
            Fault::Raised { kind, message } => Failure::python(&kind, message),
            Fault::Unknown { .. } | Fault::Invocation(_) | Fault::Execution(_) => {
                Failure::new(Kind::Function, fault.to_string())
            }
            Fault::Arguments { .. } => Failure::type_error(fault.to_string()),
            other => Failure::python("Exception", other.to_string()),
        }
    }
}

/// Why a template could not be rendered. Always the fault of whoever wrote it, or of a function that it calls; it never
/// holds values of the context but those that the message of an exception names.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateError {
    pub kind: Kind,
    /// What is wrong, without its place.
    pub message: String,
    /// The template in which it went wrong: its name as it was asked for.
    pub template: String,
    /// From 1; 0 where there is no place.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The lines around, the wrong one marked.
    pub excerpt: String,
    /// The templates that led to it, from the one that was rendered: name and line of each include, import or call.
    pub chain: Vec<(String, u32)>,
    path: String,
}

const MARKER: &str = "    <======================";
const LINES_AROUND: usize = 5;

impl TemplateError {
    pub fn of(failure: Failure, main: &Rc<Source>) -> TemplateError {
        let Failure { kind, message, at, trail } = failure;
        let main_step = Step { source: main.clone(), pos: Pos::default() };
        let place = trail.first().unwrap_or(&main_step);
        let statement = place.pos;
        let inner = at.filter(|at| at.line == statement.line).unwrap_or(statement);
        let mut chain: Vec<(String, u32)> =
            trail.iter().skip(1).map(|step| (step.source.name.clone(), step.pos.line)).collect();
        chain.reverse();
        TemplateError {
            kind,
            message,
            template: place.source.name.clone(),
            line: statement.line,
            column: inner.column,
            excerpt: excerpt(&place.source.text, statement.line),
            chain,
            path: place.source.path.clone(),
        }
    }

    /// Where it went wrong, and by way of which other templates: what Salt does not say.
    pub fn place(&self) -> String {
        let by_way: Vec<String> = self.chain.iter().map(|(name, line)| format!("{name}, line {line}")).collect();
        let by_way = if by_way.is_empty() { String::new() } else { format!(", by way of {}", by_way.join("; ")) };
        format!("{}, line {}, column {}{by_way}", self.path, self.line, self.column)
    }

    fn introduced(&self) -> String {
        let message = &self.message;
        match &self.kind {
            Kind::Undefined => format!("Jinja variable {message}"),
            Kind::Syntax | Kind::Assertion | Kind::Runtime | Kind::Security => {
                format!("Jinja syntax error: {message}")
            }
            Kind::Function => format!("Problem running salt function in Jinja template: {message}"),
            Kind::NotFound | Kind::Limit | Kind::Python(_) => format!("Jinja error: {message}"),
        }
    }
}

/// As Salt prints it. Where the fault is in an imported template, that one is shown.
impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.introduced())?;
        if self.line == 0 {
            return Ok(());
        }
        if !self.chain.is_empty() {
            return write!(f, "\n{}({}):\n{}", self.path, self.line, self.excerpt);
        }
        let traced = matches!(self.kind, Kind::NotFound | Kind::Limit | Kind::Python(_));
        let gap = if traced { "\n" } else { "" };
        write!(f, "{gap}; line {}\n\n{}", self.line, self.excerpt)
    }
}

impl std::error::Error for TemplateError {}

/// The lines around one, as Salt shows them; the whole text where there is no such line.
pub fn excerpt(text: &str, line: u32) -> String {
    let line = line as usize;
    let lines: Vec<&str> = text.lines().collect();
    if line > lines.len() || line == 0 {
        return text.to_owned();
    }
    let start = line.saturating_sub(LINES_AROUND + 1);
    let end = lines.len().min(line + LINES_AROUND);
    let mut out = String::from("---\n");
    if start > 0 {
        out.push_str("[...]\n");
    }
    for (at, text) in lines.iter().enumerate().take(end).skip(start) {
        out.push_str(text);
        if at + 1 == line {
            out.push_str(MARKER);
        }
        out.push('\n');
    }
    if end < lines.len() {
        out.push_str("[...]\n");
    }
    out.push_str("---");
    out
}
