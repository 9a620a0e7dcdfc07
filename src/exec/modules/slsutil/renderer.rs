//! `slsutil.renderer`: a file or a text through a renderer pipe, as SLS files go.

use super::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::pipe::Rendered;
use halite_node::fileserver::client::{FileClient, Wanted};
use halite_node::sls::{Source, render_source};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

/// What errors call a text that was given.
const GIVEN: &str = ":string:";

record! {
    /// Renders a file, or a text that is given, and answers what comes out: data, or text where the last renderer of the pipe
    /// gives text.
    ///
    /// So a template can be tried: an error says file, line and column.
    ///
    ///   salt '*' slsutil.renderer salt://path/to/file
    ///   salt '*' slsutil.renderer /path/to/file.jinja default_renderer='jinja'
    ///   salt '*' slsutil.renderer string='Inline template! {{ saltenv }}' default_renderer='jinja'
    ///   salt '*' slsutil.renderer string='Hello, {{ name }}.' name='world' default_renderer='jinja'
    pub struct Renderer {
        /// The address of a file, or its path on the minion.
        path: Option<String> = (),
        /// A text in place of a file.
        string: Option<String> = (),
        /// The pipe, where the first line names none.
        default_renderer: String = "jinja|yaml",
        /// `saltenv`, `sls`, `context` (a map), and whatever the template is to see.
        kwargs: Keywords,
    }
}

impl Run for Renderer {
    fn run(self, ctx: &Ctx) -> Reply {
        let given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        match (given(&self.path), given(&self.string)) {
            (false, false) => return Err(Fault::invocation("Must pass path or string.")),
            (true, true) => return Err(Fault::invocation("Must not pass both path and string.")),
            _ => {}
        }
        let mut more = self.kwargs.0;
        more.retain(|name, _| name.as_str().is_none_or(|name| !name.starts_with("__")));
        let mut named = |name: &str| more.remove(name).and_then(|value| value.as_str().map(str::to_owned));
        let saltenv = named("saltenv").unwrap_or_else(|| "base".to_owned());
        let sls = named("sls").unwrap_or_default();
        if let Some(Value::Map(context)) = more.remove("context") {
            more.extend(context);
        }
        let client = FileClient::new(ctx);
        let (path, text) = match (self.path.filter(|path| !path.is_empty()), self.string) {
            (Some(path), _) => read(&client, &path, &saltenv)?,
            (None, text) => (GIVEN.to_owned(), text.unwrap_or_default()),
        };
        let source =
            Source { path: &path, text: &text, sls: &sls, saltenv: &saltenv, pipe: Some(&self.default_renderer) };
        match render_source(ctx, &client, &source, more).map_err(|refused| Fault::execution(refused.to_string()))? {
            Rendered::Data(Value::Null) => Ok(Map::new().into()),
            Rendered::Data(value) => Ok(value.into()),
            Rendered::Text(text) => Ok(text.into()),
        }
    }
}

/// Where a file is, and what is in it.
fn read(client: &FileClient, address: &str, saltenv: &str) -> Result<(String, String), Fault> {
    let path = match address.starts_with('/') {
        true => address.to_owned(),
        false => client
            .cache_file(address, saltenv, &Wanted::default())?
            .ok_or_else(|| Fault::execution(format!("Template does not exist: {address}")))?,
    };
    let text = client.read_text(&path).map_err(|error| Fault::execution(format!("{path}: {error}")))?;
    Ok((path, text))
}
