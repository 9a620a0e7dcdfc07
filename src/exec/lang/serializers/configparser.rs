//! The ini files of Python's `configparser`: sections of keys and values, names in small letters, `%(name)s` for the value
//! of another key.

use crate::ini::{Bare, Form, Header, Indented, Piece, header_line, lines, setting_lines};
use halite_value::{Map, Value, str_repr};

/// The section whose keys all others have.
const DEFAULT: &str = "DEFAULT";

/// How many steps the value of a key may be away.
const STEPS: usize = 10;

pub fn write(value: &Value, options: &Map) -> Result<String, String> {
    let Value::Map(sections) = value else {
        let kind = value.type_name();
        return Err(format!("configparser can only serialize dictionaries, not <class '{kind}'>"));
    };
    let bare_keys = allows_no_value(options);
    let mut defaults = String::new();
    let mut out = String::new();
    for (name, keys) in sections {
        let name = name.to_text();
        let Value::Map(keys) = keys else {
            return Err(format!("'{}' object has no attribute 'items'", keys.type_name()));
        };
        let mut written = Map::new();
        for (key, value) in keys {
            let value = match value {
                Value::Null if bare_keys => Value::Null,
                Value::Null => return Err("option values must be strings".to_owned()),
                value => {
                    let text = value.to_text();
                    check(&text)?;
                    text.into()
                }
            };
            written.insert(key.to_text().to_lowercase(), value);
        }
        let section = section(&name, &written);
        match name == DEFAULT {
            true if written.is_empty() => {}
            true => defaults = section,
            false => out.push_str(&section),
        }
    }
    Ok(defaults + &out)
}

fn section(name: &str, keys: &Map) -> String {
    let line = |(key, value): (&Value, &Value)| match value {
        Value::Null => format!("{}\n", key.as_text()),
        value => setting_lines(&key.as_text(), " = ", &value.as_text(), "\t"),
    };
    let lines: String = keys.iter().map(line).collect();
    header_line(name) + &lines + "\n"
}

/// Whether each `%` of a value is one that is doubled or begins `%(name)s`.
fn check(value: &str) -> Result<(), String> {
    let mut left = value.replace("%%", "");
    while let Some(at) = left.find("%(") {
        let length = left[at..].find(")s").filter(|length| *length > 2 && !left[at + 2..at + length].contains(')'));
        let Some(length) = length else { break };
        left.replace_range(at..at + length + 2, "");
    }
    match left.find('%') {
        None => Ok(()),
        Some(at) => {
            let at = left[..at].chars().count();
            Err(format!("invalid interpolation syntax in {} at position {at}", str_repr(value)))
        }
    }
}

fn allows_no_value(options: &Map) -> bool {
    options.at("allow_no_value").is_some_and(Value::truthy)
}

/// What errors call the text, as Salt does.
const SOURCE: &str = "'<???>'";

pub fn read(text: &str, options: &Map) -> Result<Value, String> {
    let sections = parse(text, allows_no_value(options))?;
    let defaults = sections.iter().find(|section| section.name == DEFAULT).map(Section::texts).unwrap_or_default();
    let mut all = Map::new();
    for section in sections.iter().filter(|section| section.name != DEFAULT) {
        let mut keys = defaults.clone();
        keys.extend(section.texts());
        let mut shown = Map::with_capacity(keys.len());
        for (key, value) in &keys {
            let value = Interpolation { section: &section.name, key: &key.as_text(), keys: &keys }.of(value, 1)?;
            shown.insert(key.clone(), value);
        }
        all.insert(section.name.as_str(), shown);
    }
    Ok(all.into())
}

#[derive(Default)]
struct Section {
    name: String,
    /// Each key with the lines of its value; no line for one without a value.
    keys: Vec<(String, Vec<String>)>,
}

impl Section {
    fn texts(&self) -> Map {
        let text = |lines: &Vec<String>| lines.join("\n").trim_end().to_owned();
        self.keys.iter().map(|(key, lines)| (key.as_str(), text(lines))).collect()
    }
}

