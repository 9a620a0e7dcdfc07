//! A table of cron, from its text and back.

use halite_value::{Map, Value};

/// What stands above the lines that are ours; Salt's, so that its tables are read.
const MARK: &str = "# Lines below here are managed by Salt, do not edit";
const IDENTIFIER: &str = "SALT_CRON_IDENTIFIER";
const DISABLED: &str = "#DISABLED#";
/// What Salt calls a job without an identifier.
pub const NO_ID: &str = "NO ID SET";
const TIMES: [&str; 5] = ["minute", "hour", "daymonth", "month", "dayweek"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Lines above the mark.
    pub pre: Vec<String>,
    pub env: Vec<(String, String)>,
    pub crons: Vec<Job>,
    pub special: Vec<Job>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub when: When,
    pub cmd: String,
    pub identifier: Option<String>,
    pub comment: Option<String>,
    /// It is there and does not run.
    pub commented: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// Minute, hour, day of the month, month, day of the week.
    Times([String; 5]),
    /// `@hourly` and the like.
    Special(String),
}

impl Table {
    pub fn parse(text: &str) -> Table {
        let mut table = Table::default();
        let mut lines = text.lines();
        table.pre = lines.by_ref().take_while(|line| *line != MARK).map(str::to_owned).collect();
        let (mut comment, mut identifier): (Option<String>, Option<String>) = (None, None);
        for line in lines {
            let (line, commented) = match line.strip_prefix(DISABLED) {
                Some(rest) => (rest, true),
                None => (line, false),
            };
            if let Some(rest) = line.strip_prefix('#') {
                let mut words = rest.trim_start_matches(['#', ' ']);
                if let Some((before, behind)) = words.split_once(IDENTIFIER) {
                    words = before.trim_end();
                    identifier = behind.get(1..).filter(|id| !id.is_empty()).map(str::to_owned).or(identifier);
                }
                comment = Some(match comment {
                    Some(above) => format!("{above}\n{words}"),
                    None => words.to_owned(),
                });
                continue;
            }
            let job = |when: When, cmd: String, comment: &mut Option<String>, identifier: &mut Option<String>| Job {
                when,
                cmd,
                identifier: identifier.take(),
                comment: comment.take(),
                commented,
            };
            if line.starts_with('@') {
                let words: Vec<&str> = line.split_whitespace().collect();
                if let [spec, cmd @ ..] = words.as_slice()
                    && !cmd.is_empty()
                {
                    let when = When::Special(spec.to_string());
                    table.special.push(job(when, cmd.join(" "), &mut comment, &mut identifier));
                }
            } else if is_variable(line)
                && let Some((name, value)) = line.split_once('=')
            {
                table.env.push((name.to_owned(), value.to_owned()));
            } else {
                let words: Vec<&str> = line.splitn(6, ' ').collect();
                if let [minute, hour, daymonth, month, dayweek, cmd] = words.as_slice() {
                    let times = [minute, hour, daymonth, month, dayweek].map(|time| time.to_string());
                    table.crons.push(job(When::Times(times), cmd.to_string(), &mut comment, &mut identifier));
                }
            }
        }
        table
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in self.pre.iter().map(String::as_str).chain([MARK]) {
            text.push_str(line);
            text.push('\n');
        }
        for (name, value) in &self.env {
            let value = if value.is_empty() { "\"\"" } else { value };
            text.push_str(&format!("{name}={value}\n"));
        }
        for job in self.crons.iter().chain(&self.special) {
            job.write(&mut text);
        }
        text
    }

    pub fn shown(&self) -> Map {
        let env = self
            .env
            .iter()
            .map(|(name, value)| Value::from(Map::from_iter([("name", name.as_str()), ("value", value.as_str())])));
        Map::from_iter([
            ("pre", Value::list(self.pre.iter().map(String::as_str))),
            ("crons", Value::list(self.crons.iter().map(Job::shown))),
            ("special", Value::list(self.special.iter().map(Job::shown))),
            ("env", Value::list(env)),
        ])
    }
}

/// An equals sign before the first blank.
fn is_variable(line: &str) -> bool {
    line.find('=').is_some_and(|sign| sign > 0 && line.find(' ').is_none_or(|blank| sign < blank))
}

