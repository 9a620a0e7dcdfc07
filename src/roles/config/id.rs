//! The minion id: what the configuration says, what was kept, what a function answers, else a name of the host.

use halite_core::host::Machine;
use halite_core::{Call, Ctx, NoMaster};
use halite_keys::store::valid_id;
use halite_node::grains;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::fs;
use std::net::{IpAddr, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

/// Where names of this host are found. Read once; the choice among them is a function, so that it can be tested.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// What the kernel calls the host.
    pub hostname: String,
    /// The texts of `/etc/hostname`, `/etc/nodename` and `/etc/hosts`, those that exist, and what the resolver says.
    pub files: Vec<String>,
    /// An address that other hosts see, where there is one.
    pub address: Option<IpAddr>,
}

/// A name that was guessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guess {
    Name(String),
    /// Nothing but an address was found; no domain is appended to it.
    Address(String),
}

impl Names {
    pub fn of_this_host() -> Names {
        let hostname = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let files = ["/etc/hostname", "/etc/nodename", "/etc/hosts"];
        let files = files.iter().filter_map(|file| fs::read(file).ok());
        let files = files.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
        let mut names = Names { hostname, files, address: outward_address() };
        if !names.full_name().contains('.') {
            names.files.extend(resolved(&names.hostname));
        }
        names
    }

    /// The full name of the host where `/etc/hosts` knows one, else its name, else a name in its files, else its
    /// address; whatever means every host (`localhost`, `127.0.0.1`, `ip6-...`) is passed over.
    pub fn guess(&self) -> Guess {
        let full = self.full_name();
        let named = [full.as_str(), self.hostname.as_str()].into_iter().find(|name| tells_apart(name));
        if let Some(name) = named {
            return Guess::Name(name.to_owned());
        }
        let in_files = self.files.iter().flat_map(|text| text.lines()).map(words).filter(|words| {
            words.len() == 1 || words.first().is_some_and(|first| first.starts_with("127.") || first.starts_with("::1"))
        });
        if let Some(name) = in_files.flatten().find(|name| tells_apart(name)) {
            return Guess::Name(name.to_owned());
        }
        match self.address.filter(|address| !address.is_loopback()) {
            Some(address) => Guess::Address(address.to_string()),
            None => Guess::Name("localhost".to_owned()),
        }
    }

    /// The first name with a dot on the line of `/etc/hosts` that names this host.
    fn full_name(&self) -> String {
        let lines = self.files.iter().flat_map(|text| text.lines()).map(words);
        let mut own = lines.filter(|words| words.len() > 1 && words[1..].contains(&self.hostname.as_str()));
        let full = own.find_map(|words| words[1..].iter().copied().find(|name| name.contains('.')));
        full.unwrap_or(&self.hostname).to_owned()
    }
}

/// What the function of `id_function` answers; nothing where there is none. It is named alone, or with its keyword
/// arguments. What goes wrong is a sentence for behind the option's name.
pub fn called(opts: &Map) -> Result<Option<String>, String> {
    let (fun, keywords) = match opts.at("id_function") {
        Some(Value::Str(fun)) if !fun.is_empty() => (fun.to_string(), Map::new()),
        Some(Value::Map(map)) if !map.is_empty() => {
            let (fun, arguments) = map.first().unwrap_or((&Value::Null, &Value::Null));
            match arguments {
                Value::Null => (fun.to_text(), Map::new()),
                Value::Map(keywords) => (fun.to_text(), keywords.clone()),
                _ => return Err(format!("wants keyword arguments for {}, as a map", fun.to_text())),
            }
        }
        None | Some(Value::Null | Value::Str(_) | Value::Map(_)) => return Ok(None),
        Some(_) => return Err("wants the name of a function, or a map of it to its arguments".to_owned()),
    };
    let (grains, pillar, call) = (grains::collect(&Machine, opts), Map::new(), Call::default());
    let ctx = Ctx {
        host: &Machine,
        master: &NoMaster,
        functions: &halite_run::modules::FUNCTIONS,
        grains: &grains,
        pillar: &pillar,
        opts,
        call: &call,
        cancelled: &AtomicBool::new(false),
        scratch: Default::default(),
        audience: Default::default(),
    };
    let answer = ctx.run(&fun, Arguments { positional: Vec::new(), keywords });
    match answer.map_err(|fault| format!("cannot be asked: {}", fault.shown(&fun).0.to_text()))? {
        Value::Str(id) if !id.is_empty() => Ok(Some(id.into())),
        other => Err(format!("names {fun}, which answered a {} and no name", other.type_name())),
    }
}

