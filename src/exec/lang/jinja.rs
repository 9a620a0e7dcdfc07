//! Jinja as Salt uses it: jinja2 3.1 with Salt's tags, filters, tests and globals, on values that behave as Python's.
//!
//! A text becomes tokens, tokens a tree, and the tree is run on values whose lists and maps are shared by reference, so
//! that `{% do x.append(y) %}` changes what others see. Errors have jinja2's words and Salt's shape. What a template may
//! do is bounded: depth, turns of loops, and what it writes and makes.
//!
//! ```
//! use halite_lang::jinja::{Environment, NoFunctions, NoTemplates, Options};
//! use halite_value::Map;
//! let environment = Environment::new(Options::default(), &NoTemplates, &NoFunctions);
//! let context = Map::from_iter([("names", vec!["a", "b"])]);
//! let text = environment.render("hello.sls", "{% for n in names %}{{ n }}: {{ loop.index }}\n{% endfor %}", &context);
//! assert_eq!(text.unwrap(), "a: 1\nb: 2\n");
//! ```

mod ast;
mod error;
mod eval;
mod filters;
mod format;
mod globals;
mod known;
mod lexer;
mod methods;
mod objects;
mod options;
mod parser;
mod tests;
mod token;
mod value;

#[cfg(test)]
mod cases;

use super::pipe::{RenderError, Rendered, Renderer, Rendering};
use super::secrets::masked;
use error::{Failure, Source};
use eval::{Interp, Template};
use halite_value::fault::Fault;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::rc::Rc;

pub use error::{Kind, TemplateError, excerpt};
pub use objects::{Functions, Machine};
pub use options::{Dialect, Options, UndefinedPolicy};

pub const RENDERER: Renderer = Renderer { name: "jinja", doc: "Templates of Jinja as text.", render };

fn render(input: Rendered, rendering: &Rendering) -> Result<Rendered, RenderError> {
    let text = input.text(RENDERER.name)?;
    let out = rendering.environment.render(rendering.name, &text, &rendering.context);
    out.map(Rendered::Text).map_err(RenderError::Template)
}

/// What one rendering may do: turns of loops, characters written and elements made, all together.
const WORK_LIMIT: usize = 100_000_000;

/// What templates are rendered with.
pub struct Environment<'e> {
    options: Options,
    globals: Map,
    around: Vec<(&'static str, &'e Map)>,
    work_limit: usize,
    loader: &'e dyn Loader,
    functions: &'e dyn Functions,
}

/// Where included, imported and extended templates come from.
pub trait Loader {
    /// Nothing where there is no such template; a fault where it could not be read.
    fn load(&self, name: &str) -> Result<Option<Loaded>, Fault>;
}

/// The text of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    pub text: String,
    /// Where it was read from: what errors name.
    pub path: String,
}

impl<'e> Environment<'e> {
    pub fn new(options: Options, loader: &'e dyn Loader, functions: &'e dyn Functions) -> Environment<'e> {
        Environment { options, globals: Map::new(), around: Vec::new(), work_limit: WORK_LIMIT, loader, functions }
    }

    /// Renderings end in an error after so many steps, in place of a hundred million.
    pub fn with_work_limit(mut self, steps: usize) -> Environment<'e> {
        self.work_limit = steps;
        self
    }

    /// Names that imported templates see too. In [`Dialect::Salt`] they see the context as well.
    pub fn with_globals(mut self, globals: Map) -> Environment<'e> {
        self.globals = globals;
        self
    }

    /// Maps that each template sees by a name, such as the pillar, unless the context has that name too. They are large,
    /// so nobody copies them.
    pub fn with_maps(mut self, maps: impl IntoIterator<Item = (&'static str, &'e Map)>) -> Environment<'e> {
        self.around.extend(maps);
        self
    }

    /// Renders a text; `name` is what errors call it. In [`Dialect::Salt`] a `#jinja2:` line is obeyed, and a line end
    /// at the end of the text is kept.
    pub fn render(&self, name: &str, text: &str, context: &Map) -> Result<String, Box<TemplateError>> {
        if self.options.dialect == Dialect::Plain {
            return self.render_text(name, text, context);
        }
        let mut options = self.options.clone();
        let stripped = options.take_header(text);
        let text = stripped.as_deref().unwrap_or(text);
        let kept = options.keep_trailing_newline;
        let own = Environment { options, globals: self.globals.clone(), around: self.around.clone(), ..*self };
        let mut out = own.render_text(name, text, context)?;
        if text.ends_with('\n') && !kept {
            out.push('\n');
        }
        Ok(out)
    }

    fn render_text(&self, name: &str, text: &str, context: &Map) -> Result<String, Box<TemplateError>> {
        let source = Rc::new(Source { name: name.to_owned(), path: name.to_owned(), text: text.to_owned() });
        let failed = |failure: Box<Failure>| Box::new(TemplateError::of(*failure, &source));
        let template = Rc::new(Template::compile(&self.options, source.clone()).map_err(failed)?);
        let mut interp = Interp::new(self, context, source.clone());
        let Err(failure) = interp.run(&template) else { return Ok(interp.out) };
        let mut error = failed(failure);
        if let Some(pillar) = interp.map_at("pillar").or_else(|| self.globals.at("pillar")?.as_map()) {
            error.message = masked(std::mem::take(&mut error.message), pillar, &interp.sources());
        }
        Err(error)
    }
}

/// What is wrong with the text of a template, as far as that can be told without rendering it. True where there is
/// markup in it.
pub fn check(name: &str, text: &str) -> Result<Markup, Box<TemplateError>> {
    let mut options = Options::default();
    let stripped = options.take_header(text);
    let text = stripped.as_deref().unwrap_or(text);
    let source = Rc::new(Source { name: name.to_owned(), path: name.to_owned(), text: text.to_owned() });
    let template = Template::compile(&options, source.clone())
        .map_err(|failure| Box::new(TemplateError::of(*failure, &source)))?;
    let plain = template.tree.body.iter().all(|stmt| matches!(stmt.kind, ast::StmtKind::Data(_)));
    Ok(if plain && stripped.is_none() { Markup::None } else { Markup::Some })
}

/// Whether a text holds anything that a template is rendered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    None,
    Some,
}

/// For texts that include nothing.
pub struct NoTemplates;

impl Loader for NoTemplates {
    fn load(&self, _: &str) -> Result<Option<Loaded>, Fault> {
        Ok(None)
    }
}

/// For texts that call nothing.
pub struct NoFunctions;

impl Functions for NoFunctions {
    fn call(&self, fun: &str, _: Arguments) -> Result<Value, Fault> {
        Err(Fault::execution(format!("{fun} cannot be called here")))
    }

    fn exists(&self, _: &str) -> bool {
        false
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}
