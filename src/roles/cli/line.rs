//! Reads a command line as GNU programs and Salt do, and sorts the options to the structs that declare them.
//!
//! `--out=json`, `--out json`, `--ou json` where that is unique, `-Ay`, `-ldebug`, `-t 5`, options among and after the
//! words, `--` before words that begin with a dash. Of an option given twice the last counts.

use super::saltfile::Saltfile;
use super::{Stop, help, lacking, versions};
use argh::{ArgsInfo, CommandInfoWithArgs, FlagInfoKind, FromArgs, Optionality};
use halite_value::Value;
use std::any::TypeId;
use std::io::{BufRead, BufReader, Read};

/// A program as its command line knows it.
pub struct Program {
    pub name: &'static str,
    /// What it is for, in a sentence or two.
    pub about: &'static str,
    /// What stands after the name: `[options] TARGET FUNCTION [ARGUMENT ...]`.
    pub usage: &'static str,
    /// Command lines that show what it can do, and what each does.
    pub examples: &'static [(&'static str, &'static str)],
    /// Its options. Where two groups declare the same short letter or name, the first has it.
    pub groups: &'static [Group],
}

/// A struct of options.
#[derive(Clone, Copy)]
pub struct Group {
    info: fn() -> CommandInfoWithArgs,
    kind: fn() -> TypeId,
}

/// The group of a struct, for [`Program::groups`].
pub const fn group<G: FromArgs + ArgsInfo + 'static>() -> Group {
    Group { info: G::get_args_info, kind: TypeId::of::<G> }
}

/// A command line whose options are sorted to their groups.
#[derive(Debug, Default)]
pub struct Line {
    groups: Vec<(TypeId, Vec<Given>)>,
    /// What is no option, in order.
    pub words: Vec<String>,
    /// How many words come before the arguments of a function; none, where there is no function.
    before_arguments: Option<usize>,
}

/// One option as it is declared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declared {
    pub group: usize,
    /// With its dashes.
    pub long: String,
    pub short: Option<char>,
    /// What its value is called, for options that have one.
    pub value: Option<&'static str>,
    pub repeats: bool,
    pub about: &'static str,
}

/// One option as it was given.
#[derive(Clone, Debug, PartialEq)]
struct Given {
    long: String,
    value: Option<String>,
}

/// Other names of the same option, which argh cannot declare.
pub(crate) const ALIASES: [(&str, &str); 10] = [
    ("--output", "--out"),
    ("--output-file", "--out-file"),
    ("--output-file-append", "--out-file-append"),
    ("--output-indent", "--out-indent"),
    ("--no-colour", "--no-color"),
    ("--force-colour", "--force-color"),
    ("--documentation", "--doc"),
    ("--batch-size", "--batch"),
    ("--eauth", "--auth"),
    ("--external-auth", "--auth"),
];

impl Line {
    /// Sorts the arguments of a program (without its name). With `--args-stdin`, the lines of `input` are further ones.
    pub fn sort(program: &Program, args: &[String], input: impl Read) -> Result<Line, Stop> {
        let declared = program.declared();
        let mut line = Line::read(program, &declared, args)?;
        if line.has("--args-stdin") {
            let mut all = args.to_vec();
            for more in BufReader::new(input).lines() {
                let more = more.map_err(|error| Stop::Usage(format!("--args-stdin: standard input: {error}")))?;
                all.push(more.trim_end_matches('\r').to_owned());
            }
            line = Line::read(program, &declared, &all)?;
        }
        let file = Saltfile::find(program.name, line.value("--saltfile"))?;
        line.fill(program, &declared, &file)?;
        Ok(line)
    }

