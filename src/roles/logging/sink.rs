//! Where lines end up: the console, a file, a syslog.

use crate::config::Config;
use halite_value::Value;
use jiff::ZonedDateTime;
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Takes whole lines, each with its end. May block; runs on a thread for that.
pub trait Sink: Send {
    fn write(&mut self, line: &[u8]) -> io::Result<()>;
    /// Begins anew, under the name of before.
    fn reopen(&mut self);
}

/// Standard error.
pub struct Console;

impl Sink for Console {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        io::stderr().lock().write_all(line)
    }

    fn reopen(&mut self) {}
}

/// When a file is put aside and begun anew, and how many are kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rotation {
    /// Zero: never.
    pub bytes: u64,
    pub kept: u32,
}

impl Rotation {
    pub fn of(config: &Config) -> Rotation {
        let number = |name: &str| config.opts.at(name).and_then(Value::as_int).unwrap_or_default();
        Rotation {
            bytes: u64::try_from(number("log_rotate_max_bytes")).unwrap_or_default(),
            kept: u32::try_from(number("log_rotate_backup_count")).unwrap_or_default().min(1000),
        }
    }
}

/// A file that grows. Several processes may write to it: each line is one write at its end.
pub struct LogFile {
    path: PathBuf,
    rotation: Rotation,
    file: Option<File>,
    /// When a file that could not be opened is tried again.
    again: Option<Instant>,
}

/// How long a sink that is away is left alone.
const PAUSE: Duration = Duration::from_secs(5);

impl LogFile {
    pub fn new(path: &Path, rotation: Rotation) -> LogFile {
        LogFile { path: path.to_owned(), rotation, file: open(path).ok(), again: None }
    }

    /// Puts the file aside when it would grow too long. Another process may have done so: then its file is ours.
    fn rotate(&mut self, line: &[u8]) -> io::Result<()> {
        let Some(ours) = self.file.as_ref().map(File::metadata).transpose()? else {
            return Ok(());
        };
        let there = fs::metadata(&self.path)?;
        if there.ino() == ours.ino() {
            if ours.len() == 0 || ours.len() + line.len() as u64 <= self.rotation.bytes {
                return Ok(());
            }
            let name = |number: u32| {
                let mut name = self.path.clone().into_os_string();
                name.push(format!(".{number}"));
                PathBuf::from(name)
            };
            for number in (1..self.rotation.kept).rev() {
                let _ = fs::rename(name(number), name(number + 1));
            }
            fs::rename(&self.path, name(1))?;
        }
        self.file = Some(open(&self.path)?);
        Ok(())
    }
}

impl Sink for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            wait_over(&mut self.again)?;
            self.file = Some(open(&self.path)?);
        }
        // As in Salt, nothing is put aside where nothing is to be kept.
        if self.rotation.bytes > 0 && self.rotation.kept > 0 {
            // A file that is too long is better than a line that is lost.
            let _ = self.rotate(line);
        }
        match &mut self.file {
            Some(file) => file.write_all(line),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn reopen(&mut self) {
        // Where it cannot be opened, the old one is better than none.
        if let Ok(file) = open(&self.path) {
            self.file = Some(file);
        }
    }
}

/// Opens a log file for adding to it.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOCTTY.bits() as i32;
    OpenOptions::new().append(true).create(true).mode(0o640).custom_flags(flags).open(path)
}

/// Fails while a pause lasts; else begins the next one.
fn wait_over(again: &mut Option<Instant>) -> io::Result<()> {
    let now = Instant::now();
    if again.is_some_and(|at| now < at) {
        return Err(io::Error::new(ErrorKind::NotConnected, "it is away"));
    }
    *again = Some(now + PAUSE);
    Ok(())
}

/// Where a syslog listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    place: Place,
    facility: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Local(PathBuf),
    Udp(String, u16),
    Tcp(String, u16),
}

/// By number.
const FACILITIES: [&str; 24] = [
    "LOG_KERN",
    "LOG_USER",
    "LOG_MAIL",
    "LOG_DAEMON",
    "LOG_AUTH",
    "LOG_SYSLOG",
    "LOG_LPR",
    "LOG_NEWS",
    "LOG_UUCP",
    "LOG_CRON",
    "LOG_AUTHPRIV",
    "LOG_FTP",
    "LOG_NTP",
    "LOG_SECURITY",
    "LOG_CONSOLE",
    "LOG_SOLCRON",
    "LOG_LOCAL0",
    "LOG_LOCAL1",
    "LOG_LOCAL2",
    "LOG_LOCAL3",
    "LOG_LOCAL4",
    "LOG_LOCAL5",
    "LOG_LOCAL6",
    "LOG_LOCAL7",
];
const USER: u8 = 1;
const PORT: u16 = 514;

