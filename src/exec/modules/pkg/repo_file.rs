//! Files that say where packages come from, `NAME.repo`, of dnf and of zypper: sections with settings, as Python's
//! configparser reads them.

use halite_core::host::Host;
use halite_core::{Ctx, Fault, text_file};
use halite_lang::ini::comment_lines;
use halite_lang::ini::{Bare, Form, Header, Indented, Piece, header_line, lines, setting_lines};
use halite_value::{Map, Value};
use std::path::Path;

/// A `.repo` file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepoFile {
    /// The comments before the first section, with their signs.
    pub header: String,
    pub repos: Vec<Repo>,
}

const FORM: Form = Form { signs: &["=", ":"], header: Header::AtFirst, indented: Indented::More, bare: Bare::Other };

/// A section: where packages come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repo {
    pub id: String,
    /// Texts when it comes from a file; what a caller gave before it goes into one.
    pub settings: Map,
    /// What stands behind the signs of the comments in the section.
    pub comments: Vec<String>,
}

/// What becomes of what is said twice in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Twice {
    /// An error.
    Refused,
    /// The last one counts.
    LastCounts,
}

impl RepoFile {
    /// Reads the text of a file; the error says what is wrong with it, without its path.
    pub fn parse(text: &str, twice: Twice) -> Result<RepoFile, String> {
        let mut file = RepoFile::default();
        // The setting whose value may go on.
        let mut last = String::new();
        for line in lines(text, &FORM) {
            let (number, bare) = (line.number, line.text.trim());
            match (line.piece, file.repos.last_mut()) {
                (Piece::Comment, repo) => {
                    let Some(comment) = bare.strip_prefix('#') else { continue };
                    match repo {
                        Some(repo) => repo.comments.push(comment.trim_start().to_owned()),
                        None => file.header.push_str(&format!("{bare}\n")),
                    }
                }
                (Piece::Blank, _) => {}
                (Piece::Section(id), _) => file.begin(id, twice).map_err(|why| format!("line {number}: {why}"))?,
                (_, None) => return Err(format!("line {number}: '{bare}' stands before the first section")),
                (Piece::More, Some(repo)) => {
                    let value = repo.settings.str_at(&last).unwrap_or_default();
                    let value = format!("{value}\n{bare}");
                    repo.settings.insert(last.as_str(), value);
                }
                (Piece::Setting(key, value), Some(repo)) => {
                    let key = key.to_lowercase();
                    if repo.settings.contains(&key) && twice == Twice::Refused {
                        return Err(format!("line {number}: '{key}' is set twice in section '{}'", repo.id));
                    }
                    repo.settings.insert(key.as_str(), value.unwrap_or_default());
                    last = key;
                }
                (Piece::Other, Some(_)) => {
                    return Err(format!("line {number}: '{bare}' is neither a section nor a setting"));
                }
            }
        }
        Ok(file)
    }

    /// What follows belongs to this section, which is the last one then.
    fn begin(&mut self, id: &str, twice: Twice) -> Result<(), String> {
        let repo = match self.repos.iter().position(|repo| repo.id == id) {
            Some(_) if twice == Twice::Refused => return Err(format!("section '{id}' already exists")),
            Some(at) => self.repos.remove(at),
            None => Repo { id: id.to_owned(), ..Repo::default() },
        };
        self.repos.push(repo);
        Ok(())
    }

    pub fn read(ctx: &Ctx, path: &str, twice: Twice) -> Result<RepoFile, Fault> {
        RepoFile::parse(&text_file::read(ctx.host, path)?, twice)
            .map_err(|problem| Fault::execution(format!("{path}, {problem}")))
    }

    pub fn repo(&self, id: &str) -> Option<&Repo> {
        self.repos.iter().find(|repo| repo.id == id)
    }

    pub fn text(&self) -> String {
        let mut text = self.header.clone();
        for repo in &self.repos {
            text.push_str(&header_line(&repo.id));
            for (key, value) in repo.settings.iter() {
                let value = match value {
                    Value::Bool(on) => i64::from(*on).to_string(),
                    value => value.to_text(),
                };
                text.push_str(&setting_lines(&key.to_text(), "=", &value, " "));
            }
            text.push_str(&comment_lines(&repo.comments));
            text.push('\n');
        }
        text
    }
}

impl Repo {
    /// What `pkg.get_repo` shows.
    pub fn shown(&self) -> Map {
        let mut shown = self.settings.clone();
        if !self.comments.is_empty() {
            shown.insert("comments", Value::list(self.comments.iter().map(String::as_str)));
        }
        shown
    }
}

/// The paths of the files in a directory, in order; none where there is no directory.
pub fn files_in(host: &dyn Host, directory: &str) -> Vec<String> {
    let mut names = host.list(Path::new(directory)).unwrap_or_default();
    names.retain(|name| name.ends_with(".repo"));
    names.sort_unstable();
    names.into_iter().map(|name| format!("{}/{name}", directory.trim_end_matches('/'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_settings_and_comments_are_read_and_written() {
        let text = "# by hand\n[a]\nName = A: words\nbaseurl=http://x/\n  http://y/\n# why\n\n[b]\nenabled: 0\n; not\n";
        let file = RepoFile::parse(text, Twice::Refused).unwrap();
        assert_eq!(file.header, "# by hand\n");
        let a = file.repo("a").unwrap();
        assert_eq!(a.settings.str_at("name"), Some("A: words"));
        assert_eq!(a.settings.str_at("baseurl"), Some("http://x/\nhttp://y/"));
        assert_eq!(a.shown().at("comments"), Some(&Value::list(["why"])));
        assert_eq!(
            file.text(),
            "# by hand\n[a]\nname=A: words\nbaseurl=http://x/\n http://y/\n# why\n\n[b]\nenabled=0\n\n"
        );
    }

    #[test]
    fn what_is_said_twice_or_nowhere_is_refused() {
        let twice = "[a]\nx=1\nx=2\n[a]\ny=1\n";
        assert!(RepoFile::parse(twice, Twice::Refused).unwrap_err().contains("line 3"));
        let lenient = RepoFile::parse(twice, Twice::LastCounts).unwrap();
        assert_eq!(lenient.repo("a").unwrap().settings.to_owned(), Map::from_iter([("x", "2"), ("y", "1")]));
        for wrong in ["x=1\n", "[a]\nwords\n", "[a]\n=x\n", "[]\nx=1\n"] {
            assert!(RepoFile::parse(wrong, Twice::LastCounts).unwrap_err().contains("line"), "{wrong}");
        }
    }
}
