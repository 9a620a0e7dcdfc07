//! A declared record: the arguments of a function, or the options of a program, written once.
//!
//! From the declaration come the binding of positional and keyword arguments, the refusal of unknown ones, `sys.doc`,
//! `sys.argspec`, the manual and the completions.
//!
//! ```
//! use halite_value::record::{Arguments, Record};
//! halite_value::record! {
//!     /// Run a command and return what it printed.
//!     pub struct Run {
//!         /// the command line
//!         cmd: String,
//!         /// the shell that reads it
//!         shell: String = "/bin/sh",
//!     }
//! }
//! let run = Run::bind(Arguments::positional(["ls"])).unwrap();
//! assert_eq!((run.cmd.as_str(), run.shell.as_str()), ("ls", "/bin/sh"));
//! ```

use crate::{Map, Value};

/// What a record's declaration says of it.
#[derive(Debug)]
pub struct Info {
    /// The doc comment, one line each, as written.
    pub doc: &'static [&'static str],
    pub fields: &'static [Field],
}

/// One declaration is another one only where they are the same.
impl PartialEq for Info {
    fn eq(&self, other: &Info) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Info {
    /// The documentation for people: the text, then the arguments that have one.
    pub fn text(&self) -> String {
        let mut text = dedented(self.doc);
        for field in self.fields.iter().filter(|field| !field.doc.is_empty()) {
            let doc = dedented(field.doc);
            text.push_str(&format!("\n{}\n    {}\n", field.name(), doc.trim_end().replace('\n', "\n    ")));
        }
        text
    }
}

/// The lines of a doc comment without the blank that stands behind `///`.
fn dedented(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line.strip_prefix(' ').unwrap_or(line));
        text.push('\n');
    }
    text
}

/// What a record's declaration says of one field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// As Rust writes it; see [`Field::name`].
    pub ident: &'static str,
    pub doc: &'static [&'static str],
    pub kind: Kind,
    /// The value when it is not given; nothing: it must be given.
    pub default: Option<fn() -> Value>,
}

impl Field {
    /// The name that a user types (`r#type` is `type`).
    pub fn name(&self) -> &'static str {
        self.ident.strip_prefix("r#").unwrap_or(self.ident)
    }

    /// Whether a call without it is refused.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !matches!(self.kind, Kind::Rest | Kind::Keywords)
    }
}

/// How many fields these lists have together; for the macro.
pub const fn count(parts: &[&[Field]]) -> usize {
    let (mut count, mut part) = (0, 0);
    while part < parts.len() {
        count += parts[part].len();
        part += 1;
    }
    count
}

/// The fields of these lists, one after the other; for the macro.
pub const fn joined<const COUNT: usize>(parts: &[&[Field]]) -> [Field; COUNT] {
    const NONE: Field = Field { ident: "", doc: &[], kind: Kind::Any, default: None };
    let mut all = [NONE; COUNT];
    let (mut at, mut part) = (0, 0);
    while part < parts.len() {
        let mut field = 0;
        while field < parts[part].len() {
            all[at] = parts[part][field];
            field += 1;
            at += 1;
        }
        part += 1;
    }
    all
}

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Truth,
    Integer,
    Number,
    List,
    Map,
    Any,
    /// All further positional arguments, Python's `*args`.
    Rest,
    /// All keyword arguments that no other field takes, Python's `**kwargs`.
    Keywords,
}

/// A struct made by [`record!`](crate::record).
pub trait Record: Sized {
    const INFO: &'static Info;

    /// Takes the fields in their order; made by the macro.
    fn take(from: &mut Bound) -> Result<Self, ArgumentError>;

    /// Binds arguments as Python binds a call.
    fn bind(arguments: Arguments) -> Result<Self, ArgumentError> {
        let mut bound = Bound::new(Self::INFO, arguments)?;
        Self::take(&mut bound)
    }
}

/// The arguments of a call, before they are bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    pub positional: Vec<Value>,
    pub keywords: Map,
}

impl Arguments {
    pub fn positional<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Arguments {
        Arguments { positional: items.into_iter().map(Into::into).collect(), keywords: Map::new() }
    }

    pub fn keywords(keywords: Map) -> Arguments {
        Arguments { positional: Vec::new(), keywords }
    }

