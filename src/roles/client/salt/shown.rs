//! What has been shown of a job, and how the program ends with it.

use super::{Published, doc, progress::Progress};
use crate::cli::exit::complain;
use crate::cli::salt::SaltLine;
use crate::cli::{Display, Exit, Trouble};
use halite_run::modules;
use halite_value::{Map, Value};
use halite_wire::message::{EndState, Outcome, Return};

pub struct Shown<'a> {
    line: &'a SaltLine,
    display: Display,
    jid: &'a str,
    is_batch: bool,
    targeted: usize,
    /// For `--static` and documentation: all answers, to be shown together.
    together: Map,
    is_doc: bool,
    out: Option<String>,
    returned: usize,
    worst: i32,
    failed: Vec<String>,
    /// Whether some minion does not have the function.
    is_unknown: bool,
    not_connected: Vec<String>,
    silent: Vec<String>,
    /// Targets of a batch that was stopped before their turn came.
    cancelled: Vec<String>,
    progress: Option<Progress>,
}

impl<'a> Shown<'a> {
    pub fn new(line: &'a SaltLine, display: Display, job: &'a Published) -> Shown<'a> {
        let targeted = job.minions.len() + job.absent.len() + job.unknown().count();
        Shown {
            line,
            display,
            jid: &job.jid,
            is_batch: job.is_batch,
            targeted,
            together: Map::new(),
            is_doc: line.salt.doc || line.words.get(1).is_some_and(|fun| fun == "sys.doc"),
            out: None,
            returned: 0,
            worst: 0,
            failed: Vec::new(),
            is_unknown: false,
            not_connected: Vec::new(),
            silent: Vec::new(),
            cancelled: Vec::new(),
            progress: line.salt.progress.then(|| Progress::begin(targeted)).flatten(),
        }
    }

    /// These targets of a batch have their turn.
    pub fn started(&mut self, ids: &[String]) {
        let mut ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        ids.sort_unstable();
        self.notice(&format!("\nExecuting run on {}\n\n", Value::list(ids).repr()));
    }

    /// What is told of a batch beside its answers.
    fn notice(&mut self, text: &str) {
        if self.is_together() {
            return;
        }
        self.clear_progress();
        self.display.say(text);
    }

    pub fn outcome(&mut self, outcome: Outcome) -> Result<(), Trouble> {
        match (outcome.state, outcome.ret) {
            (EndState::Returned | EndState::Killed, Some(ret)) => self.returned(&outcome.id, ret),
            (EndState::Absent, _) if self.is_batch && !self.is_together() => {
                self.notice(&format!("Minion {} did not respond. No job will be sent.\n", outcome.id));
                self.not_connected.push(outcome.id);
                self.show_progress();
                Ok(())
            }
            (EndState::Cancelled, _) => {
                self.cancelled.push(outcome.id);
                Ok(())
            }
            (EndState::Absent, _) => self.without_return(&outcome.id, "Not connected"),
            (EndState::Killed, _) => self.without_return(&outcome.id, "Killed"),
            _ => self.without_return(&outcome.id, "Lost"),
        }
    }

    fn returned(&mut self, id: &str, ret: Return) -> Result<(), Trouble> {
        self.returned += 1;
        let retcode = i32::try_from(ret.retcode).unwrap_or(1);
        if retcode != 0 {
            self.is_unknown |= ret.value.as_str() == Some(&format!("'{}' is not available.", ret.fun.to_text()));
            self.failed.push(id.to_owned());
            self.worst = self.worst.max(retcode.max(1));
        }
        self.show(id, ret.value, ret.out.as_deref(), retcode)
    }

    /// A target that has not answered, and why.
    pub fn without_return(&mut self, id: &str, why: &str) -> Result<(), Trouble> {
        let group = if why == "No response" { &mut self.silent } else { &mut self.not_connected };
        group.push(id.to_owned());
        if self.line.salt.hide_timeout || self.is_doc {
            return Ok(());
        }
        let mut text = format!("Minion did not return. [{why}]");
        if why == "No response" {
            text.push_str(
                "\nThe minions may not have all finished running and any remaining minions will return upon \
                 completion. To look up the return data for this job later, run the following command:\n\n\
                 salt-run jobs.lookup_jid ",
            );
            text.push_str(self.jid);
        }
        self.show(id, text.into(), None, 1)
    }

    fn show(&mut self, id: &str, value: Value, out: Option<&str>, retcode: i32) -> Result<(), Trouble> {
        if self.is_together() {
            self.out = out.map(str::to_owned).or(self.out.take());
            self.together.insert(id, value);
        } else {
            self.clear_progress();
            self.display.show(&self.answer(id, value, retcode).into(), out, retcode)?;
        }
        self.show_progress();
        Ok(())
    }

    /// An answer as it is displayed: in a batch with the job and the return code beside it.
    fn answer(&self, id: &str, value: Value, retcode: i32) -> Map {
        let mut answer = Map::new();
        if self.is_batch {
            answer.insert("retcode", retcode);
            answer.insert("jid", self.jid);
        }
        answer.insert(id, value);
        answer
    }

    /// Whether everything is shown at the end.
    fn is_together(&self) -> bool {
        self.is_doc || self.line.salt.r#static
    }

    fn clear_progress(&self) {
        if let Some(progress) = &self.progress {
            progress.clear();
        }
    }

    fn show_progress(&self) {
        if let Some(progress) = &self.progress {
            progress.show(self.returned + self.silent.len() + self.not_connected.len());
        }
    }

    pub fn finish(mut self) -> Result<Exit, Trouble> {
        self.clear_progress();
        let mut together = std::mem::take(&mut self.together);
        together.sort_keys();
        if self.is_doc {
            let found = doc::show(&together, &self.line.output, &mut self.display)?;
            if found == 0 && self.failed.is_empty() && self.returned > 0 {
                return Err(Trouble::new(Exit::Failed, "no minion that answered knows such a function or module"));
            }
        } else if self.line.salt.r#static {
            self.display.show(&Value::Map(together), self.out.as_deref(), self.worst)?;
        }
        if self.line.salt.summary && !self.is_doc {
            self.summary();
        }
        if !self.cancelled.is_empty() {
            let ids = self.cancelled.join(", ");
            complain(&format!("ERROR: The batch was stopped before all minions had their turn. Not started: {ids}"));
        }
        let unanswered = self.silent.len() + self.not_connected.len() + self.cancelled.len();
        if self.failed.is_empty() && unanswered == 0 {
            return Ok(Exit::Ok);
        }
        complain("ERROR: Minions returned with non-zero exit code");
        if self.is_unknown {
            self.hint();
        }
        // A batch ends with the highest code of its minions, as in Salt.
        Ok(if self.is_batch && self.worst > 0 { Exit::Passed(self.worst) } else { Exit::Failed })
    }

    /// Says what may have been meant by a function that is not there.
    fn hint(&self) {
        let fun = self.line.words.get(1).map_or("", String::as_str);
        let nearest = modules::nearest(fun);
        if !nearest.is_empty() && modules::find(fun).is_none() {
            complain(&format!("'{fun}': did you mean {}?", nearest.join(" or ")));
        }
    }

    fn summary(&mut self) {
        let rule = "-".repeat(43);
        let mut text = format!(
            "\n\n{rule}\nSummary\n{rule}\n# of minions targeted: {}\n# of minions returned: {}\n\
             # of minions that did not return: {}\n# of minions with errors: {}\n",
            self.targeted,
            self.returned,
            self.silent.len() + self.not_connected.len() + self.cancelled.len(),
            self.failed.len()
        );
        let named = [
            ("Minions not connected", &self.not_connected),
            ("Minions not responding", &self.silent),
            ("Minions not started", &self.cancelled),
            ("Minions with failures", &self.failed),
        ];
        for (what, ids) in named {
            if self.line.salt.verbose && !ids.is_empty() {
                text.push_str(&format!("{what}: {}\n", ids.join(" ")));
            }
        }
        self.display.say(&format!("{text}{rule}\n"));
    }
}
