//! Returners: where answers go besides the terminal (`--return`).

/// One of them.
pub struct Returner {
    /// What `--return` names.
    pub name: &'static str,
    pub doc: &'static str,
}

/// The master's job cache, where every answer goes, whether it is named or not.
pub const JOB_CACHE: &str = "local_cache";

/// Standard output, of `salt-call` alone.
pub const LOCAL: &str = "local";

/// All of them, sorted by name.
pub const RETURNERS: &[Returner] = &[
    Returner { name: LOCAL, doc: "Prints an answer to standard output, as one line (`salt-call` alone).\n" },
    Returner { name: JOB_CACHE, doc: "Keeps an answer in the master's job cache, where every answer goes anyway.\n" },
];

/// The function that takes an answer, as `sys.list_returner_functions` shows it.
pub fn function(returner: &Returner) -> String {
    format!("{}.returner", returner.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_documented() {
        assert!(RETURNERS.is_sorted_by_key(|returner| returner.name));
        assert!(RETURNERS.iter().all(|returner| returner.doc.ends_with(".\n")));
    }
}
