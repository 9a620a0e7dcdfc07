//! `locale.*`: the language of the host.

use halite_core::accounts::tool;
use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths, text_file};
use halite_value::Value;
use halite_value::record;
use halite_value::record::Keywords;
use std::path::Path;

pub const MODULE: Module = Module {
    name: "locale",
    doc: "The language of the host.",
    functions: &[
        function::<Avail>("avail"),
        function::<GenLocale>("gen_locale"),
        function::<GetLocale>("get_locale"),
        function::<ListAvail>("list_avail"),
        function::<SetLocale>("set_locale"),
    ],
};

/// A locale in its parts: `language_TERRITORY.codeset@modifier charmap`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Parts {
    language: String,
    territory: String,
    codeset: String,
    modifier: String,
    charmap: String,
}

impl Parts {
    fn read(locale: &str) -> Parts {
        let (rest, charmap) = locale.split_once(' ').unwrap_or((locale, ""));
        let (rest, modifier) = rest.split_once('@').unwrap_or((rest, ""));
        let (rest, codeset) = rest.split_once('.').unwrap_or((rest, ""));
        let (language, territory) = rest.split_once('_').unwrap_or((rest, ""));
        let [language, territory, codeset, modifier, charmap] =
            [language, territory, codeset, modifier, charmap].map(str::to_owned);
        Parts { language, territory, codeset, modifier, charmap }
    }

    fn text(&self) -> String {
        let part = |sign: &str, part: &str| if part.is_empty() { String::new() } else { format!("{sign}{part}") };
        [
            self.language.clone(),
            part("_", &self.territory),
            part(".", &self.codeset),
            part("@", &self.modifier),
            part(" ", &self.charmap),
        ]
        .concat()
    }

    /// In one spelling, to be compared: `en_US.UTF-8 UTF-8` is `en_US.utf8`.
    fn normal(&self) -> String {
        let codeset = self.codeset.to_lowercase().replace('-', "");
        Parts { codeset, charmap: String::new(), ..self.clone() }.text()
    }
}

fn list(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    let told = Program::new(["locale", "-a"]).mixed().query(ctx)?;
    Ok(told.stdout.split('\n').map(str::to_owned).collect())
}

record! {
    /// Lists the locales that there are.
    ///
    ///   salt '*' locale.list_avail
    pub struct ListAvail {}
}

impl Run for ListAvail {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(list(ctx)?).into())
    }
}

record! {
    /// Shows whether there is a locale, in any spelling.
    ///
    ///   salt '*' locale.avail 'en_US.UTF-8'
    pub struct Avail {
        /// The locale.
        locale: String,
    }
}

impl Run for Avail {
    fn run(self, ctx: &Ctx) -> Reply {
        let wanted = Parts::read(&self.locale).normal();
        Ok(list(ctx)?.iter().any(|known| Parts::read(known.trim()).normal() == wanted).into())
    }
}

/// systemd's localectl decides, but for hosts whose files do.
fn has_localectl(ctx: &Ctx, setting: bool) -> bool {
    let major = ctx.grains.at("osmajorrelease").and_then(Value::as_int).unwrap_or(0);
    let by_file = match ctx.grains.str_at("os_family") {
        Some("Suse") => major == 12,
        Some("Debian") => setting && major >= 13,
        _ => false,
    };
    paths::exists(ctx.host, "/run/systemd/system") && !by_file
}

/// The file of a distribution, and the variable in it.
fn file(ctx: &Ctx) -> Result<(&'static str, &'static str), Fault> {
    match ctx.grains.str_at("os_family") {
        Some("Suse") => Ok(("/etc/sysconfig/language", "RC_LANG=")),
        Some("RedHat") => Ok(("/etc/sysconfig/i18n", "LANG=")),
        Some("Debian") => Ok(("/etc/default/locale", "LANG=")),
        _ => Err(Fault::execution("Error: Unsupported platform!")),
    }
}