impl Address {
    /// `file:///dev/log/LOG_DAEMON`, `udp://host:port/LOG_USER`, `tcp://host`; nothing for a plain path.
    pub fn parse(text: &str) -> Result<Option<Address>, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Ok(None);
        };
        let (place, facility) = match rest.rsplit_once('/') {
            Some((place, last)) if last.to_uppercase().starts_with("LOG_") => (place, facility(last)?),
            Some((place, "")) if scheme != "file" => (place, USER),
            _ => (rest, USER),
        };
        let place = match scheme {
            "file" if place.starts_with('/') => Place::Local(PathBuf::from(place)),
            "file" => return Err("wants an absolute path after 'file://', as in file:///dev/log/LOG_DAEMON".to_owned()),
            "udp" => host_and_port(place).map(|(host, port)| Place::Udp(host, port))?,
            "tcp" => host_and_port(place).map(|(host, port)| Place::Tcp(host, port))?,
            _ => return Err(format!("knows file://, udp:// and tcp://, not '{scheme}://'")),
        };
        Ok(Some(Address { place, facility }))
    }
}

fn facility(name: &str) -> Result<u8, String> {
    let number = FACILITIES.iter().position(|known| name.eq_ignore_ascii_case(known));
    number.and_then(|number| u8::try_from(number).ok()).ok_or_else(|| format!("names no facility of syslog: '{name}'"))
}

fn host_and_port(text: &str) -> Result<(String, u16), String> {
    let wrong = || format!("wants HOST or HOST:PORT, not '{text}'");
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address without a port, in brackets.
        Some(_) if text.ends_with(']') => (text, PORT),
        Some((host, port)) => (host, port.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)?),
        None => (text, PORT),
    };
    let host = host.trim_matches(['[', ']']);
    if host.is_empty() { Err(wrong()) } else { Ok((host.to_owned(), port)) }
}

/// A syslog, here or elsewhere, spoken to as RFC 3164 says; over TCP a line ends with a newline (RFC 6587).
pub struct Syslog {
    address: Address,
    program: &'static str,
    host: String,
    connection: Option<Connection>,
    again: Option<Instant>,
}

enum Connection {
    Local(UnixDatagram),
    Udp(UdpSocket),
    Tcp(TcpStream),
}

/// How long a connection may take, and a write on it.
const TIMEOUT: Duration = Duration::from_secs(2);
/// What every syslog takes in one message over UDP.
const MESSAGE_LIMIT: usize = 8192;

impl Syslog {
    pub fn new(address: Address, program: &'static str) -> Syslog {
        let name = rustix::system::uname();
        let host = name.nodename().to_string_lossy().split('.').next().unwrap_or_default().to_owned();
        Syslog { address, program, host, connection: None, again: None }
    }

    fn message(&self, line: &[u8], now: &ZonedDateTime) -> Vec<u8> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches('\n');
        let priority = u32::from(self.address.facility) * 8 + severity(text);
        // A local syslog knows its host.
        let host = match self.address.place {
            Place::Local(_) => String::new(),
            _ => format!("{} ", self.host),
        };
        let time = now.strftime("%b %e %H:%M:%S");
        let text = text.replace('\n', "#012");
        let whole = format!("<{priority}>{time} {host}{}[{}]: {text}", self.program, std::process::id());
        whole.bytes().take(MESSAGE_LIMIT).collect()
    }

    fn connect(&self) -> io::Result<Connection> {
        match &self.address.place {
            Place::Local(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.connect(path)?;
                socket.set_write_timeout(Some(TIMEOUT))?;
                Ok(Connection::Local(socket))
            }
            Place::Udp(host, port) => {
                let address = resolve(host, *port)?;
                let any = if address.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
                let socket = UdpSocket::bind(any)?;
                socket.connect(address)?;
                Ok(Connection::Udp(socket))
            }
            Place::Tcp(host, port) => {
                let stream = TcpStream::connect_timeout(&resolve(host, *port)?, TIMEOUT)?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                Ok(Connection::Tcp(stream))
            }
        }
    }
}

impl Sink for Syslog {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let mut message = self.message(line, &ZonedDateTime::now());
        if self.connection.is_none() {
            wait_over(&mut self.again)?;
            self.connection = Some(self.connect()?);
            self.again = None;
        }
        let sent = match &mut self.connection {
            Some(Connection::Local(socket)) => socket.send(&message).map(drop),
            // What the last message met comes back as the error of this one, which was not sent.
            Some(Connection::Udp(socket)) => socket.send(&message).or_else(|_| socket.send(&message)).map(drop),
            Some(Connection::Tcp(stream)) => {
                message.push(b'\n');
                stream.write_all(&message)
            }
            None => Err(ErrorKind::NotConnected.into()),
        };
        if sent.is_err() {
            self.connection = None;
            self.again = Some(Instant::now() + PAUSE);
        }
        sent
    }

    fn reopen(&mut self) {
        (self.connection, self.again) = (None, None);
    }
}

