//! `http.query`.
//!
//! It is long because the function has fifty arguments.

use super::cookies::Jar;
use super::{form, xml};
use halite_core::host::Choice;
use halite_core::host::web::{Certificates, Identity, Proxy, Request};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::yaml;
use halite_node::fileserver::address::{Url, redacted, scheme};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};

use halite_value::{Map, Value, parse_json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

record! {
    /// Asks a web server. Returns a map: `body`, and what else is asked for; `error` where something is wrong.
    ///
    ///   salt '*' http.query http://somelink.com/
    ///   salt '*' http.query http://somelink.com/ method=POST params='{"key1": "val1", "key2": "val2"}'
    ///   salt '*' http.query http://somelink.com/ method=POST data='<xml>somecontent</xml>'
    pub struct Query {
        /// The address.
        url: String,
        /// The method.
        method: String = "GET",
        /// Pairs that are put behind the address.
        params: Option<Map> = (),
        /// The body: text, or a map that is sent as a form.
        data: Value = (),
        /// The body, from a file.
        data_file: Option<String> = (),
        /// Headers.
        header_dict: Option<Map> = (),
        /// Headers, each `Name: value`.
        header_list: Value = (),
        /// Headers, from a file with one a line.
        header_file: Option<String> = (),
        /// Who asks.
        username: Option<String> = (),
        /// The password.
        password: Option<String> = (),
        /// User and password, a list of two.
        auth: Value = (),
        /// Also return the body as data, under `dict`.
        decode: bool = false,
        /// What the body is: `json`, `yaml`, `xml`, `plain`; `auto`: as its header says.
        decode_type: String = "auto",
        /// Also return the status.
        status: bool = false,
        /// Also return the headers.
        headers: bool = false,
        /// Also return the body under `text`.
        text: bool = false,
        /// Whether cookies are kept for the next time.
        cookies: Value = (),
        /// The file that they are kept in; without it `cookies.txt` in the minion's cache.
        cookie_jar: Option<String> = (),
        /// The form of that file: `lwp` or `mozilla`.
        cookie_format: String = "lwp",
        /// Whether the cookies of a session are kept for the next time.
        persist_session: bool = false,
        /// The file that they are kept in; without it `cookies.session.p` in the minion's cache.
        session_cookie_jar: Option<String> = (),
        /// Whether `data_file` is a template.
        data_render: bool = false,
        /// Its renderer.
        data_renderer: Option<String> = (),
        /// Whether `header_file` is a template.
        header_render: bool = false,
        /// Its renderer.
        header_renderer: Option<String> = (),
        /// Variables of these templates.
        template_dict: Option<Map> = (),
        /// Ask `test_url` in place of the address, or nobody.
        test: bool = false,
        /// The address of a test.
        test_url: Option<String> = (),
        /// Taken, not used: the configuration is the minion's.
        node: Value = "minion",
        /// Taken, not used: the port stands in the address.
        port: Value = 80,
        /// Options that are used in place of the minion's.
        opts: Option<Map> = (),
        /// Taken, not used: there is one client.
        backend: Value = (),
        /// The file with the certificates that are trusted.
        ca_bundle: Option<String> = (),
        /// Whether the server's certificate is checked; without it the option of this name.
        verify_ssl: Option<bool> = (),
        /// The client's certificate: a file with its key, or a list of two files.
        cert: Value = (),
        /// Also write the body to this file.
        text_out: Option<String> = (),
        /// Also write the headers to this file, where there is one.
        headers_out: Option<String> = (),
        /// Also write the body to this file when it was read as data.
        decode_out: Option<String> = (),
        /// Refused: an answer is returned whole.
        stream: bool = false,
        /// Taken, not used.
        streaming_callback: Value = (),
        /// Taken, not used.
        header_callback: Value = (),
        /// Refused: an answer is returned whole.
        handle: bool = false,
        /// The name of the client.
        agent: Option<String> = (),
        /// Names in the address whose values are kept out of the log.
        hide_fields: Value = (),
        /// Whether a status from 400 on is an error.
        raise_error: bool = true,
        /// Send the body as a file in a form.
        formdata: bool = false,
        /// The name of the field.
        formdata_fieldname: Option<String> = (),
        /// The name of the file.
        formdata_filename: Option<String> = (),
        /// Whether the body is text.
        decode_body: bool = true,
        kwargs: Keywords,
    }
}

/// So long a body is taken without the option `http_max_body`, and so long one becomes that was packed: a few bytes can be
/// made to unpack to any length.
const LONGEST: usize = 100 << 20;

impl Run for Query {
    fn run(mut self, ctx: &Ctx) -> Reply {
        if self.stream || self.handle {
            return Err(Fault::invocation("http.query: an answer is returned whole: leave out stream and handle"));
        }
        if !matches!(scheme(&self.url).as_str(), "http" | "https") {
            return Err(Fault::execution(format!("Unsupported url scheme: {}", redacted(&self.url))));
        }
        let mut ret = Map::new();
        if self.test {
            match self.test_url.take() {
                Some(url) => self.url = url,
                None => return Ok(ret.into()),
            }
            ret.insert("test", true);
        }
        let opts = match self.opts.take() {
            Some(over) => {
                let mut opts = ctx.opts.clone();
                opts.extend(over);
                opts
            }
            None => ctx.opts.clone(),
        };
        if self.formdata && self.formdata_fieldname.is_none() {
            ret.insert("error", "formdata_fieldname is required when formdata=True");
            return Ok(ret.into());
        }
        let mut jar = self.jar(ctx, &opts)?;
        let request = self.request(ctx, &opts, jar.as_ref())?;
        let most = opts.at("http_max_body").and_then(Value::as_int).and_then(|most| usize::try_from(most).ok());
        let mut body = Bounded { bytes: Vec::new(), most: most.unwrap_or(LONGEST) };
        log::debug!("Requesting URL {} using {} method", shown(&request.url, &self.hide_fields), self.method);
        let response = match ctx.host.web(&request, &mut body) {
            Ok(response) => response,
            Err(error) => {
                if self.status {
                    ret.insert("status", 0);
                }
                ret.insert("error", complaint(&error));
                return Ok(ret.into());
            }
        };
        if let Some(jar) = &mut jar {
            jar.take(&request.url, &response);
            jar.save(ctx)?;
        }
        let most = body.most.min(LONGEST);
        let Some(bytes) = unpacked(response.header("content-encoding"), body.bytes, most)? else {
            if self.status {
                ret.insert("status", u32::from(response.status));
            }
            ret.insert("error", format!("the body is longer than {most} bytes when it is unpacked"));
            return Ok(ret.into());
        };
        let body = match self.decode_body {
            true => {
                let text = decoded(response.header("content-type"), bytes);
                Value::from(text.map_err(|error| Fault::execution(error.to_string()))?)
            }
            false => Value::Bytes(bytes),
        };
        if response.status >= 400 && self.raise_error {
            ret.insert("status", u32::from(response.status));
            let reason = if response.reason.is_empty() { "Unknown" } else { &response.reason };
            ret.insert("error", format!("HTTP {}: {reason}", response.status));
            ret.insert("body", body);
            return Ok(ret.into());
        }
        ret.insert("body", body.clone());
        self.write(ctx, self.text_out.as_deref(), &body)?;
        let headers: Map = response
            .headers
            .iter()
            .map(|(name, value)| (Value::from(cased(name)), Value::from(value.as_str())))
            .collect();
        if let Some(path) = self.headers_out.as_deref().filter(|path| ctx.host.stat(Path::new(path)).is_ok()) {
            let lines: String =
                headers.iter().map(|(name, value)| format!("{}: {}\n", name.to_text(), value.to_text())).collect();
            self.write(ctx, Some(path), &lines.into())?;
        }
        if self.status {
            ret.insert("status", u32::from(response.status));
        }
        if self.headers {
            ret.insert("headers", headers);
        }
        let is_plain = match self.decode {
            true => match data(&self.decode_type, response.header("content-type"), &body.to_text())? {
                Ok(data) => {
                    let is_plain = data.is_none();
                    if let Some(data) = data {
                        ret.insert("dict", data);
                    }
                    self.write(ctx, self.decode_out.as_deref(), &body)?;
                    is_plain
                }
                Err(complaint) => {
                    ret.insert("error", complaint);
                    return Ok(ret.into());
                }
            },
            false => false,
        };
        if self.text || is_plain {
            ret.insert("text", body);
        }
        Ok(ret.into())
    }
}

impl Query {
    /// A page, with nothing said.
    pub(super) fn plain(ctx: &Ctx, url: &str) -> Result<Map, Fault> {
        let answer = ctx.run("http.query", Arguments::positional([url]))?;
        answer.as_map().cloned().ok_or_else(|| Fault::Internal("http.query returns a map".to_owned()))
    }

    fn jar(&self, ctx: &Ctx, opts: &Map) -> Result<Option<Jar>, Fault> {
        if self.persist_session {
            return Err(Fault::invocation(
                "http.query: persist_session is not there: use cookies=True, which keeps them",
            ));
        }
        if self.cookies.is_null() {
            return Ok(None);
        }
        let cachedir = opts.str_at("cachedir").unwrap_or("/var/cache/salt/minion");
        let path = self.cookie_jar.clone().unwrap_or_else(|| format!("{cachedir}/cookies.txt"));
        Jar::load(ctx, &path, &self.cookie_format).map(Some)
    }

    fn request(&self, ctx: &Ctx, opts: &Map, jar: Option<&Jar>) -> Result<Request, Fault> {
        let url = Url::parse(&self.url);
        let mut request = Request::get(&url.without_user());
        if let Some(params) = self.params.as_ref().filter(|params| !params.is_empty()) {
            let (page, anchor) = match request.url.split_once('#') {
                Some((page, anchor)) => (page.to_owned(), format!("#{anchor}")),
                None => (request.url.clone(), String::new()),
            };
            let sign = if page.contains('?') { '&' } else { '?' };
            request.url = format!("{page}{sign}{}{anchor}", form(params));
        }
        request.method = self.method.to_uppercase();
        request.headers = self.header_list(ctx)?;
        let (name, password) = match (&self.auth, url.user()) {
            (Value::List(pair), _) if pair.len() == 2 => (Some(pair[0].to_text()), Some(pair[1].to_text())),
            (_, Some((name, password))) if self.username.is_none() => (Some(name), Some(password)),
            _ => (self.username.clone(), self.password.clone()),
        };
        if let (Some(name), Some(password)) = (name, password) {
            use base64::Engine as _;
            let both = base64::engine::general_purpose::STANDARD.encode(format!("{name}:{password}"));
            request.headers.push(("Authorization".to_owned(), format!("Basic {both}")));
        }
        if let Some(cookies) = jar.and_then(|jar| jar.header(&request.url)) {
            request.headers.push(("Cookie".to_owned(), cookies));
        }
        self.fill_body(ctx, &mut request)?;
        let option = |name: &str| opts.str_at(name).filter(|text| !text.is_empty());
        let bundle = self.ca_bundle.as_deref().or_else(|| option("ca_bundle"));
        let verifies = self.verify_ssl.unwrap_or_else(|| opts.at("verify_ssl").is_none_or(Value::truthy));
        request.certificate = match bundle {
            _ if !verifies => Certificates::Unchecked,
            Some(path) => Certificates::In(PathBuf::from(path)),
            None => Certificates::OfHost,
        };
        let cert = if self.cert.is_null() { opts.at("cert").unwrap_or(&Value::Null) } else { &self.cert };
        request.identity = match cert {
            Value::List(pair) if pair.len() == 2 => {
                Some(Identity { certificate: pair[0].to_text().into(), key: pair[1].to_text().into() })
            }
            Value::Str(path) => Some(Identity { certificate: path.into(), key: path.into() }),
            _ => None,
        };
        request.proxy = proxy(opts, &url);
        let seconds = |name: &str| opts.at(name).and_then(Value::as_float).filter(|time| *time > 0.0 && *time < 1e6);
        request.connect_time = seconds("http_connect_timeout").map_or(request.connect_time, Duration::from_secs_f64);
        request.time = seconds("http_request_timeout").map_or(request.time, Duration::from_secs_f64);
        request.keeps_failures = Choice::Yes;
        Ok(request)
    }

    fn header_list(&self, ctx: &Ctx) -> Result<Vec<(String, String)>, Fault> {
        let mut headers: Vec<(String, String)> = self
            .header_dict
            .iter()
            .flat_map(|map| map.iter())
            .map(|(name, value)| (name.to_text(), value.to_text()))
            .collect();
        let mut lines: Vec<String> = match &self.header_list {
            Value::Null => Vec::new(),
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            one => vec![one.to_text()],
        };
        if let Some(path) = &self.header_file {
            match self.file(ctx, path, self.header_render, self.header_renderer.as_deref())? {
                Value::Map(map) => {
                    headers = map.iter().map(|(name, value)| (name.to_text(), value.to_text())).collect()
                }
                text => lines = text.to_text().lines().map(str::to_owned).collect(),
            }
        }
        for line in lines {
            if let Some((name, value)) = line.split_once(':') {
                headers.push((name.trim().to_owned(), value.trim().to_owned()));
            }
        }
        let agent = self.agent.clone().unwrap_or_else(|| concat!("Halite/", env!("CARGO_PKG_VERSION")).to_owned());
        let agent = if self.agent.is_some() { agent } else { format!("{agent} http.query()") };
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("user-agent"));
        headers.push(("User-Agent".to_owned(), agent));
        Ok(headers)
    }

    fn fill_body(&self, ctx: &Ctx, request: &mut Request) -> Result<(), Fault> {
        let data = match &self.data_file {
            Some(path) => self.file(ctx, path, self.data_render, self.data_renderer.as_deref())?,
            None => self.data.clone(),
        };
        let has_kind = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = match (&data, &self.formdata_fieldname) {
            (data, Some(field)) if self.formdata => {
                let boundary = format!("halite{:016x}", halite_lang::random::bits());
                let name = self.formdata_filename.as_deref().unwrap_or(field);
                let quoted = |text: &str| text.replace(['"', '\r', '\n'], "_");
                let head = format!(
                    "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\n\r\n",
                    quoted(field),
                    quoted(name)
                );
                request.body = head.into_bytes();
                request.body.extend(data.to_text().into_bytes());
                request.body.extend(format!("\r\n--{boundary}--\r\n").into_bytes());
                Some(format!("multipart/form-data; boundary={boundary}"))
            }
            (Value::Null, _) => None,
            (Value::Map(map), _) => {
                request.body = form(map).into_bytes();
                Some("application/x-www-form-urlencoded".to_owned())
            }
            (Value::Bytes(bytes), _) => {
                request.body = bytes.clone();
                Some("application/x-www-form-urlencoded".to_owned())
            }
            (other, _) => {
                request.body = other.to_text().into_bytes();
                Some("application/x-www-form-urlencoded".to_owned())
            }
        };
        // Other methods say nothing of a body's kind unless the caller does.
        if let Some(kind) = kind.filter(|_| !has_kind && (request.method == "POST" || self.formdata)) {
            request.headers.push(("Content-Type".to_owned(), kind));
        }
        Ok(())
    }

    /// A file of the minion, rendered where that is asked for.
    fn file(&self, ctx: &Ctx, path: &str, renders: bool, renderer: Option<&str>) -> Result<Value, Fault> {
        if !renders {
            let bytes = ctx.host.read(Path::new(path)).map_err(|error| Fault::execution(format!("{path}: {error}")))?;
            return Ok(String::from_utf8_lossy(&bytes).into_owned().into());
        }
        let renderer = renderer.or_else(|| ctx.opts.str_at("renderer")).unwrap_or("jinja|yaml");
        let mut arguments = Arguments::positional([path]).with("default_renderer", renderer);
        arguments.keywords.extend(self.template_dict.clone().unwrap_or_default());
        ctx.run("slsutil.renderer", arguments)
    }

    fn write(&self, ctx: &Ctx, path: Option<&str>, body: &Value) -> Result<(), Fault> {
        let Some(path) = path else { return Ok(()) };
        let bytes = match body {
            Value::Bytes(bytes) => bytes.clone(),
            text => text.to_text().into_bytes(),
        };
        let failed = |error| Fault::execution(format!("{path}: {error}"));
        ctx.host.write(Path::new(path), &bytes, Default::default()).map_err(failed)
    }
}

