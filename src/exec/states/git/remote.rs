//! What the other side has, and which of it is wanted.

use super::{Account, complaint};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

/// What a revision is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Branch,
    Tag,
    Sha1,
}

/// The revision that is wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// As the SLS gives it.
    pub rev: String,
    pub sha1: Option<String>,
    pub kind: Option<Kind>,
    /// The branch of the other side that a local one follows; nothing: that does not matter.
    pub upstream: Option<String>,
    /// Whether a local branch may follow none.
    pub follows_any: bool,
    /// As comments show it.
    pub place: String,
    /// The branch that the other side has checked out.
    pub default_branch: Option<String>,
    pub has_head: bool,
}

impl Wanted {
    /// The error is for whoever wrote the SLS.
    pub fn find(ctx: &Ctx, account: &Account, url: &str, remote: &str, rev: &str) -> Result<Wanted, Fault> {
        let words =
            [("url", url.into()), ("heads", false.into()), ("tags", false.into()), ("ignore_retcode", false.into())];
        let refs = match account.ask_remote(ctx, "git.remote_refs", &words) {
            Ok(refs) => refs.as_map().cloned().unwrap_or_default(),
            Err(fault) => return Err(Fault::comment(format!("Failed to check remote refs: {}", complaint(&fault)))),
        };
        Wanted::among(&refs, remote, rev).map_err(Fault::comment)
    }

    fn among(refs: &Map, remote: &str, rev: &str) -> Result<Wanted, String> {
        let at = |name: &str| refs.at(name).map(Value::to_text);
        let head = at("HEAD");
        let default_branch = head.as_ref().and_then(|head| {
            let branches = refs.iter().filter(|(_, sha1)| sha1.to_text() == *head);
            branches
                .map(|(name, _)| name.to_text())
                .find_map(|name| name.strip_prefix("refs/heads/").map(str::to_owned))
        });
        let mut wanted = Wanted { rev: rev.to_owned(), default_branch, has_head: head.is_some(), ..Wanted::default() };
        if rev == "HEAD" {
            wanted.kind = head.is_some().then_some(Kind::Sha1);
            wanted.follows_any = true;
            wanted.place = head.as_ref().map(|head| format!("remote HEAD ({})", short(head))).unwrap_or_default();
            wanted.sha1 = head;
            return Ok(wanted);
        }
        if let Some(sha1) = at(&format!("refs/heads/{rev}")) {
            wanted.kind = Some(Kind::Branch);
            wanted.upstream = Some(format!("{remote}/{rev}"));
            wanted.place = format!("{remote}/{rev} ({})", short(&sha1));
            wanted.sha1 = Some(sha1);
        } else if let Some(sha1) = at(&format!("refs/tags/{rev}^{{}}")).or_else(|| at(&format!("refs/tags/{rev}"))) {
            wanted.kind = Some(Kind::Tag);
            wanted.place = format!("{rev} ({})", short(&sha1));
            wanted.sha1 = Some(sha1);
        } else if rev.len() <= 40 && rev.chars().all(|c| c.is_ascii_hexdigit()) {
            wanted.rev = rev.to_lowercase();
            wanted.kind = Some(Kind::Sha1);
            wanted.place = short(&wanted.rev).to_owned();
            wanted.sha1 = Some(wanted.rev.clone());
        } else {
            return Err(format!("No revision matching '{rev}' exists in the remote repository"));
        }
        Ok(wanted)
    }

    /// Whether a local revision is the one that is wanted.
    pub fn is(&self, local: Option<&str>) -> bool {
        match (local, self.sha1.as_deref()) {
            (None, None) => true,
            (Some(local), Some(wanted)) => match self.kind {
                Some(Kind::Sha1) => local.starts_with(wanted),
                _ => local == wanted,
            },
            _ => false,
        }
    }
}

/// Seven digits of a hash.
pub fn short(sha1: &str) -> &str {
    sha1.get(..7).unwrap_or(sha1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_a_branch_a_tag_or_a_hash() {
        let refs = Map::from_iter([
            ("HEAD", "aaaaaaaa1"),
            ("refs/heads/main", "aaaaaaaa1"),
            ("refs/tags/v1", "bbbbbbbb1"),
            ("refs/tags/v1^{}", "cccccccc1"),
        ]);
        let found = |rev: &str| Wanted::among(&refs, "origin", rev);
        let main = found("main").unwrap();
        assert_eq!((main.kind, main.place.as_str()), (Some(Kind::Branch), "origin/main (aaaaaaa)"));
        assert_eq!(found("v1").unwrap().sha1.as_deref(), Some("cccccccc1"));
        assert_eq!(found("HEAD").unwrap().default_branch.as_deref(), Some("main"));
        assert!(found("ABCDEF1").unwrap().is(Some("abcdef1234")));
        assert!(found("no/such").is_err());
    }
}