    /// The arguments of a job as they are published: keyword arguments stand in maps marked with `__kwarg__: True`.
    pub fn from_published(published: &[Value]) -> Arguments {
        let mut arguments = Arguments::default();
        for value in published {
            match value {
                Value::Map(map) if map.at("__kwarg__").is_some_and(Value::truthy) => {
                    arguments.keywords.extend(map.clone());
                    arguments.keywords.remove("__kwarg__");
                }
                other => arguments.positional.push(other.clone()),
            }
        }
        arguments
    }

    /// The form in which a job carries its arguments.
    pub fn to_published(&self) -> Vec<Value> {
        let mut published = self.positional.clone();
        if !self.keywords.is_empty() {
            let mut map = self.keywords.clone();
            map.insert("__kwarg__", true);
            published.push(Value::Map(map));
        }
        published
    }

    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Arguments {
        self.keywords.insert(key, value);
        self
    }
}

/// Why arguments do not fit. Always the caller's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentError {
    Missing {
        names: Vec<&'static str>,
        required: usize,
        given: usize,
    },
    TooMany {
        takes: usize,
        given: usize,
    },
    /// `name=value` for each keyword that no field takes.
    Unknown(Vec<(String, Value)>),
    /// Given by position and by name.
    Twice(&'static str),
    Kind {
        name: &'static str,
        wants: &'static str,
        found: String,
    },
}

impl std::fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ArgumentError::Missing { names, .. } => {
                let many = if names.len() == 1 { "argument" } else { "arguments" };
                write!(f, "missing required {many}: {}", names.join(", "))
            }
            ArgumentError::TooMany { takes, given } => {
                write!(f, "takes at most {takes} positional arguments, {given} were given")
            }
            ArgumentError::Unknown(keywords) => {
                let list: Vec<String> = keywords.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(f, "The following keyword arguments are not valid: {}", list.join(", "))
            }
            ArgumentError::Twice(name) => write!(f, "got multiple values for argument '{name}'"),
            ArgumentError::Kind { name, wants, found } => write!(f, "argument '{name}' wants {wants}, found {found}"),
        }
    }
}

impl std::error::Error for ArgumentError {}

/// Arguments sorted to the fields of a record, defaults filled in.
pub struct Bound {
    fields: &'static [Field],
    values: std::vec::IntoIter<Value>,
    at: usize,
}

impl Bound {
    #[inline(never)]
    fn new(info: &'static Info, arguments: Arguments) -> Result<Bound, ArgumentError> {
        let fields = info.fields;
        let Arguments { positional, mut keywords } = arguments;
        let given = positional.len();
        let plain = fields.iter().filter(|field| !matches!(field.kind, Kind::Rest | Kind::Keywords)).count();
        let mut positional = positional.into_iter();
        let mut values = Vec::with_capacity(fields.len());
        let mut missing = Vec::new();
        let mut keywords_at = None;
        for field in fields {
            let value = match field.kind {
                Kind::Rest => Value::List(positional.by_ref().collect()),
                Kind::Keywords => {
                    keywords_at = Some(values.len());
                    Value::Null
                }
                _ => match (positional.next(), keywords.remove(field.name()), field.default) {
                    (Some(_), Some(_), _) => return Err(ArgumentError::Twice(field.name())),
                    (Some(value), None, _) | (None, Some(value), _) => value,
                    (None, None, Some(default)) => default(),
                    (None, None, None) => {
                        missing.push(field.name());
                        Value::Null
                    }
                },
            };
            values.push(value);
        }
        // Salt checks the names first, then the count.
        match keywords_at {
            Some(at) => values[at] = Value::Map(keywords),
            None => {
                let unknown: Vec<(String, Value)> = keywords
                    .into_iter()
                    .filter(|(name, _)| !name.as_str().is_some_and(|name| name.starts_with("__pub_")))
                    .map(|(name, value)| (name.to_text(), value))
                    .collect();
                if !unknown.is_empty() {
                    return Err(ArgumentError::Unknown(unknown));
                }
            }
        }
        if positional.next().is_some() {
            return Err(ArgumentError::TooMany { takes: plain, given });
        }
        if !missing.is_empty() {
            let required = fields.iter().filter(|field| field.is_required()).count();
            return Err(ArgumentError::Missing { given: required - missing.len(), required, names: missing });
        }
        Ok(Bound { fields, values: values.into_iter(), at: 0 })
    }