/// A failure as Python words it.
fn complaint(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            format!("[Errno {number}] {}", text.split(" (os error").next().unwrap_or(&text))
        }
        None => error.to_string(),
    }
}

/// The proxy of the configuration, but for hosts that are asked without it.
fn proxy(opts: &Map, url: &Url) -> Option<Proxy> {
    let text = |name: &str| opts.at(name).filter(|value| value.truthy()).map(Value::to_text);
    let without = opts.at("no_proxy").and_then(Value::as_list).unwrap_or_default();
    if without.iter().any(|host| host.to_text() == url.host()) {
        return None;
    }
    let port = text("proxy_port")?.parse().ok()?;
    Some(Proxy { host: text("proxy_host")?, port, user: text("proxy_username").zip(text("proxy_password")) })
}

/// An address without its password and the values that are to be hidden.
fn shown(url: &str, hidden: &Value) -> String {
    let url = redacted(url);
    let (Some((page, query)), Some(hidden)) = (url.split_once('?'), hidden.as_list()) else { return url };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if hidden.iter().any(|field| field.to_text() == name) => format!("{name}=XXXXXXXXXX"),
        _ => pair.to_owned(),
    });
    format!("{page}?{}", pairs.collect::<Vec<_>>().join("&"))
}

/// `content-type` as `Content-Type`.
fn cased(name: &str) -> String {
    let part = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
    };
    name.split('-').map(part).collect::<Vec<_>>().join("-")
}

