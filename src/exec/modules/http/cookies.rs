//! Cookies that are kept from one question to the next, in the files that Python keeps them in. Which cookie is whose is
//! decided by the crate `cookie_store`, as RFC 6265 has it; the files are read and written here.

use cookie_store::{Cookie, CookieDomain, CookieExpiration, CookieStore};
use halite_core::host::Attributes;
use halite_core::host::web::Response;
use halite_core::{Ctx, Fault};
use jiff::Timestamp;
use std::path::Path;
use url::Url;

const LWP: &str = "#LWP-Cookies-2.0";
const MOZILLA: &str = "# Netscape HTTP Cookie File";

/// How the file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Lwp,
    Mozilla,
}

/// A cookie as a line of a file has it.
struct Line {
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
    store: CookieStore,
}

impl Jar {
    /// Reads the file; one that is not there is an empty jar.
    pub fn load(ctx: &Ctx, path: &str, form: &str) -> Result<Jar, Fault> {
        let form = if form == "mozilla" { Form::Mozilla } else { Form::Lwp };
        let mut jar = Jar { path: path.to_owned(), form, store: CookieStore::default() };
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
        for line in text.lines().filter_map(read) {
            line.keep(&mut jar.store);
        }
        Ok(jar)
    }

    /// What is sent to an address.
    pub fn header(&self, address: &str) -> Option<String> {
        let url = Url::parse(address).ok()?;
        let found = self.store.matches(&url);
        let pairs: Vec<String> =
            found.into_iter().map(|cookie| format!("{}={}", cookie.name(), cookie.value())).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Takes those that an answer brought.
    pub fn take(&mut self, address: &str, response: &Response) {
        let Ok(url) = Url::parse(address) else { return };
        for (_, line) in response.headers.iter().filter(|(name, _)| name == "set-cookie") {
            // What a cookie says may be a secret: its name alone is told.
            let name = line.split(['=', ';']).next().unwrap_or_default();
            match self.store.parse(line.as_str(), &url) {
                Ok(_) => {}
                Err(why) => log::debug!("the cookie '{name}' is not taken: {why}"),
            }
        }
    }

    /// Writes the file, for the minion's account alone.
    pub fn save(&self, ctx: &Ctx) -> Result<(), Fault> {
        let mut text = match self.form {
            Form::Lwp => format!("{LWP}\n"),
            Form::Mozilla => format!("{MOZILLA}\n# http://curl.haxx.se/rfc/cookie_spec.html\n\n"),
        };
        for line in self.store.iter_unexpired().filter_map(Line::of).filter(|line| line.expires.is_some()) {
            text.push_str(&match self.form {
                Form::Lwp => line.lwp(),
                Form::Mozilla => line.mozilla(),
            });
            text.push('\n');
        }
        let attributes = Attributes { mode: Some(0o600), ..Attributes::default() };
        let failed = |error| Fault::execution(format!("{}: {error}", self.path));
        ctx.host.write(Path::new(&self.path), text.as_bytes(), attributes).map_err(failed)
    }
}

impl Line {
    fn of(cookie: &Cookie) -> Option<Line> {
        let domain = match &cookie.domain {
            CookieDomain::HostOnly(host) => host.clone(),
            CookieDomain::Suffix(domain) => format!(".{domain}"),
            CookieDomain::NotPresent | CookieDomain::Empty => return None,
        };
        Some(Line {
            name: cookie.name().to_owned(),
            value: cookie.value().to_owned(),
            domain,
            path: cookie.path.as_ref().to_owned(),
            is_secure: cookie.secure().unwrap_or(false),
            expires: match &cookie.expires {
                CookieExpiration::AtUtc(end) => Some(end.unix_timestamp()),
                CookieExpiration::SessionEnd => None,
            },
        })
    }

