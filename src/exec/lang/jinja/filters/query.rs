//! Salt's filter `json_query`: JMESPath, by the crate of that name.

use super::super::error::{Failure, Res};
use super::super::eval::{Bound, Interp};
use super::super::value::Val;
use super::{Filter, filter};
use halite_value::{Map, Value};
use jmespath::{Context, DEFAULT_RUNTIME, JmespathError, Rcvar, Variable, interpret};
use serde_json::Number;

pub const SALT: &[Filter] = &[filter("json_query", &["expr"], 1, json_query)];

fn json_query(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let text = bound.val(0).text();
    let wrong = |error: JmespathError| Failure::python("ParseError", error.to_string());
    let tree = jmespath::parse(&text).map_err(wrong)?;
    let data = Rcvar::new(variable(&value.to_value()?)?);
    // Not by way of `Expression::search`, which would pass the data through serde and lose what numbers are.
    let found = interpret(&data, &tree, &mut Context::new(&text, &DEFAULT_RUNTIME)).map_err(wrong)?;
    Ok(Val::from(&plain(&found)))
}

fn variable(value: &Value) -> Res<Variable> {
    Ok(match value {
        Value::Null => Variable::Null,
        Value::Bool(truth) => Variable::Bool(*truth),
        Value::Int(number) => Variable::Number(Number::from(*number)),
        Value::Big(number) => Variable::Number(number.to_string().parse().map_err(|_| no_number(value))?),
        Value::Float(number) => Variable::Number(Number::from_f64(*number).ok_or_else(|| no_number(value))?),
        Value::Str(text) => Variable::String(text.to_string()),
        Value::Bytes(bytes) => Variable::String(String::from_utf8_lossy(bytes).into_owned()),
        Value::List(items) => {
            Variable::Array(items.iter().map(|item| variable(item).map(Rcvar::new)).collect::<Res<_>>()?)
        }
        Value::Map(map) => {
            let entry = |(key, value): (&Value, &Value)| Ok((key.to_text(), Rcvar::new(variable(value)?)));
            Variable::Object(map.iter().map(entry).collect::<Res<_>>()?)
        }
    })
}

fn no_number(value: &Value) -> Box<Failure> {
    Failure::value_error(format!("{value} cannot be compared"))
}

fn plain(found: &Variable) -> Value {
    match found {
        Variable::Null | Variable::Expref(_) => Value::Null,
        Variable::Bool(truth) => Value::Bool(*truth),
        Variable::Number(number) => match number.as_i64() {
            Some(whole) => Value::Int(whole),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Variable::String(text) => Value::from(text),
        Variable::Array(items) => Value::List(items.iter().map(|item| plain(item)).collect()),
        Variable::Object(map) => Value::Map(Map::from_iter(map.iter().map(|(key, item)| (key.as_str(), plain(item))))),
    }
}
