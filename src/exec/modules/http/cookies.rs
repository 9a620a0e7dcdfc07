//! Cookies that are kept from one question to the next, in the files that Python keeps them in.

use halite_core::host::Attributes;
use halite_core::host::web::Response;
use halite_core::{Ctx, Fault};
use halite_node::fileserver::address::Url;
use jiff::Timestamp;
use std::path::Path;

const LWP: &str = "#LWP-Cookies-2.0";
const MOZILLA: &str = "# Netscape HTTP Cookie File";

/// How the file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Lwp,
    Mozilla,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    /// With a dot before it: of all hosts below.
    domain: String,
    path: String,
    is_secure: bool,
    /// Nothing: until the session ends, which is with the question: such a cookie is not written.
    expires: Option<i64>,
}

/// The cookies of a file.
pub struct Jar {
    path: String,
    form: Form,
    cookies: Vec<Cookie>,
    now: i64,
}

impl Jar {
    /// Reads the file; one that is not there is an empty jar.
    pub fn load(ctx: &Ctx, path: &str, form: &str) -> Result<Jar, Fault> {
        let form = if form == "mozilla" { Form::Mozilla } else { Form::Lwp };
        let now = Timestamp::try_from(ctx.host.now()).map_or(0, |now| now.as_second());
        let mut jar = Jar { path: path.to_owned(), form, cookies: Vec::new(), now };
        let text = match ctx.host.read(Path::new(path)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(jar),
            Err(error) => return Err(Fault::execution(format!("{path}: {error}"))),
        };
        let head = if form == Form::Mozilla { MOZILLA } else { LWP };
        if !text.starts_with(head) {
            return Err(Fault::execution(format!("'{path}' does not look like a cookie file of this form: {head}")));
        }
        let read = if form == Form::Mozilla { of_mozilla } else { of_lwp };
        jar.cookies =
            text.lines().filter_map(read).filter(|cookie| cookie.expires.is_none_or(|end| end > now)).collect();
        Ok(jar)
    }

    /// What is sent to an address.
    pub fn header(&self, url: &Url) -> Option<String> {
        let (host, path) = (host(url), path(url));
        let fits = |cookie: &&Cookie| {
            let is_host = match cookie.domain.strip_prefix('.') {
                Some(domain) => host == domain || host.ends_with(&cookie.domain),
                None => host == cookie.domain,
            };
            is_host && path.starts_with(&cookie.path) && (!cookie.is_secure || url.scheme == "https")
        };
        let pairs: Vec<String> =
            self.cookies.iter().filter(fits).map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Takes those that an answer brought.
    pub fn take(&mut self, url: &Url, response: &Response) {
        for (_, line) in response.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let Some(cookie) = self.parsed(url, line) else { continue };
            let is_same = |other: &Cookie| {
                (&other.name, &other.domain, &other.path) == (&cookie.name, &cookie.domain, &cookie.path)
            };
            self.cookies.retain(|other| !is_same(other));
            if cookie.expires.is_none_or(|end| end > self.now) {
                self.cookies.push(cookie);
            }
        }
    }

    /// Writes the file, for the minion's account alone.
    pub fn save(&self, ctx: &Ctx) -> Result<(), Fault> {
        let mut text = match self.form {
            Form::Lwp => format!("{LWP}\n"),
            Form::Mozilla => format!("{MOZILLA}\n# http://curl.haxx.se/rfc/cookie_spec.html\n\n"),
        };
        for cookie in self.cookies.iter().filter(|cookie| cookie.expires.is_some()) {
            text.push_str(&match self.form {
                Form::Lwp => cookie.lwp(),
                Form::Mozilla => cookie.mozilla(),
            });
            text.push('\n');
        }
        let attributes = Attributes { mode: Some(0o600), ..Attributes::default() };
        let failed = |error| Fault::execution(format!("{}: {error}", self.path));
        ctx.host.write(Path::new(&self.path), text.as_bytes(), attributes).map_err(failed)
    }

    /// A cookie as a server sets it. None for another host than its own.
    fn parsed(&self, url: &Url, line: &str) -> Option<Cookie> {
        let mut parts = line.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        if name.is_empty() || line.contains(['\r', '\n']) {
            return None;
        }
        let folder = path(url);
        let mut cookie = Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            domain: host(url),
            path: folder[..=folder.rfind('/').unwrap_or(0)].to_owned(),
            is_secure: false,
            expires: None,
        };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match key.to_ascii_lowercase().as_str() {
                "domain" => {
                    let domain = value.trim_start_matches('.').to_ascii_lowercase();
                    let own = host(url);
                    if domain.is_empty() || own != domain && !own.ends_with(&format!(".{domain}")) {
                        return None;
                    }
                    cookie.domain = format!(".{domain}");
                }
                "path" if value.starts_with('/') => cookie.path = value.to_owned(),
                "secure" => cookie.is_secure = true,
                "max-age" => cookie.expires = value.parse::<i64>().ok().map(|age| self.now.saturating_add(age)),
                "expires" if cookie.expires.is_none() => cookie.expires = moment(value),
                _ => {}
            }
        }
        Some(cookie)
    }
}

