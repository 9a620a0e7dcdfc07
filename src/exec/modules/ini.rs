//! `ini.*`: files of sections and settings.

use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply, text_file};
use halite_lang::ini::{Bare, Form, Header, Indented, Piece, header_line, lines, setting_lines};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "ini",
    doc: "Files of sections and settings.",
    functions: &[
        function::<GetIni>("get_ini"),
        function::<GetOption>("get_option"),
        function::<GetSection>("get_section"),
        function::<RemoveOption>("remove_option"),
        function::<RemoveSection>("remove_section"),
        function::<SetOption>("set_option"),
    ],
};

/// A file: lines before the first section, then sections.
struct Ini {
    path: String,
    separator: String,
    no_spaces: bool,
    /// The first one has no name.
    sections: Vec<Section>,
}

struct Section {
    name: String,
    lines: Vec<Line>,
}

enum Line {
    /// Comments, empty lines, and what is neither.
    Other(String),
    /// A name, and its value with the lines that go on with it.
    Setting(String, String),
}

impl Section {
    fn get(&self, option: &str) -> Option<&String> {
        self.lines.iter().find_map(|line| match line {
            Line::Setting(name, value) if name == option => Some(value),
            _ => None,
        })
    }

    /// A line goes on with the last value, with its blanks.
    fn go_on(&mut self, line: &str) {
        if let Some(Line::Setting(_, value)) =
            self.lines.iter_mut().rev().find(|line| matches!(line, Line::Setting(..)))
        {
            value.push('\n');
            value.push_str(line);
        }
    }

    fn shown(&self) -> Map {
        let setting = |line: &Line| match line {
            Line::Setting(name, value) => Some((name.clone(), value.clone())),
            Line::Other(_) => None,
        };
        self.lines.iter().filter_map(setting).collect()
    }

    fn remove(&mut self, option: &str) -> Option<String> {
        let at = self.lines.iter().position(|line| matches!(line, Line::Setting(name, _) if name == option))?;
        match self.lines.remove(at) {
            Line::Setting(_, value) => Some(value),
            Line::Other(_) => None,
        }
    }

    /// Sets a value; where the setting is commented out, that line is taken. What it was before, if it was other.
    fn set(&mut self, option: &str, value: &str, separator: &str) -> Option<Value> {
        let known = self.lines.iter_mut().find_map(|line| match line {
            Line::Setting(name, old) if name == option => Some(old),
            _ => None,
        });
        if let Some(old) = known {
            let before = std::mem::replace(old, value.to_owned());
            return (before != value).then(|| change(Some(&before), value.into()));
        }
        let is_off = |line: &Line| match line {
            Line::Other(text) => {
                let text = text.trim_start();
                let rest = text.trim_start_matches('#');
                text.starts_with('#')
                    && rest.split_once(separator.trim()).is_some_and(|(name, _)| name.trim() == option)
            }
            Line::Setting(..) => false,
        };
        let line = Line::Setting(option.to_owned(), value.to_owned());
        match self.lines.iter().position(is_off) {
            Some(at) => self.lines[at] = line,
            None => {
                // Behind the last line that is not empty.
                let is_blank = |line: &Line| matches!(line, Line::Other(text) if text.trim().is_empty());
                let at = self.lines.iter().rposition(|line| !is_blank(line)).map_or(0, |at| at + 1);
                self.lines.insert(at, line);
            }
        }
        Some(change(None, value.into()))
    }
}

fn change(before: Option<&str>, after: Value) -> Value {
    Map::from_iter([("before", Value::from(before)), ("after", after)]).into()
}

impl Ini {
    fn read(ctx: &Ctx, path: &str, separator: &str) -> Result<Ini, Fault> {
        let text = text_file::read(ctx.host, path)?;
        let sign = if separator.trim().is_empty() { separator } else { separator.trim() };
        let form = Form {
            signs: &[sign],
            header: Header::AtEndOfLine,
            indented: Indented::MoreUnlessHeader,
            bare: Bare::Other,
        };
        let mut sections = vec![Section { name: String::new(), lines: Vec::new() }];
        for line in lines(&text, &form) {
            if let Piece::Section(name) = line.piece {
                sections.push(Section { name: name.to_owned(), lines: Vec::new() });
                continue;
            }
            let Some(section) = sections.last_mut() else { continue };
            match line.piece {
                Piece::Setting(name, value) => {
                    section.lines.push(Line::Setting(name.to_owned(), value.unwrap_or_default().to_owned()));
                }
                Piece::More => section.go_on(line.text),
                _ => section.lines.push(Line::Other(line.text.to_owned())),
            }
        }
        Ok(Ini { path: path.to_owned(), separator: separator.to_owned(), no_spaces: false, sections })
    }

    fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().skip(1).find(|section| section.name == name)
    }

    fn section_mut(&mut self, name: &str) -> Option<&mut Section> {
        self.sections.iter_mut().skip(1).find(|section| section.name == name)
    }

    /// The settings before the first section.
    fn top(&mut self) -> Option<&mut Section> {
        self.sections.first_mut()
    }

    fn text(&self) -> String {
        let separator = match self.separator.trim() {
            "" => " ".to_owned(),
            sign if self.no_spaces => sign.to_owned(),
            sign => format!(" {sign} "),
        };
        let mut text = String::new();
        for section in &self.sections {
            if !section.name.is_empty() {
                if !text.is_empty() {
                    text = format!("{}\n\n", text.trim_end_matches('\n'));
                }
                text.push_str(&header_line(&section.name));
            }
            for line in &section.lines {
                match line {
                    Line::Other(line) => text.push_str(&format!("{line}\n")),
                    Line::Setting(name, value) => text.push_str(&setting_lines(name, &separator, value, "")),
                }
            }
        }
        match text.trim_matches('\n') {
            "" => String::new(),
            text => format!("{text}\n"),
        }
    }

    fn store(&self, ctx: &Ctx) -> Result<(), Fault> {
        text_file::write(ctx.host, &self.path, &self.text())
    }
}

fn check_encoding(encoding: &Option<String>) -> Result<(), Fault> {
    match encoding.as_deref().map(|encoding| encoding.to_lowercase().replace('_', "-")).as_deref() {
        None | Some("" | "utf-8" | "utf8" | "ascii" | "us-ascii") => Ok(()),
        Some(other) => Err(Fault::invocation(format!("this version edits files in utf-8 alone, not in {other}"))),
    }
}

record! {
    /// Shows all that is in a file, by section.
    ///
    ///   salt '*' ini.get_ini /path/to/ini
    pub struct GetIni {
        /// The file.
        file_name: String,
        /// What stands between names and values.
        separator: String = "=",
        /// How the file is encoded: utf-8 alone in this version.
        encoding: Option<String> = (),
    }
}

