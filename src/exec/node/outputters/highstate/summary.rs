//! The summary at the end of a run.

use super::super::Style;
use super::super::color::Color;
use super::state::State;

#[derive(Default)]
pub struct Summary {
    succeeded: usize,
    failed: usize,
    /// Would have changed something (`test=True`).
    pretended: usize,
    pub warned: usize,
    pub changed: usize,
    /// Milliseconds of the states that ran one after another.
    serial: f64,
    /// Milliseconds of the longest that ran beside others.
    parallel: f64,
}

impl Summary {
    pub fn count(&mut self, state: &State, changed: bool) {
        let stands_for = state.stands_for();
        match state.result() {
            Some(true) => self.succeeded += stands_for,
            Some(false) => self.failed += stands_for,
            None => self.pretended += stands_for,
        }
        self.changed += if changed { state.changed_names() } else { 0 };
        if state.report.contains("__parallel__") {
            self.parallel = self.parallel.max(state.duration());
        } else {
            self.serial += state.duration();
        }
    }

    pub fn show(&self, host: &str, style: &Style) -> String {
        let colors = style.colors;
        let counts = [self.succeeded, self.failed, self.pretended, self.warned];
        let digits = counts.iter().filter(|count| **count > 0).map(|count| count.to_string().len()).max().unwrap_or(0);
        let width = "Succeeded".len() + digits + 2;
        let rule = "-".repeat(width);
        let count = |label: &str, text: String| format!("{label}: {text:>space$}", space = width - label.len() - 2);
        let total = self.succeeded + self.failed + self.pretended;
        let failure = if self.failed > 0 { Color::Red } else { Color::Cyan };

        let mut notes = Vec::new();
        if self.pretended > 0 {
            notes.push(colors.paint(Color::LightYellow, &format!("unchanged={}", self.pretended)));
        }
        if self.changed > 0 {
            notes.push(colors.paint(Color::Green, &format!("changed={}", self.changed)));
        }
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };

        let succeeded = count("Succeeded", (self.succeeded + self.pretended).to_string());
        let mut out = vec![
            colors.paint(Color::Cyan, &format!("\nSummary for {host}\n{rule}")),
            colors.paint(Color::Green, &succeeded) + &notes,
            colors.paint(failure, &count("Failed", self.failed.to_string())),
        ];
        if style.truth_opt("state_output_pct", false) && total > 0 {
            out.push(colors.paint(Color::Green, &count("Success %", percent(total - self.failed, total))));
            out.push(colors.paint(failure, &count("Failure %", percent(self.failed, total))));
        }
        if self.warned > 0 {
            out.push(colors.paint(Color::LightRed, &count("Warnings", self.warned.to_string())));
        }
        let totals = format!("{rule}\nTotal states run: {total:>space$}", space = width - 7);
        out.push(colors.paint(Color::Cyan, &totals));
        if style.truth_opt("state_output_profile", true) {
            let time = self.serial + self.parallel;
            let (time, unit) = if time > 999.0 { (time / 1000.0, "s") } else { (time, "ms") };
            let run = format!("Total run time: {:>space$} {unit}", format!("{time:.3}"), space = width - 5);
            out.push(colors.paint(Color::Cyan, &run));
        }
        out.join("\n")
    }
}

/// With at most two digits after the point, and at least one.
fn percent(part: usize, whole: usize) -> String {
    let percent = (part as f64 / whole as f64 * 10_000.0).round() / 100.0;
    halite_value::float_repr(percent)
}