    /// The options of a group as its struct. A group that the program does not have is as if nothing was given.
    pub fn take<G: FromArgs + 'static>(&mut self) -> Result<G, Stop> {
        let given = self.groups.iter_mut().find(|(kind, _)| *kind == TypeId::of::<G>());
        let given = given.map(|(_, given)| std::mem::take(given)).unwrap_or_default();
        let args: Vec<&str> = given
            .iter()
            .flat_map(|option| std::iter::once(option.long.as_str()).chain(option.value.as_deref()))
            .collect();
        G::from_args(&[], &args).map_err(|early| {
            let hint = if self.before_arguments.is_some_and(|before| self.words.len() > before) { DASHES } else { "" };
            Stop::Usage(one_line(&early.output) + hint)
        })
    }

    /// Puts in what the Saltfile says and the command line does not.
    fn fill(&mut self, program: &Program, declared: &[Declared], file: &Saltfile) -> Result<(), Stop> {
        for (name, value) in &file.options {
            let fault = |why: &str| file.fault(program.name, name, why);
            let long = format!("--{}", name.replace('_', "-"));
            let long = ALIASES.iter().find(|(alias, _)| *alias == long).map_or(long.as_str(), |(_, of)| of);
            let option = declared.iter().find(|option| option.long == long).ok_or_else(|| fault("no such option"))?;
            if self.has(long) {
                continue;
            }
            match (option.value, value) {
                (None, Value::Bool(false)) => {}
                (None, Value::Bool(true)) => self.put(option, None)?,
                (None, _) => return Err(fault("is True or False")),
                (Some(_), Value::List(items)) if option.repeats => {
                    items.iter().try_for_each(|item| self.put(option, Some(item.to_text())))?;
                }
                (Some(_), Value::List(_) | Value::Map(_) | Value::Null) => return Err(fault("takes one value")),
                (Some(_), value) => self.put(option, Some(value.to_text()))?,
            }
        }
        Ok(())
    }

    fn value(&self, long: &str) -> Option<&str> {
        let mut given = self.groups.iter().flat_map(|(_, given)| given);
        given.find(|option| option.long == long)?.value.as_deref()
    }

    fn has(&self, long: &str) -> bool {
        self.groups.iter().any(|(_, given)| given.iter().any(|option| option.long == long))
    }

    fn read(program: &Program, declared: &[Declared], args: &[String]) -> Result<Line, Stop> {
        let groups = program.groups.iter().map(|group| ((group.kind)(), Vec::new())).collect();
        let mut line = Line { groups, words: Vec::new(), before_arguments: program.before_arguments() };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--" {
                line.words.extend(args.cloned());
                break;
            }
            if arg.starts_with("--") {
                let (name, value) = match arg.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (arg.as_str(), None),
                };
                let option = long_option(program, declared, name).map_err(|stop| line.hinted(stop))?;
                let value = match (option.value, value) {
                    (Some(_), None) => Some(args.next().ok_or_else(|| no_value(&option.long))?.clone()),
                    (None, Some(_)) => return Err(Stop::Usage(format!("{} takes no value", option.long))),
                    (_, value) => value,
                };
                line.put(option, value)?;
            } else if arg.len() > 1 && arg.starts_with('-') {
                line.put_short(program, declared, &arg[1..], &mut args).map_err(|stop| line.hinted(stop))?;
            } else {
                line.words.push(arg.clone());
            }
        }
        Ok(line)
    }

    /// `-v`, `-vs`, `-ldebug`, `-l debug`.
    fn put_short<'a>(
        &mut self,
        program: &Program,
        declared: &[Declared],
        letters: &str,
        args: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), Stop> {
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            if letter == 'h' {
                return Err(Stop::Shown(help::text(program)));
            }
            let option = declared
                .iter()
                .find(|option| option.short == Some(letter))
                .ok_or_else(|| Stop::Usage(format!("{NO_SUCH_OPTION}-{letter}")))?;
            if letter == 'V' {
                return Err(Stop::Shown(versions::report()));
            }
            if option.value.is_none() {
                self.put(option, None)?;
                continue;
            }
            let value = match rest.as_str() {
                "" => args.next().ok_or_else(|| no_value(&format!("-{letter}")))?.clone(),
                attached => attached.to_owned(),
            };
            return self.put(option, Some(value));
        }
        Ok(())
    }

    /// An unknown option behind a function may be meant for the function.
    fn hinted(&self, stop: Stop) -> Stop {
        match (stop, self.before_arguments) {
            (Stop::Usage(sentence), Some(before))
                if self.words.len() >= before && sentence.starts_with(NO_SUCH_OPTION) =>
            {
                Stop::Usage(sentence + DASHES)
            }
            (stop, _) => stop,
        }
    }

    fn put(&mut self, option: &Declared, value: Option<String>) -> Result<(), Stop> {
        if let Some(sentence) = lacking::option(&option.long) {
            return Err(Stop::Lacking(format!("{}: {sentence}", option.long)));
        }
        let given = &mut self.groups[option.group].1;
        if !option.repeats {
            given.retain(|before| before.long != option.long);
        }
        given.push(Given { long: option.long.clone(), value });
        Ok(())
    }
}

const NO_SUCH_OPTION: &str = "no such option: ";
/// For arguments of a function that begin with a dash, as in `cmd.run ls -la`.
const DASHES: &str = " (what the function is to get, with its dash, goes behind --)";

impl Program {
    fn before_arguments(&self) -> Option<usize> {
        let (before, _) = self.usage.split_once("[ARGUMENT")?;
        Some(before.split_whitespace().filter(|word| !word.starts_with('[')).count())
    }

