//! `hosts.*`: names of hosts in `/etc/hosts`.

use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply, text_file};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "hosts",
    doc: "Names of hosts in /etc/hosts, or in the file that the option hosts.file names.",
    functions: &[
        function::<AddHost>("add_host"),
        function::<GetAlias>("get_alias"),
        function::<GetIp>("get_ip"),
        function::<HasPair>("has_pair"),
        function::<ListHosts>("list_hosts"),
        function::<RmHost>("rm_host"),
        function::<SetComment>("set_comment"),
        function::<SetHost>("set_host"),
    ],
};

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    /// Address, names, comment.
    Host(String, Vec<String>, Option<String>),
    Comment(String),
    Empty,
}

fn path<'c>(ctx: &'c Ctx) -> &'c str {
    ctx.opts.str_at("hosts.file").filter(|path| !path.is_empty()).unwrap_or("/etc/hosts")
}

fn parse(line: &str) -> Line {
    let line = line.trim();
    if line.is_empty() {
        return Line::Empty;
    }
    if line.starts_with('#') {
        return Line::Comment(line.to_owned());
    }
    let (names, comment) = match line.split_once('#') {
        Some((names, comment)) => (names, Some(comment.trim_start().to_owned())),
        None => (line, None),
    };
    let mut words = names.split_whitespace().map(str::to_owned);
    match words.next() {
        Some(address) => Line::Host(address, words.collect(), comment.filter(|comment| !comment.is_empty())),
        None => Line::Comment(line.to_owned()),
    }
}

fn lines(ctx: &Ctx) -> Result<Vec<Line>, Fault> {
    Ok(text_file::read(ctx.host, path(ctx))?.lines().map(parse).collect())
}

/// Addresses with their names, in the file's order; comments between them have keys of their own.
fn listed(lines: &[Line]) -> Map {
    let mut shown = Map::new();
    let mut comments = 0;
    for line in lines {
        match line {
            Line::Empty => {}
            Line::Comment(text) => {
                shown.insert(format!("comment-{comments}"), Value::list([text.as_str()]));
                comments += 1;
            }
            Line::Host(address, names, comment) => {
                let entry =
                    shown.entry_or(address.as_str(), || Map::from_iter([("aliases", Value::List(Vec::new()))]).into());
                if let Value::Map(entry) = entry {
                    if let Some(Value::List(known)) = entry.at_mut("aliases") {
                        known.extend(names.iter().map(Value::from));
                    }
                    if let Some(comment) = comment {
                        entry.insert("comment", comment.as_str());
                    }
                }
            }
        }
    }
    shown
}

fn aliases(ctx: &Ctx, address: &str) -> Result<Vec<String>, Fault> {
    let is_it = |line: Line| match line {
        Line::Host(own, names, _) if own == address => names,
        _ => Vec::new(),
    };
    Ok(lines(ctx)?.into_iter().flat_map(is_it).collect())
}

/// Writes what `hosts.list_hosts` shows: each address once.
fn store(ctx: &Ctx, hosts: &Map) -> Result<(), Fault> {
    let mut text = String::new();
    for (address, entry) in hosts {
        let names = |entry: &Map| {
            let names = entry.at("aliases").and_then(Value::as_list).unwrap_or_default();
            names.iter().map(Value::to_text).collect::<Vec<String>>().join(" ")
        };
        let line = match entry {
            Value::List(comments) => comments.iter().map(Value::to_text).collect(),
            Value::Map(entry) => match entry.str_at("comment") {
                Some(comment) => format!("{}\t\t{}\t\t# {comment}", address.to_text(), names(entry)),
                None => format!("{}\t\t{}", address.to_text(), names(entry)),
            },
            _ => String::new(),
        };
        if !line.trim().is_empty() {
            text.push_str(line.trim());
            text.push('\n');
        }
    }
    text_file::write(ctx.host, path(ctx), &text)
}

/// A name or a list of names.
fn names(given: &Value) -> Vec<String> {
    match given {
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        one => vec![one.to_text()],
    }
}

record! {
    /// Shows all that is in the file, by address.
    ///
    ///   salt '*' hosts.list_hosts
    pub struct ListHosts {}
}

impl Run for ListHosts {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(listed(&lines(ctx)?).into())
    }
}

record! {
    /// Shows the address of a name; an empty text where there is none.
    ///
    ///   salt '*' hosts.get_ip localhost
    pub struct GetIp {
        /// The name.
        host: String,
    }
}

impl Run for GetIp {
    fn run(self, ctx: &Ctx) -> Reply {
        let found = lines(ctx)?.into_iter().find_map(|line| match line {
            Line::Host(address, names, _) if names.contains(&self.host) => Some(address),
            _ => None,
        });
        Ok(found.unwrap_or_default().into())
    }
}

record! {
    /// Lists the names of an address.
    ///
    ///   salt '*' hosts.get_alias 127.0.0.1
    pub struct GetAlias {
        /// The address.
        ip: String,
    }
}

impl Run for GetAlias {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(aliases(ctx, &self.ip)?).into())
    }
}

record! {
    /// Shows whether an address has a name, or all of a list.
    ///
    ///   salt '*' hosts.has_pair 127.0.0.1 localhost
    pub struct HasPair {
        /// The address.
        ip: String,
        /// The name, or a list of names.
        alias: Value,
    }
}

