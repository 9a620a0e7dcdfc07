//! `debconf.*`: answers to the questions that Debian's packages ask.

use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_node::fileserver::client::FileClient;
use halite_node::templates;
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "debconf",
    doc: "Answers to the questions that Debian's packages ask.",
    functions: &[
        function::<GetSelections>("get_selections"),
        function::<Set>("set"),
        function::<SetFile>("set_file"),
        function::<SetTemplate>("set_template"),
        function::<Show>("show"),
    ],
};

fn selections(ctx: &Ctx) -> Result<Map, Fault> {
    let told = Program::new(["debconf-get-selections"]).query(ctx)?.expect_success("debconf-get-selections")?;
    let mut shown = Map::new();
    for line in told.stdout.lines().filter(|line| !line.starts_with('#')) {
        let word = |rest: &'_ str| -> Option<(String, String)> {
            let (word, rest) = rest.split_once(['\t', ' '])?;
            Some((word.to_owned(), rest.trim_start_matches(['\t', ' ']).to_owned()))
        };
        let Some((package, rest)) = word(line) else { continue };
        let Some((question, rest)) = word(&rest) else { continue };
        let (kind, value) = word(&rest).unwrap_or((rest, String::new()));
        let answer = Value::list([question, kind, value]);
        if let Value::List(answers) = shown.entry_or(package, || Value::List(Vec::new())) {
            answers.push(answer);
        }
    }
    Ok(shown)
}

/// Answers may be secret: they are told by standard input, and never in the list of processes.
fn tell(ctx: &Ctx, text: &str) -> Result<(), Fault> {
    Program::new(["debconf-set-selections"]).stdin(text).run(ctx)?.expect_success("debconf-set-selections").map(drop)
}

record! {
    /// Shows the answers of all packages: question, type, answer.
    ///
    ///   salt '*' debconf.get_selections
    pub struct GetSelections {
        /// Also questions that have no answer.
        fetchempty: bool = true,
    }
}

impl Run for GetSelections {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut shown = selections(ctx)?;
        if !self.fetchempty {
            let has_answer = |answer: &Value| answer.as_list().and_then(<[Value]>::last).is_some_and(Value::truthy);
            for (_, answers) in shown.iter_mut() {
                if let Value::List(answers) = answers {
                    answers.retain(has_answer);
                }
            }
            shown.retain(|_, answers| answers.truthy());
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows the answers of a package; None where it has none.
    ///
    ///   salt '*' debconf.show tzdata
    pub struct Show {
        /// The package.
        name: String,
    }
}

impl Run for Show {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(selections(ctx)?.remove(&self.name).unwrap_or_default().into())
    }
}

record! {
    /// Sets an answer.
    ///
    ///   salt '*' debconf.set tzdata tzdata/Areas select Europe
    pub struct Set {
        /// The package.
        package: String,
        /// The question.
        question: String,
        /// Its type: string, boolean, select, multiselect, note, text, password or title.
        r#type: String,
        /// The answer.
        value: Value,
        /// Further words of it.
        extra: Rest,
    }
}

impl Run for Set {
    fn run(self, ctx: &Ctx) -> Reply {
        let words: Vec<String> = std::iter::once(&self.value).chain(&self.extra.0).map(Value::to_text).collect();
        tell(ctx, &format!("{} {} {} {}\n", self.package, self.question, self.r#type, words.join(" ")))?;
        Ok(true.into())
    }
}

record! {
    /// Sets the answers that are in a file.
    ///
    ///   salt '*' debconf.set_file salt://pathto/pkg.selections
    pub struct SetFile {
        /// The file's address.
        path: String,
        /// The environment of files.
        saltenv: String = "base",
        kwargs: Keywords,
    }
}

fn fetched(ctx: &Ctx, path: &str, saltenv: &str) -> Result<Option<String>, Fault> {
    let client = FileClient::new(ctx);
    let Some(kept) = client.cache_file(path, saltenv, &Default::default())? else { return Ok(None) };
    client.read_text(&kept).map(Some).map_err(|error| Fault::execution(format!("{kept}: {error}")))
}

impl Run for SetFile {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(text) = fetched(ctx, &self.path, &self.saltenv)? else { return Ok(false.into()) };
        tell(ctx, &text)?;
        Ok(true.into())
    }
}

record! {
    /// Sets the answers that are in a template.
    ///
    ///   salt '*' debconf.set_template salt://pathto/pkg.selections.jinja jinja '{}' '{}'
    pub struct SetTemplate {
        /// The template's address.
        path: String,
        /// The template engine.
        template: String,
        /// Variables of the template.
        context: Option<Map>,
        /// Variables that are not in `context`.
        defaults: Option<Map>,
        /// The environment of files.
        saltenv: String = "base",
        kwargs: Keywords,
    }
}

impl Run for SetTemplate {
    fn run(self, ctx: &Ctx) -> Reply {
        if !templates::ENGINES.contains(&self.template.as_str()) {
            return Err(Fault::execution(format!("Specified template format {} is not supported", self.template)));
        }
        let Some(text) = fetched(ctx, &self.path, &self.saltenv)? else { return Ok(false.into()) };
        let mut more = self.defaults.unwrap_or_default();
        more.extend(self.context.unwrap_or_default());
        tell(ctx, &templates::render(ctx, &self.path, &text, &self.saltenv, more)?)?;
        Ok(true.into())
    }
}
