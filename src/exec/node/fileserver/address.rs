//! Addresses of files: `salt://path`, `salt://path?saltenv=dev`, and `salt://|path` for names with a question mark.

/// Path and environment of a `salt://` address; a text that is no such address is its own path.
pub fn parse(address: &str) -> (String, Option<String>) {
    let Some(rest) = address.strip_prefix("salt://") else {
        return (address.to_owned(), None);
    };
    let (path, saltenv) = match (rest.split_once("?env="), rest.split_once("?saltenv=")) {
        // `env` has no meaning any more.
        (Some((path, _)), _) => (path, None),
        (None, Some((path, saltenv))) => (path, Some(saltenv.to_owned())),
        (None, None) => (rest, None),
    };
    (path.trim_start_matches('/').to_owned(), saltenv)
}

/// The address of a path.
pub fn create(path: &str) -> String {
    format!("salt://{}", path.replace('\\', "/"))
}

/// An address without its environment, and the environment.
pub fn split_saltenv(address: &str) -> (String, Option<String>) {
    if !address.starts_with("salt://") {
        return (address.to_owned(), None);
    }
    let (path, saltenv) = parse(address);
    (create(&path), saltenv)
}

/// Whether the path of an address is taken as it stands, question marks and all.
pub fn is_escaped(address: &str) -> bool {
    parse(address).0.starts_with('|')
}

/// The scheme of an address, in small letters; empty for a path.
pub fn scheme(address: &str) -> String {
    let Some((scheme, _)) = address.split_once(':') else {
        return String::new();
    };
    let mut letters = scheme.chars();
    let starts = letters.next().is_some_and(|first| first.is_ascii_alphabetic());
    let is_scheme = starts && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    if is_scheme { scheme.to_ascii_lowercase() } else { String::new() }
}

/// The parts of an address such as `https://user:word@host:8080/path?query`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    pub scheme: String,
    /// User, host and port, as written.
    pub authority: String,
    pub path: String,
    pub query: String,
}

impl Url {
    pub fn parse(address: &str) -> Url {
        let scheme = scheme(address);
        let rest = if scheme.is_empty() { address } else { &address[scheme.len() + 1..] };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash)),
            None => ("", rest),
        };
        Url { scheme, authority: authority.to_owned(), path: path.to_owned(), query: query.to_owned() }
    }

    /// Host and port, without user and password.
    pub fn host(&self) -> &str {
        self.authority.rsplit('@').next().unwrap_or("")
    }

    /// The name and the password in the address, with their percent signs resolved.
    pub fn user(&self) -> Option<(String, String)> {
        let (user, _) = self.authority.rsplit_once('@')?;
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        Some((unquoted(name), unquoted(password)))
    }

    /// The address without user and password.
    pub fn without_user(&self) -> String {
        let query = if self.query.is_empty() { String::new() } else { format!("?{}", self.query) };
        format!("{}://{}{}{query}", self.scheme, self.host(), self.path)
    }
}

/// An address as it may be logged: without what stands before the host.
pub fn redacted(address: &str) -> String {
    let url = Url::parse(address);
    match url.authority.contains('@') {
        true => format!("{}://<redacted>@{}{}", url.scheme, url.host(), url.path),
        false => address.to_owned(),
    }
}

fn unquoted(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = (byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_path_and_may_have_an_environment() {
        for (address, path, saltenv) in [
            ("salt://a/b", "a/b", None),
            ("salt:///a/b", "a/b", None),
            ("salt://a?saltenv=dev", "a", Some("dev")),
            ("salt://a?env=dev", "a", None),
            ("salt://|a?b", "|a?b", None),
            ("salt://", "", None),
            ("/etc/x?saltenv=dev", "/etc/x?saltenv=dev", None),
        ] {
            assert_eq!(parse(address), (path.to_owned(), saltenv.map(str::to_owned)), "{address}");
        }
        assert_eq!(split_saltenv("salt:///a?saltenv=x"), ("salt://a".to_owned(), Some("x".to_owned())));
        assert!(is_escaped("salt://|a") && is_escaped("|a") && !is_escaped("salt://a|b"));
    }

    #[test]
    fn the_parts_of_an_address_are_told_apart() {
        let url = Url::parse("HTTPS://me:p%40ss@example.org:8080/a/b?c=d");
        assert_eq!((url.scheme.as_str(), url.host(), url.path.as_str()), ("https", "example.org:8080", "/a/b"));
        assert_eq!(url.user(), Some(("me".to_owned(), "p@ss".to_owned())));
        assert_eq!(url.without_user(), "https://example.org:8080/a/b?c=d");
        assert_eq!(redacted("http://me:secret@h/x"), "http://<redacted>@h/x");
        assert_eq!(Url::parse("/etc/x:y").scheme, "");
        assert_eq!(Url::parse("file:///etc/x").path, "/etc/x");
        assert_eq!(unquoted("100%"), "100%");
    }
}