    /// Puts it among the others, as if its server had just set it. One whose time is over is left out.
    fn keep(self, store: &mut CookieStore) {
        let host = self.domain.trim_start_matches('.');
        let Ok(url) = Url::parse(&format!("https://{host}/")) else { return };
        let mut text = format!("{}={}; Path={}", self.name, self.value, self.path);
        if self.domain.starts_with('.') {
            text.push_str(&format!("; Domain={host}"));
        }
        if self.is_secure {
            text.push_str("; Secure");
        }
        if let Some(end) = self.expires.and_then(|end| Timestamp::from_second(end).ok()) {
            text.push_str(&format!("; Expires={}", end.strftime("%a, %d %b %Y %H:%M:%S GMT")));
        }
        if let Err(why) = store.parse(&text, &url) {
            log::debug!("the cookie '{}' of {host} is not kept: {why}", self.name);
        }
    }

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

fn of_lwp(line: &str) -> Option<Line> {
    let mut parts = line.strip_prefix("Set-Cookie3:")?.split(';').map(str::trim);
    let bare = |text: &str| text.trim_matches('"').to_owned();
    let (name, value) = parts.next()?.split_once('=')?;
    let mut cookie = Line {
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
            ("expires", end) => cookie.expires = bare(end).replace(' ', "T").parse().ok().map(Timestamp::as_second),
            _ => {}
        }
    }
    Some(cookie)
}

fn of_mozilla(line: &str) -> Option<Line> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [domain, _, path, secure, end, name, value] = fields.as_slice() else { return None };
    if line.starts_with('#') {
        return None;
    }
    Some(Line {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
        domain: (*domain).to_owned(),
        path: (*path).to_owned(),
        is_secure: *secure == "TRUE",
        expires: end.parse().ok(),
    })
}

fn quoted(value: &str) -> String {
    let is_plain = !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    if is_plain { value.to_owned() } else { format!("\"{value}\"") }
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
            let url = "http://www.example.com:8080/a/b";
            let mut jar = Jar::load(&ctx, "/jar", form).unwrap();
            jar.take(
                url,
                &response(&[
                    "kept=a b; Max-Age=3600; Path=/",
                    "below=1; Domain=example.com; Expires=Wed, 01-Jan-2099 00:00:00 GMT; Secure",
                    "session=x",
                    "foreign=x; Domain=other.org; Max-Age=9",
                    "gone=x; Max-Age=0",
                ]),
            );
            assert_eq!(jar.header(url).as_deref(), Some("kept=a b; session=x"));
            jar.save(&ctx).unwrap();
            let jar = Jar::load(&ctx, "/jar", form).unwrap();
            assert_eq!(jar.header(url).as_deref(), Some("kept=a b"), "{form}");
            let secure = "https://ftp.example.com/a/";
            assert_eq!(jar.header(secure).as_deref(), Some("below=1"), "{form}");
            assert_eq!(jar.header("https://example.org/a/"), None);
            let other = if form == "lwp" { "mozilla" } else { "lwp" };
            assert!(Jar::load(&ctx, "/jar", other).is_err());
        }
    }

    #[test]
    fn cookies_of_a_directory_went_to_directories_whose_names_begin_the_same() {
        let world = World::on(Fake::new());
        let mut jar = Jar::load(&world.ctx(&NoMaster), "/jar", "lwp").unwrap();
        jar.take("http://h.example/", &response(&["a=1; Path=/foo"]));
        for (path, sent) in [("/foo", true), ("/foo/", true), ("/foo/bar", true), ("/foobar", false), ("/fo", false)] {
            assert_eq!(jar.header(&format!("http://h.example{path}")).is_some(), sent, "{path}");
        }
    }

    #[test]
    fn a_server_that_has_no_name_cannot_set_cookies_for_the_end_of_its_number() {
        let world = World::on(Fake::new());
        let mut jar = Jar::load(&world.ctx(&NoMaster), "/jar", "lwp").unwrap();
        jar.take("http://10.0.0.1/", &response(&["a=1; Domain=0.0.1", "b=2"]));
        assert_eq!(jar.header("http://10.0.0.1/").as_deref(), Some("b=2"));
        assert_eq!(jar.header("http://11.0.0.1/"), None);
    }

    #[test]
    fn files_that_python_has_written_are_read() {
        let lwp = "#LWP-Cookies-2.0\nSet-Cookie3: a=\"b c\"; path=\"/x\"; domain=\".example.com\"; path_spec; \
                   domain_dot; secure; expires=\"2099-01-01 00:00:00Z\"; version=0\n\
                   Set-Cookie3: old=1; path=\"/\"; domain=\"example.com\"; expires=\"1999-01-01 00:00:00Z\"; version=0\n";
        let mozilla = "# Netscape HTTP Cookie File\n# http://x\n\n.example.com\tTRUE\t/x\tTRUE\t4070908800\ta\tb c\n\
                       example.com\tFALSE\t/\tFALSE\t1\told\t1\n";
        let world = World::on(Fake::new().file("/lwp", lwp).file("/mozilla", mozilla));
        for form in ["lwp", "mozilla"] {
            let jar = Jar::load(&world.ctx(&NoMaster), &format!("/{form}"), form).unwrap();
            assert_eq!(jar.header("https://www.example.com/x/y").as_deref(), Some("a=b c"), "{form}");
            assert_eq!(jar.header("http://www.example.com/x/y"), None, "{form}");
            assert_eq!(jar.header("https://example.com/"), None, "{form}");
        }
    }
}
