//! What a user types and what comes back, as text: a prompt and a command, the lines of standard output, those of
//! standard error behind `! `, and behind `? ` the exit code where it is not 0.
//!
//! In what is wanted, `...` stands for any text, and on a line of its own for any lines.

use std::process::Output;

/// A command and what is to come back.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Where it stands in its file, from 1.
    pub line: usize,
    pub prompt: String,
    pub command: String,
    pub wanted: Vec<String>,
}

/// The steps of a text: each begins with one of the prompts and ends before the next. Blank lines around them, and lines
/// that begin with `## `, do not count.
pub fn steps<'a>(lines: impl Iterator<Item = (usize, &'a str)>, prompts: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (line, text) in lines.filter(|(_, text)| !text.starts_with("## ")) {
        let begun = prompts.iter().find_map(|prompt| Some((prompt, text.strip_prefix(prompt)?)));
        match (begun, steps.last_mut()) {
            (Some((prompt, command)), _) => steps.push(Step {
                line,
                prompt: prompt.trim_end().to_owned(),
                command: command.to_owned(),
                wanted: Vec::new(),
            }),
            (None, Some(step)) => step.wanted.push(text.trim_end().to_owned()),
            (None, None) => assert!(text.trim().is_empty(), "line {line} comes before the first command: {text}"),
        }
    }
    steps.iter_mut().for_each(|step| trim(&mut step.wanted));
    steps
}

/// What a program did, in the same form. `named` are texts, such as directories, that get a name instead.
pub fn answer(output: &Output, named: &[(&str, &str)]) -> Vec<String> {
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        named.iter().fold(text, |text, (from, to)| text.replace(from, to))
    };
    let mut lines: Vec<String> = text(&output.stdout).lines().map(|line| line.trim_end().to_owned()).collect();
    lines.extend(text(&output.stderr).lines().map(|line| format!("! {line}").trim_end().to_owned()));
    match output.status.code() {
        Some(0) => {}
        Some(code) => lines.push(format!("? {code}")),
        None => lines.push("? killed".to_owned()),
    }
    trim(&mut lines);
    lines
}

/// Whether what came back is what is wanted.
pub fn fits(wanted: &[String], answer: &[String]) -> bool {
    match wanted.split_first() {
        None => answer.is_empty(),
        Some((any, rest)) if any == "..." => (0..=answer.len()).any(|skipped| fits(rest, &answer[skipped..])),
        Some((line, rest)) => {
            answer.split_first().is_some_and(|(first, others)| line_fits(line, first) && fits(rest, others))
        }
    }
}

/// The parts between the `...` must follow each other in the line.
fn line_fits(wanted: &str, line: &str) -> bool {
    let Some((first, rest)) = wanted.split_once("...") else {
        return wanted == line;
    };
    let Some(mut left) = line.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = rest.split("...").collect();
    let (last, middle) = parts.split_last().unwrap();
    for part in middle {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

/// Without blank lines at both ends.
fn trim(lines: &mut Vec<String>) {
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let blank = lines.iter().take_while(|line| line.is_empty()).count();
    lines.drain(..blank);
}

#[test]
fn dots_stand_for_any_text_and_nothing_else_does() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (wanted, answer, is_fit) in [
        ("a\nb", "a\nb", true),
        ("a", "a\nb", false),
        ("a\nb", "a", false),
        ("", "a", false),
        ("jid: ...", "jid: 5", true),
        ("jid: ...", "ajid: 5", false),
        ("a...c...", "abcd", true),
        ("a...c...e", "abcde", true),
        ("a...c...e", "abcdf", false),
        ("a...a", "a", false),
        ("...\nb", "b", true),
        ("...\nb", "x\ny\nb", true),
        ("...\nb", "x\ny", false),
        ("a\n...", "a\nb\nc", true),
    ] {
        assert_eq!(fits(&lines(wanted), &lines(answer)), is_fit, "{wanted:?} {answer:?}");
    }
}
