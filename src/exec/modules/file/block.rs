//! `file.blockreplace`: what stands between two marks in a file.

use super::{back_up, rewrite, text_of};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::diff::unified;
use halite_lang::regex::Regex;
use halite_value::Value;
use halite_value::record;

record! {
    /// Replaces what stands between two marks in a file. Returns the difference.
    ///
    ///   salt '*' file.blockreplace /etc/hosts 'BEGIN ours' 'END ours' '10.0.1.1 foo.foobar' append_if_not_found=True
    pub struct Blockreplace {
        /// The path.
        path: String,
        /// A text in the line before the block.
        marker_start: String = "#-- start managed zone --",
        /// A text in the line behind it.
        marker_end: String = "#-- end managed zone --",
        /// What stands between them.
        content: String = "",
        /// Put marks and content at the end where there are none.
        append_if_not_found: bool = false,
        /// Put them at the beginning.
        prepend_if_not_found: bool = false,
        /// What the name of a copy of the old file ends with; False: none.
        backup: Value = ".bak",
        /// Change nothing.
        dry_run: bool = false,
        /// Whether the difference is returned, else whether there is one.
        show_changes: bool = true,
        /// Whether a line end is put behind the content; None: where it has none.
        append_newline: Option<bool> = false,
        /// Put marks and content before the first line in which this pattern is found.
        insert_before_match: Option<String> = (),
        /// Put them behind it.
        insert_after_match: Option<String> = (),
    }
}

impl Run for Blockreplace {
    fn run(self, ctx: &Ctx) -> Reply {
        let given = |pattern: &Option<String>| pattern.as_ref().is_some_and(|pattern| !pattern.is_empty());
        let places = [
            self.append_if_not_found,
            self.prepend_if_not_found,
            given(&self.insert_before_match),
            given(&self.insert_after_match),
        ];
        if places.iter().filter(|place| **place).count() > 1 {
            return Err(Fault::invocation(
                "Only one of append_if_not_found, prepend_if_not_found, insert_before_match, and insert_after_match is \
                 permitted",
            ));
        }
        let path = paths::expand_user(ctx.host, &self.path);
        if !paths::exists(ctx.host, &path) {
            return Err(Fault::invocation(format!("File not found: {path}")));
        }
        let path = paths::real(ctx.host, &path);
        let old = text_of(ctx.host, &path)?;
        let new = self.edited(&old)?;
        let has_changes = old != new;
        if has_changes && !self.dry_run {
            if self.backup != Value::Bool(false) {
                back_up(ctx.host, &path, &format!("{path}{}", self.backup.to_text()))?;
            }
            rewrite(ctx.host, &path, &new)?;
        }
        match self.show_changes {
            true => Ok(unified(&old, &new).into()),
            false => Ok(has_changes.into()),
        }
    }
}

impl Blockreplace {
    fn edited(&self, old: &str) -> Result<String, Fault> {
        let lines: Vec<&str> = old.split_inclusive('\n').collect();
        let end = if lines.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
        let mut new: Vec<String> = Vec::new();
        let (mut in_block, mut found) = (false, false);
        for line in &lines {
            if line.contains(&self.marker_start) {
                in_block = true;
            } else if in_block {
                if let Some(at) = line.find(&self.marker_end) {
                    in_block = false;
                    found = true;
                    new.push(self.body(&line[at..], end));
                }
                continue;
            }
            new.push(line.to_string());
        }
        if in_block {
            return Err(Fault::execution("Unterminated marked block. End of file reached before marker_end."));
        }
        if found {
            return Ok(new.concat());
        }
        let missing = || Fault::execution("Cannot edit marked block. Markers were not found in file.");
        let block = format!("{}{end}{}", self.marker_start, self.body(&self.marker_end, end));
        if self.prepend_if_not_found {
            return Ok(block + &new.concat());
        }
        if self.append_if_not_found {
            let mut whole = new.concat();
            if !whole.is_empty() && !whole.ends_with(end) {
                whole.push_str(end);
            }
            return Ok(whole + &block);
        }
        let given = |pattern: &Option<String>| pattern.clone().filter(|pattern| !pattern.is_empty());
        let (pattern, behind) = match (given(&self.insert_before_match), given(&self.insert_after_match)) {
            (Some(pattern), _) => (pattern, 0),
            (None, Some(pattern)) => (pattern, 1),
            (None, None) => return Err(missing()),
        };
        let wrong = |error: halite_lang::regex::RegexError| Fault::invocation(error.to_string());
        let regex = Regex::new(&pattern).map_err(wrong)?;
        for (at, line) in lines.iter().enumerate() {
            if regex.search(line).map_err(wrong)?.is_some() {
                let (before, after) = lines.split_at(at + behind);
                return Ok(format!("{}{block}{}", before.concat(), after.concat()));
            }
        }
        Err(missing())
    }

    /// The content and the closing mark.
    fn body(&self, mark: &str, end: &str) -> String {
        let mark = format!("{}{end}", mark.trim_end_matches(['\r', '\n']));
        let newline = self.append_newline.unwrap_or(!self.content.ends_with('\n'));
        let content = self.content.replace("\r\n", "\n").replace('\n', end);
        let gap = if newline { end } else { "" };
        format!("{content}{gap}{mark}")
    }
}