    /// The next field's value, as the type the record declares. Called by the macro, once per field, in order.
    /// One copy for each type, since there are thousands of fields.
    #[inline(never)]
    pub fn field<T: Argument>(&mut self) -> Result<T, ArgumentError> {
        let value = self.values.next().unwrap_or_default();
        let name = self.fields.get(self.at).map_or("", Field::name);
        self.at += 1;
        T::from_value(value).map_err(|found| ArgumentError::Kind { name, wants: T::WANTS, found })
    }
}

/// A type that a field may have. Conversions are as forgiving as Python code that receives YAML is: a number is taken
/// where text is wanted, since users do not quote.
pub trait Argument: Sized {
    const KIND: Kind;
    const WANTS: &'static str;
    /// The error says what was found instead.
    fn from_value(value: Value) -> Result<Self, String>;
}

/// All further positional arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rest(pub Vec<Value>);

/// All keyword arguments that no other field takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keywords(pub Map);

impl Argument for Value {
    const KIND: Kind = Kind::Any;
    const WANTS: &'static str = "anything";
    fn from_value(value: Value) -> Result<Value, String> {
        Ok(value)
    }
}

impl Argument for String {
    const KIND: Kind = Kind::Text;
    const WANTS: &'static str = "text";
    fn from_value(value: Value) -> Result<String, String> {
        match value {
            Value::Str(text) => Ok(text.into()),
            Value::Bytes(bytes) => String::from_utf8(bytes).map_err(|_| "bytes that are not UTF-8".to_owned()),
            Value::List(_) | Value::Map(_) | Value::Null => Err(found(&value)),
            other => Ok(other.to_text()),
        }
    }
}

impl Argument for bool {
    const KIND: Kind = Kind::Truth;
    const WANTS: &'static str = "True or False";
    fn from_value(value: Value) -> Result<bool, String> {
        Ok(value.truthy())
    }
}

impl Argument for i64 {
    const KIND: Kind = Kind::Integer;
    const WANTS: &'static str = "a whole number";
    fn from_value(value: Value) -> Result<i64, String> {
        match &value {
            Value::Int(number) => Ok(*number),
            Value::Bool(truth) => Ok(i64::from(*truth)),
            Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => Ok(*number as i64),
            Value::Str(text) => text.trim().parse().map_err(|_| found(&value)),
            _ => Err(found(&value)),
        }
    }
}

impl Argument for f64 {
    const KIND: Kind = Kind::Number;
    const WANTS: &'static str = "a number";
    fn from_value(value: Value) -> Result<f64, String> {
        match &value {
            Value::Int(number) => Ok(*number as f64),
            Value::Float(number) => Ok(*number),
            Value::Bool(truth) => Ok(f64::from(u8::from(*truth))),
            Value::Str(text) => text.trim().parse().map_err(|_| found(&value)),
            _ => Err(found(&value)),
        }
    }
}

impl Argument for Map {
    const KIND: Kind = Kind::Map;
    const WANTS: &'static str = "a map";
    fn from_value(value: Value) -> Result<Map, String> {
        match value {
            Value::Map(map) => Ok(map),
            // Salt's SLS write a map as a list of one-entry maps.
            Value::List(items) => items.into_iter().try_fold(Map::new(), |mut all, item| match item {
                Value::Map(map) => {
                    all.extend(map);
                    Ok(all)
                }
                other => Err(format!("a list with {}", found(&other))),
            }),
            other => Err(found(&other)),
        }
    }
}

impl<T: Argument> Argument for Option<T> {
    const KIND: Kind = T::KIND;
    const WANTS: &'static str = T::WANTS;
    fn from_value(value: Value) -> Result<Option<T>, String> {
        match value {
            Value::Null => Ok(None),
            other => T::from_value(other).map(Some),
        }
    }
}

/// A list; one value alone is a list of it, and text is split at its commas, as Salt does.
impl<T: Argument> Argument for Vec<T> {
    const KIND: Kind = Kind::List;
    const WANTS: &'static str = "a list";
    fn from_value(value: Value) -> Result<Vec<T>, String> {
        match value {
            Value::List(items) => items.into_iter().map(T::from_value).collect(),
            Value::Null => Ok(Vec::new()),
            Value::Str(text) => text
                .split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .map(|part| T::from_value(part.into()))
                .collect(),
            other => Ok(vec![T::from_value(other)?]),
        }
    }
}