/// Keeps an id for the next start, below the directory of the configuration. A directory that cannot be written is no error.
pub fn remember(file: &Path, id: &str) {
    if let Some(directory) = file.parent() {
        let _ = fs::create_dir_all(directory);
    }
    if let Err(error) = fs::write(file, id) {
        log::warn!("the minion id could not be kept in {}: {error}", file.display());
    }
}

/// The id that was kept, if any.
pub fn remembered(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let id = text.lines().next()?.trim().trim_start_matches('\u{feff}').to_owned();
    (!id.is_empty() && id != "localhost").then_some(id)
}

/// Refuses what could not be the name of a key file, or would make one elsewhere.
pub fn check(id: &str) -> Result<(), String> {
    if valid_id(id) {
        return Ok(());
    }
    let shown: String = id.chars().take(80).collect();
    Err(format!("{shown:?} cannot be an id: 1 to 255 bytes, no slash, backslash or control character, no dot in front"))
}

fn words(line: &str) -> Vec<&str> {
    line.split('#').next().unwrap_or_default().split_whitespace().collect()
}

fn tells_apart(name: &str) -> bool {
    let begins = |start: &str| name.starts_with(start);
    let local_v4 = name.strip_prefix("127.").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    !(name.is_empty()
        || local_v4
        || ["localhost", "ip6-", "ipv6-", "::1", "fe00::", "fe02::", "0.0.0.0", "ff02::"].into_iter().any(begins))
}

/// What the host's own resolver says, as a line of `/etc/hosts`. A static binary cannot load the modules that
/// `nsswitch.conf` names, so the host's program is asked.
fn resolved(hostname: &str) -> Option<String> {
    if hostname.is_empty() || hostname.starts_with('-') {
        return None;
    }
    let output = Command::new("getent").args(["hosts", hostname]).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The address that the host would use for another network. Nothing is sent.
fn outward_address() -> Option<IpAddr> {
    [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")].into_iter().find_map(|(from, to)| {
        let socket = UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        Some(socket.local_addr().ok()?.ip())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(hostname: &str, files: &[&str], address: Option<&str>) -> Guess {
        let files = files.iter().map(|text| text.to_string()).collect();
        Names { hostname: hostname.to_owned(), files, address: address.map(|text| text.parse().unwrap()) }.guess()
    }

    #[test]
    fn the_full_name_comes_first() {
        let hosts = "127.0.0.1 localhost\n127.0.1.1 web1.example.com web1\n";
        assert_eq!(guess("web1", &[hosts], None), Guess::Name("web1.example.com".into()));
        assert_eq!(guess("web1", &["127.0.1.1 web1\n"], None), Guess::Name("web1".into()));
        assert_eq!(guess("web1", &["10.0.0.9  web1.lan web1\n"], None), Guess::Name("web1.lan".into()));
        assert_eq!(guess("web1", &[], Some("10.0.0.5")), Guess::Name("web1".into()));
    }

    #[test]
    fn a_name_that_every_host_has_is_passed_over() {
        let hosts = "127.0.0.1 localhost.localdomain localhost\n::1 ip6-localhost # v6\n127.0.1.1 db.example.com\n";
        assert_eq!(guess("localhost", &[hosts], None), Guess::Name("db.example.com".into()));
        assert_eq!(guess("localhost", &["box\n"], None), Guess::Name("box".into()));
        assert_eq!(guess("localhost", &["10.1.1.1 other\n"], Some("10.0.0.5")), Guess::Address("10.0.0.5".into()));
        assert_eq!(guess("localhost", &[], Some("127.0.0.1")), Guess::Name("localhost".into()));
    }

    #[test]
    fn ids_that_are_no_file_names_are_refused() {
        for bad in ["", "a/b", "..", ".hidden", "a\nb", "a\0b", "a\\b", &"x".repeat(256)] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
        for good in ["web1", "web-1.example.com", "10.0.0.5", "Web_1"] {
            assert_eq!(check(good), Ok(()), "{good:?}");
        }
    }

    #[test]
    fn this_host_has_a_name_or_an_address() {
        let (Guess::Name(found) | Guess::Address(found)) = Names::of_this_host().guess();
        assert!(!found.is_empty());
    }

    #[test]
    fn a_kept_id_is_found_again() {
        let directory = std::env::temp_dir().join(format!("halite-id-{}", std::process::id()));
        let file = directory.join("etc/minion_id");
        assert_eq!(remembered(&file), None);
        remember(&file, "web1");
        assert_eq!(remembered(&file).as_deref(), Some("web1"));
        remember(&file, "localhost\n");
        assert_eq!(remembered(&file), None);
        fs::remove_dir_all(directory).unwrap();
    }
}