impl Run for HasPair {
    fn run(self, ctx: &Ctx) -> Reply {
        let known = aliases(ctx, &self.ip)?;
        Ok(names(&self.alias).iter().all(|name| known.contains(name)).into())
    }
}

record! {
    /// Makes one name, or a line of names, the names of an address: others are gone.
    ///
    ///   salt '*' hosts.set_host 10.0.1.1 web1
    pub struct SetHost {
        /// The address.
        ip: String,
        /// The names, with blanks between them; blank: the address is removed.
        alias: String,
        /// A comment.
        comment: Option<String> = (),
    }
}

impl Run for SetHost {
    fn run(self, ctx: &Ctx) -> Reply {
        let new = match self.comment.filter(|comment| !comment.is_empty()) {
            _ if self.alias.trim().is_empty() => String::new(),
            Some(comment) => format!("{}\t\t{}\t\t# {comment}\n", self.ip, self.alias),
            None => format!("{}\t\t{}\n", self.ip, self.alias),
        };
        let mut text = String::new();
        let mut done = false;
        for line in text_file::read(ctx.host, path(ctx))?.lines() {
            match parse(line) {
                Line::Host(address, ..) if address == self.ip => {
                    text.push_str(if done { "" } else { &new });
                    done = true;
                }
                _ => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        if !done {
            text.push_str(&new);
        }
        text_file::write(ctx.host, path(ctx), &text)?;
        Ok(true.into())
    }
}

record! {
    /// Takes a name away from an address.
    ///
    ///   salt '*' hosts.rm_host 10.0.1.1 web1
    pub struct RmHost {
        /// The address.
        ip: String,
        /// The name.
        alias: String,
    }
}

impl Run for RmHost {
    fn run(self, ctx: &Ctx) -> Reply {
        if !aliases(ctx, &self.ip)?.contains(&self.alias) {
            return Ok(true.into());
        }
        let mut text = String::new();
        for line in text_file::read(ctx.host, path(ctx))?.lines() {
            match parse(line) {
                Line::Host(address, names, comment) if address == self.ip => {
                    let names: Vec<&str> =
                        names.iter().map(String::as_str).filter(|name| *name != self.alias).collect();
                    if names.is_empty() {
                        continue;
                    }
                    let comment = comment.map(|comment| format!("# {comment}")).unwrap_or_default();
                    text.push_str(&format!("{address}\t\t{} {comment}\n", names.join(" ")));
                }
                _ => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        text_file::write(ctx.host, path(ctx), &text)?;
        Ok(true.into())
    }
}

record! {
    /// Gives an address a further name.
    ///
    ///   salt '*' hosts.add_host 10.0.1.1 web1
    pub struct AddHost {
        /// The address.
        ip: String,
        /// The name.
        alias: String,
    }
}

impl Run for AddHost {
    fn run(self, ctx: &Ctx) -> Reply {
        let lines = lines(ctx)?;
        if aliases(ctx, &self.ip)?.contains(&self.alias) {
            return Ok(true.into());
        }
        let mut hosts = listed(&lines);
        let entry = hosts.entry_or(self.ip, || Map::from_iter([("aliases", Value::List(Vec::new()))]).into());
        if let Some(Value::List(known)) = match entry {
            Value::Map(entry) => entry.at_mut("aliases"),
            _ => None,
        } {
            known.push(self.alias.into());
        }
        store(ctx, &hosts)?;
        Ok(true.into())
    }
}

record! {
    /// Gives an address a comment. False: it is not in the file.
    ///
    ///   salt '*' hosts.set_comment 10.0.1.1 'the web server'
    pub struct SetComment {
        /// The address.
        ip: String,
        /// The comment.
        comment: String,
    }
}

impl Run for SetComment {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut hosts = listed(&lines(ctx)?);
        let Some(Value::Map(entry)) = hosts.at_mut(&self.ip) else { return Ok(false.into()) };
        if entry.str_at("comment") != Some(self.comment.as_str()) {
            entry.insert("comment", self.comment);
            store(ctx, &hosts)?;
        }
        Ok(true.into())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::record::Arguments;

    #[test]
    fn names_come_and_go() {
        let world = World::on(Fake::new().file("/etc/hosts", "# mine\n127.0.0.1 localhost lo # self\n10.0.0.1 a b\n"));
        let run = |fun: &str, words: &[&str]| {
            call(&world.ctx(&NoMaster), fun, Arguments::positional(words.iter().copied())).unwrap().value
        };
        assert_eq!(run("hosts.get_ip", &["lo"]), "127.0.0.1".into());
        assert_eq!(run("hosts.rm_host", &["10.0.0.1", "a"]), true.into());
        assert_eq!(run("hosts.add_host", &["10.0.0.2", "c"]), true.into());
        assert_eq!(run("hosts.set_comment", &["10.0.0.9", "x"]), false.into());
        let text = world.host.text("/etc/hosts").unwrap();
        assert_eq!(text, "# mine\n127.0.0.1\t\tlocalhost lo\t\t# self\n10.0.0.1\t\tb\n10.0.0.2\t\tc\n");
    }
}
