//! Versions of packages, compared as rpm does it.

use std::cmp::Ordering;

/// Compares two versions as rpm does: epoch, version, release, each in its parts of digits and of letters.
pub fn compare(a: &str, b: &str) -> Ordering {
    let split = |text: &str| {
        let (epoch, rest) = text.split_once(':').unwrap_or(("0", text));
        let (version, release) = rest.split_once('-').unwrap_or((rest, ""));
        (epoch.parse::<u64>().unwrap_or(0), version.to_owned(), release.to_owned())
    };
    let ((epoch_a, version_a, release_a), (epoch_b, version_b, release_b)) = (split(a), split(b));
    let by_release = || match release_a.is_empty() || release_b.is_empty() {
        true => Ordering::Equal,
        false => parts(&release_a, &release_b),
    };
    epoch_a.cmp(&epoch_b).then_with(|| parts(&version_a, &version_b)).then_with(by_release)
}

/// `~` is before everything, even the end; `^` is behind the end and before everything else.
fn parts(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let skip = |text: &'_ str| {
            text.find(|c: char| c.is_ascii_alphanumeric() || c == '~' || c == '^').unwrap_or(text.len())
        };
        (a, b) = (&a[skip(a)..], &b[skip(b)..]);
        for (sign, absent) in [('~', Ordering::Greater), ('^', Ordering::Less)] {
            match (a.strip_prefix(sign), b.strip_prefix(sign)) {
                (Some(rest_a), Some(rest_b)) => return parts(rest_a, rest_b),
                (Some(_), None) if sign == '^' && !b.is_empty() => return Ordering::Less,
                (None, Some(_)) if sign == '^' && !a.is_empty() => return Ordering::Greater,
                (Some(_), None) => return absent.reverse(),
                (None, Some(_)) => return absent,
                (None, None) => {}
            }
        }
        let (Some(first_a), Some(first_b)) = (a.chars().next(), b.chars().next()) else {
            return a.len().cmp(&b.len());
        };
        let run = |text: &str, digits: bool| {
            text.find(|c: char| if digits { !c.is_ascii_digit() } else { !c.is_ascii_alphabetic() })
                .unwrap_or(text.len())
        };
        let order = match (first_a.is_ascii_digit(), first_b.is_ascii_digit()) {
            // A number is newer than a word.
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            (true, true) => {
                let (x, y) = (a[..run(a, true)].trim_start_matches('0'), b[..run(b, true)].trim_start_matches('0'));
                x.len().cmp(&y.len()).then_with(|| x.cmp(y))
            }
            (false, false) => a[..run(a, false)].cmp(&b[..run(b, false)]),
        };
        if order.is_ne() {
            return order;
        }
        (a, b) = (&a[run(a, first_a.is_ascii_digit())..], &b[run(b, first_b.is_ascii_digit())..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_rpm_does() {
        for (a, b, order) in [
            ("1.0", "1.0", 0),
            ("1.0", "2.0", -1),
            ("1.10", "1.9", 1),
            ("2.0.1a", "2.0.1", 1),
            ("5.5p1", "5.5p2", -1),
            ("1.0~rc1", "1.0", -1),
            ("1.0^git1", "1.0", 1),
            ("1.0^git1", "1.0.1", -1),
            ("1:1.0", "2.0", 1),
            ("1.0-1.el9", "1.0-2.el9", -1),
            ("1.0-1", "1.0", 0),
            ("6.0.rc1", "6.0", 1),
            ("001", "1", 0),
        ] {
            assert_eq!(compare(a, b) as i64, order, "{a} {b}");
        }
    }
}