fn resolve(host: &str, port: u16) -> io::Result<std::net::SocketAddr> {
    let address = (host, port).to_socket_addrs()?.next();
    address.ok_or_else(|| io::Error::new(ErrorKind::NotFound, format!("'{host}' has no address")))
}

/// The line says its level; a line in another form counts as information.
fn severity(line: &str) -> u32 {
    let levels = [("[CRITICAL", 2), ("[ERROR", 3), ("[WARNING", 4), ("[INFO", 6), ("[DEBUG", 7), ("[TRACE", 7)];
    let found = levels.iter().filter_map(|(word, number)| Some((line.find(word)?, *number))).min();
    found.map_or(6, |(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    fn address(text: &str) -> Address {
        Address::parse(text).unwrap().unwrap()
    }

    #[test]
    fn addresses_are_read_as_salt_writes_them() {
        let of = |place, facility| Address { place, facility };
        for (text, expected) in [
            ("file:///dev/log", of(Place::Local("/dev/log".into()), 1)),
            ("file:///dev/log/LOG_DAEMON", of(Place::Local("/dev/log".into()), 3)),
            ("udp://loghost", of(Place::Udp("loghost".to_owned(), 514), 1)),
            ("udp://loghost:10514", of(Place::Udp("loghost".to_owned(), 10_514), 1)),
            ("tcp://10.0.0.1:601/log_local7", of(Place::Tcp("10.0.0.1".to_owned(), 601), 23)),
            ("udp://[::1]:514/LOG_AUTH", of(Place::Udp("::1".to_owned(), 514), 4)),
            ("tcp://[::1]", of(Place::Tcp("::1".to_owned(), 514), 1)),
        ] {
            assert_eq!(Address::parse(text), Ok(Some(expected)), "{text}");
        }
        assert_eq!(Address::parse("/var/log/salt/minion"), Ok(None));
        for text in ["http://x", "udp://", "udp://x:0", "tcp://x:port", "file://log", "udp://x/LOG_NONE", "tcp://:514"]
        {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_message_says_level_time_host_and_program() {
        let mut syslog = Syslog::new(address("udp://x/LOG_DAEMON"), "salt-minion");
        syslog.host = "web1".to_owned();
        let now = "2026-01-02T03:04:05Z".parse::<jiff::Timestamp>().unwrap().to_zoned_datetime(jiff::tz::TimeZone::UTC);
        let message = String::from_utf8(syslog.message(b"[ERROR   ] it\nbroke\n", &now)).unwrap();
        let pid = std::process::id();
        assert_eq!(message, format!("<27>Jan  2 03:04:05 web1 salt-minion[{pid}]: [ERROR   ] it#012broke"));
    }

    #[test]
    fn a_syslog_gets_lines_over_tcp_and_may_be_away() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut syslog = Syslog::new(address(&format!("tcp://127.0.0.1:{port}")), "salt-master");
        syslog.write(b"[INFO    ] one\n").unwrap();
        syslog.write(b"[INFO    ] two\n").unwrap();
        let (stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(&stream).lines().take(2).collect::<Result<Vec<_>, _>>().unwrap();
        assert!(lines[0].ends_with("one") && lines[1].ends_with("two"), "{lines:?}");
        drop((stream, listener));
        syslog.reopen();
        assert!(syslog.write(b"lost\n").is_err());
        assert_eq!(syslog.write(b"lost\n").unwrap_err().kind(), ErrorKind::NotConnected, "it is not asked at once");
    }

    #[test]
    fn a_full_disk_is_an_error_and_a_renamed_file_begins_anew() {
        assert!(LogFile::new(Path::new("/dev/full"), Rotation::default()).write(b"x\n").is_err());
        let path = std::env::temp_dir().join(format!("halite-logfile-{}", std::process::id()));
        let old = path.with_extension("1");
        let mut file = LogFile::new(&path, Rotation::default());
        file.write(b"one\n").unwrap();
        fs::rename(&path, &old).unwrap();
        file.write(b"two\n").unwrap();
        file.reopen();
        file.write(b"three\n").unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), "one\ntwo\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "three\n");
        fs::remove_file(&old).unwrap();
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_long_file_is_put_aside_by_whichever_process_sees_it() {
        let directory = std::env::temp_dir().join(format!("halite-rotation-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("log");
        let rotation = Rotation { bytes: 10, kept: 2 };
        let (mut one, mut other) = (LogFile::new(&path, rotation), LogFile::new(&path, rotation));
        for line in ["first\n", "second\n", "third\n"] {
            one.write(line.as_bytes()).unwrap();
        }
        other.write(b"4\n").unwrap();
        other.write(b"fifth\n").unwrap();
        let text = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
        assert_eq!((text("log").as_str(), text("log.1").as_str()), ("fifth\n", "third\n4\n"));
        assert_eq!(text("log.2"), "second\n");
        assert!(!directory.join("log.3").exists());
        fs::remove_dir_all(&directory).unwrap();
    }
}
