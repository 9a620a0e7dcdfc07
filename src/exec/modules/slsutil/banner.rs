//! `slsutil.banner`: the comment at the top of a managed file.

use super::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;

const TITLE: &str = "THIS FILE IS MANAGED BY SALT - DO NOT EDIT";
const TEXT: &str = "The contents of this file are managed by Salt. Any changes to this file may be overwritten \
                    automatically and without warning.";

record! {
    /// A comment in a box, which says that a file is managed.
    ///
    ///   salt '*' slsutil.banner
    ///   salt '*' slsutil.banner commentchar=' *' borderchar='*' blockstart='/**' blockend=' */'
    pub struct Banner {
        /// How wide it is, in characters.
        width: i64 = 72,
        /// What a line of comment begins with in the file's language.
        commentchar: String = "#",
        /// What the border is made of; its first character counts.
        borderchar: String = "#",
        /// What begins a comment of several lines, where the language has such.
        blockstart: Option<String> = (),
        /// What ends it.
        blockend: Option<String> = (),
        /// The line in the middle of the box.
        title: Option<String> = (),
        /// The sentences below it.
        text: Option<String> = (),
        /// End with a line end.
        newline: bool = false,
    }
}

impl Run for Banner {
    fn run(self, _: &Ctx) -> Reply {
        let mark = &self.commentchar;
        let length = |text: &str| text.chars().count();
        let (left, right) = (mark.trim_end(), mark.trim());
        let edges = length(left) + length(right);
        let width = usize::try_from(self.width).unwrap_or(0).min(10_000);
        let Some(inner) = width.checked_sub(edges + 2).filter(|inner| *inner > 0) else {
            return Err(Fault::execution("Width is too small to render banner"));
        };
        let border: String = self.borderchar.chars().take(1).collect::<String>().repeat(width - edges);
        let border = format!("{mark}{border}{right}");
        let spacer = format!("{mark}{}{mark}", " ".repeat(width.saturating_sub(2 * length(mark))));
        let mut lines: Vec<String> = self.blockstart.into_iter().collect();
        lines.extend([border.clone(), spacer.clone()]);
        for line in wrapped(self.title.as_deref().unwrap_or(TITLE), inner) {
            lines.push(format!("{left} {} {right}", centred(&line, inner)));
        }
        lines.push(spacer);
        for line in wrapped(self.text.as_deref().unwrap_or(TEXT), inner) {
            lines.push(format!("{left} {line}{} {right}", " ".repeat(inner.saturating_sub(length(&line)))));
        }
        lines.push(border);
        lines.extend(self.blockend);
        let end = if self.newline { "\n" } else { "" };
        Ok(format!("{}{end}", lines.join("\n")).into())
    }
}

/// Python's `str.center`: of an odd number of blanks the left side gets one more where the width is odd too.
fn centred(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(text.chars().count());
    let left = blanks / 2 + (blanks & width & 1);
    format!("{}{text}{}", " ".repeat(left), " ".repeat(blanks - left))
}

/// Lines of at most so many characters, broken at blanks and behind hyphens; what is longer is cut.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let length = |text: &str| text.chars().count();
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for (gap, mut piece) in text.split_whitespace().flat_map(pieces) {
        let gap = |line: &str| if line.is_empty() { "" } else { gap };
        let fits = |line: &str, piece: &str| length(line) + gap(line).len() + length(piece) <= width;
        if !fits(&line, piece) && length(piece) <= width {
            lines.push(std::mem::take(&mut line));
        }
        while !fits(&line, piece) {
            let room = width.saturating_sub(length(&line) + gap(&line).len());
            let cut = piece.char_indices().nth(room).map_or(piece.len(), |(at, _)| at);
            if cut > 0 {
                line = format!("{line}{}{}", gap(&line), &piece[..cut]);
            }
            piece = &piece[cut..];
            lines.push(std::mem::take(&mut line));
        }
        line = format!("{line}{}{piece}", gap(&line));
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// A word in the pieces at which it may be broken, each with what stands before it on the same line.
fn pieces(word: &str) -> Vec<(&'static str, &str)> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, _) in word.match_indices('-') {
        let letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
        if letter(word[..at].chars().next_back()) && letter(word[at + 1..].chars().next()) {
            pieces.push(&word[start..=at]);
            start = at + 1;
        }
    }
    pieces.push(&word[start..]);
    pieces.into_iter().enumerate().map(|(at, piece)| (if at == 0 { " " } else { "" }, piece)).collect()
}