    /// Every option of the program, each name and letter once.
    pub(crate) fn declared(&self) -> Vec<Declared> {
        let mut all: Vec<Declared> = Vec::new();
        for (at, group) in self.groups.iter().enumerate() {
            for flag in (group.info)().flags {
                let long = format!("--{}", flag.long.trim_start_matches('-'));
                if long == "--help" || all.iter().any(|other| other.long == long) {
                    continue;
                }
                all.push(Declared {
                    group: at,
                    long,
                    short: flag.short.filter(|short| !all.iter().any(|other| other.short == Some(*short))),
                    value: match flag.kind {
                        FlagInfoKind::Switch => None,
                        FlagInfoKind::Option { arg_name } => Some(arg_name),
                    },
                    repeats: flag.optionality == Optionality::Repeating,
                    about: flag.description,
                });
            }
        }
        all
    }

    /// The title of each group.
    pub(crate) fn titles(&self) -> impl Iterator<Item = &'static str> {
        self.groups.iter().map(|group| (group.info)().description)
    }
}

/// The option that a name or the unique beginning of one means. Salt writes some names with underscores.
fn long_option<'a>(program: &Program, declared: &'a [Declared], typed: &str) -> Result<&'a Declared, Stop> {
    let name = typed.replace('_', "-");
    let by_name = |name: &str| declared.iter().find(|option| option.long == name);
    let known = ["--help"].into_iter().chain(declared.iter().map(|option| option.long.as_str()));
    let aliases = ALIASES.iter().filter(|(_, of)| by_name(of).is_some());
    let mut meant: Vec<&str> = Vec::new();
    for (candidate, of) in known.map(|known| (known, known)).chain(aliases.copied()) {
        if candidate == name {
            meant = vec![of];
            break;
        }
        if candidate.starts_with(&name) && !meant.contains(&of) {
            meant.push(of);
        }
    }
    match meant[..] {
        ["--help"] => Err(Stop::Shown(help::text(program))),
        ["--version"] => Err(Stop::Shown(versions::line(program.name))),
        ["--versions-report"] => Err(Stop::Shown(versions::report())),
        [one] => by_name(one).ok_or_else(|| Stop::Usage(format!("{NO_SUCH_OPTION}{typed}"))),
        [] => Err(Stop::Usage(format!("{NO_SUCH_OPTION}{typed}"))),
        _ => Err(Stop::Usage(format!("ambiguous option: {typed} ({}?)", meant.join(", ")))),
    }
}

fn no_value(option: &str) -> Stop {
    Stop::Usage(format!("{option} needs a value"))
}