/// The body as it was before it was packed; nothing if it is longer than `most` then.
fn unpacked(coding: Option<&str>, bytes: Vec<u8>, most: usize) -> Result<Option<Vec<u8>>, Fault> {
    let packed = bytes.as_slice();
    let mut reader: Box<dyn Read> = match coding.unwrap_or_default() {
        _ if bytes.is_empty() => return Ok(Some(bytes)),
        "gzip" => Box::new(flate2::read::MultiGzDecoder::new(packed)),
        "deflate" => Box::new(flate2::read::DeflateDecoder::new(packed)),
        other @ ("br" | "sdch" | "compress") => {
            return Err(Fault::execution(format!("{other} compression is not currently supported")));
        }
        _ => return Ok(Some(bytes)),
    };
    let mut out = Vec::new();
    // One more than may be: so it is known whether there is more.
    let read = reader.by_ref().take(most as u64 + 1).read_to_end(&mut out);
    read.map_err(|error| Fault::execution(format!("the body is not compressed as its header says: {error}")))?;
    Ok((out.len() <= most).then_some(out))
}

/// The body as text. Only what says so is read as latin-1.
fn decoded(kind: Option<&str>, bytes: Vec<u8>) -> Result<String, std::string::FromUtf8Error> {
    let kind = kind.unwrap_or_default().to_ascii_lowercase();
    let charset = kind.split("charset=").nth(1).map(|rest| rest.trim_matches(['"', ' ']));
    match charset {
        Some("iso-8859-1" | "latin-1" | "latin1") if kind.starts_with("text/") => {
            Ok(bytes.iter().map(|byte| char::from(*byte)).collect())
        }
        _ => String::from_utf8(bytes),
    }
}

