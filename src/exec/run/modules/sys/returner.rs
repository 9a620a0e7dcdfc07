//! `sys.list_returners` and its like: where answers can go.

use super::wanted_names;
use halite_core::module::Run;
use halite_core::returners::{RETURNERS, Returner, function};
use halite_core::{Ctx, Reply};
use halite_lang::target::fnmatch::Pattern;
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};

record! {
    /// Lists returners.
    ///
    ///   salt '*' sys.list_returners
    ///   salt '*' sys.list_returners 'l*'
    pub struct ListReturners {
        /// Names or patterns; without any: all.
        args: Rest,
    }
}

impl Run for ListReturners {
    fn run(self, _: &Ctx) -> Reply {
        let patterns: Vec<Pattern> = self.args.0.iter().map(|pattern| Pattern::new(&pattern.to_text())).collect();
        let is_wanted = |name: &&str| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name));
        Ok(Value::list(RETURNERS.iter().map(|returner| returner.name).filter(is_wanted)).into())
    }
}

record! {
    /// Lists the functions of returners.
    ///
    ///   salt '*' sys.list_returner_functions
    ///   salt '*' sys.list_returner_functions local
    pub struct ListReturnerFunctions {
        /// Returners, functions or patterns; without any: all.
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for ListReturnerFunctions {
    fn run(self, _: &Ctx) -> Reply {
        Ok(Value::list(chosen(&self.args).map(|(name, _)| name)).into())
    }
}

record! {
    /// Shows the documentation of returners.
    ///
    ///   salt '*' sys.returner_doc local
    pub struct ReturnerDoc {
        /// Returners, functions or patterns; without any: all.
        args: Rest,
    }
}

impl Run for ReturnerDoc {
    fn run(self, _: &Ctx) -> Reply {
        Ok(chosen(&self.args).map(|(name, returner)| (name, returner.doc)).collect::<Map>().into())
    }
}

record! {
    /// Shows the arguments of the functions of returners.
    ///
    ///   salt '*' sys.returner_argspec local
    pub struct ReturnerArgspec {
        /// A returner, a function or a pattern.
        module: String = "",
    }
}

impl Run for ReturnerArgspec {
    fn run(self, _: &Ctx) -> Reply {
        let spec = Map::from_iter([
            ("args", Value::list(["ret"])),
            ("defaults", Value::Null),
            ("varargs", Value::Null),
            ("kwargs", Value::Null),
        ]);
        let wanted = Rest(vec![self.module.into()]);
        Ok(chosen(&wanted).map(|(name, _)| (name, spec.clone())).collect::<Map>().into())
    }
}

/// The functions that were asked for, each with its returner.
fn chosen(wanted: &Rest) -> impl Iterator<Item = (String, &'static Returner)> {
    let is_wanted = wanted_names(wanted);
    RETURNERS.iter().map(|returner| (function(returner), returner)).filter(move |(name, _)| is_wanted(name))
}

#[cfg(test)]
mod tests {
    use super::super::tests::value;
    use halite_value::Value;
    use halite_value::record::Arguments;

    #[test]
    fn returners_are_found_by_name_and_pattern() {
        let of = |fun: &str, name: &str| value(fun, Arguments::positional([name]));
        assert_eq!(of("sys.list_returners", "local*"), Value::list(["local", "local_cache"]));
        assert_eq!(of("sys.list_returner_functions", "local"), Value::list(["local.returner"]));
        assert_eq!(of("sys.list_returner_functions", "nosuch"), Value::List(Vec::new()));
        assert_eq!(of("sys.returner_doc", "local").as_map().unwrap().len(), 1);
        let expected = r#"{"local.returner": {"args": ["ret"], "defaults": null, "varargs": null, "kwargs": null}}"#;
        assert_eq!(of("sys.returner_argspec", "local.returner").to_json(), expected);
    }
}