impl Run for GetIni {
    fn run(self, ctx: &Ctx) -> Reply {
        check_encoding(&self.encoding)?;
        let mut ini = Ini::read(ctx, &self.file_name, &self.separator)?;
        let mut shown = ini.top().map(|top| top.shown()).unwrap_or_default();
        for section in ini.sections.iter().skip(1) {
            shown.insert(section.name.as_str(), section.shown());
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows a value; None where there is none.
    ///
    ///   salt '*' ini.get_option /path/to/ini section_name option_name
    pub struct GetOption {
        /// The file.
        file_name: String,
        /// The section; empty: what stands before all sections.
        section: Option<String>,
        /// The setting.
        option: String,
        /// What stands between names and values.
        separator: String = "=",
        /// How the file is encoded: utf-8 alone in this version.
        encoding: Option<String> = (),
    }
}

impl Run for GetOption {
    fn run(self, ctx: &Ctx) -> Reply {
        check_encoding(&self.encoding)?;
        let ini = Ini::read(ctx, &self.file_name, &self.separator)?;
        let section = match self.section.as_deref().unwrap_or_default() {
            "" => ini.sections.first(),
            name => ini.section(name),
        };
        Ok(Value::from(section.and_then(|section| section.get(&self.option)).cloned()).into())
    }
}

record! {
    /// Shows the settings of a section.
    ///
    ///   salt '*' ini.get_section /path/to/ini section_name
    pub struct GetSection {
        /// The file.
        file_name: String,
        /// The section.
        section: String,
        /// What stands between names and values.
        separator: String = "=",
        /// How the file is encoded: utf-8 alone in this version.
        encoding: Option<String> = (),
    }
}

impl Run for GetSection {
    fn run(self, ctx: &Ctx) -> Reply {
        check_encoding(&self.encoding)?;
        let ini = Ini::read(ctx, &self.file_name, &self.separator)?;
        Ok(ini.section(&self.section).map(Section::shown).unwrap_or_default().into())
    }
}

record! {
    /// Removes a setting. Returns the value that it had.
    ///
    ///   salt '*' ini.remove_option /path/to/ini section_name option_name
    pub struct RemoveOption {
        /// The file.
        file_name: String,
        /// The section; one that is not there: what stands before all sections.
        section: Option<String>,
        /// The setting.
        option: String,
        /// What stands between names and values.
        separator: String = "=",
        /// How the file is encoded: utf-8 alone in this version.
        encoding: Option<String> = (),
    }
}

impl Run for RemoveOption {
    fn run(self, ctx: &Ctx) -> Reply {
        check_encoding(&self.encoding)?;
        let mut ini = Ini::read(ctx, &self.file_name, &self.separator)?;
        let name = self.section.unwrap_or_default();
        let has = ini.section(&name).is_some();
        let section = if has { ini.section_mut(&name) } else { ini.top() };
        let gone = section.and_then(|section| section.remove(&self.option));
        if gone.is_some() {
            ini.store(ctx)?;
        }
        Ok(Value::from(gone).into())
    }
}

record! {
    /// Removes a section. Returns its settings; None where there is no such section.
    ///
    ///   salt '*' ini.remove_section /path/to/ini section_name
    pub struct RemoveSection {
        /// The file.
        file_name: String,
        /// The section.
        section: String,
        /// What stands between names and values.
        separator: String = "=",
        /// How the file is encoded: utf-8 alone in this version.
        encoding: Option<String> = (),
    }
}

impl Run for RemoveSection {
    fn run(self, ctx: &Ctx) -> Reply {
        check_encoding(&self.encoding)?;
        let mut ini = Ini::read(ctx, &self.file_name, &self.separator)?;
        let Some(shown) = ini.section(&self.section).map(Section::shown) else { return Ok(Value::Null.into()) };
        let mut at = 0;
        ini.sections.retain(|section| {
            at += 1;
            at == 1 || section.name != self.section
        });
        ini.store(ctx)?;
        Ok(shown.into())
    }
}

record! {
    /// Sets values. Returns what has changed.
    ///
    ///   salt '*' ini.set_option /path/to/ini '{"section_foo": {"key": "value"}}'
    pub struct SetOption {
        /// The file.
        file_name: String,
        /// Settings by section; those that are no map stand before all sections.
        sections: Option<Map> = (),
        /// What stands between names and values.
        separator: String = "=",
        /// How the file is encoded: utf-8 alone in this version.
        encoding: Option<String> = (),
        /// Whether there are no blanks around the separator.
        no_spaces: bool = false,
    }
}

impl Run for SetOption {
    fn run(self, ctx: &Ctx) -> Reply {
        check_encoding(&self.encoding)?;
        let mut ini = Ini::read(ctx, &self.file_name, &self.separator)?;
        ini.no_spaces = self.no_spaces;
        let mut changes = Map::new();
        for (name, given) in &self.sections.unwrap_or_default() {
            let name = name.to_text();
            let Value::Map(settings) = given else {
                let changed = ini.top().and_then(|top| top.set(&name, &given.to_text(), &self.separator));
                changes.extend(changed.map(|change| (name, change)).into_iter().collect());
                continue;
            };
            let plain: Map = settings.iter().map(|(key, value)| (key.to_text(), value.to_text())).collect();
            let Some(section) = ini.section_mut(&name) else {
                let line = |(key, value): (&Value, &Value)| Line::Setting(key.to_text(), value.to_text());
                ini.sections.push(Section { name: name.clone(), lines: plain.iter().map(line).collect() });
                changes.insert(name, change(None, plain.into()));
                continue;
            };
            let mut changed = Map::new();
            for (key, value) in &plain {
                if let Some(change) = section.set(&key.to_text(), &value.to_text(), &self.separator) {
                    changed.insert(key.clone(), change);
                }
            }
            if !changed.is_empty() {
                changes.insert(name, changed);
            }
        }
        ini.store(ctx)?;
        Ok(changes.into())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::record::Arguments;
    use halite_value::{Value, parse_json};

    #[test]
    fn settings_are_changed_and_comments_stay() {
        let world =
            World::on(Fake::new().file("/f", "top = 1\n\n[a]\n# note\nx = 1\n#y = 2\nlong = a\n  b\n[b]\nz=3\n"));
        let run = |fun: &str, words: Vec<Value>| {
            call(&world.ctx(&NoMaster), fun, Arguments::positional(words)).unwrap().value
        };
        let wanted = parse_json(r#"{"a": {"x": 1, "y": 5}, "b": {"z": "4"}, "c": {"n": "1"}}"#).unwrap();
        let changes = run("ini.set_option", vec!["/f".into(), wanted]);
        assert_eq!(
            changes.to_json(),
            r#"{"a": {"y": {"before": null, "after": "5"}}, "b": {"z": {"before": "3", "after": "4"}}, "c": {"before": null, "after": {"n": "1"}}}"#
        );
        assert_eq!(
            world.host.text("/f").unwrap(),
            "top = 1\n\n[a]\n# note\nx = 1\ny = 5\nlong = a\n  b\n\n[b]\nz = 4\n\n[c]\nn = 1\n"
        );
        assert_eq!(run("ini.get_option", vec!["/f".into(), "a".into(), "long".into()]), "a\n  b".into());
        assert_eq!(run("ini.remove_option", vec!["/f".into(), "a".into(), "x".into()]), "1".into());
        assert_eq!(run("ini.remove_section", vec!["/f".into(), "b".into()]).to_json(), r#"{"z": "4"}"#);
        assert_eq!(run("ini.remove_section", vec!["/f".into(), "none".into()]), Value::Null);
    }
}
