//! What a process that from now on only waits keeps in memory of its program: next to nothing.

use rustix::mm::{Advice, madvise};

/// Gives back the pages of the program's code. What is needed again is mapped again from the file, page by page; code
/// is never written to, so that nothing is lost.
pub fn let_go_of_code() {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return;
    };
    let Ok(program) = std::fs::read_link("/proc/self/exe") else {
        return;
    };
    for (start, length) in maps.lines().filter_map(|line| code_in(line, &program.to_string_lossy())) {
        // SAFETY: a private mapping of a file that cannot be written to holds what the file holds, at any time.
        let _ = unsafe { madvise(std::ptr::with_exposed_provenance_mut(start), length, Advice::LinuxDontNeed) };
    }
}

/// Where a line of `/proc/self/maps` says that code of the program is: start and length. Data that cannot be written to
/// is left out: the loader has written addresses into it before.
fn code_in(line: &str, program: &str) -> Option<(usize, usize)> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    if words.next()? != "r-xp" || line.split_once(" /").is_none_or(|(_, path)| path != program.trim_start_matches('/'))
    {
        return None;
    }
    let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
    Some((start, end.checked_sub(start)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_the_program_is_let_go_of() {
        let code = "7f2000000000-7f2000002000 r-xp 00001000 fe:00 77                     /opt/one bin/halite";
        assert_eq!(code_in(code, "/opt/one bin/halite"), Some((0x7f20_0000_0000, 0x2000)));
        assert_eq!(code_in(code, "/opt/halite"), None);
        assert_eq!(code_in(&code.replace("r-xp", "r--p"), "/opt/one bin/halite"), None);
        assert_eq!(code_in("7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0          [vdso]", "/opt/halite"), None);
        let_go_of_code();
    }
}