/// What localectl says of the system: variables with their values.
fn localectl(ctx: &Ctx) -> Result<Vec<(String, String)>, Fault> {
    let told = Program::new([tool(ctx, "localectl")?, "status".to_owned()]).query(ctx)?;
    let told = told.expect_success("Unable to parse result of \"localectl\"")?;
    let lines = told.stdout.lines().map(|line| line.split_once(": ").map_or(line, |(_, value)| value).trim());
    let set = lines.filter_map(|line| line.split_once('='));
    Ok(set.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

record! {
    /// Shows the locale of the host.
    ///
    ///   salt '*' locale.get_locale
    pub struct GetLocale {}
}

impl Run for GetLocale {
    fn run(self, ctx: &Ctx) -> Reply {
        if has_localectl(ctx, false) {
            let lang = localectl(ctx)?.into_iter().find(|(name, _)| name == "LANG");
            return Ok(lang.map(|(_, value)| value).unwrap_or_default().into());
        }
        let (path, variable) = file(ctx)?;
        let text = text_file::read(ctx.host, path)?;
        let value = text.lines().find_map(|line| line.strip_prefix(variable)).unwrap_or_default();
        Ok(value.replace('"', "").into())
    }
}

record! {
    /// Sets the locale of the host.
    ///
    ///   salt '*' locale.set_locale 'en_US.UTF-8'
    pub struct SetLocale {
        /// The locale.
        locale: String,
    }
}

impl Run for SetLocale {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.locale.contains(['\n', '"']) {
            return Err(Fault::invocation(format!("'{}' is not a locale", self.locale)));
        }
        if has_localectl(ctx, true) {
            let mut set = localectl(ctx)?;
            set.retain(|(name, _)| name != "LANG");
            set.push(("LANG".to_owned(), self.locale.clone()));
            let words = set.iter().map(|(name, value)| format!("{name}={value}"));
            if !Program::new(["localectl", "set-locale"]).args(words).run(ctx)?.is_success() {
                text_file::set_line(ctx.host, "/etc/locale.conf", "LANG=", &format!("LANG={}", self.locale))?;
            }
            return Ok(true.into());
        }
        let (path, variable) = file(ctx)?;
        if ctx.grains.str_at("os_family") == Some("Debian") {
            let update = ctx.host.which("update-locale");
            let update =
                update.ok_or_else(|| Fault::execution("Cannot set locale: \"update-locale\" was not found."))?;
            Program::new([update.to_string_lossy().into_owned()]).run(ctx)?;
        }
        text_file::set_line(ctx.host, path, variable, &format!("{variable}\"{}\"", self.locale))?;
        Ok(true.into())
    }
}

record! {
    /// Makes a locale. Returns whether it was made.
    ///
    ///   salt '*' locale.gen_locale 'en_US.UTF-8'
    pub struct GenLocale {
        /// The locale; without a character map the one of its name.
        locale: String,
        /// `verbose`: return what the program returned.
        kwargs: Keywords,
    }
}

impl Run for GenLocale {
    fn run(self, ctx: &Ctx) -> Reply {
        let on_ubuntu = ctx.grains.str_at("os") == Some("Ubuntu");
        let mut parts = Parts::read(&self.locale);
        let mut locale = self.locale.clone();
        if parts.charmap.is_empty() && !on_ubuntu {
            parts.charmap.clone_from(&parts.codeset);
            locale = parts.text();
        }
        let short = format!("{}_{}", parts.language, parts.territory);
        let is_known = match ctx.grains.str_at("os") {
            Some("Debian") => {
                let list = text_file::read(ctx.host, "/usr/share/i18n/SUPPORTED")?;
                list.lines().any(|line| line.trim() == locale)
            }
            _ => {
                let suse = ctx.grains.str_at("os_family") == Some("Suse");
                let directory = if suse { "/usr/share/locale" } else { "/usr/share/i18n/locales" };
                let listed = ctx.host.list(Path::new(directory));
                let listed = listed.map_err(|_| Fault::execution(format!("Locale \"{locale}\" is not available.")))?;
                listed.contains(&short)
            }
        };
        if !is_known {
            log::error!("The provided locale \"{locale}\" is not found");
            return Ok(false.into());
        }
        if paths::exists(ctx.host, "/etc/locale.gen") {
            let text = text_file::read(ctx.host, "/etc/locale.gen")?;
            let is_off = |line: &str| line.trim().strip_prefix('#').is_some_and(|rest| rest.trim() == locale);
            let mut lines: Vec<&str> =
                text.lines().map(|line| if is_off(line) { locale.as_str() } else { line }).collect();
            if !lines.iter().any(|line| line.trim() == locale) {
                lines.push(&locale);
            }
            text_file::write(ctx.host, "/etc/locale.gen", &(lines.join("\n") + "\n"))?;
        }
        let program = match (ctx.host.which("locale-gen"), ctx.host.which("localedef")) {
            (Some(_), _) if on_ubuntu => Program::new(["locale-gen".to_owned(), parts.normal()]),
            (Some(_), _) => Program::new(["locale-gen", locale.as_str()]),
            (None, Some(_)) => {
                let verbose =
                    if self.kwargs.0.at("verbose").is_some_and(Value::truthy) { "--verbose" } else { "--quiet" };
                let name = format!("{short}.{}", parts.codeset);
                Program::new(["localedef", "--force", "-i", &short, "-f", &parts.codeset, &name, verbose])
            }
            (None, None) => {
                return Err(Fault::execution("Command \"locale-gen\" or \"localedef\" was not found on this system."));
            }
        };
        let answer = program.run(ctx)?;
        match self.kwargs.0.at("verbose").is_some_and(Value::truthy) {
            true => Ok(answer.shown().into()),
            false => Ok(answer.is_success().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_have_parts() {
        let parts = Parts::read("ca_ES.UTF-8@valencia UTF-8");
        assert_eq!(
            (parts.normal().as_str(), parts.text().as_str()),
            ("ca_ES.utf8@valencia", "ca_ES.UTF-8@valencia UTF-8")
        );
        assert_eq!(Parts::read("C").text(), "C");
    }
}
