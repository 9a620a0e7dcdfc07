//! A table of command lines, right and wrong (`tests/data/command-lines.txt`).

use super::arguments::Called;
use super::salt::{Request, SaltLine};
use super::salt_call::SaltCallLine;
use super::salt_cp::SaltCpLine;
use super::salt_daemon::{DaemonLine, MASTER, MINION};
use super::salt_key::KeyLine;
use super::salt_run::SaltRunLine;
use super::*;
use std::io::empty;

#[test]
fn every_line_of_the_table_is_answered_so() {
    let table = include_str!("../../../tests/data/command-lines.txt");
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let mut seen = 0;
    for line in lines {
        let (command, wanted) = line.split_once(" => ").unwrap();
        let answered = match answer(&shell_words(command)) {
            Ok(asked) => asked,
            Err(Stop::Usage(sentence)) => format!("64 {sentence}"),
            Err(Stop::Incomplete(sentence)) => format!("42 {sentence}"),
            Err(Stop::Lacking(sentence)) => format!("69 {sentence}"),
            Err(Stop::Shown(text)) => format!("0 {text}"),
        };
        assert_eq!(answered, wanted, "{command}");
        seen += 1;
    }
    assert!(seen > 120, "only {seen} lines");
}

#[test]
fn every_example_of_a_program_is_a_command_line_of_it() {
    for program in PROGRAMS {
        assert!(!program.examples.is_empty(), "{}", program.name);
        for (example, what) in program.examples {
            let words = shell_words(example);
            assert_eq!(words[0], program.name, "{example}");
            assert!(answer(&words).is_ok() && what.ends_with('.'), "{example}: {:?}", answer(&words));
        }
    }
}

fn answer(words: &[String]) -> Result<String, Stop> {
    let (program, args) = words.split_first().unwrap();
    let runs = "runs".to_owned();
    match program.as_str() {
        "salt" => SaltLine::read(args, empty())?.request().map(|request| request_text(&request)),
        "salt-call" => SaltCallLine::read(args, empty())?.call().map(|called| call_text(called.as_ref())),
        "salt-cp" => SaltCpLine::read(args, empty())?.copy().map(|copy| {
            let sources: Vec<String> = copy.sources.iter().map(|source| format!("'{source}'")).collect();
            format!("{} {} {} to '{}'", copy.kind, copy.target.repr(), sources.join(" "), copy.dest)
        }),
        "salt-run" => SaltRunLine::read(args, empty())?.call().map(|called| call_text(called.as_ref())),
        "salt-key" => KeyLine::read(args).map(|_| runs),
        "salt-master" => DaemonLine::read(&MASTER, args).map(|_| runs),
        "salt-minion" => DaemonLine::read(&MINION, args).map(|_| runs),
        other => panic!("{other}"),
    }
}

fn request_text(request: &Request) -> String {
    let calls: Vec<String> = request.calls.iter().map(|call| call_text(Some(call))).collect();
    format!("{} {} {}", request.kind, request.target.repr(), calls.join("; ")).trim_end().to_owned()
}

fn call_text(called: Option<&Called>) -> String {
    let Some(called) = called else { return "all".to_owned() };
    let positional = called.arguments.positional.iter().map(|value| format!(" {}", value.repr()));
    let keywords = called.arguments.keywords.iter().map(|(name, value)| format!(" {name}={}", value.repr()));
    called.fun.clone() + &positional.chain(keywords).collect::<String>()
}

/// Words apart at spaces, single quotes around what has some.
fn shell_words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut quoted, mut open) = (false, false);
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                if !open {
                    words.push(String::new());
                    open = true;
                }
            }
            ' ' if !quoted => open = false,
            c if open => words.last_mut().unwrap().push(c),
            c => {
                words.push(c.into());
                open = true;
            }
        }
    }
    words
}