impl Job {
    pub fn shown(&self) -> Map {
        let mut shown = Map::new();
        match &self.when {
            When::Times(times) => {
                for (name, time) in TIMES.iter().zip(times) {
                    shown.insert(*name, time.as_str());
                }
                shown.insert("identifier", self.identifier.clone());
                shown.insert("cmd", self.cmd.as_str());
                shown.insert("comment", self.comment.clone());
            }
            When::Special(spec) => {
                shown.insert("spec", spec.as_str());
                shown.insert("cmd", self.cmd.as_str());
                shown.insert("identifier", self.identifier.clone());
                shown.insert("comment", self.comment.clone());
            }
        }
        shown.insert("commented", self.commented);
        shown
    }

    fn write(&self, text: &mut String) {
        if self.comment.is_some() || self.identifier.is_some() {
            text.push('#');
            if let Some(comment) = self.comment.as_ref().filter(|comment| !comment.is_empty()) {
                text.push_str(&format!(" {}", comment.replace('\n', "\n# ")));
            }
            if let Some(identifier) = self.identifier.as_ref().filter(|identifier| !identifier.is_empty()) {
                text.push_str(&format!(" {IDENTIFIER}:{identifier}"));
            }
            text.push('\n');
        }
        let when = match &self.when {
            When::Times(times) => times.join(" "),
            When::Special(spec) => spec.clone(),
        };
        let disabled = if self.commented { DISABLED } else { "" };
        text.push_str(&format!("{disabled}{when} {}\n", self.cmd));
    }

    fn id(&self) -> &str {
        self.identifier.as_deref().filter(|identifier| !identifier.is_empty()).unwrap_or(NO_ID)
    }

    /// Whether a command and an identifier mean this job. A job that has no identifier yet takes one over from a call with
    /// its command.
    pub fn is_meant(&self, cmd: &str, identifier: Option<&str>) -> bool {
        let wanted = identifier.filter(|identifier| !identifier.is_empty()).unwrap_or(NO_ID);
        match self.id() {
            NO_ID if self.cmd == cmd => true,
            NO_ID if wanted == NO_ID => false,
            id => id == wanted,
        }
    }

    /// Whether this job has to be changed to be the other. What the other leaves open is as it is.
    pub fn needs(&self, wanted: &Job) -> bool {
        let other_time = match (&self.when, &wanted.when) {
            (When::Times(own), When::Times(times)) => {
                own.iter().zip(times).any(|(own, time)| own != time && (time != "random" || own == "*"))
            }
            (own, wanted) => own != wanted,
        };
        let other = |had: &Option<String>, wanted: &Option<String>| wanted.is_some() && had != wanted;
        other_time
            || other(&self.comment, &wanted.comment)
            || self.commented != wanted.commented
            || self.cmd != wanted.cmd
            || wanted.identifier.as_deref().unwrap_or_default() != self.id()
                && (wanted.identifier.is_some() || self.id() != NO_ID)
    }

    /// Takes from the job that this one replaces what is left open.
    pub fn take_over(&mut self, had: &Job) {
        if let (When::Times(times), When::Times(own)) = (&mut self.when, &had.when) {
            for (time, own) in times.iter_mut().zip(own) {
                if time == "random" && own != "*" {
                    time.clone_from(own);
                }
            }
        }
        if self.comment.is_none() {
            self.comment.clone_from(&had.comment);
        }
        if self.identifier.is_none() {
            self.identifier.clone_from(&had.identifier);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_comes_back_as_it_was() {
        let text = format!(
            "above\n{MARK}\nA=b c\n# one\n# two {IDENTIFIER}:x y\n*/5 1 * * 1-5 run  it = now\n{DISABLED}0 0 1 1 * off\n#\n@reboot go\n"
        );
        let table = Table::parse(&text);
        assert_eq!(table.text(), text);
        assert_eq!(table.env, [("A".to_owned(), "b c".to_owned())]);
        assert_eq!(table.crons[0].identifier.as_deref(), Some("x y"));
        assert!(table.crons[1].commented);
        assert_eq!(Table::parse("").text(), format!("{MARK}\n"));
    }

    #[test]
    fn a_job_is_known_by_its_identifier_else_by_its_command() {
        let job = |cmd: &str, identifier: Option<&str>| Job {
            when: When::Special("@daily".into()),
            cmd: cmd.into(),
            identifier: identifier.map(str::to_owned),
            comment: None,
            commented: false,
        };
        assert!(job("a", None).is_meant("a", None));
        assert!(job("a", None).is_meant("a", Some("id")));
        assert!(!job("a", None).is_meant("b", None));
        assert!(job("a", Some("id")).is_meant("b", Some("id")));
        assert!(!job("a", Some("id")).is_meant("a", None));
        assert!(job("a", None).needs(&job("a", Some("id"))) && !job("a", None).needs(&job("a", None)));
    }
}
