//! Macros: functions written in a template.

use super::super::ast::{Macro, Name};
use super::super::error::{Failure, Res};
use super::super::eval::{Args, Frame, Interp};
use super::super::value::{Dict, Object, Val};
use halite_value::str_repr;
use std::rc::Rc;

pub struct MacroObject {
    pub declared: Rc<Macro>,
    /// What was around it where it was made: it sees what is set there later, too.
    pub frame: Frame,
}

impl Object for MacroObject {
    fn kind(&self) -> &str {
        "jinja2.runtime.Macro"
    }

    fn repr(&self) -> String {
        format!("<Macro {}>", str_repr(&self.declared.name))
    }

    fn attribute(&self, _: &mut Interp, name: &str) -> Res<Option<Val>> {
        let declared = &self.declared;
        Ok(Some(match name {
            "name" => Val::Str(declared.name.clone()),
            "arguments" => Val::tuple(declared.params.iter().map(|(name, _)| Val::Str(name.clone())).collect()),
            "catch_kwargs" => Val::Bool(declared.uses.kwargs),
            "catch_varargs" => Val::Bool(declared.uses.varargs),
            "caller" => Val::Bool(declared.uses.caller),
            _ => return Ok(None),
        }))
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, interp: &mut Interp, args: Args) -> Res<Val> {
        let mut frame = self.frame.clone();
        frame.scopes.push(Rc::default());
        frame.autoescape = interp.frame.autoescape;
        interp.within(frame, |interp| {
            self.bind(interp, args)?;
            interp.capture(|interp| interp.body(&self.declared.body).map(drop))
        })
    }
}

impl MacroObject {
    /// Sets the parameters in the innermost scope.
    fn bind(&self, interp: &mut Interp, args: Args) -> Res<()> {
        let Args { positional, mut named } = args;
        let declared = &self.declared;
        let mut positional = positional.into_iter();
        for (param, default) in &declared.params {
            let given = positional.next().or_else(|| take(&mut named, param));
            let value = match (given, default) {
                (Some(value), _) => value,
                (None, Some(default)) => interp.eval(default)?,
                (None, None) => interp.undefined(format!("parameter {} was not provided", str_repr(param))),
            };
            interp.set(param, value);
        }
        let own = |name: &str| declared.params.iter().any(|(param, _)| &**param == name);
        if declared.uses.caller && !own("caller") {
            let caller = take(&mut named, "caller");
            let caller = caller.unwrap_or_else(|| interp.undefined("No caller defined".to_owned()));
            interp.set(&"caller".into(), caller);
        }
        if declared.uses.kwargs {
            let dict: Dict = named.into_iter().map(|(name, value)| (Val::Str(name), value)).collect();
            interp.set(&"kwargs".into(), Val::dict(dict));
        } else if let Some((name, _)) = named.first() {
            let (macro_name, name) = (str_repr(&declared.name), str_repr(name));
            let message = match name == "'caller'" {
                true => format!(
                    "macro {macro_name} was invoked with two values for the special caller argument. This is most \
                     likely a bug."
                ),
                false => format!("macro {macro_name} takes no keyword argument {name}"),
            };
            return Err(Failure::type_error(message));
        }
        let rest: Vec<Val> = positional.collect();
        if declared.uses.varargs {
            interp.set(&"varargs".into(), Val::tuple(rest));
        } else if !rest.is_empty() {
            let (name, most) = (str_repr(&declared.name), declared.params.len());
            return Err(Failure::type_error(format!("macro {name} takes not more than {most} argument(s)")));
        }
        Ok(())
    }
}

fn take(named: &mut Vec<(Name, Val)>, name: &str) -> Option<Val> {
    let at = named.iter().position(|(own, _)| &**own == name)?;
    Some(named.remove(at).1)
}
