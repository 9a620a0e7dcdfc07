//! Other templates: include, import, extends and blocks.

use super::super::ast::{Block, Expr, Missing, Name, Pos, Sees, Tree};
use super::super::error::{Failure, Kind, Res, Source};
use super::super::objects::{BlockRef, Module};
use super::super::options::Dialect;
use super::super::value::Val;
use super::super::{globals, known};
use super::{Ctx, Frame, Interp, Scope};
use halite_value::str_repr;
use std::rc::Rc;

/// A template that was read.
pub struct Template {
    pub source: Rc<Source>,
    pub tree: Rc<Tree>,
}

impl Template {
    pub fn compile(interp_options: &super::super::options::Options, source: Rc<Source>) -> Res<Template> {
        let tree = known::tree(&source.text, interp_options).map_err(|failure| {
            let pos = failure.at.unwrap_or(Pos { line: 1, column: 1 });
            failure.passed(&source, pos)
        })?;
        Ok(Template { source, tree })
    }
}

impl Interp<'_> {
    /// Runs the template that the rendering is about.
    pub fn run(&mut self, template: &Rc<Template>) -> Res<()> {
        self.register_blocks(template);
        self.root(template)
    }

    /// The template's own body, then what it extends.
    fn root(&mut self, template: &Rc<Template>) -> Res<()> {
        let outer = std::mem::replace(&mut self.frame.source, template.source.clone());
        let mut result = self.body(&template.tree.body).map(drop);
        self.frame.source = outer;
        let parent = self.frame.ctx.parent.borrow_mut().take();
        if let (Ok(()), Some(parent)) = (&result, parent) {
            self.out.truncate(self.frame.ctx.written.get());
            result = self.deeper(|interp| interp.root(&parent));
        }
        result
    }

    fn register_blocks(&mut self, template: &Rc<Template>) {
        let mut blocks = self.frame.ctx.blocks.borrow_mut();
        for block in &template.tree.blocks {
            let entry = blocks.entry(block.name.clone()).or_default();
            entry.push((block.clone(), template.source.clone()));
        }
    }

    pub fn extends(&mut self, template: &Expr) -> Res<()> {
        let name = self.eval(template)?;
        let parent = self.template_by(&name)?;
        if self.frame.ctx.parent.borrow().is_some() {
            return Err(Failure::runtime("extended multiple times"));
        }
        self.register_blocks(&parent);
        self.frame.ctx.written.set(self.out.len());
        *self.frame.ctx.parent.borrow_mut() = Some(parent);
        Ok(())
    }

    pub fn block_statement(&mut self, block: &Rc<Block>) -> Res<()> {
        if self.frame.ctx.parent.borrow().is_some() && self.frame.scopes.is_empty() {
            return Ok(());
        }
        let scopes = if block.scoped { self.frame.scopes.clone() } else { Vec::new() };
        self.block(&block.name, 0, scopes)
    }

    /// Writes a block; `level` counts from the innermost child up.
    pub fn block(&mut self, name: &Name, level: usize, mut scopes: Vec<Rc<Scope>>) -> Res<()> {
        let ctx = self.frame.ctx.clone();
        let (found, above) = {
            let blocks = ctx.blocks.borrow();
            let chain = blocks.get(name);
            let at = |level: usize| chain.and_then(|chain| chain.get(level)).cloned();
            (at(level), at(level + 1).is_some())
        };
        let Some((block, source)) = found else { return Ok(()) };
        if block.required {
            return Err(Failure::runtime(format!("Required block {} not found", str_repr(name))));
        }
        let scope = Scope::default();
        let parent = match above {
            true => Val::object(BlockRef::one(ctx.clone(), name.clone(), level + 1)),
            false => self.undefined(format!("there is no parent block called {}.", str_repr(name))),
        };
        scope.set(&"super".into(), parent);
        scopes.push(Rc::new(scope));
        let frame = Frame { source, ctx, scopes, autoescape: self.frame.autoescape };
        self.within(frame, |interp| interp.deeper(|interp| interp.body(&block.body).map(drop)))
    }

    /// Runs something in another frame.
    pub fn within<T>(&mut self, frame: Frame, run: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let outer = std::mem::replace(&mut self.frame, frame);
        let result = run(self);
        self.frame = outer;
        result
    }

    pub fn include(&mut self, template: &Expr, missing: Missing, sees: Sees) -> Res<()> {
        let name = self.eval(template)?;
        let template = match self.template_by(&name) {
            Err(failure) if failure.kind == Kind::NotFound && missing == Missing::Ignored => return Ok(()),
            other => other?,
        };
        self.within_template(&template, sees, |interp| interp.run(&template))
    }

    fn within_template<T>(
        &mut self,
        template: &Rc<Template>,
        sees: Sees,
        run: impl FnOnce(&mut Self) -> Res<T>,
    ) -> Res<T> {
        let source = template.source.clone();
        let ctx = match sees {
            Sees::Context => Ctx::new(source.clone(), Some(self.frame.clone())),
            Sees::GlobalsOnly => Ctx::globals_only(source.clone()),
        };
        let frame = Frame { source, ctx, scopes: Vec::new(), autoescape: self.env.options.autoescape };
        self.within(frame, |interp| interp.deeper(run))
    }

    pub fn import(&mut self, template: &Expr, sees: Sees) -> Res<Val> {
        let name = self.eval(template)?;
        let template = self.template_by(&name)?;
        let cached = (sees == Sees::GlobalsOnly).then(|| template.source.name.clone());
        if let Some(module) = cached.as_ref().and_then(|name| self.modules.get(name)) {
            return Ok(module.clone());
        }
        let module = self.within_template(&template, sees, |interp| {
            let text = interp.capture(|interp| interp.run(&template))?;
            let ctx = interp.frame.ctx.clone();
            Ok(Val::object(Module { ctx, text: text.text() }))
        })?;
        if let Some(name) = cached {
            self.modules.insert(name, module.clone());
        }
        Ok(module)
    }

    pub fn import_names(&mut self, template: &Expr, names: &[(Name, Name)], sees: Sees, pos: Pos) -> Res<()> {
        let module = self.import(template, sees)?;
        let ctx = module.downcast::<Module>().map(|module| module.ctx.clone());
        for (name, alias) in names {
            let exported = ctx.as_ref().and_then(|ctx| ctx.vars.value(name));
            let value = exported.unwrap_or_else(|| {
                let from = ctx.as_ref().map_or("", |ctx| &ctx.source.name);
                // Salt's own template has no name.
                let own = &self.frame.source;
                let named = self.env.options.dialect == Dialect::Plain || !Rc::ptr_eq(own, &self.main);
                let place = if named { format!(" in {}", str_repr(&own.name)) } else { String::new() };
                self.undefined(format!(
                    "the template {} (imported on line {}{place}) does not export the requested name {}",
                    str_repr(from),
                    pos.line,
                    str_repr(name)
                ))
            });
            self.set(alias, value);
        }
        Ok(())
    }

    /// A template by its name, or the first there is of several.
    fn template_by(&mut self, name: &Val) -> Res<Rc<Template>> {
        name.defined()?;
        let names = match name {
            Val::List(_) | Val::Tuple(_) => name.items(self)?,
            one => vec![one.clone()],
        };
        let mut shown = Vec::new();
        for name in &names {
            let Some(name) = name.as_str() else {
                return Err(Failure::type_error(format!("a template's name is text, not {}", name.type_name())));
            };
            if let Some(template) = self.load(name)? {
                return Ok(template);
            }
            shown.push(name.to_owned());
        }
        Err(match shown.as_slice() {
            [only] => Failure::new(Kind::NotFound, only.clone()),
            [] => Failure::new(Kind::NotFound, "Tried to select from an empty list of templates."),
            all => {
                let all = all.join(", ");
                Failure::new(Kind::NotFound, format!("none of the templates given were found: {all}"))
            }
        })
    }

    fn load(&mut self, name: &str) -> Res<Option<Rc<Template>>> {
        let path = match self.env.options.dialect {
            Dialect::Salt => match self.absolute(name) {
                Some(path) => path,
                None => return Ok(None),
            },
            Dialect::Plain => name.to_owned(),
        };
        if let Some(template) = self.templates.get(&path) {
            return Ok(Some(template.clone()));
        }
        let Some(loaded) = self.env.loader.load(&path)? else { return Ok(None) };
        if self.env.options.dialect == Dialect::Salt {
            let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
            self.overrides.insert("tplfile", Val::from(path.as_str()));
            self.overrides.insert("tpldir", Val::from(if dir.is_empty() { "." } else { dir }));
            self.overrides.insert("tpldot", Val::from(dir.replace('/', ".")));
        }
        let source = Rc::new(Source { name: name.to_owned(), path: loaded.path, text: loaded.text });
        let template = Rc::new(Template::compile(&self.env.options, source)?);
        self.templates.insert(path, template.clone());
        Ok(Some(template))
    }

    /// A name from the top of the roots: `./x` and `../x` stand beside the template that is rendered. Nothing for one
    /// that leaves the roots.
    fn absolute(&mut self, name: &str) -> Option<String> {
        if !name.starts_with("./") && !name.starts_with("../") {
            return Some(name.to_owned());
        }
        let base = self.global("tpldir")?.text();
        let mut parts: Vec<&str> = Vec::new();
        for part in base.split('/').chain(name.split('/')) {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }

    /// A value of the context that the rendering was given.
    pub fn context_value(&mut self, name: &str) -> Option<Val> {
        if let Some(value) = self.converted.get(name) {
            return Some(value.clone());
        }
        let value = match self.context.at(name) {
            Some(value) => Val::from(value),
            None => Val::from(self.around(name)?),
        };
        self.converted.insert(name.to_owned(), value.clone());
        Some(value)
    }

    /// A name that each template sees, however it came to be.
    pub fn global(&mut self, name: &str) -> Option<Val> {
        if !self.overrides.is_empty()
            && let Some(value) = self.overrides.get(name)
        {
            return Some(value.clone());
        }
        if self.env.options.dialect == Dialect::Salt
            && let Some(value) = self.context_value(name)
        {
            return Some(value);
        }
        if let Some(value) = self.made.get(name) {
            return Some(value.clone());
        }
        let value = match self.env.globals.at(name) {
            Some(value) => Val::from(value),
            None => globals::find(name, self.env.options.dialect)?,
        };
        self.made.insert(name.to_owned(), value.clone());
        Some(value)
    }

    /// All names that can be seen here, for `show_full_context`.
    pub fn visible(&self) -> Vec<String> {
        let mut names: Vec<String> = self.context.keys().map(|key| key.to_text()).collect();
        names.extend(self.env.around.iter().map(|(name, _)| (*name).to_owned()));
        names.extend(self.env.globals.keys().map(|key| key.to_text()));
        names.extend(self.frame.ctx.names().iter().map(|name| name.to_string()));
        names.sort();
        names.dedup();
        names
    }
}