/// The body as data; nothing for plain text. The inner error is for whoever asked.
fn data(kind: &str, content_type: Option<&str>, text: &str) -> Result<Result<Option<Value>, String>, Fault> {
    let content_type = content_type.unwrap_or("application/json");
    let kind = match kind {
        "auto" => ["xml", "json", "yaml"].into_iter().find(|kind| content_type.contains(kind)).unwrap_or("plain"),
        kind => kind,
    };
    let refused = |error: String| Fault::execution(error);
    Ok(Ok(Some(match kind {
        "json" => parse_json(text).map_err(refused)?,
        "yaml" => yaml::load(text).map_err(|error| refused(error.to_string()))?,
        "xml" => xml::children(text).map_err(refused)?,
        "plain" => return Ok(Ok(None)),
        _ => {
            return Ok(Err(
                "Invalid decode_type specified. Valid decode types are: ('json', 'xml', 'yaml', 'plain')".to_owned()
            ));
        }
    })))
}

/// A body in memory, up to a length.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(std::io::Error::other("the body is longer than http_max_body"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::Machine;
    use halite_core::host::fake::Directory;
    use halite_core::module::call;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::sync::mpsc::{Receiver, channel};

    /// A server that gives these answers, one after the other, and tells what it was asked: all lines of the head, then the
    /// body.
    fn serve(answers: Vec<Vec<u8>>) -> (String, Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, questions) = channel();
        std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut question, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    if let Some(digits) = line.to_lowercase().strip_prefix("content-length:") {
                        length = digits.trim().parse().unwrap();
                    }
                    if line.trim().is_empty() {
                        break;
                    }
                    question.push_str(&line);
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                question.push_str(&String::from_utf8(body).unwrap());
                asked.send(question).unwrap();
                stream.write_all(&answer).unwrap();
            }
        });
        (format!("http://{address}"), questions)
    }

    fn answer(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
        headers.iter().for_each(|header| head.push_str(&format!("{header}\r\n")));
        [head.as_bytes(), b"\r\n", body].concat()
    }

    fn query(arguments: Arguments) -> Result<Value, Fault> {
        let world = World::new();
        call(&world.ctx_on(&Machine, &NoMaster), "http.query", arguments).map(|returned| returned.value)
    }

    #[test]
    fn an_answer_has_what_was_asked_for() {
        let page = answer("200 OK", &["Content-Type: application/json", "X-a-b: c"], br#"{"a": [1]}"#);
        let (base, questions) = serve(vec![page]);
        let asked = Arguments::positional([format!("{base}/p?x=1")])
            .with("method", "POST")
            .with("params", Map::from_iter([("k v", "ä")]))
            .with("data", Map::from_iter([("name", "a&b")]))
            .with("header_dict", Map::from_iter([("X-One", "1")]))
            .with("header_list", Value::List(vec!["X-Two: 2".into(), "nonsense".into()]))
            .with("username", "bob")
            .with("password", "pw");
        let asked = ["status", "headers", "decode", "text"].iter().fold(asked, |all, name| all.with(name, true));
        let got = query(asked).unwrap();
        assert_eq!((got.at("status"), got.at("text")), (Some(&200.into()), got.at("body")));
        assert_eq!(got.at("dict").unwrap().to_json(), r#"{"a": [1]}"#);
        assert_eq!(got.at("headers").unwrap().at("X-A-B"), Some(&"c".into()));
        let question = questions.recv().unwrap().to_lowercase();
        for part in [
            "post /p?x=1&k+v=%c3%a4 http/1.1",
            "x-one: 1",
            "x-two: 2",
            "authorization: basic ym9ionb3",
            "content-type: application/x-www-form-urlencoded",
            "http.query()",
            "name=a%26b",
        ] {
            assert!(question.contains(part), "{part} is not in {question}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_and_no_fault() {
        let (base, _questions) = serve(vec![
            answer("404 Not Found", &[], b"nope"),
            answer("500 Internal Server Error", &[], b"x"),
            answer("200 OK", &["Content-Type: text/plain"], b"{"),
        ]);
        let got = query(Arguments::positional([base.as_str()])).unwrap();
        assert_eq!(got.to_json(), r#"{"status": 404, "error": "HTTP 404: Not Found", "body": "nope"}"#);
        let got = query(Arguments::positional([base.as_str()]).with("raise_error", false)).unwrap();
        assert_eq!(got.to_json(), r#"{"body": "x"}"#);
        assert!(
            query(Arguments::positional([base.as_str()]).with("decode", true).with("decode_type", "json")).is_err()
        );
        let got = query(Arguments::positional(["http://127.0.0.1:1/"]).with("status", true)).unwrap();
        assert_eq!(got.to_json(), r#"{"status": 0, "error": "[Errno 111] Connection refused"}"#);
        assert_eq!(query(Arguments::positional(["http://x/"]).with("test", true)).unwrap().to_json(), "{}");
        assert!(query(Arguments::positional(["http://x/"]).with("stream", true)).is_err());
    }

    #[test]
    fn a_packed_body_was_cut_at_its_longest_without_a_word() {
        use flate2::{Compression, write::GzEncoder};
        let packed = |length: usize| {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            std::io::copy(&mut std::io::repeat(b'x').take(length as u64), &mut packed).unwrap();
            packed.finish().unwrap()
        };
        let page = answer("200 OK", &["Content-Encoding: gzip"], &packed(LONGEST + 1));
        let (base, _questions) = serve(vec![page]);
        let got = query(Arguments::positional([base]).with("status", true)).unwrap();
        assert_eq!(
            got.to_json(),
            r#"{"status": 200, "error": "the body is longer than 104857600 bytes when it is unpacked"}"#
        );
        assert_eq!(unpacked(Some("gzip"), packed(9), 9).unwrap().unwrap(), [b'x'; 9]);
        assert!(unpacked(Some("gzip"), packed(10), 9).unwrap().is_none());
    }

    #[test]
    fn a_body_longer_than_it_may_be_is_an_error() {
        let (base, _questions) = serve(vec![answer("200 OK", &[], b"0123456789")]);
        let opts = Map::from_iter([("http_max_body", 9)]);
        let got = query(Arguments::positional([base]).with("opts", opts)).unwrap();
        assert_eq!(got.to_json(), r#"{"error": "the body is longer than http_max_body"}"#);
    }

    #[test]
    fn a_body_is_unpacked_sent_as_a_file_and_written() {
        use flate2::{Compression, write::GzEncoder};
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all("größe".as_bytes()).unwrap();
        let page =
            answer("200 OK", &["Content-Encoding: gzip", "Set-Cookie: a=b; Max-Age=60"], &packed.finish().unwrap());
        let (base, questions) = serve(vec![page, answer("200 OK", &["Content-Type: text/xml"], b"<r><a>1</a></r>")]);
        let directory = Directory::new();
        let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        let asked = Arguments::positional([base.as_str()])
            .with("method", "POST")
            .with("data", "content")
            .with("formdata", true)
            .with("formdata_fieldname", "upload")
            .with("text_out", path("out"))
            .with("cookies", true)
            .with("cookie_jar", path("jar"));
        assert_eq!(query(asked).unwrap().to_json(), r#"{"body": "größe"}"#);
        assert_eq!(std::fs::read_to_string(path("out")).unwrap(), "größe");
        let question = questions.recv().unwrap();
        assert!(question.contains("name=\"upload\"; filename=\"upload\"\r\n\r\ncontent\r\n--"), "{question}");
        let again = Arguments::positional([base.as_str()])
            .with("decode", true)
            .with("cookies", true)
            .with("cookie_jar", path("jar"));
        assert_eq!(query(again).unwrap().at("dict").unwrap().to_json(), r#"[{"a": "1"}]"#);
        assert!(questions.recv().unwrap().contains("a=b"));
    }
}
