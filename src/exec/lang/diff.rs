//! How two texts differ, as Python's difflib writes it: what is taken for the same lines is what difflib takes for them.

use std::collections::HashMap;

/// Lines around a change.
const CONTEXT: usize = 3;
/// From this many lines on, those that stand everywhere are no help in finding what is the same.
const LONG: usize = 200;

/// A unified diff with empty file names; empty where the texts are the same.
pub fn unified(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(old), lines(new));
    let groups = grouped(changes(&old, &new));
    let mut out = String::new();
    for group in &groups {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        if out.is_empty() {
            out.push_str("--- \n+++ \n");
        }
        let (old_range, new_range) = (range(first.old.0, last.old.1), range(first.new.0, last.new.1));
        out.push_str(&format!("@@ -{old_range} +{new_range} @@\n"));
        for change in group {
            if change.is_same {
                old[change.old.0..change.old.1].iter().for_each(|line| push(&mut out, ' ', line));
                continue;
            }
            old[change.old.0..change.old.1].iter().for_each(|line| push(&mut out, '-', line));
            new[change.new.0..change.new.1].iter().for_each(|line| push(&mut out, '+', line));
        }
    }
    out
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn push(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
}

fn range(start: usize, end: usize) -> String {
    match end - start {
        1 => format!("{}", start + 1),
        0 => format!("{start},0"),
        length => format!("{},{length}", start + 1),
    }
}

/// A stretch of both texts: the same in both, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    is_same: bool,
    old: (usize, usize),
    new: (usize, usize),
}

fn changes(old: &[&str], new: &[&str]) -> Vec<Stretch> {
    let mut all = Vec::new();
    let (mut i, mut j) = (0, 0);
    for (a, b, size) in blocks(old, new) {
        if i < a || j < b {
            all.push(Stretch { is_same: false, old: (i, a), new: (j, b) });
        }
        if size > 0 {
            all.push(Stretch { is_same: true, old: (a, a + size), new: (b, b + size) });
        }
        (i, j) = (a + size, b + size);
    }
    all
}

/// What is the same: where it begins in both texts and its length; at the end an empty one.
fn blocks(old: &[&str], new: &[&str]) -> Vec<(usize, usize, usize)> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in new.iter().enumerate() {
        places.entry(line).or_default().push(at);
    }
    if new.len() >= LONG {
        let many = new.len() / 100 + 1;
        places.retain(|_, places| places.len() <= many);
    }
    let mut found = Vec::new();
    let mut todo = vec![(0, old.len(), 0, new.len())];
    while let Some((old_from, old_to, new_from, new_to)) = todo.pop() {
        let (a, b, size) = longest(old, new, &places, (old_from, old_to), (new_from, new_to));
        if size == 0 {
            continue;
        }
        found.push((a, b, size));
        if old_from < a && new_from < b {
            todo.push((old_from, a, new_from, b));
        }
        if a + size < old_to && b + size < new_to {
            todo.push((a + size, old_to, b + size, new_to));
        }
    }
    found.sort_unstable();
    let mut joined: Vec<(usize, usize, usize)> = Vec::new();
    for (a, b, size) in found {
        match joined.last_mut() {
            Some((c, d, length)) if *c + *length == a && *d + *length == b => *length += size,
            _ => joined.push((a, b, size)),
        }
    }
    joined.push((old.len(), new.len(), 0));
    joined
}

fn longest(
    old: &[&str],
    new: &[&str],
    places: &HashMap<&str, Vec<usize>>,
    (old_from, old_to): (usize, usize),
    (new_from, new_to): (usize, usize),
) -> (usize, usize, usize) {
    let (mut a, mut b, mut size) = (old_from, new_from, 0);
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    for (i, line) in old.iter().enumerate().take(old_to).skip(old_from) {
        let mut next = HashMap::new();
        for j in places.get(line).into_iter().flatten().copied().filter(|j| (new_from..new_to).contains(j)) {
            let length = j.checked_sub(1).and_then(|before| lengths.get(&before)).copied().unwrap_or(0) + 1;
            next.insert(j, length);
            if length > size {
                (a, b, size) = (i + 1 - length, j + 1 - length, length);
            }
        }
        lengths = next;
    }
    while a > old_from && b > new_from && old[a - 1] == new[b - 1] {
        (a, b, size) = (a - 1, b - 1, size + 1);
    }
    while a + size < old_to && b + size < new_to && old[a + size] == new[b + size] {
        size += 1;
    }
    (a, b, size)
}

/// The changes with some lines around them; those that are near are one group.
fn grouped(mut stretches: Vec<Stretch>) -> Vec<Vec<Stretch>> {
    if let Some(first) = stretches.first_mut().filter(|first| first.is_same) {
        first.old.0 = first.old.0.max(first.old.1.saturating_sub(CONTEXT));
        first.new.0 = first.new.0.max(first.new.1.saturating_sub(CONTEXT));
    }
    if let Some(last) = stretches.last_mut().filter(|last| last.is_same) {
        last.old.1 = last.old.1.min(last.old.0 + CONTEXT);
        last.new.1 = last.new.1.min(last.new.0 + CONTEXT);
    }
    let (mut groups, mut group) = (Vec::new(), Vec::new());
    for mut stretch in stretches {
        if stretch.is_same && stretch.old.1 - stretch.old.0 > 2 * CONTEXT {
            let end = Stretch {
                old: (stretch.old.0, stretch.old.0 + CONTEXT),
                new: (stretch.new.0, stretch.new.0 + CONTEXT),
                ..stretch
            };
            group.push(end);
            groups.push(std::mem::take(&mut group));
            stretch.old.0 = stretch.old.1 - CONTEXT;
            stretch.new.0 = stretch.new.1 - CONTEXT;
        }
        group.push(stretch);
    }
    groups.push(group);
    groups.retain(|group| group.iter().any(|stretch| !stretch.is_same));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_python_writes_it() {
        assert_eq!(unified("a\n", "a\n"), "");
        assert_eq!(unified("old\n", "changed\n"), "--- \n+++ \n@@ -1 +1 @@\n-old\n+changed\n");
        assert_eq!(unified("", "a\nb\n"), "--- \n+++ \n@@ -0,0 +1,2 @@\n+a\n+b\n");
        let old = "a=1\nb=2\nc=3\n";
        assert_eq!(unified(old, "a=1\nb=9\nc=3\n"), "--- \n+++ \n@@ -1,3 +1,3 @@\n a=1\n-b=2\n+b=9\n c=3\n");
        let many: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let changed = many.replace("\n2\n", "\ntwo\n").replace("19\n", "");
        let expected =
            "--- \n+++ \n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -16,5 +16,4 @@\n 16\n 17\n 18\n-19\n 20\n";
        assert_eq!(unified(&many, &changed), expected);
    }
}
