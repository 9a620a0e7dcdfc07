//! The progress bar of `--progress`: what share of the minions has answered.

use std::time::Duration;

/// One state of the bar, `width` columns wide: to be printed over the one before.
pub fn bar(returned: usize, expected: usize, since: Duration, width: usize) -> String {
    // A syndic may bring more answers than were counted.
    let expected = expected.max(returned);
    let percent = (returned * 100).checked_div(expected).unwrap_or(100);
    let seconds = since.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let before = format!("{percent:>3}% |");
    let after = format!("| Elapsed Time: {hours}:{minutes:02}:{seconds:02} Returns: [{returned}/{expected}]");
    let space = width.saturating_sub(before.len() + after.len());
    let filled = (space * returned).checked_div(expected).unwrap_or(space);
    format!("{before}{}{}{after}", "#".repeat(filled), " ".repeat(space - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_its_width_and_never_overflows() {
        let at = |returned, expected| bar(returned, expected, Duration::from_secs(3725), 80);
        assert_eq!(at(0, 4), format!("  0% |{}| Elapsed Time: 1:02:05 Returns: [0/4]", " ".repeat(36)));
        assert!(at(2, 4).starts_with(" 50% |##################   "));
        for (returned, expected) in [(0, 0), (4, 4), (9, 4), (1, 3)] {
            assert_eq!(at(returned, expected).len(), 80, "{returned}/{expected}");
        }
        assert!(bar(1, 2, Duration::ZERO, 5).contains("[1/2]"));
    }
}