fn parse(text: &str, bare_keys: bool) -> Result<Vec<Section>, String> {
    let mut sections: Vec<Section> = Vec::new();
    // The section that keys are for now, and whether it has got one since it began here.
    let mut is_open = false;
    let mut current: Option<usize> = None;
    let mut wrong = Vec::new();
    let form = Form {
        signs: &["=", ":"],
        header: Header::AtLast,
        indented: Indented::More,
        bare: if bare_keys { Bare::Setting } else { Bare::Other },
    };
    for line in lines(text, &form) {
        let number = line.number;
        if let Piece::Section(name) = line.piece {
            let there = sections.iter().position(|section| section.name == name);
            if there.is_some() && name != DEFAULT {
                return Err(format!(
                    "While reading from {SOURCE} [line {number:2}]: section {} already exists",
                    str_repr(name)
                ));
            }
            current = Some(there.unwrap_or_else(|| {
                sections.push(Section { name: name.to_owned(), ..Section::default() });
                sections.len() - 1
            }));
            is_open = false;
            continue;
        }
        let Some(section) = current.map(|at| &mut sections[at]) else {
            if matches!(line.piece, Piece::Comment | Piece::Blank) {
                continue;
            }
            let line = str_repr(line.raw);
            return Err(format!("File contains no section headers.\nfile: {SOURCE}, line: {number}\n{line}"));
        };
        let last = section.keys.last_mut().filter(|_| is_open);
        match (line.piece, last) {
            (Piece::More, Some((_, lines))) => lines.push(line.text.trim().to_owned()),
            // An empty line may be one of a value; a comment is none.
            (Piece::Blank, Some((_, lines))) if !lines.is_empty() => lines.push(String::new()),
            (Piece::Setting(key, value), _) => {
                let key = key.to_lowercase();
                if section.keys.iter().any(|(other, _)| *other == key) {
                    let (key, name) = (str_repr(&key), str_repr(&section.name));
                    return Err(format!(
                        "While reading from {SOURCE} [line {number:2}]: option {key} in section {name} already exists"
                    ));
                }
                section.keys.push((key, value.map(str::to_owned).into_iter().collect()));
                is_open = true;
            }
            (Piece::Other, _) => wrong.push(format!("\n\t[line {number:2}]: {}", str_repr(line.raw))),
            _ => {}
        }
    }
    match wrong.is_empty() {
        true => Ok(sections),
        false => Err(format!("Source contains parsing errors: {SOURCE}{}", wrong.concat())),
    }
}

/// The value of a key with what stands for the values of others.
struct Interpolation<'k> {
    section: &'k str,
    key: &'k str,
    keys: &'k Map,
}

impl Interpolation<'_> {
    fn of(&self, value: &Value, steps: usize) -> Result<String, String> {
        let raw = value.as_text();
        if steps > STEPS {
            return Err(format!(
                "Recursion limit exceeded in value substitution: option {} in section {} contains an interpolation key \
                 which cannot be substituted in {STEPS} steps. Raw value: {}",
                str_repr(self.key),
                str_repr(self.section),
                self.raw()
            ));
        }
        let mut out = String::new();
        let mut rest = &*raw;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(more) = rest.strip_prefix('%') {
                out.push('%');
                rest = more;
                continue;
            }
            let Some(name) = rest.strip_prefix('(') else {
                return Err(format!("'%' must be followed by '%' or '(', found: {}", str_repr(&format!("%{rest}"))));
            };
            let Some((name, more)) = name.split_once(")s").filter(|(name, _)| !name.is_empty() && !name.contains(')'))
            else {
                return Err(format!("bad interpolation variable reference {}", str_repr(&format!("%{rest}"))));
            };
            let name = name.to_lowercase();
            let Some(other) = self.keys.at(&name) else {
                return Err(format!(
                    "Bad value substitution: option {} in section {} contains an interpolation key {} which is not a \
                     valid option name. Raw value: {}",
                    str_repr(self.key),
                    str_repr(self.section),
                    str_repr(&name),
                    self.raw()
                ));
            };
            out.push_str(&match other.as_text().contains('%') {
                true => self.of(other, steps + 1)?,
                false => other.to_text(),
            });
            if out.len() > LONGEST {
                return Err(format!("the value of {} is longer than {LONGEST} characters", str_repr(self.key)));
            }
            rest = more;
        }
        out.push_str(rest);
        Ok(out)
    }

    fn raw(&self) -> String {
        self.keys.at(self.key).map(|value| str_repr(&value.as_text())).unwrap_or_default()
    }
}

