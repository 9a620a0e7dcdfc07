//! How zypper is called, and what its exit codes and its XML say.

use halite_core::program::{Answer, Program};
use halite_core::{Ctx, Fault};
use halite_value::Map;
use roxmltree::{Document, Node};
use std::time::Duration;

/// Somebody else works with packages.
const LOCKED: i32 = 7;
/// How long it is waited for them before zypper is asked again.
const PATIENCE: Duration = Duration::from_secs(5);

/// A call of zypper.
#[derive(Clone, Debug, Default)]
pub struct Zypper {
    root: Option<String>,
    refreshes: bool,
    forgives: bool,
}

enum Kind {
    /// Only looks; in test mode too.
    Look,
    Change,
}

/// 100 to 103 say that all went well and that patches are there, or that something should be started again.
pub fn is_success(code: i32) -> bool {
    matches!(code, 0 | 100..=103)
}

/// All else that is no error: no repositories, a lock, a repository that was left out, a script that failed.
fn is_warning(code: i32) -> bool {
    matches!(code, 6 | LOCKED | 106 | 107)
}

impl Zypper {
    pub fn at(root: Option<&str>) -> Zypper {
        Zypper { root: root.map(str::to_owned), ..Zypper::default() }
    }

    /// Lets it read the lists of packages anew.
    pub fn refreshing(mut self) -> Zypper {
        self.refreshes = true;
        self
    }

    /// Whether errors are no faults.
    pub fn forgiving(mut self, forgives: bool) -> Zypper {
        self.forgives = forgives;
        self
    }

    pub fn look(&self, ctx: &Ctx, words: Vec<String>) -> Result<String, Fault> {
        let answer = self.call(ctx, words, Kind::Look, false)?;
        self.checked(answer).map(|answer| answer.stdout)
    }

    pub fn change(&self, ctx: &Ctx, words: Vec<String>) -> Result<String, Fault> {
        let answer = self.call(ctx, words, Kind::Change, false)?;
        self.checked(answer).map(|answer| answer.stdout)
    }

    /// What came of a change, whatever it was.
    pub fn answer(&self, ctx: &Ctx, words: Vec<String>) -> Result<Answer, Fault> {
        self.call(ctx, words, Kind::Change, false)
    }

    pub fn look_xml(&self, ctx: &Ctx, words: Vec<String>) -> Result<Told, Fault> {
        self.xml(ctx, words, Kind::Look)
    }

    pub fn change_xml(&self, ctx: &Ctx, words: Vec<String>) -> Result<Told, Fault> {
        self.xml(ctx, words, Kind::Change)
    }

    fn xml(&self, ctx: &Ctx, words: Vec<String>, kind: Kind) -> Result<Told, Fault> {
        let answer = self.call(ctx, words, kind, true)?;
        let told = Told { text: answer.stdout.clone() };
        if !self.forgives && !is_success(answer.retcode) && !is_warning(answer.retcode) {
            let mut errors = told.messages("error");
            if errors.is_empty() && Document::parse(&told.text).is_err() && !answer.stderr.is_empty() {
                errors.push(answer.stderr);
            }
            return Err(failed(&errors.join("\n")));
        }
        match Document::parse(&told.text) {
            Ok(_) => Ok(told),
            Err(error) => Err(Fault::execution(format!("what zypper says is not XML: {error}"))),
        }
    }

    fn checked(&self, answer: Answer) -> Result<Answer, Fault> {
        match self.forgives || is_success(answer.retcode) || is_warning(answer.retcode) {
            true => Ok(answer),
            false => Err(failed(&format!("{}{}", answer.stderr.trim(), answer.stdout.trim()))),
        }
    }

    fn call(&self, ctx: &Ctx, words: Vec<String>, kind: Kind, is_xml: bool) -> Result<Answer, Fault> {
        let mut program = Program::new(["zypper", "--non-interactive"]);
        if is_xml {
            program = program.arg("--xmlout");
        }
        if !self.refreshes {
            program = program.arg("--no-refresh");
        }
        if let Some(root) = &self.root {
            program = program.args(["--root", root]);
        }
        program = program.args(words);
        loop {
            let answer = match kind {
                // Who only looks needs no lock.
                Kind::Look => program.clone().env("ZYPP_READONLY_HACK", "1").query(ctx)?,
                Kind::Change => program.run(ctx)?,
            };
            if answer.retcode != LOCKED {
                return Ok(answer);
            }
            log::debug!("zypper is locked by another program");
            if ctx.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            ctx.host.sleep(PATIENCE);
        }
    }
}

fn failed(why: &str) -> Fault {
    Fault::execution(format!("Zypper command failure: {}", if why.is_empty() { "Check Zypper's logs." } else { why }))
}

/// The XML that zypper has printed.
#[derive(Clone, Debug)]
pub struct Told {
    text: String,
}

impl Told {
    fn with<T: Default>(&self, read: impl FnOnce(&Document) -> T) -> T {
        Document::parse(&self.text).map(|document| read(&document)).unwrap_or_default()
    }

    /// The attributes of each element of this name.
    pub fn all(&self, name: &str) -> Vec<Map> {
        self.with(|document| elements(document, name).map(attributes).collect())
    }

    /// Messages of this type.
    pub fn messages(&self, kind: &str) -> Vec<String> {
        self.with(|document| {
            let messages = elements(document, "message").filter(|message| message.attribute("type") == Some(kind));
            messages.filter_map(|message| message.text()).map(str::to_owned).collect()
        })
    }

    /// What was fetched: the name of each package, the attributes of its repository, its file.
    pub fn downloads(&self) -> Vec<(String, Map, String)> {
        self.with(|document| {
            let download = |result: Node| {
                let inner = |name: &str| result.descendants().find(|node| node.has_tag_name(name));
                let name = inner("name")?.text()?.to_owned();
                let path = inner("localfile")?.attribute("path")?.to_owned();
                Some((name, attributes(inner("repository")?), path))
            };
            elements(document, "download-result").filter_map(download).collect()
        })
    }

    /// The products: attributes, description, end of life (text and seconds since 1970).
    pub fn products(&self) -> Vec<Product> {
        self.with(|document| {
            let list = elements(document, "product-list").next();
            let products =
                list.into_iter().flat_map(|list| list.children()).filter(|node| node.has_tag_name("product"));
            let product = |node: Node| {
                let inner = |name: &str| node.children().find(|child| child.has_tag_name(name));
                let end = inner("endoflife");
                let attribute = |name: &str| end.and_then(|end| end.attribute(name)).map(str::to_owned);
                Product {
                    attributes: attributes(node),
                    description: inner("description").and_then(|node| node.text()).unwrap_or_default().to_owned(),
                    end: attribute("text").map(|text| (text, attribute("time_t").and_then(|time| time.parse().ok()))),
                }
            };
            products.map(product).collect()
        })
    }
}

pub struct Product {
    pub attributes: Map,
    pub description: String,
    pub end: Option<(String, Option<i64>)>,
}

fn elements<'a, 'd>(document: &'a Document<'d>, name: &str) -> impl Iterator<Item = Node<'a, 'd>> {
    document.descendants().filter(move |node| node.has_tag_name(name))
}

fn attributes(node: Node) -> Map {
    node.attributes().map(|attribute| (attribute.name(), attribute.value())).collect()
}
