//! What a function asks of a web server, and the client that does it on the real machine: `http` and `https`, with the
//! certificates that the host trusts.

use super::Choice;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::Agent;
use ureq::config::AutoHeaderValue;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

/// Where distributions keep the certificates that they trust.
const BUNDLES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/ssl/cert.pem",
];

/// A request to a web server.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// Without user and password.
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether the server's certificate must be good.
    pub certificate: Certificates,
    /// Who asks, where the server wants to know.
    pub identity: Option<Identity>,
    /// Who is asked in the server's place.
    pub proxy: Option<Proxy>,
    /// The body of an answer that is no success is wanted too.
    pub keeps_failures: Choice,
    /// How long a connection may take, and how long the whole.
    pub connect_time: Duration,
    pub time: Duration,
}

/// Whom a client trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificates {
    /// Whom the host trusts; where it says nothing, whom browsers trust.
    OfHost,
    /// Those in this file alone.
    In(PathBuf),
    /// Anybody.
    Unchecked,
}

/// A client's certificate and its key, in PEM files, which may be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// A proxy, and who may use it: name and password.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub host: String,
    pub port: u16,
    pub user: Option<(String, String)>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// What came before the body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// What the status means, as it is usually called.
    pub reason: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
}

impl Request {
    pub fn get(url: &str) -> Request {
        Request {
            method: "GET".to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            certificate: Certificates::OfHost,
            identity: None,
            proxy: None,
            keeps_failures: Choice::No,
            connect_time: Duration::from_secs(20),
            time: Duration::from_secs(3600),
        }
    }
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Asks, follows redirections, and writes the body as it comes if the answer is a success or others are wanted too.
pub(super) fn ask(request: &Request, body: &mut dyn Write) -> io::Result<Response> {
    let tls = TlsConfig::builder()
        .root_certs(roots(&request.certificate)?)
        .disable_verification(request.certificate == Certificates::Unchecked)
        .client_cert(request.identity.as_ref().map(client).transpose()?)
        .build();
    let proxy = request.proxy.as_ref().map(|proxy| {
        let mut built = ureq::Proxy::builder(ureq::ProxyProtocol::Http).host(&proxy.host).port(proxy.port);
        if let Some((name, password)) = &proxy.user {
            built = built.username(name).password(password);
        }
        built.build().map_err(|error| error.into_io())
    });
    let agent: Agent = Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .accept_encoding(AutoHeaderValue::None)
        .user_agent(concat!("halite/", env!("CARGO_PKG_VERSION")))
        .proxy(proxy.transpose()?)
        .timeout_connect(Some(request.connect_time))
        .timeout_global(Some(request.time))
        .build()
        .into();
    let mut asked = ureq::http::Request::builder().method(request.method.as_str()).uri(&request.url);
    for (name, value) in &request.headers {
        asked = asked.header(name, value);
    }
    let asked = asked.body(request.body.as_slice()).map_err(|error| invalid(&error.to_string()))?;
    let mut answer = agent.run(asked).map_err(|error| error.into_io())?;
    let response = Response {
        status: answer.status().as_u16(),
        reason: answer.status().canonical_reason().unwrap_or_default().to_owned(),
        headers: answer
            .headers()
            .iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect(),
    };
    if response.is_success() || request.keeps_failures == Choice::Yes {
        let mut from = answer.body_mut().as_reader();
        io::copy(&mut from, body)?;
    }
    Ok(response)
}

fn client(identity: &Identity) -> io::Result<ClientCert> {
    let chain = certificates(&identity.certificate)?;
    let named = |problem: &str| invalid(&format!("{problem} in {}", identity.key.display()));
    let key = PrivateKey::from_pem(&fs::read(&identity.key)?).map_err(|_| named("there is no private key"))?;
    Ok(ClientCert::new_with_certs(&chain, key))
}

fn roots(trusted: &Certificates) -> io::Result<RootCerts> {
    if let Certificates::In(path) = trusted {
        let found = certificates(path)?;
        return match found.is_empty() {
            true => Err(invalid(&format!("{} has no certificates", path.display()))),
            false => Ok(RootCerts::new_with_certs(&found)),
        };
    }
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let paths = named.into_iter().chain(BUNDLES.iter().map(PathBuf::from));
    let found = paths.filter_map(|path| certificates(&path).ok()).find(|found| !found.is_empty());
    Ok(found.map_or(RootCerts::WebPki, |found| RootCerts::new_with_certs(&found)))
}

fn certificates(path: &Path) -> io::Result<Vec<Certificate<'static>>> {
    let bytes = fs::read(path)?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    Ok(parse_pem(&bytes).filter_map(certificate).collect())
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    /// A server that answers one request after the other with these texts.
    fn serve(answers: &'static [&'static str]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
                let mut stream = stream;
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        format!("http://{address}")
    }

    #[test]
    fn a_body_comes_after_redirections_and_an_error_is_an_answer() {
        let base = serve(&[
            "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"x\"\r\nConnection: close\r\n\r\nhello",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope",
        ]);
        let mut body = Vec::new();
        let response = ask(&Request::get(&format!("{base}/a")), &mut body).unwrap();
        assert_eq!((response.status, body.as_slice(), response.header("etag")), (200, &b"hello"[..], Some("\"x\"")));
        let mut body = Vec::new();
        assert_eq!(ask(&Request::get(&base), &mut body).unwrap().status, 404);
        assert!(body.is_empty(), "what is no success is not taken for the file");
    }

    #[test]
    fn what_cannot_be_reached_or_read_is_an_error() {
        assert!(ask(&Request::get("http://127.0.0.1:1/"), &mut Vec::new()).is_err());
        assert!(ask(&Request::get("http://[nonsense"), &mut Vec::new()).is_err());
        assert!(roots(&Certificates::In("/proc/self/status".into())).is_err());
    }
}