/// Values that stand for each other ten times over must not fill the memory.
const LONGEST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    fn options(bare_keys: bool) -> Map {
        Map::from_iter([("allow_no_value", bare_keys)])
    }

    #[test]
    fn sections_are_written_as_python_writes_them() {
        for (data, bare_keys, expected) in [
            (
                "main: {Name: web, port: 80, none: ~, multi: \"a\\nb\", t: true}",
                true,
                "[main]\nname = web\nport = 80\nnone\nmulti = a\n\tb\nt = True\n\n",
            ),
            ("b: {}\nDEFAULT: {x: '1'}", false, "[DEFAULT]\nx = 1\n\n[b]\n\n"),
            ("a: {x: '100%%', y: '%(x)s'}", false, "[a]\nx = 100%%\ny = %(x)s\n\n"),
        ] {
            assert_eq!(write(&yaml::load(data).unwrap(), &options(bare_keys)).as_deref(), Ok(expected), "{data}");
        }
        for (data, told) in [
            ("a: {x: ~}", "option values must be strings"),
            ("a: {x: '100%'}", "invalid interpolation syntax in '100%' at position 3"),
            ("[1]", "configparser can only serialize dictionaries, not <class 'list'>"),
            ("a: 1", "'int' object has no attribute 'items'"),
        ] {
            assert_eq!(write(&yaml::load(data).unwrap(), &options(false)).unwrap_err(), told, "{data}");
        }
    }

    #[test]
    fn files_are_read_as_python_reads_them() {
        for (text, bare_keys, expected) in [
            (
                "[a]\nX = 1\ny: two words \n\n; c\n# d\n[b]\nk=v ; x\n  more\n\n  last\n",
                false,
                "{a: {x: '1', y: two words}, b: {k: \"v ; x\\nmore\\n\\nlast\"}}",
            ),
            ("[a]\nx\ny=1\nz\n", true, "{a: {x: '', y: '1', z: ''}}"),
            ("[DEFAULT]\nd=1\n[a]\nx=%(d)s %%\n", false, "{a: {d: '1', x: '1 %'}}"),
            ("[a]\nx=1\n\n\ny=2", false, "{a: {x: '1', y: '2'}}"),
            ("[a]\nx: 1\n : 2\n", false, "{a: {x: \"1\\n: 2\"}}"),
            ("[a] junk\nx=", false, "{a: {x: ''}}"),
            ("", false, "{}"),
        ] {
            assert_eq!(read(text, &options(bare_keys)), Ok(yaml::load(expected).unwrap()), "{text:?}");
        }
        for (text, told) in [
            ("x=1\n", "File contains no section headers.\nfile: '<???>', line: 1\n'x=1\\n'"),
            ("[a\nx=1\n", "File contains no section headers.\nfile: '<???>', line: 1\n'[a\\n'"),
            ("[a]\nx\ny=1\nz\n", "Source contains parsing errors: '<???>'\n\t[line  2]: 'x\\n'\n\t[line  4]: 'z\\n'"),
            ("[a]\n =1\n", "Source contains parsing errors: '<???>'\n\t[line  2]: ' =1\\n'"),
            ("[a]\nx=1\nX=2\n", "While reading from '<???>' [line  3]: option 'x' in section 'a' already exists"),
            ("[a]\n[a]\n", "While reading from '<???>' [line  2]: section 'a' already exists"),
            ("[a]\nx=%\n", "'%' must be followed by '%' or '(', found: '%'"),
            (
                "[a]\nx=%(nope)s\n",
                "Bad value substitution: option 'x' in section 'a' contains an interpolation key 'nope' which is not a valid option name. Raw value: '%(nope)s'",
            ),
            (
                "[a]\nx=%(y)s\ny=%(x)s\n",
                "Recursion limit exceeded in value substitution: option 'x' in section 'a' contains an interpolation key which cannot be substituted in 10 steps. Raw value: '%(y)s'",
            ),
        ] {
            assert_eq!(read(text, &options(false)).unwrap_err(), told, "{text:?}");
        }
    }
}