impl Cookie {
    fn lwp(&self) -> String {
        let mut line = format!(
            "Set-Cookie3: {}={}; path=\"{}\"; domain=\"{}\"; path_spec",
            self.name,
            quoted(&self.value),
            self.path,
            self.domain
        );
        if self.is_secure {
            line.push_str("; secure");
        }
        let end = self.expires.and_then(|end| Timestamp::from_second(end).ok());
        if let Some(end) = end {
            line.push_str(&format!("; expires=\"{}\"", end.strftime("%Y-%m-%d %H:%M:%SZ")));
        }
        line + "; version=0"
    }

    fn mozilla(&self) -> String {
        let yes = |yes: bool| if yes { "TRUE" } else { "FALSE" };
        let end = self.expires.map(|end| end.to_string()).unwrap_or_default();
        let fields = [
            self.domain.as_str(),
            yes(self.domain.starts_with('.')),
            &self.path,
            yes(self.is_secure),
            &end,
            &self.name,
            &self.value,
        ];
        fields.join("\t")
    }
}

fn of_lwp(line: &str) -> Option<Cookie> {
    let mut parts = line.strip_prefix("Set-Cookie3:")?.split(';').map(str::trim);
    let bare = |text: &str| text.trim_matches('"').to_owned();
    let (name, value) = parts.next()?.split_once('=')?;
    let mut cookie = Cookie {
        name: name.to_owned(),
        value: bare(value),
        domain: String::new(),
        path: "/".to_owned(),
        is_secure: false,
        expires: None,
    };
    for part in parts {
        match part.split_once('=').unwrap_or((part, "")) {
            ("path", path) => cookie.path = bare(path),
            ("domain", domain) => cookie.domain = bare(domain),
            ("secure", _) => cookie.is_secure = true,
            ("expires", end) => cookie.expires = bare(end).replace(' ', "T").parse().ok().map(second),
            _ => {}
        }
    }
    Some(cookie)
}

fn of_mozilla(line: &str) -> Option<Cookie> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [domain, _, path, secure, end, name, value] = fields.as_slice() else { return None };
    if line.starts_with('#') {
        return None;
    }
    Some(Cookie {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
        domain: (*domain).to_owned(),
        path: (*path).to_owned(),
        is_secure: *secure == "TRUE",
        expires: end.parse().ok(),
    })
}

fn second(time: Timestamp) -> i64 {
    time.as_second()
}

/// The times of headers: `Wdy, DD Mon YYYY HH:MM:SS GMT`, with blanks or hyphens in the date.
fn moment(text: &str) -> Option<i64> {
    let text = text.replace('-', " ");
    let rest = text.split_once(", ").map_or(text.as_str(), |(_, rest)| rest);
    let time = jiff::civil::DateTime::strptime("%d %b %Y %H:%M:%S GMT", rest).ok()?;
    jiff::tz::TimeZone::UTC.to_timestamp(time).ok().map(second)
}

fn quoted(value: &str) -> String {
    let is_plain = !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    if is_plain { value.to_owned() } else { format!("\"{value}\"") }
}

fn host(url: &Url) -> String {
    let host = url.host();
    host.rsplit_once(':')
        .map_or(host, |(name, port)| if port.bytes().all(|b| b.is_ascii_digit()) { name } else { host })
        .to_lowercase()
}

fn path(url: &Url) -> String {
    if url.path.starts_with('/') { url.path.clone() } else { "/".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;

    fn response(cookies: &[&str]) -> Response {
        let headers = cookies.iter().map(|line| ("set-cookie".to_owned(), (*line).to_owned())).collect();
        Response { headers, ..Response::default() }
    }

    #[test]
    fn cookies_are_kept_for_the_host_that_set_them() {
        for form in ["lwp", "mozilla"] {
            let world = World::on(Fake::new());
            let ctx = world.ctx(&NoMaster);
            let url = Url::parse("http://www.example.com:8080/a/b");
            let mut jar = Jar::load(&ctx, "/jar", form).unwrap();
            jar.take(
                &url,
                &response(&[
                    "kept=a b; Max-Age=3600; Path=/",
                    "below=1; Domain=example.com; Expires=Wed, 01-Jan-2099 00:00:00 GMT; Secure",
                    "session=x",
                    "foreign=x; Domain=other.org; Max-Age=9",
                    "gone=x; Max-Age=0",
                ]),
            );
            assert_eq!(jar.header(&url).as_deref(), Some("kept=a b; session=x"));
            jar.save(&ctx).unwrap();
            let jar = Jar::load(&ctx, "/jar", form).unwrap();
            assert_eq!(jar.header(&url).as_deref(), Some("kept=a b"), "{form}");
            let secure = Url::parse("https://ftp.example.com/a/");
            assert_eq!(jar.header(&secure).as_deref(), Some("below=1"), "{form}");
            assert_eq!(jar.header(&Url::parse("https://example.org/a/")), None);
            let other = if form == "lwp" { "mozilla" } else { "lwp" };
            assert!(Jar::load(&ctx, "/jar", other).is_err());
        }
    }
}