/// argh's sentence, as the tail of ours.
fn one_line(output: &str) -> String {
    let text: Vec<&str> = output.split_whitespace().collect();
    let text = text.join(" ");
    text.strip_prefix("Error parsing ").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::options::{Common, Logging, Output};
    use crate::cli::salt::Salt;
    use crate::cli::{PROGRAMS, salt, salt_key};

    fn strings(args: &[&str]) -> Vec<String> {
        args.iter().map(|arg| (*arg).to_owned()).collect()
    }

    fn sort(args: &[&str]) -> Result<Line, Stop> {
        Line::sort(&salt::PROGRAM, &strings(args), std::io::empty())
    }

    #[test]
    fn gnu_forms_mean_the_same() {
        for args in [
            &["*", "test.ping", "--out=json", "-ldebug", "-t5", "-sv"][..],
            &["--out", "json", "-l", "debug", "-t", "5", "-s", "-v", "*", "test.ping"],
            &["*", "--output=json", "--log-level", "debug", "--timeout=5", "test.ping", "-vs"],
            &["--out=yaml", "--out=json", "--log-level=debug", "-vst5", "--", "*", "test.ping"],
            &["--output", "json", "--log-l=debug", "--tim", "5", "--verb", "--stati", "*", "test.ping"],
        ] {
            let mut line = sort(args).unwrap();
            assert_eq!(line.words, ["*", "test.ping"], "{args:?}");
            let (own, output) = (line.take::<Salt>().unwrap(), line.take::<Output>().unwrap());
            assert_eq!(output.out.as_deref(), Some("json"), "{args:?}");
            assert_eq!((own.timeout.map(|time| time.0), own.r#static, own.verbose), (Some(5), true, true), "{args:?}");
            assert_eq!(line.take::<Logging>().unwrap().log_level.map(|level| level.name()), Some("debug"));
            assert_eq!(line.take::<Common>().unwrap().config_dir, None);
        }
    }

    #[test]
    fn what_follows_two_dashes_and_a_lone_dash_are_words() {
        let line = sort(&["*", "cmd.run", "-", "--", "--out", "help"]).unwrap();
        assert_eq!(line.words, ["*", "cmd.run", "-", "--out", "help"]);
        let mut line = sort(&["--out-indent", "-1", "help"]).unwrap();
        assert_eq!((line.take::<Output>().unwrap().out_indent, line.words), (Some(-1), vec!["help".to_owned()]));
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        for (args, sentence) in [
            (&["--bogus"][..], "no such option: --bogus"),
            (&["-Z"], "no such option: -Z"),
            (&["--out"], "--out needs a value"),
            (&["-t"], "-t needs a value"),
            (&["--static=yes"], "--static takes no value"),
            (
                &["--ou", "json"],
                "ambiguous option: --ou (--output-diff, --out, --out-indent, --out-file, --out-file-append?)",
            ),
        ] {
            assert_eq!(sort(args).unwrap_err(), Stop::Usage(sentence.to_owned()), "{args:?}");
        }
        let error = sort(&["-t", "soon"]).unwrap().take::<Salt>().unwrap_err();
        assert_eq!(
            error,
            Stop::Usage("option '--timeout' with value 'soon': not a whole number of seconds".to_owned())
        );
        assert!(matches!(sort(&["-a", "pam"]).unwrap_err(), Stop::Lacking(_)));
    }

    #[test]
    fn standard_input_gives_further_arguments() {
        let input = "web1\n--out=json\r\ntest.ping\n";
        let mut line = Line::sort(&salt::PROGRAM, &strings(&["--args-stdin"]), input.as_bytes()).unwrap();
        assert_eq!(line.words, ["web1", "test.ping"]);
        assert_eq!(line.take::<Output>().unwrap().out.as_deref(), Some("json"));
    }

    #[test]
    fn a_saltfile_gives_what_is_not_typed() {
        let path = std::env::temp_dir().join(format!("halite-saltfile-{}", std::process::id()));
        let named = format!("--saltfile={}", path.display());
        let sort = |text: &str, args: &[&str]| {
            std::fs::write(&path, text).unwrap();
            sort(&[&[named.as_str()], args].concat())
        };
        let text =
            "salt:\n  config_dir: /x\n  output: json\n  static: True\n  verbose: False\nsalt-key:\n  yes: True\n";
        let mut line = sort(text, &["*", "test.ping", "--out", "yaml"]).unwrap();
        assert_eq!(line.take::<Output>().unwrap().out.as_deref(), Some("yaml"));
        assert_eq!(line.take::<Common>().unwrap().config_dir, Some("/x".into()));
        let own = line.take::<Salt>().unwrap();
        assert!(own.r#static && !own.verbose);
        for (text, why) in [
            ("salt: {nope: 1}", "salt: nope: no such option"),
            ("salt: {static: 5}", "salt: static: is True or False"),
            ("salt: {timeout: [1]}", "salt: timeout: takes one value"),
            ("salt: [x]", "salt holds options, not a list"),
            ("salt: {", "expected"),
        ] {
            let Stop::Usage(sentence) = sort(text, &[]).unwrap_err() else { panic!("{text}") };
            assert!(sentence.starts_with(&path.display().to_string()) && sentence.contains(why), "{sentence}");
            assert!(!sentence.contains('\n'));
        }
        assert!(sort("", &[]).is_ok());
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(
            super::Line::sort(&salt::PROGRAM, &strings(&[&named]), std::io::empty()),
            Err(Stop::Usage(_))
        ));
    }

    #[test]
    fn a_programs_own_letters_go_before_the_shared_ones() {
        let key = salt_key::PROGRAM.declared();
        let by_letter =
            |letter| key.iter().find(|option| option.short == Some(letter)).map(|option| option.long.as_str());
        assert_eq!((by_letter('l'), by_letter('a')), (Some("--list"), Some("--accept")));
    }

    #[test]
    fn every_option_of_salt_is_known() {
        let lists = include_str!("../../../tests/data/program-options.txt");
        assert_eq!(lists.lines().filter(|line| !line.starts_with('#')).count(), PROGRAMS.len());
        for program in PROGRAMS {
            let declared = program.declared();
            let mut list =
                lists.lines().find(|line| line.split(' ').next() == Some(program.name)).unwrap().split(' ').skip(1);
            assert!(list.clone().count() > 10);
            let missing: Vec<&str> = list
                .by_ref()
                .filter(|option| match option.strip_prefix("--") {
                    None => *option != "-h" && !declared.iter().any(|known| known.short == option.chars().nth(1)),
                    Some(_) => matches!(long_option(program, &declared, option), Err(Stop::Usage(_))),
                })
                .collect();
            assert!(missing.is_empty(), "{} lacks {missing:?}", program.name);
        }
    }
}