impl Argument for Rest {
    const KIND: Kind = Kind::Rest;
    const WANTS: &'static str = "arguments";
    fn from_value(value: Value) -> Result<Rest, String> {
        match value {
            Value::List(items) => Ok(Rest(items)),
            other => Err(found(&other)),
        }
    }
}

impl Argument for Keywords {
    const KIND: Kind = Kind::Keywords;
    const WANTS: &'static str = "keyword arguments";
    fn from_value(value: Value) -> Result<Keywords, String> {
        match value {
            Value::Map(map) => Ok(Keywords(map)),
            other => Err(found(&other)),
        }
    }
}

/// Names the kind and, for small plain values, the value.
fn found(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
        other => {
            let shown: String = other.repr().chars().take(60).collect();
            shown
        }
    }
}

/// Declares a record: a struct whose fields carry doc, type and default. See the module's example.
///
/// A default is anything that becomes a [`Value`]; `= ()` is Python's None and needs an `Option` field. A field without one must be
/// given. [`Rest`] and [`Keywords`] fields take what is left and need no default.
///
/// Fields that several records have alike are a record of their own, which is named where they stand, `..name: Record`: its
/// fields are taken there, in their order, as if they were written out.
#[macro_export]
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $name:ident {
            $( $(#[doc = $field_doc:literal])* $field:ident : $kind:ty $(= $default:expr)? ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        // An argument may be taken without being used, as in Salt.
        #[allow(dead_code)]
        #[derive(Clone, Debug)]
        $vis struct $name { $( $(#[doc = $field_doc])* pub $field: $kind, )* }

        impl $crate::record::Record for $name {
            const INFO: &'static $crate::record::Info = &$crate::record::Info {
                doc: &[$($doc),*],
                fields: &[$( $crate::record::Field {
                    ident: stringify!($field),
                    doc: &[$($field_doc),*],
                    kind: <$kind as $crate::record::Argument>::KIND,
                    default: $crate::record_default!($($default)?),
                } ),*],
            };

            // Called from two places each: to run a function, and to check a call of it.
            #[inline(never)]
            #[allow(unused_variables)]
            fn take(from: &mut $crate::record::Bound) -> Result<Self, $crate::record::ArgumentError> {
                Ok($name { $( $field: from.field::<$kind>()?, )* })
            }
        }
    };
    // With shared fields. A comma at the end is an item with nothing in it.
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $name:ident {
            $(
                $( .. $group:ident : $shared:ident )?
                $( $(#[doc = $field_doc:literal])* $field:ident : $kind:ty $(= $default:expr)? )?
            ),*
        }
    ) => {
        $(#[doc = $doc])*
        // An argument may be taken without being used, as in Salt.
        #[allow(dead_code)]
        #[derive(Clone, Debug)]
        $vis struct $name {
            $( $( pub $group: $shared, )? $( $(#[doc = $field_doc])* pub $field: $kind, )? )*
        }

        impl $crate::record::Record for $name {
            const INFO: &'static $crate::record::Info = {
                const PARTS: &[&[$crate::record::Field]] = &[
                    $(
                        $( <$shared as $crate::record::Record>::INFO.fields, )?
                        $( &[$crate::record::Field {
                            ident: stringify!($field),
                            doc: &[$($field_doc),*],
                            kind: <$kind as $crate::record::Argument>::KIND,
                            default: $crate::record_default!($($default)?),
                        }], )?
                    )*
                ];
                const FIELDS: [$crate::record::Field; $crate::record::count(PARTS)] =
                    $crate::record::joined(PARTS);
                &$crate::record::Info { doc: &[$($doc),*], fields: &FIELDS }
            };

            #[inline(never)]
            #[allow(unused_variables)]
            fn take(from: &mut $crate::record::Bound) -> Result<Self, $crate::record::ArgumentError> {
                Ok($name {
                    $(
                        $( $group: <$shared as $crate::record::Record>::take(from)?, )?
                        $( $field: from.field::<$kind>()?, )?
                    )*
                })
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! record_default {
    () => {
        None
    };
    ($default:expr) => {
        Some(|| $crate::Value::from($default))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    record! {
        /// A function with every kind of argument.
        pub struct Sample {
            /// must be given
            name: String,
            count: i64 = 3,
            r#type: Option<String> = (),
            args: Rest,
            kwargs: Keywords,
        }
    }

    record! {
        /// A closed function.
        pub struct Closed {
            a: i64,
            b: Vec<String> = Value::List(vec![]),
        }
    }

    record! {
        /// What several functions take.
        pub struct Pair {
            /// must be given, too
            left: i64,
            right: Option<String> = "r",
        }
    }

    record! {
        /// A function with shared arguments in the middle and at the end.
        pub struct Sharing {
            /// the first
            first: String,
            ..pair: Pair,
            last: bool = true,
            ..more: More,
            kwargs: Keywords,
        }
    }

    record! {
        /// What one function takes.
        pub struct More {
            more: i64 = 7,
        }
    }

    #[test]
    fn shared_arguments_stand_where_they_are_named() {
        let names: Vec<&str> = Sharing::INFO.fields.iter().map(Field::name).collect();
        assert_eq!(names, ["first", "left", "right", "last", "more", "kwargs"]);
        assert_eq!(Sharing::INFO.fields[1].doc, [" must be given, too"]);
        let given = Arguments::positional([Value::from("a"), 1.into(), "b".into(), false.into()]).with("more", 8);
        let sharing = Sharing::bind(given.with("x", 1)).unwrap();
        assert_eq!((sharing.first.as_str(), sharing.pair.left, sharing.pair.right.as_deref()), ("a", 1, Some("b")));
        assert_eq!((sharing.last, sharing.more.more, sharing.kwargs.0.len()), (false, 8, 1));
        let short = Sharing::bind(Arguments::positional(["a"]).with("left", 2)).unwrap();
        assert_eq!((short.pair.right.as_deref(), short.last, short.more.more), (Some("r"), true, 7));
        let missing = Sharing::bind(Arguments::positional(["a"])).unwrap_err();
        assert_eq!(missing, ArgumentError::Missing { names: vec!["left"], required: 2, given: 1 });
        let twice = Sharing::bind(Arguments::positional([Value::from("a"), 1.into()]).with("left", 2)).unwrap_err();
        assert_eq!(twice, ArgumentError::Twice("left"));
        let wrong = Sharing::bind(Arguments::positional(["a", "no"])).unwrap_err();
        assert!(matches!(wrong, ArgumentError::Kind { name: "left", .. }), "{wrong}");
    }

    #[test]
    fn arguments_bind_as_in_python() {
        let arguments = Arguments::positional([Value::from("n"), Value::from(1), Value::Null, Value::from("rest")])
            .with("extra", true);
        let sample = Sample::bind(arguments).unwrap();
        assert_eq!((sample.name.as_str(), sample.count, sample.r#type), ("n", 1, None));
        assert_eq!(sample.args.0, vec![Value::from("rest")]);
        assert_eq!(sample.kwargs.0.at("extra"), Some(&Value::Bool(true)));
        assert_eq!(Sample::INFO.fields[2].name(), "type");
        assert_eq!(Sample::bind(Arguments::positional(["n"]).with("type", 5)).unwrap().r#type.as_deref(), Some("5"));
    }

    #[test]
    fn published_arguments_come_back() {
        let arguments = Arguments::positional([Value::from("a"), Value::from(Map::new())]).with("k", 1);
        assert_eq!(Arguments::from_published(&arguments.to_published()), arguments);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(matches!(Closed::bind(Arguments::default()), Err(ArgumentError::Missing { .. })));
        assert!(matches!(
            Closed::bind(Arguments::positional([1, 2, 3])),
            Err(ArgumentError::TooMany { takes: 2, given: 3 })
        ));
        assert!(matches!(Closed::bind(Arguments::positional([1]).with("a", 1)), Err(ArgumentError::Twice("a"))));
        assert!(matches!(Closed::bind(Arguments::positional([1]).with("z", 1)), Err(ArgumentError::Unknown(_))));
        assert!(matches!(Closed::bind(Arguments::positional(["x"])), Err(ArgumentError::Kind { name: "a", .. })));
        let closed = Closed::bind(Arguments::positional(["1", "x, y"])).unwrap();
        assert_eq!((closed.a, closed.b), (1, vec!["x".to_owned(), "y".to_owned()]));
    }
}
